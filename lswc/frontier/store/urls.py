"""URLs of a SQLite file: what is known of those that are offered, finished, postponed, reopened."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from json import dumps
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from lswc.frontier.rules.contract import FULL, discarded_as, is_twin_of_redirect
from lswc.frontier.rules.visit import keys
from lswc.frontier.store.index import Line
from lswc.frontier.store.lines import PUT_OLDEST
from lswc.frontier.store.postponed import Postponed
from lswc.frontier.store.room import keep_left_out
from lswc.frontier.store.servers import UNSAID, begin, read_tallies, write_tallies
from lswc.outcomes import OF_ELSEWHERE, OF_REQUISITE, Outcome
from lswc.strategy import DISCARD, REQUISITE, SEED, better, distance_of
from lswc.urls import site_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from lswc.frontier.rules.visit import Offer
    from lswc.frontier.store.lines import Lines
    from lswc.frontier.store.room import Room
    from lswc.frontier.store.servers import Met, Servers, Tallies
# A redirect whose https twin took its place has no fingerprint. What a line is: lines.py.
# `later`: how often a URL was postponed, and how it ended last, until it is finished; while it
# waits its outcome is POSTPONED. When it is due only the process knows: to start again tries all.
# `again` are URLs that wait though their page was counted: it isn't counted once more. `file`
# has the lengths of the crawl's files at the last commit, by their paths in its folder.
SCHEMA = """
CREATE TABLE url (
    seq INTEGER PRIMARY KEY, fingerprint INTEGER UNIQUE, url TEXT NOT NULL,
    server INTEGER NOT NULL, unit INTEGER NOT NULL, line INTEGER NOT NULL, code INTEGER NOT NULL,
    inherited INTEGER NOT NULL, depth INTEGER NOT NULL, redirects INTEGER NOT NULL,
    referrer INTEGER, outcome TEXT);
