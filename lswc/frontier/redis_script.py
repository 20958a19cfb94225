"""Script of the frontier in Redis: the numbers that it shares with its callers, and its calls.

A record is what is kept of a pending URL: its referrer's number, its kind and facts, its unit and
URL. A number or word that both sides need is written here, or where it belongs, and handed
to the script (``source``).
"""

from __future__ import annotations

import re
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from importlib.resources import files
from struct import Struct, calcsize, pack
from typing import TYPE_CHECKING, Any

import redis
from redis.backoff import ExponentialBackoff, NoBackoff
from redis.retry import Retry

from lswc.errors import AwayError, LostStoreError, OlderError, StorageError
from lswc.frontier.contract import AT_ONCE, BURST_OF_HASTE, FULL, FrontierError, site_of
from lswc.frontier.held import BELIEVED, DISBELIEVED, LOOKED_AT, SAID
from lswc.frontier.rides import Rides, SlotsOfLeases
from lswc.frontier.shards import in_shard, shard_of_server
from lswc.frontier.steps import UnderWay
from lswc.outcomes import OF_QUOTA, Outcome
from lswc.strategy import DISCARD, REQUISITES, Status, Support, adaptive, distance_of, families
from lswc.strategy.facts import BY_YIELD
from lswc.strategy.revisits import LONGEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from redis.commands.core import Script

    from lswc.frontier.steps import Steps
    from lswc.frontier.visit import Offer
    from lswc.strategy import Strategy

_GLOB = re.compile(r"[][*?^\\]")  # what a pattern of Redis doesn't take for itself

STEP = 2**38
"""Numbers of URLs in a line: a line and a number together are exact in a double."""

APART_STEP = 2**32
"""Numbers of URLs in a family: so long are they told apart in a cell. Families up to 2**20."""

CHUNK = 64
"""URLs of a list."""

MARK = Struct(">5s")
HELD = Struct(">HBBIdddd?QBd")
"""What is kept of a page that is held: misses, is_gone, kind, visits, visited, shape, days, seen;
whether its text's simhash is known, and that; claim, told. A MARK is before it, a server after."""

_REFERRER = ">5s"
_FACTS = Struct(">HBIHBB")  # kind, distance, code, depth, inherited, redirects
_SHORT = {"http": "1", "https": "2"}
_SCHEMES = {number: scheme for scheme, number in _SHORT.items()}
_MAX_DEPTH, _MAX_REDIRECTS = 2**16 - 1, 2**8 - 1

STEPS = 100
"""Servers that one call frees, or brings to their places, at most: so it takes some milliseconds. A
line that moves is such a step, too."""

OFFERS = 200
"""Seeds that one call offers, and leases that one gives back, at most."""

HASHES_AT_FIRST = 256
"""Hashes that URLs are known in at first. The number of each says a byte of the keys there."""

KNOWN_A_HASH = 64
"""URLs that are known in a hash, on the mean: few bytes each, and a look takes 2 microseconds."""

SPLITS = 4
"""Hashes that one call splits, at most."""

_SHORT_FIELD = 6
"""Bytes of a field in a hash whose number says two bytes of the keys there; else one more."""

LOST = "LOST the crawl is not here any more"
OLDER = "OLDER this is a copy of the crawl from before"
AT_ONCE_OR_NOT = Retry(NoBackoff(), 0)
RECONNECT = Retry(ExponentialBackoff(cap=1.0, base=0.1), 20)
"""For some fifteen seconds: a Redis may be started again. Nothing else happens meanwhile."""


def _offset(before: str) -> int:
    """Return where a field of a record begins, counted from 1, by the fields ``before`` it."""
    return 1 + calcsize(_REFERRER) + calcsize(f">{before}")


