"""What a SQLite file knows of servers, sites and directories: their pages, and their places."""

from __future__ import annotations

from functools import partial
from json import dumps
from typing import TYPE_CHECKING, NamedTuple

from lswc.frontier.contract import site_of
from lswc.strategy import Pages, Strategy, Unit
from lswc.strategy.status import NO_PAGES

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterable

# A place is the one that a unit had when it was last asked for; a site's is that of its
# servers without a page.
SCHEMA = """
CREATE TABLE site (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, downloaded INTEGER NOT NULL DEFAULT 0,
    relevant INTEGER NOT NULL DEFAULT 0, place INTEGER NOT NULL,
    bytes INTEGER NOT NULL DEFAULT 0);
CREATE TABLE server (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, downloaded INTEGER NOT NULL DEFAULT 0,
    relevant INTEGER NOT NULL DEFAULT 0, place INTEGER NOT NULL, site INTEGER NOT NULL,
    bytes INTEGER NOT NULL DEFAULT 0);
CREATE INDEX server_of_site ON server (site);
CREATE TABLE directory (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, downloaded INTEGER NOT NULL DEFAULT 0,
    relevant INTEGER NOT NULL DEFAULT 0, place INTEGER NOT NULL);
"""


class Known(NamedTuple):
    """A server, site or directory that was met before."""

    id: int
    place: int


# A page asks for many, and this takes a third of the time that Known(...) does.
_known: Callable[[tuple[int, int]], Known] = partial(tuple.__new__, Known)
_pages: Callable[[tuple[int, int]], Pages] = partial(tuple.__new__, Pages)


class Units:
    """Servers, their sites, and directories if the strategy counts by them."""

    def __init__(self, db: sqlite3.Connection, strategy: Strategy) -> None:
        self._db = db
        self._strategy = strategy
        self._table = strategy.unit.value

    def servers(self, names: Collection[str]) -> dict[str, Known]:
        """Return what is known of servers; new ones are added."""
        known = self._known("server", names)
        if len(known) == len(names):
            return known
        missing = [name for name in names if name not in known]
        self._add_with_sites(missing)
        return known | self._known("server", missing)

    def units(self, names: Collection[str]) -> dict[str, Known]:
        """Return what is known of what the strategy counts by; new ones are added."""
        if self._strategy.unit is Unit.SERVER:
            return self.servers(names)
        known = self._known("directory", names)
        missing = [name for name in names if name not in known]
        self._add("directory", missing)
        return known | self._known("directory", missing)

    def _known(self, table: str, names: Collection[str]) -> dict[str, Known]:
        rows = self._db.execute(
            f"SELECT name, id, place FROM {table} WHERE name IN (SELECT value FROM json_each(?))",
            (dumps(list(names)),),
        )
        return {row[0]: _known(row[1:]) for row in rows}

    def _add(self, table: str, names: Iterable[str]) -> None:
        first = self._strategy.place(Pages())
        self._db.executemany(
            f"INSERT INTO {table} (name, place) VALUES (?, ?)", [(name, first) for name in names]
        )

    def _add_with_sites(self, names: list[str]) -> None:
        site_names = {name: site_of(name) for name in names}
        wanted = set(site_names.values())
        sites = self._known("site", wanted)
        self._add("site", [name for name in wanted if name not in sites])
        sites = self._known("site", wanted)
        self._db.executemany(
            "INSERT INTO server (name, place, site) VALUES (?, ?, ?)",
            [(name, sites[site].place, sites[site].id) for name, site in site_names.items()],
        )

    def place(self, unit: int) -> int:
        """Return the place of what the strategy counts by."""
        row = self._db.execute(f"SELECT place FROM {self._table} WHERE id = ?", (unit,))
        return int(row.fetchone()[0])

    def pages(self, names: Collection[str]) -> dict[str, Pages]:
        """Return the pages of the units that were met before."""
        rows = self._db.execute(
            f"SELECT name, downloaded, relevant FROM {self._table}"
            " WHERE name IN (SELECT value FROM json_each(?))",
            (dumps(list(names)),),
        )
        return {row[0]: _pages(row[1:]) for row in rows}

    def count(self, server: int, unit: int, relevant: bool, crawl: Pages) -> dict[int, int]:
        """Count a page for its server, and for its site or directory.

        ``crawl`` are the crawl's pages, this one included. Returns the units whose place
        changed, with the new one: another server of the site only when the place of those
        without a page changed, so that a page rarely asks more than its own.
        """
        pages, before = self._count("server", server, relevant)
        if not self._strategy.learns:
            self._db.execute(
                "UPDATE site SET downloaded = downloaded + 1, relevant = relevant + ?"
                " WHERE id = (SELECT site FROM server WHERE id = ?)",
                (relevant, server),
            )
        if self._strategy.unit is Unit.DIRECTORY:
            return self._moved(unit, *self._count("directory", unit, relevant))
        if not self._strategy.learns:
            return self._moved(unit, pages, before)
        return self._count_site(server, pages, before, relevant, crawl)

    def receive(self, server: int, size: int) -> None:
        """Count bytes that a server sent."""
        if size:
            row = self._db.execute(
                "UPDATE server SET bytes = bytes + ? WHERE id = ? RETURNING site", (size, server)
            )
            ((site,),) = row.fetchall()
            self._db.execute("UPDATE site SET bytes = bytes + ? WHERE id = ?", (size, site))

    def _count_site(
        self, server: int, pages: Pages, before: int, relevant: bool, crawl: Pages
    ) -> dict[int, int]:
        row = self._db.execute(
            "UPDATE site SET downloaded = downloaded + 1, relevant = relevant + ?"
            " WHERE id = (SELECT site FROM server WHERE id = ?)"
            " RETURNING id, place, downloaded, relevant",
            (relevant, server),
        )
        ((site_id, site_place, *counts),) = row.fetchall()
        site = Pages(*counts)
        moved = self._moved(server, pages, before, site, crawl)
        empty = self._strategy.place(NO_PAGES, site, crawl)
        if empty != site_place:
            self._db.execute("UPDATE site SET place = ? WHERE id = ?", (empty, site_id))
            others = self._db.execute(
                "SELECT id, place, downloaded, relevant FROM server WHERE site = ? AND id <> ?",
                (site_id, server),
            )
            for other, place, *counts in others.fetchall():
                moved |= self._moved(other, Pages(*counts), place, site, crawl)
        return moved

    def _count(self, table: str, id_: int, relevant: bool) -> tuple[Pages, int]:
        """Count a page; return the pages with it, and the place before it."""
        row = self._db.execute(
            f"UPDATE {table} SET downloaded = downloaded + 1, relevant = relevant + ?"
            " WHERE id = ? RETURNING downloaded, relevant, place",
            (relevant, id_),
        )
        ((downloaded, relevants, place),) = row.fetchall()
        return Pages(downloaded, relevants), place

    def _moved(
        self, unit: int, pages: Pages, before: int, site: Pages = NO_PAGES, crawl: Pages = NO_PAGES
    ) -> dict[int, int]:
        """Store a unit's place if it changed, and return it then."""
        place = self._strategy.place(pages, site, crawl)
        if place == before:
            return {}
        self._db.execute(f"UPDATE {self._table} SET place = ? WHERE id = ?", (place, unit))
        return {unit: place}