CREATE TABLE later (seq INTEGER PRIMARY KEY, tries INTEGER NOT NULL, outcome TEXT NOT NULL);
CREATE TABLE again (seq INTEGER PRIMARY KEY);
CREATE TABLE file (name TEXT PRIMARY KEY, length INTEGER NOT NULL) WITHOUT ROWID;
"""
BY_DIRECTORY = "CREATE INDEX waiting_of_unit ON url (unit) WHERE outcome IS NULL"

_Row = list[Any]  # of the table url, without the outcome
_SERVER, _LINE, _CODE, _DEPTH = 3, 5, 6, 8
_INSERT = "INSERT INTO url VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)"

_HERE = f"outcome <> '{Outcome.POSTPONED}' AND outcome NOT LIKE '{OF_ELSEWHERE}%'"
FINISHED = f"SELECT url, outcome FROM url WHERE {_HERE}"
NAMED = (
    f"SELECT url, CASE WHEN code >= {REQUISITE} THEN '{OF_REQUISITE}' || outcome ELSE outcome END"
    f" FROM url WHERE {_HERE}"
)
"""The finished URLs and their outcomes; of a requisite with OF_REQUISITE before it."""
FINISHED_ELSEWHERE = f"SELECT url FROM url WHERE outcome LIKE '{OF_ELSEWHERE}%'"
"""The URLs that another worker finished; this one may have visited their pages again."""

_FIND = (
    "SELECT fingerprint, seq, line, code, depth, CASE WHEN outcome IS NULL THEN 0"
    f" WHEN (outcome = '{Outcome.REDIRECT}' OR outcome LIKE '{OF_ELSEWHERE}% {Outcome.REDIRECT}')"
    " AND url LIKE 'http:%' THEN 2 ELSE 1 END"
    " FROM json_each(?) CROSS JOIN url ON fingerprint = value"
)
_TWIN = {"http": "https", "https": "http"}
_ENDED = -1  # instead of a code

KEPT = 20_000
"""URLs that are kept in memory at most, those found lately: some 5 MB."""

WAITS, ENDED, MOVED = range(3)
"""States of a URL: it waits or is leased; is finished; finished as http that only redirected."""


class Known(NamedTuple):
    """What the file knows of a URL. Its ``state`` is WAITS, ENDED or MOVED."""

    seq: int
    line: int
    code: int
    depth: int
    state: int


# A page names many, and this takes a third of the time that Known(...) does.
_known: Callable[[tuple[int, ...]], Known] = partial(tuple.__new__, Known)


class Urls:
    """All URLs of a file: takes offers, and lets URLs be pending again.

    ``again`` are the numbers of those that are pending though their page was counted, ``next_seq``
    is that of the next new one.
    """

    def __init__(
        self, db: sqlite3.Connection, servers: Servers, lines: Lines, room: Room, tallies: Tallies
    ) -> None:
        self._db = db
        self._servers = servers
        self._lines = lines
        self._room = room
        self._tallies = tallies
        self._discards = any(DISCARD in cells for cells in lines.strategy.cell_of)
        self._why_discarded = discarded_as(lines.strategy)
        self._seen = Seen(db)
        self.postponed = Postponed(db)

    def load(self) -> None:
        """Take what the file holds."""
        self._seen.forget()
        self.postponed.load()
        (last,) = self._db.execute("SELECT max(seq) FROM url").fetchone()
        self.next_seq = 1 + (last or 0)
        self.again = {seq for (seq,) in self._db.execute("SELECT seq FROM again")}

    def discarded(self, number: int) -> None:
        """Take notice of URLs that are there no more, as the place of their servers changed."""
        if number:
            self._seen.forget()
            self._tallies.add("discarded", self._why_discarded, number)

    def _move(self, supports: Mapping[int, int]) -> None:
        """Ask the strategy again about the URLs of sites that have a new support."""
        for site, support in supports.items():
            moved = self._servers.supported(site, support)
            self.discarded(sum(self._lines.move(unit, unit, moved[unit]) for unit in moved))

    def store(self, offers: Sequence[Offer], referrer: int | None, by: int | None = None) -> None:
        """Take the offers of a page, by its number and that of its site, or of nobody.

        The number of another worker's page is less than 0.
        """
        lines = self._lines
        if not offers:
            return
        born = lines.families.room(by)
        if born is None:
            offers, born = self._of_known_sites(offers, by), UNSAID
        names = dict.fromkeys(offer.server for offer in offers).keys()
        servers = self._servers.servers(names, born)
        supports = lines.link([met.id for met in servers.values()], by, born)
        if supports:
            self._move(supports)
            servers = self._servers.servers(names)
        units = servers
        if not self._lines.by_server:
            units = self._servers.units({offer.unit for offer in offers})
        if self._discards:
            offers = self._kept_of(offers, units)
        offers = self._seen.changing(offers)
        if offers:
            self.insert(self._new(offers, servers, units, referrer), servers)

    def without_room(self, offers: Sequence[Offer], by: int | None) -> set[str]:
        """Return the servers of offers of a page of the site ``by`` whose sites have no room.

        That are those that weren't met before, once no more unproven ones may wait.
        """
        if self._lines.families.room(by) is not None:
            return set()
        sites = {offer.server: site_of(offer.server) for offer in offers}
        known = self._servers.sites(set(sites.values()))
        return {server for server, site in sites.items() if site not in known}

    def _of_known_sites(self, offers: Sequence[Offer], by: int | None) -> list[Offer]:
        """Return the offers of sites that were met before, as no more unproven ones may wait."""
        without_room = self.without_room(offers, by)
        kept = [offer for offer in offers if offer.server not in without_room]
        if len(kept) < len(offers):
            self._tallies.add("discarded", Outcome.TOO_MANY_UNPROVEN, len(offers) - len(kept))
        return kept

    def _kept_of(self, offers: Sequence[Offer], units: Mapping[str, Met]) -> list[Offer]:
        """Return the offers that the strategy keeps: places changed since it was asked."""
        cell = self._lines.strategy.cell
        kept = [offer for offer in offers if cell(offer.code, units[offer.unit].place) != DISCARD]
        if len(kept) < len(offers):
            self._tallies.add("discarded", self._why_discarded, len(offers) - len(kept))
        return kept

    def _new(
        self, offers: Sequence[Offer], servers: Mapping[str, Met], units: Mapping[str, Met],
        referrer: int | None,
    ) -> list[_Row]:  # fmt: skip
        """Return the rows of the URLs that aren't known; take what is better of the others."""
        new: dict[int, _Row] = {}  # by their keys
        asked = keys(offers)
        seen = self._seen.find(asked)
        kind_of, by_server = self._lines.strategy.kind_of, self._lines.by_server
        cell, seq = self._lines.strategy.cell, self.next_seq
        for offer, fingerprint in zip(offers, asked, strict=True):
            url, name, unit_name, code, inherited, depth, redirects = offer
            unit, place = units[unit_name][:2]
            row = [
                seq, fingerprint, url, servers[name][0], unit,
                kind_of[code] if by_server else cell(code, place),  # inline: for every link
                code, int(inherited), depth, redirects, referrer,
            ]  # fmt: skip
            first = new.get(fingerprint)
            found = seen.get(fingerprint) if first is None else _of_row(first)
            if found is not None and found.state == MOVED and is_twin_of_redirect(offer):
                self._db.execute("UPDATE url SET fingerprint = NULL WHERE seq = ?", (found.seq,))
                self._seen.changed(url)
                found = None
            if found is None:
                new[fingerprint] = row
                seq += 1
                continue
            if found.state == WAITS:
                seen[fingerprint] = found = self._found_again(row, place, found, first)
            self._seen.keep(offer, found)
        self.next_seq = seq
        return list(new.values())

    def _found_again(self, row: _Row, place: int, found: Known, first: _Row | None) -> Known:
        """Take what an offer of a URL that waits has better; return what is known of it then.

        ``row`` is the offer's, in a place; ``first`` that of the URL if it isn't stored yet.
        """
        seq, known_line, code, known_depth, _ = found
        row[_DEPTH] = depth = min(row[_DEPTH], known_depth)
        url, server, line = row[2], row[_SERVER], row[_LINE]
        if row[_CODE] != code and self._is_better(row, place, found):
            if first is not None:
                first[_LINE:] = row[_LINE:]
            else:
                self._db.execute(
                    "UPDATE url SET line = ?, code = ?, inherited = ?, depth = ?, redirects = ?,"
                    " referrer = ? WHERE seq = ?",
                    (*row[_LINE:], seq),
                )
                if line != known_line:
                    if seq in self._lines.leased:
                        self._lines.leased[seq] = server, line
                    self._lines.take(server, known_line)  # it may be the first of both
                    self._lines.put(Line(server, line, self._lines.cell_of(line, place), seq))
            self._seen.changed(url)
            return found._replace(line=line, code=row[_CODE], depth=depth)
        if depth == known_depth:
            return found
        if first is not None:
            first[_DEPTH] = depth
        else:
            self._db.execute("UPDATE url SET depth = ? WHERE seq = ?", (depth, seq))
        self._seen.changed(url)
        return found._replace(depth=depth)

    def _is_better(self, row: _Row, place: int, known: Known) -> bool:
        rank, cell_of = self._lines.rank, self._lines.cell_of
        cell, known_cell = cell_of(row[_LINE], place), cell_of(known.line, place)
        return better(
            rank(cell), distance_of(row[_CODE]), rank(known_cell), distance_of(known.code)
        )

    def insert(self, new: list[_Row], servers: Mapping[str, Met]) -> None:
        """Add URLs that aren't known, of these servers, to lines; ``next_seq`` has them."""
        if not new:
            return
        place_of = {met.id: met.place for met in servers.values()}
        new = self._without_hopeless(new, place_of)
        self._db.executemany(_INSERT, new)
        lines: dict[tuple[int, int], list[int]] = {}
        for row in new:
            server, line = where = row[_SERVER], row[_LINE]
            if where in lines:
                lines[where][-1] += 1
            else:
                lines[where] = [self._lines.cell_of(line, place_of[server]), row[0], 1]
        self._lines.put_new(lines)
        self._make_room(place_of)

    def _without_hopeless(self, new: list[_Row], place_of: Mapping[int, int]) -> list[_Row]:
        """Return the new URLs that there is room for; a server that is full has many that aren't.

        To store them and to discard them at once would take twice the time.
        """
        if not self._room.may_lack(place_of, len(new)):
            return new
        found: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for row in new:
            server = row[_SERVER]
            cell = self._lines.cell_of(row[_LINE], place_of[server])
            found[server].append((cell, row[0]))
        hopeless = {server: self._room.hopeless(server, rows) for server, rows in found.items()}
        gone: dict[tuple[int, str], int] = {
            (server, FULL["server"]): len(seqs) for server, seqs in hopeless.items() if seqs
        }
        if not gone:
            return new
        keep_left_out(self._db, gone)
        self._tallies.add("discarded", FULL["server"], sum(gone.values()))
        left = {seq for seqs in hopeless.values() for seq in seqs}
        for row in new:
            if row[0] in left:
                self._seen.changed(row[2])
        return [row for row in new if row[0] not in left]

    def _make_room(self, servers: Collection[int]) -> None:
        """Discard the worst URLs of servers that have too many."""
        gone = self._room.make(servers)
        if gone:
            self._seen.forget()
        for (_, reason), number in gone.items():
            self._tallies.add("discarded", reason, number)

    def bring_back(self, now: float) -> None:
        """Let the postponed URLs that are due be pending in a line again."""
        servers = {self._bring_back(seq) for seq in self.postponed.take_due(now)}
        if servers:
            self._make_room(servers)

    def _bring_back(self, seq: int) -> int:
        """Let a URL be pending; return the number of its server."""
        begin(self._db)
        server, unit, code, outcome, url = self._db.execute(
            "SELECT server, unit, code, later.outcome, url FROM url JOIN later USING (seq)"
            " WHERE seq = ?",
            (seq,),
        ).fetchone()
        self._seen.changed(url)
        self._tallies.add("postponed", outcome, -1)
        place = self._servers.place(unit)
        cell = self._lines.strategy.cell(code, place)
        if cell == DISCARD:
            self._db.execute("DELETE FROM url WHERE seq = ?", (seq,))
            self.postponed.forget(seq)
            self._tallies.add("discarded", self._why_discarded)
        else:
            line = self._lines.line_of(code, place)
            self._db.execute("UPDATE url SET outcome = NULL, line = ? WHERE seq = ?", (line, seq))
            self._lines.put(Line(server, line, cell, seq))
        return int(server)

    def known(self, names: Sequence[int]) -> Collection[int]:
        """Return which of these keys are those of URLs that are there."""
        return self._seen.find(names).keys()

    def finished_as(self, name: int) -> int | None:
        """Return the number of a finished URL by its key; None of another."""
        row = self._db.execute(
            "SELECT seq FROM url WHERE fingerprint = ? AND outcome <> ?", (name, Outcome.POSTPONED)
        ).fetchone()
        return None if row is None else int(row[0])

    def add_ended(self, row: _Row, outcome: str) -> None:
        """Add a URL that waits in no line."""
        self._db.execute(f"{_INSERT[: _INSERT.rindex('NULL')]}?)", (*row, outcome))

    def ended_elsewhere(self, name: int, outcome: str) -> None:
        """Let a URL wait no more, by its key, that another worker finished; not a leased one.

        What was known before of another worker that finished it counts no more.
        """
        row = self._db.execute(
            "SELECT seq, server, line, url, outcome FROM url WHERE fingerprint = ?"
            f" AND (outcome IS NULL OR outcome LIKE '{OF_ELSEWHERE}%')",
            (name,),
        ).fetchone()
        if row is None:
            return
        seq, server, line, url, before = row
        if before is None and seq in self._lines.leased:
            return
        self._db.execute("UPDATE url SET outcome = ? WHERE seq = ?", (outcome, seq))
        if before is None:
            self._lines.take(server, line)
        self._seen.changed(url)

    def take_finished_elsewhere(self, name: int) -> int | None:
        """Take out a URL that another worker finished, by its key: it waits again, where it is now.

        Returns its number; None of any other URL.
        """
        row = self._db.execute(
            f"DELETE FROM url WHERE fingerprint = ? AND outcome LIKE '{OF_ELSEWHERE}%'"
            " RETURNING seq, url",
            (name,),
        ).fetchone()
        if row is None:
            return None
        self._seen.changed(row[1])
        return int(row[0])

    def count_no_more(self, seq: int) -> None:
        """Keep that the page of a URL was counted before."""
        self._db.execute("INSERT OR IGNORE INTO again VALUES (?)", (seq,))
        self.again.add(seq)

    def remove(self, seqs: Collection[int]) -> None:
        """Take URLs out that wait, or are postponed, and aren't leased: another worker has them."""
        named = dumps(list(seqs))
        among = "IN (SELECT value FROM json_each(?))"
        waiting = self._db.execute(
            f"SELECT server, line, count(*) FROM url WHERE seq {among} AND outcome IS NULL"
            " GROUP BY server, line",
            (named,),
        ).fetchall()
        reasons = self._db.execute(
            "SELECT later.outcome, count(*) FROM later JOIN url USING (seq)"
            f" WHERE seq {among} AND url.outcome = ? GROUP BY later.outcome",
            (named, Outcome.POSTPONED),
        ).fetchall()
        for outcome, number in reasons:
            self._tallies.add("postponed", outcome, -number)
        for table in ("later", "again", "url"):
            self._db.execute(f"DELETE FROM {table} WHERE seq {among}", (named,))
        for server, line, number in waiting:
            self._lines.take(server, line, number)
        if reasons:
            self.postponed.leave_out(set(seqs))
        self.again -= set(seqs)
        self._seen.forget()

    def finished_by(self, worker: int) -> list[tuple[int, str]]:
        """Return the URLs that another worker finished: their numbers, and their sites."""
        return self._db.execute(
            "SELECT seq, site.name FROM url JOIN server ON server.id = url.server"
            " JOIN site ON site.id = server.site WHERE outcome LIKE ?",
            (f"{OF_ELSEWHERE}{worker} %",),
        ).fetchall()

    def fetch_again(self, seqs: Iterable[int]) -> None:
        """Let URLs wait, by their numbers, of which a worker's disk lost what they brought."""
        for seq in seqs:
            self._db.execute("UPDATE url SET outcome = ? WHERE seq = ?", (Outcome.POSTPONED, seq))
            self.postponed.keep(seq, 0, Outcome.LOST)
            self.postponed.wait(seq, 0.0)
            self._tallies.add("postponed", Outcome.LOST)
        self._seen.forget()

    def was_counted(self, seq: int) -> bool:
        """Tell, once, whether a URL's page was counted before it was lost."""
        if seq not in self.again:
            return False
        self._db.execute("DELETE FROM again WHERE seq = ?", (seq,))
        self.again.remove(seq)
        return True


