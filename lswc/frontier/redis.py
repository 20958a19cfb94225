"""The frontier of many workers: one key space in Redis, one script call a step."""

from __future__ import annotations

import json
import secrets
from collections import defaultdict
from contextlib import contextmanager, suppress
from functools import cache
from importlib.resources import files
from socket import gethostname
from struct import Struct
from typing import TYPE_CHECKING, Any

import redis
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.retry import Retry

from lswc.errors import StorageError
from lswc.frontier.contract import Counts, FrontierError
from lswc.frontier.lock import lock
from lswc.outcomes import Outcome
from lswc.strategy import (
    PageLanguage,
    Status,
    Strategy,
    Unit,
    distance_of,
    status,
)
from lswc.urls import fingerprint
from lswc.visit.lease import Lease

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from lswc.visit.lease import Offer
    from lswc.visit.visit import Visit

FORMAT = 4
TIME_TO_LIVE = 60.0
"""Seconds until a dead worker's lease is given to another; a living one renews it."""
FEED_BATCH = 1000
POLL = 1.0
"""Seconds between two looks at what other workers did, while there is nothing to lease."""

_AT_ONCE = Retry(NoBackoff(), 0)
_RECONNECT = Retry(ExponentialBackoff(cap=2.0, base=0.1), 30)  # for about a minute
_FACTS = Struct(">4sBHHBB")  # tiers, distance, code, depth, inherited, redirects
_MAX_DEPTH, _MAX_REDIRECTS = 2**16 - 1, 2**8 - 1


