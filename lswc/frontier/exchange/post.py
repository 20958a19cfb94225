"""Post: carries what workers send each other through Redis, and keeps nothing of its own.

Redis may be stopped, flushed, or replaced by an older copy at any time: all that it has is in the
workers' files, too, and is brought again. Keys of the crawl ``name``:

* ``name:crawl``    what crawl it is, and the table of owners with its version (JSON)
* ``name:workers``  the latest status of each worker
* ``name:to:N``     a stream: messages to worker N
* ``name:alive:N``  is there while worker N runs
* ``name:now``      the latest snapshot of each worker (JSON)
* ``name:course:N`` a list: points of the course of worker N
* ``name:control``  what people instruct the crawl to do (``stamp_of``); ``name:control:history``
* ``name:ask:N``    a list: questions of people to worker N; ``name:answer:ID`` has the answer
"""

from __future__ import annotations

import re
import secrets
from contextlib import contextmanager
from functools import partial
from math import ceil
from time import monotonic, time_ns
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec
from redis.exceptions import RedisError

from lswc.errors import AwayError
from lswc.frontier.exchange.messages import read
from lswc.frontier.exchange.owners import Owners

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from redis import Redis

ENTRIES = 200
"""Entries of a stream that are read at once."""

POINTS = 10_000
"""Points of a worker's course that are kept: those of a month, at least."""

ASKED = 50
"""Questions that may wait for a worker."""

ANSWERED = 300
"""Seconds for which an answer is kept."""

RUNS_FOR = 10
"""Seconds after its latest parcel for which a worker counts as one that runs."""

AWAKE = 2
"""Seconds for which Redis waits for an answer, at most, before it is asked once more."""

_BEGIN = """
if redis.call('EXISTS', KEYS[1]) == 1 and ARGV[4] == '0' then return 0 end
redis.call('HSET', KEYS[1], 'crawl', ARGV[1], 'version', ARGV[2], 'table', ARGV[3])
return 1
"""
_REPLACE = """
if redis.call('HGET', KEYS[1], 'version') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'version', ARGV[2], 'table', ARGV[3])
return 1
"""

# Of two instructions the one with the higher stamp stays.
_RENEW = """
local stamp = string.match(redis.call('GET', KEYS[1]) or '', '^# (%d+)\\n') or '0'
if tonumber(stamp) < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[2]) end
"""
_EDIT = """
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
redis.call('RPUSH', KEYS[2], ARGV[3])
return 1
"""
_ASK = """
redis.call('RPUSH', KEYS[1], ARGV[1])
redis.call('LTRIM', KEYS[1], -ARGV[2], -1)
redis.call('EXPIRE', KEYS[1], ARGV[3])
"""

_STAMP = re.compile(rb"# (\d{1,18})\n")

_owners = partial(read, msgspec.json.Decoder(Owners).decode)


class Entry(NamedTuple):
    """Messages of one worker, with their numbers, that follow the number ``after``."""

    position: bytes
    worker: int
    after: int
    messages: list[tuple[int, bytes]]


class Parcel(NamedTuple):
    """What a worker sends at once.

    ``letters`` are (receiver, after, messages); what comes after ``position`` in its own stream is
    read, and what is ``kept`` there is deleted. ``crawl`` and ``owners`` are what Redis is to know
    if it knows no crawl, or if that is a younger one, which has to give way (``reclaims``).
    ``next_owners`` is a table to replace the one of version ``expected``. ``snapshot`` is its
    latest, ``points`` are those that its course got, ``control`` is what people instructed the
    crawl to do, if Redis has an older one: nothing if they are empty.
    """

    worker: int
    status: bytes
    crawl: bytes
    owners: Owners
    letters: Sequence[tuple[int, int, Sequence[tuple[int, bytes]]]] = ()
    position: bytes = b"0-0"
    kept: Sequence[bytes] = ()
    next_owners: Owners | None = None
    expected: int = 0
    reclaims: bool = False
    snapshot: bytes = b""
    points: Sequence[bytes] = ()
    control: bytes = b""
    has_ended: bool = False


class Mail(NamedTuple):
    """What a worker finds: ``own`` is the status that it had there before.

    ``owners`` is the table that was there. ``entries`` are the messages to it; ``is_all`` says that
    there are no more. ``questions`` are what people ask; ``control`` is what they instruct the
    crawl to do, None if Redis has nothing of it.
    """

    crawl: bytes
    own: bytes | None
    owners: Owners
    statuses: dict[int, bytes]
    entries: list[Entry]
    is_all: bool
    questions: list[bytes]
    control: bytes | None = None


