"""Pages visited again, in a SQLite file: which is next, and what its visits taught."""

from __future__ import annotations

import logging
from json import dumps
from typing import TYPE_CHECKING, Any, NamedTuple

from lswc.frontier.rules.revisited import (
    BELIEVED,
    CLAIMS,
    DISBELIEVED,
    IDLE,
    LOOKED_AT,
    ORDERED,
    Became,
    Claim,
    Claims,
    Kind,
    Revisited,
    after_first_visit,
    as_recorded,
    first_wait,
    is_revisited_after,
    is_wanted,
    kind_of,
    learn,
    usual_of,
)
from lswc.frontier.store.index import Line
from lswc.outcomes import RECORDED, Outcome
from lswc.strategy.revisits import FIRST_CHANGES, FIRST_NEW, Budget, first_price, next_price
from lswc.urls import fingerprint

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Container, Iterable, Mapping, Sequence

    from lswc.frontier.rules.contract import Terms
    from lswc.frontier.rules.visit import Visit
    from lswc.frontier.store.servers import Tallies

# `mark` is the first number that a URL could have had once the page's first visit had ended: what
# it named then was no news. A `rate` of site 0 is that of all sites; the days are of both.
# `given_revisited` has pages as they went to another worker: all there is, should its disk be lost.
SCHEMA = """
CREATE TABLE IF NOT EXISTS revisited (
    seq INTEGER PRIMARY KEY, mark INTEGER NOT NULL, visited REAL NOT NULL, shape REAL NOT NULL,
    days REAL NOT NULL, new INTEGER NOT NULL, seen REAL NOT NULL, kind INTEGER NOT NULL,
    visits INTEGER NOT NULL, misses INTEGER NOT NULL, is_gone INTEGER NOT NULL, simhash INTEGER,
    due REAL NOT NULL, claim INTEGER NOT NULL DEFAULT 0, heard REAL NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS revisited_by_due ON revisited (due, seq);
CREATE TABLE IF NOT EXISTS given_revisited AS SELECT * FROM revisited WHERE 0;
CREATE UNIQUE INDEX IF NOT EXISTS given_revisited_by_seq ON given_revisited (seq);
CREATE TABLE IF NOT EXISTS rate (
    kind INTEGER, site INTEGER, changes REAL NOT NULL, new REAL NOT NULL, days REAL NOT NULL,
    PRIMARY KEY (kind, site)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS claims (
    server INTEGER PRIMARY KEY, changed INTEGER NOT NULL, right_changed INTEGER NOT NULL,
    unchanged INTEGER NOT NULL, right_unchanged INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS price (price REAL NOT NULL);
"""
_COLUMNS = (
    "visited, shape, days, new, seen, kind, visits, misses, is_gone, simhash, due, claim, heard"
)
_VALUES = ", ".join(f"revisited.{name}" for name in _COLUMNS.split(", "))
_NEXT = (
    f"SELECT seq, url.server, url.unit, url.line, {_VALUES}"
    " FROM revisited INDEXED BY revisited_by_due CROSS JOIN url USING (seq)"
    " WHERE (due, seq) > (?, ?) ORDER BY due, seq LIMIT ?"
)
_OF_SITES = (
    f"SELECT seq, server.site, {_VALUES}"
    " FROM revisited CROSS JOIN url USING (seq) JOIN server ON server.id = url.server"
)
_PLACES = ", ".join("?" * (_COLUMNS.count(",") + 1))
_SET = f"UPDATE revisited SET ({_COLUMNS}) = ({_PLACES}) WHERE seq = ?"
_INSERT = f"INSERT INTO revisited (seq, mark, {_COLUMNS}) VALUES (?, ?, {_PLACES})"
_OF_SERVER = f"{_OF_SITES} WHERE url.fingerprint = ? AND url.server = ?"
_CLAIMED = (
    "INSERT INTO claims SELECT server, ?, ?, ?, ? FROM url WHERE seq = ? ON CONFLICT DO UPDATE SET"
    " changed = changed + excluded.changed, right_changed = right_changed + excluded.right_changed,"
    " unchanged = unchanged + excluded.unchanged,"
    " right_unchanged = right_unchanged + excluded.right_unchanged"
)
_FOUND = (
    "UPDATE revisited SET new = new + 1 WHERE mark <= ?1"
    " AND seq = (SELECT referrer FROM url WHERE seq = ?1) RETURNING seq, kind"
)
_LEARN = (
    "INSERT INTO rate VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
    " changes = changes + excluded.changes, new = new + excluded.new, days = days + excluded.days"
)
_FIRST = (float("-inf"), 0)
_IS_KEPT = "SELECT 1 FROM sqlite_master WHERE name = 'revisited'"
_HAS_ALL = "SELECT 1 FROM about WHERE key = 'revisited'"

