"""The frontier of many workers: one key space in Redis, one script call a step."""

from __future__ import annotations

import json
import secrets
from contextlib import contextmanager, suppress
from functools import cache
from importlib.resources import files
from itertools import islice
from socket import gethostname
from struct import Struct, pack
from typing import TYPE_CHECKING, Any

import redis
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.retry import Retry

from lswc.errors import LostStoreError, LswcError, StorageError
from lswc.frontier.contract import (
    NO_CAPS,
    Caps,
    Counts,
    FrontierError,
    changed_of,
    check_identity,
    new_status,
    site_of,
    statuses_after,
)
from lswc.frontier.experience import dumped, identity_of
from lswc.frontier.lease import Lease, Offer
from lswc.frontier.lock import lock
from lswc.frontier.lookup import CHUNK
from lswc.frontier.redis_feed import addresses, read_feed, take_off
from lswc.frontier.redis_order import SharedOrder
from lswc.frontier.report import by_kind
from lswc.outcomes import Outcome, is_transient, may_return
from lswc.safety.quotas import Taken
from lswc.strategy import (
    DISCARD,
    REQUISITE,
    REQUISITES,
    SEED,
    PageLanguage,
    Pages,
    Status,
    Strategy,
    Unit,
    adaptive,
    better,
    distance_of,
    strategy,
    with_requisites,
)
from lswc.urls import directory, parse

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from lswc.frontier.contract import Wanted
    from lswc.frontier.harvest import CellHarvest
    from lswc.frontier.visit import Visit
    from lswc.strategy import Experience
    from lswc.urls import Url

FORMAT = 9
TIME_TO_LIVE = 60.0
"""Seconds until a dead worker's lease is given to another; a living one renews it."""
POLL = 1.0
"""Seconds between two looks at what other workers did, while there is nothing to lease."""

BEST = 32
"""Cells that are looked into at first for a URL to lease."""

_ANOTHER_NAME = "choose another name with LSWC_REDIS_KEY"
_LOST = "LOST the crawl is not here any more"
_AT_ONCE = Retry(NoBackoff(), 0)
RECONNECT = Retry(ExponentialBackoff(cap=2.0, base=0.1), 30)
"""For about a minute: a Redis may be started again."""

_REFERRER = 5  # bytes of a record before what is packed here

_AT_ONCE_AGAIN = 500  # URLs that are made due
_FACTS = Struct(">HBIHBB")  # kind, distance, code, depth, inherited, redirects
_MAX_DEPTH, _MAX_REDIRECTS = 2**16 - 1, 2**8 - 1