_pack = msgspec.msgpack.Encoder().encode
_Messages = Annotated[list[tuple[int, bytes]], msgspec.Meta(min_length=1)]
_unpack = msgspec.msgpack.Decoder(tuple[int, int, _Messages]).decode


class Post:
    """Carries parcels. Methods raise AwayError if Redis can't be reached, or refuses."""

    def __init__(self, client: Redis, name: str, *, in_cluster: bool = False) -> None:
        self.client, self.name = client, name
        self.prefix = f"{{{name}}}:" if in_cluster else f"{name}:"

    def key(self, *parts: object) -> str:
        """Return a key of the crawl."""
        return self.prefix + ":".join(map(str, parts))

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Raise AwayError for an error of Redis's."""
        try:
            yield
        except (RedisError, OSError) as error:
            raise AwayError(f"Redis: {error}") from error

    def replace(self, owners: Owners, expected: int) -> bool:
        """Replace the table of owners if it has the ``expected`` version; tell whether it had."""
        with self.errors():
            found = self.client.eval(_REPLACE, 1, self.key("crawl"), expected, *_written(owners))
        return bool(found)

    def begun(self) -> tuple[bytes, Owners] | None:
        """Return what crawl Redis has, and its table of owners; None if it has none."""
        with self.errors():
            found: Any = self.client.hmget(self.key("crawl"), "crawl", "table")
        crawl, table = found
        return None if crawl is None or table is None else (crawl, _owners(table))

    def begin(self, crawl: bytes, owners: Owners) -> bool:
        """Begin a crawl, if Redis has none of this name; tell whether it had none."""
        with self.errors():
            found = self.client.eval(_BEGIN, 1, self.key("crawl"), crawl, *_written(owners), 0)
        return bool(found)

    def statuses(self) -> dict[int, bytes]:
        """Return the latest status of each worker."""
        with self.errors():
            found: Any = self.client.hgetall(self.key("workers"))
        return {int(number): status for number, status in found.items()}

    def deliver(self, parcel: Parcel) -> Mail:
        """Send what a worker has, and read what others sent.

        What others reported is read before the messages: so what they report as sent is there.
        Raises AwayError, and StorageError if anything there can't be read.
        """
        workers, own = self.key("workers"), self.key("to", parcel.worker)
        with self.errors(), self.client.pipeline(transaction=False) as pipeline:
            line: Any = pipeline
            for receiver, after, messages in parcel.letters:
                entry = _pack((parcel.worker, after, messages))
                line.xadd(self.key("to", receiver), {b"m": entry})
            self._tell(line, parcel)
            if parcel.next_owners is not None:
                line.execute_command(
                    "EVAL",
                    _REPLACE,
                    1,
                    self.key("crawl"),
                    parcel.expected,
                    *_written(parcel.next_owners),
                )
            if parcel.kept:
                line.xdel(own, *parcel.kept)
            line.execute_command(
                "EVAL", _BEGIN, 1, self.key("crawl"), parcel.crawl, *_written(parcel.owners),
                int(parcel.reclaims),
            )  # fmt: skip
            sent = len(line)
            line.hmget(self.key("crawl"), "crawl", "table")
            line.hget(workers, str(parcel.worker))
            line.hset(workers, str(parcel.worker), parcel.status)
            line.hgetall(workers)
            line.xread({own: parcel.position}, count=ENTRIES)
            line.lpop(self.key("ask", parcel.worker))
            line.get(self.key("control"))
            (crawl, table), before, _, statuses, streams, asked, control = line.execute()[sent:]
        entries = [_entry(*one) for one in _of_stream(streams)]
        return Mail(
            crawl,
            before,
            _owners(table),
            {int(number): status for number, status in statuses.items()},
            entries,
            len(entries) < ENTRIES,
            [] if asked is None else [asked],
            control,
        )

    def _tell(self, line: Any, parcel: Parcel) -> None:
        """Send what people are shown of a worker, and what they instructed the crawl to do."""
        alive = self.key("alive", parcel.worker)
        if parcel.has_ended:
            line.delete(alive)
        else:
            line.set(alive, b"1", ex=RUNS_FOR)
        if parcel.snapshot:
            line.hset(self.key("now"), str(parcel.worker), parcel.snapshot)
        if parcel.points:
            course = self.key("course", parcel.worker)
            line.rpush(course, *parcel.points)
            line.ltrim(course, -POINTS, -1)
        if parcel.control:
            stamp = stamp_of(parcel.control)
            line.eval(_RENEW, 1, self.key("control"), stamp, parcel.control)

    # What people read, and instruct

    def alive(self, workers: Iterable[int]) -> set[int]:
        """Return those of some workers that run; one that was killed does for some seconds."""
        numbers = list(workers)
        with self.errors(), self.client.pipeline(transaction=False) as line:
            for number in numbers:
                line.exists(self.key("alive", number))
            found = line.execute() if numbers else []
        return {number for number, runs in zip(numbers, found, strict=True) if runs}

    def snapshots(self) -> dict[int, bytes]:
        """Return the latest snapshot of each worker."""
        with self.errors():
            found: Any = self.client.hgetall(self.key("now"))
        return {int(number): status for number, status in found.items()}

    def courses(self, workers: Iterable[int], latest: int = POINTS) -> dict[int, list[bytes]]:
        """Return the latest points of the courses of some workers."""
        numbers = list(workers)
        with self.errors(), self.client.pipeline(transaction=False) as line:
            for number in numbers:
                line.lrange(self.key("course", number), -latest, -1)
            found = line.execute() if numbers else []
        return dict(zip(numbers, found, strict=True))

    def ask(self, worker: int, question: bytes, seconds: float) -> bytes | None:
        """Ask a worker, and wait for its answer; None if it gave none in so many seconds."""
        name = secrets.token_hex(8)
        answer: Any = self.key("answer", name)
        life = ceil(seconds)
        with self.errors():
            asked = b"%s %s" % (name.encode(), question)
            self.client.eval(_ASK, 1, self.key("ask", worker), asked, ASKED, life)
            until = monotonic() + seconds
            while (left := until - monotonic()) > 0:
                found: Any = self.client.blpop([answer], timeout=ceil(min(left, AWAKE)))
                if found is not None:
                    return bytes(found[1])
        return None

    def answer(self, name: bytes, answer: bytes) -> None:
        """Answer what was asked by this name."""
        key = self.key("answer", name.decode())
        with self.errors(), self.client.pipeline(transaction=False) as line:
            line.rpush(key, answer)
            line.expire(key, ANSWERED)
            line.execute()

    def control(self) -> bytes | None:
        """Return what people instruct the crawl to do, with its stamp; None if there is nothing."""
        with self.errors():
            found: Any = self.client.get(self.key("control"))
        return None if found is None else bytes(found)

    def edit(self, change: Callable[[bytes], bytes], line: str) -> None:
        """Change the instructions, and add a line to their history."""
        keys = self.key("control"), self.key("control", "history")
        while True:
            before = self.control() or b""
            after = change(before)
            with self.errors():
                if self.client.eval(_EDIT, 2, *keys, before, after, line):
                    return

    def history(self) -> list[bytes]:
        """Return the lines of the history of instructions, the oldest first."""
        with self.errors():
            found: Any = self.client.lrange(self.key("control", "history"), 0, -1)
        return list(found)


