"""``scrapy frontier CRAWL``: what waits, what was dropped and why."""

from __future__ import annotations

import sys
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from lswc.cli.command import UserCommand
from lswc.cli.progress_lines import working
from lswc.cli.tables import counted, table

if TYPE_CHECKING:
    import argparse
    from contextlib import AbstractContextManager

    from rich.table import Table

    from lswc.frontier.harvest import CellHarvest, Forecast
    from lswc.frontier.report import Completion, Reader, Report
    from lswc.strategy import Strategy


class Command(UserCommand):
    """Shows the frontier in a crawl folder or in Redis, also while the crawl runs."""

    def syntax(self) -> str:
        return "<crawl folder> | redis://... [--key NAME]"

    def short_desc(self) -> str:
        return "Show a crawl's frontier: URLs, servers, longest queues, why URLs were dropped"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--top", type=int, default=10, help="cells and queues to show (default: 10)"
        )
        parser.add_argument("--key", default="", help="LSWC_REDIS_KEY, if Redis has many crawls")

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("name one crawl folder, or one Redis", print_help=False)
        from lswc.crawl import workers
        from lswc.frontier import FRONTIER_FILE, names_redis, redis_report, sqlite_report

        opened: AbstractContextManager[Reader]
        if names_redis(args[0]):
            settings = (self.settings or Settings()).copy()
            settings.set("LSWC_FRONTIER", args[0])
            opened = redis_report.opened(workers.connect(settings), opts.key)
        else:
            opened = sqlite_report.opened(Path(args[0]) / FRONTIER_FILE)
        with working() as say, opened as reader:
            say("frontier", 0, 0)
            report, ended = reader.report(opts.top), reader.completion(opts.top)
        _show(report, opts.top)
        _show_ended(ended)


def _show(report: Report, top: int) -> None:
    from lswc.frontier.harvest import forecast
    from lswc.strategy import strategy

    console = Console(file=sys.stdout)
    counts = report.counts
    title = f"{report.identity['language']}, {report.identity['strategy']}"
    groups = {
        "URLs": {"pending": sum(counts.pending.values())},
        "requisites": {"pending": counts.requisites} if counts.requisites else {},
        "URLs leased": {"now": counts.leased} if counts.leased else {},
        "URLs to try again": counts.tally.get("put off", {}),
        "URLs finished": counts.tally.get("finished", {}),
        "dropped": counts.tally.get("dropped", {}),
        "pages": counts.tally.get("content", {}),
        "servers": counts.servers,
    }
    console.print(counted(title, groups, longest=None))
    chosen = strategy(report.identity["strategy"])
    waiting = [cell for cell in report.cells if cell.waiting]
    console.print(_table("best cells", chosen, waiting[:top]))
    largest = sorted(waiting, key=attrgetter("waiting"), reverse=True)
    if len(waiting) > top:
        console.print(_table("largest cells", chosen, largest[:top]))
    console.print(_expected(forecast(report.cells)))
    queues = [(q.server, q.pending, q.downloaded, q.relevant) for q in report.queues]
    heads = ("server", "pending", "downloaded", "relevant")
    console.print(table("longest queues", heads, queues))


def _show_ended(ended: Completion) -> None:
    console = Console(file=sys.stdout)
    numbers = {
        "complete": ended.complete,
        "cut short": ended.cut_number,
        "failed": ended.failed_number,
    }
    console.print(counted("servers that ended", {"servers": numbers}, longest=None))
    if ended.cut:
        console.print(table("cut short", ("server", "reason", "URLs left out"), ended.cut))
    if ended.failed:
        console.print(table("failed", ("server", "how a URL of it ended"), ended.failed))


def _table(title: str, chosen: Strategy, cells: list[CellHarvest]) -> Table:
    """Return a table of cells: what their URLs have in common, how many, expected and seen."""
    heads = ("", "waiting", "expected", "seen", "pages")
    rows = (
        (chosen.describe(c.cell), c.waiting, f"{c.expected:.1%}", _seen(c), c.pages.downloaded)
        for c in cells
    )
    return table(title, heads, rows)


def _seen(cell: CellHarvest) -> str:
    pages = cell.pages
    return f"{pages.relevant / pages.downloaded:.1%}" if pages.downloaded else ""


def _expected(told: Forecast) -> str:
    if told.next_harvest is None:
        return "Nothing waits."
    return (
        f"Relevant pages expected: {told.waiting:,.0f} among all that wait,"
        f" {told.next_relevant:,.0f} ({told.next_harvest:.1%}) among the next"
        f" {told.next_downloads:,}."
    )
