"""Pending URLs of a SQLite file by server and cell: which is next, and how many there are."""

from __future__ import annotations

from collections import Counter
from heapq import nsmallest
from typing import TYPE_CHECKING

from lswc.frontier.store.index import Line, Ready, ReadyCells, Row
from lswc.frontier.store.sites import Sizes
from lswc.strategy import DISCARD, GUESSES, REQUISITES, Unit
from lswc.strategy.facts import NO_PAGES
from lswc.strategy.families import UNPROVEN

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from lswc.frontier.store.servers import Born
    from lswc.frontier.store.sites import Families
    from lswc.strategy import Rank, Strategy

# A line is a server's URLs of one kind; if the strategy counts by directory, of one cell, as a
# directory's place says nothing of the server's other URLs. `seq` is that of its oldest URL,
# `number` how many wait or are leased. Its cell is that of the server's place, which isn't kept
# here: a page may move the lines of hundreds of servers.
# `left_out`: how many of a server's URLs were discarded, or ended by a quota, by reason.
SCHEMA = """
CREATE TABLE line (
    server INTEGER, line INTEGER, seq INTEGER NOT NULL, number INTEGER NOT NULL,
    PRIMARY KEY (server, line)) WITHOUT ROWID;
CREATE INDEX waiting_url ON url (server, line, seq) WHERE outcome IS NULL;
CREATE TABLE left_out (
    server INTEGER, reason TEXT, number INTEGER NOT NULL, PRIMARY KEY (server, reason)
    ) WITHOUT ROWID;
"""

PUT_OLDEST = (
    "INSERT INTO line VALUES (?, ?, ?, 1)"
    " ON CONFLICT DO UPDATE SET seq = min(seq, excluded.seq), number = number + 1"
)
"""Puts a URL into a line of the file: its server, line and number."""

_PUT_NEW = (
    "INSERT INTO line VALUES (?, ?, ?, ?)"
    " ON CONFLICT DO UPDATE SET number = number + excluded.number RETURNING seq"
)
_MORE = "UPDATE line SET number = number + ? WHERE server = ? AND line = ?"
_SET = "UPDATE line SET seq = ?, number = ? WHERE server = ? AND line = ?"
_GET = "SELECT seq, number FROM line WHERE server = ? AND line = ?"
_DELETE = "DELETE FROM line WHERE server = ? AND line = ?"
_OLDEST = (
    "SELECT seq FROM url WHERE server = ? AND line = ? AND outcome IS NULL ORDER BY seq LIMIT 1"
)
_OF_DIRECTORY = (
    "SELECT code, line, min(seq), count(*) FROM url WHERE unit = ? AND outcome IS NULL"
    " GROUP BY code, line"
)
_PLACES = (
    "SELECT line, coalesce(server.place, site.place), sum(number) FROM line"
    " JOIN server ON server.id = server JOIN site ON site.id = site"
    " WHERE server BETWEEN ? AND ? GROUP BY 1, 2"
)
_LONGEST = (
    "SELECT sum(number), server FROM line WHERE server BETWEEN ? AND ?"
    " GROUP BY server ORDER BY 1 DESC, server LIMIT ?"
)

KEPT = 10_000
"""Lines that are known without a look into the file to be there, at most."""

BEYOND = (REQUISITES, GUESSES)
"""Cells of what isn't a page: they are in no order with others."""


def cell_of(strategy: Strategy, line: int, place: int) -> int:
    """Return the cell of a line whose server is in that place.

    What the strategy would discard by now was reopened: it was taken once, in its first place.
    """
    if strategy.unit is Unit.DIRECTORY:
        return line
    cell = strategy.cell_of[line][place]
    if cell == DISCARD:
        cell = strategy.cell_of[line][strategy.place(NO_PAGES)]
    return 0 if cell == DISCARD else cell