class RedisFrontier:
    """The frontier in Redis, under keys that begin with ``{name}:``. Leases expire.

    ``folder`` is this worker's own crawl folder: the record file in it is this worker's, and
    ``recorded`` says that the file isn't empty. ``feed`` is the key of the list, set or sorted
    set that users push seeds to, as for scrapy-redis. ``delay`` and ``time_to_live`` in
    seconds; the delay counts from the end of a request, so that no server sees two that are
    closer, whoever sends them. Time is Redis's own; with ``clock_of_caller`` it is what
    ``lease`` is called with, and the delay counts from there. A lost connection is tried again
    for about a minute.

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
        feed: str = "",
        time_to_live: float = TIME_TO_LIVE,
        clock_of_caller: bool = False,
    ) -> None:
        self._leases: dict[int, Lease] = {}
        self._client = client
        self._prefix = f"{{{name}}}:"
        self._strategy = strategy
        self._tiers = strategy.table()
        self._worker = f"{gethostname()}:{folder.resolve()}" if folder else ""
        self._feed = feed or f"{name}:start_urls"
        self._token = secrets.token_hex(8)
        self._life = _milliseconds(time_to_live)
        self._clock_of_caller = clock_of_caller
        self._ahead = self._asked = 0.0
        self._script = client.register_script(source())
        by_directory = int(strategy.unit is Unit.DIRECTORY)
        self._how = (strategy.tolerated, _classes(strategy), by_directory, _milliseconds(delay))
        self._lock = lock(folder) if folder else None
        try:
            self._open({**identity, "format": str(FORMAT)}, recorded)
        except BaseException:
            self.close()
            raise

    def _open(self, identity: dict[str, str], recorded: bool) -> None:
        self._client.set_retry(_AT_ONCE)
        with self._errors():
            self._check_server()
            found: Any = self._client.hgetall(self._prefix + "about")
            self._check(found or identity, identity)
            if recorded and not self._client.hexists(self._prefix + "records", self._worker):
                raise FrontierError(
                    "this folder holds the record of another crawl: move it away, or choose "
                    "another folder with LSWC_CRAWL"
                )
        pairs = (text for pair in identity.items() for text in pair)
        found = self._call("open", self._worker, *pairs)
        self._check(dict(zip(found[::2], found[1::2], strict=True)), identity)
        self._client.set_retry(_RECONNECT)

    def _check_server(self) -> None:
        policy = self._client.info("memory")["maxmemory_policy"]
        if policy.startswith("allkeys"):
            raise FrontierError(
                f"{self._address()} evicts keys, so it would lose URLs: "
                f"set maxmemory-policy noeviction instead of {policy}"
            )

    def _check(self, found: Mapping[Any, Any], identity: Mapping[str, str]) -> None:
        about = {_text(key): _text(value) for key, value in found.items()}
        for key, value in identity.items():
            if about.get(key) != value:
                raise FrontierError(
                    f"this crawl has {key} {about.get(key)!r}, not {value!r}: "
                    "go on with that, or choose another name with LSWC_REDIS_KEY"
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
            raise StorageError(
                f"{self._address()} can't be reached: start it, or correct LSWC_FRONTIER: {error}"
            ) from error
        except redis.RedisError as error:
            raise StorageError(f"{self._address()} refuses the crawl: {error}") from error

    def _call(
        self, verb: str, *arguments: Any, now: float | None = None, rest: float | None = None
    ) -> Any:
        how = self._how if rest is None else (*self._how[:3], _milliseconds(rest))
        given = _milliseconds(now) if self._clock_of_caller and now is not None else ""
        with self._errors():
            return self._script([self._prefix + "about"], [verb, given, *how, *arguments])

    @property
    def pending(self) -> int:
        with self._errors():
            values: Any = self._client.hvals(self._prefix + "pending")
        return sum(map(int, values))

    @property
    def unfinished(self) -> int:
        with self._errors(), self._client.pipeline() as pipeline:
            pipeline.hvals(self._prefix + "pending")
            pipeline.hlen(self._prefix + "leases")
            pending, leased = pipeline.execute()
        return sum(map(int, pending)) + int(leased)

    @property
    def servers(self) -> int:
        with self._errors():
            if self._strategy.unit is Unit.SERVER:
                return int(self._client.hlen(self._prefix + "units"))
            return int(self._client.scard(self._prefix + "servers"))

    def lengths(self) -> dict[str, int]:
        """Return the lengths of this worker's files at its last commit."""
        with self._errors():
            lengths: Any = self._client.hget(self._prefix + "records", self._worker)
        found: dict[str, int] = json.loads(lengths or "{}")
        return found

    def statuses(
        self, units: Collection[str], lease: Lease, relevant: bool | None
    ) -> dict[str, Status]:
        if not units:
            return {}
        names = list(units)
        with self._errors():
            found: Any = self._client.hmget(self._prefix + "units", names)
        statuses = {}
        for name, text in zip(names, found, strict=True):
            downloaded, relevants = map(int, (text or b"0 0").split())
            if relevant is not None and name == lease.unit:
                downloaded, relevants = downloaded + 1, relevants + relevant
            statuses[name] = status(downloaded, relevants, self._strategy.tolerated)
        return statuses

    def offer(self, offers: Sequence[Offer]) -> None:
        self._call("offer", *self._packed(offers))

    def _packed(self, offers: Sequence[Offer]) -> Iterator[bytes]:
        for offer in offers:
            yield offer.server.encode()
            yield _key(offer.url)
            yield self._record(offer)

    def _record(self, offer: Offer) -> bytes:
        tiers = bytes(tier + 1 for tier in self._tiers[offer.code])
        unit = "" if offer.unit == offer.server else offer.unit
        facts = _FACTS.pack(
            tiers,
            distance_of(offer.code),
            offer.code,
            min(offer.depth, _MAX_DEPTH),
            offer.inherited,
            min(offer.redirects, _MAX_REDIRECTS),
        )
        return facts + f"{unit}\0{offer.url}".encode()

    def lease(self, now: float) -> Lease | None:
        time, *leased = self._call("lease", self._token, self._life, now=now)
        self._asked = now
        self._ahead = now - time / 1000
        if not leased:
            return None
        lease = _lease(*leased)
        self._leases[lease.id] = lease
        return lease

    def next_ready(self) -> float | None:
        with self._errors():
            first: Any = self._client.zrange(self._prefix + "busy", 0, 0, withscores=True)
        if not first:
            return None
        return min(float(first[0][1]) / 1000 + self._ahead, self._asked + POLL)

    def renew(self, now: float) -> None:
        servers = [lease.server for lease in self._leases.values()]
        if servers:
            self._call("renew", self._token, self._life, *servers, now=now)

    @contextmanager
    def fed_seeds(self) -> Iterator[list[str]]:
        with self._errors():
            kind, entries = self._read_feed()
        yield [address for entry in entries if (address := _fed_address(entry))]
        if entries:
            with self._errors(), self._client.pipeline() as pipeline:
                for entry in entries:
                    _take_off(pipeline, kind, self._feed, entry)
                pipeline.execute()

    def _read_feed(self) -> tuple[bytes, list[bytes]]:
        kind: Any = self._client.type(self._feed)
        found: Any = []
        match kind:
            case b"list":
                found = self._client.lrange(self._feed, 0, FEED_BATCH - 1)
            case b"set":
                found = self._client.srandmember(self._feed, FEED_BATCH)
            case b"zset":
                found = self._client.zrevrange(self._feed, 0, FEED_BATCH - 1)
        return kind, found

    def commit(self, visit: Visit, lengths: Mapping[str, int] | None = None) -> bool:
        lease = self._leases.pop(visit.lease.id, None)
        if lease is None:
            return False
        tally = {("finished", visit.outcome): 1, **visit.tally}
        return bool(
            self._call(
                "finish",
                self._token,
                lease.server,
                lease.id,
                _key(lease.url),
                "" if visit.relevant is None else int(visit.relevant),
                self._worker,
                "" if lengths is None else json.dumps(lengths),
                "http"
                if visit.outcome == Outcome.REDIRECT and visit.url.startswith("http:")
                else "",
                len(tally),
                *(text for (kind, name), n in tally.items() for text in (f"{kind}\n{name}", n)),
                *self._packed(visit.offers),
                now=0.0,  # a caller's time isn't known here: the lease's counts
                rest=visit.rest,
            )
        )

    def counts(self) -> Counts:
        with self._errors():
            return count(self._client, self._prefix)

    def close(self) -> None:
        servers = [lease.server for lease in self._leases.values()]
        with suppress(FrontierError):  # then the leases expire
            if servers:
                self._call("release", self._token, *servers, now=0.0)
        self._client.close()
        if self._lock is not None:
            self._lock.close()


