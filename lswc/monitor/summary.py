"""The result of a crawl: ``summary.json``, and a table on the terminal."""

from __future__ import annotations

import json
import logging
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console
from rich.filesize import decimal
from scrapy import signals

from lswc.archive import page_record
from lswc.cli.command import program
from lswc.cli.tables import counted
from lswc.crawl.close_reasons import said
from lswc.crawl.composition import parts_of
from lswc.crawl.web import truth
from lswc.frontier.harvest import Forecast, by_group, forecast

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from rich.table import Table
    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from lswc.crawl.configuration import Crawl
    from lswc.frontier.contract import Counts
    from lswc.frontier.harvest import CellHarvest

SUMMARY = "summary.json"
"""Name of the summary in the crawl folder."""


logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Coverage:
    """How many of the web's relevant pages the crawl has; known only for a web with truth."""

    relevant: int
    collected: int

    @property
    def share(self) -> float:
        """Collected by all there are; 0 if there are none."""
        return self.collected / self.relevant if self.relevant else 0.0


@dataclass(frozen=True)
class Run:
    """The latest run of a crawl: from when to when (UTC, ISO 8601), and what it brought.

    ``received`` are bytes of bodies, as they were sent.
    """

    began: str
    ended: str
    seconds: float
    pages: int
    received: int

    @classmethod
    def of(cls, began: datetime, ended: datetime, stats: StatsCollector) -> Run:
        """Sum up a run."""
        kinds = ("relevant", "guessed", "irrelevant")
        return cls(
            began=began.isoformat(timespec="seconds"),
            ended=ended.isoformat(timespec="seconds"),
            seconds=round((ended - began).total_seconds(), 1),
            pages=sum(stats.get_value(f"lswc/page/{kind}", 0) for kind in kinds),
            received=stats.get_value("lswc/received/bytes", 0),
        )


@dataclass(frozen=True)
class OfLanguage:
    """What a crawl of several languages has in one of them. A page may be relevant for several."""

    relevant: int
    harvest_rate: float
    coverage: Coverage | None


