"""Frontier on several Redis servers: each holds whole sites, and runs the script for them.

docs/shards.md has the design, and why nothing is lost or recorded twice.
"""

from __future__ import annotations

import json
import logging
from bisect import bisect_right
from collections import defaultdict
from contextlib import ExitStack, contextmanager, suppress
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import chain
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace as replaced
from redis.backoff import ExponentialBackoff
from redis.retry import Retry

from lswc.errors import AwayError, LswcError, OlderError
from lswc.frontier.contract import (
    DEFAULTS,
    SteppedFrontier,
    Terms,
    is_far_better,
    site_of,
)
from lswc.frontier.lock import lock
from lswc.frontier.redis import ANYONE, BEST, POLL, RedisFrontier, Worker, others_of
from lswc.frontier.redis_order import REFRESH, SharedOrder
from lswc.frontier.redis_report import RedisReader
from lswc.frontier.redis_script import Connection, packed_cells, packed_offers, text, texts
from lswc.frontier.sharded_report import ShardedReader, opened_all
from lswc.frontier.shards import LAID_OUT, SHARDS, Layout, check_servers
from lswc.frontier.steps import Awaited, UnderWay
from lswc.frontier.visit import Offer
from lswc.safety.server_limits import NOTHING_TAKEN
from lswc.strategy import LearnedOrder, PageLanguage, Status, strategy, with_requisites

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import redis

    from lswc.frontier.contract import Wanted
    from lswc.frontier.steps import Steps, T
    from lswc.frontier.visit import Lease, Visit
    from lswc.safety.server_limits import Taken
    from lswc.strategy import Pages, Rank, Strategy

BRIEFLY = Retry(ExponentialBackoff(cap=0.4, base=0.1), 3)
"""For a second: the other servers have work meanwhile."""

FIRST_TRY, LONGEST_WAIT = 0.5, 30.0
"""Seconds between two looks whether a server is back: the first, and the most after twice as many
each time."""

ANY = (float("-inf"), 0)
"""A rank before all others: of a server that is to be asked first, whatever it has."""

_AT_ONCE = 100  # pages whose links are delivered by one look
_LOOKS = 64  # calls for one lease

logger = logging.getLogger(__name__)


class Page(NamedTuple):
    """The page that a link is on, as servers which don't hold its site are told of it.

    ``level``, ``family`` and ``branch`` are those of its site (``lswc.strategy.families``).
    """

    url: str
    site: str
    level: int = 0
    family: str = ""
    branch: str = ""


class Doubt(NamedTuple):
    """A visit that a server ended, as it turned out, though its worker took it out of its files.

    Its ``url``, "" if that needn't wait again; and the ``lengths`` of the files before it, with the
    number of commits until then ("@").
    """

    url: str
    is_requisite: bool
    lengths: dict[str, int]


class CommonOrder(SharedOrder):
    """The order of cells, by the counts of all servers together."""

    parts: Sequence[PartOrder] = ()

    def look(self, parts: Sequence[Part], reader: ShardedReader) -> None:
        """Add up what all servers counted; the first keeps what is scored. Raises LswcError."""
        self._connection, self._reader = parts[0].connection, reader
        self._earlier = self._earlier or reader.identity().get("earlier")
        self.refresh()
        self.parts = [part.order for part in parts]
        for one in self.parts:
            one.order = self.order
            one.learned(None)
            one.at = ANY

    def learn(self, cell: int, relevant: float) -> None:
        if isinstance(self.order, LearnedOrder):
            due = self.order.learn(cell, relevant)
            if due:
                self._is_kept = False
            for part in self.parts:
                part.learned(None if due else cell)


