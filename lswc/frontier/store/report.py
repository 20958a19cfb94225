"""Report of a SQLite frontier, read from its file; also while a crawl runs on it."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import contextmanager, suppress
from functools import cache, cached_property, partial
from heapq import nsmallest
from json import dumps
from typing import TYPE_CHECKING

from lswc.errors import repair
from lswc.frontier.exchange.outbox import State
from lswc.frontier.rules.contract import FULL, Counts, FrontierError, check_format
from lswc.frontier.rules.experience import (
    check_source,
    earlier_experience,
    first_experience,
    own_experience,
)
from lswc.frontier.rules.harvest import harvest
from lswc.frontier.rules.report import (
    SAMPLE,
    Completion,
    Family,
    Freshness,
    OfSite,
    Queue,
    Report,
    RevisitedPage,
    Server,
    SiteList,
    SiteOrder,
    Standing,
    by_kind,
    revisited_page,
    visits_so_far,
)
from lswc.frontier.rules.revisited import Kind
from lswc.frontier.store import site_report
from lswc.frontier.store.lines import cell_of, longest, waiting
from lswc.frontier.store.revisited_pages import page_of, sample, usual
from lswc.frontier.store.servers import pages_of, read_tallies
from lswc.frontier.store.urls import FINISHED, FINISHED_ELSEWHERE, NAMED, read_lengths
from lswc.outcomes import Outcome
from lswc.safety.server_limits import Taken
from lswc.strategy import (
    GUESSES,
    REQUISITES,
    Experience,
    ExperienceError,
    LearnedOrder,
    Pages,
    Strategy,
    StrategyError,
    Value,
    adaptive,
    order,
    status,
    strategy,
    with_requisites,
)
from lswc.strategy.families import NEW, UNPROVEN, support_of
from lswc.urls import fingerprint, parse, site_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from lswc.frontier.rules.harvest import CellHarvest
    from lswc.strategy import Order

SLICE = 100_000
"""URLs that are read at a time: a crawl can't empty its write-ahead log meanwhile."""

_PENDING = "coalesce((SELECT sum(number) FROM line WHERE line.server = server.id), 0)"
_QUEUE = f"SELECT name, {_PENDING}, downloaded, relevant FROM server"
_LINES_OF = """
SELECT line, coalesce(server.place, site.place), number
FROM server JOIN site ON site.id = site JOIN line ON server = server.id WHERE server.name = ?
"""
_LINE_OF = """
SELECT url.line, coalesce(server.place, site.place)
FROM url JOIN server ON server.id = url.server JOIN site ON site.id = server.site
WHERE fingerprint = ? AND outcome IS NULL
"""
_NEXT_OF = """
SELECT url FROM url JOIN server ON server.id = server
WHERE name = ? AND line IN (SELECT value FROM json_each(?)) AND outcome IS NULL
ORDER BY url.seq LIMIT ?
"""
_OWN = "NOT IN (SELECT server FROM given)"
# Of a site that links to one of this worker's, or that was given away, it has no server.
_OWN_SITE = f"EXISTS (SELECT 1 FROM server WHERE server.site = site.id AND server.id {_OWN})"
_FAMILIES = f"""
SELECT family, (SELECT name FROM site WHERE id = found.family), sites, pages FROM (
    SELECT family, count(*) AS sites, sum(downloaded) AS pages FROM site
    WHERE level = {UNPROVEN} AND {_OWN_SITE}
    GROUP BY family ORDER BY sites DESC, family LIMIT ?) AS found
"""
_FAMILY_OF = f"""
SELECT (SELECT name FROM site WHERE id = own.family),
    coalesce((SELECT name FROM site WHERE id = own.branch), own.name)
FROM site AS own WHERE own.name = ? AND own.level = {UNPROVEN}
"""
_BRANCH = f"""
SELECT (SELECT name FROM site WHERE id = found.branch), sites FROM (
    SELECT coalesce(nullif(branch, 0), id) AS branch, count(*) AS sites FROM site
    WHERE family = ? AND level = {UNPROVEN} AND {_OWN_SITE}
    GROUP BY 1 ORDER BY sites DESC, 1 LIMIT 1) AS found
"""
_IDLE = f"""FROM server WHERE id NOT IN (SELECT server FROM left_out) AND id {_OWN}
    AND NOT EXISTS (SELECT 1 FROM line WHERE line.server = server.id)
    AND id NOT IN (SELECT server FROM later CROSS JOIN url USING (seq)
        WHERE url.outcome = '{Outcome.POSTPONED}')"""
# CROSS: else SQLite reads all URLs to find the few that were postponed.


