"""Giving: parts of the sites go to another worker, URLs and counters and all.

What is given is moved, in small transactions, from this worker's tables into its outbox; so a URL
is in one place at any moment, whoever is killed. Meanwhile none of it is leased here, and links to
it follow what is given. URLs that were finished are copied: this worker's record has their pages.
"""

from __future__ import annotations

from collections import defaultdict
from json import dumps
from typing import TYPE_CHECKING, Any

from lswc.frontier.exchange.messages import (
    LINKS,
    PartsGiven,
    SiteGiven,
    UrlGiven,
    UrlsGiven,
    Vouching,
)
from lswc.frontier.exchange.outbox import Part, State
from lswc.frontier.exchange.owners import NOBODY, part_of
from lswc.outcomes import OF_ELSEWHERE, Outcome

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterator, Mapping
    from contextlib import AbstractContextManager

    from lswc.frontier.exchange.outbox import Outbox
    from lswc.frontier.store.lines import Lines
    from lswc.frontier.store.revisited_pages import RevisitedPages
    from lswc.frontier.store.urls import Urls

LOOKED_AT = 500
"""Rows that are looked at in one step: some milliseconds."""

_URLS = """
SELECT url.seq, url.url, server.name, url.unit, code, inherited, depth, url.redirects,
    coalesce((SELECT url FROM url AS page WHERE page.seq = url.referrer),
             (SELECT url FROM elsewhere WHERE id = -url.referrer)),
    url.outcome, coalesce(later.tries, 0), coalesce(later.outcome, ''),
    EXISTS (SELECT 1 FROM again WHERE again.seq = url.seq)
FROM json_each(?) CROSS JOIN url ON url.seq = value JOIN server ON server.id = url.server
LEFT JOIN later ON later.seq = url.seq ORDER BY url.seq
"""


