"""The frontier of one process: one SQLite file, one transaction a page."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import replace
from heapq import heappop, heappush
from itertools import count
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lswc.errors import StorageError
from lswc.frontier import (
    sqlite_again,
    sqlite_experience,
    sqlite_later,
    sqlite_queues,
    sqlite_report,
    sqlite_room,
    sqlite_tally,
    sqlite_units,
)
from lswc.frontier.contract import (
    NO_CAPS,
    SOON,
    Caps,
    Counts,
    FrontierError,
    changed_of,
    check_identity,
    is_far_better,
    is_twin_of_redirect,
    new_status,
    statuses_after,
)
from lswc.frontier.experience import identity_of
from lswc.frontier.harvest import harvest
from lswc.frontier.lease import Lease, keys
from lswc.frontier.lock import lock
from lswc.frontier.sqlite_later import Later
from lswc.frontier.sqlite_queues import Line, Queues, begin
from lswc.frontier.sqlite_room import New, Room
from lswc.frontier.sqlite_seen import MOVED, WAITS, Known, Seen
from lswc.frontier.sqlite_tally import Tally
from lswc.frontier.sqlite_units import Units
from lswc.outcomes import OF_QUOTA, Outcome, is_transient
from lswc.safety.quotas import Taken
from lswc.strategy import (
    DISCARD,
    REQUISITES,
    LearnedOrder,
    PageLanguage,
    Pages,
    Strategy,
    Unit,
    better,
    distance_of,
    order,
    strategy,
    with_requisites,
)
from lswc.strategy.status import NO_PAGES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from lswc.frontier.contract import Wanted
    from lswc.frontier.harvest import CellHarvest
    from lswc.frontier.lease import Offer
    from lswc.frontier.sqlite_units import Met
    from lswc.frontier.visit import Visit
    from lswc.strategy import Experience, Status

FORMAT = 9
MEMORY = ":memory:"


class _Held(NamedTuple):
    """What is leased: numbers of the lease, the server, the unit and the line; since when."""

    token: int
    server: int
    unit: int
    line: int
    since: float


_Row = list[Any]  # of the table url, without the outcome
_SERVER, _LINE, _CODE, _DEPTH = 3, 5, 6, 8
_INSERT = "INSERT INTO url VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)"

# A redirect whose https twin took its place has no fingerprint. What a line is: sqlite_queues.
_SCHEMA = f"""
CREATE TABLE about (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE url (
    seq INTEGER PRIMARY KEY, fingerprint INTEGER UNIQUE, url TEXT NOT NULL,
    server INTEGER NOT NULL, unit INTEGER NOT NULL, line INTEGER NOT NULL, code INTEGER NOT NULL,
    inherited INTEGER NOT NULL, depth INTEGER NOT NULL, redirects INTEGER NOT NULL,
    referrer INTEGER, outcome TEXT);
{sqlite_units.SCHEMA}{sqlite_queues.SCHEMA}{sqlite_later.SCHEMA}{sqlite_experience.SCHEMA}
{sqlite_again.SCHEMA}{sqlite_room.SCHEMA}{sqlite_tally.SCHEMA}
"""
_MAY_RETURN = ("finished", "put off")
_BY_DIRECTORY = "CREATE INDEX waiting_of_unit ON url (unit) WHERE outcome IS NULL"


class SqliteFrontier:
    """The frontier in a SQLite file, or in memory for a crawl that isn't kept.

    Writes since the last ``commit`` only hide lines of busy servers, so a kill loses nothing.
    ``identity`` says what the crawl is (language, strategy); a file made for another is
    refused. ``experience`` is what a new crawl begins with, ``patience`` that of
    ``is_far_better``. ``caps`` bound what waits. Raises FrontierError for that, for
    a foreign file, and if another process has it.
    """

    def __init__(
        self,
        path: Path | str,
        strategy: Strategy,
        identity: Mapping[str, str],
        delay: float = 0.0,
        experience: Experience | None = None,
        patience: float = 0.0,
        caps: Caps = NO_CAPS,
    ) -> None:
        self._strategy = strategy = with_requisites(strategy)
        self._patience = patience
        self._delay = delay
        self._by_server = strategy.unit is Unit.SERVER
        self._drops = any(DISCARD in cells for cells in strategy.cell_of)
        self._held: dict[int, _Held] = {}  # by the number of the URL
        self._tokens = count(1)
        self._ahead = Path(f"{path}-wal")
        self._saved = 0  # bytes of it
        self._resting: list[tuple[float, int]] = []
        self._lock = None if path == MEMORY else lock(Path(path).parent)
        self._db = sqlite3.connect(path, isolation_level=None, cached_statements=256)
        self._units = Units(self._db, strategy)
        self._queues = Queues(self._db)
        self._room = Room(self._db, self._queues, caps)
        self._later = Later(self._db)
        self._seen = Seen(self._db)
        self._tally = Tally(self._db)
        try:
            self._open(identity_of(strategy, identity, FORMAT), experience)
        except BaseException:
            self.close()
            raise

    def _open(self, identity: dict[str, str], experience: Experience | None) -> None:
        try:
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute("PRAGMA cache_size = -32768")
            # Checkpoints are the caller's: what they refer to must be durable before.
            self._db.execute("PRAGMA wal_autocheckpoint = 0")
            self._db.execute("PRAGMA journal_size_limit = 0")
            if self._value("SELECT count(*) FROM sqlite_master") == 0:
                self._create(identity, experience)
                self.checkpoint()
            found = dict(self._db.execute("SELECT key, value FROM about"))
            check_identity(found, identity, "choose another folder with LSWC_CRAWL")
            self._load()
        except sqlite3.OperationalError as error:
            raise StorageError(f"can't open the frontier: {error}") from error
        except sqlite3.DatabaseError as error:
            raise FrontierError(f"not a frontier of lswc, or a damaged one: {error}") from error

    def _create(self, identity: dict[str, str], experience: Experience | None) -> None:
        self._db.executescript(_SCHEMA)
        if not self._by_server:
            self._db.execute(_BY_DIRECTORY)
        if experience is not None:
            sqlite_experience.begin_with(self._db, experience)
        self._db.executemany("INSERT INTO about VALUES (?, ?)", identity.items())

    def _load(self) -> None:
        """Take what the file holds: when it is opened, and after a write that failed."""
        self._units.forget()
        self._seen.forget()
        self._tally.load()
        self._order = order(self._strategy, *sqlite_experience.load(self._db))
        self._queues.load(self._order.rank)
        self._later.load()
        self._next = 1 + (self._value("SELECT max(seq) FROM url") or 0)
        self._lengths = sqlite_again.lengths(self._db)
        self._again = {seq for (seq,) in self._db.execute("SELECT seq FROM again")}

    @property
    def pending(self) -> int:
        return self.unfinished - len(self._held)

    @property
    def servers(self) -> int:
        return self._value("SELECT max(id) FROM server") or 0

    @property
    def unfinished(self) -> int:
        return self._queues.waiting.total() + len(self._later)

    @property
    def requisites(self) -> int:
        return self._queues.waiting[REQUISITES]

    @property
    def later(self) -> int:
        return len(self._later)

    def next_due(self) -> float | None:
        return self._later.next_due

    def lengths(self) -> dict[str, int]:
        """Return the lengths of the crawl's files at the last commit."""
        return self._lengths

    def checkpoint(self) -> None:
        with self._errors():
            if self._db.in_transaction:  # of hidden lines, and URLs that came back
                self._tally.write()
                self._db.execute("COMMIT")
            self._db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        self._saved = self._size_ahead()

    @property
    def unsaved(self) -> int:
        size = self._size_ahead()
        if size < self._saved:  # it began anew, which it can't while somebody reads
            self._saved = 0
        return size - self._saved

    def _size_ahead(self) -> int:
        try:
            return self._ahead.stat().st_size
        except FileNotFoundError:
            return 0

    def finished(self) -> Iterator[tuple[str, str]]:
        yield from self._db.execute(sqlite_again.NAMED)

    def reopen(
        self,
        urls: Collection[str],
        lengths: Mapping[str, int],
        requisites: Collection[str] = (),
    ) -> int:
        with self._errors():
            reopened = sqlite_again.reopen(self._db, self._strategy, urls, lengths)
        self._load()
        return reopened

    def statuses(
        self, units: Collection[str], lease: Lease, relevant: bool | None
    ) -> dict[str, Status]:
        pages = self._units.pages(set(units))
        return statuses_after(pages, units, lease, relevant, self._strategy.tolerated)

    def pages_of(self, unit: str) -> Pages:
        return self._units.pages({unit}).get(unit, NO_PAGES)

    def taken(self, server: str) -> tuple[Taken, Taken]:
        row = self._db.execute(
            "SELECT s.downloaded, s.bytes, d.downloaded, d.bytes"
            " FROM server s JOIN site d ON d.id = s.site WHERE s.name = ?",
            (server,),
        ).fetchone() or (0, 0, 0, 0)
        return Taken(*row[:2]), Taken(*row[2:])

    def dropped_by(self, visit: Visit) -> list[str]:
        held = self._holds(visit)
        if held is None or not self._drops or visit.lease.id in self._again:
            return []
        status = new_status(self._units.pages({visit.lease.unit}), visit, self._strategy)
        if status is None:
            return []
        rows = self._db.execute(
            "SELECT url, code FROM url"
            " WHERE server = ? AND unit = ? AND outcome IS NULL AND seq <> ?",
            (held.server, held.unit, visit.lease.id),
        )
        return [url for url, code in rows if self._strategy.cell(code, status) == DISCARD]

    def offer(self, offers: Sequence[Offer]) -> None:
        with self._transaction():
            self._store(offers, None)

    def lease(self, now: float) -> Lease | None:
        self._wake(now)
        line = self._queues.first()
        if line is None or self._waits_for_better(line.cell, now):
            return None
        return self._hand_out(line, self._order.expected(line.cell), now)

    def lease_among(self, servers: Sequence[str], now: float) -> Lease | None:
        self._wake(now)
        line = self._queues.first_among(servers, self._order.rank)
        return None if line is None else self._hand_out(line, self._order.expected(line.cell), now)

    def server_names(self) -> list[str]:
        return [name for (name,) in self._db.execute("SELECT name FROM server")]

    def lease_requisite(self, now: float) -> Lease | None:
        self._wake(now)
        line = self._queues.first_requisite()
        return None if line is None else self._hand_out(line, None, now)

    def _hand_out(self, line: Line, expected: float | None, now: float) -> Lease:
        row = self._db.execute(
            "SELECT s.name, u.seq, u.url, u.unit, u.code, u.inherited, u.depth, u.redirects,"
            " (SELECT url FROM url WHERE seq = u.referrer),"
            " coalesce((SELECT tries FROM later WHERE seq = u.seq), 0),"
            " s.downloaded, s.bytes, d.downloaded, d.bytes"
            " FROM url u JOIN server s ON s.id = u.server JOIN site d ON d.id = s.site"
            " WHERE u.seq = ?",
            (line.seq,),
        ).fetchone()
        name, seq, url, unit, code, inherited, depth, redirects, referrer, tries, *taken = row
        self._queues.busy.add(line.server)
        token = next(self._tokens)
        self._held[seq] = _Held(token, line.server, unit, line.line, now)
        return Lease(
            seq, url, name, name if self._by_server else self._name(unit), code, line.cell,
            expected, PageLanguage(inherited), depth, redirects, referrer, token, tries,
            Taken(*taken[:2]), Taken(*taken[2:]),
        )  # fmt: skip

    def _waits_for_better(self, cell: int, now: float) -> bool:
        """Tell whether far better URLs wait for servers, some of which are free soon."""
        best = self._queues.occupied.first()
        soon = self._held or (self._resting and self._resting[0][0] <= now + SOON)
        return bool(
            soon and best is not None and is_far_better(self._order, best, cell, self._patience)
        )

    def _name(self, unit: int) -> str:
        return str(self._value("SELECT name FROM directory WHERE id = ?", unit))

    def next_ready(self) -> float | None:
        times = [self._resting[0][0]] if self._resting else []
        due = self._later.next_due
        return min([*times, due] if due is not None else times, default=None)

    def renew(self, now: float) -> Collection[int]:
        """Do nothing: leases are this process's own, and none expires."""
        return ()

    @contextmanager
    def fed_seeds(self) -> Iterator[list[str]]:
        """Give nothing: one process reads its seeds when it starts."""
        yield []

    def _wake(self, now: float) -> None:
        while self._resting and self._resting[0][0] <= now:
            self._queues.free(heappop(self._resting)[1])
        for seq in self._later.take_due(now):
            self._bring_back(seq)

    def _bring_back(self, seq: int) -> None:
        """Let a URL that was put off wait in a line again."""
        begin(self._db)
        server, unit, code, outcome, url = self._db.execute(
            "SELECT server, unit, code, later.outcome, url FROM url JOIN later USING (seq)"
            " WHERE seq = ?",
            (seq,),
        ).fetchone()
        self._seen.changed(url)
        tally = {("put off", outcome): -1}
        cell = self._strategy.cell(code, self._units.place(unit))
        if cell == DISCARD:
            self._db.execute("DELETE FROM url WHERE seq = ?", (seq,))
            self._later.forget(seq)
            tally["dropped", Outcome.SERVER_BECAME_IRRELEVANT] = 1
        else:
            line = self._strategy.kind_of[code] if self._by_server else cell
            self._db.execute("UPDATE url SET outcome = NULL, line = ? WHERE seq = ?", (line, seq))
            self._queues.put(Line(server, line, cell, seq))
            self._make_room([server], {})
        self._tally.add(tally)

    def commit(self, visit: Visit, lengths: Mapping[str, int] | None = None) -> bool:
        held = self._holds(visit)
        if held is None:
            return False
        with self._transaction():
            self._end(visit, held, visit.outcome)
            if visit.lease.tries:
                self._later.forget(visit.lease.id)
            counts = not self._was_counted(visit.lease.id)
            if counts and visit.relevant is not None:
                self._learn(visit.lease.cell, visit.relevant)
                self._count(held, visit.relevant, visit.received)
            else:
                self._units.receive(held.server, visit.received)
            self._store(visit.offers, visit.lease.id)
            self._tally.add({("finished", visit.outcome): 1, **(visit.tally if counts else {})})
            self._keep(lengths)
            if visit.outcome in OF_QUOTA:
                sqlite_room.keep_let_go(self._db, {(held.server, visit.outcome): 1})
        self._release(visit, held)
        return True

    def _was_counted(self, seq: int) -> bool:
        """Tell, once, whether a URL's page was counted before it was lost."""
        if seq not in self._again:
            return False
        self._db.execute("DELETE FROM again WHERE seq = ?", (seq,))
        self._again.remove(seq)
        return True

    def put_off(self, visit: Visit, due: float, lengths: Mapping[str, int] | None = None) -> bool:
        held = self._holds(visit)
        if held is None:
            return False
        with self._transaction():
            self._end(visit, held, Outcome.PUT_OFF)
            self._units.receive(held.server, visit.received)
            tries = visit.lease.tries + is_transient(visit.outcome)
            self._later.keep(visit.lease.id, tries, visit.outcome)
            self._tally.add({("put off", visit.outcome): 1})
            self._keep(lengths)
        self._later.wait(visit.lease.id, due)
        self._release(visit, held)
        return True

    def give_back(self, visit: Visit) -> bool:
        held = self._holds(visit)
        if held is not None:
            self._release(visit, held)
        return held is not None

    def retry(self, outcomes: Collection[str], wanted: Wanted | None = None) -> int:
        if not any(self._tally.count(kind, o) for kind in _MAY_RETURN for o in outcomes):
            return 0  # without looking at every URL
        with self._transaction():
            revived, again = self._later.revive(outcomes, wanted)
            for (server, outcome), number in revived.items():
                self._tally.add({("finished", outcome): -number, ("put off", outcome): number})
                if outcome in OF_QUOTA:
                    sqlite_room.keep_let_go(self._db, {(server, outcome): -number})
        return revived.total() + again

    def _holds(self, visit: Visit) -> _Held | None:
        held = self._held.get(visit.lease.id)
        return held if held is not None and held.token == visit.lease.token else None

    def _keep(self, lengths: Mapping[str, int] | None) -> None:
        changed = changed_of(lengths, self._lengths)
        sqlite_again.keep(self._db, changed)
        self._lengths |= changed

    def _end(self, visit: Visit, held: _Held, outcome: str) -> None:
        seq = visit.lease.id
        self._db.execute("UPDATE url SET outcome = ? WHERE seq = ?", (outcome, seq))
        if visit.url != visit.lease.url:
            self._db.execute("UPDATE url SET url = ? WHERE seq = ?", (visit.url, seq))
        self._queues.take(held.server, held.line)

    def _release(self, visit: Visit, held: _Held) -> None:
        """Forget a lease, and let its server rest."""
        del self._held[visit.lease.id]
        rest = self._delay if visit.rest is None else visit.rest
        if rest:
            heappush(self._resting, (held.since + rest, held.server))
        else:
            self._queues.free(held.server)

    def _learn(self, cell: int, relevant: bool) -> None:
        sqlite_experience.learn(self._db, cell, relevant)
        if isinstance(self._order, LearnedOrder):
            if self._order.learn(cell, relevant):
                sqlite_experience.keep_scored(self._db)
                self._queues.reorder()
            else:
                self._queues.reorder(cell)

    def _count(self, held: _Held, relevant: bool, size: int) -> None:
        crawl = NO_PAGES
        if isinstance(self._order, LearnedOrder):
            crawl = self._order.experience.crawl
        moved = self._units.count(held.server, held.unit, relevant, size, crawl)
        dropped = 0
        for id_, place in moved.items():
            if self._by_server:
                dropped += self._move_server(id_, place)
            else:
                dropped += self._move_directory(held.server, id_, place)
        if dropped:
            self._seen.forget()
            self._tally.add({("dropped", Outcome.SERVER_BECAME_IRRELEVANT): dropped})

    def _move_server(self, server: int, place: int) -> int:
        """Move a server's lines to the cells of its new place; return how many URLs that drops."""
        dropped = 0
        for line, number in self._queues.lines(server):
            cell = self._strategy.cell_of[line.line][place]
            if cell == DISCARD:
                self._queues.drop(line, number)
                dropped += number
            elif cell != line.cell:
                self._queues.move(line, number, cell)
        return dropped

    def _move_directory(self, server: int, unit: int, place: int) -> int:
        """Move a directory's URLs one by one: its server's others stay where they are."""
        dropped = 0
        groups = self._db.execute(
            "SELECT code, line, min(seq), count(*) FROM url WHERE unit = ? AND outcome IS NULL"
            " GROUP BY code, line",
            (unit,),
        ).fetchall()
        for code, line, seq, number in groups:
            cell = self._strategy.cell(code, place)
            if cell == line:
                continue
            where = "WHERE unit = ? AND code = ? AND line = ? AND outcome IS NULL"
            if cell == DISCARD:
                self._db.execute(f"DELETE FROM url {where}", (unit, code, line))
                dropped += number
            else:
                self._db.execute(f"UPDATE url SET line = ? {where}", (cell, unit, code, line))
                self._queues.put(Line(server, cell, cell, seq), number)
            self._queues.take(server, line, number)
        return dropped

    def _store(self, offers: Sequence[Offer], referrer: int | None) -> None:
        if not offers:
            return
        servers = self._units.servers({offer.server for offer in offers})
        units = servers if self._by_server else self._units.units({o.unit for o in offers})
        if self._drops:
            offers = self._kept_of(offers, units)
        offers = self._seen.changing(offers)
        if offers:
            self._insert(self._new(offers, servers, units, referrer), servers)

    def _kept_of(self, offers: Sequence[Offer], units: Mapping[str, Met]) -> list[Offer]:
        """Return the offers that the strategy keeps: places changed since it was asked."""
        cell = self._strategy.cell
        kept = [offer for offer in offers if cell(offer.code, units[offer.unit].place) != DISCARD]
        if len(kept) < len(offers):
            dropped = len(offers) - len(kept)
            self._tally.add({("dropped", Outcome.SERVER_BECAME_IRRELEVANT): dropped})
        return kept

    def _new(
        self, offers: Sequence[Offer], servers: Mapping[str, Met], units: Mapping[str, Met],
        referrer: int | None,
    ) -> list[_Row]:  # fmt: skip
        """Return the rows of the URLs that aren't known; take what is better of the others."""
        new: dict[int, _Row] = {}  # by their keys
        asked = keys(offers)
        seen = self._seen.find(asked)
        kind_of, seq = self._strategy.kind_of, self._next
        for offer, fingerprint in zip(offers, asked, strict=True):
            url, name, unit_name, code, inherited, depth, redirects = offer
            server, (unit, place) = servers[name][0], units[unit_name][:2]
            line = kind_of[code] if self._by_server else self._strategy.cell(code, place)
            row = new.get(fingerprint)
            found = seen.get(fingerprint) if row is None else _known(row)
            if found is not None and found.state == MOVED and is_twin_of_redirect(offer):
                self._db.execute("UPDATE url SET fingerprint = NULL WHERE seq = ?", (found.seq,))
                self._seen.changed(url)
                found = None
            if found is None:
                new[fingerprint] = [
                    seq, fingerprint, url, server, unit, line, code, int(inherited), depth,
                    redirects, referrer,
                ]  # fmt: skip
                seq += 1
                continue
            if found.state == WAITS:
                found = self._found_again(offer, server, line, place, found, referrer, row)
                seen[fingerprint] = found
            self._seen.keep(offer, found)
        self._next = seq
        return list(new.values())

    def _found_again(
        self, offer: Offer, server: int, line: int, place: int, found: Known,
        referrer: int | None, new: _Row | None,
    ) -> Known:  # fmt: skip
        """Take what an offer of a URL that waits has better; return what is known of it then."""
        seq, known_line, code, known_depth, _ = found
        depth = min(offer.depth, known_depth)
        if offer.code != code and self._is_better(offer.code, line, code, known_line, place):
            values = [line, offer.code, int(offer.inherited), depth, offer.redirects, referrer]
            if new is not None:
                new[_LINE:] = values
            else:
                self._db.execute(
                    "UPDATE url SET line = ?, code = ?, inherited = ?, depth = ?, redirects = ?,"
                    " referrer = ? WHERE seq = ?",
                    (*values, seq),
                )
                if line != known_line:
                    self._queues.put(Line(server, line, self._cell(line, place), seq))
                    self._queues.take(server, known_line)
                    if seq in self._held:
                        self._held[seq] = self._held[seq]._replace(line=line)
            self._seen.changed(offer.url)
            return found._replace(line=line, code=offer.code, depth=depth)
        if depth == known_depth:
            return found
        if new is not None:
            new[_DEPTH] = depth
        else:
            self._db.execute("UPDATE url SET depth = ? WHERE seq = ?", (depth, seq))
        self._seen.changed(offer.url)
        return found._replace(depth=depth)

    def _is_better(
        self, code: int, line: int, known_code: int, known_line: int, place: int
    ) -> bool:
        rank = self._order.rank
        cell, known_cell = self._cell(line, place), self._cell(known_line, place)
        return better(rank(cell), distance_of(code), rank(known_cell), distance_of(known_code))

    def _cell(self, line: int, place: int) -> int:
        return self._strategy.cell_of[line][place] if self._by_server else line

    def _make_room(self, servers: Iterable[int], new: dict[int, New]) -> None:
        """Let go the worst URLs of servers, once new ones of theirs wait too."""
        gone = self._room.make(servers, new, self._order.rank, self._held)
        if gone:
            self._seen.forget()
            self._tally.add({("dropped", reason): number for reason, number in gone.items()})

    def _insert(self, new: list[_Row], servers: Mapping[str, Met]) -> None:
        if not new:
            return
        place_of = {met.id: met.place for met in servers.values()}
        if self._room.may_lack(place_of, len(new)):
            new = self._fitting(new, place_of)
        self._db.executemany(_INSERT, new)
        lines: dict[tuple[int, int], list[int]] = {}
        for row in new:
            server, line = where = row[_SERVER], row[_LINE]
            if where in lines:
                lines[where][-1] += 1
            else:
                lines[where] = [self._cell(line, place_of[server]), row[0], 1]
        self._queues.put_new(lines)

    def _fitting(self, new: list[_Row], place_of: Mapping[int, int]) -> list[_Row]:
        """Make room for new URLs; return the rows of those that there is room for."""
        coming = {
            row[0]: New(row[_SERVER], self._cell(row[_LINE], place_of[row[_SERVER]])) for row in new
        }
        self._make_room({url.server for url in coming.values()}, coming)
        return [row for row in new if row[0] in coming]

    def cells(self) -> tuple[CellHarvest, ...]:
        pages = sqlite_experience.pages(self._db)
        waiting = Counter(self._queues.waiting)
        waiting.pop(REQUISITES, None)
        return harvest(self._order, waiting, pages)

    def counts(self) -> Counts:
        found = sqlite_report.count(self._db, self._strategy)
        pending = Counter(found.pending)
        # Not the leases' own cells: a URL found again while leased may have a better one now.
        leased = self._db.execute(
            "SELECT cell FROM url u JOIN line USING (server, line)"
            " WHERE u.seq IN (SELECT value FROM json_each(?))",
            (dumps(list(self._held)),),
        )
        pending.subtract(cell for (cell,) in leased)
        return replace(found, pending=+pending, leased=len(self._held), tally=self.tallies())

    def tallies(self) -> dict[str, dict[str, int]]:
        return self._tally.told()

    def tell(self, now: str, point: str, seconds: float) -> None:
        """Do nothing: who watches sees the folder."""

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            self._db.rollback()
            with suppress(sqlite3.Error):  # what can't be written can hardly be reset either
                self._load()
            self._db.rollback()
            raise StorageError(f"can't write the frontier: {error}") from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._errors():
            begin(self._db)
            yield
            self._tally.write()
            self._db.execute("COMMIT")

    def _value(self, query: str, *arguments: object) -> Any:
        row = self._db.execute(query, arguments).fetchone()
        return row[0] if row else None

    def close(self) -> None:
        self._db.close()  # rolls back what is uncommitted: lines of busy servers hidden
        if self._lock is not None:
            self._lock.close()


def _known(row: _Row) -> Known:
    return Known(row[0], row[_LINE], row[_CODE], row[_DEPTH], WAITS)


def open_existing(path: Path) -> SqliteFrontier:
    """Open the frontier in a file as the crawl that it is. Raises LswcError."""
    with sqlite_report.opened(path) as db:
        about = dict(db.execute("SELECT key, value FROM about"))
        chosen = strategy(about["strategy"])
    identity = {key: value for key, value in about.items() if key != "earlier"}
    return SqliteFrontier(path, chosen, identity)