_PIECES = 20  # of a file, of which a sample is
_SIGN = 1 << 63

logger = logging.getLogger(__name__)


class Chosen(NamedTuple):
    """A page to visit again: its line, by its number, and its unit; what is kept of it."""

    line: Line
    unit: int
    page: Revisited


class RevisitedPages:
    """The pages of a file that are visited again; none is, and nothing is kept, at a budget of 0.

    ``number`` is how many there are, ``price`` that of a visit. ``next_ready`` is when a look is
    worth while though no server becomes free till then, None if that is never.
    """

    next_ready: float | None = None
    is_kept = False
    """Whether the file has any, though they aren't visited now."""

    def __init__(self, db: sqlite3.Connection, terms: Terms, tallies: Tallies) -> None:
        self._db = db
        self._tallies = tallies
        self.is_on = terms.revisit > 0
        self.number, self.price = 0, 0.0
        self._budget_a_day, self._day, self._clock = terms.revisit, terms.day, terms.clock
        self._budget = Budget(terms.revisit, terms.day)
        self._looked_at, self._ordered = _FIRST, 0
        self._has_learned = False

    def load(self) -> None:
        """Take what the file has; a crawl that was begun without gets the tables.

        What one that visits nothing again has recorded, the next one that does visits again.
        """
        self.is_kept = self.is_on or self._db.execute(_IS_KEPT).fetchone() is not None
        if not self.is_on:
            self._db.execute("DELETE FROM about WHERE key IN ('revisit', 'revisited')")
            return
        self._db.executescript(SCHEMA)
        # For those who only read the file.
        terms = (f"{self._budget_a_day}", f"{self._day}")
        self._db.execute("INSERT OR REPLACE INTO about VALUES ('revisit', ?), ('day', ?)", terms)
        (self.number,) = self._db.execute("SELECT count(*) FROM revisited").fetchone()
        row = self._db.execute("SELECT price FROM price").fetchone()
        self.price = row[0] if row else first_price(self._budget_a_day)
        self._looked_at, self._ordered = _FIRST, 0
        self._has_learned = self._db.execute("SELECT 1 FROM rate").fetchone() is not None

    @property
    def used(self) -> float | None:
        """The share of the budget that was used since the file was opened; None of no budget."""
        return self._budget.used

    @property
    def _now(self) -> float:
        return self._clock() / self._day

    def next(self, now: float, busy: Container[int]) -> Chosen | None:
        """Return the page that is due first of all whose servers are free, and take a visit for it.

        None if there is none, or the budget is spent. ``now`` as for ``lease``.
        """
        if not self._budget.may_spend(self.number, now):
            self.next_ready = self._budget.next(self.number, now)
            return None
        chosen, self.next_ready = self._first_free(busy), None
        if chosen is None:
            self.next_ready = now + IDLE * self._day
            return None
        self._budget.spend()
        page, at = chosen.page, self._now
        if page.visited <= at:  # else the clock went back, which says nothing of the budget
            self.price = next_price(self.price, self.number, at, page.due, page.visited)
        return chosen

    def let_pass(self, now: float) -> None:
        """Look later for what was ready before ``now``: something else is leased instead."""
        if self.next_ready is not None and self.next_ready <= now:
            self.next_ready = now + IDLE * self._day

    def _first_free(self, busy: Container[int]) -> Chosen | None:
        """Look at some pages, further on each time: many may be of one server that is slow."""
        now = self._now
        rows = self._db.execute(_NEXT, (*self._looked_at, LOOKED_AT)).fetchall()
        last = _FIRST
        for seq, server, unit, line, *values in rows:
            page = _page(values)
            last = page.due, seq
            if server not in busy and page.may_be_asked(now):
                self._looked_at = _FIRST
                return Chosen(Line(server, line, 0, seq), unit, page)
        self._looked_at = _FIRST if len(rows) < LOOKED_AT else last
        return None

    def first_visit(self, visit: Visit, site: int, next_seq: int) -> None:
        """Visit a URL again whose first visit recorded something; its referrer has led to it."""
        if not is_revisited_after(visit):
            return
        seq = visit.lease.id
        # What is found before any page was visited again was no news of its referrer's.
        may_be_news = visit.relevant and "visited again" in self._tallies.by_kind
        row = self._db.execute(_FOUND, (seq,)).fetchone() if may_be_news else None
        if row is not None:
            self._learn(row[1], self._site_of(row[0]), new=1)
        usual = self._usual(kind_of(visit), site)
        page = after_first_visit(visit, self._now, usual, self.price)
        self.number += 1
        self._insert(seq, next_seq, page)

    def visited(self, visit: Visit, site: int, what: Became) -> None:
        """Learn by a visit of a page, and count it; perhaps it is visited no more."""
        seq = visit.lease.id
        row = self._db.execute(f"SELECT {_VALUES} FROM revisited WHERE seq = ?", (seq,)).fetchone()
        page = _page(row)
        usual = self._usual(page.kind, site)
        reason, changes, days, claim, is_right = learn(
            page, visit, what, self._now, usual, self.price
        )
        if days:
            self._learn(page.kind, site, changes=changes, days=days)
        if claim:
            self._judge(seq, claim, is_right=is_right)
        self._tallies.add("visited again", what)
        if reason:
            self._db.execute("DELETE FROM revisited WHERE seq = ?", (seq,))
            self.number -= 1
            self._tallies.add("no longer visited", reason)
        else:
            self._db.execute(_SET, (*_values(page), seq))
        self._order_some()
        self._db.execute("DELETE FROM price")
        self._db.execute("INSERT INTO price VALUES (?)", (self.price,))

    def hear(self, dates: Mapping[str, float], server: int) -> None:
        """Take notice of when pages of a server changed, in seconds, as a listing of its says.

        A page is due at once that changed since its last visit, if the server is believed.
        """
        if not dates:
            return
        row = self._db.execute("SELECT * FROM claims WHERE server = ?", (server,)).fetchone()
        is_believed = row is not None and Claims(*row[1:]).are_believed
        now, usual = self._now, dict[Kind, tuple[float, float]]()
        for url, changed in dates.items():
            found = self._db.execute(_OF_SERVER, (fingerprint(url), server)).fetchone()
            if found is None:
                continue
            seq, site, *values = found
            page = _page(values)
            claim = page.hear(changed / self._day, now, is_believed=is_believed)
            if claim == Claim.CHANGED:
                self._tallies.add(CLAIMS, BELIEVED if is_believed else DISBELIEVED)
            if page.heard and not (page.misses or page.is_gone):
                if page.kind not in usual:
                    usual[page.kind] = self._usual(page.kind, site)
                page.order(*usual[page.kind], self.price)
            self._db.execute(_SET, (*_values(page), seq))

    def _judge(self, seq: int, claim: Claim, *, is_right: bool) -> None:
        """Count whether what a page's server said of it was right."""
        said = claim == Claim.CHANGED
        self._db.execute(_CLAIMED, (said, said and is_right, not said, not said and is_right, seq))
        self._tallies.add(CLAIMS, "right" if is_right else "wrong")

    def _order_some(self) -> None:
        """Say anew when some pages are due, the next ones by their numbers."""
        rows = self._db.execute(
            f"{_OF_SITES} WHERE seq > ? AND misses = 0 AND is_gone = 0 ORDER BY seq LIMIT ?",
            (self._ordered, ORDERED),
        ).fetchall()
        self._ordered = rows[-1][0] if len(rows) == ORDERED else 0
        now = self._now
        for seq, site, *values in rows:
            page = _page(values)
            if page.visited > now:
                page.visited = now
                self._tallies.add("visited again", "clock went back")
            page.order(*self._usual(page.kind, site), self.price)
            self._db.execute(
                "UPDATE revisited SET visited = ?, due = ? WHERE seq = ?",
                (page.visited, page.due, seq),
            )

    def lost(self, urls: Iterable[str]) -> None:
        """Visit no more the pages whose records were lost. The transaction is the caller's."""
        self._db.executemany(
            "DELETE FROM revisited WHERE seq IN (SELECT seq FROM url WHERE url = ?)",
            ((url,) for url in urls),
        )

    def take_recorded(self, records: Iterable[Mapping[str, Any]], next_seq: int) -> None:
        """Visit again what was recorded, or read as a listing, while no page was visited again.

        In a transaction that is the caller's. Nothing is read if that was done.
        """
        if not self.is_on:
            logger.info("pages that were visited again aren't any more: LSWC_REVISIT is 0")
        if not self.is_on or self._db.execute(_HAS_ALL).fetchone():
            return
        wait = {kind: first_wait(kind, self._usual(kind, 0), self.price) for kind in Kind}
        for record in records:
            self._take_recorded(record, next_seq, wait)
        now, kind = self._now, Kind.LISTING
        self._db.execute(
            f"INSERT OR IGNORE INTO revisited (seq, mark, {_COLUMNS})"
            " SELECT seq, ?, ?, 0, 0, 0, 0, ?, 1, 0, 0, NULL, ?, 0, 0 FROM url WHERE outcome = ?",
            (next_seq, now, kind, now + wait[kind], Outcome.LISTING),
        )
        self._db.execute("INSERT INTO about VALUES ('revisited', 'all')")
        (self.number,) = self._db.execute("SELECT count(*) FROM revisited").fetchone()

    def _take_recorded(
        self, record: Mapping[str, Any], next_seq: int, wait: Mapping[Kind, float]
    ) -> None:
        """Visit a page again by its latest record; no more, if it isn't relevant any more."""
        row = self._db.execute(
            "SELECT seq, outcome FROM url WHERE fingerprint = ?", (fingerprint(record["url"]),)
        ).fetchone()
        if row is None:
            return
        (seq, outcome), visits = row, record.get("visit", 1)
        known = self._db.execute("SELECT visits FROM revisited WHERE seq = ?", (seq,)).fetchone()
        if known and known[0] >= visits:
            return
        self._db.execute("DELETE FROM revisited WHERE seq = ?", (seq,))
        if outcome in RECORDED and is_wanted(record):
            self._insert(seq, next_seq, as_recorded(record, self._day, self._now, wait))

    def _insert(self, seq: int, mark: int, page: Revisited) -> None:
        self._db.execute(_INSERT, (seq, mark, *_values(page)))

    def given(self, seqs: Iterable[int]) -> dict[int, list[float | None]]:
        """Return the columns of what is kept of pages by their numbers, to be given away."""
        if not self.is_kept:
            return {}
        among = "WHERE seq IN (SELECT value FROM json_each(?1))"
        rows = self._db.execute(
            f"SELECT seq, {_COLUMNS} FROM given_revisited {among}"
            f" UNION ALL SELECT seq, {_COLUMNS} FROM revisited {among}",
            (dumps(list(seqs)),),
        )
        return {seq: columns for seq, *columns in rows}

    def remove(self, seqs: Collection[int]) -> None:
        """Visit pages no more that were given away."""
        named = (dumps(list(seqs)),)
        among = "WHERE seq IN (SELECT value FROM json_each(?))"
        self._db.execute(
            f"INSERT OR REPLACE INTO given_revisited SELECT * FROM revisited {among}", named
        )
        self.number -= self._db.execute(f"DELETE FROM revisited {among}", named).rowcount

    def add(self, seq: int, mark: int, columns: Sequence[float | None]) -> None:
        """Visit a page again that another worker did, by what ``given`` returned there."""
        inserted = self._db.execute(f"{_INSERT} ON CONFLICT DO NOTHING", (seq, mark, *columns))
        self.number += inserted.rowcount
        self._db.execute("DELETE FROM given_revisited WHERE seq = ?", (seq,))

    def given_away(self) -> list[tuple[int, str]]:
        """Return the pages that went to another worker: their numbers, and their sites."""
        if not self.is_kept:
            return []
        return self._db.execute(
            "SELECT seq, site.name FROM given_revisited JOIN url USING (seq)"
            " JOIN server ON server.id = url.server JOIN site ON site.id = server.site"
        ).fetchall()

    def take_back(self, seqs: Iterable[int]) -> None:
        """Visit pages again that went to another worker, as they were then."""
        query = f"SELECT seq, mark, {_COLUMNS} FROM given_revisited WHERE seq = ?"
        for seq in seqs:
            _, mark, *columns = self._db.execute(query, (seq,)).fetchone()
            self.add(seq, mark, columns)

    def forget(self, seq: int) -> None:
        """Visit a page no more, by its number, that begins anew; nothing if it wasn't."""
        if self.is_kept:
            self.number -= self._db.execute("DELETE FROM revisited WHERE seq = ?", (seq,)).rowcount

    def ask_soon(self, seqs: Collection[int]) -> set[int]:
        """Let pages be due at once, as if they weren't had last time; return which they are."""
        if not self.is_on:
            return set()
        rows = self._db.execute(
            "UPDATE revisited SET due = ?, misses = max(misses, 1)"
            " WHERE seq IN (SELECT value FROM json_each(?)) RETURNING seq",
            (self._now, dumps(list(seqs))),
        )
        return {seq for (seq,) in rows.fetchall()}

    def of(self, seq: int) -> Revisited | None:
        """Return what is kept of a page by its number; None if it isn't visited again."""
        row = self._db.execute(f"SELECT {_VALUES} FROM revisited WHERE seq = ?", (seq,)).fetchone()
        return None if row is None else _page(row)

    def _site_of(self, seq: int) -> int:
        row = self._db.execute(
            "SELECT site FROM server WHERE id = (SELECT server FROM url WHERE seq = ?)", (seq,)
        )
        return int(row.fetchone()[0])

    def _learn(
        self, kind: int, site: int, changes: float = 0, new: float = 0, days: float = 0
    ) -> None:
        self._has_learned = True
        rows = [(kind, where, changes, new, days) for where in (0, site)]
        self._db.executemany(_LEARN, rows)

    def _usual(self, kind: Kind, site: int) -> tuple[float, float]:
        # Most pages of a first crawl come before any is visited again.
        return usual(self._db, kind, site) if self._has_learned else (FIRST_CHANGES, FIRST_NEW)