@dataclass(frozen=True)
class Summary:
    """A crawl's result, resumed runs included; ``run`` is the latest.

    ``relevant`` pages were identified as such, and the harvest rate counts them only; ``guessed``
    ones count for the strategy alone, their own language being unknown.
    ``kinds`` says how many pages are HTML, and how many which documents; ``sources`` what named
    the relevant ones: seeds, links, sitemaps, feeds.
    ``servers`` (or directories) by status; ``fetched`` pages and ``pending`` URLs by tier, or by
    expected relevance in a learned order; ``forecast`` says what the pending ones should bring.
    Links are kept by tier and dropped by reason, URLs ``finished`` by outcome; ``put_off``
    are those that couldn't be had and wait to be tried again, by what went wrong last.
    ``requisites`` are the files that archived pages need, among the URLs ``finished``. ``shells``
    are pages that need their scripts, by what came of them, and what those didn't get. ``content``
    counts pages that were near-duplicates, or not modified since an earlier crawl.
    ``by_language`` has the languages of a crawl of several by their tags; else it is empty.
    """

    language: str
    strategy: str
    reason: str
    run: Run
    pages: int
    relevant: int
    guessed: int
    received: int
    harvest_rate: float
    coverage: Coverage | None
    kinds: Mapping[str, int]
    sources: Mapping[str, int]
    languages: Mapping[str, int]
    encodings: Mapping[str, int]
    content: Mapping[str, int]
    servers: Mapping[str, int]
    links_kept: Mapping[str, int]
    dropped: Mapping[str, int]
    fetched: Mapping[str, int]
    pending: Mapping[str, int]
    put_off: Mapping[str, int]
    requisites: Mapping[str, int]
    shells: Mapping[str, int]
    forecast: Forecast
    finished: Mapping[str, int]
    by_language: Mapping[str, OfLanguage]

    @classmethod
    def of(
        cls, crawl: Crawl, counts: Counts, cells: Sequence[CellHarvest], reason: str, run: Run
    ) -> Summary:
        """Sum up a crawl whose frontier holds ``counts`` and ``cells``, and why its run ended."""
        page = counts.tally.get("page", {})
        pages, relevant = sum(page.values()), page.get("relevant", 0)
        return cls(
            language=crawl.language.tag,
            strategy=crawl.strategy.name,
            reason=reason,
            run=run,
            pages=pages,
            relevant=relevant,
            guessed=page.get("guessed", 0),
            received=counts.tally.get("received", {}).get("bytes", 0),
            harvest_rate=round(relevant / pages, 4) if pages else 0.0,
            coverage=coverage(crawl, crawl.language.tags),
            kinds=counts.tally.get("kind", {}),
            sources=counts.tally.get("source", {}),
            languages=counts.tally.get("language", {}),
            encodings=counts.tally.get("encoding", {}),
            content=counts.tally.get("content", {}),
            servers=counts.servers,
            links_kept=counts.tally.get("kept", {}),
            dropped=counts.tally.get("dropped", {}),
            fetched=counts.tally.get("fetched", {}),
            pending=_pending(cells),
            put_off=counts.tally.get("put off", {}),
            requisites=_requisites(counts),
            shells=_shells(counts),
            forecast=forecast(cells),
            finished=counts.tally.get("finished", {}),
            by_language=_by_language(crawl, counts.tally.get("relevant", {}), pages),
        )

    def json(self) -> str:
        """Return the summary as JSON, with a share beside the coverage's counts."""
        values = asdict(self)
        _add_share(values, self.coverage)
        for tag, of_language in self.by_language.items():
            _add_share(values["by_language"][tag], of_language.coverage)
        if not self.by_language:
            del values["by_language"]
        return json.dumps(values, ensure_ascii=False, indent=1) + "\n"


def _requisites(counts: Counts) -> dict[str, int]:
    """Return the requisites by outcome, those that wait, and those that weren't asked for."""
    pending = {"pending": counts.requisites} if counts.requisites else {}
    dropped = counts.tally.get("requisites dropped", {})
    return {
        **counts.tally.get("requisites", {}),
        **pending,
        **{f"not asked for: {reason}": number for reason, number in dropped.items()},
    }


def _shells(counts: Counts) -> dict[str, int]:
    """Return the pages that need their scripts by what came of them, and what these didn't get."""
    refused = counts.tally.get("not given to browser", {})
    return {
        **counts.tally.get("shells", {}),
        **{f"not given to browser: {reason}": number for reason, number in refused.items()},
    }


def _pending(cells: Iterable[CellHarvest]) -> dict[str, int]:
    """Return the number of waiting URLs by group, the best first."""
    return {group.name: group.waiting for group in by_group(cells) if group.waiting}


def _add_share(values: dict[str, Any], known: Coverage | None) -> None:
    if known is not None:
        values["coverage"]["share"] = round(known.share, 4)


def _by_language(crawl: Crawl, relevant: Mapping[str, int], pages: int) -> dict[str, OfLanguage]:
    tags = crawl.language.tags
    if len(tags) == 1:
        return {}
    counts = {tag: relevant.get(tag, 0) for tag in tags}
    return {
        tag: OfLanguage(count, round(count / pages, 4) if pages else 0.0, coverage(crawl, (tag,)))
        for tag, count in counts.items()
    }


def coverage(crawl: Crawl, tags: Sequence[str]) -> Coverage | None:
    """Compare the record with what is known of the web, in these languages; None if nothing is."""
    known = truth(crawl.web) if crawl.web is not None else None
    if known is None:
        return None
    wanted = {
        url
        for url, page in known.items()
        if page.language in tags and (page.listed or page.language in page.reachable)
    }
    return Coverage(len(wanted), len(wanted & collected(crawl.folder)))


