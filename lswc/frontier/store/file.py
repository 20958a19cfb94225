"""A SQLite file, with all that is known of it in memory."""

from __future__ import annotations

import sqlite3
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lswc.errors import DamageError, StorageError, same_file
from lswc.frontier.exchange import outbox
from lswc.frontier.exchange.outbox import Outbox
from lswc.frontier.rules.contract import DEFAULTS, FrontierError, Share, Terms, check_identity
from lswc.frontier.rules.experience import begun_with, identity_of
from lswc.frontier.store import lines, servers, urls
from lswc.frontier.store.leases import Choice, Leases
from lswc.frontier.store.lines import Lines
from lswc.frontier.store.lock import lock
from lswc.frontier.store.report import Reader, damaged
from lswc.frontier.store.revisited_pages import RevisitedPages
from lswc.frontier.store.room import Room
from lswc.frontier.store.saving import Saving, size_of
from lswc.frontier.store.servers import Servers, Tallies
from lswc.frontier.store.sites import Families
from lswc.frontier.store.urls import Urls, read_lengths
from lswc.strategy import GUESSES, REQUISITES, Strategy, Unit, with_requisites

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping


MEMORY = ":memory:"


class File:
    """A frontier's file, or one in memory, and what is known of it.

    It is opened for a strategy and an ``identity``, as ``Frontier`` says. ``loaded`` is
    called when all was read of it again.
    """

    def __init__(
        self,
        path: Path | str,
        strategy: Strategy,
        identity: Mapping[str, str],
        terms: Terms = DEFAULTS,
    ) -> None:
        self.strategy = strategy = with_requisites(strategy)
        self._path, self._ahead = Path(path), Path(f"{path}-wal")
        self._saved = 0  # bytes of it
        self._known: dict[Path, os.stat_result] = {}
        self._lock = None if path == MEMORY else lock(Path(path).parent)
        self._saving = None if path == MEMORY else Saving(Path(path))
        self.db = sqlite3.connect(path, isolation_level=None, cached_statements=256)
        self.servers = Servers(self.db, strategy)
        self.tallies = Tallies(self.db)
        share = Share(terms.unproven_share)
        families = Families(self.db, terms, strategy.weighs_support)
        self.lines = Lines(self.db, strategy, families)
        self.leases = Leases(self.lines)
        self.revisited = RevisitedPages(self.db, terms, self.tallies)
        self.choice = Choice(self.db, self.lines, self.leases, self.revisited, share, terms)
        room = Room(self.db, self.lines, terms.caps, self.leases.leased.keys())
        self.urls = Urls(self.db, self.servers, self.lines, room, self.tallies)
        self.outbox = Outbox(self.db, self.lines)
        self.loaded: Callable[[], None] = lambda: None
        try:
            with _opening(self._path):
                identity = identity_of(strategy, identity)
                if _prepare(self.db):
                    _create(self.db, strategy, identity, terms)
                    self.checkpoint()
                found = dict(self.db.execute("SELECT key, value FROM about"))
                check_identity(found, identity, "choose another folder with LSWC_CRAWL")
                self.load()
                self.check()
        except BaseException:
            self.close()
            raise

    def load(self) -> None:
        """Take what the file holds: when it is opened, and after a write that failed."""
        self.servers.forget()
        self.tallies.load()
        self.order = Reader(self.db, self.strategy).order()
        self.lines.load(self.order.rank)
        self.urls.load()
        self.revisited.load()
        self.outbox.load()
        self.loaded()
        self.lengths = read_lengths(self.db)

    def check(self) -> None:
        """Raise StorageError if the file, or its log, was removed or replaced since it was opened.

        SQLite would go on to write what nobody finds any more, and copy into a new one.
        """
        for path in () if self._saving is None else (self._path, self._ahead):
            if path in self._known:
                same_file(path, self._known[path])
                continue
            with suppress(FileNotFoundError):  # nothing was written to the log yet
                self._known[path] = path.stat()

    def prepare_checkpoint(self) -> bool:
        """Begin to make durable what was committed; tell whether that is done."""
        if self._saving is None:
            return True
        self.check()
        with self.errors():
            return not self._saving.goes_on()

    def checkpoint(self) -> None:
        """Make all that was committed outlast a power cut."""
        with self.errors():
            if self._saving is not None:
                self._saving.finish()
            if self.db.in_transaction:  # of URLs that came back
                self.tallies.write()
                self.db.execute("COMMIT")
            self.db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        self._saved = size_of(self._ahead)

    @property
    def unsaved(self) -> int:
        """Bytes that a power cut would lose."""
        size = size_of(self._ahead)
        if size < self._saved:  # it began anew, which it can't while somebody reads
            self._saved = 0
        return size - self._saved

    @property
    def requisites(self) -> int:
        """Number of requisites that wait."""
        return sum(self.lines.waiting[cell] for cell in (REQUISITES, GUESSES))

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Raise a StorageError for one of SQLite's, and go back to what was committed."""
        try:
            yield
        except sqlite3.Error as error:
            raise self.failed(error) from error

    def failed(self, error: sqlite3.Error) -> StorageError:
        """Go back to what was committed; return what is raised for an error of SQLite's."""
        self.db.rollback()
        with suppress(sqlite3.Error):  # what can't be written can hardly be reset either
            self.load()
        self.db.rollback()
        if _is_damage(error):
            return DamageError(damaged(self._path, error))
        return StorageError(f"can't write the frontier: {error}")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what is written meanwhile, or nothing of it. Raises StorageError."""
        with self.errors():
            servers.begin(self.db)
            yield
            self.tallies.write()
            self.db.execute("COMMIT")

    def close(self) -> None:
        """Close the file; what isn't committed is lost."""
        if self._saving is not None:
            with suppress(sqlite3.Error):  # what is committed stays in the log
                self._saving.finish()
        self.db.close()  # rolls back what is uncommitted: URLs that came back
        if self._lock is not None:
            self._lock.close()


@contextmanager
def _opening(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        raise StorageError(f"can't open the frontier: {error}") from error
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise FrontierError(damaged(path, error)) from error


def _is_damage(error: sqlite3.Error) -> bool:
    """Tell whether an error says that the file isn't what was written: no full disk, no lock."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
    )


def _prepare(db: sqlite3.Connection) -> bool:
    """Set how a file is written; tell whether it is empty."""
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute("PRAGMA cache_size = -32768")
    # Checkpoints are the caller's: what they refer to must be durable before.
    db.execute("PRAGMA wal_autocheckpoint = 0")
    db.execute("PRAGMA journal_size_limit = 0")
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return not tables


def _create(
    db: sqlite3.Connection,
    strategy: Strategy,
    identity: Mapping[str, str],
    terms: Terms,
) -> None:
    db.executescript(
        "CREATE TABLE about (key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
        + urls.SCHEMA
        + servers.SCHEMA
        + lines.SCHEMA
        + outbox.SCHEMA
    )
    if strategy.unit is Unit.DIRECTORY:
        db.execute(urls.BY_DIRECTORY)
    begun = {**identity, **begun_with(strategy, terms.experience, terms.prior)}
    db.executemany("INSERT INTO about VALUES (?, ?)", begun.items())
