"""Lines of a SQLite file in order: by cell, those that may be leased; and by site."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

from lswc.strategy import REQUISITES
from lswc.strategy.families import UNPROVEN

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Sequence

    from lswc.frontier.sqlite_families import Families, Sizes

# In memory, as a page moves some 25 lines into other cells, each to a page of the file that no
# other is on: in the file they were half of all that a page wrote. `family` is that of an unproven
# site; else, and of requisites, 0. A line of a busy server is left out (hidden) once it is in the
# way, or changes: so a lease costs the same however many servers are busy, and a busy server costs
# nothing as long as nobody looks.
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
_FAMILY = f"CASE WHEN cell >= {REQUISITES} OR level <> {UNPROVEN} THEN 0 ELSE family END"
_FILL = "INSERT INTO ready SELECT cell, {}, seq, line.server, line FROM line{} ORDER BY 1, 2, 3"
_SITES = " JOIN server ON server.id = line.server JOIN site ON site.id = server.site"
_FILL_SITES = (
    "INSERT INTO of_site SELECT site, cell, line.server, line"
    " FROM line JOIN server ON server.id = line.server"
)
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
    "WITH RECURSIVE held (cell) AS (SELECT min(cell) FROM of_site WHERE site = ?1 UNION ALL"
    " SELECT (SELECT min(cell) FROM of_site WHERE site = ?1 AND cell > held.cell) FROM held"
    " WHERE held.cell IS NOT NULL) SELECT cell FROM held WHERE cell IS NOT NULL"
)
_SERVERS = (
    "SELECT DISTINCT server FROM of_site WHERE site = ? AND cell = ? ORDER BY server DESC LIMIT ?"
)


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
    """The lines of servers that aren't busy, by cell and family; and all lines, by site.

    ``busy`` are the servers that nothing may be handed out of now, with the families that they
    keep busy.
    """

    def __init__(self, db: sqlite3.Connection, families: Families, sizes: Sizes) -> None:
        self._db = db
        self._families, self._sizes = families, sizes
        self.busy: dict[int, int] = {}
        self._busy_families: Counter[int] = Counter()
        self._hidden: defaultdict[int, set[int]] = defaultdict(set)

    def load(self) -> None:
        """Take what the file holds."""
        self._db.executescript(_SCHEMA)
        self._hidden.clear()
        counts = self._families.share_counts
        self._db.execute(_FILL.format(_FAMILY, _SITES) if counts else _FILL.format(0, ""))
        self._db.execute(_FILL_SITES)

    def family(self, server: int, cell: int) -> int:
        """Return the family that a line of a server in a cell is of; 0 if its site is proven."""
        return self._families.of(self._sizes.site(server)) if cell < REQUISITES else 0

    def add(self, lines: Sequence[Line]) -> None:
        """Add lines, with their families."""
        site = self._sizes.site
        self._db.executemany(
            _JOIN, [(site(line.server), line.cell, line.server, line.line) for line in lines]
        )
        self._show(lines)

    def remove(self, lines: Sequence[Line]) -> None:
        """Take lines out."""
        site = self._sizes.site
        self._db.executemany(
            _LEAVE, [(site(line.server), line.cell, line.server, line.line) for line in lines]
        )
        self._hide(lines)

    def replace(self, before: Line, after: Line) -> None:
        """Take notice of another oldest URL of a line, or of another family."""
        self._hide((before,))
        self._show((after,))

    def _show(self, lines: Iterable[Line]) -> None:
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

    def free(self, server: int) -> list[Line]:
        """Let a server be busy no more; return its lines that weren't seen meanwhile."""
        family = self.busy.pop(server, 0)
        if family:
            self._busy_families[family] -= 1
            if not self._busy_families[family]:
                del self._busy_families[family]
        hidden = self._hidden.pop(server, None)
        if not hidden:
            return []
        rows = self._db.execute("SELECT line, cell, seq FROM line WHERE server = ?", (server,))
        lines = [
            Line(server, line, cell, seq, self.family(server, cell))
            for line, cell, seq in rows.fetchall()
            if line in hidden
        ]
        self._show(lines)
        return lines

    def cells_of_site(self, site: int) -> list[int]:
        """Return the cells that a site has lines in."""
        return [cell for (cell,) in self._db.execute(_CELLS, (site,)).fetchall()]

    def servers_of_site(self, site: int, cell: int, most: int) -> Iterator[int]:
        """Yield the servers of a site with lines in a cell, so many at most, the last first."""
        for (server,) in self._db.execute(_SERVERS, (site, cell, most)).fetchall():
            yield server

    def lines_of_site(self, site: int) -> list[tuple[int, int]]:
        """Return the lines of a site, by server and line."""
        rows = self._db.execute("SELECT server, line FROM of_site WHERE site = ?", (site,))
        return rows.fetchall()
