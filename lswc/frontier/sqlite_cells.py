"""Pending URLs of a SQLite file by server and cell: which is next, and which are too many."""

from __future__ import annotations

import sys
from array import array
from collections import Counter, defaultdict
from heapq import nlargest, nsmallest
from json import dumps
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from lswc.frontier.contract import FULL
from lswc.frontier.ready_cells import ReadyCells
from lswc.frontier.sqlite_servers import UNSAID
from lswc.strategy import DISCARD, GUESSES, REQUISITES, Unit
from lswc.strategy.families import (
    FAMILIES,
    KNOWN,
    OF_FAMILY,
    PROVEN,
    SEED,
    UNPROVEN,
    URLS,
    level_with,
    support_of,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from lswc.frontier.contract import Caps, Terms
    from lswc.frontier.sqlite_servers import Born
    from lswc.outcomes import Outcome
    from lswc.strategy import Rank, Strategy

# A line is a server's URLs of one kind; if the strategy counts by directory, of one cell, as a
# directory's place says nothing of the server's other URLs. `seq` is that of its oldest URL. A
# line is hidden while its server is busy, if it was in the way: so a lease costs the same
# however many servers are busy, and a busy server costs nothing as long as nobody looks. Its
# `family` is that of its site if that is unproven; else, and of requisites, 0.
# `left_out`: how many of a server's URLs were discarded, or ended by a quota, by reason.
SCHEMA = """
CREATE TABLE line (
    server INTEGER, line INTEGER, cell INTEGER NOT NULL, seq INTEGER NOT NULL,
    site INTEGER NOT NULL, family INTEGER NOT NULL, hidden INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (server, line)) WITHOUT ROWID;
CREATE INDEX first_in_cell ON line (cell, family, seq) WHERE hidden = 0;
CREATE INDEX line_of_site ON line (site, cell);
CREATE INDEX waiting_url ON url (server, line, seq) WHERE outcome IS NULL;
CREATE TABLE left_out (
    server INTEGER, reason TEXT, number INTEGER NOT NULL, PRIMARY KEY (server, reason)
    ) WITHOUT ROWID;
"""

_PUT = (
    "INSERT INTO line (server, line, cell, seq, site, family)"
    " VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO "
)
_OLDEST = "UPDATE SET seq = min(seq, excluded.seq)"
PUT_OLDEST = (
    "INSERT INTO line (server, line, cell, seq, site, family)"
    " SELECT ?1, ?2, ?3, ?4, site.id,"
    f" CASE WHEN ?3 >= {REQUISITES} OR level <> {UNPROVEN} THEN 0 ELSE family END"
    f" FROM server JOIN site ON site.id = site WHERE server.id = ?1 ON CONFLICT DO {_OLDEST}"
)
"""Puts a URL into a line: its server, line, cell and number."""

_NEWEST = (
    "SELECT seq, line FROM url WHERE server = ? AND line = ? AND outcome IS NULL"
    " ORDER BY seq DESC LIMIT ?"
)
_FIRST = (
    "SELECT server, line, cell, seq, family FROM line INDEXED BY first_in_cell"
    " WHERE hidden = 0 AND cell = ? AND family = 0 ORDER BY seq LIMIT 1"
)
_NEXT_FAMILY = (
    "SELECT server, line, cell, seq, family FROM line INDEXED BY first_in_cell"
    " WHERE hidden = 0 AND cell = ? AND family > ? ORDER BY family, seq LIMIT 1"
)
_SIZE = "SELECT count(*) FROM url WHERE server = ? AND line = ? AND outcome IS NULL"
_OF_DIRECTORY = (
    "SELECT code, line, min(seq), count(*) FROM url WHERE unit = ? AND outcome IS NULL"
    " GROUP BY code, line"
)
_HEAD = (
    "SELECT cell, family, seq,"
    " (SELECT seq FROM url WHERE server = ?1 AND line = ?2 AND outcome IS NULL"
    " ORDER BY seq LIMIT 1) FROM line WHERE server = ?1 AND line = ?2"
)


_WAITING = (
    "SELECT cell, sum(number) FROM line JOIN"
    " (SELECT server, line, count(*) AS number FROM url"
    "  WHERE outcome IS NULL AND server BETWEEN ? AND ? GROUP BY server, line)"
    " USING (server, line) WHERE family > ? GROUP BY cell"
)
_LONGEST = (
    "SELECT count(*) AS number, server FROM url WHERE outcome IS NULL AND server BETWEEN ? AND ?"
    " GROUP BY server ORDER BY number DESC, server LIMIT ?"
)


SUPPORTED = 20_000
"""Sites whose supporters are kept in memory at most."""

KEPT = 10_000
"""Lines that are known without a look into the file to be there, at most."""


class Line(NamedTuple):
    """A server's URLs of one kind, that wait in one cell; ``seq`` is that of the oldest.

    ``family`` is that of an unproven site, else 0.
    """

    server: int
    line: int
    cell: int
    seq: int
    family: int = 0


_BEYOND = (REQUISITES, GUESSES)


class Lines:
    """The lines of all servers. ``waiting`` counts their URLs by cell, the leased ones too;
    ``unproven`` those of them that are of unproven sites; ``sizes`` all by server and site.

    ``busy`` are the servers that nothing may be handed out of now, with the families that they
    keep busy. ``ready`` are the cells that may have a URL of a free server, ``apart`` those that
    may have one of an unproven site; ``occupied`` have a URL at all; never those beyond.
    """

    waiting: Counter[int]
    unproven: Counter[int]
    ready: ReadyCells
    apart: ReadyCells
    occupied: ReadyCells
    rank: Callable[[int], Rank]

    def __init__(self, db: sqlite3.Connection, strategy: Strategy, families: Families) -> None:
        self._db = db
        self.strategy = strategy
        self.by_server = strategy.unit is Unit.SERVER
        self.families = families
        self.sizes = Sizes(db, families)
        self._hidden: set[int] = set()
        self._there: set[tuple[int, int]] = set()
        self.busy: dict[int, int] = {}
        self._frozen: set[int] = set()
        self._only: Collection[int] | None = None
        self._busy_families: Counter[int] = Counter()

    def load(self, rank: Callable[[int], Rank]) -> None:
        """Take what the file holds. ``rank`` gives a cell's rank as it is now."""
        self.rank = rank
        self._hidden.clear()
        self._there.clear()
        self.waiting = Counter(waiting(self._db))
        self.unproven = Counter(waiting(self._db, unproven=True))
        self.families.load()
        self.sizes.load()
        cells = self.waiting.keys() - _BEYOND
        self.ready = ReadyCells(rank, cells)
        self.apart = ReadyCells(rank, self.unproven)
        self.occupied = ReadyCells(rank, cells)
        begin(self._db)
        self._db.execute("UPDATE line SET hidden = 0 WHERE hidden <> 0")
        self._db.execute("COMMIT")

    def put_new(self, lines: Mapping[tuple[int, int], Sequence[int]]) -> None:
        """Add URLs to lines, which are named by server and line.

        Of each its cell, the oldest of the URLs, and how many: they are newer than all others.
        """
        rows: list[tuple[int, ...]] = []
        cells: dict[int, int] = {}
        apart: dict[int, int] = {}
        there, sizes, family_of = self._there, self.sizes, self.families.of
        for where, (cell, seq, number) in lines.items():
            server = where[0]
            sizes.add(server, number)
            site = sizes.site(server)
            family = family_of(site) if cell < REQUISITES else 0
            found = apart if family else cells
            found[cell] = found.get(cell, 0) + number
            if where not in there:
                rows.append((*where, cell, seq, site, family))
        if rows:
            rows.sort()  # neighbours in the file are written together
            self._db.executemany(_PUT + "NOTHING", rows)
            if len(there) + len(rows) > KEPT:
                there.clear()
            there.update([row[:2] for row in rows])  # type: ignore[misc]
        self._add(cells)
        if apart:
            self._add(apart, unproven=True)

    def put(self, line: Line, number: int = 1) -> None:
        """Add so many URLs to a line, of which ``line.seq`` is the oldest."""
        self.sizes.add(line.server, number)
        site = self.sizes.site(line.server)
        family = self.families.of(site) if line.cell < REQUISITES else 0
        self._db.execute(_PUT + _OLDEST, (*line[:4], site, family))
        self._add({line.cell: number}, family > 0)

    def _add(self, cells: Mapping[int, int], unproven: bool = False) -> None:
        """Count URLs by cell, and take it that their cells have some."""
        self.waiting.update(cells)
        of_pages = cells.keys() - _BEYOND
        if unproven:
            self.unproven.update(cells)
            self.apart.add(*of_pages)
        else:
            self.ready.add(*of_pages)
        self.occupied.add(*of_pages)

    def _subtract(self, cell: int, number: int, family: int) -> None:
        self.waiting[cell] -= number
        if family:
            self.unproven[cell] -= number
            if not self.unproven[cell]:
                del self.unproven[cell]
        if not self.waiting[cell]:
            self.occupied.remove(cell)

    def link(self, servers: Collection[int], by: int | None, born: Born) -> Mapping[int, int]:
        """Count the links of a page, of the site ``by``, to servers; new sites were ``born`` so.

        Returns the support of known sites that changed, if the strategy looks at it.
        """
        if not (self.families.is_on and servers):
            return {}
        site_of = self.sizes.site
        changed = self.families.meet({site_of(server) for server in servers}, by, born)
        for site, before in changed.items():
            if before == UNPROVEN and self.families.level[site] != UNPROVEN:
                self._prove(site)
        weighs = self.strategy.weighs_support
        return {site: self.families.support(site) for site in changed} if weighs else {}

    def _prove(self, site: int) -> None:
        """Let the URLs of a site be those of a proven one."""
        if not self.sizes.of_site(site) or not self.families.share_counts:
            return
        self.families.proved(site)
        rows = self._db.execute(
            "SELECT server, line, cell, seq, family FROM line WHERE site = ? AND family > 0",
            (site,),
        ).fetchall()
        self._db.execute("UPDATE line SET family = 0 WHERE site = ?", (site,))
        for line in map(Line._make, rows):
            (number,) = self._db.execute(_SIZE, line[:2]).fetchone()
            self.unproven[line.cell] -= number
            if not self.unproven[line.cell]:
                del self.unproven[line.cell]
            self.ready.add(line.cell)

    def reorder(self, cell: int | None = None) -> None:
        """Take notice of the new rank of a cell, or of a new order of all."""
        for cells in (self.ready, self.apart, self.occupied):
            if cell is None:
                cells.reorder()
            else:
                cells.changed(cell)

    def take(self, server: int, line: int, number: int = 1) -> None:
        """Take so many URLs out of a line, which no longer wait in it."""
        cell, family, before, seq = self._db.execute(_HEAD, (server, line)).fetchone()
        if seq is None:
            self._there.discard((server, line))
            self._db.execute("DELETE FROM line WHERE server = ? AND line = ?", (server, line))
        elif seq != before:
            self._db.execute(
                "UPDATE line SET seq = ? WHERE server = ? AND line = ?", (seq, server, line)
            )
        self.sizes.add(server, -number)
        self._subtract(cell, number, family)

    def lines_of(self, server: int) -> list[Line]:
        """Return the lines of a server, without counting their URLs."""
        rows = self._db.execute(
            "SELECT server, line, cell, seq, family FROM line WHERE server = ?", (server,)
        )
        return [Line(*row) for row in rows.fetchall()]

    def discard(self, lines: Sequence[Line], most: int, leased: Collection[int]) -> int:
        """Forget the newest URLs of lines of a server, so many at most; return how many.

        Never one that is leased.
        """
        newest: list[tuple[int, int]] = []
        for line in lines:  # one URL of a server may be leased
            newest += self._db.execute(_NEWEST, (line.server, line.line, most + 1))
        chosen = nlargest(most, (found for found in newest if found[0] not in leased))
        for table in ("url", "later", "again"):
            self._db.executemany(
                f"DELETE FROM {table} WHERE seq = ?", [(seq,) for seq, _ in chosen]
            )
        for name, number in Counter(line for _, line in chosen).items():
            self.take(lines[0].server, name, number)
        return len(chosen)

    def line_of(self, code: int, place: int) -> int:
        """Return the line, of its server's, that a URL of this code belongs to."""
        return self.strategy.kind_of[code] if self.by_server else self.strategy.cell(code, place)

    def cell_of(self, line: int, place: int) -> int:
        """Return the cell of a line whose server is in that place."""
        return self.strategy.cell_of[line][place] if self.by_server else line

    def move(self, server: int, unit: int, place: int) -> int:
        """Put the URLs of a unit, which came into this place, into the cells that they belong to.

        Returns how many were discarded.
        """
        if self.by_server:
            return sum(self._move_line(line, place) for line in self.lines_of(unit))
        groups = self._db.execute(_OF_DIRECTORY, (unit,)).fetchall()
        return sum(self._move_group(server, place, (unit, *group)) for group in groups)

    def _move_line(self, line: Line, place: int) -> int:
        cell = self.strategy.cell_of[line.line][place]
        if cell == line.cell:
            return 0
        (number,) = self._db.execute(_SIZE, line[:2]).fetchone()
        where = "WHERE server = ? AND line = ?"
        self._subtract(line.cell, number, line.family)
        if cell != DISCARD:
            self._db.execute(f"UPDATE line SET cell = ? {where}", (cell, *line[:2]))
            self._add({cell: number}, line.family > 0)
            return 0
        self._there.discard(line[:2])
        self._db.execute(f"DELETE FROM line {where}", line[:2])
        self._db.execute(f"DELETE FROM url {where} AND outcome IS NULL", line[:2])
        self.sizes.add(line.server, -number)
        return int(number)

    def _move_group(self, server: int, place: int, group: tuple[int, ...]) -> int:
        """Move a directory's URLs of one code and line; the server's others stay where they are."""
        unit, code, line, seq, number = group
        cell = self.strategy.cell(code, place)
        if cell == line:
            return 0
        where = "WHERE unit = ? AND code = ? AND line = ? AND outcome IS NULL"
        if cell == DISCARD:
            self._db.execute(f"DELETE FROM url {where}", (unit, code, line))
        else:
            self._db.execute(f"UPDATE url SET line = ? {where}", (cell, unit, code, line))
            self.put(Line(server, cell, cell, seq), number)
        self.take(server, line, number)
        return number if cell == DISCARD else 0

    def restrict(self, cells: Collection[int] | None) -> None:
        """Let ``first`` and ``first_apart`` find lines of these cells alone; None lifts that."""
        self._only = cells

    def first(self) -> Line | None:
        """Return the proven sites' line whose oldest URL is next: of the best cell, among free
        servers."""
        if self._only is not None:
            return next(filter(None, map(self._first_of, self._allowed(self.ready))), None)
        for cell in iter(self.ready.first, None):
            if (line := self._first_of(cell)) is not None:
                return line
            self.ready.remove(cell)
        return None

    def _allowed(self, cells: ReadyCells) -> list[int]:
        found, only = cells.best(), self._only
        return found if only is None else [cell for cell in found if cell in only]

    def first_apart(self, turn: int, may: Callable[[int], bool]) -> Line | None:
        """Return the line of a family that ``may`` have it: of the best cell, the family after the
        one whose ``turn`` was last, its oldest URL, among free servers.

        None if none of the first FAMILIES may.
        """
        looked = 0
        for cell in self._allowed(self.apart):
            found = False
            for line in self._families_of(cell, turn):
                found = True
                looked += 1
                if may(line.family):
                    return line
                if looked == FAMILIES:
                    return None
            if not found:
                self.apart.remove(cell)
        return None

    def _families_of(self, cell: int, turn: int) -> Iterator[Line]:
        """Yield the first line in a cell of each family with a free server, by turns."""
        for first, last in ((turn, sys.maxsize), (0, turn)):
            family = first
            while (line := self._first_of(cell, family)) is not None and line.family <= last:
                yield line
                family = line.family

    def is_busy(self, family: int) -> bool:
        """Tell whether a server of a family's unproven sites is busy."""
        return self._busy_families[family] > 0

    def others_wait(self) -> bool:
        """Tell whether URLs of proven sites wait, or are leased."""
        pages = self.waiting.total() - sum(self.waiting[cell] for cell in _BEYOND)
        return pages > self.unproven.total()

    def keep_busy(self, line: Line) -> None:
        """Let a server be busy, and the family that it was leased for."""
        self.busy[line.server] = line.family
        self._busy_families[line.family] += 1

    def first_among(self, servers: Sequence[str]) -> Line | None:
        """Return the best line of the first of these servers that is free and has one."""
        place = {name: number for number, name in enumerate(servers)}
        rows = self._db.execute(
            "SELECT name, line.server, line, cell, seq, family"
            " FROM server JOIN line ON line.server = id"
            " WHERE name IN (SELECT value FROM json_each(?)) AND cell < ?",
            (dumps(list(servers)), REQUISITES),
        )
        found = [(place[name], Line(*row)) for name, *row in rows if row[0] not in self.busy]
        if not found:
            return None
        return min(found, key=lambda pair: (pair[0], self.rank(pair[1].cell), pair[1].seq))[1]

    def first_requisite(self) -> Line | None:
        """Return the line whose oldest requisite is next, among free servers; guesses are last."""
        return self._first_of(REQUISITES) or self._first_of(GUESSES)

    def _first_of(self, cell: int, after: int | None = None) -> Line | None:
        """Return the first line in a cell; of the families after that number, if one is given."""
        query, where = (_FIRST, (cell,)) if after is None else (_NEXT_FAMILY, (cell, after))
        while (row := self._db.execute(query, where).fetchone()) is not None:
            line = Line(*row)
            if line.server not in self.busy:
                return line
            self._hide(line)
        return None

    def _hide(self, line: Line) -> None:
        begin(self._db)
        self._hidden.add(line.server)
        self._db.execute("UPDATE line SET hidden = 1 WHERE server = ? AND line = ?", line[:2])

    def free(self, server: int) -> None:
        """Let a server's lines be seen again."""
        family = self.busy.pop(server, 0)
        if family:
            self._busy_families[family] -= 1
            if not self._busy_families[family]:
                del self._busy_families[family]
        if server in self._frozen:
            self.busy[server] = 0
        elif server in self._hidden:
            self._show(server)

    def freeze(self, server: int) -> None:
        """Let a server be busy until it is thawed, whatever else makes it busy."""
        self._frozen.add(server)
        self.busy.setdefault(server, 0)

    def thaw(self, server: int) -> None:
        """Let a server be free again that was frozen, and isn't leased."""
        self._frozen.discard(server)
        self.free(server)

    def _show(self, server: int) -> None:
        begin(self._db)
        self._hidden.remove(server)
        shown = self._db.execute(
            "UPDATE line SET hidden = 0 WHERE server = ? AND hidden = 1 RETURNING cell, family",
            (server,),
        )
        for cell, of_line in shown.fetchall():
            if cell not in _BEYOND:
                (self.apart if of_line else self.ready).add(cell)


SLICE = 1000
"""Servers that are looked at in one reading. While one lasts, the file's log can't begin anew."""


def slices(db: sqlite3.Connection) -> Iterator[tuple[int, int]]:
    """Yield the first and last numbers of servers, to look at a few at a time."""
    ((last,),) = db.execute("SELECT coalesce(max(id), 0) FROM server").fetchall()
    for first in range(1, last + 1, SLICE):
        yield first, first + SLICE - 1


def waiting(db: sqlite3.Connection, unproven: bool = False) -> dict[int, int]:
    """Return the number of URLs that wait, or are leased, by cell; or those of unproven sites."""
    found: Counter[int] = Counter()
    for few in slices(db):
        for cell, number in db.execute(_WAITING, (*few, 0 if unproven else -1)).fetchall():
            found[cell] += number
    return dict(sorted(found.items()))


def longest(db: sqlite3.Connection, top: int) -> list[tuple[int, int]]:
    """Return the longest queues: how many URLs wait or are leased, and the number of the server."""
    best: list[tuple[int, int]] = []
    for few in slices(db):
        best += db.execute(_LONGEST, (*few, top)).fetchall()
        best = nsmallest(top, best, key=lambda queue: (-queue[0], queue[1]))
    return best


def begin(db: sqlite3.Connection) -> None:
    """Begin a transaction, unless one has begun."""
    if not db.in_transaction:
        db.execute("BEGIN IMMEDIATE")


class Families:
    """What is known of sites, all by number: 9 bytes each in memory.

    An unproven site is of the ``family`` of the proven site that introduced it, be it by others,
    and of the ``branch`` of the first unproven site on that way. ``sites`` counts by family the
    unproven sites that have pending URLs; there may be ``most`` of them, any number at 0. Nothing
    is counted unless the share of the unproven does (``share_counts``), or the strategy looks at
    support: then it ``is_on``.
    """

    def __init__(self, db: sqlite3.Connection, terms: Terms, weighs_support: bool) -> None:
        self._db = db
        self._most, self._small = terms.caps.sites, terms.small_family
        self.share_counts = terms.unproven_share < 1
        self.is_on = self.share_counts or weighs_support
        self._forget()

    def _forget(self) -> None:
        self.level = bytearray(1)
        self._family, self._branch = array("i", [0]), array("i", [0])
        self._supporters: dict[int, list[int]] = {}
        self.sites: Counter[int] = Counter()
        self._large = 0

    def load(self) -> None:
        """Take what the file holds."""
        self._forget()
        rows = self._db.execute("SELECT level, family, branch FROM site ORDER BY id")
        for site, (level, family, branch) in enumerate(rows, 1):
            self.level.append(level)
            self._family.append(family)
            self._branch.append(branch or site)

    def of(self, site: int) -> int:
        """Return the family of an unproven site; 0 of another, or if the share doesn't count."""
        is_unproven = site < len(self.level) and self.level[site] == UNPROVEN
        return self._family[site] if is_unproven and self.share_counts else 0

    def descent(self, site: int) -> tuple[int, int]:
        """Return the family and the branch of an unproven site, 0 if that is itself; else 0, 0."""
        if self.level[site] != UNPROVEN:
            return 0, 0
        branch = self._branch[site]
        return self._family[site], 0 if branch == site else branch

    def tell(self, site: int, born: Born) -> None:
        """Take notice of a site of which another worker told; all before it are known."""
        if not self.is_on:
            return
        level, family, branch, _ = born
        if site >= len(self.level):
            self._grow(site, born)
        self.level[site], self._family[site] = level, family
        self._branch[site] = branch or site
        self._supporters.pop(site, None)

    def support(self, site: int) -> int:
        """Return the support of a site that ``meet`` told of."""
        return support_of(self.level[site], len(self._supporters.get(site, ())))

    def is_small(self, family: int) -> bool:
        """Tell whether so few sites of a family wait that it is as proven."""
        return self.sites[family] <= self._small

    @property
    def some_are_small(self) -> bool:
        """Whether sites of a small family wait."""
        return len(self.sites) > self._large

    def charged(self, site: int) -> int:
        """Return the family that a request to a site is of: its own, or the one that it introduced.

        0 if that is small, or if SUPPORT others vouch for the site that introduced it.
        """
        family = self.of(site)
        if not family and self.level[site] == PROVEN:
            family = site
        return 0 if self.is_small(family) else family

    def _introduced_by(self, site: int) -> int:
        """Return the family of the sites that a site introduces."""
        return self.of(site) or site

    def _has_room(self, by: int) -> bool:
        """Tell whether sites that a site introduces may wait."""
        if not self._most:
            return True
        of_family = self.sites[self._introduced_by(by)]
        return self.sites.total() < self._most and of_family * OF_FAMILY < self._most

    def room(self, by: int | None) -> Born | None:
        """Return what is to be kept of sites that a page of the site ``by`` introduces.

        None if none may wait any more. ``by`` is None for seeds.
        """
        return None if by is not None and not self._has_room(by) else self._born(by)

    def begins(self, site: int) -> None:
        """Take notice that a site has pending URLs now."""
        if family := self.of(site):
            self.sites[family] += 1
            self._large += self.sites[family] == self._small + 1

    def ends(self, site: int) -> None:
        """Take notice that a site has none any more."""
        if family := self.of(site):
            self._leave(family)

    def proved(self, site: int) -> None:
        """Take notice that a site that has pending URLs was proven."""
        self._leave(self._family[site])

    def _leave(self, family: int) -> None:
        self.sites[family] -= 1
        self._large -= self.sites[family] == self._small
        if not self.sites[family]:
            del self.sites[family]

    def _born(self, by: int | None) -> Born:
        """Return what is to be kept of sites that are met on a page of the site ``by`` first.

        ``by`` is None for seeds.
        """
        if not self.is_on:
            return UNSAID
        if by is None:
            return SEED, 0, 0, ""
        if self.level[by] == UNPROVEN:
            return UNPROVEN, self._family[by], self._branch[by], ""
        return (PROVEN if self.level[by] == SEED else UNPROVEN), by, 0, str(by)

    def meet(self, sites: Collection[int], by: int | None, born: Born) -> dict[int, int]:
        """Count the links of a page, of the site ``by``, to others; None for seeds.

        Those that are new were ``born`` so. Returns the others that changed, with the level before.
        """
        level, known, last = self.level, len(self.level), max(sites)
        if last >= known:
            self._grow(last, born)
        if by is not None and level[by] == UNPROVEN:
            return {}
        # What a new site is born with says already that this one links to it.
        met = [site for site in sites if site < known and level[site] < KNOWN and site != by]
        if not met:
            return {}
        if by is not None:
            self._read(met)
        before = {site: level[site] for site in met}
        changed = [site for site in met if self._is_changed(site, by)]
        self._db.executemany(
            "UPDATE site SET level = ?, supporters = ? WHERE id = ?",
            [(level[site], " ".join(map(str, self._supporters.get(site, ()))), site)
             for site in changed],
        )  # fmt: skip
        return {site: before[site] for site in changed}

    def _grow(self, last: int, born: Born) -> None:
        level, family, branch, _ = born
        new = range(len(self.level), last + 1)
        self.level.extend(bytes([level]) * len(new))
        self._family.extend([family] * len(new))
        self._branch.extend([branch] * len(new) if branch else new)

    def _is_changed(self, site: int, by: int | None) -> bool:
        """Count a link of a proven site to another; tell whether that changed anything."""
        if by is None:
            self.level[site] = SEED
            return True
        supporters = self._supporters[site]
        if by in supporters:
            return False
        supporters.append(by)
        self.level[site] = level_with(self.level[site], len(supporters), self.level[by])
        return True

    def _read(self, sites: Iterable[int]) -> None:
        """Have the supporters of sites in memory."""
        if len(self._supporters) > SUPPORTED:
            self._supporters.clear()
        missing = [site for site in sites if site not in self._supporters]
        if missing:
            rows = self._db.execute(
                "SELECT id, supporters FROM site WHERE id IN (SELECT value FROM json_each(?))",
                (dumps(missing),),
            )
            self._supporters |= {site: [*map(int, text.split())] for site, text in rows}


class Sizes:
    """The number of URLs that wait or are leased, by the numbers of servers and sites.

    ``peak`` is the most that a site, and so a server, has had.
    """

    def __init__(self, db: sqlite3.Connection, families: Families) -> None:
        self._db = db
        self._families = families
        self._forget()

    def _forget(self) -> None:
        self.peak = 0
        # All by number: a dict would take ten times the memory for a million servers.
        self._site_of, self._servers, self._sites = array("q", [0]), array("q", [0]), array("q")

    def load(self) -> None:
        """Count what the file holds."""
        self._forget()
        rows = self._db.execute(
            "SELECT server, count(*) FROM url WHERE outcome IS NULL GROUP BY server"
        )
        for server, number in rows:
            self.add(server, number)

    def add(self, server: int, number: int) -> None:
        """Count so many URLs more of a server."""
        if server >= len(self._site_of):
            self._meet()
        site = self._site_of[server]
        before = self._sites[site]
        size = before + number
        self._sites[site] = size
        if number and not before:
            self._families.begins(site)
        elif before and not size:
            self._families.ends(site)
        self._servers[server] += number
        if size > self.peak:
            self.peak = size

    def site(self, server: int) -> int:
        """Return the number of a server's site."""
        if server >= len(self._site_of):
            self._meet()
        return self._site_of[server]

    def _meet(self) -> None:
        """Take notice of the servers that were added since."""
        rows = self._db.execute(
            "SELECT site FROM server WHERE id >= ? ORDER BY id", (len(self._site_of),)
        )
        sites = [site for (site,) in rows]
        self._site_of.extend(sites)
        self._servers.extend([0] * len(sites))
        self._sites.extend([0] * (1 + max(sites) - len(self._sites)))

    def of_server(self, server: int) -> int:
        """Return how many there are of a server."""
        return self._servers[server] if server < len(self._servers) else 0

    def of_site(self, site: int) -> int:
        """Return how many there are of a site."""
        return self._sites[site]


_CELLS = (
    "WITH RECURSIVE held (cell) AS (SELECT min(cell) FROM line WHERE site = ?1 UNION ALL"
    " SELECT (SELECT min(cell) FROM line WHERE site = ?1 AND cell > held.cell) FROM held"
    " WHERE held.cell IS NOT NULL) SELECT cell FROM held WHERE cell IS NOT NULL"
)
_SERVERS = (
    "SELECT DISTINCT server FROM line WHERE site = ? AND cell = ? ORDER BY server DESC LIMIT ?"
)


class _Scope(NamedTuple):
    """Servers, or sites: what a cap is for. All by their numbers in the file.

    ``most`` is how many URLs one may have, and ``least`` how many any may; ``of`` tells a
    server's, ``size`` how many URLs one has; ``worst`` yields the lines of each server in a cell,
    the worst first, of so many servers of a cell at most.
    """

    most: Callable[[int], float]
    least: float
    reason: Outcome
    of: Callable[[int], int]
    size: Callable[[int], int]
    worst: Callable[[int, int], Iterator[list[Line]]]


class Room:
    """Discards the worst URLs of a server or site that has more than ``caps``.

    What is ``leased``, by number, stays.
    """

    def __init__(
        self, db: sqlite3.Connection, lines: Lines, caps: Caps, leased: Collection[int]
    ) -> None:
        self._db = db
        self._lines = lines
        self.leased = leased
        sizes, family_of = lines.sizes, lines.families.of
        of_server, of_site = caps.server or inf, caps.domain or inf
        of_unproven = min(of_site, URLS) if caps.sites else of_site

        def most_of_site(site: int) -> float:
            return of_unproven if family_of(site) else of_site

        self._scopes = (
            _Scope(
                lambda _: of_server, of_server, FULL["server"],
                int, sizes.of_server, self._of_server,
            ),
            _Scope(
                most_of_site, of_unproven, FULL["site"],
                sizes.site, sizes.of_site, self._of_site,
            ),
        )  # fmt: skip
        self._most = caps.server

    def may_lack(self, servers: Iterable[int], number: int) -> bool:
        """Tell whether one of these servers may have too many with so many URLs more."""
        size, room = self._lines.sizes.of_server, self._most - number
        return self._most > 0 and any(size(server) > room for server in servers)

    def hopeless(self, server: int, new: Sequence[tuple[int, int]]) -> list[int]:
        """Return which of a server's new URLs would be discarded at once: they are in vain.

        ``new`` are their cells and numbers. Nothing that waits is worse than these, but more of
        them than are too many.
        """
        excess = self._lines.sizes.of_server(server) + len(new) - self._most
        if not self._most or excess <= 0:
            return []
        rank = self._lines.rank
        waiting = max((rank(line.cell) for line in self._lines.lines_of(server)), default=None)
        worst = nlargest(excess, ((rank(cell), seq) for cell, seq in new))
        return [seq for of_cell, seq in worst if waiting is None or of_cell >= waiting]

    def make(self, servers: Collection[int]) -> Counter[tuple[int, str]]:
        """Discard what is too much of servers and of their sites.

        Returns how many were discarded, by server and reason.
        """
        gone: Counter[tuple[int, str]] = Counter()
        for scope in self._scopes:
            if self._lines.sizes.peak > scope.least:
                for where in {scope.of(server) for server in servers}:
                    gone.update(self._discarded(scope, where))
        if gone:
            keep_left_out(self._db, gone)
        return gone

    def _discarded(self, scope: _Scope, where: int) -> Counter[tuple[int, str]]:
        gone: Counter[tuple[int, str]] = Counter()
        bound = scope.most(where)
        if scope.size(where) <= bound:
            return gone
        excess = scope.size(where) - int(bound)
        for lines in scope.worst(where, excess + len(self.leased)):
            number = self._lines.discard(lines, excess, self.leased)
            gone[lines[0].server, scope.reason] += number
            excess -= number
            if not excess:
                break
        return gone

    def _of_server(self, server: int, _: int) -> Iterator[list[Line]]:
        lines: defaultdict[int, list[Line]] = defaultdict(list)
        for line in self._lines.lines_of(server):
            lines[line.cell].append(line)
        for cell in sorted(lines, key=self._lines.rank, reverse=True):
            yield lines[cell]

    def _of_site(self, site: int, most: int) -> Iterator[list[Line]]:
        cells = [cell for (cell,) in self._db.execute(_CELLS, (site,)).fetchall()]
        for cell in sorted(cells, key=self._lines.rank, reverse=True):
            for (server,) in self._db.execute(_SERVERS, (site, cell, most)).fetchall():
                yield [line for line in self._lines.lines_of(server) if line.cell == cell]


def keep_left_out(db: sqlite3.Connection, gone: Mapping[tuple[int, str], int]) -> None:
    """Note how many URLs of servers were discarded, or ended by a quota, by reason.

    Less than 0 are those that come back.
    """
    db.executemany(
        "INSERT INTO left_out VALUES (?, ?, ?)"
        " ON CONFLICT DO UPDATE SET number = number + excluded.number",
        [(server, reason, number) for (server, reason), number in gone.items() if number],
    )
    db.executemany("DELETE FROM left_out WHERE server = ? AND reason = ? AND number <= 0", gone)
