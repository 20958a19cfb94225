"""Lines of a SQLite file in order: by cell, those that may be leased; and by site."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterable, Sequence

    from lswc.frontier.store.sites import Sizes
    from lswc.strategy import Rank

# In memory, as a page moves some 25 lines into other cells, each to a page of the file that no
# other is on: in the file they were half of all that a page wrote. `family` is that of an unproven
# site; else, and of requisites, 0. A line of a busy server is left out (hidden) once it is in the
# way, or changes: so a lease costs the same however many servers are busy, and a busy server costs
# nothing as long as nobody looks. `of_site` has the lines of sites that had too many URLs.
_SCHEMA = """
PRAGMA temp_store = MEMORY;
DROP TABLE IF EXISTS temp.ready;
DROP TABLE IF EXISTS temp.of_site;
CREATE TEMP TABLE ready (
    cell INTEGER, family INTEGER, seq INTEGER, server INTEGER NOT NULL, line INTEGER NOT NULL,
    PRIMARY KEY (cell, family, seq)) WITHOUT ROWID;
CREATE TEMP TABLE of_site (
    site INTEGER, cell INTEGER, server INTEGER, line INTEGER,
    PRIMARY KEY (site, cell, server, line)) WITHOUT ROWID;
"""
_FIRST = (
    "SELECT server, line, cell, seq, family FROM ready"
    " WHERE cell = ? AND family = 0 ORDER BY seq LIMIT 1"
)
_NEXT_FAMILY = (
    "SELECT server, line, cell, seq, family FROM ready"
    " WHERE cell = ? AND family > ? ORDER BY family, seq LIMIT 1"
)
_SHOW = "INSERT INTO ready VALUES (?, ?, ?, ?, ?)"
_HIDE = "DELETE FROM ready WHERE cell = ? AND family = ? AND seq = ?"
_JOIN = "INSERT INTO of_site VALUES (?, ?, ?, ?)"
_LEAVE = "DELETE FROM of_site WHERE site = ? AND cell = ? AND server = ? AND line = ?"
_CELLS = (
    "WITH RECURSIVE own (cell) AS (SELECT min(cell) FROM of_site WHERE site = ?1 UNION ALL"
    " SELECT (SELECT min(cell) FROM of_site WHERE site = ?1 AND cell > own.cell) FROM own"
    " WHERE own.cell IS NOT NULL) SELECT cell FROM own WHERE cell IS NOT NULL"
)
_SERVERS = (
    "SELECT DISTINCT server FROM of_site WHERE site = ? AND cell = ? ORDER BY server DESC LIMIT ?"
)

SITES = 1_000
"""Sites whose lines are found by cell, at most: those that had too many URLs lately."""

Row = tuple[int, int, int, int, int]
"""Cell, family, oldest URL, server and line."""


class Line(NamedTuple):
    """A server's URLs of one kind, that wait in one cell; ``seq`` is that of the oldest.

    ``family`` is that of an unproven site, else 0. ``number`` is how many URLs they are, where
    that counts.
    """

    server: int
    line: int
    cell: int
    seq: int
    family: int = 0
    number: int = 0


class Ready:
    """The lines of servers that aren't busy, by cell and family; and those of some sites.

    ``busy`` are the servers that nothing may be handed out of now, with the families that they
    keep busy.
    """

    def __init__(self, db: sqlite3.Connection, sizes: Sizes) -> None:
        self._db, self._sizes = db, sizes
        self._sites: set[int] = set()
        self.busy: dict[int, int] = {}
        self._busy_families: Counter[int] = Counter()
        self._hidden: defaultdict[int, set[int]] = defaultdict(set)

    def load(self, rows: list[Row]) -> None:
        """Take all lines."""
        self._db.executescript(_SCHEMA)
        self._sites.clear()
        self._hidden.clear()
        rows.sort()  # so that each is added at the end
        self._db.execute("BEGIN")  # else each would be a transaction
        self._db.executemany(_SHOW, rows)
        self._db.execute("COMMIT")

    def add(self, lines: Sequence[Line]) -> None:
        """Add lines, with their families."""
        self._change_sites(_JOIN, lines)
        self.show(lines)

    def remove(self, lines: Sequence[Line]) -> None:
        """Take lines out."""
        self._change_sites(_LEAVE, lines)
        self._hide(lines)

    def _change_sites(self, change: str, lines: Sequence[Line]) -> None:
        if self._sites:
            site_of = self._sizes.site
            rows = [(site_of(line.server), line.cell, line.server, line.line) for line in lines]
            self._db.executemany(change, [row for row in rows if row[0] in self._sites])

    def replace(self, before: Line, after: Line) -> None:
        """Take notice of another oldest URL of a line, or of another family."""
        self._hide((before,))
        self.show((after,))

    def show(self, lines: Iterable[Line]) -> None:
        """Let lines be found, but for those of servers that are busy."""
        shown = []
        for server, line, cell, seq, family, _ in lines:
            if server in self.busy:
                self._hidden[server].add(line)
            else:
                shown.append((cell, family, seq, server, line))
        if shown:
            self._db.executemany(_SHOW, shown)

    def _hide(self, lines: Iterable[Line]) -> None:
        hidden, shown = self._hidden, []
        for server, line, cell, seq, family, _ in lines:
            if server in hidden and line in hidden[server]:
                hidden[server].remove(line)
            else:
                shown.append((cell, family, seq))
        if shown:
            self._db.executemany(_HIDE, shown)

    def first(self, cell: int, after: int | None = None) -> Line | None:
        """Return the first line in a cell; of the families after that number, if one is given."""
        query, where = (_FIRST, (cell,)) if after is None else (_NEXT_FAMILY, (cell, after))
        while (row := self._db.execute(query, where).fetchone()) is not None:
            line = Line(*row)
            if line.server not in self.busy:
                return line
            self._db.execute(_HIDE, (line.cell, line.family, line.seq))
            self._hidden[line.server].add(line.line)
        return None

    def keep_busy(self, line: Line) -> None:
        """Let a server be busy, and the family that it was leased for."""
        self.busy[line.server] = line.family
        if line.family:
            self._busy_families[line.family] += 1

    def is_busy(self, family: int) -> bool:
        """Tell whether a server of a family's unproven sites is busy."""
        return self._busy_families[family] > 0

    def freeze(self, server: int, hidden: Collection[int] = ()) -> None:
        """Let a server be busy, with these of its lines that aren't found."""
        self.busy.setdefault(server, 0)
        if hidden:
            self._hidden[server].update(hidden)

    def free(self, server: int) -> Collection[int]:
        """Let a server be busy no more; return its lines that aren't found, as it was."""
        family = self.busy.pop(server, 0)
        if family:
            self._busy_families[family] -= 1
            if not self._busy_families[family]:
                del self._busy_families[family]
        return self._hidden.pop(server, ())

    def knows(self, site: int) -> bool:
        """Tell whether the lines of a site are found by cell."""
        return site in self._sites

    def know(self, site: int, lines: Sequence[Line]) -> None:
        """Let the lines of a site be found by cell: these are all."""
        if len(self._sites) >= SITES:
            self._sites.clear()
            self._db.execute("DELETE FROM of_site")
        self._sites.add(site)
        self._change_sites(_JOIN, lines)

    def cells_of_site(self, site: int) -> list[int]:
        """Return the cells that a site has lines in, if it is known."""
        return [cell for (cell,) in self._db.execute(_CELLS, (site,)).fetchall()]

    def servers_of_site(self, site: int, cell: int, most: int) -> list[int]:
        """Return the servers of a site with lines in a cell, so many at most, the last first."""
        rows = self._db.execute(_SERVERS, (site, cell, most))
        return [server for (server,) in rows.fetchall()]


