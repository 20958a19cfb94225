"""Outbox: links to sites of other workers, kept with the page that has them until they arrived.

They are rows of the same transaction that ends the page. They are sent at least once, taken once,
and kept until the receiver has reported that its own file would outlast a power cut with them.
"""

from __future__ import annotations

from collections import defaultdict
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from lswc.frontier.exchange.messages import LINKS, Links, Message, Row, Vouching, pack
from lswc.frontier.exchange.owners import NOBODY, part_of
from lswc.strategy.families import UNPROVEN
from lswc.urls import site_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Sequence

    from lswc.frontier.exchange.owners import Owners
    from lswc.frontier.rules.visit import Offer
    from lswc.frontier.store.lines import Lines

# `part`: what this worker has, is giving away, or gave away; to which worker, which numbers of
# `outgoing` are the first and the last of that, and in which turn of the part. `late` are links to
# parts that are being given: they follow what is given. `received` is up to which of its numbers
# another worker's messages were taken. `elsewhere` are pages of other workers that have links,
# `arriving` servers of which URLs still come, `given` those that were given away.
SCHEMA = """
CREATE TABLE part (
    part INTEGER PRIMARY KEY, state INTEGER NOT NULL, worker INTEGER NOT NULL DEFAULT 0,
    since INTEGER NOT NULL DEFAULT 0, last INTEGER NOT NULL DEFAULT 0,
    turn INTEGER NOT NULL DEFAULT 0);
CREATE TABLE outgoing (
    id INTEGER PRIMARY KEY AUTOINCREMENT, worker INTEGER NOT NULL, links INTEGER NOT NULL,
    message BLOB NOT NULL);
CREATE INDEX outgoing_to ON outgoing (worker, id);
CREATE TABLE late (
    id INTEGER PRIMARY KEY, part INTEGER NOT NULL, links INTEGER NOT NULL, message BLOB NOT NULL);
CREATE TABLE received (worker INTEGER PRIMARY KEY, upto INTEGER NOT NULL);
CREATE TABLE elsewhere (id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE);
CREATE TABLE arriving (server INTEGER PRIMARY KEY, part INTEGER NOT NULL);
CREATE TABLE given (part INTEGER, server INTEGER, PRIMARY KEY (part, server)) WITHOUT ROWID;
"""

REMEMBERED = 100_000
"""Links that were sent lately, of which it is known that to send them again changes nothing."""

LINKS_WAITING = 5_000_000
"""Links that may wait, about 1 GB, before this worker asks for no more pages."""

KNOWN_SERVERS = 50_000
"""Servers of which it is known whose they are, at most."""

OWN = 0
"""Instead of a worker's number, of what is this one's."""


class State(IntEnum):
    """What this worker has of a part."""

    OWN, LEAVING, GIVEN = range(3)


class Part(NamedTuple):
    """A part that this worker has, gives, or gave: to which worker, by which messages, and in which
    ``turn`` of the table of owners.

    ``last`` is 0 until all is given.
    """

    state: State
    worker: int = NOBODY
    since: int = 0
    last: int = 0
    turn: int = 0


class Sendable(NamedTuple):
    """A message that waits to be sent: its number, how many links it has, and its bytes."""

    id: int
    links: int
    message: bytes