class PartOrder(SharedOrder):
    """The order of cells, and which of them have URLs on one server.

    ``at`` is the rank of the best cell of which the server may have a URL for this worker now, as
    far as it knows; None if of none.
    """

    _hashes = ("pending", "unproven")

    def __init__(self, connection: Connection, reader: RedisReader, common: CommonOrder) -> None:
        self._common = common
        self.at: Rank | None = ANY
        super().__init__(connection, reader)

    def rank(self, cell: int) -> Rank:
        return self._common.order.rank(cell)

    def expected(self, cell: int) -> float | None:
        return self._common.order.expected(cell)

    def pending(self, numbers: Sequence[Any]) -> None:
        super().pending(numbers)
        for cell, number in zip(map(int, numbers[::2]), numbers[1::2], strict=True):
            if number and cell in self._ready:
                self._better(self.rank(cell))

    def _better(self, rank: Rank) -> None:
        self.at = rank if self.at is None else min(self.at, rank)

    def learn(self, cell: int, relevant: float) -> None:
        self._common.learn(cell, relevant)

    def learned(self, cell: int | None) -> None:
        """Take notice of a cell's new rank, or of all cells'."""
        if cell is None:
            self._ready.reorder()
            self.look_again()
        else:
            self._ready.changed(cell)
            if cell in self._ready:
                self._better(self.rank(cell))

    def compare(self, pages: int) -> None:
        """Do nothing: one server doesn't know how many pages there are."""

    def refresh_if_due(self) -> None:
        """Do nothing: all servers are looked at together."""

    def _looked_at(self, known: LearnedOrder, reader: RedisReader | ShardedReader) -> LearnedOrder:
        return known

    def look_again(self) -> None:
        """Take it that the server may have URLs of all its cells, or some that are due."""
        best = self._ready.since(ANY, 1)
        self.at = best[0] if best else ANY

    def best(self) -> tuple[int | None, int | None]:
        """Return the best cell with a URL, and the best with one of a proven site."""
        cells = self._ready.best(BEST)
        return cells[0] if cells else None, next(filter(self._of_proven, cells), None)

    def packed_until(
        self, until: Rank | None, beyond: int, best: Sequence[int | None], elsewhere: bool
    ) -> tuple[bytes, int, int, int]:
        """Return some cells from ``at`` on as ``packed`` does; ``at`` goes on.

        These are the cells to that rank, and so many ``beyond``. ``best`` are the best cells of
        all servers that others wait for: of proven sites, of all; ``elsewhere`` says that another
        had one a moment ago that waited for none.
        """
        found = self._ready.since(self.at or ANY, BEST + 1)
        last = len(found) if until is None else bisect_right(found, until) + beyond
        chosen = found[: min(last, BEST)]
        self.at = found[len(chosen)] if len(found) > len(chosen) else None
        cells, order = [cell for _, cell in chosen if self.is_allowed(cell)], self._common.order
        good = [
            len(cells)
            if first is None
            else sum(not is_far_better(order, first, cell) for cell in cells)
            for first in best
        ]
        is_whole = len(cells) == len(self._numbers)
        return packed_cells(cells), good[0], good[1], is_whole + 2 * elsewhere


class Part(RedisFrontier):
    """What one server holds of the crawl: a frontier like any other, but for the order.

    ``is_away`` says that it can't be reached; ``next_try`` when to try again. ``owed_since`` is
    when it was seen first that other workers' links are kept for it: if a lease would have expired
    since, those workers are gone.
    """

    _patience = BRIEFLY

    def __init__(
        self,
        common: CommonOrder,
        client: redis.Redis,
        name: str,
        identity: Mapping[str, str],
        terms: Terms,
        worker: Worker,
    ) -> None:
        self.index = int(identity["shard"].partition(" ")[0]) - 1
        self.is_away, self.turn, self.free = False, 0, 0
        self.owed_since: float | None = None
        self.next_try = self.wait = 0.0
        self._common = common
        super().__init__(client, name, common.strategy, identity, terms, worker)

    @property
    def waits(self) -> bool:
        """Whether a URL may wait for far better ones."""
        return self._terms.waits

    def _new_order(self) -> PartOrder:
        self.order = PartOrder(self.connection, self._reader, self._common)
        return self.order

    @property
    def reader(self) -> RedisReader:
        """What it is read by."""
        return RedisReader(self.connection.client, self.name, self._strategy)

    def lease_until(
        self,
        now: float,
        until: Rank | None,
        beyond: int,
        best: Sequence[int | None],
        elsewhere: bool,
    ) -> Steps[Lease | None]:
        """Hand out a URL of the best cells, of none more than so many beyond a rank.

        ``elsewhere`` says that such come from other parts: then what is far worse waits.
        """
        if self._is_idle(now):
            self.free, self.order.at = 0, None
            return None
        order = self.order.packed_until(until, beyond, best, elsewhere)
        self.free, lease = yield from self._lease_of(now, order)
        if self.free < 0:  # URLs came back, or there is more to be done first
            self.order.look_again()
        if lease is not None:
            self.order.at = self.order.rank(lease.cell)
        return lease

    def offer_from(self, page: Page, offers: Sequence[Offer], given: int) -> Steps[None]:
        """Add URLs that a page brought whose site is another server's; return what waits for that.

        ``given`` is how much this worker gave to the server so far, this included.
        """
        token = f"{self._leases.joining}:{given}"
        sent = self._call.send(
            "offer_from", page.url, token, *page[1:], f"@{self.index}", given,
            *packed_offers(self._strategy, offers),
        )  # fmt: skip

        def answered() -> Steps[None]:
            number, pending, undecided, over = yield from sent
            self.connection.latest = self.connection.latest and token
            self._order.pending(pending)
            self._call.improve(self._order, undecided, offers, number)
            self._call.discard(self._order, over)

        return answered()

    def page_of(self, visit: Visit) -> Page:
        """Return what other servers are told of a visit's page, which is leased."""
        server = visit.lease.server
        return Page(visit.url, site_of(server), *self._leases.standing_of(server) or ())

    def holds(self, lease: Lease) -> bool:
        """Tell whether a lease hasn't ended, as far as this worker knows."""
        return self._leases.holds(lease)

    def lose_leases(self) -> list[int]:
        """Forget all leases; return the numbers of their URLs."""
        return self._leases.clear()

    def token_of(self, lease: Lease) -> str:
        """Return what names a lease."""
        return self._leases.token(lease)