class Lines:
    """The lines of all servers. ``waiting`` counts their URLs by cell, the leased ones too;
    ``unproven`` those of them that are of unproven sites; ``sizes`` all by server and site.

    ``leased`` has the server and line of each pending URL that is leased, by its number: a URL that
    is found again while leased may come into another line.

    ``index`` has the lines by cell. ``ready`` are the cells that may have a URL of a free server,
    ``apart`` those that may have one of an unproven site; ``occupied`` have a URL at all; never
    those beyond.
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
        self.index = Ready(db, self.sizes)
        self._there: set[tuple[int, int]] = set()
        self._frozen: set[int] = set()
        self.leased: dict[int, tuple[int, int]] = {}

    def load(self, rank: Callable[[int], Rank]) -> None:
        """Take what the file holds. ``rank`` gives a cell's rank as it is now."""
        self.rank = rank
        self._there.clear()
        self.families.load()
        self._find_leased(self.leased)
        self.sizes.load()
        rows = self._counted()
        cells = self.waiting.keys() - BEYOND
        self.ready = ReadyCells(rank, cells)
        self.apart = ReadyCells(rank, self.unproven)
        self.occupied = ReadyCells(rank, cells)
        self.index.load(rows)

    def _find_leased(self, seqs: Iterable[int]) -> None:
        """Take the lines that leased URLs are in by the file."""
        for seq in list(seqs):
            row = self._db.execute("SELECT server, line FROM url WHERE seq = ?", (seq,)).fetchone()
            self.leased[seq] = row or self.leased[seq]

    def leased_cells(self, is_proven: bool = False) -> Counter[int]:
        """Count the leased URLs by the cell that they are in now; or those of proven sites."""
        place, strategy, family = self.sizes.place, self.strategy, self.family
        found = [
            cell_of(strategy, line, place[server])
            for server, line in self.leased.values()
            if not (is_proven and family(server, 0))
        ]
        return Counter(found)

    def _counted(self) -> list[Row]:
        """Count the URLs of all lines by cell and server; return the lines for the index."""
        rows: list[Row] = []
        waiting: dict[int, int] = {}
        unproven: dict[int, int] = {}
        last, size, family, place = 0, 0, 0, 0
        sizes, family_of, cell_of = self.sizes, self.families.of, self.cell_of
        for server, line, seq, number in self._db.execute("SELECT * FROM line"):
            if server != last:
                sizes.add(last, size)
                last, size, place = server, 0, sizes.place[server]
                family = family_of(sizes.site(server))
            size += number
            cell = cell_of(line, place)
            waiting[cell] = waiting.get(cell, 0) + number
            if family and cell < REQUISITES:
                unproven[cell] = unproven.get(cell, 0) + number
                rows.append((cell, family, seq, server, line))
            else:
                rows.append((cell, 0, seq, server, line))
        sizes.add(last, size)
        self.waiting, self.unproven = Counter(waiting), Counter(unproven)
        return rows

    def put_new(self, lines: Mapping[tuple[int, int], Sequence[int]]) -> None:
        """Add URLs to lines, which are named by server and line.

        Of each its cell, the oldest of the URLs, and how many: they are newer than all others.
        """
        more: list[tuple[int, int, int]] = []
        new: list[Line] = []
        cells: dict[int, int] = {}
        apart: dict[int, int] = {}
        there, sizes, family_of = self._there, self.sizes, self.family
        for (server, line), (cell, seq, number) in sorted(lines.items()):  # neighbours together
            sizes.add(server, number)
            family = family_of(server, cell)
            found = apart if family else cells
            found[cell] = found.get(cell, 0) + number
            if (server, line) in there:
                more.append((number, server, line))
                continue
            row = self._db.execute(_PUT_NEW, (server, line, seq, number))
            ((oldest,),) = row.fetchall()
            if oldest == seq:
                new.append(Line(server, line, cell, seq, family))
            there.add((server, line))
        if len(there) > KEPT:
            there.clear()
        self._db.executemany(_MORE, more)
        self.index.add(new)
        self._add(cells)
        if apart:
            self._add(apart, unproven=True)

    def put(self, line: Line, number: int = 1) -> None:
        """Add so many URLs to a line, of which ``line.seq`` is the oldest."""
        self.sizes.add(line.server, number)
        family = self.family(line.server, line.cell)
        line = line._replace(family=family)
        for found in self._get(line.server, line.line):
            self._set(found, min(found.seq, line.seq), found.number + number)
            break
        else:
            row = (line.server, line.line, line.seq, number)
            self._db.execute("INSERT INTO line VALUES (?, ?, ?, ?)", row)
            self.index.add([line])
        self._add({line.cell: number}, family > 0)

    def _get(self, server: int, line: int) -> list[Line]:
        """Return a line, if it is there."""
        cell = self.cell_of(line, self.sizes.place[server])
        family = self.family(server, cell)
        rows = self._db.execute(_GET, (server, line)).fetchall()
        return [Line(server, line, cell, seq, family, number) for seq, number in rows]

    def family(self, server: int, cell: int) -> int:
        """Return the family that a line of a server in a cell is of; 0 if its site is proven."""
        return self.families.of(self.sizes.site(server)) if cell < REQUISITES else 0

    def _set(self, line: Line, seq: int, number: int) -> None:
        """Let a line have another oldest URL, and number of URLs."""
        self._db.execute(_SET, (seq, number, *line[:2]))
        if seq != line.seq:
            self.index.replace(line, line._replace(seq=seq))

    def _delete(self, lines: Sequence[Line]) -> None:
        self._there.difference_update(line[:2] for line in lines)
        self._db.executemany(_DELETE, [line[:2] for line in lines])
        self.index.remove(lines)

    def _add(self, cells: Mapping[int, int], unproven: bool = False) -> None:
        """Count URLs by cell, and take it that their cells have some."""
        self.waiting.update(cells)
        of_pages = cells.keys() - BEYOND
        if unproven:
            self.unproven.update(cells)
            self.apart.add(*of_pages)
        else:
            self.ready.add(*of_pages)
        self.occupied.add(*of_pages)

    def _subtract(self, line: Line, number: int) -> None:
        cell = line.cell
        self.waiting[cell] -= number
        if line.family:
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
        family = self.families.proved(site)
        for line in self.lines_of_site(site):
            if line.cell >= REQUISITES:
                continue
            self.index.replace(line._replace(family=family), line)
            self.unproven[line.cell] -= line.number
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
        (found,) = self._get(server, line)
        self.sizes.add(server, -number)
        self._subtract(found, number)
        if found.number == number:
            self._delete([found])
            return
        ((seq,),) = self._db.execute(_OLDEST, (server, line)).fetchall()
        self._set(found, seq, found.number - number)

    def lines_of(self, server: int) -> list[Line]:
        """Return the lines of a server."""
        rows = self._db.execute("SELECT * FROM line WHERE server = ?", (server,))
        return self._lines_in(rows.fetchall())

    def lines_of_site(self, site: int) -> list[Line]:
        """Return the lines of all servers of a site."""
        rows = self._db.execute(
            "SELECT line.* FROM server JOIN line ON line.server = server.id WHERE site = ?", (site,)
        )
        return self._lines_in(rows.fetchall())

    def _lines_in(self, rows: list[tuple[int, int, int, int]]) -> list[Line]:
        place, cell_of, family_of = self.sizes.place, self.cell_of, self.family
        found = []
        for server, line, seq, number in rows:
            cell = cell_of(line, place[server])
            found.append(Line(server, line, cell, seq, family_of(server, cell), number))
        return found

    def line_of(self, code: int, place: int) -> int:
        """Return the line, of its server's, that a URL of this code belongs to."""
        return self.strategy.kind_of[code] if self.by_server else self.strategy.cell(code, place)

    def cell_of(self, line: int, place: int) -> int:
        """Return the cell of a line whose server is in that place."""
        return cell_of(self.strategy, line, place)

    def move(self, server: int, unit: int, place: int) -> int:
        """Put the URLs of a unit, which came into this place, into the cells that they belong to.

        Returns how many were discarded.
        """
        if self.by_server:
            return self._move_lines(unit, place)
        groups = self._db.execute(_OF_DIRECTORY, (unit,)).fetchall()
        return sum(self._move_group(server, place, (unit, *group)) for group in groups)

    def _move_lines(self, server: int, place: int) -> int:
        cell_of = self.strategy.cell_of
        lines, gone, before, after = self.lines_of(server), [], [], []
        self.sizes.place[server] = place
        for line in lines:
            cell = cell_of[line.line][place]
            if cell == line.cell:
                continue
            self._subtract(line, line.number)
            if cell == DISCARD:
                gone.append(line)
            else:
                before.append(line)
                after.append(line._replace(cell=cell))
        self.index.remove(before)
        self.index.add(after)
        for line in after:
            self._add({line.cell: line.number}, line.family > 0)
        return self._discarded(gone)

    def _discarded(self, lines: Sequence[Line]) -> int:
        """Forget the URLs of lines that were counted out; return how many."""
        self._delete(lines)
        for line in lines:
            self._db.execute(
                "DELETE FROM url WHERE server = ? AND line = ? AND outcome IS NULL", line[:2]
            )
            self.sizes.add(line.server, -line.number)
        return sum(line.number for line in lines)

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
            self._find_leased(seq for seq, (of, _) in self.leased.items() if of == server)
        self.take(server, line, number)
        return number if cell == DISCARD else 0

    def free(self, server: int) -> None:
        """Let a server's lines be seen again."""
        hidden = self.index.free(server)
        if server in self._frozen:
            self.index.freeze(server, hidden)
            return
        if not hidden:
            return
        lines = [line for line in self.lines_of(server) if line.line in hidden]
        self.index.show(lines)
        for line in lines:
            if line.cell not in BEYOND:
                (self.apart if line.family else self.ready).add(line.cell)

    def freeze(self, server: int) -> None:
        """Let a server be busy until it is thawed, whatever else makes it busy."""
        self._frozen.add(server)
        self.index.freeze(server)

    def thaw(self, server: int) -> None:
        """Let a server be free again that was frozen, and isn't leased."""
        self._frozen.discard(server)
        self.free(server)


SLICE = 1000
"""Servers that are looked at in one reading. While one lasts, the file's log can't begin anew."""


def slices(db: sqlite3.Connection) -> Iterator[tuple[int, int]]:
    """Yield the first and last numbers of servers, to look at a few at a time."""
    ((last,),) = db.execute("SELECT coalesce(max(id), 0) FROM server").fetchall()
    for first in range(1, last + 1, SLICE):
        yield first, first + SLICE - 1


def waiting(db: sqlite3.Connection, strategy: Strategy) -> dict[int, int]:
    """Return the number of URLs that wait, or are leased, by cell."""
    found: Counter[int] = Counter()
    for few in slices(db):
        for line, place, number in db.execute(_PLACES, few).fetchall():
            found[cell_of(strategy, line, place)] += number
    return dict(sorted(found.items()))


def longest(db: sqlite3.Connection, top: int) -> list[tuple[int, int]]:
    """Return the longest queues: how many URLs wait or are leased, and the number of the server."""
    best: list[tuple[int, int]] = []
    for few in slices(db):
        best += db.execute(_LONGEST, (*few, top)).fetchall()
        best = nsmallest(top, best, key=lambda queue: (-queue[0], queue[1]))
    return best
