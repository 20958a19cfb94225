"""Frontier of many workers: one key space in Redis, one script call a step."""

from __future__ import annotations

import json
import secrets
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from socket import gethostname
from time import monotonic
from typing import TYPE_CHECKING, Any

from lswc.errors import LswcError
from lswc.frontier.contract import (
    DEFAULTS,
    FrontierError,
    SteppedFrontier,
    Terms,
    changed_of,
    check_identity,
    site_of,
)
from lswc.frontier.experience import dumped, identity_of
from lswc.frontier.held import Held, became
from lswc.frontier.lock import lock
from lswc.frontier.redis_feed import addresses, feed_of, read_feed, take_off
from lswc.frontier.redis_held import SharedHeldPages
from lswc.frontier.redis_order import SharedOrder
from lswc.frontier.redis_report import RedisReader, is_unproven, pages_of
from lswc.frontier.redis_script import (
    AT_ONCE_OR_NOT,
    OFFERS,
    RECONNECT,
    Connection,
    key_of,
    milliseconds,
    packed_cells,
    packed_decision,
    packed_offer,
    packed_offers,
    packed_table,
    texts,
    unpacked,
)
from lswc.frontier.shards import check_shard, in_shard, known_by, shard_of_server
from lswc.frontier.visit import Lease, Offer
from lswc.outcomes import Outcome, is_transient, may_return
from lswc.safety.server_limits import Taken
from lswc.strategy import (
    GUESSES,
    REQUISITE,
    REQUISITES,
    SEED,
    PageLanguage,
    Pages,
    Strategy,
    Unit,
    better,
    distance_of,
    families,
    with_requisites,
)
from lswc.urls import directory, parse

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Collection,
        Container,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )

    import redis

    from lswc.frontier.contract import Wanted
    from lswc.frontier.report import Freshness
    from lswc.frontier.rides import SlotsOfLeases
    from lswc.frontier.steps import Awaited, Steps, T
    from lswc.frontier.visit import Visit
    from lswc.urls import Url

TIME_TO_LIVE = 60.0
"""Seconds until a dead worker's lease is given to another; a living one renews it."""

POLL = 0.25
"""Seconds between two looks at what other workers did, while there is nothing to lease."""

BEST = 32
"""Cells that are looked into at first for a URL to lease. Twice as many after each look in vain: in
a large crawl the servers of the best cells are busy all the time."""

_ANOTHER_NAME = "choose another name with LSWC_REDIS_KEY"
_REVIVED = 500  # URLs that are made due by one call
_READ = 500  # URLs that are read by one call
_CHANGE_NOTHING = {"lease", "look", "renew", "tell"}
_TELL_CELLS = {
    "offer",
    "count_ahead",
    "offer_ahead",
    "offer_from",
    "lease",
    "lease_again",
    "commit",
    "commit_again",
    "discard",
    "release",
}
"""Verbs whose answers say how many URLs wait in the cells that have changed."""

_MANY = 50  # links that are better, above which they have a call of their own: none takes long

_FIRST = (0, 0, "WITHSCORES")
_REQUISITES = packed_cells([REQUISITES, GUESSES]), 2, 2, 1


@dataclass(frozen=True, kw_only=True)
class Worker:
    """One of the processes that share a frontier.

    ``folder`` is its own crawl folder: the record file in it is this worker's, and ``recorded``
    says that the file isn't empty; ``mark`` is that of its crawl, as the folder remembers it, or
    empty. ``known_as`` is its name, if that is another than host:folder. ``feed`` is the key of the
    list, set or sorted set that users push seeds to, as for scrapy-redis. Its leases expire after
    ``time_to_live`` seconds. Time is Redis's own; with ``clock_of_caller`` it is what ``lease`` is
    called with.
    """

    folder: Path | None = None
    recorded: bool = False
    mark: str = ""
    feed: str = ""
    known_as: str = ""
    time_to_live: float = TIME_TO_LIVE
    clock_of_caller: bool = False

    @property
    def name(self) -> str:
        """The name by which the others know it."""
        own = f"{gethostname()}:{self.folder.resolve()}" if self.folder else ""
        return self.known_as or own


ANYONE = Worker()