def _numbers() -> dict[str, object]:
    """Return what the script is given, by name."""
    return {
        "FIRST": 17,  # of a verb's own arguments
        "BEFORE": adaptive.BEFORE,
        "BY_YIELD": BY_YIELD,
        "SCHEMES": _SCHEMES,
        "HTTPS": _SHORT["https"],
        "EDGES": adaptive.EDGES,
        "FEW": adaptive.FEW,
        "STEP": STEP,
        "CHUNK": CHUNK,
        "BURST_OF_HASTE": BURST_OF_HASTE,
        "AT_ONCE": AT_ONCE,
        "STEPS": STEPS,
        "LINES": 10 * STEPS,  # of busy servers, that one call takes out of the way
        "URLS": 3 * STEPS,  # that one call discards, as they are too many
        "URLS_A_STEP": 10,  # whose records are emptied
        "HASHES_AT_FIRST": HASHES_AT_FIRST,
        "KNOWN_A_HASH": KNOWN_A_HASH,
        "SPLITS": SPLITS,
        "LONG": " " * 65,  # more than `hash-max-listpack-value`
        "DISCARD": DISCARD,
        "REQUISITES": REQUISITES,
        "NEW": families.NEW,
        "UNPROVEN": families.UNPROVEN,
        "PROVEN": families.PROVEN,
        "KNOWN": families.KNOWN,
        "SEED": families.SEED,
        "SUPPORT": families.SUPPORT,
        "PROOF": families.PROOF,
        "OF_FAMILIES": {
            "looked_at": families.FAMILIES,
            "part": families.OF_FAMILY,
            "urls": families.URLS,
            "again": families.AGAIN,
            "burst": families.BURST,
            "debt": families.DEBT,
            "statuses": len(Status),
            "many": int(Support.MANY),
        },
        "SUPPORTS": tuple(
            families.support_of(families.UNPROVEN, number) for number in range(families.SUPPORT)
        ),
        "APART_STEP": APART_STEP,
        "KIND": _offset(""),
        "DISTANCE": _offset("H"),
        "DEPTH": _offset("HBI"),
        "REDIRECTS": _offset("HBIHB"),
        "UNIT": _offset("HBIHBB"),
        **{status.name: int(status) for status in Status},
        "FULL": {kind: str(outcome) for kind, outcome in FULL.items()},
        "OF_QUOTA": {f"finished\n{outcome}": str(outcome) for outcome in OF_QUOTA},
        "REASONS": {
            "irrelevant": str(Outcome.SERVER_BECAME_IRRELEVANT),
            "strategy": str(Outcome.STRATEGY),
            "unproven": str(Outcome.TOO_MANY_UNPROVEN),
        },
        "HELD_MISSED": 1 + MARK.size,
        "HELD_KIND": 1 + MARK.size + calcsize(">HB"),
        "HELD_SERVER": 1 + MARK.size + HELD.size,
        "LOOKED_AT": LOOKED_AT,
        "TOLD": {
            "believed": f"{SAID}\n{BELIEVED}",
            "disbelieved": f"{SAID}\n{DISBELIEVED}",
        },
        "LONGEST": LONGEST,
        "LOST": LOST,
        "OLDER": OLDER,
    }


def _lua(value: object) -> str:
    if isinstance(value, str):
        return '"' + value.replace("\n", "\\n") + '"'
    if isinstance(value, dict):
        return "{" + ", ".join(f"[{_lua(k)}] = {_lua(v)}" for k, v in value.items()) + "}"
    if isinstance(value, tuple):
        return "{" + ", ".join(map(_lua, value)) + "}"
    return repr(value)


_END = "\nreturn function("
"""What comes behind the verbs in the script."""


def _source(more: str = "") -> str:
    """Return Lua whose value is the function that answers every verb, with what it is given.

    Numbers and words stand where the script has their names: Lua has room for 200 variables.
    ``more`` is a file of further verbs.
    """
    plain: dict[str, object] = {}
    tables = ""
    for name, value in _numbers().items():
        if isinstance(value, dict) and all(map(str.isidentifier, value)):
            plain |= {f"{name}.{key}": part for key, part in value.items()}
        elif isinstance(value, (dict, tuple)):
            tables += f"local {name} = {_lua(value)}\n"
        else:
            plain[name] = value
    names = re.compile(rf"\b(?:{'|'.join(map(re.escape, plain))})\b")
    verbs, _, end = _text_of("redis.lua").rpartition(_END)
    whole = f"{verbs}{_text_of(more) if more else ''}{_END}{end}"
    script = names.sub(lambda found: _lua(plain[found[0]]), whole)
    return f"(function()\n{tables}{shared_source()}{script}end)()"