def usual(db: sqlite3.Connection, kind: Kind, site: int) -> tuple[float, float]:
    """Return the changes and the new pages a day to expect of a site's page of a kind."""
    rows = db.execute(
        "SELECT site, changes, new, days FROM rate WHERE kind = ? AND site IN (0, ?)",
        (kind, site),
    ).fetchall()
    known = {row[0]: row[1:] for row in rows}
    of_all, own = (known.get(where, (0.0, 0.0, 0.0)) for where in (0, site))
    return usual_of(of_all, own)


def sample(db: sqlite3.Connection, most: int) -> list[tuple[int, Revisited]]:
    """Return pages with their sites: all, or ``most`` of many, from all over the file."""
    (last,) = db.execute("SELECT coalesce(max(seq), 0) FROM revisited").fetchone()
    pieces = min(_PIECES, 1 + last // most)
    rows: list[Any] = []
    for piece in range(pieces):
        begin, end = last * piece // pieces, last * (piece + 1) // pieces
        rows += db.execute(
            f"{_OF_SITES} WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?",
            (begin, end, most // pieces),
        )
    return [(site, _page(values)) for _, site, *values in rows]


def page_of(db: sqlite3.Connection, url: str) -> tuple[int, Revisited] | None:
    """Return a page by its URL, with its site; None if it isn't visited again."""
    row = db.execute(f"{_OF_SITES} WHERE url.fingerprint = ?", (fingerprint(url),)).fetchone()
    return None if row is None else (row[1], _page(row[2:]))


def _page(values: list[float]) -> Revisited:
    visited, shape, days, new, seen, kind, visits, misses, is_gone, simhash, due, claim, heard = (
        values
    )
    unsigned = None if simhash is None else int(simhash) % (2 * _SIGN)
    return Revisited(
        visited, shape, days, int(new), seen,
        Kind(int(kind)), int(visits), int(misses), bool(is_gone), unsigned, due,
        Claim(int(claim)), heard,
    )  # fmt: skip


def _values(page: Revisited) -> tuple[float | int | None, ...]:
    simhash = page.simhash  # a number of SQLite's has a sign
    signed = None if simhash is None else (simhash + _SIGN) % (2 * _SIGN) - _SIGN
    return (
        page.visited, page.shape, page.days, page.new, page.seen,
        page.kind, page.visits, page.misses, page.is_gone, signed, page.due,
        page.claim, page.heard,
    )  # fmt: skip