class Giving:
    """Gives parts of the sites away. ``busy`` are the servers of which URLs are leased now."""

    def __init__(
        self,
        db: sqlite3.Connection,
        outbox: Outbox,
        urls: Urls,
        lines: Lines,
        revisited: RevisitedPages,
        busy: Callable[[], Collection[int]],
        transaction: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._db, self._outbox, self._urls = db, outbox, urls
        self._lines, self._revisited, self._busy = lines, revisited, busy
        self._transaction = transaction
        self._servers: dict[int, int] = {}

    def begin(self, heirs: Mapping[int, int]) -> None:
        """Let parts be given to these workers, by part: their links wait from now on."""
        with self._transaction():
            since = self._outbox.latest + 1
            for part, worker in heirs.items():
                turn = self._outbox.turn(part)
                self._outbox.keep(part, Part(State.LEAVING, worker, since, turn=turn))

    @property
    def leaving(self) -> dict[int, int]:
        """The workers that are given parts now, by part."""
        return {
            part: row.worker
            for part, row in self._outbox.parts.items()
            if row.state == State.LEAVING
        }

    def steps(self) -> Iterator[bool]:
        """Give what is leaving, a little in each step; tell whether the next can be made at once.

        Else what is under way has to end first. Raises StorageError.
        """
        leaving = self.leaving
        sites = dict[int, int]()
        servers = self._servers = {}
        for rows in self._looked_at("SELECT id, name FROM site WHERE id BETWEEN ? AND ?", "site"):
            found = ((site, part_of(name)) for site, name in rows)
            sites |= {site: part for site, part in found if part in leaving}
            yield True
        for rows in self._looked_at(
            "SELECT id, site FROM server WHERE id BETWEEN ? AND ?", "server"
        ):
            for server, site in rows:
                if site in sites:
                    servers[server] = sites[site]
                    self._lines.freeze(server)
            yield True
        while any(server in servers for server in self._busy()):
            yield False
        yield from self._give_sites(sites, leaving)
        yield from self._give_urls(servers, leaving)
        self._end(leaving)
        self.abandon()

    def abandon(self) -> None:
        """Let the servers be leased again that were left alone to be given."""
        servers, self._servers = self._servers, {}
        for server in servers:
            self._lines.thaw(server)

    def known(self, parts: Collection[int]) -> Iterator[bool]:
        """Tell the workers that have these parts now what this one has fetched of them."""
        query = (
            "SELECT url.seq, site.name FROM url JOIN server ON server.id = url.server"
            " JOIN site ON site.id = server.site"
            f" WHERE seq BETWEEN ? AND ? AND outcome <> '{Outcome.POSTPONED}'"
            f" AND outcome NOT LIKE '{OF_ELSEWHERE}%'"
        )
        for rows in self._looked_at(query, "url"):
            by_owner: defaultdict[int, list[int]] = defaultdict(list)
            for seq, site in rows:
                part = part_of(site)
                owner = self._outbox.owner(part) if part in parts else NOBODY
                if owner != NOBODY:
                    by_owner[owner].append(seq)
            with self._transaction():
                for owner, seqs in by_owner.items():
                    for first in range(0, len(seqs), LINKS):
                        self._give(owner, seqs[first : first + LINKS], set())
            yield True

    def _looked_at(self, query: str, table: str) -> Iterator[list[Any]]:
        column = "seq" if table == "url" else "id"
        (last,) = self._db.execute(f"SELECT coalesce(max({column}), 0) FROM {table}").fetchone()
        for first in range(1, last + 1, LOOKED_AT):
            yield self._db.execute(query, (first, first + LOOKED_AT - 1)).fetchall()

    def _give_sites(self, sites: Mapping[int, int], leaving: Mapping[int, int]) -> Iterator[bool]:
        numbers = list(sites)
        for first in range(0, len(numbers), LINKS):
            with self._transaction():
                for site in numbers[first : first + LINKS]:
                    given = self._site(site)
                    self._db.execute(
                        "INSERT OR REPLACE INTO given SELECT ?, id FROM server WHERE site = ?",
                        (sites[site], site),
                    )
                    if given.servers:
                        self._outbox.send(leaving[sites[site]], given)
            yield True

    def _site(self, site: int) -> SiteGiven:
        row = self._db.execute(
            "SELECT level, family, branch, supporters, place, downloaded, relevant, missed, bytes"
            " FROM site WHERE id = ?",
            (site,),
        ).fetchone()
        level, family, branch, supporters, place, downloaded, relevant, missed, received = row
        name_of = self._outbox.name_of
        return SiteGiven(
            Vouching(name_of(site), level, name_of(family), name_of(branch)),
            [name_of(int(one)) for one in supporters.split()],
            place,
            downloaded,
            relevant,
            missed,
            received,
            self._rows(
                "SELECT name, place, downloaded, relevant, missed, bytes FROM server"
                " WHERE site = ?",
                site,
            ),
            self._rows(
                "SELECT name, reason, number FROM left_out JOIN server ON id = left_out.server"
                " WHERE site = ?",
                site,
            ),
            self._of_visits(
                "SELECT name, changed, right_changed, unchanged, right_unchanged"
                " FROM claims JOIN server ON id = claims.server WHERE site = ?",
                site,
            ),
            self._of_visits("SELECT kind, changes, new, days FROM rate WHERE site = ?", site),
        )

    def _rows(self, query: str, site: int) -> list[Any]:
        return self._db.execute(query, (site,)).fetchall()

    def _of_visits(self, query: str, site: int) -> list[Any]:
        return self._rows(query, site) if self._revisited.is_kept else []

    def _give_urls(self, servers: Mapping[int, int], leaving: Mapping[int, int]) -> Iterator[bool]:
        directories: set[int] = set()
        query = "SELECT seq, server FROM url WHERE seq BETWEEN ? AND ?"
        for rows in self._looked_at(query, "url"):
            by_heir: defaultdict[int, list[int]] = defaultdict(list)
            for seq, server in rows:
                if server in servers:
                    by_heir[leaving[servers[server]]].append(seq)
            for heir, seqs in by_heir.items():
                with self._transaction():
                    for first in range(0, len(seqs), LINKS):
                        self._give(heir, seqs[first : first + LINKS], directories)
                yield True
            yield True

    def _give(self, heir: int, seqs: list[int], directories: set[int]) -> None:
        rows = self._db.execute(_URLS, (dumps(seqs),)).fetchall()
        revisited = self._revisited.given(seqs)
        units = {} if self._lines.by_server else self._units({row[3] for row in rows})
        given, moved = [], []
        for seq, url, server, unit, *link, referrer, outcome, tries, postponed, again in rows:
            is_postponed = outcome == Outcome.POSTPONED
            is_finished = not (outcome is None or is_postponed)
            if not is_finished:
                moved.append(seq)
            name = server if self._lines.by_server else units[unit][0]
            given.append(
                UrlGiven(
                    (url, server, name, *link),
                    referrer,
                    *(self._ended(outcome) if is_finished else ("", 0)),
                    tries,
                    postponed,
                    is_postponed,
                    bool(again),
                    revisited.get(seq),
                )
            )
        fresh = [tuple(units[unit]) for unit in units if unit not in directories]
        directories |= units.keys()
        self._outbox.send(heir, UrlsGiven(given, fresh), len(moved))
        self._urls.remove(moved)
        if revisited:
            self._revisited.remove(revisited.keys())

    def _ended(self, outcome: str) -> tuple[str, int]:
        """Return how a URL finished, and which worker did it."""
        if not outcome.startswith(OF_ELSEWHERE):
            return outcome, self._outbox.me
        by, _, name = outcome.removeprefix(OF_ELSEWHERE).partition(" ")
        return name, int(by)

    def _units(self, numbers: Collection[int]) -> dict[int, list[Any]]:
        rows = self._db.execute(
            "SELECT id, name, place, downloaded, relevant, missed FROM directory"
            " WHERE id IN (SELECT value FROM json_each(?))",
            (dumps(list(numbers)),),
        )
        return {number: row for number, *row in rows}

    def _end(self, leaving: Mapping[int, int]) -> None:
        """Let the parts be their heirs', and send the links that waited for that."""
        by_heir: defaultdict[int, list[int]] = defaultdict(list)
        for part, heir in leaving.items():
            by_heir[heir].append(part)
        with self._transaction():
            for heir, parts in by_heir.items():
                last = self._outbox.send(heir, PartsGiven(parts))
                for part in parts:
                    row = self._outbox.parts[part]._replace(state=State.GIVEN, last=last)
                    self._outbox.keep(part, row)
                    for links, message in self._outbox.take_late(part):
                        self._outbox.forward(heir, links, message)