@cache
def library(more: str = "") -> tuple[str, str, str]:
    """Return all verbs as a library of Redis's: its name, its Lua, and a script that does the same.

    A library makes its functions when it is loaded, the script at each call. The name tells
    versions apart, so that several can use a server at once; the library's function has it, too.
    ``more`` is a file of further verbs.
    """
    made = _source(more)
    name = f"lswc_{sha256(made.encode()).hexdigest()[:16]}"
    loaded = f"#!lua name={name}\nredis.register_function('{name}', {made})"
    return name, loaded, f"return {made}(KEYS, ARGV)"


def shared_source() -> str:
    """Return the Lua that all of a crawl's scripts share: the clock, and what goes with a call."""
    return _text_of("clock.lua") + _text_of("rides.lua")


def _text_of(name: str) -> str:
    return files("lswc.frontier").joinpath(name).read_text(encoding="utf-8")


def milliseconds(seconds: float) -> int:
    """Return seconds as the script takes them."""
    return round(seconds * 1000)


def text(value: bytes | str) -> str:
    """Return what Redis gave as text."""
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def texts(found: Mapping[bytes, bytes]) -> dict[str, str]:
    """Return a hash of Redis's as text."""
    return {text(key): text(value) for key, value in found.items()}


def escaped(plain: str) -> str:
    """Return a text as a pattern of Redis's that matches it alone."""
    return _GLOB.sub(r"\\\g<0>", plain)


def key_of(key: int) -> bytes:
    """Return the key of a URL (``known_by``) as the script takes it."""
    return key.to_bytes(8, signed=True)


def place_in(hashes: int, key: int) -> tuple[str, bytes]:
    """Return which of so many hashes a URL is known in, and its field there.

    Linear hashing (Litwin, "Linear Hashing: A New Tool for File and Table Addressing", VLDB 1980).
    """
    name, size = key_of(key), 1 << hashes.bit_length() - 1
    number = name[3] << 16 | name[0] << 8 | name[1]
    if number % size < hashes - size:
        size *= 2
    return f"seen:{number % size}", name[2:] if size >= 2**16 else name[:1] + name[2:]


def known_as(number: int, field: bytes) -> int:
    """Return the key of the URL that is known in the hash of this number, by this field."""
    start = bytes((number >> 8 & 0xFF,)) if len(field) == _SHORT_FIELD else b""
    name = start + field
    return int.from_bytes(name[:1] + bytes((number & 0xFF,)) + name[1:], signed=True)


def looked_up(ask: Callable[..., list[Any]], keys: Sequence[int]) -> list[bytes | None]:
    """Return what is kept of URLs, by their keys.

    ``ask`` gives the answers to commands, each (name, key without prefix, arguments), at one
    moment: so what is found is right also while workers split the hashes.
    """
    hashes, then, found = HASHES_AT_FIRST, 0, list[bytes | None]()
    while hashes != then:
        then, places = hashes, [place_in(hashes, key) for key in keys]
        asked = (("HGET", name, (field,)) for name, field in places)
        now, *found = ask(("HGET", "about", ("hashes",)), *asked)
        hashes = int(now or HASHES_AT_FIRST)
    return found


def place_of(number: int) -> tuple[str, int]:
    """Return the list that a URL's record is in, and where."""
    chunk, at = divmod(number - 1, CHUNK)
    return f"urls:{chunk}", at


def packed_cells(cells: Iterable[int]) -> bytes:
    """Pack cells, 2 bytes each."""
    numbers = list(cells)
    return pack(f">{len(numbers)}H", *numbers)


def packed_table(strategy: Strategy) -> bytes:
    """Pack 1 + cell by kind and place."""
    return packed_cells(cell - DISCARD for row in strategy.cell_of for cell in row)


def packed_offer(strategy: Strategy, offer: Offer) -> bytes:
    """Return the record of an offer, without the referrer's number."""
    unit = "" if offer.unit == offer.server else offer.unit
    facts = _FACTS.pack(
        strategy.kind_of[offer.code],
        distance_of(offer.code),
        offer.code,
        min(offer.depth, _MAX_DEPTH),
        offer.inherited,
        min(offer.redirects, _MAX_REDIRECTS),
    )
    return facts + f"{unit}\0{_short(offer.url, offer.server)}".encode()


