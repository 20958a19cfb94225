"""Post: carries what workers send each other through Redis, and keeps nothing of its own.

Redis may be stopped, flushed, or replaced by an older copy at any time: all that it has is in the
workers' files, too, and is brought again. Keys of the crawl ``name``:

* ``name:crawl``    what crawl it is, and the table of owners with its version (JSON)
* ``name:workers``  the latest status of each worker
* ``name:to:N``     a stream: messages to worker N
* ``name:ask:N``    a list: questions of people to worker N; ``name:answer:...`` has the answer
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from redis.exceptions import RedisError

from lswc.errors import AwayError
from lswc.frontier.exchange.owners import Owners

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from redis import Redis

ENTRIES = 200
"""Entries of a stream that are read at once."""

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

_owners = msgspec.json.Decoder(Owners).decode


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
    ``next_owners`` is a table to replace the one of version ``expected``.
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
    answers: Sequence[tuple[bytes, bytes]] = ()
    reclaims: bool = False


class Mail(NamedTuple):
    """What a worker finds: ``own`` is the status that it had there before.

    ``owners`` is the table that was there. ``entries`` are the messages to it; ``is_all`` says that there are no more.
    """

    crawl: bytes
    own: bytes | None
    owners: Owners
    statuses: dict[int, bytes]
    entries: list[Entry]
    is_all: bool
    questions: list[bytes]


_pack = msgspec.msgpack.Encoder().encode
_unpack = msgspec.msgpack.Decoder(tuple[int, int, list[tuple[int, bytes]]]).decode


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
            crawl, table = self._known(self.client.hmget(self.key("crawl"), "crawl", "table"))
        return None if crawl is None or table is None else (crawl, _owners(table))

    def begin(self, crawl: bytes, owners: Owners) -> bool:
        """Begin a crawl, if Redis has none of this name; tell whether it had none."""
        with self.errors():
            found = self.client.eval(_BEGIN, 1, self.key("crawl"), crawl, *_written(owners), 0)
        return bool(found)

    @staticmethod
    def _known(found: Any) -> tuple[bytes | None, bytes | None]:
        crawl, table = found
        return crawl, table

    def statuses(self) -> dict[int, bytes]:
        """Return the latest status of each worker."""
        with self.errors():
            found: Any = self.client.hgetall(self.key("workers"))
        return {int(number): status for number, status in found.items()}

    def deliver(self, parcel: Parcel) -> Mail:
        """Send what a worker has, and read what others sent.

        What others told is read before the messages: so what they told that they sent is there.
        """
        workers, own = self.key("workers"), self.key("to", parcel.worker)
        with self.errors(), self.client.pipeline(transaction=False) as line:
            for receiver, after, messages in parcel.letters:
                entry = _pack((parcel.worker, after, messages))
                line.xadd(self.key("to", receiver), {b"m": entry})
            for question, answer in parcel.answers:
                line.set(self.key("answer", question.decode()), answer, ex=60)
            if parcel.next_owners is not None:
                line.eval(
                    _REPLACE, 1, self.key("crawl"), parcel.expected, *_written(parcel.next_owners)
                )
            if parcel.kept:
                line.xdel(own, *parcel.kept)
            line.eval(
                _BEGIN, 1, self.key("crawl"), parcel.crawl, *_written(parcel.owners),
                int(parcel.reclaims),
            )  # fmt: skip
            sent = len(line)
            line.hmget(self.key("crawl"), "crawl", "table")
            line.hget(workers, str(parcel.worker))
            line.hset(workers, str(parcel.worker), parcel.status)
            line.hgetall(workers)
            line.xread({own: parcel.position}, count=ENTRIES)
            line.lpop(self.key("ask", parcel.worker))
            (crawl, table), before, _, statuses, streams, asked = line.execute()[sent:]
        entries = [_entry(*one) for one in _of_stream(streams)]
        return Mail(
            crawl,
            before,
            _owners(table),
            {int(number): status for number, status in statuses.items()},
            entries,
            len(entries) < ENTRIES,
            [] if asked is None else [asked],
        )


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
    worker, after, messages = _unpack(fields[b"m"])
    return Entry(position, worker, after, messages)
