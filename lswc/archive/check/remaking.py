"""Remaking: a frontier that is damaged or gone is made anew from what the crawl has written.

Each visit that the log tells of is made again in a new frontier, in the order of their ends, by the
frontier's own rules: so counters, cells, families and what waits come out as they were. What the
log doesn't tell isn't there: URLs of sitemaps that weren't read yet, requisites of redirects, what
an earlier crawl had taught, and some counters of the summary.
"""

from __future__ import annotations

from contextlib import closing
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lswc.archive import committed_lengths
from lswc.archive.appended_files import ArchiveError
from lswc.archive.crawl_log import LISTING_KIND, NO_VISIT, REQUISITE_KIND, RETRY
from lswc.archive.logged_links import OF_PAGE, Logged, links_by_page
from lswc.archive.run_settings import IDENTITY, settings_of, wanted_of
from lswc.errors import StorageError
from lswc.extras import require
from lswc.frontier import FRONTIER_FILE, WORKER_FILE
from lswc.frontier.rules.visit import Attempt, Visit, key, offer_of_redirect
from lswc.frontier.store.frontier import Frontier
from lswc.outcomes import RECORDED, Outcome, may_return
from lswc.strategy import (
    LISTING,
    REQUISITE,
    SEED,
    Anchor,
    Facts,
    Locality,
    PageLanguage,
    Source,
    Status,
    Unit,
    encode,
    strategy,
)
from lswc.urls import directory, parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lswc.frontier.rules.visit import Lease, Offer

SAVED = 2_000
"""Visits after which what was made is written out of SQLite's log: else that grows with them."""

_COLUMNS = [
    *OF_PAGE, "kind", "outcome", "source", "referrer", "time", "status", "bytes", "encoding",
    "requisites", "visit",
]  # fmt: skip


class Remade(NamedTuple):
    """How many URLs are finished in a new frontier, and how many wait."""

    finished: int
    waiting: int


def remake(crawl: Path, folder: Path) -> Remade:
    """Make a crawl's frontier anew, in an empty folder; the one that is there isn't touched.

    The caller keeps the crawl's lock. Raises LswcError.
    """
    if (crawl / WORKER_FILE).exists():
        raise ArchiveError(
            f"{crawl} is the folder of a worker that shares its crawl: let another one take over "
            "its sites, `lswc workers lost NUMBER --confirm`, and begin a new worker in another "
            "folder"
        )
    require("parquet")
    identity = settings_of(crawl).get(IDENTITY)
    if not isinstance(identity, dict) or not isinstance(identity.get("strategy"), str):
        raise ArchiveError(
            f"{crawl}: its settings.json doesn't say what its frontier is of: it is of a version "
            "before 0.2.0, or damaged"
        )
    kept = {str(name): str(value) for name, value in identity.items()}
    new = folder / FRONTIER_FILE
    with closing(Frontier(new, strategy(kept["strategy"]), kept)) as frontier:
        remaking = _Remaking(crawl, frontier)
        remaking.all()
        frontier.reopen((), committed_lengths.lengths(crawl))
        made = Remade(remaking.finished, frontier.unfinished)
        frontier.checkpoint()
    if Path(f"{new}-wal").exists():  # the last connection puts all of it into the file
        raise StorageError(f"{new} can't be written whole")
    return made