def collected(folder: Path) -> set[str]:
    """Return the URLs that the crawl in this folder has records of."""
    return {record["url"] for record in page_record.records(folder)}


def shown(summary: Summary) -> Table:
    """Return the summary as a table for the terminal."""
    result: dict[str, object] = {
        "pages": summary.pages,
        "relevant": summary.relevant,
        **({"guessed relevant": summary.guessed} if summary.guessed else {}),
        "harvest rate": f"{summary.harvest_rate:.1%}",
        "received": decimal(summary.received),
    }
    if (known := summary.coverage) is not None:
        covered = f"{known.share:.1%}, {known.collected:,} of {known.relevant:,}"
        result["coverage of the known relevant pages"] = covered
    if summary.pending:
        result["relevant pages expected among URLs pending"] = round(summary.forecast.waiting)
    run = summary.run
    groups = {
        "result": result,
        **{tag: _shown(known) for tag, known in summary.by_language.items()},
        "this run": {
            "pages": run.pages,
            "time": str(timedelta(seconds=round(run.seconds))),
            "pages a second": f"{run.pages / run.seconds:.1f}" if run.seconds else "",
            "received": decimal(run.received),
        },
        "languages": summary.languages,
        "kinds of pages": summary.kinds,
        "relevant pages, named by": summary.sources,
        "pages": summary.content,
        "servers": summary.servers,
        "links kept": summary.links_kept,
        "dropped": summary.dropped,
        "pages fetched": summary.fetched,
        "URLs pending": summary.pending,
        "URLs to try again": summary.put_off,
        "requisites of archived pages": summary.requisites,
        "pages that need their scripts": summary.shells,
        "URLs finished": summary.finished,
    }
    return counted(f"{summary.language}, {summary.strategy}: {said(summary.reason)}", groups)


def _shown(known: OfLanguage) -> dict[str, object]:
    rows: dict[str, object] = {
        "relevant": known.relevant,
        "harvest rate": f"{known.harvest_rate:.1%}",
    }
    if known.coverage is not None:
        covered = known.coverage
        rows["coverage"] = f"{covered.share:.1%}, {covered.collected:,} of {covered.relevant:,}"
    return rows


def advice(summary: Summary, folder: Path) -> str:
    """Say how to go on with a crawl, and what to do with what it collected."""
    waiting = sum(summary.pending.values()) + sum(summary.put_off.values())
    waiting += summary.requisites.get("pending", 0)
    lines = []
    if waiting:
        lines.append(f"{waiting:,} URLs wait: the same command goes on with them.")
    if summary.pages:
        lines += ["Next:", *(f"  {program()} {command.format(folder)}" for command in _NEXT)]
    return "\n".join(lines)


_NEXT = ("analyze {} --out report", "corpus {}", "frontier {}")
"""Commands that make sense after a crawl."""


class SummaryExtension:
    """Writes ``summary.json`` when the crawl closes, and shows it if there is a terminal."""

    def __init__(self, crawler: Crawler) -> None:
        self._parts = parts_of(crawler)
        self._stats = crawler.stats
        self._began = datetime.now(UTC)
        crawler.signals.connect(self._closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _closed(self, reason: str) -> None:
        crawl, held = self._parts.crawl, self._parts.held_at_close
        if held is None:
            logger.error("%s stays as it was: the frontier can't be read any more", SUMMARY)
            return
        run = Run.of(self._began, datetime.now(UTC), self._stats)
        summary = Summary.of(crawl, *held, reason, run)
        try:
            (crawl.folder / SUMMARY).write_text(summary.json(), encoding="utf-8")
        except OSError as error:
            logger.error("can't write %s: %s", SUMMARY, error.strerror)
        console = Console(file=sys.stdout)
        console.print(shown(summary))
        console.print(advice(summary, crawl.folder), markup=False, highlight=False, soft_wrap=True)