def packed_decision(referrer: int, number: int, cell: int, server: str, record: bytes) -> bytes:
    """Pack that a link to a known URL of this number, in this cell, is better: its record."""
    name = server.encode()
    url = referrer.to_bytes(5) + number.to_bytes(5) + pack(">HI", cell, len(name)) + name
    return url + pack(">I", len(record)) + record


def packed_offers(strategy: Strategy, offers: Sequence[Offer]) -> Iterator[Any]:
    """Give offers as the script takes them: their servers with the sites, then each of them."""
    sites = {offer.server: site_of(offer.server) for offer in offers}
    yield len(sites)
    yield from (name for pair in sites.items() for name in pair)
    for offer in offers:
        yield offer.server
        yield key_of(in_shard(offer.key, shard_of_server(offer.server)))
        yield packed_offer(strategy, offer)


def _short(url: str, server: str) -> str:
    """Return a URL without its scheme and server, of which a number is left."""
    scheme, _, rest = url.partition(f"://{server}/")
    return f"{_SHORT[scheme]}/{rest}" if scheme in _SHORT else url


def _whole(short: str, server: str) -> str:
    scheme = _SCHEMES.get(short[:1])
    return f"{scheme}://{server}{short[1:]}" if scheme else short


def unpacked(record: bytes, server: str) -> tuple[tuple[int, ...], str, str]:
    """Return what ``packed_offer`` packed: kind, distance, code, depth, inherited, redirects;
    the unit, "" if it is the server; the URL, which is of that server.
    """
    unit, _, url = record[_FACTS.size :].decode().partition("\0")
    return _FACTS.unpack_from(record), unit, _whole(url, server)


def without_referrer(record: bytes) -> bytes:
    """Return a record as it was packed."""
    return record[calcsize(_REFERRER) :]


def _lacks(error: redis.ResponseError) -> bool:
    """Tell whether a command is refused as the server, or its user, hasn't got it."""
    return isinstance(error, redis.exceptions.NoPermissionError) or "unknown command" in str(error)


def in_cluster(client: redis.Redis) -> bool:
    """Tell whether a client finds the node of a Redis Cluster that it asks."""
    return "find" in client.connection_pool.connection_kwargs


def prefix_of(client: redis.Redis, name: str) -> str:
    """Return what the keys of a crawl, or of its part in a slot of a cluster, begin with."""
    find = client.connection_pool.connection_kwargs.get("find")
    return f"{{{name}{getattr(find, 'tag', '')}}}:"


