"""How many URLs wait in a SQLite file, by server and by site."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3


class Sizes:
    """The number of URLs that wait or are leased, by the numbers of servers and sites.

    ``peak`` is the most that a site, and so a server, has had.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
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
        size = self._sites[site] + number
        self._sites[site] = size
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
        self._site_of.extend(site for (site,) in rows)
        self._servers.extend([0] * (len(self._site_of) - len(self._servers)))
        self._sites.extend([0] * (1 + max(self._site_of) - len(self._sites)))

    def of_server(self, server: int) -> int:
        """Return how many there are of a server."""
        return self._servers[server] if server < len(self._servers) else 0

    def of_site(self, site: int) -> int:
        """Return how many there are of a site."""
        return self._sites[site]