class _Leases:
    """The leases of this worker, by the number of the URL; ``slots`` are those they came with."""

    def __init__(self, slots: SlotsOfLeases) -> None:
        self._slots = slots
        self.by_id: dict[int, Lease] = {}
        self.pages: dict[str, Pages] = {}
        """Those of each lease's server, or directory: nobody else counts one meanwhile."""
        self._standings: dict[str, Sequence[Any]] = {}
        self._expired: list[int] = []
        self._worker = secrets.token_hex(8)
        self._used = self._joined = 0

    @property
    def joining(self) -> str:
        """What names the latest joining, before any lease.

        Each has its own: else a Redis that comes back as it was after an earlier one isn't known
        to be older.
        """
        return f"{self._worker}:0:{self._joined}"

    def join(self) -> str:
        """Begin another joining; return its name."""
        self._joined += 1
        return self.joining

    @property
    def next_token(self) -> str:
        """What names the lease that comes next, among those of all workers."""
        return f"{self._worker}:{self._used + 1}"

    def token(self, lease: Lease) -> str:
        """Return what names a lease."""
        return f"{self._worker}:{lease.token}"

    def released(self, lease: Lease, rest: float) -> tuple[str, str, int]:
        """Return what says that a lease is given back: server, token, and how long it rests."""
        return lease.server, self.token(lease), milliseconds(rest)

    def tokens(self) -> list[str]:
        """Return server and token of each lease."""
        held = self.by_id.values()
        return [part for lease in held for part in (lease.server, self.token(lease))]

    def holds(self, lease: Lease) -> bool:
        """Tell whether a lease hasn't ended, as far as this worker knows."""
        held = self.by_id.get(lease.id)
        return held is not None and held.token == lease.token

    def standing_of(self, server: str) -> tuple[int, str, str] | None:
        """Return the level of a leased server's site, and its family and branch, or "".

        That is as the site was when it was leased; None of a server that isn't.
        """
        found = self._standings.get(server)
        if found is None:
            return None
        level, family, branch = (*found, b"", b"")[:3]
        return level, family.decode(), branch.decode()

    def add(self, leased: Sequence[Any], expected: float | None, held: Held | None) -> Lease:
        """Begin the lease of what the script handed out by ``next_token``.

        It may be of a page that is held.
        """
        self._used += 1
        standing, server, number, cell, record, referrer, tries, *taken = leased
        name = server.decode()
        (_, _, code, depth, inherited, redirects), unit, url = unpacked(record, name)
        if name in self._standings:  # that lease has expired, though nobody said so yet
            self._expired += self.lost({name})
        slots, pages, *self._standings[name] = standing
        if slots:
            self._slots.add(name, f"{self._worker}:{self._used}", slots)
        self.pages |= pages_of([unit or name], [pages or None])
        self.by_id[number] = lease = Lease(
            number, url, name, unit or name, code, cell, expected, PageLanguage(inherited), depth,
            redirects, referrer.decode() if referrer else None, self._used, tries,
            Taken(*taken[:2]), Taken(*taken[2:]), *((held.visits, held.simhash) if held else ()),
        )  # fmt: skip
        return lease

    def lost(self, servers: Container[str]) -> list[int]:
        """Forget the leases of servers, which expired; return the numbers of their URLs."""
        lost = [lease for lease in self.by_id.values() if lease.server in servers]
        for lease in lost:
            self.end(lease)
        return [lease.id for lease in lost]

    def expired(self) -> list[int]:
        """Return the numbers of URLs whose leases had expired when their servers were leased anew.

        Each is told once; of one that was leased again itself nothing is told.
        """
        expired, self._expired = self._expired, []
        return [number for number in expired if number not in self.by_id]

    def end(self, lease: Lease) -> None:
        """Take it that a lease is over."""
        del self.by_id[lease.id]
        self._standings.pop(lease.server, None)
        self.pages.pop(lease.unit, None)
        self._slots.end(lease.server)

    def clear(self) -> list[int]:
        """Forget all leases; return the numbers of their URLs."""
        lost = [*self.by_id, *self.expired()]
        self.by_id.clear()
        self._standings.clear()
        self.pages.clear()
        self._slots.clear()
        return lost


