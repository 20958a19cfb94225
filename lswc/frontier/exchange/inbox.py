"""Inbox: takes what other workers sent into this worker's own file, each message once."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from lswc.frontier.exchange.messages import (
    Links,
    Message,
    PartsGiven,
    SiteGiven,
    UrlGiven,
    UrlsGiven,
    Vouching,
    unpack,
)
from lswc.frontier.exchange.outbox import OWN, Part, State
from lswc.frontier.exchange.owners import part_of
from lswc.frontier.rules.visit import Offer, key
from lswc.outcomes import OF_ELSEWHERE, Outcome
from lswc.strategy import PageLanguage
from lswc.strategy.families import PROVEN
from lswc.urls import site_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    from lswc.frontier.exchange.outbox import Outbox
    from lswc.frontier.store.lines import Lines
    from lswc.frontier.store.revisited_pages import RevisitedPages
    from lswc.frontier.store.servers import Born, Met, Servers, Tallies
    from lswc.frontier.store.urls import Urls

_COUNTERS = "downloaded = ?, relevant = ?, missed = ?, place = ?"
_FETCHED: Born = (PROVEN, 0, 0, "")


class Inbox:
    """Takes messages, and knows up to which number those of each worker were taken.

    Callers keep the transactions. Methods raise StorageError for what isn't a message.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        outbox: Outbox,
        urls: Urls,
        servers: Servers,
        lines: Lines,
        tallies: Tallies,
        revisited: RevisitedPages,
    ) -> None:
        self._db, self._outbox = db, outbox
        self._urls, self._servers, self._lines = urls, servers, lines
        self._tallies, self._revisited = tallies, revisited

    def load(self) -> None:
        """Take what the file has; servers of which URLs still come are left alone."""
        self.received: dict[int, int] = dict(self._db.execute("SELECT * FROM received").fetchall())
        self._arriving = set[int]()
        for server, part in self._db.execute("SELECT server, part FROM arriving").fetchall():
            self._lines.freeze(server)
            self._arriving.add(part)

    def receive(self, worker: int, messages: Iterable[tuple[int, bytes]]) -> int:
        """Take a worker's messages by their numbers, but those that were taken; return how many."""
        upto = before = self.received.get(worker, 0)
        taken = 0
        for number, packed in messages:
            if number > upto:
                self.take(unpack(packed))
                upto, taken = number, taken + 1
        if upto > before:
            self._db.execute("INSERT OR REPLACE INTO received VALUES (?, ?)", (worker, upto))
            self.received[worker] = upto
        return taken

    def take(self, message: Message) -> None:
        """Take one message, whoever sent it."""
        match message:
            case Links():
                self._take_links(message)
            case SiteGiven():
                self._take_site(message)
            case UrlsGiven():
                self._take_urls(message)
            case PartsGiven():
                self._take_parts(message)

    def _take_links(self, message: Links) -> None:
        offers = [_offer(row) for row in message.links]
        vouching = message.vouching
        own = self._outbox.divert(offers, message.referrer, lambda: vouching, again=True)
        if own:
            by = None if vouching is None else self._site(vouching)
            self._urls.store(own, self._page(message.referrer), by)

    def _page(self, url: str | None) -> int | None:
        """Return the number of another worker's page, by which its links name it."""
        if url is None:
            return None
        self._db.execute("INSERT OR IGNORE INTO elsewhere (url) VALUES (?)", (url,))
        row = self._db.execute("SELECT id FROM elsewhere WHERE url = ?", (url,)).fetchone()
        return -int(row[0])

    def _site(self, vouching: Vouching) -> int:
        """Return the number of another worker's site, and keep what was sent of it."""
        row = self._db.execute(
            "SELECT id, level, family, branch FROM site WHERE name = ?", (vouching.site,)
        ).fetchone()
        family, branch = self._ancestor(vouching.family), self._ancestor(vouching.branch)
        born: Born = (vouching.level, family, branch, "")
        if row is None:
            return self._add_site(vouching.site, born)
        site = int(row[0])
        if row[1:] != born[:3] and part_of(vouching.site) not in self._outbox.parts:
            self._db.execute(
                "UPDATE site SET level = ?, family = ?, branch = ? WHERE id = ?",
                (*born[:3], site),
            )
            self._lines.families.tell(site, born)
        return site

    def _ancestor(self, name: str) -> int:
        """Return the number of a site by which others came; 0 of none."""
        if not name:
            return 0
        row = self._db.execute("SELECT id FROM site WHERE name = ?", (name,)).fetchone()
        return self._add_site(name, _FETCHED) if row is None else int(row[0])

    def _add_site(self, name: str, born: Born) -> int:
        site = self._servers.add_site(name, born)
        self._lines.families.tell(site, born)
        return site

    def _take_site(self, given: SiteGiven) -> None:
        part = part_of(given.vouching.site)
        row = self._outbox.parts.get(part)
        if row is not None and row.state != State.GIVEN:
            return  # it came here from elsewhere, as its worker was called lost
        self._arriving.add(part)
        site = self._site(given.vouching)
        supporters = [self._ancestor(name) for name in given.supporters]
        self._db.execute(
            f"UPDATE site SET {_COUNTERS}, bytes = ?, supporters = ? WHERE id = ?",
            (given.downloaded, given.relevant, given.missed, given.place, given.received,
             " ".join(map(str, supporters)), site),
        )  # fmt: skip
        self._lines.families.tell(site, self._born(site))
        numbers: dict[str, int] = {}
        for name, place, downloaded, relevant, missed, received in given.servers:
            server = numbers[name] = self._servers.add_server(name, site, place)
            self._db.execute(
                f"UPDATE server SET {_COUNTERS}, bytes = ? WHERE id = ?",
                (downloaded, relevant, missed, place, received, server),
            )
            self._db.execute("INSERT OR REPLACE INTO arriving VALUES (?, ?)", (server, part))
            self._lines.freeze(server)
        self._db.executemany(
            "INSERT OR REPLACE INTO left_out VALUES (?, ?, ?)",
            [(numbers[name], reason, number) for name, reason, number in given.left_out],
        )
        if self._revisited.is_kept:
            self._db.executemany(
                "INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?)",
                [(numbers[name], *claims) for name, *claims in given.claims],
            )
            self._db.executemany(
                "INSERT OR REPLACE INTO rate VALUES (?, ?, ?, ?, ?)",
                [(kind, site, *rates) for kind, *rates in given.rates],
            )
        self._servers.forget()

    def _born(self, site: int) -> Born:
        row = self._db.execute(
            "SELECT level, family, branch, supporters FROM site WHERE id = ?", (site,)
        ).fetchone()
        return tuple(row)

    def _take_urls(self, given: UrlsGiven) -> None:
        here = self._diverted(given.urls)
        for directory, place, downloaded, relevant, missed in given.directories:
            self._db.execute(
                "INSERT OR IGNORE INTO directory (name, place) VALUES (?, 0)", (directory,)
            )
            self._db.execute(
                f"UPDATE directory SET {_COUNTERS} WHERE name = ?",
                (downloaded, relevant, missed, place, directory),
            )
        self._servers.forget()
        keys = [key(one.offer[0], one.offer[3]) for one in here]
        known = self._urls.known(keys)
        servers = self._servers_of({one.offer[1] for one in here})
        units = servers
        if not self._lines.by_server:
            units = self._servers.units({one.offer[2] for one in here})
        waiting: list[list[Any]] = []
        for name, one in zip(keys, here, strict=True):
            given_now = self._as_it_is_now(one)
            seq: int | None = self._urls.next_seq
            if name in known:
                seq = self._take_known(name, given_now)
            else:
                self._urls.next_seq += 1
            if seq is None:
                continue
            url, server, unit, code, *rest = one.offer
            met = units[unit]
            line = self._lines.line_of(code, met.place) if _waits(given_now) else 0
            row = [seq, name, url, servers[server].id, met.id, line, code, *rest,
                   self._page(one.referrer)]  # fmt: skip
            if _waits(given_now):
                waiting.append(row)
            self._add_besides(given_now, row)
        self._urls.insert(waiting, servers)

    def _servers_of(self, names: set[str]) -> dict[str, Met]:
        """Return what is known of servers; a site that is new by what was fetched there is proven.

        So it is if its worker's disk is lost: what was known of the site went with that.
        """
        met, families = self._servers.servers(names, _FETCHED), self._lines.families
        for site in sorted(self._lines.sizes.site(one.id) for one in met.values()):
            if families.is_on and site >= len(families.level):
                families.tell(site, _FETCHED)
        return met

    def _diverted(self, urls: Sequence[UrlGiven]) -> list[UrlGiven]:
        """Return the URLs of sites that are here, or arriving, and send the others on."""
        places = {server: self._place(server) for server in {one.offer[1] for one in urls}}
        by_place: defaultdict[int, list[UrlGiven]] = defaultdict(list)
        for one in urls:
            by_place[places[one.offer[1]]].append(one)
        here = by_place.pop(OWN, [])
        for place, others in by_place.items():
            self._outbox.send(place, UrlsGiven(others), sum(not one.outcome for one in others))
        return here

    def _place(self, server: str) -> int:
        """Return whose a server is, as the outbox says it; one that is arriving is own."""
        is_arriving = part_of(site_of(server)) in self._arriving
        return OWN if is_arriving else self._outbox.place(server)

    def _as_it_is_now(self, given: UrlGiven) -> UrlGiven:
        """Return a URL as it is given, or as one to fetch again whose record is lost since."""
        if given.outcome and given.revisited is None and self._outbox.is_lost(given.by):
            return replace(given, outcome="", postponed=Outcome.LOST, is_postponed=True)
        return given

    def _take_known(self, name: int, given: UrlGiven) -> int | None:
        """Take what is given of a URL that is here; return its number if it begins anew."""
        if not given.outcome:
            seq = self._urls.take_finished_elsewhere(name)
            if seq is not None:
                self._revisited.forget(seq)
            return seq
        self._urls.ended_elsewhere(name, f"{OF_ELSEWHERE}{given.by} {given.outcome}")
        if given.revisited is not None:
            self._visit_again(self._urls.finished_as(name), given)
        return None

    def _add_besides(self, given: UrlGiven, row: list[Any]) -> None:
        """Keep a URL that doesn't wait in a line, and what is known of one besides its row."""
        seq = row[0]
        if given.outcome:
            self._urls.add_ended(row, f"{OF_ELSEWHERE}{given.by} {given.outcome}")
        elif given.postponed and given.is_postponed:
            self._urls.add_ended(row, Outcome.POSTPONED)
            self._urls.postponed.keep(seq, given.tries, given.postponed)
            self._urls.postponed.wait(seq, 0.0)
            self._tallies.add("postponed", given.postponed)
        elif given.postponed:
            self._urls.postponed.keep(seq, given.tries, given.postponed)
        if given.was_counted:
            self._urls.count_no_more(seq)
        self._visit_again(seq, given)

    def _visit_again(self, seq: int | None, given: UrlGiven) -> None:
        """Visit a page again that its worker before did; perhaps this one had given it away."""
        if seq is None or given.revisited is None or not self._revisited.is_kept:
            return
        self._revisited.add(seq, self._urls.next_seq, given.revisited)
        if self._outbox.is_lost(given.by):
            self._revisited.ask_soon([seq])

    def _take_parts(self, given: PartsGiven) -> None:
        for part in given.parts:
            self._outbox.keep(part, Part(State.OWN))
            self._arriving.discard(part)
            rows = self._db.execute("SELECT server FROM arriving WHERE part = ?", (part,))
            for (server,) in rows.fetchall():
                self._lines.thaw(server)
            self._db.execute("DELETE FROM arriving WHERE part = ?", (part,))


def _offer(row: Sequence[object]) -> Offer:
    url, server, unit, code, inherited, depth, redirects = row
    return Offer(url, server, unit, code, PageLanguage(inherited), depth, redirects)  # type: ignore[arg-type]


def _waits(given: UrlGiven) -> bool:
    return not (given.outcome or given.is_postponed)