class Lookup:
    """What a SQLite frontier knows of one server, site or URL, and of the order of all.

    Methods raise LswcError, within the block in which the file was opened.
    """

    def __init__(self, db: sqlite3.Connection, strategy: Strategy | None = None) -> None:
        self._db = db
        if strategy is not None:
            self.strategy = strategy

    @cached_property
    def strategy(self) -> Strategy:
        """The crawl's strategy."""
        return with_requisites(strategy(self.identity()["strategy"]))

    def identity(self) -> dict[str, str]:
        """Return what crawl it is, and of which version."""
        return dict(self._db.execute("SELECT key, value FROM about").fetchall())

    def pages_by_cell(self) -> dict[int, Pages]:
        """Return the crawl's pages by the cell that they were leased from."""
        rows = self._db.execute(
            "SELECT cell, downloaded, relevant FROM experience WHERE downloaded ORDER BY cell"
        )
        return {cell: Pages(*counts) for cell, *counts in rows}

    def missed_by_cell(self) -> dict[int, int]:
        """Return how many of a learned order's URLs were asked for in vain, by their cells."""
        rows = self._db.execute("SELECT cell, missed FROM experience WHERE missed ORDER BY cell")
        return dict(rows.fetchall())

    def experience(self) -> tuple[Experience, Experience]:
        """Return what is known of cells now, and was when all cells were last scored."""
        rows = self._db.execute(
            "SELECT cell, scored_downloaded, scored_relevant, scored_missed FROM experience"
            " ORDER BY cell"
        ).fetchall()
        scored = {cell: Pages(*counts) for cell, *counts, _ in rows}
        missed = {cell: number for cell, *_, number in rows if number}
        known, before = self.own_experience(), own_experience(scored, missed)
        first = first_experience(self.identity())
        known.merge(first)
        before.merge(first)
        return known, before

    def own_experience(self) -> Experience:
        """Return what the crawl has learned from its own pages."""
        return own_experience(self.pages_by_cell(), self.missed_by_cell())

    def order(self) -> Order:
        """Return the order of cells as it is now."""
        if not self.strategy.learns:
            return order(self.strategy)
        known = LearnedOrder(*self.experience(), first_experience(self.identity()))
        now, scored = known.experience.crawl, known.scored.crawl
        if adaptive.is_due(now.downloaded, scored.downloaded):
            known.score_all()
        return known

    def queue(self, server: str) -> Queue | None:
        """Return a server's queue, None if it was never met."""
        row = self._db.execute(f"{_QUEUE} WHERE name = ?", (server,)).fetchone()
        return None if row is None else Queue(*row)

    def waiting_of(self, server: str) -> dict[int, int]:
        """Count the URLs of a server by cell."""
        found: Counter[int] = Counter()
        for line, place, number in self._db.execute(_LINES_OF, (server,)):
            found[cell_of(self.strategy, line, place)] += number
        return dict(sorted(found.items()))

    def next_of(self, server: str, cell: int, most: int) -> list[str]:
        """Return the oldest URLs of a server in a cell."""
        lines = [
            line
            for line, place, _ in self._db.execute(_LINES_OF, (server,))
            if cell_of(self.strategy, line, place) == cell
        ]
        return [url for (url,) in self._db.execute(_NEXT_OF, (server, dumps(lines), most))]

    def servers_like(self, text: str, most: int) -> list[str]:
        """Return names of servers that contain a text."""
        rows = self._db.execute(
            "SELECT name FROM server WHERE instr(name, ?) ORDER BY downloaded DESC, name LIMIT ?",
            (text, most),
        )
        return [name for (name,) in rows]

    def pages(self, units: Collection[str]) -> dict[str, Pages]:
        """Return the pages of servers, or directories if the strategy counts by them, once met."""
        return pages_of(self._db, self.strategy.unit, units)

    def taken(self, server: str) -> tuple[Taken, Taken]:
        """Return what a server and its registered domain have brought."""
        row = self._db.execute(
            "SELECT s.downloaded, s.bytes, d.downloaded, d.bytes"
            " FROM server s JOIN site d ON d.id = s.site WHERE s.name = ?",
            (server,),
        ).fetchone() or (0, 0, 0, 0)
        return Taken(*row[:2]), Taken(*row[2:])

    def support(self, site: str) -> int:
        """Return the support of a site, as far as anything counts it."""
        row = self._db.execute("SELECT level, supporters FROM site WHERE name = ?", (site,))
        level, supporters = row.fetchone() or (NEW, "")
        return support_of(level, len(supporters.split()))

    def family_of(self, site: str) -> tuple[str, ...]:
        """Return the family and the branch of an unproven site; nothing of another."""
        row = self._db.execute(_FAMILY_OF, (site,)).fetchone()
        return () if row is None else tuple(row)

    def left_out(self, server: str | None = None) -> Iterable[tuple[str, str, int]]:
        """Return server, reason and number of URLs that were left out, of all or of one."""
        return self._db.execute(
            "SELECT name, reason, number FROM left_out JOIN server ON id = server"
            f" WHERE id {_OWN} AND (?1 IS NULL OR name = ?1)",
            (server,),
        ).fetchall()

    def find(self, url: str) -> Standing | None:
        """Return how a URL stands, None if it isn't there."""
        row = self._db.execute(
            "SELECT outcome, code FROM url WHERE fingerprint = ?", (fingerprint(url),)
        ).fetchone()
        return None if row is None else Standing(*row)

    def revisited(self, url: str) -> RevisitedPage | None:
        """Return what is known of a page that is visited again; None of another."""
        about = self.identity()
        if "revisit" not in about:
            return None
        row = page_of(self._db, url)
        if row is None:
            return None
        (site, page), day = row, float(about["day"])
        return revisited_page(page, usual(self._db, page.kind, site), day)

    def server(self, name: str, top: int = 10) -> Server | None:
        """Return what is known of a server, and its next ``top`` URLs; None if nothing."""
        queue = self.queue(name)
        if queue is None:
            return None
        waiting, rank = self.waiting_of(name), self.order().rank
        following: list[tuple[str, int]] = []
        for cell in sorted(waiting, key=rank):
            if len(following) < top:
                urls = self.next_of(name, cell, top - len(following))
                following += [(url, cell) for url in urls]
        pages = status(queue.downloaded, queue.relevant, self.strategy.tolerated)
        return Server(self.strategy.name, queue, pages.name.lower(), waiting, tuple(following))

    def standing(self, url: str) -> Standing | None:
        """Return where a URL stands, None if the frontier doesn't know it."""
        found, parsed = self.find(url), parse(url)
        if found is not None and parsed is not None:
            return found._replace(family=self.family_of(site_of(parsed.server))[:1])
        if found is not None or parsed is None:
            return found
        reasons = {reason for _, reason, _ in self.left_out(parsed.server)}
        return next((Standing(reason) for reason in FULL.values() if reason in reasons), None)