class Script:
    """The script's verbs, as one worker of one crawl calls them."""

    def __init__(
        self, connection: Connection, strategy: Strategy, terms: Terms, worker: Worker
    ) -> None:
        self._connection, self._worker = connection, worker
        self._strategy, self._terms = strategy, terms
        self._decided: list[bytes] = []
        self._arrived: Callable[[], None] = lambda: None
        self.idle_until = self.free_at = 0.0
        """Until when there is nothing to lease, unless this worker changes something: on the clock
        of leases, and on this machine's, as far as answers said it."""
        self.firsts: list[float] | None = None
        """On the clock of Redis, when the first server is free, when the first URL is due, and when
        none waits for better ones any more; None if that isn't known."""
        self.holds_back = False

    def hear(self, times: Sequence[Any], *, is_idle: bool) -> None:
        """Take notice of when it is, and when the first server is free, and the first URL due.

        That is known if no other server had a URL to lease; ``is_idle`` if none is free.
        """
        self.holds_back = len(times) > 3 and bool(times[3])
        if len(times) < 2:
            return
        time, *firsts = times
        self.firsts = [float(first) / 1000 for first in firsts if first]
        if is_idle and not self._worker.clock_of_caller:
            waits = [first - time / 1000 for first in self.firsts]
            self.free_at = monotonic() + min([POLL, *waits])

    def __call__(self, verb: str, *arguments: Any, now: float | None = None) -> Any:
        answer = self._connection.run(*self._packed(verb, now), *arguments)
        self._said(verb)
        return answer

    def send(self, verb: str, *arguments: Any, now: float | None = None) -> Steps[Any]:
        """Send a verb; return what waits for its answer. Nothing else is asked meanwhile."""
        sent = self._connection.send(*self._packed(verb, now), *arguments)

        def answer() -> Steps[Any]:
            found = yield from sent
            self._said(verb)
            return found

        return answer()

    def _said(self, verb: str) -> None:
        """Take it that a verb was answered, and so what went with it is done."""
        self._arrived()
        if verb in _TELL_CELLS:
            self._decided.clear()

    def _packed(self, verb: str, now: float | None) -> tuple[Any, ...]:
        """Return a verb and all that the script is told with it, but for the verb's own."""
        self._connection.under_way.finish()
        if verb not in _CHANGE_NOTHING:
            self.idle_until = self.free_at = 0.0
        if verb != "renew":
            self.firsts = None
        strategy, terms, connection = self._strategy, self._terms, self._connection
        how = "learns" if strategy.learns else strategy.unit.value
        how = "supports" if strategy.weighs_support else how
        given = milliseconds(now) if self._worker.clock_of_caller and now is not None else ""
        caps = (terms.caps.server, terms.caps.domain, terms.unproven_share, terms.caps.sites)
        patience = milliseconds(terms.patience) if terms.waits else 0
        shared = (terms.spare, terms.small_family, patience)
        crawl = (connection.mark, self._worker.name, connection.latest, *caps, *shared)
        rides, self._arrived = connection.rides.packed()
        decided = b"".join(self._decided) if verb in _TELL_CELLS else b""
        return (verb, given, strategy.tolerated, how, *crawl, rides, decided)

    def begin(
        self, identity: dict[str, str], joining: str, life: int
    ) -> tuple[dict[str, str], int]:
        """Begin the crawl, unless another worker did.

        Return what it is, and the number of this worker.
        """
        about = {**identity, "places": str(self._strategy.places), "mark": secrets.token_hex(8)}
        pages, experience = Pages(), self._terms.experience
        if experience is not None:
            about["earlier"] = dumped(experience)
            pages = experience.crawl
        pairs = (text for pair in about.items() for text in pair)
        self._decided.clear()
        found, number = self("open", joining, life, packed_table(self._strategy), *pages, *pairs)
        # Several processes may be anyone: none of them knows which link comes before its next.
        self._connection.latest = joining if self._worker.name else ""
        return texts(dict(zip(found[::2], found[1::2], strict=True))), number

    def improve(
        self, order: SharedOrder, undecided: Iterable[Any], offers: Sequence[Offer], referrer: int
    ) -> None:
        """Improve the URLs for which an offer in another cell is better by the order as it is.

        The next call does it, or `settle`: at once if they are many.
        """
        rank = order.rank
        now: dict[int, tuple[int, int]] = {}
        for index, number, cell, *known in undecided:
            offer = offers[index]
            distance = distance_of(offer.code)
            known_cell, known_distance = now.get(number, known)
            if better(rank(cell), distance, rank(known_cell), known_distance):
                now[number] = (cell, distance)
                record = packed_offer(self._strategy, offer)
                decision = packed_decision(referrer, number, known_cell, offer.server, record)
                self._decided.append(decision)
                order.expect(cell)
        if len(self._decided) > _MANY:
            self.settle(order)

    def settle(self, order: SharedOrder) -> None:
        """See to it that what was decided is done."""
        if self._decided:
            _, pending = self("release")
            order.pending(pending)

    def discard(self, order: SharedOrder, over: Sequence[Any]) -> None:
        """Discard the worst of what is pending, by the order as it is, where it is too much."""
        while over:
            member, cells = over
            worst = packed_cells(sorted(cells, key=order.rank, reverse=True))
            _, pending, over = self("discard", member, worst)
            order.pending(pending)


