"""What is known of one server, or of one URL, for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lswc.archive.appended_files import ArchiveError
from lswc.extras import is_installed
from lswc.guest.control import ControlError, read
from lswc.monitor.page.story import conclusion, explained, facts, link_told
from lswc.strategy import strategy
from lswc.urls import Url, parse, site

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from lswc.frontier.report import Server
    from lswc.monitor.page.sources import Source

MOST = 50
"""Rows of a list."""

ALIKE = 20
"""Servers that are named if there is none of the name that was looked for."""


def find(source: Source, text: str) -> dict[str, Any]:
    """Return what is known of a URL, if that is one, else of a server. Raises LswcError."""
    wanted = text.strip()
    url = parse(wanted if "://" in wanted else f"http://{wanted}")
    if "://" in wanted or (url is not None and (url.path != "/" or url.query)):
        return _url(source, url.href if url is not None else wanted, url)
    name = url.server if url is not None else wanted.lower()
    found = source.server(name, MOST)
    if found is None:
        return {"kind": "servers", "asked": wanted, "servers": source.servers_like(name, ALIKE)}
    return _server(source, name, found)


def _logs(source: Source) -> tuple[list[Path], str]:
    """Return the folders whose logs can be read here, and why there is none."""
    if not is_installed("pyarrow"):
        return [], "To read the crawl's log: pip install 'lswc[parquet]'"
    folders = source.folders()
    return folders, "" if folders else "The crawl's log isn't on this machine."


def _server(source: Source, name: str, found: Server) -> dict[str, Any]:
    chosen = strategy(found.strategy)
    folders, no_log = _logs(source)
    outcomes: dict[str, int] = {}
    latest: list[dict[str, Any]] = []
    for folder in folders:
        from lswc.archive.url_history import of_server  # not above: pyarrow isn't always there

        told = of_server(folder, name, MOST)
        latest += told.latest
        for outcome, number in told.outcomes.items():
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
        "latest": [{**row, "time": _written(row["time"])} for row in latest[:MOST]],
        "no_log": no_log,
        "said": _said(source, parse(f"http://{name}/")),
    }


def _url(source: Source, href: str, url: Url | None) -> dict[str, Any]:
    folders, no_log = _logs(source)
    links: list[dict[str, Any]] = []
    attempts: list[dict[str, Any]] = []
    for folder in folders:
        from lswc.archive.url_history import history  # not above: pyarrow isn't always there

        try:
            told = history(folder, href)
        except ArchiveError:  # a worker that has no log yet
            continue
        links += told.links
        attempts += told.attempts
    standing = source.standing(href) if url is not None else None
    code = standing.code if standing is not None else None
    return {
        "kind": "url",
        "url": href,
        "server": url.server if url is not None else "",
        "conclusion": conclusion(links, attempts, standing, kept=True),
        "facts": list(facts(code)) if code is not None else [],
        "links": [link_told(link) for link in links[:MOST]],
        "more_links": max(0, len(links) - MOST),
        "attempts": [_attempt(attempt) for attempt in attempts[-MOST:]],
        "no_log": no_log,
        "said": _said(source, url),
    }


_ATTEMPT = ("outcome", "status", "bytes", "mime", "language", "relevant", "tier", "expected",
            "distance", "depth", "error", "title", "referrer")  # fmt: skip


def _attempt(attempt: dict[str, Any]) -> dict[str, Any]:
    return {"time": _written(attempt["time"]), **{name: attempt[name] for name in _ATTEMPT}}


def _written(time: datetime | None) -> float | None:
    return None if time is None else time.timestamp()


def _said(source: Source, url: Url | None) -> dict[str, Any]:
    """Return the rule that holds for a URL, as far as it says something."""
    if url is None:
        return {}
    try:
        rule = read(source.kept).at(url)
    except ControlError as error:
        return {"wrong": str(error)}
    return {**rule.said, "why": rule.why}
