"""Look-up: where what is known of a server or a URL is shown, and what it is."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from lswc.errors import ConfigError, LswcError
from lswc.extras import how_to_install, is_installed
from lswc.guest.control import ControlError, Rule, read
from lswc.monitor.story import explained, pattern_against, story
from lswc.outcomes import Outcome
from lswc.strategy import strategy
from lswc.urls import Url, parse, site_of
from lswc.workbench.answers import Elsewhere
from lswc.workbench.instructions import in_words

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    from lswc.monitor.stored import StoredCrawl
    from lswc.workbench.watch import Watch

ROWS_OF_A_LIST = 50
"""Rows of a list."""

ALIKE = 20
"""Servers that are named if there is none of the name that was looked for."""

QUERY_CHARACTERS = 10_000
"""Characters of what is looked for."""


def look(watch: Watch, given: Mapping[str, str]) -> Elsewhere | Mapping[str, Any]:
    """Lead to the page of a URL or of a server; return servers of like names if none has this one.

    Raises LswcError.
    """
    wanted = given.get("q", "").strip()[:QUERY_CHARACTERS]
    if not wanted:
        raise ConfigError("name a server or a URL, such as www.example.co.th")
    url = parse(wanted if "://" in wanted else f"http://{wanted}")
    if url is not None and ("://" in wanted or url.path != "/" or url.query):
        return Elsewhere(f"page?{urlencode({'url': url.href}, errors='replace')}")
    name = wanted.lower() if url is None else url.server
    if watch.crawl.server(name, 1) is not None:
        return Elsewhere(f"server?{urlencode({'name': name}, errors='replace')}")
    return {"title": wanted, "servers": watch.crawl.alike(name, ALIKE)}


def server_of(watch: Watch, given: Mapping[str, str]) -> Mapping[str, Any]:
    """Return what the page of a server shows. Raises LswcError, also if none has the name."""
    return known_server(watch.crawl, given.get("name", "")[:QUERY_CHARACTERS])


def _logs(crawl: StoredCrawl) -> tuple[list[Path], str]:
    """Return the folders whose logs can be read here, and why there is none."""
    if not is_installed("pyarrow"):
        return [], f"To read the crawl's log: {how_to_install('parquet')}"
    folders = [folder for folder in crawl.folders() if (folder / "log").is_dir()]
    return folders, "" if folders else "The crawl's log isn't on this machine."


def known_server(crawl: StoredCrawl, name: str) -> dict[str, Any]:
    """Return what is known of a server. Raises LswcError, also if the crawl doesn't know it."""
    found = crawl.server(name, ROWS_OF_A_LIST)
    if found is None:
        raise ConfigError(f"the crawl knows no server {name!r}: look up a part of its name")
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
    return {
        "title": name,
        "name": name,
        "site": site_of(name),
        "status": found.status,
        "queue": found.queue,
        "cells": [(chosen.describe(cell), number) for cell, number in found.waiting.items()],
        "next": [(url, chosen.describe(cell)) for url, cell in found.next],
        "outcomes": [(o, n, explained(o)) for o, n in outcomes.items()],
        "latest": [{**row, "time": _written(row["time"])} for row in latest[:ROWS_OF_A_LIST]],
        "no_log": no_log,
        **_rule(crawl, parse(f"http://{name}/")),
    }


def known_url(crawl: StoredCrawl, url: Url) -> dict[str, Any]:
    """Return what is known of a URL. Raises LswcError."""
    folders, no_log = _logs(crawl)
    links: list[dict[str, Any]] = []
    attempts: list[dict[str, Any]] = []
    for folder in folders:
        from lswc.archive.url_history import history  # not above: pyarrow isn't always there

        log = history(folder, url.href)
        links += log.links
        attempts += log.attempts
    standing = crawl.known(url.href).standing
    found = story(links, attempts, standing, ROWS_OF_A_LIST)
    excluded = Outcome.EXCLUDED in found.conclusion
    return {
        "conclusion": f"{found.conclusion} {_pattern(crawl, url) if excluded else ''}".strip(),
        "facts": found.facts,
        "links": found.links,
        "more_links": found.more_links,
        "attempts": [_attempt(attempt) for attempt in found.attempts[-ROWS_OF_A_LIST:]],
        "no_log": no_log,
        **_rule(crawl, url),
    }


_ATTEMPT = ("outcome", "status", "bytes", "mime", "language", "relevant", "tier", "expected",
            "distance", "depth", "error", "title", "referrer")  # fmt: skip


def _attempt(attempt: Mapping[str, Any]) -> dict[str, Any]:
    return {"time": _written(attempt["time"]), **{name: attempt[name] for name in _ATTEMPT}}


def _written(time: datetime | None) -> float | None:
    return None if time is None else time.timestamp()


def _pattern(crawl: StoredCrawl, url: Url) -> str:
    """Say which pattern keeps a URL out, if one does now."""
    with suppress(LswcError):
        return pattern_against(url, crawl.folders(), read(crawl.kept))
    return ""


def _rule(crawl: StoredCrawl, url: Url | None) -> dict[str, Any]:
    """Return the instructions in force for a URL, in words, and why, or why they aren't known."""
    try:
        rule = Rule() if url is None else read(crawl.kept).at(url)
    except ControlError as error:
        return {"rule": [], "why": str(error)}
    return {"rule": [in_words(key, value) for key, value in rule.given.items()], "why": rule.why}