class Reader(Lookup):
    """The frontier in a SQLite file, only read. URLs that a process leased are pending."""

    def tallies(self) -> dict[str, dict[str, int]]:
        """Return the tallies by kind and name, at once: no URL is counted for it."""
        return self._sorted(read_tallies(self._db))

    def _sorted(self, counts: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
        return by_kind(
            (kind, str(name), number)  # an Outcome is a name
            for kind, names in counts.items()
            for name, number in names.items()
        )

    def pending(self) -> dict[int, int]:
        """Count the pending URLs by cell. Leased ones are among them if ``leased`` is 0."""
        return waiting(self._db, self.strategy)

    def leased(self) -> int:
        """Return the number of leased URLs, where leases are known: a file has none."""
        return 0

    def statuses(self) -> dict[str, int]:
        """Count servers, or directories if the strategy counts by them, by status."""
        table = self.strategy.unit.value
        own = f" WHERE id {_OWN}" if table == "server" else ""
        pages = self._db.execute(f"SELECT downloaded, relevant FROM {table}{own}")
        tolerated = self.strategy.tolerated
        return dict(Counter(status(na, nr, tolerated).name.lower() for na, nr in pages))

    def servers(self) -> int:
        """Return the number of servers that URLs were offered of."""
        last, given = self._db.execute(
            "SELECT (SELECT max(id) FROM server), (SELECT count(*) FROM given)"
        ).fetchone()
        return (last or 0) - int(given)

    def server_names(self) -> list[str]:
        """Return the names of all these servers."""
        return [name for (name,) in self._db.execute(f"SELECT name FROM server WHERE id {_OWN}")]

    def finished(self) -> Iterator[tuple[str, str]]:
        """Yield every finished URL and its outcome, that of a requisite after OF_REQUISITE."""
        yield from self._db.execute(NAMED)

    def finished_elsewhere(self) -> Iterable[str] | None:
        """Return the URLs that other workers finished first; None if there are no others."""
        if "worker" not in self.identity():
            return None
        return (url for (url,) in self._db.execute(FINISHED_ELSEWHERE))

    def longest(self, top: int) -> tuple[tuple[Queue, ...], tuple[Queue, ...]]:
        """Return the longest queues, and those of the servers with most pages."""
        named = "SELECT name, ?, downloaded, relevant FROM server WHERE id = ?"
        queues = [self._db.execute(named, queue).fetchone() for queue in longest(self._db, top)]
        largest = self._db.execute(
            f"{_QUEUE} WHERE downloaded > 0 AND id {_OWN} ORDER BY downloaded DESC, name LIMIT ?",
            (top,),
        )
        return tuple(Queue(*row) for row in queues), tuple(Queue(*row) for row in largest)

    def families(self, top: int) -> list[Family]:
        """Return the families with most unproven sites, the largest first."""
        rows = self._db.execute(_FAMILIES, (top,)).fetchall()
        return [
            Family(*row, *self._db.execute(_BRANCH, (family,)).fetchone()) for family, *row in rows
        ]

    def freshness(self, now: float) -> Freshness | None:
        """Return how fresh pages are at a Unix time; None if none is visited again."""
        about = self.identity()
        if "revisit" not in about:
            return None
        day, budget = float(about["day"]), float(about["revisit"])
        known = cache(partial(usual, self._db))
        shares = [
            page.fresh(known(page.kind, site)[0], now / day)
            for site, page in sample(self._db, SAMPLE)
            if page.kind != Kind.LISTING
        ]
        pages, next_due = self._db.execute("SELECT count(*), min(due) FROM revisited").fetchone()
        (due,) = self._db.execute(
            "SELECT count(*) FROM revisited WHERE due <= ?", (now / day,)
        ).fetchone()
        (finds,) = self._db.execute("SELECT sum(new) FROM rate WHERE site = 0").fetchone()
        return Freshness(
            pages=pages,
            fresh=sum(shares) / len(shares) if shares else None,
            due=due,
            next_due=None if next_due is None else next_due * day,
            budget=budget * pages,
            used=None,
            finds=round(finds or 0),
            **visits_so_far(self.tallies()),
        )

    def own_parts(self) -> set[int]:
        """Return the parts of the sites that a worker has; none of a crawl that is alone."""
        rows = self._db.execute("SELECT part FROM part WHERE state <> ?", (State.GIVEN,))
        return {part for (part,) in rows}

    def outbox(self) -> int:
        """Return how many links to other workers' sites haven't arrived."""
        (links,) = self._db.execute(
            "SELECT coalesce(sum(links), 0) FROM"
            " (SELECT links FROM outgoing UNION ALL SELECT links FROM late)"
        ).fetchone()
        return int(links)

    def completion(self, top: int = 10) -> Completion:
        """Return how servers ended."""
        left_out = list(self.left_out())
        cut = nsmallest(top, left_out, key=lambda row: (-row[2], row[:2]))
        failed = f"{_IDLE} AND downloaded = 0"
        (complete,) = self._db.execute(f"SELECT count(*) {_IDLE} AND downloaded > 0").fetchone()
        (number,) = self._db.execute(f"SELECT count(*) {failed}").fetchone()
        names = self._db.execute(f"SELECT id, name {failed} ORDER BY name LIMIT ?", (top,))
        first = self._with_outcomes(dict(names.fetchall()))
        servers = {server for server, *_ in left_out}
        return Completion(complete, tuple(cut), len(servers), tuple(first), number)

    def _with_outcomes(self, names: Mapping[int, str]) -> list[tuple[str, str]]:
        """Return the name of each server with how a URL of it ended."""
        (last,) = self._db.execute("SELECT coalesce(max(seq), 0) FROM url").fetchone()
        found: dict[int, str] = {}
        for first in range(1, last + 1, SLICE):
            rows = self._db.execute(
                "SELECT server, max(outcome) FROM url WHERE seq BETWEEN ? AND ?"
                " AND server IN (SELECT value FROM json_each(?)) GROUP BY server",
                (first, first + SLICE - 1, dumps(list(names))),
            )
            found |= {server: outcome for server, outcome in rows if outcome is not None}
        return [(name, found.get(id_, "")) for id_, name in names.items()]

    def sites(
        self, text: str, order: SiteOrder, most: int, *, without_pages: bool = False
    ) -> SiteList:
        """Return the first ``most`` sites whose names contain a text (``site_report.sites``)."""
        return site_report.sites(self._db, text, order, most, without_pages=without_pages)

    def of_site(self, name: str, most: int) -> OfSite | None:
        """Return what is known of a site, with ``most`` servers; None if nothing is."""
        found = site_report.of_site(self._db, name, most)
        family = "".join(self.family_of(name)[:1])
        return None if found is None else found._replace(family=family)

    def cells(self) -> tuple[CellHarvest, ...]:
        """Return the cells with URLs or pages, the best first."""
        return self.harvest(self.pending(), self.pages_by_cell())

    def harvest(
        self, pending: dict[int, int], pages: Mapping[int, Pages]
    ) -> tuple[CellHarvest, ...]:
        """Return the cells of these pending URLs and pages, the best first."""
        for cell in (REQUISITES, GUESSES):
            pending.pop(cell, None)
        return harvest(self.order(), pending, pages)

    def kind_of(self, url: str) -> CellHarvest | None:
        """Return what is known of pending URLs like this one; None unless it is pending."""
        row = self._db.execute(_LINE_OF, (fingerprint(url),)).fetchone()
        if row is None:
            return None
        cell = cell_of(self.strategy, *row)
        found = self.harvest({cell: 1}, self.pages_by_cell())
        return next((one for one in found if one.cell == cell), None)

    def counts(self) -> Counts:
        """Count everything, exactly."""
        pending = self.pending()
        requisites = pending.pop(REQUISITES, 0) + pending.pop(GUESSES, 0)
        return Counts(pending, self.leased(), self.statuses(), self.tallies(), requisites)

    def report(self, top: int = 10) -> Report:
        """Return what the frontier holds, with its ``top`` longest queues."""
        counts = self.counts()
        cells = self.harvest(dict(counts.pending), self.pages_by_cell())
        return Report(self.identity(), counts, *self.longest(top), cells)


def damaged(path: Path, error: Exception) -> str:
    """Return what is said of a file that can't be read, or not any more."""
    return (
        f"{path}: not a frontier of lswc, or a damaged one ({error}): {repair(path.parent)} makes "
        "it anew from the record and the log"
    )


@contextmanager
def connected(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a frontier's file only to read it; not a byte of it changes.

    Raises FrontierError, also for what can't be read of a frontier of another version.
    """
    if not path.is_file():
        raise FrontierError(f"no frontier: {path} doesn't exist")
    try:
        db = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
    except sqlite3.OperationalError as error:
        raise FrontierError(f"can't read {path}: {error}") from error
    try:
        yield db
    except (sqlite3.DatabaseError, KeyError, ValueError, StrategyError) as error:
        _check_format(db)
        raise FrontierError(damaged(path, error)) from error
    finally:
        db.close()


@contextmanager
def opened(path: Path) -> Iterator[Reader]:
    """Open the frontier in a file only to read it; not a byte changes. Raises FrontierError."""
    with connected(path) as db:
        yield Reader(db)


def taught_by(path: Path, language: str, value: Value = Value.PAGES) -> Experience:
    """Return what an earlier crawl's file can teach another one of that language, by what counts.

    Raises FrontierError if it teaches nothing, or is damaged.
    """
    try:
        with opened(path) as reader:
            check_source(reader.identity(), language, value)
            known = reader.own_experience()
            known.merge(earlier_experience(reader.identity()))
            return known
    except (FrontierError, ExperienceError) as error:
        raise FrontierError(f"LSWC_EXPERIENCE={path.parent}: {error}") from error


def own_of(path: Path) -> Experience:
    """Return what a crawl's file has learned from its own pages, for crawls of any language.

    Raises FrontierError if that is nothing, or the file is damaged.
    """
    try:
        with opened(path) as reader:
            check_source(reader.identity(), None, Value.PAGES)
            return reader.own_experience()
    except FrontierError as error:
        raise FrontierError(f"{path.parent}: {error}") from error


def lengths(path: Path) -> dict[str, int] | None:
    """Return the lengths of the crawl's files at a frontier's last commit.

    None if the file isn't there, or holds nothing. Raises FrontierError.
    """
    if not path.is_file():
        return None
    with connected(path) as db:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
        if not tables:
            return None
        _check_format(db)
        return read_lengths(db)


def _check_format(db: sqlite3.Connection) -> None:
    """Raise VersionError for a frontier of another version; a damaged one says none."""
    with suppress(sqlite3.DatabaseError, ValueError):  # of a text that is none
        about = dict(db.execute("SELECT key, value FROM about WHERE key = 'format'"))
        if about:
            check_format(about)


def finished(path: Path) -> Iterator[tuple[str, str]]:
    """Yield every finished URL of a frontier and its outcome, as ``Frontier.finished`` does.

    Raises FrontierError.
    """
    with opened(path) as reader:
        yield from reader.finished()


def outcomes(path: Path) -> tuple[dict[str, int], dict[str, int]]:
    """Return the finished URLs by outcome: as they were tallied, and as they are counted."""
    with connected(path) as db:
        tallied = Reader(db).tallies().get("finished", {})
        counted = db.execute(f"SELECT outcome, count(*) FROM ({FINISHED}) GROUP BY outcome")
        return tallied, dict(counted.fetchall())