class ReadyCells:
    """A set of cells, kept in order though the order changes.

    ``rank`` gives a cell's rank as it is now: the smaller comes first. A rank that changed must
    be told.
    """

    def __init__(self, rank: Callable[[int], Rank], cells: Iterable[int] = ()) -> None:
        self._rank = rank
        self._sort(cells)

    def _sort(self, cells: Iterable[int]) -> None:
        self._rank_of = {cell: self._rank(cell) for cell in cells}
        self._ranks = sorted(self._rank_of.values())

    def __contains__(self, cell: int) -> bool:
        return cell in self._rank_of

    def first(self) -> int | None:
        """Return the best cell, None if there is none."""
        return self._ranks[0][1] if self._ranks else None

    def best(self, number: int | None = None) -> list[int]:
        """Return so many cells, or all, the best first."""
        return [cell for _, cell in self._ranks[:number]]

    def since(self, rank: Rank, number: int) -> list[Rank]:
        """Return the ranks of so many cells, from this one on."""
        first = bisect_left(self._ranks, rank)
        return self._ranks[first : first + number]

    def add(self, *cells: int) -> None:
        """Add cells, but for those that are there."""
        for cell in cells:
            if cell not in self._rank_of:
                self._rank_of[cell] = rank = self._rank(cell)
                insort(self._ranks, rank)

    def remove(self, cell: int) -> None:
        """Take a cell out, if it is there."""
        rank = self._rank_of.pop(cell, None)
        if rank is not None:
            del self._ranks[bisect_left(self._ranks, rank)]

    def changed(self, cell: int) -> None:
        """Take notice of one cell's new rank."""
        if cell in self._rank_of:
            self.remove(cell)
            self.add(cell)

    def reorder(self) -> None:
        """Take notice of a new order of all cells."""
        self._sort(list(self._rank_of))