class _Remaking:
    """Makes the visits of a crawl's log again in a new frontier."""

    def __init__(self, crawl: Path, frontier: Frontier) -> None:
        self._crawl, self._frontier = crawl, frontier
        is_by_server = frontier.strategy.unit is Unit.SERVER
        unit = attrgetter("server") if is_by_server else directory
        self._logged = Logged(wanted_of(crawl).tlds, unit)
        self.finished = 0

    def all(self) -> None:
        from lswc.archive.log_tables import ATTEMPTS, conform, pairs

        for attempts, links in pairs(self._crawl):
            targets = {(url, visit): found for url, visit, found in links_by_page(links)}
            rows = conform(attempts, ATTEMPTS).select(_COLUMNS)
            for batch in rows.to_batches(max_chunksize=10_000):
                for row in batch.to_pylist():
                    if row["outcome"] not in (*NO_VISIT, RETRY):
                        self._make(row, targets.get((row["url"], row["visit"] or 1), []))

    def _make(self, row: dict[str, Any], links: list[dict[str, Any]]) -> None:
        """Make a visit again; what may be had another time waits for that instead."""
        if (row["visit"] or 1) > 1:
            again = partial(self._logged.offers, row, links)
            self._frontier.sharing.offer_again(row["url"], again)
            return
        lease = self._lease(row)
        if lease is None:
            return
        visit = Visit(lease, url=row["url"], outcome=row["outcome"])
        if may_return(visit.outcome):
            self._frontier.give_back(visit)
            return
        visit.attempts = [
            Attempt(row["url"], row["time"], row["status"] or 0, size=row["bytes"] or 0)
        ]
        if visit.outcome in RECORDED:
            visit.relevant = bool(row["relevant"] or row["guessed"])
            visit.count_page(
                row["kind"], row["language"], row["encoding"] or "",
                relevant=bool(row["relevant"]), guessed=bool(row["guessed"]),
            )  # fmt: skip
            for link in links:
                tier = link["tier"]
                visit.tally["kept", "links" if tier is None else f"tier {tier}"] += 1
        visit.count_end()
        visit.offers = [*self._offers(visit, row, links), *self._requisites(row)]
        self._frontier.commit(visit)
        self.finished += 1
        if self.finished % SAVED == 0:
            self._frontier.checkpoint()

    def _lease(self, row: dict[str, Any]) -> Lease | None:
        """Lease the URL of a row, which is offered if nothing before has led to it.

        None if an earlier row has finished it already.
        """
        url = parse(row["url"])
        if url is None:
            return None
        code = _CODES.get(row["kind"]) or (SEED if row["source"] == "seed" else _code(row))
        name = key(url.href, code)
        # A strategy may discard the link by which it is offered; it takes any seed.
        for offered in (code, SEED) if code < SEED else (code,):
            if (lease := self._frontier.lease_url(name)) is not None:
                return lease
            depth = row["depth"] or 0
            offer = self._logged.offer(url, offered, PageLanguage.TARGET, depth)
            self._frontier.offer([offer])
        return self._frontier.lease_url(name)

    def _offers(
        self, visit: Visit, row: dict[str, Any], links: list[dict[str, Any]]
    ) -> Sequence[Offer]:
        """Return the offers of what a visit led to, as the crawl made them of its outcome."""
        lease, offer = visit.lease, self._logged.offer
        found = [url for link in links if (url := parse(link["target"])) is not None]
        if visit.outcome == Outcome.REDIRECT:
            times = lease.redirects + 1
            return [offer_of_redirect(visit, url, self._logged.unit(url), times) for url in found]
        if visit.outcome == Outcome.LISTING:
            code = encode(_FACTS._replace(source=Source.SITEMAP))
            return [offer(url, code, PageLanguage.TARGET, lease.depth) for url in found]
        return self._logged.offers(row, links, lease.code, lease.depth)

    def _requisites(self, row: dict[str, Any]) -> Iterator[Offer]:
        for text in row["requisites"] or ():
            if (url := parse(text)) is not None:
                yield self._logged.offer(url, REQUISITE, PageLanguage.TARGET, 1)


_CODES = {REQUISITE_KIND: REQUISITE, LISTING_KIND: LISTING}
_FACTS = Facts(
    PageLanguage.TARGET, 1, Status.RELEVANT, Status.UNVISITED, Locality.SAME_SERVER, False,
    Anchor.NONE, False,
)  # fmt: skip


def _code(row: dict[str, Any]) -> int:
    """Return the code of a link to a page of which only that is known what its own row says."""
    source = Source[row["source"].upper()] if row["source"] else Source.LINK
    return encode(_FACTS._replace(distance=row["distance"] or 1, source=source))