class ShardedFrontier(SteppedFrontier):
    """The frontier on several Redis servers, under keys that begin with ``{name}:`` on each.

    A server that can't be reached is left out until it is back. Raises FrontierError as a
    RedisFrontier does, and if these aren't the servers of one crawl in their order; AwayError
    if one isn't there at the beginning.
    """

    def __init__(
        self,
        clients: Sequence[redis.Redis],
        name: str,
        strategy: Strategy,
        identity: Mapping[str, str],
        terms: Terms = DEFAULTS,
        worker: Worker = ANYONE,
    ) -> None:
        self.name, self._worker = name, worker
        self._strategy = strategy = with_requisites(strategy)
        self.parts: list[Part] = []
        self._lost: list[int] = []
        self._lengths: dict[str, int] = {}
        self._counts: dict[str, int] = {}
        self._looked = self._turns = 0.0
        self._beyond = 0
        self._patience, self._unhasty_until = terms.patience, 0.0
        self._asked = 0.0
        number = len(clients)
        caps = replace(terms.caps, sites=-(-terms.caps.sites // number))
        own = replace(terms, caps=caps, small_family=-(-terms.small_family // number))
        self._connections = [Connection(client, name) for client in clients]
        self._under_way = UnderWay()
        self._lock = lock(worker.folder) if worker.folder else None
        try:
            self.layout = self._checked_layout()
            readers = {n: RedisReader(client, name, strategy) for n, client in enumerate(clients)}
            with self._connections[0].errors():
                reader = ShardedReader(self.layout, readers, strategy)
                self._common = CommonOrder(self._connections[0], reader)
            doubts = {index: self._in_doubt(index)[1] for index in range(number)}
            for index, client in enumerate(clients):
                about = {**identity, **self.layout.identity(index, self.mark if index else "")}
                recorded = worker.recorded and not index  # the first knows the crawl's mark
                joining = replace(worker, folder=None, known_as=worker.name, recorded=recorded)
                self.parts.append(Part(self._common, client, name, about, own, joining))
                self.parts[-1].connection.under_way = self._under_way
            for part in self.parts:
                part.connection.ask(("HSET", "about", ("whole", "1")))
            self._begin(doubts)
            for part in self.parts:
                self._clear(part, doubts[part.index])
        except BaseException:
            self.close()
            raise

    def _checked_layout(self) -> Layout:
        """Return how the shards are laid out over these servers. Raises LswcError."""
        found = [_about(connection) for connection in self._connections]
        if any(about.get("whole") for about in found):  # then all had begun by now
            found = [about or _about(c) for c, about in zip(self._connections, found, strict=True)]
        check_servers(
            [(c.address, about) for c, about in zip(self._connections, found, strict=True)]
        )
        known = next((about["layout"] for about in found if about), None)
        number = len(self._connections)
        return Layout(bytes.fromhex(known), number) if known else Layout.of(number)

    @property
    def mark(self) -> str:
        """What the crawl is known again by."""
        return self.parts[0].mark

    @property
    def live(self) -> list[Part]:
        """The servers that can be reached, as far as is known."""
        return [part for part in self.parts if not part.is_away]

    def part_of(self, server: str) -> Part:
        """Return what holds a web server."""
        return self.parts[self.layout.server_of(server)]

    # -- servers that are away -------------------------------------------------------------------

    def _begin(self, doubts: Mapping[int, Doubt | None]) -> None:
        """Learn what all servers know, once they were joined."""
        self._look()
        self._lengths, self._counts = self._latest_lengths(doubts)

    @contextmanager
    def reaching(self, part: Part) -> Iterator[None]:
        """Ask one server; it is left out from now on if it is away. Raises LswcError.

        An older copy of it is the caller's to take up: files must be compared with it first.
        """
        try:
            yield
        except OlderError:
            raise
        except AwayError as error:
            self._leave_out(part, error)
            raise

    def _leave_out(self, part: Part, error: AwayError) -> None:
        self._under_way.finish()  # it may be of a lease that is lost now
        if part.is_away:
            return
        part.is_away, part.wait, part.next_try = True, FIRST_TRY, monotonic() + FIRST_TRY
        self._lost += [_whole_id(number, part) for number in part.lose_leases()]
        if self.live:
            logger.warning("%s; its sites wait, the others go on", error)

    def ask(self, part: Part, asked: Callable[[], Any], otherwise: Any = None) -> Any:
        """Return what a server answers, or something else if it is away but others are there."""
        if not part.is_away:
            with self._going_on(part):
                return asked()
        return otherwise

    def _asking(self, part: Part, steps: Steps[Any], otherwise: Any = None) -> Steps[Any]:
        """Do what ``ask`` does, in steps."""
        if not part.is_away:
            with self._going_on(part):
                return (yield from steps)
        return otherwise

    @contextmanager
    def _going_on(self, part: Part) -> Iterator[None]:
        """Ask one server as ``reaching``; that it is away is an error only if all are."""
        try:
            with self.reaching(part):
                yield
        except OlderError:
            raise
        except AwayError:
            if not self.live:
                raise

    def ask_all(self, asked: Callable[[Part], Any]) -> list[Any]:
        """Return what all servers answer that aren't away. Raises AwayError if all are."""
        nothing = object()
        found = [self.ask(part, partial(asked, part), nothing) for part in self.parts]
        return [one for one in found if one is not nothing]

    def _ask_each(self, asked: Callable[[Part], T]) -> list[T]:
        """Return what every server answers. Raises AwayError if one is away."""
        found: list[T] = self.ask_all(asked)
        if len(found) < len(self.parts):
            raise AwayError("a server of the crawl is away: what it knows is needed")
        return found

    def _try_again(self) -> None:
        """Join the servers again that are back."""
        for part in self.parts:
            if part.is_away and monotonic() >= part.next_try:
                part.next_try = monotonic() + part.wait
                part.wait = min(2 * part.wait, LONGEST_WAIT)
                try:
                    self._return(part)
                except OlderError:
                    raise
                except AwayError:
                    continue

    def _return(self, part: Part) -> None:
        latest, doubt = self._in_doubt(part.index)
        known = part.connection.latest
        if known and latest != known and doubt is None:
            part.is_away = False
            raise OlderError(f"{part.connection.address} has forgotten the latest pages")
        part.rejoin()
        part.is_away = False
        logger.warning("%s is back", part.connection.address)
        self._clear(part, doubt)
        self._look()

    def begin(self, steps: Steps[T]) -> Awaited[T]:
        return self._under_way.begin(steps)

    def rejoin(self) -> None:
        self._under_way.finish()
        found: dict[int, Doubt | None] = {}
        for part in self.parts:
            part.is_away = False
            part.lose_leases()
        for part in self.parts:  # one that is away may know what no other does of the files
            _, found[part.index] = self._in_doubt(part.index)
            part.rejoin()
        self._lost.clear()
        self._begin(found)
        for index, doubt in found.items():
            self._clear(self.parts[index], doubt)

    def _in_doubt(self, index: int) -> tuple[str, Doubt | None]:
        """Return what this worker ended last on a server, as that says before it is joined.

        Also that visit, if it isn't in the files (``_doubt``). The server itself keeps then that it
        ended it, as joining it makes another the last: so a kill before `_clear` loses nothing.
        """
        field, said = f"{self._worker.name}\n{index}", []
        for number, connection in enumerate(self._connections):
            if number >= len(self.parts) or not self.parts[number].is_away or number == index:
                with connection.errors():
                    key = connection.prefix + "doubts"
                    said.append(_text(connection.client.hget(key, field)))
        connection = self._connections[index]
        with connection.errors():
            key = connection.prefix + "latest"
            latest = _text(connection.client.hget(key, self._worker.name))
            for token, *doubt in map(json.loads, filter(None, said)):
                if token in ("", latest):
                    kept = json.dumps(["", *doubt])
                    connection.client.hset(connection.prefix + "doubts", field, kept)
                    return latest, Doubt(*doubt)
        return latest, None

    def _clear(self, part: Part, doubt: Doubt | None) -> None:
        """Let the URL wait again that a server finished, and that isn't in the files.

        Then deliver what was kept for it.
        """
        if doubt is not None:
            urls = [doubt.url] if doubt.url else []
            known = {**self._lengths, **self._counts}
            part.reopen(urls, known, urls if doubt.is_requisite else [])
        field = f"{self._worker.name}\n{part.index}"
        self.ask_all(lambda one: one.connection.ask(("HDEL", "doubts", (field,))))
        self._deliver(part)

    def older_lengths(self) -> dict[str, int] | None:
        found = self._ask_each(lambda part: (part, part.lengths()))
        known = self._given(lengths for _, lengths in found)
        older = [
            lengths
            for part, lengths in found
            if lengths.get(f"@{part.index}", 0) < known.get(f"@{part.index}", 0)
        ]
        if not older:
            return None
        oldest = min(older, key=lambda lengths: lengths.get("@", 0))
        return {name: n for name, n in oldest.items() if not name.startswith("@")}

    # -- what is stored --------------------------------------------------------------------------

    def settle(self) -> None:
        """Tell the servers what was decided here and else goes with the next calls."""
        self.ask_all(Part.settle)
        with suppress(AwayError):  # the next look does it
            self._common.keep()

    @contextmanager
    def reading(self) -> Iterator[ShardedReader]:
        self.settle()
        self.ask_all(lambda part: part.connection.ask())
        live = self.live
        readers = {part.index: part.reader for part in live}
        with live[0].connection.errors():
            yield ShardedReader(self.layout, readers, self._strategy)

    def pages(self, units: Collection[str]) -> dict[str, Pages]:
        found: dict[str, Pages] = {}
        for index, some in self.layout.part(units).items():
            part = self.parts[index]
            found |= self.ask(part, partial(part.pages, some), {})
        return found

    def statuses(
        self, units: Collection[str], lease: Lease, counted: float | None
    ) -> dict[str, Status]:
        found = super().statuses(units, lease, counted)
        if self.part_of(lease.server).is_away:  # what comes of the page is left out
            found[lease.unit] = max(found[lease.unit], Status.UNDECIDED)
        return found

    def taken(self, server: str) -> tuple[Taken, Taken]:
        part, nothing = self.part_of(server), (NOTHING_TAKEN, NOTHING_TAKEN)
        found: tuple[Taken, Taken] = self.ask(part, lambda: part.taken(server), nothing)
        return found

    def family_of(self, server: str) -> tuple[str, ...]:
        part = self.part_of(server)
        found: tuple[str, ...] = self.ask(part, lambda: part.family_of(server), ())
        return found

    def _latest_lengths(
        self, doubts: Mapping[int, Doubt | None] | None = None
    ) -> tuple[dict[str, int], dict[str, int]]:
        """Return the lengths of the files at the last commit, and what servers were given.

        Of a server with a visit in doubt, those before that.
        """
        found = dict(self._ask_each(lambda part: (part.index, part.lengths())))
        lengths = {**found, **{n: one.lengths for n, one in (doubts or {}).items() if one}}
        latest = max(lengths.values(), key=lambda lengths: lengths.get("@", 0))
        own = {name: n for name, n in latest.items() if not name.startswith("@")}
        return own, self._given(found.values())

    def _given(self, found: Iterable[dict[str, int]]) -> dict[str, int]:
        """Return what servers were given, by the lengths that each knows.

        That is how many commits ("@"), and how many commits, pages' links and URLs that wait again
        each server, in one go ("@0"): with each of them a server learns what all had by then. So it
        is known which had the last commit, and whether another is older than that.
        """
        counts = dict(self._counts)
        for lengths in found:
            for name, number in lengths.items():
                if name.startswith("@"):
                    counts[name] = max(number, counts.get(name, 0))
        return counts

    def lengths(self) -> dict[str, int]:
        return self._latest_lengths()[0]

    def finished_here(self) -> Iterator[int]:
        self._ask_each(lambda part: part.index)  # are all there?
        for part in self.parts:
            yield from part.finished_here()

    def others(self) -> tuple[list[Path], int]:
        with self.reading() as reader:
            return others_of(reader.workers.numbers(), self._worker.name)

    @property
    def pending(self) -> int:
        return sum(self.ask_all(lambda part: part.pending))

    @property
    def later(self) -> int:
        return sum(self.ask_all(lambda part: part.later))

    @property
    def requisites(self) -> int:
        return sum(part.requisites for part in self.live)

    @property
    def held(self) -> int:
        return sum(self.ask_all(lambda part: part.held))

    def next_due(self) -> float | None:
        found = [due for due in self.ask_all(lambda part: part.next_due()) if due is not None]
        return min(found, default=None)

    @property
    def unfinished(self) -> int:
        """Number of URLs pending or leased; 0, or as many as wait for later, only if nothing
        happened between two looks at all servers.
        """
        numbers, marks = self._numbers()
        if sum(numbers) > self.later or self._numbers() == (numbers, marks):
            return sum(numbers)
        return sum(numbers) + 1

    def _numbers(self) -> tuple[list[int], list[Any]]:
        """Return the number of unfinished URLs of each server, and what changes when one is added.

        One that is away has at least one. Links that wait to be delivered are unfinished.
        """
        boxes = [("LLEN", _box(part), ()) for part in self.parts]

        def look(part: Part) -> tuple[int, Any]:
            pending, later, leased, added, *waiting = part.connection.ask(
                ("HVALS", "pending", ()), ("ZCARD", "later", ()), ("HLEN", "leases", ()),
                ("HGET", "about", ("next",)), *boxes,
            )  # fmt: skip
            return sum(map(int, pending)) + int(later) + int(leased) + sum(waiting), added

        found = [self.ask(part, partial(look, part), (1, None)) for part in self.parts]
        return [number for number, _ in found], [added for _, added in found]

    # -- offers ----------------------------------------------------------------------------------

    def offer(self, offers: Sequence[Offer]) -> None:
        for index, some in self._by_part(offers).items():
            self._give(self.parts[index], None, some, self.live[:1])

    def _by_part(self, offers: Iterable[Offer]) -> dict[int, list[Offer]]:
        index_of: dict[str, int] = {}
        parts: defaultdict[int, list[Offer]] = defaultdict(list)
        for offer in offers:
            if (index := index_of.get(offer.server)) is None:
                index = index_of[offer.server] = self.layout.server_of(offer.server)
            parts[index].append(offer)
        return parts

    def _send(self, part: Part, page: Page | None, offers: Sequence[Offer]) -> Steps[bool]:
        """Offer links to a server; return what waits until it has them."""
        name = f"@{part.index}"
        number = self._counts.get(name, 0) + 1
        sent = None
        if page is not None and not part.is_away:
            sent = part.offer_from(page, offers, number)

        def given() -> Steps[bool]:
            if sent is None:
                part.offer(offers)
            else:
                yield from sent
            if page is not None:
                self._counts[name] = number
            return True

        return given()

    def _give(
        self, part: Part, page: Page | None, offers: Sequence[Offer], keepers: Sequence[Part]
    ) -> None:
        """Offer links to a server; if it is away another one keeps them for it."""
        given = self._send(part, page, offers)
        Awaited(self._keep_offers(part, page, offers, keepers, given)).result()

    def _keep_offers(
        self,
        part: Part,
        page: Page | None,
        offers: Sequence[Offer],
        keepers: Sequence[Part],
        given: Steps[bool],
    ) -> Steps[None]:
        """See to it that links that were sent are kept, there or by another server."""
        if not (yield from self._asking(part, given, False)):
            keeper = next(one for one in (*keepers, *self.live) if not one.is_away)
            entry = json.dumps([self._worker.name, page, offers])
            with self.reaching(keeper):
                keeper.connection.ask(("RPUSH", _box(part), (entry,)))

    def _deliver(self, part: Part, *, of_all: bool = False) -> bool:
        """Give a server what was kept for it of this worker's pages, or of all; tell whether
        something is left.

        Given twice, it changes nothing. Who kept it learns that it was given: so this worker knows
        if the server comes back without it, and others' pages it leaves to them.
        """
        is_left = False
        for keeper in self.live:
            first = 0
            while entries := self.ask(keeper, partial(_kept, keeper, part, first), ()):
                for entry in entries:
                    by, page, offers = json.loads(entry)
                    if not of_all and by != self._worker.name:
                        first += 1
                        continue
                    given = [_offer(row) for row in offers]
                    self._give(part, None if page is None else Page(*page), given, [keeper])
                    number = self._counts.get(f"@{part.index}", 0)
                    keeper.connection.ask(
                        ("LREM", _box(part), (1, entry)),
                        ("HSET", f"files:{self._worker.name}", (f"@{part.index}", number)),
                    )
                if part.is_away:
                    return False
            is_left |= first > 0
        return is_left

    # -- leases ----------------------------------------------------------------------------------

    def _look(self) -> None:
        """Look at what other workers did on all servers."""
        self.ask_all(lambda part: part.order.refresh())
        with self.reading() as reader:
            self._common.look(self.live, reader)
        self._looked = monotonic()

    def _look_if_due(self) -> None:
        self._try_again()
        if monotonic() - self._looked > REFRESH:
            self._look()

    def leasing(self, now: float) -> Steps[Lease | None]:
        self._asked = now
        self._look_if_due()
        lease = yield from self._best(now)
        if lease is None:  # what was busy then may be free now, and others may have found more
            for part in self.live:
                if part.free:
                    self.ask(part, part.order.refresh)
                part.order.look_again()
            lease = yield from self._best(now)
        return lease

    def _best(self, now: float) -> Steps[Lease | None]:
        """Lease from the server whose best cell is best, none beyond the best of the next.

        While all URLs of the best cells are of busy servers, each look in vain lets the next go
        twice as far beyond, and each lease half as far: else a page would take a call for each
        such cell of each server.
        """
        for _ in range(_LOOKS):
            found = [(part.order.at, part.turn, part) for part in self.live if part.order.at]
            if not found:
                return None
            found.sort(key=lambda one: one[:2])
            part = found[0][2]
            until = found[1][0] if len(found) > 1 else None
            awaited, elsewhere = self._awaited(), now < self._unhasty_until
            steps = part.lease_until(now, until, self._beyond, awaited, elsewhere)
            lease = yield from self._leased(part, steps)
            if lease is not None:
                self._beyond //= 2
                best, order = awaited[1], self._common.order
                if best is None or not is_far_better(order, best, lease.cell):
                    self._unhasty_until = now + self._patience
                return lease
            self._beyond = min(2 * self._beyond + 1, BEST)
        return None

    def _awaited(self) -> tuple[int | None, int | None]:
        """Return the cells that others may wait for: the best of proven sites, and of all."""
        if not self.parts[0].waits:
            return None, None
        found, rank = [part.order.best() for part in self.live], self._common.rank
        proven = min((p for _, p in found if p is not None), key=rank, default=None)
        return proven, min((b for b, _ in found if b is not None), key=rank, default=None)

    def _leased(self, part: Part, steps: Steps[Lease | None]) -> Steps[Lease | None]:
        lease: Lease | None = yield from self._asking(part, steps)
        if lease is None:
            return None
        self._turns += 1
        part.turn = int(self._turns)
        return replaced(lease, id=_whole_id(lease.id, part))

    @property
    def holds_back(self) -> bool:
        return any(part.holds_back for part in self.live)

    def restrict(self, cells: Collection[int] | None) -> None:
        for part in self.parts:
            part.restrict(cells)

    def leasing_among(self, servers: Sequence[str], now: float) -> Steps[Lease | None]:
        for index, some in self.layout.part(servers).items():
            part = self.parts[index]
            lease = yield from self._leased(part, part.leasing_among(some, now))
            if lease is not None:
                return lease
        return None

    def leasing_requisite(self, now: float) -> Steps[Lease | None]:
        self._look_if_due()
        for part in sorted(self.live, key=lambda part: part.turn):
            lease = yield from self._leased(part, part.leasing_requisite(now))
            if lease is not None:
                return lease
        return None

    def next_ready(self) -> float | None:
        found = [
            ready for ready in self.ask_all(lambda part: part.next_ready()) if ready is not None
        ]
        if len(self.live) < len(self.parts):
            found.append(self._asked + POLL)
        return min(found, default=None)

    def renew(self, now: float) -> list[int]:
        self._under_way.finish()
        self._try_again()
        lost: list[list[int]] = self.ask_all(
            lambda part: [_whole_id(number, part) for number in part.renew(now)]
        )
        for part in self.live:
            since = part.owed_since
            is_due = since is not None and now - since >= self._worker.time_to_live
            is_left = self._deliver(part, of_all=is_due)
            part.owed_since = (now if since is None else since) if is_left else None
        gone, self._lost = self._lost, []
        return [*chain(*lost), *gone]

    # -- ends ------------------------------------------------------------------------------------

    def _own(self, visit: Visit) -> tuple[Part, Visit] | None:
        """Return the server of a visit and the visit as it knows it; None if that has ended."""
        self._under_way.finish()
        part = self.parts[visit.lease.id % SHARDS]
        lease = replaced(visit.lease, id=visit.lease.id // SHARDS)
        if part.is_away or not part.holds(lease):
            return None
        own = copy(visit)
        own.lease = lease
        return part, own

    def _pending_of(self, visit: Visit) -> Iterable[tuple[str, int]]:
        found = self._own(visit)
        return () if found is None else found[0]._pending_of(found[1])

    def discarded_by(self, visit: Visit) -> list[str]:
        found = self._own(visit)
        if found is None:
            return []
        part, own = found
        urls: list[str] = self.ask(part, lambda: part.discarded_by(own), [])
        return urls

    def ending(
        self, visit: Visit, due: float | None, lengths: Mapping[str, int] | None = None
    ) -> Steps[bool]:
        found = self._own(visit)
        if found is None:
            return False
        part, own = found
        if due is None:
            offers = self._by_part(visit.offers)
            own.offers = offers.pop(part.index, ())
            yield from self._give_others(part, own, offers)
        return (yield from self._ended(part, own, due, lengths))

    def _give_others(
        self, part: Part, own: Visit, offers: Mapping[int, Sequence[Offer]]
    ) -> Steps[None]:
        """Give the other servers the links to their sites, all at a time."""
        page = part.page_of(own)
        to = [(self.parts[index], some) for index, some in offers.items()]
        sent = [self._send(other, page, some) for other, some in to]
        for (other, some), given in zip(to, sent, strict=True):
            yield from self._keep_offers(other, page, some, [part], given)

    def _ended(
        self, part: Part, own: Visit, due: float | None, lengths: Mapping[str, int] | None
    ) -> Steps[bool]:
        """End a visit on its own server, which may go away before it says that it has."""
        if part.is_away:
            return False
        counts = dict(self._counts)
        for name in ("@", f"@{part.index}"):
            counts[name] = counts.get(name, 0) + 1
        known = {**self._lengths, **(lengths or {})}
        try:
            with self.reaching(part):
                if not (yield from part.ending(own, due, {**known, **counts})):
                    return False
        except OlderError:
            raise
        except AwayError:
            if not self.live:
                raise
            self._doubt(part, own)
            self._counts["@"] = counts["@"]  # never used again
            return False
        self._lengths, self._counts = known, counts
        part.order.look_again()
        return True

    def _doubt(self, part: Part, own: Visit) -> None:
        """Keep that nobody knows whether a visit was committed: it isn't in the files.

        If it was, its URL waits again once its server is back; but for one that waits anyhow, and
        a listing, which a page or robots.txt names again.
        """
        url = "" if own.postponed or own.lease.is_listing else own.url
        before = {**self._lengths, "@": self._counts.get("@", 0)}
        said = json.dumps([part.token_of(own.lease), url, own.lease.is_requisite, before])
        field = f"{self._worker.name}\n{part.index}"
        self.ask_all(lambda one: one.connection.ask(("HSET", "doubts", (field, said))))

    def give_back(self, visit: Visit) -> bool:
        found = self._own(visit)
        if found is None:
            return False
        part, own = found
        given: bool = self.ask(part, lambda: part.give_back(own), False)
        part.order.look_again()
        return given

    def retry(self, outcomes: Collection[str], wanted: Wanted | None = None) -> int:
        return sum(self.ask_all(lambda part: part.retry(outcomes, wanted)))

    def reopen(
        self,
        urls: Collection[str],
        lengths: Mapping[str, int],
        requisites: Collection[str] = (),
    ) -> int:
        _, counts = self._latest_lengths()
        by_part: defaultdict[int, list[str]] = defaultdict(list)
        for url in urls:
            by_part[self.layout.server_of(url.split("/")[2])].append(url)
        for index in by_part:  # else a copy of before isn't known to be older
            counts[f"@{index}"] = counts.get(f"@{index}", 0) + 1
        self._lengths, self._counts = dict(lengths), counts
        known = {**lengths, **counts}
        reopened = self._ask_each(lambda part: part.reopen(by_part[part.index], known, requisites))
        return sum(reopened)

    def forget(self, keys: Iterable[int]) -> None:
        """Take it that URLs that ended weren't seen, by their keys: links bring them again.

        The keys are those of ``known_by``.
        """
        known = list(keys)
        self._ask_each(lambda part: part.forget(known))

    @contextmanager
    def fed_seeds(self) -> Iterator[list[str]]:
        with ExitStack() as stack:
            yield list(chain(*self.ask_all(lambda part: stack.enter_context(part.fed_seeds()))))

    def tell(self, now: str, point: str, seconds: float) -> None:
        self.ask_all(lambda part: part.tell(now, point, seconds))

    def close(self, under_way: Iterable[Visit] = ()) -> None:
        visits: defaultdict[int, list[Visit]] = defaultdict(list)
        for visit in under_way:
            found = self._own(visit)
            if found is not None:
                visits[found[0].index].append(found[1])
        for part in self.parts:
            with suppress(LswcError):
                part.close(visits[part.index])
        for connection in self._connections:
            connection.client.close()
        if self._lock is not None:
            self._lock.close()


def _whole_id(number: int, part: Part) -> int:
    """Return the number in the whole crawl of a URL that a server knows by its own."""
    return number * SHARDS + part.index


def _box(part: Part) -> str:
    """Return the key of what is kept for a server while it is away."""
    return f"outbox:{part.index}"


def _kept(keeper: Part, part: Part, first: int) -> list[bytes]:
    last = first + _AT_ONCE - 1
    (entries,) = keeper.connection.ask(("LRANGE", _box(part), (first, last)))
    found: list[bytes] = entries
    return found


def _offer(row: Sequence[Any]) -> Offer:
    url, server, unit, code, inherited, depth, redirects = row
    return Offer(url, server, unit, code, PageLanguage(inherited), depth, redirects)


def _about(connection: Connection) -> dict[str, str]:
    """Return what a server says of the crawl; nothing if it doesn't hold it."""
    with connection.errors():
        connection.check_server()
        found: Any = connection.client.hgetall(connection.prefix + "about")
    return texts(found)


def _text(found: Any) -> str:
    return "" if found is None else text(found)


def open_existing(
    clients: Sequence[redis.Redis], name: str, worker: Worker
) -> RedisFrontier | ShardedFrontier:
    """Join the crawl of this name as it is. Raises LswcError."""
    with opened_all(clients, name) as reader:
        identity = {key: value for key, value in reader.identity().items() if key not in _OWN}
        chosen = strategy(identity["strategy"])
    if len(clients) == 1:
        return RedisFrontier(clients[0], name, chosen, identity, worker=worker)
    return ShardedFrontier(clients, name, chosen, identity, worker=worker)


_OWN = {"next", "sites", "known", "hashes", "places", "mark", "earlier", "format", "cells"} | {
    *LAID_OUT
}
"""Fields of ``about`` that aren't the identity of a crawl."""