class Outbox:
    """What this worker owns, and what it has to send. All of it is in the frontier's file.

    ``links`` is how many wait until they arrived; ``is_shared`` says that other workers may have
    sites of this crawl. Callers keep the transactions.
    """

    def __init__(self, db: sqlite3.Connection, lines: Lines) -> None:
        self._db = db
        self._lines = lines
        self._owners: Owners | None = None
        self._sent: dict[int, int] = {}
        self._sent_before: dict[int, int] = {}
        self.me = NOBODY
        self.skipped = 0

    def load(self) -> None:
        """Take what the file holds."""
        rows = self._db.execute("SELECT * FROM part").fetchall()
        self.parts = {part: Part(State(state), *rest) for part, state, *rest in rows}
        (self.links,) = self._db.execute(
            "SELECT coalesce(sum(links), 0) FROM"
            " (SELECT links FROM outgoing UNION ALL SELECT links FROM late)"
        ).fetchone()
        self.is_shared = bool(self.parts) or self._owners is not None
        self._where: dict[str, int] = {}
        self._names: dict[int, str] = {}
        self._sent.clear()
        self._sent_before.clear()

    @property
    def own(self) -> tuple[int, ...]:
        """The parts that this worker has, those that it gives away among them."""
        return tuple(part for part, row in self.parts.items() if row.state != State.GIVEN)

    def know(self, me: int, owners: Owners) -> None:
        """Take notice of who owns what, and of this worker's number."""
        self.me, self._owners, self.is_shared = me, owners, True
        self._where.clear()

    def keep(self, part: int, row: Part | None) -> None:
        """Keep what this worker has of a part; None if that isn't its any more."""
        if row is None:
            self.parts.pop(part, None)
            self._db.execute("DELETE FROM part WHERE part = ?", (part,))
        else:
            self.parts[part], self.is_shared = row, True
            self._db.execute("INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?, ?, ?)", (part, *row))
        if row is not None and row.state == State.OWN:
            self._db.execute("DELETE FROM given WHERE part = ?", (part,))
        self._where.clear()

    def is_own(self, server: str) -> bool:
        """Tell whether a server's URLs are asked for by this worker now."""
        return not self.is_shared or self.place(server) == OWN

    def divert(
        self,
        offers: Sequence[Offer],
        referrer: str | None,
        vouching: Callable[[], Vouching | None],
        *,
        again: bool = False,
    ) -> Sequence[Offer]:
        """Return the offers of own sites, and keep the others to be sent.

        They are of a page, by its URL, whose site is ``vouching``; or of nobody. Those that are
        sent ``again`` go, whatever was sent lately.
        """
        if not self.is_shared:
            return offers
        own: list[Offer] = []
        foreign: defaultdict[int, list[Offer]] = defaultdict(list)
        where = self._where
        for offer in offers:
            place = where.get(offer.server)
            if place is None:
                place = self.place(offer.server)
            if place == OWN:
                own.append(offer)
            else:
                foreign[place].append(offer)
        if foreign:
            self._keep_all(foreign, referrer, vouching(), again=again)
        return own

    def place(self, server: str) -> int:
        """Return whose a server is: 0 if own, a worker, or -1 minus a part that is being given."""
        part = part_of(site_of(server))
        row = self.parts.get(part)
        if row is None:
            place = self.owner(part) or -1 - part
        else:
            place = (OWN, -1 - part, row.worker)[row.state]
        if len(self._where) >= KNOWN_SERVERS:
            self._where.clear()
        self._where[server] = place
        return place

    def owner(self, part: int) -> int:
        """Return the other worker that has a part; NOBODY if that isn't known, or soon another."""
        if self._owners is None or part in self.parts:
            return NOBODY
        owner = self._owners.of_part[part]
        return NOBODY if owner == self.me or owner in self._owners.lost else owner

    def turn(self, part: int) -> int:
        """Return how often a part has come to another worker, as far as this one knows."""
        return 0 if self._owners is None else self._owners.turns[part]

    def is_lost(self, worker: int) -> bool:
        """Tell whether another worker's disk is lost, as far as this one knows."""
        return self._owners is not None and worker in self._owners.lost

    def is_known(self, part: int) -> bool:
        """Tell whether links to a part can be sent, or are to own sites."""
        row = self.parts.get(part)
        return self.owner(part) != NOBODY or (row is not None and row.state != State.LEAVING)

    def vouching(self, server: int | None) -> Vouching | None:
        """Return what is known of the site of a server, by its number, if that matters."""
        families = self._lines.families
        if server is None or not families.is_on:
            return None
        site = self._lines.sizes.site(server)
        family, branch = families.descent(site)
        names = (self.name_of(site), self.name_of(family), self.name_of(branch))
        return Vouching(names[0], families.level[site], *names[1:])

    def name_of(self, site: int) -> str:
        """Return the name of a site by its number; "" for 0."""
        if site and site not in self._names:
            row = self._db.execute("SELECT name FROM site WHERE id = ?", (site,)).fetchone()
            if len(self._names) >= KNOWN_SERVERS:
                self._names.clear()
            self._names[site] = str(row[0])
        return self._names[site] if site else ""

    def _keep_all(
        self,
        foreign: dict[int, list[Offer]],
        referrer: str | None,
        vouching: Vouching | None,
        *,
        again: bool,
    ) -> None:
        for place, offers in foreign.items():
            if place > OWN and not again:
                offers = [offer for offer in offers if self._is_news(offer, vouching)]
            rows: list[Row] = [tuple(offer) for offer in offers]  # type: ignore[misc]
            for first in range(0, len(rows), LINKS):
                few = rows[first : first + LINKS]
                self.send(place, Links(referrer, vouching, few), len(few))

    def _is_news(self, offer: Offer, vouching: Vouching | None) -> bool:
        """Tell whether a link may change anything where it leads to, and remember it.

        Not if one like it was sent lately, unless its site vouches for the other one.
        """
        name = hash((offer.url, offer.code))
        depth = self._sent.get(name, self._sent_before.get(name))
        is_news = depth is None or offer.depth < depth or offer.redirects > 0
        if is_news:
            self._remember(name, offer.depth)
        if vouching is not None and vouching.level != UNPROVEN:
            pair = hash((site_of(offer.server), vouching.site))
            if pair not in self._sent and pair not in self._sent_before:
                self._remember(pair, 0)
                is_news = True
        self.skipped += not is_news
        return is_news

    def _remember(self, name: int, depth: int) -> None:
        if len(self._sent) >= REMEMBERED:
            self._sent_before, self._sent = self._sent, {}
        self._sent[name] = depth

    def send(self, place: int, message: Message, links: int = 0) -> int:
        """Keep a message for a worker, or -1 minus a part whose worker isn't known; its number."""
        return self.forward(place, links, pack(message))

    def forward(self, place: int, links: int, message: bytes) -> int:
        """Keep a message as ``send`` does that is packed already."""
        self.links += links
        if place < OWN:
            query = "INSERT INTO late (part, links, message) VALUES (?, ?, ?)"
            place = -1 - place
        else:
            query = "INSERT INTO outgoing (worker, links, message) VALUES (?, ?, ?)"
        return self._db.execute(query, (place, links, message)).lastrowid or 0

    @property
    def latest(self) -> int:
        """The number of the message that was kept last."""
        row = self._db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'outgoing'").fetchone()
        return 0 if row is None else int(row[0])

    def take_late(self, part: int) -> list[tuple[int, bytes]]:
        """Return the messages for a part that aren't addressed, with their links; forget them."""
        rows = self._db.execute(
            "SELECT links, message FROM late WHERE part = ? ORDER BY id", (part,)
        ).fetchall()
        self._db.execute("DELETE FROM late WHERE part = ?", (part,))
        self.links -= sum(links for links, _ in rows)
        return rows

    @property
    def late_parts(self) -> list[int]:
        """The parts for which messages wait that aren't addressed yet."""
        return [part for (part,) in self._db.execute("SELECT DISTINCT part FROM late")]

    def waiting(self, worker: int, after: int, most: int) -> list[Sendable]:
        """Return the next messages to a worker, with higher numbers than ``after``."""
        rows = self._db.execute(
            "SELECT id, links, message FROM outgoing WHERE worker = ? AND id > ?"
            " ORDER BY id LIMIT ?",
            (worker, after, most),
        )
        return [Sendable(*row) for row in rows.fetchall()]

    def addressed(self) -> list[int]:
        """Return the workers for which messages are kept."""
        found, worker = [], NOBODY
        while (
            row := self._db.execute(
                "SELECT min(worker) FROM outgoing WHERE worker > ?", (worker,)
            ).fetchone()
        )[0] is not None:
            worker = int(row[0])
            found.append(worker)
        return found

    def arrived(self, worker: int, upto: int) -> None:
        """Forget the messages that a worker has for good, up to a number of theirs.

        What is given goes as a whole: it is kept until its last message arrived.
        """
        given = [row for row in self.parts.values() if row.worker == worker]
        under_way = [row.since for row in given if not 0 < row.last <= upto]
        upto = min([upto, *(first - 1 for first in under_way)])
        where = "WHERE worker = ? AND id <= ?"
        (links,) = self._db.execute(
            f"SELECT sum(links) FROM outgoing {where}", (worker, upto)
        ).fetchone()
        if links is not None:
            self.links -= links
            self._db.execute(f"DELETE FROM outgoing {where}", (worker, upto))

    def readdressed(self, worker: int) -> Iterable[bytes]:
        """Return the messages that a lost worker hasn't got, and keep them for it no more."""
        rows = self._db.execute(
            "SELECT links, message FROM outgoing WHERE worker = ? ORDER BY id", (worker,)
        ).fetchall()
        self._db.execute("DELETE FROM outgoing WHERE worker = ?", (worker,))
        self.links -= sum(links for links, _ in rows)
        return [message for _, message in rows]