def _counted_as(visit: Visit, strategy: Strategy) -> float | str:
    """Return what the script counts of a visit: "" nothing, "miss" a look that brought none."""
    if visit.counted is not None:
        return float(visit.counted)
    return "miss" if strategy.learns and visit.is_miss else ""


class RedisFrontier(SteppedFrontier):
    """The frontier in Redis, under keys that begin with ``{name}:``. Leases expire.

    A lost connection is tried again for about a minute.

    Raises AwayError if Redis can't be reached; FrontierError if it can't be used, or evicts keys;
    if it has another crawl under this name; if another process crawls into the folder, or the
    record in it is of another crawl. Nothing is written then.
    """

    _patience = RECONNECT

    def __init__(
        self,
        client: redis.Redis,
        name: str,
        strategy: Strategy,
        identity: Mapping[str, str],
        terms: Terms = DEFAULTS,
        worker: Worker = ANYONE,
    ) -> None:
        self._lengths: dict[str, int] = {}
        self._strategy = strategy = with_requisites(strategy)
        self.name = name
        self.connection = Connection(client, name)
        self._leases = _Leases(self.connection.slots)
        self._reader = RedisReader(client, name, strategy)
        self._terms = terms
        self._worker = worker
        self._call = Script(self.connection, strategy, terms, worker)
        self._held = SharedHeldPages(self.connection, terms, self._call)
        self._feed = worker.feed or feed_of(client, name)
        self._life = milliseconds(worker.time_to_live)
        self._ahead = self._asked = 0.0
        self._cells = BEST
        self._identity = identity_of(strategy, identity)
        self._number, self._is_joined = 0, False
        self.connection.worker = worker.name
        self._lock = lock(worker.folder) if worker.folder else None
        try:
            client.set_retry(AT_ONCE_OR_NOT)
            with self.connection.errors():
                self.connection.check_server()
                found = self._reader.identity()
                check_shard(found, self._identity.get("shard"), self.connection.address)
                check_identity(found or self._identity, self._identity, _ANOTHER_NAME)
                _check_record(worker, found.get("mark"), self._reader)
            self._join()
        except BaseException:
            self.close()
            raise

    def _join(self) -> None:
        """Begin or join the crawl; once it was joined, only the same one."""
        connection = self.connection
        about, self._number = self._call.begin(self._identity, self._leases.join(), self._life)
        check_shard(about, self._identity.get("shard"), connection.address)
        check_identity(about, self._identity, _ANOTHER_NAME)
        connection.mark = about["mark"]
        self._lengths = self.lengths()
        self._held.join()
        with connection.errors():
            self._order = self._new_order()
            self._order.refresh()
        self._is_joined = True
        connection.client.set_retry(self._patience)

    def _new_order(self) -> SharedOrder:
        return SharedOrder(self.connection, self._reader)

    def begin(self, steps: Steps[T]) -> Awaited[T]:
        return self.connection.under_way.begin(steps)

    def rejoin(self) -> None:
        self.connection.under_way.finish()
        self._leases.clear()
        self._join()

    def settle(self) -> None:
        """Tell Redis what was decided here and else goes with the next call."""
        self.connection.under_way.finish()
        self._call.settle(self._order)
        self._order.keep()

    @contextmanager
    def reading(self) -> Iterator[RedisReader]:
        self.settle()
        self.connection.ask()
        with self.connection.errors():
            yield RedisReader(self.connection.client, self._reader.name, self._strategy)

    def pages(self, units: Collection[str]) -> dict[str, Pages]:
        known = {unit: pages for unit in units if (pages := self._leases.pages.get(unit))}
        names = [unit for unit in units if unit not in known]
        (found,) = self.connection.ask(("HMGET", "units", names)) if names else ([],)
        return known | pages_of(names, found)

    def family_of(self, server: str) -> tuple[str, ...]:
        if (standing := self._leases.standing_of(server)) is not None:
            return standing[1:] if standing[0] == families.UNPROVEN else ()
        site = site_of(server)
        (found,) = self.connection.ask(("HGET", "sites", (site,)))
        return super().family_of(server) if is_unproven(found) else ()

    @property
    def pending(self) -> int:
        pending, later = self.connection.ask(("HVALS", "pending", ()), ("ZCARD", "later", ()))
        return sum(map(int, pending)) + int(later)

    @property
    def unfinished(self) -> int:
        pending, later, leased = self.connection.ask(
            ("HVALS", "pending", ()), ("ZCARD", "later", ()), ("HLEN", "leases", ())
        )
        return sum(map(int, pending)) + int(later) + int(leased)

    @property
    def held(self) -> int:
        if not self._held.is_on:
            return 0
        (number,) = self.connection.ask(("HLEN", "held", ()))
        return int(number)

    def hold(self, records: Iterable[Mapping[str, Any]]) -> None:
        def again(url: Url, depth: int) -> bytes:
            return packed_offer(self._strategy, _again(self._strategy, url, SEED, depth))

        self._held.hold(records, again)

    def held_of(self, number: int) -> Held | None:
        """Return what is kept of a page by its number; None if it isn't held."""
        return self._held.of(number) if self._held.is_on else None

    def freshness(self, now: float) -> Freshness | None:
        return super().freshness(now) if self._held.is_on else None

    @property
    def requisites(self) -> int:
        self.connection.under_way.finish()
        return self._order.requisites

    @property
    def later(self) -> int:
        (number,) = self.connection.ask(("ZCARD", "later", ()))
        return int(number)

    def next_due(self) -> float | None:
        (first,) = self.connection.ask(("ZRANGE", "later", _FIRST))
        return _score(first) + self._ahead if first else None

    def lengths(self) -> dict[str, int]:
        """Return the lengths of this worker's files at its last commit."""
        (found,) = self.connection.ask(("HGETALL", f"files:{self._worker.name}", ()))
        return {name: int(length) for name, length in texts(found).items()}

    def reopen(
        self,
        urls: Collection[str],
        lengths: Mapping[str, int],
        requisites: Collection[str] = (),
    ) -> int:
        offers = [
            _again(self._strategy, parsed, REQUISITE if url in requisites else SEED)
            for url in urls
            if (parsed := parse(url)) is not None
        ]
        flat = [part for pair in lengths.items() for part in pair]
        files = f"files:{self._worker.name}"
        for first in range(0, len(offers), OFFERS):  # after a kill the rest isn't finished still
            some = offers[first : first + OFFERS]
            self.forget(known_by(offer.url, offer.code) for offer in some)
            self.offer(some)
        self.connection.ask(
            ("DEL", files, ()),
            *((("HSET", files, flat),) if flat else ()),
            # An older copy may know of fewer visits than its records tell: `hold` reads them again.
            ("SREM", "holds", (self._worker.name,)),
        )
        self._lengths = dict(lengths)
        return len(offers)

    def others(self) -> tuple[list[Path], int]:
        with self.reading() as reader:
            return others_of(reader.workers.numbers(), self._worker.name)

    def finished_here(self) -> Iterator[int]:
        with self.reading() as reader:
            yield from reader.workers.finished_by(self._number)

    def visited_again(self) -> Iterator[int]:
        with self.reading() as reader:
            yield from reader.workers.visited_again()

    def _pending_of(self, visit: Visit) -> Iterable[tuple[str, int]]:
        lease = visit.lease
        client, prefix = self.connection.client, self.connection.prefix
        found: Iterator[Any]
        with self.connection.errors():
            if self._strategy.unit is Unit.SERVER:
                key = f"{prefix}queue:{lease.server}"
                found = (number for number, _ in client.zscan_iter(key, count=_READ))
            else:
                found = client.sscan_iter(f"{prefix}of:{lease.unit}", count=_READ)
            numbers = iter(set(found))  # the scan of a key that changes may give some twice
        while some := list(islice(numbers, _READ)):
            for record in filter(None, self.connection.records(some)):
                facts, _, url = unpacked(record, lease.server)
                yield url, facts[0]

    def offer(self, offers: Sequence[Offer]) -> None:
        every = iter(offers)
        while some := list(islice(every, OFFERS)):
            _, pending, undecided, over = self._call("offer", *packed_offers(self._strategy, some))
            self._order.pending(pending)
            self._call.improve(self._order, undecided, some, 0)
            self._call.discard(self._order, over)

    def leasing(self, now: float) -> Steps[Lease | None]:
        self._order.refresh_if_due()
        if self._held.is_on and (again := self._lease_again(now)) is not None:
            return again
        free, lease = yield from self._lease(now, self._cells)
        if lease is not None or not free:
            self._cells = max(BEST, self._cells - 1)
            return lease
        if self._cells < self._order.cells:  # these are of busy servers
            self._cells *= 2
            free, lease = yield from self._lease(now)
        if free and lease is None and not self._order.requisites:
            # What is free has URLs in cells that other workers filled: no requisites are known.
            self._order.refresh()
            _, lease = yield from self._lease(now)
        return lease

    def _lease_again(self, now: float) -> Lease | None:
        """Lease the page that is due first, if the budget of all workers has a visit."""
        while True:
            token = self._leases.next_token
            found = self._held.lease(now, token, self._life, self._leases.by_id)
            self._order.least_worth = self._terms.least_worth if self._held.number else 0.0
            if found is None:
                return None
            free, pending, times, over, *leased = found
            self._noticed(now, pending, times, over, bool(leased))
            if leased:
                held = self._held.leased(leased[2])
                return self._leases.add(
                    [*leased[:7], *leased[10:]], self._expected(leased[3]), held
                )
            if free >= 0:
                return None

    def _noticed(
        self,
        now: float,
        pending: Sequence[Any],
        times: Sequence[Any],
        over: Sequence[Any],
        is_leased: bool,
    ) -> None:
        """Take notice of what a lease that was asked for at a time has changed."""
        self._order.pending(pending)
        self._call.discard(self._order, over)
        self._asked = now
        self._ahead = now - times[0] / 1000
        self._call.hear(times, is_idle=is_leased)

    def _is_idle(self, now: float) -> bool:
        """Tell whether there is nothing to lease now, as far as is known."""
        if now >= self._call.idle_until and monotonic() >= self._call.free_at:
            return False
        self._asked = now
        return True

    def _expected(self, cell: int) -> float | None:
        return None if cell >= REQUISITES else self._order.expected(cell)

    @property
    def holds_back(self) -> bool:
        return self._call.holds_back

    def restrict(self, cells: Collection[int] | None) -> None:
        self._order.only = cells

    def leasing_among(self, servers: Sequence[str], now: float) -> Steps[Lease | None]:
        if not servers:
            return None
        return (yield from self._lease(now, None, *servers))[1]

    def leasing_requisite(self, now: float) -> Steps[Lease | None]:
        self._order.refresh_if_due()
        if not self._order.requisites:
            return None
        return (yield from self._lease(now, 0))[1]

    def _lease(
        self, now: float, cells: int | None = None, *servers: str
    ) -> Steps[tuple[int, Lease | None]]:
        """Lease a URL of so many of the best cells, of all, or at 0 a requisite.

        Return how many servers were free, too.
        """
        if self._is_idle(now):
            return 0, None
        free = -1
        while free < 0:
            order = self._order.packed(self._terms.waits, cells) if cells != 0 else _REQUISITES
            free, lease = yield from self._lease_of(now, order, *servers)
        return free, lease

    def _lease_of(
        self, now: float, order: tuple[bytes, int, int, int], *servers: str
    ) -> Steps[tuple[int, Lease | None]]:
        """Lease a URL of these cells; -1 free servers say that it is to be asked again."""
        free, pending, times, over, *leased = yield from self._call.send(
            "lease", self._leases.next_token, self._life, *order, *servers, now=now
        )
        self._noticed(now, pending, times, over, bool(leased))
        if not leased:
            return free, None
        return free, self._leases.add(leased, self._expected(leased[3]), None)

    def next_ready(self) -> float | None:
        self.connection.under_way.finish()
        if self._asked < self._call.idle_until:
            return self._call.idle_until  # it was asked, and nothing was done since
        firsts = self._call.firsts
        if firsts is None:
            found = self.connection.ask(("ZRANGE", "busy", _FIRST), ("ZRANGE", "later", _FIRST))
            firsts = [_score(first) for first in found if first]
        times = [first + self._ahead for first in firsts]
        if times:
            left = self._call.free_at - monotonic()
            times.append(self._asked + (left if left > 0 else POLL))
        if self._held.number:
            times.append(self._held.next_ready)
        if times:
            self._call.idle_until = min(times)
        return min(times, default=None)

    def renew(self, now: float) -> list[int]:
        self.settle()
        tokens = self._leases.tokens()
        ended = self._call("renew", self._life, *tokens, now=now)
        lost = self._leases.lost({server.decode() for server in ended})
        return [*lost, *self._leases.expired()]

    @contextmanager
    def fed_seeds(self) -> Iterator[list[str]]:
        client = self.connection.client
        with self.connection.errors():
            kind, entries = read_feed(client, self._feed)
        yield addresses(entries)
        if entries:
            with self.connection.errors():
                take_off(client, kind, self._feed, entries)

    def ending(
        self, visit: Visit, due: float | None, lengths: Mapping[str, int] | None = None
    ) -> Steps[bool]:
        if not self._leases.holds(visit.lease):
            return False
        if visit.lease.visits:
            return (yield from self._commit_again(visit, lengths))
        if due is not None:
            return (yield from self._postpone(visit, due, lengths))
        return (yield from self._commit(visit, lengths))

    def _commit(self, visit: Visit, lengths: Mapping[str, int] | None) -> Steps[bool]:
        lease = visit.lease
        tally = {("finished", visit.outcome): 1, **visit.tally}
        counted = visit.counted
        moved = visit.outcome == Outcome.REDIRECT and visit.url.startswith("http:")
        offers = yield from self._after_ahead(visit)
        self._leases.pages.pop(lease.unit, None)  # they change before the answer says so
        ended, pending, undecided, pages, over, times = yield from self._call.send(
            "commit",
            *self._end(lease, visit, lengths),
            key_of(in_shard(lease.key, shard_of_server(lease.server))),
            _counted_as(visit, self._strategy),
            lease.cell,
            f"{'h' if moved else '.'}{self._number}",
            visit.outcome if may_return(visit.outcome) else "",
            visit.url,
            len(tally),
            *self._held.first_visit(visit),
            *(text for (kind, name), n in tally.items() for text in (f"{kind}\n{name}", n)),
            *packed_offers(self._strategy, offers),
        )
        if not self._has_ended(lease, ended, lengths):
            return False
        self._order.pending(pending)
        if counted is not None:
            if len(visit.offers) <= OFFERS:  # else it was learned ahead of them
                self._order.learn(lease.cell, counted)
            self._order.compare(pages)
        self._call.improve(self._order, undecided, offers, lease.id)
        self._call.discard(self._order, over)
        self._held.hear(visit)
        if not over:
            self._call.hear(times, is_idle=True)
        return True

    def _after_ahead(self, visit: Visit) -> Steps[Sequence[Offer]]:
        """Offer a page's links, if they are many, and return those that end with it.

        The page is counted before, as links to its own site go by that. What is too much then is
        discarded once the page has ended.
        """
        lease, first = visit.lease, 0
        token = self._leases.token(lease)
        if len(visit.offers) > OFFERS and visit.counted is not None and not lease.visits:
            counted = float(visit.counted)
            is_ours, pending, pages = yield from self._call.send(
                "count_ahead", lease.server, token, counted, lease.cell
            )
            self._order.pending(pending)
            if is_ours:
                self._order.learn(lease.cell, visit.counted)
                self._order.compare(pages)
        while len(visit.offers) - first > OFFERS:
            some = visit.offers[first : first + OFFERS]
            packed = packed_offers(self._strategy, some)
            _, pending, undecided, _ = yield from self._call.send(
                "offer_ahead", lease.server, token, *packed
            )
            self._order.pending(pending)
            self._call.improve(self._order, undecided, some, lease.id)
            first += OFFERS
        return visit.offers[first:]

    def _commit_again(self, visit: Visit, lengths: Mapping[str, int] | None) -> Steps[bool]:
        """End the visit of a page that is held: it is counted for no unit and no cell again."""
        offers = yield from self._after_ahead(visit)
        ended, pending, undecided, over = yield from self._call.send(
            "commit_again",
            *self._end(visit.lease, visit, lengths),
            *self._held.visited(visit, became(visit)),
            *packed_offers(self._strategy, offers),
        )
        if not self._has_ended(visit.lease, ended, lengths):
            return False
        self._order.pending(pending)
        self._call.improve(self._order, undecided, offers, visit.lease.id)
        self._call.discard(self._order, over)
        self._held.hear(visit)
        return True

    def _postpone(self, visit: Visit, due: float, lengths: Mapping[str, int] | None) -> Steps[bool]:
        lease = visit.lease
        ended = yield from self._call.send(
            "postpone",
            *self._end(lease, visit, lengths),
            milliseconds(due - self._ahead),
            lease.tries + is_transient(visit.outcome),
            visit.outcome,
        )
        return self._has_ended(lease, ended, lengths)

    def give_back(self, visit: Visit) -> bool:
        self.connection.under_way.finish()
        lease = visit.lease
        if not self._leases.holds(lease):
            return False
        self._leases.end(lease)
        self._held.freed()
        released, pending = self._call("release", *self._leases.released(lease, visit.rest))
        self._order.pending(pending)
        return bool(released)

    def forget(self, keys: Iterable[int]) -> None:
        """Take it that URLs that ended weren't seen, by their keys: links bring them again.

        The keys are those of ``known_by``.
        """
        names = map(key_of, keys)
        while some := list(islice(names, _REVIVED)):
            self._call("lose", *some)

    @property
    def mark(self) -> str:
        """What the crawl is known again by."""
        return self.connection.mark

    def retry(self, outcomes: Collection[str], wanted: Wanted | None = None) -> int:
        names = [f"{kind}\n{name}" for kind in ("finished", "postponed") for name in outcomes]
        (tallied,) = self.connection.ask(("HMGET", "tally", names)) if names else ([],)
        if not any(map(int, filter(None, tallied))):
            return 0  # without looking at every URL
        revived, ended = 0, _ended(self.connection, {name.encode() for name in outcomes})
        while found := list(islice(ended, _REVIVED)):
            chosen = found
            if wanted is not None:
                records = self.connection.records(number for number, _ in found)
                pairs = zip(found, records, strict=True)
                chosen = [pair for pair, record in pairs if _is(record, pair[1], wanted)]
            revived += self._call("retry", *(part for pair in chosen for part in pair))
        return revived

    def _end(
        self, lease: Lease, visit: Visit, lengths: Mapping[str, int] | None
    ) -> tuple[str, str, str, str, int]:
        """Return what the script needs to end a lease."""
        changed = changed_of(lengths, self._lengths)
        flat = [str(part) for pair in changed.items() for part in pair]
        files = json.dumps(flat) if flat else ""
        token = self._leases.token(lease)
        self.connection.slots.end(lease.server)  # with this call
        return lease.server, token, files, str(visit.received), milliseconds(visit.rest)

    def _has_ended(self, lease: Lease, ended: Any, lengths: Mapping[str, int] | None) -> bool:
        """Take notice that a lease is over; return whether that was this worker's to say."""
        self._leases.end(lease)
        self._held.freed()
        if ended:
            self._lengths.update(lengths or {})
            self.connection.latest = self.connection.latest and self._leases.token(lease)
        return bool(ended)

    def tell(self, now: str, point: str, seconds: float) -> None:
        self._call("tell", now, point, milliseconds(seconds))

    def close(self, under_way: Iterable[Visit] = ()) -> None:
        self.connection.under_way.finish()
        rests = {visit.lease.id: visit.rest for visit in under_way}
        held = iter(self._leases.by_id.values())
        with suppress(LswcError):  # then the leases expire
            while some := list(islice(held, OFFERS)):
                released = (self._leases.released(one, rests.get(one.id, 0.0)) for one in some)
                self._call("release", *chain.from_iterable(released))
            if self._is_joined:
                self.settle()
            if self.connection.mark:
                self._call("leave")
        self.connection.client.close()
        if self._lock is not None:
            self._lock.close()


