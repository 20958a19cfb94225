"""``scrapy frontier CRAWL``: what is pending, what was discarded and why."""

from __future__ import annotations

from datetime import UTC, datetime
from math import ceil, floor
from typing import TYPE_CHECKING

from lswc.cli.command import KEY, UserCommand, named, option
from lswc.cli.progress_lines import working
from lswc.cli.tables import counted as counts_table
from lswc.cli.tables import table, terminal
from lswc.errors import ConfigError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from rich.table import Table

    from lswc.crawl.generated_sites import Judged
    from lswc.frontier.rules.report import Completion, Freshness
    from lswc.monitor.snapshot import Cell, Outlook, Snapshot


class Command(UserCommand):
    """Shows the frontier in a crawl folder or in Redis, also while the crawl runs."""

    usage = "<crawl folder> [folders of its other workers] | redis://... [--key NAME]"
    summary = "Show a crawl's frontier: URLs, servers, why URLs were discarded"
    options = (
        option("--top", "cells and servers to show (default: 10)", 10),
        KEY,
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        places = named(args)
        if opts.top < 1:
            raise ConfigError(f"--top must be at least 1, and {opts.top} isn't")
        from msgspec.structs import replace

        from lswc.crawl.generated_sites import judged_sites
        from lswc.monitor.stored import stored

        with working() as say:
            say("frontier", 0, 0)
            crawl = stored(places, opts.key, self.project_settings)
            found = crawl.counted(opts.top)
            workers = [worker for snapshot in crawl.reported() for worker in snapshot.workers]
            snapshot = replace(found, workers=tuple(workers))
            judged = [one for folder in crawl.folders() for one in judged_sites(folder)]
        console = terminal()
        for part in shown(snapshot):
            console.print(part)
        if judged:
            console.print(_generated(judged, opts.top))
        for gap in crawl.gaps():
            print(f"{gap}.")


def shown(snapshot: Snapshot) -> Iterator[Table | str]:
    """Yield the tables of a snapshot with a full count, and a line of what is expected."""
    tallies, outlook = snapshot.tallies, snapshot.outlook
    urls = {
        "pending": snapshot.pending,
        "of them postponed": snapshot.postponed,
        "of them requisites": snapshot.requisites,
        "leased": snapshot.leased or 0,
        "finished": snapshot.finished,
    }
    groups = {
        "pages": {"all": snapshot.pages, "relevant": snapshot.relevant},
        "URLs": {name: number for name, number in urls.items() if number or name == "pending"},
        "URLs postponed": tallies.postponed,
        "URLs finished": tallies.finished,
        "discarded": tallies.discarded,
        "remarkable pages": tallies.content,
        "servers": snapshot.by_status or {},
    }
    yield counts_table(f"{snapshot.language}, {snapshot.strategy}", groups, longest=None)
    if snapshot.freshness is not None:
        yield table("pages visited again", ("", ""), _freshness(snapshot.freshness))
    yield _cells("best cells", outlook.best)
    if outlook.largest:
        yield _cells("largest cells", outlook.largest)
    yield _expected(outlook)
    yield from _waits(snapshot)
    queues = [(q.server, q.pending, q.downloaded, q.relevant) for q in snapshot.longest or ()]
    heads = ("server", "pending", "downloaded", "relevant")
    yield table("servers with most pending URLs", heads, queues)
    if snapshot.families:
        of_family = ("family of", "unproven sites", "pages", "of all", "mainly through", "sites")
        yield table("families of unproven sites", of_family, _families(snapshot))
    if snapshot.completion is not None:
        yield from _completion(snapshot.completion)


def _waits(snapshot: Snapshot) -> Iterator[str]:
    """Yield what workers wait for, and how long connections were free while URLs waited."""
    for worker in snapshot.workers:
        if worker.waits and worker.is_live:
            yield f"{worker.folder}: {worker.waits}."
        if worker.held_back:
            yield (
                f"{worker.folder}: connections were idle for {worker.held_back:,.0f} s, while URLs"
                " waited for likelier URLs of busy servers;"
                f" the longest time in a row was {worker.longest_held_back:.0f} s."
            )


def _freshness(again: Freshness) -> list[tuple[str, str]]:
    return [
        ("pages, sitemaps and feeds visited again", f"{again.pages:,}"),
        ("of the pages should be as at their latest visit", _share(again.fresh)),
        ("due now", f"{again.due:,}"),
        ("next one due, UTC", _utc(again.next_due)),
        ("visits a day, at most", f"{again.budget:,.0f}"),
        ("visits that found a change", f"{again.changed:,}"),
        ("and none", f"{again.unchanged:,}"),
        ("pages gone", f"{again.gone:,}"),
        ("new relevant pages found by them", f"{again.finds:,}"),
        ("changes that sitemaps and feeds claimed", f"{again.believed:,}"),
        ("and were not believed", f"{again.disbelieved:,}"),
    ]


def _utc(seconds: float | None) -> str:
    return "" if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}"


def _generated(judged: list[Judged], top: int) -> Table:
    """Return a table of the sites that machines seem to have written, the likeliest first."""
    from lswc.crawl.generated_sites import likeliest
    from lswc.reading.generated_sites import GENERATED

    first = likeliest(judged)[:top]
    rows = ((one.site, f"{one.score:.2f}", one.pages, ", ".join(one.signs)) for one in first)
    heads = ("site", "score", "pages looked at", "signs")
    title = f"sites that machines may have written: from {GENERATED:.2f} on they count so"
    return table(title, heads, rows)


def _families(snapshot: Snapshot) -> Iterator[tuple[object, ...]]:
    for family in snapshot.families or ():
        part = _share(family.pages / snapshot.pages if snapshot.pages else None)
        yield family.name, family.sites, family.pages, part, family.branch, family.of_branch


def _completion(ended: Completion) -> Iterator[Table]:
    numbers = {
        "complete": ended.complete,
        "cut short": ended.cut_number,
        "without a page": ended.failed_number,
    }
    yield counts_table("servers with nothing pending", {"servers": numbers}, longest=None)
    if ended.cut:
        yield table("cut short", ("server", "reason", "URLs left out"), ended.cut)
    if ended.failed:
        yield table("without a page", ("server", "how a URL of it ended"), ended.failed)


def _cells(title: str, cells: tuple[Cell, ...]) -> Table:
    """Return a table of cells: what their URLs have in common, how many, expected and seen, and the
    pages that the crawl had and began with."""
    heads = ("", "pending", "expected", "seen", "pages", "known before")
    rows = (
        (c.name, c.pending, f"{c.expected:.1%}", _share(c.seen), c.pages, c.before or "")
        for c in cells
    )
    return table(title, heads, rows)


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _expected(outlook: Outlook) -> str:
    if outlook.next_harvest_rate is None:
        return "Nothing is pending."
    return (
        f"Relevant pages expected: {outlook.expected:,.0f} among all pending URLs, at least"
        f" {floor(outlook.at_least):,} and at most {ceil(outlook.at_most):,};"
        f" {outlook.next_relevant:,.0f} ({outlook.next_harvest_rate:.1%}) among the next"
        f" {outlook.next_downloads:,}."
    )
