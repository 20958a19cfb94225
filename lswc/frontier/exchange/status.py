"""Status: what each worker tells the others, whole, once a second; nothing is added up in Redis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from lswc.frontier.exchange.messages import read
from lswc.frontier.rules.experience import own_experience
from lswc.strategy import Pages

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lswc.strategy import Experience


class Status(Struct, frozen=True):
    """What a worker does, and has.

    ``name`` is host:folder, ``run`` tells one process from another, ``beat`` grows with each
    status, and ``parts`` are what it owns. Of each other worker, by number: the last message that
    it was ``sent``; the last of its that this one ``got``, and ``kept``, which outlasts a power
    cut; and what it said that it sent, where some of that is ``missing``.

    ``best`` is the best cell that waits, ``since_best`` the seconds since the latest lease of such.
    ``cells`` have the pages leased from each, the relevant ones, and the URLs that are pending;
    ``missed`` are those of each that were asked for in vain.
    ``waiting`` URLs are to be asked for in this run, ``leased`` ones are being asked for, ``seeds``
    tells whether any wait among them; ``outbox`` links have not arrived yet. ``has_ended`` is set
    by a process that closes in order; ``finished`` counts URLs.
    """

    worker: int
    name: str
    run: str
    beat: int
    version: int
    parts: tuple[int, ...]
    sent: dict[int, int]
    got: dict[int, int]
    kept: dict[int, int]
    missing: dict[int, int]
    best: int | None = None
    since_best: float = 0.0
    cells: list[tuple[int, int, float, int]] = []
    missed: dict[int, int] = {}
    tallies: dict[str, dict[str, int]] = {}
    waiting: int = 0
    leased: int = 0
    seeds: bool = False
    outbox: int = 0
    finished: int = 0
    requisites: int = 0
    has_ended: bool = False


encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Status).decode


def decode(packed: bytes) -> Status:
    """Return the status that these bytes are. Raises StorageError if they are none."""
    return read(_decode, packed)


class Elsewhere(Struct, frozen=True):
    """What the other workers of a crawl have, as they reported last: sums of what each has.

    ``pending``, ``pages`` and ``missed`` are by cell. ``live`` workers reported something lately.
    ``waits`` says that the crawl isn't over: something is fetched, or under way between workers.
    """

    pending: dict[int, int] = {}
    pages: dict[int, Pages] = {}
    missed: dict[int, int] = {}
    tallies: dict[str, dict[str, int]] = {}
    workers: int = 0
    live: int = 0
    leased: int = 0
    seeds: bool = False
    waits: bool = False

    @property
    def experience(self) -> Experience:
        """What was learned elsewhere."""
        return own_experience(self.pages, self.missed)


ALONE = Elsewhere()
"""What there is elsewhere of a crawl with one worker."""


def summed(others: Iterable[Status], live: Iterable[int], *, waits: bool) -> Elsewhere:
    """Return the sums of ``others``; ``live`` are the numbers of those that live."""
    alive, statuses = set(live), list(others)
    pending: dict[int, int] = {}
    pages: dict[int, Pages] = {}
    missed: dict[int, int] = {}
    for status in statuses:
        for cell, downloaded, relevant, number in status.cells:
            before = pages.get(cell, Pages())
            pages[cell] = Pages(before.downloaded + downloaded, before.relevant + relevant)
            if number:
                pending[cell] = pending.get(cell, 0) + number
        for cell, number in status.missed.items():
            missed[cell] = missed.get(cell, 0) + number
    running = [status for status in statuses if status.worker in alive]
    return Elsewhere(
        pending,
        pages,
        missed,
        added(status.tallies for status in statuses),
        len(statuses),
        len(running),
        sum(status.leased for status in running),
        any(status.seeds for status in running),
        waits,
    )


def added(all_tallies: Iterable[Mapping[str, Mapping[str, int]]]) -> dict[str, dict[str, int]]:
    """Return the sums of tallies by kind and name."""
    sums: dict[str, dict[str, int]] = {}
    for tallies in all_tallies:
        for kind, names in tallies.items():
            of_kind = sums.setdefault(kind, {})
            for name, number in names.items():
                of_kind[name] = of_kind.get(name, 0) + number
    return sums
