"""``scrapy frontier CRAWL``: what waits, what was dropped and why."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from lswc.crawler import workers
from lswc.frontier import FRONTIER_FILE, names_redis, redis_report
from lswc.frontier.sqlite_report import read
from lswc.terminal.command import UserCommand
from lswc.terminal.tables import counted, table

if TYPE_CHECKING:
    import argparse

    from lswc.frontier.sqlite_report import Report


class Command(UserCommand):
    """Shows the frontier in a crawl folder or in Redis, also while the crawl runs."""

    def syntax(self) -> str:
        return "<crawl folder> | redis://... [--key NAME]"

    def short_desc(self) -> str:
        return "Show a crawl's frontier: URLs, servers, longest queues, why URLs were dropped"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--top", type=int, default=10, help="queues to show (default: 10)")
        parser.add_argument("--key", default="", help="LSWC_REDIS_KEY, if Redis has many crawls")

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("name one crawl folder, or one Redis", print_help=False)
        if names_redis(args[0]):
            settings = (self.settings or Settings()).copy()
            settings.set("LSWC_FRONTIER", args[0])
            _show(redis_report.read(workers.connect(settings), opts.key, opts.top))
        else:
            _show(read(Path(args[0]) / FRONTIER_FILE, opts.top))


def _show(report: Report) -> None:
    console = Console(file=sys.stdout)
    counts = report.counts
    title = f"{report.identity['language']}, {report.identity['strategy']}"
    pending = {f"tier {tier}": number for tier, number in counts.pending.items()}
    groups = {
        "URLs pending": pending or {"none": 0},
        "URLs leased": {"now": counts.leased} if counts.leased else {},
        "URLs finished": counts.tally.get("finished", {}),
        "dropped": counts.tally.get("dropped", {}),
        "pages": counts.tally.get("content", {}),
        "servers": counts.servers,
    }
    console.print(counted(title, groups, longest=None))
    queues = [(q.server, q.pending, q.downloaded, q.relevant) for q in report.queues]
    heads = ("server", "pending", "downloaded", "relevant")
    console.print(table("longest queues", heads, queues))