def _of_row(row: _Row) -> Known:
    return Known(row[0], row[_LINE], row[_CODE], row[_DEPTH], WAITS)


class Seen:
    """Finds URLs again by their fingerprints.

    Most links of a page lead where others led. So it is kept of URLs that were found again what
    an offer must bring to change anything.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._kept: dict[str, tuple[int, int]] = {}

    def forget(self) -> None:
        """Keep nothing: any URL may be there no more, or wait again."""
        self._kept.clear()

    def changed(self, url: str) -> None:
        """Forget a URL, and its http or https twin: they are known by one fingerprint."""
        scheme, _, name = url.partition("://")
        for twin in (f"{scheme}://{name}", f"{_TWIN[scheme]}://{name}"):
            for code in (SEED, REQUISITE):
                self._kept.pop(_name(twin, code), None)

    def changing(self, offers: Iterable[Offer]) -> list[Offer]:
        """Return the offers that may change something: all but those that certainly don't."""
        kept = self._kept
        found = []
        for offer in offers:
            last = kept.get(_name(offer.url, offer.code))
            # A redirect may take its http twin's place.
            if last is None or offer.redirects or _changes(offer, *last):
                found.append(offer)
        return found

    def keep(self, offer: Offer, found: Known) -> None:
        """Keep what is known of the URL of an offer."""
        if found.state == MOVED or offer.code > REQUISITE:
            return
        if len(self._kept) >= KEPT:
            self.forget()
        code = _ENDED if found.state == ENDED else found.code
        self._kept[_name(offer.url, offer.code)] = code, found.depth

    def find(self, keys: Sequence[int]) -> dict[int, Known]:
        """Return what the file knows, by the keys of URLs."""
        rows = self._db.execute(_FIND, (msgspec.json.encode(keys).decode(),))
        return {row[0]: _known(row[1:]) for row in rows}


