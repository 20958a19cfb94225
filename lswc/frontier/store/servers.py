"""Servers, sites and directories of a SQLite file: their pages and places, and what they taught.

Also the tallies of the crawl, and its experience by cell.
"""

from __future__ import annotations

import logging
import sqlite3
from functools import partial
from json import dumps
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from lswc.strategy import Pages, Status, Strategy, Unit
from lswc.strategy.facts import NO_PAGES
from lswc.strategy.families import support_of
from lswc.urls import site_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from collections.abc import Set as AbstractSet

LOCKED = 600.0
"""Seconds for which a lock of another program's is waited for."""

logger = logging.getLogger(__name__)

# A place is the one that a unit had when it was last asked for; a site's is that of its servers
# without a look. These have none of their own, as a page may move hundreds of them. `missed` counts
# looks that brought none, in a learned order. The last columns of a site are those of Families
# (sites). The tallies are one line of JSON: a page adds to ten, and a row for each
# would be ten searches and changes. Of the experience, `scored` is what the pages were when all
# cells were last scored. If text counts, `relevant` is a sum of shares: SQLite keeps a number that
# isn't whole as it is.
SCHEMA = """
CREATE TABLE site (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, downloaded INTEGER NOT NULL DEFAULT 0,
    relevant INTEGER NOT NULL DEFAULT 0, place INTEGER NOT NULL,
    missed INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0, level INTEGER NOT NULL DEFAULT 0,
    family INTEGER NOT NULL DEFAULT 0, branch INTEGER NOT NULL DEFAULT 0,
    supporters TEXT NOT NULL DEFAULT '');
CREATE TABLE server (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, downloaded INTEGER NOT NULL DEFAULT 0,
    relevant INTEGER NOT NULL DEFAULT 0, place INTEGER, site INTEGER NOT NULL,
    missed INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0);
CREATE INDEX server_of_site ON server (site);
CREATE TABLE directory (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, downloaded INTEGER NOT NULL DEFAULT 0,
    relevant INTEGER NOT NULL DEFAULT 0, place INTEGER NOT NULL,
    missed INTEGER NOT NULL DEFAULT 0);
CREATE TABLE experience (
    cell INTEGER PRIMARY KEY, downloaded INTEGER NOT NULL, relevant INTEGER NOT NULL,
    missed INTEGER NOT NULL DEFAULT 0, scored_downloaded INTEGER NOT NULL DEFAULT 0,
    scored_relevant INTEGER NOT NULL DEFAULT 0, scored_missed INTEGER NOT NULL DEFAULT 0);
CREATE TABLE tally (counts TEXT NOT NULL);
INSERT INTO tally VALUES ('{}');
"""
KEPT = 10_000
"""Servers and directories that are kept in memory at most, of each."""

_WITH_SITE = (
    "SELECT coalesce(s.place, d.place), s.downloaded, s.relevant, s.missed,"
    " d.id, d.place, d.downloaded, d.relevant, d.missed"
    " FROM server s JOIN site d ON d.id = s.site WHERE s.id = ?"
)
_ADD = "SET downloaded = downloaded + ?2, relevant = relevant + ?3, bytes = bytes + ?4 WHERE id = "


_OF_UNIT = "SELECT name, id, place, downloaded, relevant, missed FROM {}"
_READ = {
    "site": _OF_UNIT.format("site"),
    "directory": _OF_UNIT.format("directory"),
    "server": "SELECT s.name, s.id, coalesce(s.place, d.place), s.downloaded, s.relevant, s.missed"
    " FROM server s JOIN site d ON d.id = s.site",
}
_OTHERS = (
    "SELECT id, coalesce(place, ?), downloaded, relevant, missed FROM server"
    " WHERE site = ? AND id <> ?"
)
_PLACE = {
    "directory": "SELECT place FROM directory WHERE id = ?",
    "server": "SELECT coalesce(s.place, d.place) FROM server s JOIN site d ON d.id = s.site"
    " WHERE s.id = ?",
}

Born = tuple[int, int, int, str]
"""Level, family, branch (0 for itself) and supporters of a site."""

UNSAID: Born = (0, 0, 0, "")


class Met(NamedTuple):
    """A server, site or directory that was met before."""

    id: int
    place: int
    downloaded: int
    relevant: float
    missed: int = 0

    @property
    def looks(self) -> Pages:
        """Its pages, and how many of the requests for them that brought nothing are among them."""
        return Pages(self.downloaded + self.missed, self.relevant)