class Connection:
    """Asks the Redis of a crawl of this name, whose keys begin with ``prefix``.

    ``mark`` is what the crawl in Redis is known again by, once it is known here; ``latest`` is the
    token of what ``worker`` committed last, if it is known that no older Redis may answer. ``more``
    is a file of verbs that the script has besides its own. What is ``under_way`` ends before
    anything else is asked of the crawl, so what is known here is what the answer says.
    """

    def __init__(self, client: redis.Redis, name: str, more: str = "") -> None:
        self.client = client
        self.prefix = prefix_of(client, name)
        self.mark = self.worker = self.latest = ""
        self.rides = Rides()
        self.slots = SlotsOfLeases(self.rides)
        self.under_way = UnderWay()
        self._name, self._loaded, self._plain = library(more)
        self._script: Script | None = None
        """What is called where there are no functions: before Redis 7, or for such a user."""

    def run(self, verb: str, *arguments: Any) -> Any:
        """Run a verb of the script. Raises LswcError."""
        with self.errors():
            about = self.prefix + "about"
            if self._script is None:
                try:
                    return self.client.fcall(self._name, 1, about, verb, *arguments)
                except redis.ResponseError as error:
                    self._load(error)
            if self._script is None:
                return self.client.fcall(self._name, 1, about, verb, *arguments)
            return self._script([about], [verb, *arguments])

    def send(self, verb: str, *arguments: Any) -> Steps[Any]:
        """Send a verb of the script; return what waits for its answer, as ``run`` gives it.

        So several servers work at a time. What was lost on its way is asked again.
        """
        connection = None
        if self._script is None:
            with suppress(redis.RedisError):
                connection = self._sent(
                    "FCALL", self._name, 1, self.prefix + "about", verb, *arguments
                )
        return self._answer(connection, verb, *arguments)

    def _sent(self, *command: Any) -> Any:
        """Return the connection on which a command was sent. Raises RedisError."""
        pool: Any = self.client.connection_pool
        connection = pool.get_connection()
        try:
            connection.send_command(*command)
        except redis.RedisError:  # it has no socket any more, so nothing can be read
            pool.release(connection)
            raise
        return connection

    def _answer(self, connection: Any, verb: str, *arguments: Any) -> Steps[Any]:
        if connection is not None:
            try:
                yield connection._sock.fileno()
                return connection.read_response()
            except redis.RedisError:
                connection.disconnect()
            finally:
                self.client.connection_pool.release(connection)
        return self.run(verb, *arguments)

    def _load(self, error: redis.ResponseError) -> None:
        """Load the library, if it is missing; where none may be, the script is what is called."""
        try:
            if "Function not found" not in str(error):
                raise error
            self.client.function_load(self._loaded, replace=True)  # several workers may begin
        except redis.ResponseError as refused:
            if not _lacks(refused):
                raise
            self._script = self.client.register_script(self._plain)

    def unload(self) -> None:
        """Let the server forget the library, if it may."""
        with suppress(redis.RedisError):
            self.client.function_delete(self._name)

    def ask(self, *questions: tuple[str, str, Any]) -> list[Any]:
        """Return the answers to commands, each (name, key without prefix, arguments).

        Raises StorageError if the crawl isn't there any more.
        """
        self.under_way.finish()
        pipeline: Any  # redis-py's own has no types for this
        with self.errors(), self.client.pipeline() as pipeline:
            pipeline.hget(self.prefix + "about", "mark")
            pipeline.hget(self.prefix + "latest", self.worker)
            for command, key, arguments in questions:
                pipeline.execute_command(command, self.prefix + key, *arguments)
            mark, latest, *found = pipeline.execute()
            if self.mark and mark != self.mark.encode():
                raise redis.ResponseError(LOST)
            if self.latest and latest != self.latest.encode():
                raise redis.ResponseError(OLDER)
        answers: list[Any] = found
        return answers

    def records(self, numbers: Iterable[bytes | int]) -> list[bytes]:
        """Return the records of URLs, as they were packed; empty of those that are gone."""
        places = map(place_of, map(int, numbers))
        found = self.ask(*(("LINDEX", key, (at,)) for key, at in places))
        return [without_referrer(record or b"") for record in found]

    def check_server(self) -> None:
        """Raise FrontierError if the Redis may lose keys."""
        policy = self.client.info("memory").get("maxmemory_policy", "")  # Kvrocks has none
        if policy.startswith("allkeys"):
            raise FrontierError(
                f"{self.address} evicts keys, so it would lose URLs: "
                f"set maxmemory-policy noeviction instead of {policy}"
            )

    @property
    def address(self) -> str:
        """Where the Redis is, in words of a sentence."""
        where = self.client.connection_pool.connection_kwargs
        if "find" in where:
            return str(where["find"])
        server = where.get("path") or f"{where.get('host')}:{where.get('port', 6379)}"
        return f"the Redis at {server}, database {where.get('db', 0)},"

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn redis-py's errors into those of lswc, without the password of the URL."""
        try:
            yield
        except redis.AuthenticationError as error:
            raise FrontierError(
                f"{self.address} refuses the password, or asks for one: correct LSWC_FRONTIER, "
                f"REDIS_PARAMS or REDISCLI_AUTH: {error}"
            ) from error
        except (redis.ConnectionError, redis.TimeoutError) as error:
            self.client.set_retry(AT_ONCE_OR_NOT)  # don't wait again at each call
            raise AwayError(
                f"{self.address} can't be reached: start it, or correct LSWC_FRONTIER: {error}"
            ) from error
        except (redis.exceptions.AskError, redis.exceptions.ClusterDownError) as error:
            raise FrontierError(
                f"{self.address} is a node of a Redis Cluster: "
                "write redis+cluster:// in LSWC_FRONTIER"
            ) from error
        except redis.RedisError as error:
            if str(error).startswith("LOST"):
                raise LostStoreError(
                    f"{self.address} has lost the crawl: what was recorded is kept, begin anew "
                    "in another folder"
                ) from error
            if str(error).startswith("OLDER"):
                raise OlderError(
                    f"{self.address} has forgotten the latest pages, as an older copy does"
                ) from error
            raise StorageError(f"{self.address} refuses the crawl: {error}") from error
