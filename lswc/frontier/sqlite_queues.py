"""The queues of servers in a SQLite file: which waits in which cell, and which is next."""

from __future__ import annotations

from collections import Counter
from heapq import nlargest, nsmallest
from json import dumps
from typing import TYPE_CHECKING, NamedTuple

from lswc.frontier.ready_cells import ReadyCells
from lswc.frontier.sqlite_sizes import Sizes
from lswc.strategy import REQUISITES

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from lswc.strategy import Rank

# A line is a server's URLs of one kind; if the strategy counts by directory, of one cell, as a
# directory's place says nothing of the server's other URLs. `seq` is that of its oldest URL. A
# line is hidden while its server is busy, if it was in the way: so a lease costs the same
# however many servers are busy, and a busy server costs nothing as long as nobody looks.
SCHEMA = """
CREATE TABLE line (
    server INTEGER, line INTEGER, cell INTEGER NOT NULL, seq INTEGER NOT NULL,
    site INTEGER NOT NULL, hidden INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (server, line)) WITHOUT ROWID;
CREATE INDEX first_in_cell ON line (cell, seq) WHERE hidden = 0;
CREATE INDEX line_of_site ON line (site, cell);
CREATE INDEX waiting_url ON url (server, line, seq) WHERE outcome IS NULL;
"""

_PUT = (
    "INSERT INTO line (server, line, cell, seq, site)"
    " VALUES (?1, ?2, ?3, ?4, (SELECT site FROM server WHERE id = ?1)) ON CONFLICT DO "
)
_LINES = (
    "SELECT server, line, cell, seq, (SELECT count(*) FROM url"
    "  WHERE url.server = line.server AND url.line = line.line AND outcome IS NULL)"
    " FROM line WHERE server = ?"
)
PUT_OLDEST = _PUT + "UPDATE SET seq = min(seq, excluded.seq)"
"""Puts a URL into a line: its server, line, cell and number."""

_NEWEST = (
    "SELECT seq, line FROM url WHERE server = ? AND line = ? AND outcome IS NULL"
    " ORDER BY seq DESC LIMIT ?"
)
_FIRST = (
    "SELECT server, line, cell, seq FROM line INDEXED BY first_in_cell"
    " WHERE hidden = 0 AND cell = ? ORDER BY seq LIMIT 1"
)
_HEAD = (
    "SELECT cell, (SELECT seq FROM url WHERE server = ?1 AND line = ?2 AND outcome IS NULL"
    " ORDER BY seq LIMIT 1) FROM line WHERE server = ?1 AND line = ?2"
)


_WAITING = (
    "SELECT cell, sum(number) FROM line JOIN"
    " (SELECT server, line, count(*) AS number FROM url"
    "  WHERE outcome IS NULL AND server BETWEEN ? AND ? GROUP BY server, line)"
    " USING (server, line) GROUP BY cell"
)
_LONGEST = (
    "SELECT count(*) AS number, server FROM url WHERE outcome IS NULL AND server BETWEEN ? AND ?"
    " GROUP BY server ORDER BY number DESC, server LIMIT ?"
)


KEPT = 10_000
"""Lines that are known without a look into the file to be there, at most."""


class Line(NamedTuple):
    """A server's URLs of one kind, that wait in one cell; ``seq`` is that of the oldest."""

    server: int
    line: int
    cell: int
    seq: int