def _check_record(worker: Worker, mark: str | None, reader: RedisReader) -> None:
    """Raise FrontierError if the record in a worker's folder isn't of the crawl of this mark."""
    if not worker.recorded or (mark and worker.mark == mark):
        return
    if worker.name.encode() not in reader.workers.numbers():
        raise FrontierError(
            "this folder holds the record of another crawl: move it away, or choose "
            "another folder with LSWC_CRAWL"
        )


def others_of(workers: Iterable[bytes], own: str) -> tuple[list[Path], int]:
    """Return the folders of workers but this one, and how many aren't here."""
    names = map(bytes.decode, workers)
    parts = [name.partition(":") for name in names if name not in ("", own)]
    folders = [Path(folder) for host, _, folder in parts if host == gethostname()]
    here = [folder for folder in folders if folder.is_dir()]
    return here, len(parts) - len(here)


def _again(strategy: Strategy, url: Url, code: int, depth: int = 0) -> Offer:
    unit = url.server if strategy.unit is Unit.SERVER else directory(url)
    return Offer(url.href, url.server, unit, code, PageLanguage.TARGET, depth)


def _ended(connection: Connection, outcomes: Container[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Yield number and server of the URLs that ended so, or were postponed for it."""
    client, prefix = connection.client, connection.prefix
    with connection.errors():
        for number, ended in client.hscan_iter(prefix + "failed", count=1000):
            outcome, _, server = ended.partition(b"\n")
            if outcome in outcomes:
                yield number, server
        for member, due in client.zscan_iter(prefix + "later", count=1000):
            number, _, server = member.partition(b" ")
            known: Any = client.hget(prefix + "tries", number)
            if due > 0 and known is not None and known.partition(b" ")[2] in outcomes:
                yield number, server


def _is(record: bytes, server: bytes, wanted: Wanted) -> bool:
    """Tell whether the URL of a record is wanted; not one that is gone."""
    if not record:
        return False
    facts, _, url = unpacked(record, server.decode())
    return wanted(url, facts[3])


def _score(first: Any) -> float:
    """Return the score of a sorted set's first member, in seconds."""
    score = first[0][1] if isinstance(first[0], (list, tuple)) else first[1]
    return float(score) / 1000