# A page asks for many, and this takes a third of the time that Met(...) does.
_known: Callable[[tuple[Any, ...]], Met] = partial(tuple.__new__, Met)
_pages: Callable[[tuple[Any, ...]], Pages] = partial(tuple.__new__, Pages)


def begin(db: sqlite3.Connection) -> None:
    """Begin a transaction, unless one has begun.

    What another program has locked is waited for: nothing could be kept meanwhile.
    """
    if db.in_transaction:
        return
    began, has_told = monotonic(), False
    while True:
        try:
            db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            is_locked = getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_BUSY
            if not is_locked or monotonic() - began > LOCKED:
                raise
            if not has_told:
                logger.warning(
                    "another program, an sqlite3 shell perhaps, has locked the frontier: the crawl "
                    "waits until it lets go, %d minutes at most", LOCKED / 60,
                )  # fmt: skip
            has_told = True
        else:
            return


def _read(db: sqlite3.Connection, table: str, names: Iterable[str]) -> dict[str, Met]:
    column = "s.name" if table == "server" else "name"
    rows = db.execute(
        f"{_READ[table]} WHERE {column} IN (SELECT value FROM json_each(?))",
        (dumps(list(names)),),
    )
    return {row[0]: _known(row[1:]) for row in rows}


def _pages_of(met: Mapping[str, Met]) -> dict[str, Pages]:
    return {name: _pages(known[2:4]) for name, known in met.items()}


def pages_of(db: sqlite3.Connection, unit: Unit, names: Iterable[str]) -> dict[str, Pages]:
    """Return the pages of the servers or directories that were met before."""
    return _pages_of(_read(db, unit.value, names))


class _Rows:
    """The rows of a table by name. Those asked for lately are kept: a page names few new ones."""

    def __init__(self, db: sqlite3.Connection, table: str) -> None:
        self._db = db
        self._table = table
        self.forget()

    def forget(self) -> None:
        """Keep none."""
        self._kept: dict[str, Met] = {}
        self._name_of: dict[int, str] = {}

    def get(self, names: AbstractSet[str]) -> dict[str, Met]:
        """Return those that there are."""
        kept = self._kept
        found = {name: kept[name] for name in names if name in kept}
        if len(found) == len(names):
            return found
        read = _read(self._db, self._table, names - found.keys())
        if len(kept) + len(read) > KEPT:
            self.forget()
        self._kept |= read
        self._name_of |= {known.id: name for name, known in read.items()}
        return found | read

    def changed(self, known: Met) -> None:
        """Take notice of what a row holds now."""
        name = self._name_of.get(known.id)
        if name is not None:
            self._kept[name] = known