class Queues:
    """The lines of all servers. ``waiting`` counts their URLs by cell, the leased ones too;
    ``sizes`` by server and site.

    ``busy`` are the servers that nothing may be handed out of now. ``ready`` are the cells that
    may have a URL of a free server, ``occupied`` those that have a URL at all; never REQUISITES.
    """

    waiting: Counter[int]
    ready: ReadyCells
    occupied: ReadyCells

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self.sizes = Sizes(db)
        self._hidden: set[int] = set()
        self._there: set[tuple[int, int]] = set()
        self.busy: set[int] = set()

    def load(self, rank: Callable[[int], Rank]) -> None:
        """Take what the file holds. ``rank`` gives a cell's rank as it is now."""
        self._hidden.clear()
        self._there.clear()
        self.waiting = Counter(waiting(self._db))
        self.sizes.load()
        cells = self.waiting.keys() - {REQUISITES}
        self.ready = ReadyCells(rank, cells)
        self.occupied = ReadyCells(rank, cells)
        begin(self._db)
        self._db.execute("UPDATE line SET hidden = 0 WHERE hidden <> 0")
        self._db.execute("COMMIT")

    def put_new(self, lines: Mapping[tuple[int, int], Sequence[int]]) -> None:
        """Add URLs to lines, which are named by server and line.

        Of each its cell, the oldest of the URLs, and how many: they are newer than all others.
        """
        missing = lines.keys() - self._there
        if missing:
            # Sorted: neighbours in the file are written together.
            rows = sorted((*where, *lines[where][:2]) for where in missing)
            self._db.executemany(_PUT + "NOTHING", rows)
            if len(self._there) + len(missing) > KEPT:
                self._there.clear()
            self._there |= missing
        cells: dict[int, int] = {}
        for (server, _), (cell, _, number) in lines.items():
            self.sizes.add(server, number)
            cells[cell] = cells.get(cell, 0) + number
        for cell, number in cells.items():
            self._add(cell, number)

    def put(self, line: Line, number: int = 1) -> None:
        """Add so many URLs to a line, of which ``line.seq`` is the oldest."""
        self._db.execute(PUT_OLDEST, line)
        self.sizes.add(line.server, number)
        self._add(line.cell, number)

    def _add(self, cell: int, number: int) -> None:
        self.waiting[cell] += number
        if cell != REQUISITES:
            self.ready.add(cell)
            self.occupied.add(cell)

    def _subtract(self, cell: int, number: int) -> None:
        self.waiting[cell] -= number
        if not self.waiting[cell]:
            self.occupied.remove(cell)

    def reorder(self, cell: int | None = None) -> None:
        """Take notice of the new rank of a cell, or of a new order of all."""
        for cells in (self.ready, self.occupied):
            if cell is None:
                cells.reorder()
            else:
                cells.changed(cell)

    def take(self, server: int, line: int, number: int = 1) -> None:
        """Take so many URLs out of a line, which no longer wait in it."""
        cell, seq = self._db.execute(_HEAD, (server, line)).fetchone()
        if seq is None:
            self._there.discard((server, line))
            self._db.execute("DELETE FROM line WHERE server = ? AND line = ?", (server, line))
        else:
            self._db.execute(
                "UPDATE line SET seq = ? WHERE server = ? AND line = ?", (seq, server, line)
            )
        self.sizes.add(server, -number)
        self._subtract(cell, number)

    def lines(self, server: int) -> list[tuple[Line, int]]:
        """Return the lines of a server, each with the number of its URLs."""
        rows = self._db.execute(_LINES, (server,))
        return [(Line(*row), number) for *row, number in rows.fetchall()]

    def lines_of(self, server: int) -> list[Line]:
        """Return the lines of a server, without counting their URLs."""
        rows = self._db.execute(
            "SELECT server, line, cell, seq FROM line WHERE server = ?", (server,)
        )
        return [Line(*row) for row in rows.fetchall()]

    def let_go(self, lines: Sequence[Line], most: int, leased: Collection[int]) -> int:
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

    def move(self, line: Line, number: int, cell: int) -> None:
        """Put a whole line, of so many URLs, into another cell."""
        self._db.execute(
            "UPDATE line SET cell = ? WHERE server = ? AND line = ?", (cell, *line[:2])
        )
        self._subtract(line.cell, number)
        self._add(cell, number)

    def drop(self, line: Line, number: int) -> None:
        """Forget a line and its so many URLs."""
        where = "WHERE server = ? AND line = ?"
        self._there.discard(line[:2])
        self._db.execute(f"DELETE FROM line {where}", line[:2])
        self._db.execute(f"DELETE FROM url {where} AND outcome IS NULL", line[:2])
        self.sizes.add(line.server, -number)
        self._subtract(line.cell, number)

    def first(self) -> Line | None:
        """Return the line whose oldest URL is next: of the best cell, among free servers."""
        for cell in iter(self.ready.first, None):
            if (line := self._first_of(cell)) is not None:
                return line
            self.ready.remove(cell)
        return None

    def first_among(self, servers: Sequence[str], rank: Callable[[int], Rank]) -> Line | None:
        """Return the best line of the first of these servers that is free and has one."""
        place = {name: number for number, name in enumerate(servers)}
        rows = self._db.execute(
            "SELECT name, line.server, line, cell, seq FROM server JOIN line ON line.server = id"
            " WHERE name IN (SELECT value FROM json_each(?)) AND cell <> ?",
            (dumps(list(servers)), REQUISITES),
        )
        found = [(place[name], Line(*row)) for name, *row in rows if row[0] not in self.busy]
        if not found:
            return None
        return min(found, key=lambda pair: (pair[0], rank(pair[1].cell), pair[1].seq))[1]

    def first_requisite(self) -> Line | None:
        """Return the line whose oldest requisite is next, among free servers."""
        return self._first_of(REQUISITES) if self.waiting[REQUISITES] else None

    def _first_of(self, cell: int) -> Line | None:
        while (row := self._db.execute(_FIRST, (cell,)).fetchone()) is not None:
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
        self.busy.discard(server)
        if server not in self._hidden:
            return
        begin(self._db)
        self._hidden.remove(server)
        shown = self._db.execute(
            "UPDATE line SET hidden = 0 WHERE server = ? AND hidden = 1 RETURNING cell", (server,)
        )
        for (cell,) in shown.fetchall():
            if cell != REQUISITES:
                self.ready.add(cell)


SLICE = 1000
"""Servers that are looked at in one reading. While one lasts, the file's log can't begin anew."""


def slices(db: sqlite3.Connection) -> Iterator[tuple[int, int]]:
    """Yield the first and last numbers of servers, to look at a few at a time."""
    ((last,),) = db.execute("SELECT coalesce(max(id), 0) FROM server").fetchall()
    for first in range(1, last + 1, SLICE):
        yield first, first + SLICE - 1


def waiting(db: sqlite3.Connection) -> dict[int, int]:
    """Return the number of URLs that wait, or are leased, by cell."""
    found: Counter[int] = Counter()
    for few in slices(db):
        for cell, number in db.execute(_WAITING, few).fetchall():
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
