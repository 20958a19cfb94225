"""The frontier of one process: one SQLite file, one transaction a page."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from heapq import heappop, heappush
from json import dumps, loads
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lswc.errors import StorageError
from lswc.frontier.contract import (
    Counts,
    FrontierError,
    is_twin_of_redirect,
)
from lswc.frontier.lock import lock
from lswc.frontier.sqlite_report import count
from lswc.outcomes import Outcome
from lswc.strategy import (
    DISCARD,
    PageLanguage,
    Status,
    Strategy,
    Unit,
    distance_of,
    status,
)
from lswc.urls import fingerprint
from lswc.visit.lease import Lease

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from lswc.visit.lease import Offer
    from lswc.visit.visit import Visit

FORMAT = 4
MEMORY = ":memory:"

_MOVED = "http"  # instead of the outcome, if http only redirected
_Known = tuple[int, int, int, int, str | None]  # seq, tier, code, depth, outcome

# A server's (tier, seq) is its best pending URL; both are NULL if it has none. The partial
# index on free servers is what makes a lease cost the same however many there are. A redirect whose
# https twin took its place has no fingerprint.
_SCHEMA = """
CREATE TABLE about (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE tally (kind TEXT, name TEXT, count INTEGER, PRIMARY KEY (kind, name)) WITHOUT ROWID;
CREATE TABLE server (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
    downloaded INTEGER NOT NULL DEFAULT 0, relevant INTEGER NOT NULL DEFAULT 0,
    busy INTEGER NOT NULL DEFAULT 0, tier INTEGER, seq INTEGER);
CREATE INDEX free_server ON server (tier, seq) WHERE busy = 0 AND tier IS NOT NULL;
CREATE TABLE directory (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
    downloaded INTEGER NOT NULL DEFAULT 0, relevant INTEGER NOT NULL DEFAULT 0);
CREATE TABLE url (
    seq INTEGER PRIMARY KEY, fingerprint INTEGER UNIQUE, url TEXT NOT NULL,
    server INTEGER NOT NULL, unit INTEGER NOT NULL, tier INTEGER NOT NULL, code INTEGER NOT NULL,
    inherited INTEGER NOT NULL, depth INTEGER NOT NULL, redirects INTEGER NOT NULL,
    referrer INTEGER, outcome TEXT);
CREATE INDEX pending_of_server ON url (server, tier, seq) WHERE outcome IS NULL;
"""
_BY_DIRECTORY = "CREATE INDEX pending_of_unit ON url (unit) WHERE outcome IS NULL"


class SqliteFrontier:
    """The frontier in a SQLite file, or in memory for a crawl that isn't kept.

    Writes since the last ``finish`` are only marks of busy servers, so a kill loses nothing.
    ``identity`` says what the crawl is (language, strategy); a file made for another is
    refused. Raises FrontierError for that, for a foreign file, and if another process has it.
    """

    def __init__(
        self, path: Path | str, strategy: Strategy, identity: Mapping[str, str], delay: float = 0.0
    ) -> None:
        self._strategy = strategy
        self._tiers = strategy.table()
        self._delay = delay
        self._table = strategy.unit.value
        self._key = "server" if strategy.unit is Unit.SERVER else "unit"
        self._leases: set[int] = set()
        self._held: dict[int, tuple[int, int, float]] = {}  # server, unit, since when
        self._resting: list[tuple[float, int]] = []
        self._lock = None if path == MEMORY else lock(Path(path).parent)
        self._db = sqlite3.connect(path, isolation_level=None, cached_statements=256)
        try:
            self._open({**identity, "format": str(FORMAT)})
        except BaseException:
            self.close()
            raise

    def _open(self, identity: dict[str, str]) -> None:
        try:
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute("PRAGMA cache_size = -32768")
            # A write-ahead log of 64 MB: many servers dirty many leaves of the indexes, and a
            # leaf is written once a checkpoint.
            self._db.execute("PRAGMA wal_autocheckpoint = 16000")
            if self._value("SELECT count(*) FROM sqlite_master") == 0:
                self._db.executescript(_SCHEMA)
                if self._key == "unit":
                    self._db.execute(_BY_DIRECTORY)
                self._db.executemany("INSERT INTO about VALUES (?, ?)", identity.items())
            self._check(identity)
            self._db.execute("UPDATE server SET busy = 0 WHERE busy <> 0")
        except sqlite3.OperationalError as error:
            raise StorageError(f"can't open the frontier: {error}") from error
        except sqlite3.DatabaseError as error:
            raise FrontierError(f"not a frontier of lswc, or a damaged one: {error}") from error
        self._next = 1 + (self._value("SELECT max(seq) FROM url") or 0)
        self._pending: int = self._value("SELECT count(*) FROM url WHERE outcome IS NULL")

    def _check(self, identity: dict[str, str]) -> None:
        found = dict(self._db.execute("SELECT key, value FROM about"))
        for key, value in identity.items():
            if found.get(key) != value:
                raise FrontierError(
                    f"this crawl has {key} {found.get(key)!r}, not {value!r}: "
                    "go on with that, or choose another folder with LSWC_CRAWL"
                )

    @property
    def pending(self) -> int:
        return self._pending - len(self._leases)

    @property
    def servers(self) -> int:
        return self._value("SELECT max(id) FROM server") or 0

    @property
    def unfinished(self) -> int:
        return self._pending

    def lengths(self) -> dict[str, int]:
        """Return the lengths of the crawl's files at the last commit."""
        found: dict[str, int] = loads(
            self._value("SELECT value FROM about WHERE key = 'lengths'") or "{}"
        )
        return found

    def statuses(
        self, units: Collection[str], lease: Lease, relevant: bool | None
    ) -> dict[str, Status]:
        counters = {name: (na, nr) for name, (_, na, nr) in self._units(units).items()}
        if relevant is not None and lease.unit in counters:
            na, nr = counters[lease.unit]
            counters[lease.unit] = (na + 1, nr + relevant)
        return {name: self._status(*counters.get(name, (0, 0))) for name in units}

    def _status(self, downloaded: int, relevant: int) -> Status:
        return status(downloaded, relevant, self._strategy.tolerated)

    def _units(self, names: Collection[str]) -> dict[str, tuple[int, int, int]]:
        rows = self._db.execute(
            f"SELECT name, id, downloaded, relevant FROM {self._table}"
            " WHERE name IN (SELECT value FROM json_each(?))",
            (dumps(list(names)),),
        )
        return {name: (id_, na, nr) for name, id_, na, nr in rows}

    def offer(self, offers: Sequence[Offer]) -> None:
        with self._transaction():
            self._store(offers, None)

    def lease(self, now: float) -> Lease | None:
        self._wake(now)
        row = self._db.execute(
            "SELECT s.id, s.name, u.seq, u.url, u.unit, u.code, u.tier, u.inherited, u.depth,"
            " u.redirects, (SELECT url FROM url WHERE seq = u.referrer)"
            " FROM server s INDEXED BY free_server JOIN url u ON u.seq = s.seq"
            " WHERE s.busy = 0 AND s.tier IS NOT NULL ORDER BY s.tier, s.seq LIMIT 1"
        ).fetchone()
        if row is None:
            return None
        server, name, seq, url, unit, code, tier, inherited, depth, redirects, referrer = row
        self._begin()
        self._db.execute("UPDATE server SET busy = 1 WHERE id = ?", (server,))
        unit_name = name if self._key == "server" else self._name(unit)
        language = PageLanguage(inherited)
        lease = Lease(seq, url, name, unit_name, code, tier, language, depth, redirects, referrer)
        self._leases.add(seq)
        self._held[seq] = (server, unit, now)
        return lease

    def _name(self, unit: int) -> str:
        return str(self._value("SELECT name FROM directory WHERE id = ?", unit))

    def next_ready(self) -> float | None:
        return self._resting[0][0] if self._resting else None

    def renew(self, now: float) -> None:
        """Do nothing: leases are this process's own."""

    @contextmanager
    def fed_seeds(self) -> Iterator[list[str]]:
        """Give nothing: one process reads its seeds when it starts."""
        yield []

    def _wake(self, now: float) -> None:
        while self._resting and self._resting[0][0] <= now:
            self._begin()
            server = heappop(self._resting)[1]
            self._db.execute("UPDATE server SET busy = 0 WHERE id = ?", (server,))

    def commit(self, visit: Visit, lengths: Mapping[str, int] | None = None) -> bool:
        if visit.lease.id not in self._leases:
            return False
        self._leases.remove(visit.lease.id)
        with self._transaction():
            self._commit(visit, lengths)
        return True

    def _commit(self, visit: Visit, lengths: Mapping[str, int] | None) -> None:
        seq = visit.lease.id
        server, unit, since = self._held.pop(seq)
        self._db.execute("UPDATE url SET outcome = ? WHERE seq = ?", (visit.outcome, seq))
        self._pending -= 1
        self._count(visit.relevant, server, unit)
        self._store(visit.offers, seq)
        self._set_head(server)
        self._rest(server, since, self._delay if visit.rest is None else visit.rest)
        self._tally({("finished", visit.outcome): 1, **visit.tally})
        if lengths is not None:
            self._db.execute(
                "INSERT OR REPLACE INTO about VALUES ('lengths', ?)", (dumps(lengths),)
            )

    def _rest(self, server: int, since: float, rest: float) -> None:
        if rest:
            heappush(self._resting, (since + rest, server))
        else:
            self._db.execute("UPDATE server SET busy = 0 WHERE id = ?", (server,))

    def _count(self, relevant: bool | None, server: int, unit: int) -> None:
        if relevant is None:
            return
        for table, id_ in {("server", server), (self._table, unit)}:
            self._db.execute(
                f"UPDATE {table} SET downloaded = downloaded + 1, relevant = relevant + ?"
                " WHERE id = ?",
                (relevant, id_),
            )
        na, nr = self._db.execute(
            f"SELECT downloaded, relevant FROM {self._table} WHERE id = ?", (unit,)
        ).fetchone()
        now = self._status(na, nr)
        if now != self._status(na - 1, nr - relevant):
            self._ask_again(unit, now)

    def _ask_again(self, unit: int, now: Status) -> None:
        where = f"{self._key} = ? AND outcome IS NULL"
        groups = self._db.execute(
            f"SELECT code, tier, count(*) FROM url WHERE {where} GROUP BY code, tier", (unit,)
        ).fetchall()
        dropped = 0
        for code, tier, number in groups:
            new = self._tiers[code][now]
            if new == DISCARD:
                self._db.execute(f"DELETE FROM url WHERE {where} AND code = ?", (unit, code))
                dropped += number
            elif new != tier:
                self._db.execute(
                    f"UPDATE url SET tier = ? WHERE {where} AND code = ?", (new, unit, code)
                )
        self._pending -= dropped
        if dropped:
            self._tally({("dropped", Outcome.SERVER_BECAME_IRRELEVANT): dropped})

    def _store(self, offers: Sequence[Offer], referrer: int | None) -> None:
        if not offers:
            return
        servers = self._ids("server", {offer.server for offer in offers})
        units = (
            servers
            if self._key == "server"
            else self._ids("directory", {offer.unit for offer in offers})
        )
        status_of = {
            name: self._status(na, nr)
            for name, (_, na, nr) in self._units({offer.unit for offer in offers}).items()
        }
        keys = [fingerprint(offer.url) for offer in offers]
        seen = self._seen(keys)
        heads: dict[int, tuple[int, int]] = {}
        new: dict[int, list[Any]] = {}
        dropped = 0
        for offer, key in zip(offers, keys, strict=True):
            tier = self._tiers[offer.code][status_of[offer.unit]]
            if tier == DISCARD:
                dropped += 1  # the status changed since the strategy was asked
                continue
            server = servers[offer.server]
            known = seen.get(key)
            if known and known[4] == _MOVED and is_twin_of_redirect(offer):
                self._db.execute("UPDATE url SET fingerprint = NULL WHERE seq = ?", (known[0],))
                known = None
            if known is None:
                seq = self._next
                self._next += 1
                seen[key] = (seq, tier, offer.code, offer.depth, None)
                new[seq] = [
                    seq, key, offer.url, server, units[offer.unit], tier, offer.code,
                    int(offer.inherited), offer.depth, offer.redirects, referrer,
                ]  # fmt: skip
            elif known[4] is None:
                seq = known[0]
                if not _better(tier, offer.code, known):
                    if offer.depth < known[3]:
                        seen[key] = (seq, known[1], known[2], offer.depth, None)
                        self._lower_depth(seq, offer.depth, new)
                    continue
                seen[key] = (seq, tier, offer.code, min(offer.depth, known[3]), None)
                self._improve(offer, seen[key], referrer, new)
            else:
                continue
            heads[server] = min(heads.get(server, (tier, seq)), (tier, seq))
        self._insert(new, heads)
        if dropped:
            self._tally({("dropped", Outcome.SERVER_BECAME_IRRELEVANT): dropped})

    def _seen(self, keys: list[int]) -> dict[int, _Known]:
        rows = self._db.execute(
            "SELECT fingerprint, seq, tier, code, depth,"
            " CASE WHEN outcome = ? AND url LIKE 'http:%' THEN ? ELSE outcome END"
            " FROM url WHERE fingerprint IN (SELECT value FROM json_each(?))",
            (Outcome.REDIRECT, _MOVED, dumps(keys)),
        )
        return {row[0]: row[1:] for row in rows}

    def _lower_depth(self, seq: int, depth: int, new: dict[int, list[Any]]) -> None:
        if seq in new:
            new[seq][8] = depth
        else:
            self._db.execute("UPDATE url SET depth = ? WHERE seq = ?", (depth, seq))

    def _improve(
        self,
        offer: Offer,
        now: _Known,
        referrer: int | None,
        new: dict[int, list[Any]],
    ) -> None:
        seq, tier, code, depth, _ = now
        values = [tier, code, int(offer.inherited), depth, offer.redirects, referrer]
        if seq in new:
            new[seq][5:] = values
        else:
            self._db.execute(
                "UPDATE url SET tier = ?, code = ?, inherited = ?, depth = ?, redirects = ?,"
                " referrer = ? WHERE seq = ?",
                (*values, seq),
            )

    def _insert(self, new: dict[int, list[Any]], heads: dict[int, tuple[int, int]]) -> None:
        self._db.executemany(
            "INSERT INTO url VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)", new.values()
        )
        self._pending += len(new)
        self._db.executemany(
            "UPDATE server SET tier = ?1, seq = ?2"
            " WHERE id = ?3 AND (tier IS NULL OR (tier, seq) > (?1, ?2))",
            [(tier, seq, server) for server, (tier, seq) in heads.items()],
        )

    def _set_head(self, server: int) -> None:
        self._db.execute(
            "UPDATE server SET (tier, seq) = (SELECT tier, seq FROM url WHERE server = ?1"
            " AND outcome IS NULL ORDER BY tier, seq LIMIT 1) WHERE id = ?1",
            (server,),
        )

    def _ids(self, table: str, names: Iterable[str]) -> dict[str, int]:
        listed = dumps(sorted(names))
        self._db.execute(
            f"INSERT OR IGNORE INTO {table} (name) SELECT value FROM json_each(?)", (listed,)
        )
        rows = self._db.execute(
            f"SELECT name, id FROM {table} WHERE name IN (SELECT value FROM json_each(?))",
            (listed,),
        )
        return dict(rows.fetchall())

    def _tally(self, counts: Mapping[tuple[str, str], int]) -> None:
        self._db.executemany(
            "INSERT INTO tally VALUES (?, ?, ?)"
            " ON CONFLICT DO UPDATE SET count = count + excluded.count",
            [(kind, name, count) for (kind, name), count in counts.items()],
        )

    def counts(self) -> Counts:
        found = count(self._db, self._strategy)
        pending = Counter(found.pending)
        # Not the leases' own tiers: a URL found again while leased may have a better one now.
        leased = self._db.execute(
            "SELECT tier FROM url WHERE seq IN (SELECT value FROM json_each(?))",
            (dumps(list(self._leases)),),
        )
        pending.subtract(tier for (tier,) in leased)
        return replace(found, pending=+pending, leased=len(self._leases))

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._begin()
            yield
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            self._db.rollback()
            raise StorageError(f"can't write the frontier: {error}") from error

    def _begin(self) -> None:
        if not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")

    def _value(self, query: str, *arguments: object) -> Any:
        row = self._db.execute(query, arguments).fetchone()
        return row[0] if row else None

    def close(self) -> None:
        self._db.close()  # rolls back what is uncommitted: marks of busy servers
        if self._lock is not None:
            self._lock.close()


def _better(tier: int, code: int, known: _Known) -> bool:
    """Rediscovery takes the better tier; ties: the smaller distance, then the first found."""
    return (tier, distance_of(code)) < (known[1], distance_of(known[2]))
