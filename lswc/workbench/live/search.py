"""Search: what is known of one server, or of one URL, for the page's script."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from lswc.errors import LswcError
from lswc.extras import how_to_install, is_installed
from lswc.guest.control import ControlError, read
from lswc.monitor.story import explained, pattern_against, story
from lswc.outcomes import Outcome
from lswc.strategy import strategy
from lswc.urls import Url, parse, site

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    from lswc.frontier.rules.report import Server
    from lswc.monitor.stored import StoredCrawl

ROWS_OF_A_LIST = 50
"""Rows of a list."""

ALIKE = 20
"""Servers that are named if there is none of the name that was looked for."""


def find(crawl: StoredCrawl, text: str) -> dict[str, Any]:
    """Return what is known of a URL, if that is one, else of a server. Raises LswcError."""
    wanted = text.strip()
    url = parse(wanted if "://" in wanted else f"http://{wanted}")
    if "://" in wanted or (url is not None and (url.path != "/" or url.query)):
        return _url(crawl, url.href if url is not None else wanted, url)
    name = url.server if url is not None else wanted.lower()
    found = crawl.server(name, ROWS_OF_A_LIST)
    if found is None:
        return {"kind": "servers", "asked": wanted, "servers": crawl.alike(name, ALIKE)}
    return _server(crawl, name, found)


def _logs(crawl: StoredCrawl) -> tuple[list[Path], str]:
    """Return the folders whose logs can be read here, and why there is none."""
    if not is_installed("pyarrow"):
        return [], f"To read the crawl's log: {how_to_install('parquet')}"
    folders = [folder for folder in crawl.folders() if (folder / "log").is_dir()]
    return folders, "" if folders else "The crawl's log isn't on this machine."


def _server(crawl: StoredCrawl, name: str, found: Server) -> dict[str, Any]:
    chosen = strategy(found.strategy)
    folders, no_log = _logs(crawl)
    outcomes: dict[str, int] = {}
    latest: list[dict[str, Any]] = []
    for folder in folders:
        from lswc.archive.url_history import of_server  # not above: pyarrow isn't always there

        log = of_server(folder, name, ROWS_OF_A_LIST)
        latest += log.latest
        for outcome, number in log.outcomes.items():
            outcomes[outcome] = outcomes.get(outcome, 0) + number
    latest.sort(key=lambda row: row["time"], reverse=True)
    queue = found.queue
    return {
        "kind": "server",
        "name": name,
        "site": site(name.partition(":")[0]),
        "status": found.status,
        "downloaded": queue.downloaded,
        "relevant": queue.relevant,
        "pending": queue.pending,
        "cells": [[chosen.describe(cell), number] for cell, number in found.waiting.items()],
        "next": [[url, chosen.describe(cell)] for url, cell in found.next],
        "outcomes": [[o, n, explained(o)] for o, n in outcomes.items()],
        "latest": [{**row, "time": _written(row["time"])} for row in latest[:ROWS_OF_A_LIST]],
        "no_log": no_log,
        "said": _rule(crawl, parse(f"http://{name}/")),
    }


def _url(crawl: StoredCrawl, href: str, url: Url | None) -> dict[str, Any]:
    folders, no_log = _logs(crawl)
    links: list[dict[str, Any]] = []
    attempts: list[dict[str, Any]] = []
    for folder in folders:
        from lswc.archive.url_history import history  # not above: pyarrow isn't always there

        log = history(folder, href)
        links += log.links
        attempts += log.attempts
    standing = crawl.known(href).standing if url is not None else None
    found = story(links, attempts, standing, ROWS_OF_A_LIST)
    excluded = Outcome.EXCLUDED in found.conclusion
    return {
        "kind": "url",
        "url": href,
        "server": url.server if url is not None else "",
        "conclusion": f"{found.conclusion} {_pattern(crawl, url) if excluded else ''}".strip(),
        "facts": found.facts,
        "links": found.links,
        "more_links": found.more_links,
        "attempts": [_attempt(attempt) for attempt in found.attempts[-ROWS_OF_A_LIST:]],
        "no_log": no_log,
        "said": _rule(crawl, url),
    }


_ATTEMPT = ("outcome", "status", "bytes", "mime", "language", "relevant", "tier", "expected",
            "distance", "depth", "error", "title", "referrer")  # fmt: skip


def _attempt(attempt: Mapping[str, Any]) -> dict[str, Any]:
    return {"time": _written(attempt["time"]), **{name: attempt[name] for name in _ATTEMPT}}


def _written(time: datetime | None) -> float | None:
    return None if time is None else time.timestamp()


def _pattern(crawl: StoredCrawl, url: Url | None) -> str:
    """Say which pattern keeps a URL out, if one does now."""
    with suppress(LswcError):
        return pattern_against(url, crawl.folders(), read(crawl.kept))
    return ""


def _rule(crawl: StoredCrawl, url: Url | None) -> dict[str, Any]:
    """Return the rule that holds for a URL, as far as there is one."""
    if url is None:
        return {}
    try:
        rule = read(crawl.kept).at(url)
    except ControlError as error:
        return {"wrong": str(error)}
    return {**rule.given, "why": rule.why}
