"""A post without Redis: what workers of one process send each other, and ways to lose it."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

import msgspec

from lswc.errors import AwayError
from lswc.frontier.exchange.owners import Owners
from lswc.frontier.exchange.post import ENTRIES, POINTS, Entry, Mail, Parcel, stamp_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


@dataclass
class Held:
    """What a Redis has of a crawl."""

    crawl: bytes = b""
    owners: Owners | None = None
    statuses: dict[int, bytes] = field(default_factory=dict)
    streams: dict[int, list[Entry]] = field(default_factory=dict)
    last: int = 0
    alive: set[int] = field(default_factory=set)
    now: dict[int, bytes] = field(default_factory=dict)
    courses: dict[int, list[bytes]] = field(default_factory=dict)
    control: bytes | None = None
    history: list[bytes] = field(default_factory=list)
    asked: dict[int, list[bytes]] = field(default_factory=dict)
    answers: dict[bytes, bytes] = field(default_factory=dict)


class MemoryPost:
    """As ``Post``; ``is_away`` until somebody mends it, ``loses_answer`` for the next parcel."""

    name = "th"

    def __init__(self) -> None:
        self.held = Held()
        self.is_away = False
        self.loses_answer = False
        self.calls = 0
        self.answering: Callable[[int, bytes], object] = lambda worker, asked: None
        self._names = count()

    def flush(self) -> None:
        """Lose all."""
        self.held = Held()

    def copy(self) -> Held:
        """Return a copy of all, to go back to."""
        return deepcopy(self.held)

    def _call(self) -> None:
        self.calls += 1
        if self.is_away:
            raise AwayError("Redis: away")

    def begun(self) -> tuple[bytes, Owners] | None:
        self._call()
        return (self.held.crawl, self.held.owners) if self.held.owners is not None else None

    def begin(self, crawl: bytes, owners: Owners) -> bool:
        self._call()
        if self.held.owners is not None:
            return False
        self.held.crawl, self.held.owners = crawl, _copied(owners)
        return True

    def replace(self, owners: Owners, expected: int) -> bool:
        self._call()
        known = 0 if self.held.owners is None else self.held.owners.version
        if known != expected:
            return False
        self.held.owners = _copied(owners)
        return True

    def statuses(self) -> dict[int, bytes]:
        self._call()
        return dict(self.held.statuses)

    def deliver(self, parcel: Parcel) -> Mail:
        self._call()
        held = self.held
        for receiver, after, messages in parcel.letters:
            held.last += 1
            entry = Entry(b"%020d-0" % held.last, parcel.worker, after, list(messages))
            held.streams.setdefault(receiver, []).append(entry)
        if parcel.next_owners is not None:
            self.replace(parcel.next_owners, parcel.expected)
        if parcel.reclaims or held.owners is None:
            held.crawl, held.owners = parcel.crawl, _copied(parcel.owners)
        own = held.streams.setdefault(parcel.worker, [])
        own[:] = [entry for entry in own if entry.position not in set(parcel.kept)]
        before = held.statuses.get(parcel.worker)
        held.statuses[parcel.worker] = parcel.status
        self._tell(parcel)
        if self.loses_answer:
            self.loses_answer = False
            raise AwayError("Redis: the answer was lost")
        asked = held.asked.setdefault(parcel.worker, [])
        entries = [entry for entry in own if entry.position > parcel.position.rjust(22, b"0")]
        return Mail(
            held.crawl,
            before,
            held.owners,
            dict(held.statuses),
            entries[:ENTRIES],
            len(entries) < ENTRIES,
            asked[:1] and [asked.pop(0)],
            held.control,
        )

    def _tell(self, parcel: Parcel) -> None:
        held = self.held
        (held.alive.discard if parcel.has_ended else held.alive.add)(parcel.worker)
        if parcel.snapshot:
            held.now[parcel.worker] = parcel.snapshot
        if parcel.points:
            held.courses.setdefault(parcel.worker, []).extend(parcel.points)
        if parcel.control and stamp_of(parcel.control) > stamp_of(held.control):
            held.control = parcel.control

    def alive(self, workers: Iterable[int]) -> set[int]:
        self._call()
        return self.held.alive & set(workers)

    def snapshots(self) -> dict[int, bytes]:
        self._call()
        return dict(self.held.now)

    def courses(self, workers: Iterable[int], latest: int = POINTS) -> dict[int, list[bytes]]:
        self._call()
        return {number: self.held.courses.get(number, [])[-latest:] for number in workers}

    def ask(self, worker: int, question: bytes, seconds: float) -> bytes | None:
        """``answering`` is called with the worker and what it would be asked; in any thread."""
        self._call()
        name = b"%d" % next(self._names)
        self.answering(worker, b"%s %s" % (name, question))
        return self.held.answers.pop(name, None)

    def answer(self, name: bytes, answer: bytes) -> None:
        self._call()
        self.held.answers[name] = answer

    def control(self) -> bytes | None:
        self._call()
        return self.held.control

    def edit(self, change: Callable[[bytes], bytes], line: str) -> None:
        self._call()
        self.held.control = change(self.held.control or b"")
        self.held.history.append(line.encode())

    def history(self) -> list[bytes]:
        self._call()
        return list(self.held.history)


def _copied(owners: Owners) -> Owners:
    """Return the same table as other bytes, as two workers share no object."""
    return msgspec.json.decode(msgspec.json.encode(owners), type=Owners)