class RedisFrontier:
    """The frontier in Redis, under keys that begin with ``{name}:``. Leases expire.

    ``folder`` is this worker's own crawl folder: the record file in it is this worker's, and
    ``recorded`` says that the file isn't empty. ``experience`` is what a new crawl begins with,
    ``patience`` that of ``lswc.frontier.contract.is_far_better``; ``caps`` bound what waits.
    ``feed`` is the key of the list, set or sorted set that users push seeds to, as for
    scrapy-redis. ``delay`` and ``time_to_live`` in seconds; the delay counts from the end of a
    request, so that no server sees two that are closer, whoever sends them. Time is Redis's own;
    with ``clock_of_caller`` it is what ``lease`` is called with, and the delay counts from
    there. A lost connection is tried again for about a minute.

    Raises FrontierError if Redis can't be reached or used, or evicts keys; if it has another
    crawl under this name; if another process crawls into the folder, or the record in it is of
    another crawl. Nothing is written then.
    """

    def __init__(
        self,
        client: redis.Redis,
        name: str,
        strategy: Strategy,
        identity: Mapping[str, str],
        delay: float = 0.0,
        *,
        folder: Path | None = None,
        recorded: bool = False,
        experience: Experience | None = None,
        patience: float = 0.0,
        caps: Caps = NO_CAPS,
        feed: str = "",
        time_to_live: float = TIME_TO_LIVE,
        clock_of_caller: bool = False,
    ) -> None:
        self._leases: dict[int, Lease] = {}
        self._lengths: dict[str, int] = {}
        self._client = client
        self._prefix = f"{{{name}}}:"
        self._strategy = strategy = with_requisites(strategy)
        self._patience = patience
        self._worker = f"{gethostname()}:{folder.resolve()}" if folder else ""
        self._feed = feed or f"{name}:start_urls"
        self._token = secrets.token_hex(8)
        self._token_used = 0
        self._life = _milliseconds(time_to_live)
        self._clock_of_caller = clock_of_caller
        self._ahead = self._asked = 0.0
        self._script = client.register_script(source())
        how = "learns" if strategy.learns else strategy.unit.value
        self._how = (strategy.tolerated, how, _milliseconds(delay))
        self._caps = caps.server, caps.domain
        self._mark = secrets.token_hex(8)
        self._lock = lock(folder) if folder else None
        try:
            self._open(identity_of(strategy, identity, FORMAT), recorded, experience)
        except BaseException:
            self.close()
            raise

    def _open(
        self, identity: dict[str, str], recorded: bool, experience: Experience | None
    ) -> None:
        self._client.set_retry(_AT_ONCE)
        with self._errors():
            self._check_server()
            found: Any = self._client.hgetall(self._prefix + "about")
            check_identity(_texts(found) or identity, identity, _ANOTHER_NAME)
            if recorded and not self._client.sismember(self._prefix + "workers", self._worker):
                raise FrontierError(
                    "this folder holds the record of another crawl: move it away, or choose "
                    "another folder with LSWC_CRAWL"
                )
        about = _texts(self._begin(identity, experience))
        check_identity(about, identity, _ANOTHER_NAME)
        self._mark = about["mark"]
        self._lengths = self.lengths()
        with self._errors():
            self._order = SharedOrder(self._client, self._prefix, self._strategy)
            self._order.refresh()
        self._client.set_retry(RECONNECT)

    def _begin(self, identity: dict[str, str], experience: Experience | None) -> Any:
        """Begin the crawl, unless another worker did; return what it is."""
        about = identity | {"places": str(self._strategy.places)}
        pages = Pages()
        if experience is not None:
            about["earlier"] = dumped(experience)
            pages = experience.crawl
        pairs = (text for pair in about.items() for text in pair)
        found = self._call("open", self._worker, _cells(self._strategy), *pages, *pairs)
        return dict(zip(found[::2], found[1::2], strict=True))

    def _check_server(self) -> None:
        policy = self._client.info("memory")["maxmemory_policy"]
        if policy.startswith("allkeys"):
            raise FrontierError(
                f"{self._address()} evicts keys, so it would lose URLs: "
                f"set maxmemory-policy noeviction instead of {policy}"
            )

    def _address(self) -> str:
        where = self._client.connection_pool.connection_kwargs
        server = where.get("path") or f"{where.get('host')}:{where.get('port')}"
        return f"the Redis at {server}, database {where.get('db', 0)},"

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn redis-py's errors into those of lswc, without the password of the URL."""
        try:
            yield
        except redis.AuthenticationError as error:
            raise FrontierError(
                f"{self._address()} refuses the password: correct LSWC_FRONTIER: {error}"
            ) from error
        except (redis.ConnectionError, redis.TimeoutError) as error:
            self._client.set_retry(_AT_ONCE)  # don't wait another minute at each call
            raise LostStoreError(
                f"{self._address()} can't be reached: start it, or correct LSWC_FRONTIER: {error}"
            ) from error
        except redis.RedisError as error:
            if str(error).startswith("LOST"):
                raise LostStoreError(
                    f"{self._address()} has lost the crawl: what was recorded is kept, begin anew "
                    "in another folder"
                ) from error
            raise StorageError(f"{self._address()} refuses the crawl: {error}") from error

    def _call(
        self, verb: str, *arguments: Any, now: float | None = None, rest: float | None = None
    ) -> Any:
        how = self._how if rest is None else (*self._how[:2], _milliseconds(rest))
        given = _milliseconds(now) if self._clock_of_caller and now is not None else ""
        with self._errors():
            return self._script(
                [self._prefix + "about"], [verb, given, *how, self._mark, *self._caps, *arguments]
            )

    def _ask(self, *questions: tuple[str, str, Any]) -> list[Any]:
        """Return the answers to commands, each (name, key without prefix, arguments).

        Raises StorageError if the crawl isn't there any more.
        """
        pipeline: Any  # redis-py's own has no types for this
        with self._errors(), self._client.pipeline() as pipeline:
            pipeline.hget(self._prefix + "about", "mark")
            for command, key, arguments in questions:
                pipeline.execute_command(command, self._prefix + key, *arguments)
            mark, *found = pipeline.execute()
            if mark != self._mark.encode():
                raise redis.ResponseError(_LOST)
        answers: list[Any] = found
        return answers

    @property
    def pending(self) -> int:
        pending, later = self._ask(("HVALS", "pending", ()), ("ZCARD", "later", ()))
        return sum(map(int, pending)) + int(later)

    @property
    def unfinished(self) -> int:
        pending, later, leased = self._ask(
            ("HVALS", "pending", ()), ("ZCARD", "later", ()), ("HLEN", "leases", ())
        )
        return sum(map(int, pending)) + int(later) + int(leased)

    @property
    def requisites(self) -> int:
        return self._order.requisites

    @property
    def later(self) -> int:
        (number,) = self._ask(("ZCARD", "later", ()))
        return int(number)

    def next_due(self) -> float | None:
        (first,) = self._ask(("ZRANGE", "later", (0, 0, "WITHSCORES")))
        return self._time_of(first) if first else None

    def _time_of(self, first: Any) -> float:
        """Return the score of a sorted set's first member, on the clock of ``lease``."""
        score = first[0][1] if isinstance(first[0], (list, tuple)) else first[1]
        return float(score) / 1000 + self._ahead

    @property
    def servers(self) -> int:
        by_server = self._strategy.unit is Unit.SERVER
        (number,) = self._ask(("HLEN", "units" if by_server else "servers", ()))
        return int(number)

    def lengths(self) -> dict[str, int]:
        """Return the lengths of this worker's files at its last commit."""
        (found,) = self._ask(("HGETALL", f"files:{self._worker}", ()))
        return {name: int(length) for name, length in _texts(found).items()}

    def checkpoint(self) -> None:
        """Do nothing: Redis saves by its own rules (docs/operations.md)."""

    @property
    def unsaved(self) -> int:
        return 0

    def finished(self) -> None:
        """Return None: of a finished URL only the fingerprint is kept."""

    def reopen(
        self,
        urls: Collection[str],
        lengths: Mapping[str, int],
        requisites: Collection[str] = (),
    ) -> int:
        offers = [
            self._again(parsed, REQUISITE if url in requisites else SEED)
            for url in urls
            if (parsed := parse(url)) is not None
        ]
        pipeline: Any  # redis-py's own has no types for this
        with self._errors(), self._client.pipeline() as pipeline:
            for offer in offers:
                field = _bytes(offer.key)
                bucket = int.from_bytes(field[:2])
                pipeline.hdel(f"{self._prefix}seen:{bucket}", field[2:])
            pipeline.delete(f"{self._prefix}files:{self._worker}")
            if lengths:
                pipeline.hset(f"{self._prefix}files:{self._worker}", mapping=dict(lengths))
            pipeline.execute()
        self._lengths = dict(lengths)
        self.offer(offers)
        return len(offers)

    def _again(self, url: Url, code: int) -> Offer:
        unit = url.server if self._strategy.unit is Unit.SERVER else directory(url)
        return Offer(url.href, url.server, unit, code, PageLanguage.TARGET, 0)

    def statuses(
        self, units: Collection[str], lease: Lease, relevant: bool | None
    ) -> dict[str, Status]:
        if not units:
            return {}
        pages = self._pages(units)
        return statuses_after(pages, units, lease, relevant, self._strategy.tolerated)

    def _pages(self, units: Collection[str]) -> dict[str, Pages]:
        names = list(units)
        (found,) = self._ask(("HMGET", "units", names))
        return {
            name: Pages(*map(int, text.split()[:2]))
            for name, text in zip(names, found, strict=True)
            if text is not None
        }

    def pages_of(self, unit: str) -> Pages:
        return self._pages({unit}).get(unit, Pages())

    def dropped_by(self, visit: Visit) -> list[str]:
        lease, strategy = visit.lease, self._strategy
        if visit.relevant is None or "target_server" not in strategy.facts:
            return []  # without asking
        status = new_status(self._pages({lease.unit}), visit, strategy)
        if status is None:
            return []
        if strategy.unit is Unit.SERVER:
            (numbers,) = self._ask(("ZRANGE", f"queue:{lease.server}", (0, -1)))
        else:
            (numbers,) = self._ask(("SMEMBERS", f"of:{lease.unit}", ()))
        places = [divmod(int(number) - 1, CHUNK) for number in numbers]
        records = self._ask(*(("LINDEX", f"urls:{chunk}", (at,)) for chunk, at in places))
        return [
            url
            for kind, url in map(kind_and_url, filter(None, records))
            if strategy.cell_of[kind][status] == DISCARD
        ]

    def offer(self, offers: Sequence[Offer]) -> None:
        _, pending, undecided, over = self._call("offer", *self._packed(offers))
        self._order.pending(pending)
        self._decide(undecided, offers, 0)
        self._let_go(over)

    def _packed(self, offers: Sequence[Offer]) -> Iterator[Any]:
        sites = {offer.server: site_of(offer.server) for offer in offers}
        yield len(sites)
        yield from (name for pair in sites.items() for name in pair)
        for offer in offers:
            yield offer.server
            yield _bytes(offer.key)
            yield self._record(offer)

    def _record(self, offer: Offer) -> bytes:
        unit = "" if offer.unit == offer.server else offer.unit
        facts = _FACTS.pack(
            self._strategy.kind_of[offer.code],
            distance_of(offer.code),
            offer.code,
            min(offer.depth, _MAX_DEPTH),
            offer.inherited,
            min(offer.redirects, _MAX_REDIRECTS),
        )
        return facts + f"{unit}\0{offer.url}".encode()

    def _decide(self, undecided: Iterable[Any], offers: Sequence[Offer], referrer: int) -> None:
        """Improve the URLs for which an offer in another cell is better by the order as it is."""
        rank = self._order.rank
        now: dict[int, tuple[int, int]] = {}
        chosen: list[Any] = []
        for index, number, cell, *known in undecided:
            offer = offers[index]
            distance = distance_of(offer.code)
            known_cell, known_distance = now.get(number, known)
            if better(rank(cell), distance, rank(known_cell), known_distance):
                now[number] = (cell, distance)
                chosen += [offer.server, number, known_cell, self._record(offer)]
        if chosen:
            _, pending, _ = self._call("improve", referrer, *chosen)
            self._order.pending(pending)

    def _let_go(self, over: Sequence[Any]) -> None:
        """Let go the worst of what waits, by the order as it is, where that is too much."""
        while over:
            (member, cells), *_ = over
            worst = sorted(cells, key=self._order.rank, reverse=True)
            packed = pack(f">{len(worst)}H", *worst)
            _, pending, over = self._call("let_go", member, packed)
            self._order.pending(pending)

    def lease(self, now: float) -> Lease | None:
        with self._errors():
            self._order.refresh_if_due()
        free, leased = self._lease(now, *self._order.packed(self._patience, BEST))
        if free and not leased:  # all cells that this worker thought best belong to busy servers
            if not self._order.requisites:  # else the free ones may have no other URLs
                with self._errors():
                    self._order.refresh()
            free, leased = self._lease(now, *self._order.packed(self._patience))
        return self._taken(leased, self._order.expected(leased[2])) if leased else None

    def lease_among(self, servers: Sequence[str], now: float) -> Lease | None:
        if not servers:
            return None
        _, leased = self._lease(now, *self._order.packed(self._patience), *servers)
        return self._taken(leased, self._order.expected(leased[2])) if leased else None

    def server_names(self) -> list[str]:
        by_server = self._strategy.unit is Unit.SERVER
        (names,) = self._ask(("HKEYS", "units", ()) if by_server else ("SMEMBERS", "servers", ()))
        return list(map(_text, names))

    def lease_requisite(self, now: float) -> Lease | None:
        with self._errors():
            self._order.refresh_if_due()
        if not self._order.requisites:
            return None
        _, leased = self._lease(now, pack(">H", REQUISITES), 1)
        return self._taken(leased, None) if leased else None

    def _taken(self, leased: list[Any], expected: float | None) -> Lease:
        self._token_used += 1
        lease = _lease(self._token_used, expected, *leased)
        self._leases[lease.id] = lease
        return lease

    def _token_of(self, lease: Lease) -> str:
        return f"{self._token}:{lease.token}"

    def _lease(self, now: float, cells: bytes, good: int, *servers: str) -> tuple[int, list[Any]]:
        token = f"{self._token}:{self._token_used + 1}"
        free, pending, time, over, *leased = self._call(
            "lease", token, self._life, cells, good, *servers, now=now
        )
        self._order.pending(pending)
        self._let_go(over)
        self._asked = now
        self._ahead = now - time / 1000
        return free, leased

    def next_ready(self) -> float | None:
        first = (0, 0, "WITHSCORES")
        found = self._ask(("ZRANGE", "busy", first), ("ZRANGE", "later", first))
        times = [self._time_of(one) for one in found if one]
        return min([*times, self._asked + POLL]) if times else None

    def renew(self, now: float) -> list[int]:
        held = {lease.server: lease for lease in self._leases.values()}
        ended = self._call("renew", self._life, *self._tokens_of(held), now=now) if held else []
        lost = [held[server.decode()].id for server in ended]
        for number in lost:
            del self._leases[number]
        return lost

    def _tokens_of(self, held: Mapping[str, Lease]) -> Iterator[str]:
        for server, lease in held.items():
            yield server
            yield self._token_of(lease)

    @contextmanager
    def fed_seeds(self) -> Iterator[list[str]]:
        with self._errors():
            kind, entries = read_feed(self._client, self._feed)
        yield addresses(entries)
        if entries:
            with self._errors():
                take_off(self._client, kind, self._feed, entries)

    def commit(self, visit: Visit, lengths: Mapping[str, int] | None = None) -> bool:
        lease = visit.lease
        if not self._holds(lease):
            return False
        tally = {("finished", visit.outcome): 1, **visit.tally}
        moved = visit.outcome == Outcome.REDIRECT and visit.url.startswith("http:")
        ended, pending, undecided, pages, over = self._call(
            "commit",
            *self._end_of(visit, lengths),
            _bytes(lease.key),
            "" if visit.relevant is None else int(visit.relevant),
            lease.cell,
            "http" if moved else "",
            visit.outcome if may_return(visit.outcome) else "",
            visit.url,
            len(tally),
            *(text for (kind, name), n in tally.items() for text in (f"{kind}\n{name}", n)),
            *self._packed(visit.offers),
            now=0.0,  # a caller's time isn't known here: the lease's counts
            rest=visit.rest,
        )
        del self._leases[lease.id]
        if not ended:
            return False
        self._lengths.update(lengths or {})
        self._order.pending(pending)
        if visit.relevant is not None:
            with self._errors():
                self._order.learn(lease.cell, visit.relevant)
                self._order.compare(pages)
        self._decide(undecided, visit.offers, lease.id)
        self._let_go(over)
        return True

    def put_off(self, visit: Visit, due: float, lengths: Mapping[str, int] | None = None) -> bool:
        lease = visit.lease
        if not self._holds(lease):
            return False
        ended = self._call(
            "put_off",
            *self._end_of(visit, lengths),
            _milliseconds(due - self._ahead),
            lease.tries + is_transient(visit.outcome),
            visit.outcome,
            now=0.0,
            rest=visit.rest,
        )
        del self._leases[lease.id]
        if ended:
            self._lengths.update(lengths or {})
        return bool(ended)

    def give_back(self, visit: Visit) -> bool:
        lease = visit.lease
        if not self._holds(lease):
            return False
        del self._leases[lease.id]
        held = {lease.server: lease}
        released, pending = self._call("release", *self._tokens_of(held), now=0.0, rest=visit.rest)
        self._order.pending(pending)
        return bool(released)

    def taken(self, server: str) -> tuple[Taken, Taken]:
        names = (server, f"*.{site_of(server)}")
        fields = [f"{what} {name}" for name in names for what in ("pages", "bytes")]
        (found,) = self._ask(("HMGET", "taken", fields))
        pages, size, of_domain, size_of_domain = (int(number or 0) for number in found)
        return Taken(pages, size), Taken(of_domain, size_of_domain)

    def retry(self, outcomes: Collection[str], wanted: Wanted | None = None) -> int:
        names = [f"{kind}\n{name}" for kind in ("finished", "put off") for name in outcomes]
        (tallied,) = self._ask(("HMGET", "tally", names)) if names else ([],)
        if not any(map(int, filter(None, tallied))):
            return 0  # without looking at every URL
        number, ended = 0, self._ended({name.encode() for name in outcomes})
        while found := list(islice(ended, _AT_ONCE_AGAIN)):
            chosen = found if wanted is None else self._wanted(found, wanted)
            number += self._call("retry", *(part for pair in chosen for part in pair))
        return number

    def _ended(self, outcomes: Container[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Yield number and server of the URLs that ended so, or were put off for it."""
        with self._errors():
            for number, ended in self._client.hscan_iter(self._prefix + "failed", count=1000):
                outcome, _, server = ended.partition(b"\n")
                if outcome in outcomes:
                    yield number, server
            for member, due in self._client.zscan_iter(self._prefix + "later", count=1000):
                number, _, server = member.partition(b" ")
                known: Any = self._client.hget(self._prefix + "tries", number)
                if due > 0 and known is not None and known.partition(b" ")[2] in outcomes:
                    yield number, server

    def _wanted(
        self, found: Sequence[tuple[bytes, bytes]], wanted: Wanted
    ) -> list[tuple[bytes, bytes]]:
        places = [divmod(int(number) - 1, CHUNK) for number, _ in found]
        records = self._ask(*(("LINDEX", f"urls:{chunk}", (at,)) for chunk, at in places))
        return [
            pair
            for pair, record in zip(found, records, strict=True)
            if record and wanted(kind_and_url(record)[1], _depth(record))
        ]

    def _holds(self, lease: Lease) -> bool:
        held = self._leases.get(lease.id)
        return held is not None and held.token == lease.token

    def _end_of(self, visit: Visit, lengths: Mapping[str, int] | None) -> Iterator[str]:
        """Give what the script needs to end a lease."""
        yield self._worker
        yield visit.lease.server
        yield self._token_of(visit.lease)
        changed = changed_of(lengths, self._lengths)
        flat = [str(part) for pair in changed.items() for part in pair]
        yield json.dumps(flat) if flat else ""
        yield str(visit.received)

    def cells(self) -> tuple[CellHarvest, ...]:
        self._ask()
        with self._errors():
            return self._order.harvest()

    def counts(self) -> Counts:
        self._ask()
        with self._errors():
            return count(self._client, self._prefix)

    def tallies(self) -> dict[str, dict[str, int]]:
        (tally,) = self._ask(("HGETALL", "tally", ()))
        return read_tallies(tally)

    def tell(self, now: str, point: str, seconds: float) -> None:
        self._call("tell", self._worker, now, point, _milliseconds(seconds))

    def close(self) -> None:
        held = {lease.server: lease for lease in self._leases.values()}
        with suppress(LswcError):  # then the leases expire
            if held:
                self._call("release", *self._tokens_of(held), now=0.0)
        self._client.close()
        if self._lock is not None:
            self._lock.close()


def open_existing(client: redis.Redis, name: str, folder: Path) -> RedisFrontier:
    """Join the crawl of this name as it is, as the worker of a folder. Raises LswcError."""
    try:
        about = _texts(_hash(client, f"{{{name}}}:about"))
    except redis.RedisError as error:
        raise StorageError(f"can't read the frontier in Redis: {error}") from error
    if "strategy" not in about:
        raise FrontierError(f"no crawl {name!r} in this Redis: say its name with --key")
    identity = {key: value for key, value in about.items() if key not in _OWN}
    return RedisFrontier(client, name, strategy(about["strategy"]), identity, folder=folder)


_OWN = {"next", "places", "mark", "earlier", "format", "cells"}
"""Fields of ``about`` that aren't the identity of a crawl."""


def _hash(client: redis.Redis, key: str) -> Any:
    return client.hgetall(key)


@cache
def source() -> str:
    """Return the Lua script that holds every verb."""
    edges = ", ".join(map(repr, adaptive.EDGES))
    script = files("lswc.frontier").joinpath("redis.lua").read_text(encoding="utf-8")
    return f"local EDGES, FEW = {{ {edges} }}, {adaptive.FEW}\n{clock_source()}{script}"


def clock_source() -> str:
    """Return the Lua of the clock that all of a crawl's scripts share."""
    return files("lswc.frontier").joinpath("clock.lua").read_text(encoding="utf-8")


def _cells(strategy: Strategy) -> bytes:
    """Pack the table of cells by kind and place, 2 bytes each."""
    cells = [1 + cell for row in strategy.cell_of for cell in row]
    return pack(f">{len(cells)}H", *cells)


def _texts(found: Mapping[bytes, bytes]) -> dict[str, str]:
    return {_text(key): _text(value) for key, value in found.items()}


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


def _bytes(key: int) -> bytes:
    return key.to_bytes(8, signed=True)


def _lease(
    token: int,
    expected: float | None,
    server: bytes,
    number: int,
    cell: int,
    packed: bytes,
    referrer: bytes,
    tries: int,
    *taken: int,
) -> Lease:
    _, _, code, depth, inherited, redirects = _FACTS.unpack_from(packed)
    unit, _, url = packed[_FACTS.size :].decode().partition("\0")
    name = server.decode()
    return Lease(
        number, url, name, unit or name, code, cell, expected, PageLanguage(inherited), depth,
        redirects, referrer.decode() if referrer else None, token, tries,
        Taken(*taken[:2]), Taken(*taken[2:]),
    )  # fmt: skip


def kind_and_url(record: bytes) -> tuple[int, str]:
    """Return the kind and the URL of a pending URL's record."""
    packed = record[_REFERRER:]
    return _FACTS.unpack_from(packed)[0], packed[_FACTS.size :].partition(b"\0")[2].decode()


def _depth(record: bytes) -> int:
    depth: int = _FACTS.unpack_from(record, _REFERRER)[3]
    return depth


def count(client: redis.Redis, prefix: str) -> Counts:
    """Count what a crawl holds whose keys begin with ``prefix``. Raises redis.RedisError."""
    with client.pipeline() as pipeline:
        for key in ("pending", "statuses", "tally"):
            pipeline.hgetall(prefix + key)
        pipeline.hlen(prefix + "leases")
        pending, statuses, tally, leased = pipeline.execute()
    numbers = dict(sorted(_integers(pending)))
    requisites = numbers.pop(REQUISITES, 0)
    return Counts(
        numbers,
        leased,
        {Status(s).name.lower(): number for s, number in _integers(statuses) if number},
        read_tallies(tally),
        requisites,
    )


def _integers(found: Mapping[bytes, bytes]) -> Iterable[tuple[int, int]]:
    return ((int(key), int(value)) for key, value in found.items())


def read_tallies(found: Mapping[bytes, bytes]) -> dict[str, dict[str, int]]:
    """Return the tallies by kind and name."""
    rows = []
    for key, number in found.items():
        kind, _, name = key.decode().partition("\n")
        rows.append((kind, name, int(number)))
    return by_kind(rows)


def _text(value: bytes | str) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value
