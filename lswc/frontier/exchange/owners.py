"""Owners: which worker has which sites.

Sites are in parts by a stable hash of their names, as UbiCrawler's agents have theirs (Boldi,
Codenotti, Santini and Vigna 2004). A worker's own file says which parts it has; the table of owners
tells the others, and who is to have what.
"""

from __future__ import annotations

from collections import Counter
from secrets import randbelow
from typing import TYPE_CHECKING
from zlib import crc32

from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterable

PARTS = 256
"""Parts of all sites: so many workers may share a crawl."""

NOBODY = 0
"""Instead of a worker's number."""

NUMBERS = 1_000_000
"""Workers have numbers below it, by chance: a Redis that forgot some gives none a second time."""


def part_of(site: str) -> int:
    """Return the part that a site is in, by its name."""
    return crc32(site.encode()) % PARTS


class Owners(Struct, frozen=True):
    """Which worker has each part, and which one is to have it: numbers of workers, by part.

    ``turns`` is how often each part came to another worker, ``version`` how often the table
    changed. ``members`` are the workers that take part,
    ``gone`` those that were to give all that they had; ``lost`` those whose disk is lost, with the
    parts that were given to others without them.
    """

    version: int
    of_part: tuple[int, ...]
    turns: tuple[int, ...]
    heirs: tuple[int, ...]
    members: tuple[int, ...]
    gone: tuple[int, ...] = ()
    lost: dict[int, tuple[int, ...]] = {}

    def parts_of(self, worker: int) -> tuple[int, ...]:
        """Return the parts that a worker has."""
        return tuple(part for part, owner in enumerate(self.of_part) if owner == worker)

    def knows(self, worker: int) -> bool:
        """Tell whether a worker takes part, or did."""
        return worker in self.members or worker in self.gone or worker in self.lost

    def new_number(self) -> int:
        """Return a number that no worker has."""
        while self.knows(number := a_number()):
            pass
        return number

    def joined(self, worker: int) -> Owners:
        """Return the table with a further worker, which is to have its share."""
        members = tuple(sorted({*self.members, worker}))
        return self._next(members=members, heirs=shared_out(self.heirs, members))

    def left(self, worker: int) -> Owners:
        """Return the table without a worker, which is to give all that it has."""
        members = tuple(one for one in self.members if one != worker)
        gone = tuple(dict.fromkeys((*self.gone, worker)))
        return self._next(members=members, gone=gone, heirs=shared_out(self.heirs, members))

    def without(self, worker: int) -> Owners:
        """Return the table once a worker's parts are others', as its disk is lost."""
        after = self.left(worker)
        kept = tuple(one for one in after.gone if one != worker)
        return replace(after, lost={**self.lost, worker: ()}, gone=kept).inherited()

    def inherited(self) -> Owners:
        """Return the table once the heirs of lost workers have all that these had.

        A table that was merged into this one may have known of parts of theirs that the one didn't
        know which called them lost.
        """
        after = self
        for worker in self.lost:
            if self.members and (parts := self.parts_of(worker)):
                after = after.also_lost(worker, parts)
                for heir in self.members:
                    theirs = tuple(part for part in parts if self.heirs[part] == heir)
                    after = after.owned(heir, theirs)
        return after

    def owned(self, worker: int, parts: tuple[int, ...]) -> Owners:
        """Return the table once a worker has these parts."""
        of_part, turns = list(self.of_part), list(self.turns)
        for part in parts:
            of_part[part] = worker
            turns[part] += 1
        return self._next(of_part=tuple(of_part), turns=tuple(turns))

    def also_lost(self, worker: int, parts: Iterable[int]) -> Owners:
        """Return the table once it is known that a lost worker had these parts, too."""
        known = {*self.lost[worker], *parts}
        return self._next(lost={**self.lost, worker: tuple(sorted(known))})

    def merged(self, other: Owners) -> Owners:
        """Return what this table and another one say together, whichever was forgotten by Redis.

        Whatever the order in which tables are merged, the same comes of it: who joined has joined,
        who is gone or lost stays so, and of each part the latest turn counts.
        """
        lost = {
            worker: tuple(sorted({*self.lost.get(worker, ()), *other.lost.get(worker, ())}))
            for worker in sorted({*self.lost, *other.lost})
        }
        gone = tuple(sorted({*self.gone, *other.gone} - lost.keys()))
        members = tuple(sorted({*self.members, *other.members} - {*gone, *lost}))
        latest = [
            max(pair)
            for pair in zip(
                zip(self.turns, self.of_part, strict=True),
                zip(other.turns, other.of_part, strict=True),
                strict=True,
            )
        ]
        newer = max(self, other, key=lambda one: (one.version, one.heirs))
        return Owners(
            max(self.version, other.version),
            tuple(owner for _, owner in latest),
            tuple(turn for turn, _ in latest),
            shared_out(newer.heirs, members) if members else newer.heirs,
            members,
            gone,
            lost,
        )

    def _next(self, **changes: object) -> Owners:
        return replace(self, version=self.version + 1, **changes)


def a_number() -> int:
    """Return a number for a worker, by chance."""
    return 1 + randbelow(NUMBERS - 1)


def first(worker: int) -> Owners:
    """Return the table of a crawl that a worker begins: it has all."""
    all_parts = (worker,) * PARTS
    return Owners(1, all_parts, (0,) * PARTS, all_parts, (worker,))


def shared_out(heirs: tuple[int, ...], members: tuple[int, ...]) -> tuple[int, ...]:
    """Return who is to have each part, shared evenly among the members; few parts move."""
    least, more = divmod(PARTS, len(members))
    had = Counter(heirs)
    # Who has most may keep one more.
    by_number = sorted(members, key=lambda one: (-had[one], one))
    most = {one: least + (place < more) for place, one in enumerate(by_number)}
    kept = Counter[int]()
    after = list(heirs)
    free = []
    for part, owner in enumerate(heirs):
        if owner in most and kept[owner] < most[owner]:
            kept[owner] += 1
        else:
            free.append(part)
    for part in free:
        after[part] = heir = min(members, key=lambda one: (kept[one] - most[one], one))
        kept[heir] += 1
    return tuple(after)