@cache
def source() -> str:
    """Return the Lua script that holds every verb."""
    return files("lswc.frontier").joinpath("redis.lua").read_text(encoding="utf-8")


def _classes(strategy: Strategy) -> str:
    """Give two statuses one digit if the strategy gives every link the same tier under both."""
    columns = list(zip(*strategy.table(), strict=True))
    return "".join(str(columns.index(column)) for column in columns)


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


def _key(url: str) -> bytes:
    return fingerprint(url).to_bytes(8, signed=True)


def _lease(server: bytes, number: int, tier: int, packed: bytes, referrer: bytes | None) -> Lease:
    _, _, code, depth, inherited, redirects = _FACTS.unpack_from(packed)
    unit, _, url = packed[_FACTS.size :].decode().partition("\0")
    name = server.decode()
    language = PageLanguage(inherited)
    return Lease(
        number, url, name, unit or name, code, tier, None, language, depth, redirects,
        referrer.decode() if referrer else None,
    )  # fmt: skip


def count(client: redis.Redis, prefix: str) -> Counts:
    """Count what a crawl holds whose keys begin with ``prefix``. Raises redis.RedisError."""
    with client.pipeline() as pipeline:
        for key in ("pending", "statuses", "tally"):
            pipeline.hgetall(prefix + key)
        pipeline.hlen(prefix + "leases")
        pending, statuses, tally, leased = pipeline.execute()
    return Counts(
        {tier: number for tier, number in sorted(_integers(pending)) if number},
        leased,
        {Status(s).name.lower(): number for s, number in _integers(statuses) if number},
        _by_kind(tally),
    )


def _integers(found: Mapping[bytes, bytes]) -> Iterable[tuple[int, int]]:
    return ((int(key), int(value)) for key, value in found.items())


def _by_kind(found: Mapping[bytes, bytes]) -> dict[str, dict[str, int]]:
    rows = sorted((-int(value), key.decode()) for key, value in found.items())
    tally: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for number, key in rows:
        kind, _, name = key.partition("\n")
        tally[kind][name] = -number
    return dict(tally)


def _take_off(pipeline: Any, kind: bytes, feed: str, entry: bytes) -> None:
    match kind:
        case b"list":
            pipeline.lrem(feed, 1, entry)
        case b"set":
            pipeline.srem(feed, entry)
        case b"zset":
            pipeline.zrem(feed, entry)


def _text(value: bytes | str) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _fed_address(entry: bytes) -> str:
    """Return the URL of a feed's entry: scrapy-redis's JSON with a "url", or the URL itself."""
    text = _text(entry).strip()
    try:
        given = json.loads(text)
    except ValueError:
        return text
    return str(given.get("url", "")) if isinstance(given, dict) else ""
