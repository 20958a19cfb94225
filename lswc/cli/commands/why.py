"""``scrapy why CRAWL URL``: what became of a URL, and why."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from lswc.cli.command import UserCommand
from lswc.cli.progress_lines import working
from lswc.cli.tables import table

if TYPE_CHECKING:
    import argparse
    from contextlib import AbstractContextManager

    from lswc.archive.url_history import History
    from lswc.frontier.report import Reader, Standing

_MOST = 20
"""Links to the URL that are shown."""


class Command(UserCommand):
    """Tells a URL's history: who linked to it, what the strategy said, what the server said."""

    requires = ("parquet",)

    def syntax(self) -> str:
        return "<crawl folder> <URL> [--redis redis://... [--key NAME]]"

    def short_desc(self) -> str:
        return "Tell why a crawl fetched a URL, dropped it, or never saw it"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--redis", default="", help="LSWC_FRONTIER, if that is in Redis")
        parser.add_argument("--key", default="", help="LSWC_REDIS_KEY, if it was set")

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 2:
            raise UsageError("name one crawl folder and one URL", print_help=False)
        from lswc.archive.url_history import history
        from lswc.frontier import FRONTIER_FILE
        from lswc.monitor.page.story import conclusion
        from lswc.urls import parse

        crawl, url = Path(args[0]), args[1].strip()
        kept = bool(opts.redis) or (crawl / FRONTIER_FILE).exists()
        canonical = parse(url)
        with working() as say:
            say("log", 0, 0)
            told = history(crawl, url)
            say("frontier", 0, 0)
            standing = self._standing(crawl, canonical.href, opts) if canonical and kept else None
        _show(url, told, standing)
        print(conclusion(*told, standing, kept))

    def _standing(self, crawl: Path, url: str, opts: argparse.Namespace) -> Standing | None:
        from lswc.crawl import workers
        from lswc.frontier import FRONTIER_FILE, redis_report, sqlite_report

        opened: AbstractContextManager[Reader]
        if opts.redis:
            named = workers.named(self.settings or Settings(), opts.redis, opts.key, crawl)
            opened = redis_report.opened(*named)
        else:
            opened = sqlite_report.opened(crawl / FRONTIER_FILE)
        with opened as reader:
            return reader.standing(url)


def _show(url: str, told: History, standing: Standing | None) -> None:
    from lswc.monitor.page.story import facts, link_told

    console = Console(file=sys.stdout, width=None if sys.stdout.isatty() else 200)
    if told.links:
        more = len(told.links) - _MOST
        title = f"links to {url}" + (f", {more:,} more aren't shown" if more > 0 else "")
        heads = ("on page", "anchor", "names", "the strategy said")
        console.print(table(title, heads, [link_told(link) for link in told.links[:_MOST]]))
    if told.attempts:
        columns = ("time", "outcome", "status", "bytes", "language", "tier", "distance", "depth")
        rows = [[_cell(attempt[name]) for name in columns] for attempt in told.attempts]
        console.print(table("asked for", columns, rows))
    if standing is not None and standing.code is not None:
        console.print(table("facts", ("fact", "value"), list(facts(standing.code))))


def _cell(value: object) -> object:
    return "" if value is None else value