def _changes(offer: Offer, code: int, depth: int) -> bool:
    return code != _ENDED and (code != offer.code or depth > offer.depth)


def _name(url: str, code: int) -> str:
    return url if code < REQUISITE else f"{code} {url}"


def reopen(db: sqlite3.Connection, urls: Iterable[str], lengths: Mapping[str, int]) -> int:
    """Let finished URLs wait again, and take the lengths of the files as they are now.

    Returns how many of the URLs were finished.
    """
    begin(db)
    db.execute("CREATE TEMP TABLE wanted (url TEXT PRIMARY KEY) WITHOUT ROWID")
    db.executemany("INSERT OR IGNORE INTO wanted VALUES (?)", ((url,) for url in urls))
    rows = db.execute(
        "SELECT seq, server, line FROM url JOIN wanted USING (url) WHERE outcome <> ?",
        (Outcome.POSTPONED,),
    ).fetchall()
    for seq, server, line in rows:
        db.execute("UPDATE url SET outcome = NULL WHERE seq = ?", (seq,))
        db.execute(PUT_OLDEST, (server, line, seq))
        db.execute("INSERT OR IGNORE INTO again VALUES (?)", (seq,))
    db.execute("DROP TABLE wanted")
    finished = db.execute(f"SELECT outcome, count(*) FROM ({FINISHED}) GROUP BY outcome")
    write_tallies(db, read_tallies(db) | {"finished": dict(finished.fetchall())})
    db.execute("DELETE FROM file")
    keep_lengths(db, lengths)
    db.execute("COMMIT")
    return len(rows)


def keep_lengths(db: sqlite3.Connection, lengths: Mapping[str, int]) -> None:
    """Note the lengths of files."""
    db.executemany("INSERT OR REPLACE INTO file VALUES (?, ?)", lengths.items())


def read_lengths(db: sqlite3.Connection) -> dict[str, int]:
    """Return the lengths of the crawl's files at the last commit."""
    return dict(db.execute("SELECT name, length FROM file").fetchall())