def stamp_of(control: bytes | None) -> int:
    """Return when instructions were given, in milliseconds since 1970; 0 if it isn't known.

    They begin with a line that has it: so a Redis that is an older copy gets the newer ones again.
    """
    found = _STAMP.match(control or b"")
    return int(found[1]) if found else 0


def unstamped(control: bytes | None) -> bytes:
    """Return instructions without the line of their stamp."""
    return _STAMP.sub(b"", control or b"", count=1) if stamp_of(control) else control or b""


def stamped(text: bytes, before: bytes | None) -> bytes:
    """Return instructions with a stamp that is later than that of those before."""
    return b"# %d\n%s" % (max(time_ns() // 1_000_000, stamp_of(before) + 1), text)


def _written(owners: Owners) -> tuple[int, bytes]:
    return owners.version, msgspec.json.encode(owners)


def _of_stream(streams: Any) -> list[Any]:
    """Return the entries of an answer to XREAD, in the form of either protocol of Redis's."""
    if not streams:
        return []
    found: list[Any]
    found = next(iter(streams.values()))[0] if isinstance(streams, dict) else streams[0][1]
    return found


def _entry(position: bytes, fields: dict[bytes, bytes]) -> Entry:
    worker, after, messages = read(_unpack, fields.get(b"m", b""))
    return Entry(position, worker, after, messages)
