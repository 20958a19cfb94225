"""``scrapy why CRAWL URL``: what became of a URL, and why."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from lswc.cli.command import REDIS, UserCommand
from lswc.cli.progress_lines import working
from lswc.cli.tables import table, terminal
from lswc.errors import ConfigError

if TYPE_CHECKING:
    import argparse
    from contextlib import AbstractContextManager

    from lswc.frontier.report import HeldPage, Reader, Standing
    from lswc.guest.control import Control
    from lswc.monitor.story import Story

_MOST = 20
"""Links to the URL that are shown."""


class Command(UserCommand):
    """Tells a URL's story: who linked to it, what the strategy decided, what was answered."""

    requires = ("parquet",)

    usage = "<crawl folder> <URL> [--redis redis://... [--key NAME]]"
    summary = "Tell why a crawl fetched a URL, discarded it, or never saw it"
    options = REDIS

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 2:
            raise UsageError("name one crawl folder and one URL", print_help=False)
        from lswc.archive.url_history import history
        from lswc.crawl.crawl_folder import names_a_redis
        from lswc.frontier import FRONTIER_FILE
        from lswc.guest.control import Control
        from lswc.monitor.story import pattern_against, story
        from lswc.outcomes import Outcome
        from lswc.urls import parse

        crawl, url = Path(args[0]), args[1].strip()
        if "://" not in url:
            raise UsageError(f"{url!r} isn't a URL, such as http://{url}/", print_help=False)
        in_redis = bool(opts.redis) or names_a_redis(crawl)
        has_frontier = in_redis or (crawl / FRONTIER_FILE).exists()
        canonical = parse(url) if has_frontier else None
        with working() as say:
            say("log", 0, 0)
            log = history(crawl, url)
            if parse(url) is None and not any(log):  # a page may have had such a link
                raise ConfigError(f"{url!r} isn't a URL")
            say("frontier", 0, 0)
            standing, held = None, None
            if canonical:
                standing, held = self._known(crawl, canonical.href, opts)
        found = story(*log, standing, _MOST, has_frontier=has_frontier)
        _show(url, found)
        if held is not None:
            print(_of_held(held))
        if Outcome.EXCLUDED in found.conclusion:
            said = self._instructions(crawl, opts) if has_frontier else Control()
            print(pattern_against(parse(url), [crawl], said) or "No pattern matches it any more.")

    def _instructions(self, crawl: Path, opts: argparse.Namespace) -> Control:
        from lswc.guest.control import read
        from lswc.monitor.stored import stored

        return read(stored(opts.redis or str(crawl), opts.key, self.project_settings).kept)

    def _known(
        self, crawl: Path, url: str, opts: argparse.Namespace
    ) -> tuple[Standing | None, HeldPage | None]:
        from lswc.frontier import FRONTIER_FILE
        from lswc.frontier.store import report as sqlite_report

        opened: AbstractContextManager[Reader]
        if opts.redis or not (crawl / FRONTIER_FILE).exists():
            from lswc.crawl import workers
            from lswc.frontier.sharded_report import opened_all

            named = workers.named(self.project_settings, opts.redis, opts.key, crawl)
            opened = opened_all(*named)
        else:
            opened = sqlite_report.opened(crawl / FRONTIER_FILE)
        with opened as frontier:
            return frontier.standing(url), frontier.held(url)


def _show(url: str, story: Story) -> None:
    console = terminal(200)
    if story.links:
        more = f", and {story.more_links:,} more" if story.more_links else ""
        heads = ("on page", "anchor text", "names", "the strategy decided")
        console.print(table(f"links to {url}{more}", heads, story.links))
    if story.attempts:
        columns = ["time", "outcome", "status", "bytes", "language", "tier", "distance", "depth"]
        if any((attempt["visit"] or 1) > 1 for attempt in story.attempts):
            columns += ["visit", "change"]
        rows = [[_cell(attempt[name]) for name in columns] for attempt in story.attempts]
        console.print(table("requests, times in UTC", columns, rows))
    if story.facts:
        console.print(table("facts of its link", ("fact", "value"), story.facts))
    print(story.conclusion)


def _of_held(held: HeldPage) -> str:
    due, visited = (datetime.fromtimestamp(one, UTC) for one in (held.due, held.visited))
    missed = f" It wasn't had {held.misses} times since." if held.misses else ""
    missed += " At the latest visit it wasn't there." if held.is_gone else ""
    return (
        f"visited again: {held.visits:,} visits so far, had last at {visited:%Y-%m-%d %H:%M:%S}."
        f"{missed} It should change {held.changes:.3g} times a day, and lead to {held.finds:.3g} "
        f"new relevant pages a day. Due at {due:%Y-%m-%d %H:%M:%S}, UTC."
    )


def _cell(value: object) -> object:
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    return "" if value is None else value
