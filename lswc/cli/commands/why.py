"""``scrapy why CRAWL URL``: what became of a URL, and why."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from lswc.cli.command import KEY, UserCommand
from lswc.cli.progress_lines import working
from lswc.cli.tables import table, terminal
from lswc.errors import ConfigError
from lswc.plurals import numbered

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from lswc.frontier.rules.report import RevisitedPage
    from lswc.monitor.snapshot import Cell
    from lswc.monitor.stored import StoredInFolders, StoredInRedis
    from lswc.monitor.story import Story

_MOST = 20
"""Links to the URL that are shown."""


class Command(UserCommand):
    """Tells a URL's story: who linked to it, what the strategy decided, what was answered."""

    requires = ("parquet",)

    usage = "<crawl folder> [folders of its other workers] <URL> | redis://... <URL> [--key NAME]"
    summary = "Tell why a crawl fetched a URL, discarded it, or never saw it"
    options = (KEY,)

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) < 2:
            raise UsageError("name one crawl folder and one URL", print_help=False)
        from lswc.guest.control import Control, read
        from lswc.monitor.questions import Known
        from lswc.monitor.story import pattern_against, story
        from lswc.outcomes import Outcome
        from lswc.urls import parse

        url = args[-1].strip()
        if "://" not in url:
            raise UsageError(f"{url!r} isn't a URL, such as http://{url}/", print_help=False)
        canonical = parse(url)
        with working() as say:
            say("log", 0, 0)
            crawl = self._crawl(args[:-1], opts.key)
            folders = [Path(name) for name in args[:-1]] if crawl is None else crawl.folders()
            links, attempts = _history(folders, url)
            if canonical is None and not links and not attempts:  # a page may have had such a link
                raise ConfigError(f"{url!r} isn't a URL")
            say("frontier", 0, 0)
            known = Known()
            if crawl is not None and canonical is not None:
                known = crawl.known(canonical.href)
        found = story(links, attempts, known.standing, _MOST, has_frontier=crawl is not None)
        _show(url, found)
        if known.kind is not None:
            print(_of_kind(known.kind))
        if known.revisited is not None:
            print(_of_visits(known.revisited))
        if Outcome.EXCLUDED in found.conclusion:
            control = Control() if crawl is None else read(crawl.kept)
            print(pattern_against(canonical, folders, control) or "No pattern matches it any more.")
        for gap in () if crawl is None else crawl.gaps_of(url):
            print(f"{gap}.")

    def _crawl(self, places: list[str], key: str) -> StoredInFolders | StoredInRedis | None:
        """Return the crawl; None if nothing is left of it but its log."""
        from lswc.frontier import FRONTIER_FILE, names_redis
        from lswc.monitor.stored import stored

        is_there = any(
            names_redis(name) or (Path(name) / FRONTIER_FILE).exists() for name in places
        )
        return stored(places, key, self.project_settings) if is_there else None


def _history(folders: Sequence[Path], url: str) -> tuple[list[Any], list[Any]]:
    """Return links to a URL, and its attempts in the order of time, as the folders' logs have."""
    from lswc.archive.url_history import history

    links: list[Any] = []
    attempts: list[Any] = []
    for folder in folders:
        log = history(folder, url)
        links += log.links
        attempts += log.attempts
    return links, sorted(attempts, key=lambda attempt: attempt["time"])


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


def _of_kind(kind: Cell) -> str:
    own = numbered(kind.pages, "page") + " of this crawl"
    before = f" and {kind.before:,} that it began with" if kind.before else ""
    return (
        f"Of such URLs {kind.expected:.1%} should be relevant pages, by {own}{before}: {kind.name}."
    )


def _of_visits(page: RevisitedPage) -> str:
    due, visited = (datetime.fromtimestamp(one, UTC) for one in (page.due, page.visited))
    missed = f" It wasn't had {page.misses} times since." if page.misses else ""
    missed += " At the latest visit it wasn't there." if page.is_gone else ""
    return (
        f"visited again: {page.visits:,} visits so far, had last at {visited:%Y-%m-%d %H:%M:%S}."
        f"{missed} It should change {page.changes:.3g} times a day, and lead to {page.finds:.3g} "
        f"new relevant pages a day. Due at {due:%Y-%m-%d %H:%M:%S}, UTC."
    )


def _cell(value: object) -> object:
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    return "" if value is None else value