class Servers:
    """Servers, their sites, and directories if the strategy counts by them."""

    def __init__(self, db: sqlite3.Connection, strategy: Strategy) -> None:
        self._db = db
        self._strategy = strategy
        self._table = strategy.unit.value
        self._servers = _Rows(db, "server")
        self._directories = _Rows(db, "directory")
        self._by_server = strategy.unit is Unit.SERVER
        self._units = self._servers if self._by_server else self._directories

    def forget(self) -> None:
        """Forget what is kept in memory: the file may hold something else."""
        self._servers.forget()
        self._directories.forget()

    def servers(self, names: AbstractSet[str], born: Born = UNSAID) -> dict[str, Met]:
        """Return what is known of servers; new ones are added, numbered in the order of names.

        New sites are ``born`` with these columns.
        """
        known = self._servers.get(names)
        if len(known) == len(names):
            return known
        missing = dict.fromkeys(name for name in names if name not in known).keys()
        self._add_with_sites(missing, born)
        return known | self._servers.get(missing)

    def units(self, names: AbstractSet[str]) -> dict[str, Met]:
        """Return what is known of what the strategy counts by; new ones are added."""
        if self._by_server:
            return self.servers(names)
        known = self._directories.get(names)
        missing = names - known.keys()
        self._add("directory", missing)
        return known | self._directories.get(missing)

    def _add(self, table: str, names: Iterable[str]) -> None:
        first = self._strategy.place(Pages())
        self._db.executemany(
            f"INSERT INTO {table} (name, place) VALUES (?, ?)", [(name, first) for name in names]
        )

    def _add_with_sites(self, names: Iterable[str], born: Born) -> None:
        site_names = {name: site_of(name) for name in names}
        wanted = dict.fromkeys(site_names.values()).keys()
        known = self.sites(wanted)
        level, _, _, supporters = born
        first = self._first(support_of(level, len(supporters.split())))
        self._db.executemany(
            "INSERT INTO site (name, place, level, family, branch, supporters)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            [(site, first, *born) for site in wanted if site not in known],
        )
        sites = self.sites(wanted)
        self._db.executemany(
            "INSERT INTO server (name, site) VALUES (?, ?)",
            [(name, sites[site].id) for name, site in site_names.items()],
        )

    def add_site(self, name: str, born: Born) -> int:
        """Add a site of which another worker reported; return its number."""
        level, _, _, supporters = born
        row = self._db.execute(
            "INSERT INTO site (name, place, level, family, branch, supporters)"
            " VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
            (name, self._first(support_of(level, len(supporters.split()))), *born),
        )
        return int(row.fetchone()[0])

    def add_server(self, name: str, site: int, place: int | None) -> int:
        """Add a server that another worker gave, unless it is there; return its number."""
        self._db.execute(
            "INSERT OR IGNORE INTO server (name, place, site) VALUES (?, ?, ?)", (name, place, site)
        )
        row = self._db.execute("SELECT id FROM server WHERE name = ?", (name,))
        return int(row.fetchone()[0])

    def _first(self, support: int) -> int:
        """Return the place of a server of a new site."""
        weighs = self._strategy.weighs_support
        return self._strategy.place(NO_PAGES, support=support if weighs else 0)

    def supported(self, site: int, support: int) -> dict[int, int]:
        """Take notice of a site's new support; return its servers whose place changed, with it."""
        empty = self._strategy.place(NO_PAGES, support=support)
        moved: dict[int, int] = {}
        for server in self._others(site):
            moved |= self._moved(server, support=support)
        self._db.execute("UPDATE site SET place = ? WHERE id = ?", (empty, site))
        return moved

    def _others(self, site: int, server: int = 0) -> list[Met]:
        """Return the servers of a site but for one."""
        ((place,),) = self._db.execute("SELECT place FROM site WHERE id = ?", (site,)).fetchall()
        return [Met(*row) for row in self._db.execute(_OTHERS, (place, site, server)).fetchall()]

    def sites(self, names: AbstractSet[str]) -> dict[str, Met]:
        """Return what is known of sites that were met before."""
        return _read(self._db, "site", names)

    def place(self, unit: int) -> int:
        """Return the place of what the strategy counts by."""
        return int(self._db.execute(_PLACE[self._table], (unit,)).fetchone()[0])

    def directory(self, unit: int) -> str:
        """Return the name of a directory."""
        row = self._db.execute("SELECT name FROM directory WHERE id = ?", (unit,))
        return str(row.fetchone()[0])

    def pages(self, names: AbstractSet[str]) -> dict[str, Pages]:
        """Return the pages of the units that were met before."""
        return _pages_of(self._units.get(names))

    def receive(self, server: int, size: int, pages: Pages = NO_PAGES) -> None:
        """Count bytes that a server sent, and pages, for it and its site."""
        if size or pages.downloaded:
            values = (server, *pages, size)
            self._db.execute(f"UPDATE server {_ADD} ?1", values)
            self._db.execute(f"UPDATE site {_ADD} (SELECT site FROM server WHERE id = ?1)", values)

    def count(self, server: int, unit: int, relevant: float, size: int) -> dict[int, int]:
        """Count a page of so many bytes for its server and site, and for its directory.

        Returns the units whose place changed, with the new one: another server of the site only
        when the place of those without a page changed, so that a page rarely asks more than its
        own.
        """
        self.receive(server, size, Pages(1, relevant))
        known, site = self._counted(server)
        if not self._by_server:
            return self._moved(self._count_directory(unit, relevant))
        if not self._strategy.learns:  # what is more than a status is the site's support
            return self._moved(known, support=site.place // len(Status))
        return self._count_site(known, site)

    def miss(self, server: int) -> dict[int, int]:
        """Count a look that brought no page, in a learned order; return what ``count`` does."""
        for table, where in (("server", "?1"), ("site", "(SELECT site FROM server WHERE id = ?1)")):
            self._db.execute(
                f"UPDATE {table} SET missed = missed + 1 WHERE id = {where}", (server,)
            )
        return self._count_site(*self._counted(server))

    def _counted(self, server: int) -> tuple[Met, Met]:
        """Return a server and its site, as they are after what was counted for them."""
        row = self._db.execute(_WITH_SITE, (server,)).fetchone()
        known = Met(server, *row[:4])
        # It has a look, so its place is its own from now on.
        self._db.execute("UPDATE server SET place = ? WHERE id = ?", (known.place, server))
        self._servers.changed(known)
        return known, Met(*row[4:])

    def _count_site(self, server: Met, site: Met) -> dict[int, int]:
        looks = site.looks
        moved = self._moved(server, looks)
        empty = self._strategy.place(NO_PAGES, looks)
        if empty != site.place:
            for other in self._others(site.id, server.id):
                moved |= self._moved(other, looks)
            self._db.execute("UPDATE site SET place = ? WHERE id = ?", (empty, site.id))
        return moved

    def _count_directory(self, directory: int, relevant: float) -> Met:
        row = self._db.execute(
            "UPDATE directory SET downloaded = downloaded + 1, relevant = relevant + ?"
            " WHERE id = ? RETURNING id, place, downloaded, relevant",
            (relevant, directory),
        )
        ((*values,),) = row.fetchall()
        known = Met(*values)
        self._directories.changed(known)
        return known

    def _moved(self, unit: Met, site: Pages = NO_PAGES, support: int = 0) -> dict[int, int]:
        """Store a unit's place if it changed, and return it then.

        That of a server without a look is its site's.
        """
        place = self._strategy.place(unit.looks, site, support)
        if place == unit.place:
            return {}
        if unit.looks.downloaded:
            self._db.execute(f"UPDATE {self._table} SET place = ? WHERE id = ?", (place, unit.id))
        self._units.changed(unit._replace(place=place))
        return {unit.id: place}


def learn(db: sqlite3.Connection, cell: int, relevant: float) -> None:
    """Count a page for the cell that it was leased from."""
    db.execute(
        "INSERT INTO experience (cell, downloaded, relevant) VALUES (?, 1, ?)"
        " ON CONFLICT DO UPDATE SET downloaded = downloaded + 1,"
        " relevant = relevant + excluded.relevant",
        (cell, relevant),
    )


def miss(db: sqlite3.Connection, cell: int) -> None:
    """Count a URL that was asked for in vain for the cell that it was leased from."""
    db.execute(
        "INSERT INTO experience (cell, downloaded, relevant, missed) VALUES (?, 0, 0, 1)"
        " ON CONFLICT DO UPDATE SET missed = missed + 1",
        (cell,),
    )


def keep_scored(db: sqlite3.Connection) -> None:
    """Note that all cells were scored by what is known now."""
    db.execute(
        "UPDATE experience SET scored_downloaded = downloaded, scored_relevant = relevant,"
        " scored_missed = missed WHERE scored_downloaded <> downloaded OR scored_missed <> missed"
    )


_decode = msgspec.json.Decoder(dict[str, dict[str, int]]).decode


def read_tallies(db: sqlite3.Connection) -> dict[str, dict[str, int]]:
    """Return the tallies by kind and name."""
    ((counts,),) = db.execute("SELECT counts FROM tally").fetchall()
    return _decode(counts)


def write_tallies(db: sqlite3.Connection, counts: Mapping[str, Mapping[str, int]]) -> None:
    """Keep tallies in the place of those that there are."""
    db.execute("UPDATE tally SET counts = ?", (msgspec.json.encode(counts).decode(),))


class Tallies:
    """The tallies ``by_kind`` and name of the crawl that writes a file.

    What was added is kept by ``write``.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def load(self) -> None:
        """Take what the file holds."""
        self.by_kind = read_tallies(self._db)
        self._is_written = True

    def add(self, kind: str, name: str, number: int = 1) -> None:
        """Count so many more."""
        names = self.by_kind.setdefault(kind, {})
        names[name] = names.get(name, 0) + number
        self._is_written = False

    def add_all(self, counts: Mapping[tuple[str, str], int]) -> None:
        """Count so many more, by kind and name."""
        for (kind, name), number in counts.items():
            self.add(kind, name, number)

    def write(self) -> None:
        """Keep what was added since."""
        if not self._is_written:
            write_tallies(self._db, self.by_kind)
            self._is_written = True
