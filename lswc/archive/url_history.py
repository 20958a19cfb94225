"""History of a URL in the crawl log: where it was found, and what came of asking for it."""

from __future__ import annotations

import re
from collections import Counter
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from lswc.archive.appended_files import ArchiveError
from lswc.archive.log_tables import ATTEMPTS, LINKS, conform, scan, scan_back
from lswc.archive.run_settings import SETTINGS
from lswc.outcomes import RECORDED
from lswc.urls import parse

if TYPE_CHECKING:
    from pathlib import Path


SEEN = ("time", "url", "status", "bytes", "outcome", "relevant", "language")
"""Columns that are told of a server's attempts."""


class ServerHistory(NamedTuple):
    """What the log says of a server: its rows by outcome, and the latest of them, newest first."""

    outcomes: dict[str, int]
    latest: list[dict[str, Any]]


OF_PAGES = (*SEEN, "title", "kind")
"""Columns that are told of a site's pages."""


class SitePages(NamedTuple):
    """The latest pages of a site, newest first; ``is_all`` if the log was read to its beginning."""

    pages: list[dict[str, Any]]
    is_all: bool


class History(NamedTuple):
    """Rows of the log's tables as dictionaries, oldest first."""

    links: list[dict[str, Any]]
    attempts: list[dict[str, Any]]


def history(crawl: Path, url: str) -> History:
    """Return what the log of a crawl says of a URL, or of its http or https twin.

    The log has URLs in canonical form, except those that were discarded for what they are. That of
    a worker that had no page yet is empty. Raises ArchiveError if the folder is no crawl's, or has
    a damaged log.
    """
    twins = pa.array([url, *_twins(url)])
    links, attempts = (
        [table.filter(pc.is_in(table[column], twins)) for table in scan(crawl, kind)]
        for kind, column in (("links", "target"), ("attempts", "url"))
    )
    if not attempts and not any((crawl / name).exists() for name in ("log", SETTINGS)):
        raise ArchiveError(f"{crawl} is not a crawl folder: it has no crawl log")
    return History(_listed(links, LINKS), _listed(attempts, ATTEMPTS))


def of_server(crawl: Path, server: str, most: int = 50) -> ServerHistory:
    """Return what the log of a crawl says of the URLs of a server.

    ``latest`` has ``most`` rows. Raises ArchiveError if the log is damaged.
    """
    starts = [f"http://{server}/", f"https://{server}/"]
    outcomes: Counter[str] = Counter()
    latest: list[dict[str, Any]] = []

    for table in scan(crawl, "attempts", SEEN):
        here = [pc.starts_with(table["url"], start) for start in starts]
        found = table.filter(pc.or_(*here))
        outcomes.update(found["outcome"].to_pylist())
        latest.extend(found.slice(max(0, found.num_rows - most)).to_pylist())
        if len(latest) > 2 * most:
            del latest[:-most]
    return ServerHistory(dict(outcomes.most_common()), latest[-most:][::-1])


def pages_of_site(crawl: Path, site: str, most: int, seconds: float) -> SitePages:
    """Return the latest ``most`` pages of a site and its subdomains, in about so many seconds.

    Raises ArchiveError if the log is damaged.
    """
    here = rf"^https?://([^/]*\.)?{re.escape(site)}(:[0-9]+)?/"
    pages: list[dict[str, Any]] = []
    until = monotonic() + seconds
    for table in scan_back(crawl, OF_PAGES):
        is_page = pc.is_in(pc.cast(table["outcome"], pa.string()), pa.array(RECORDED))
        found = table.filter(pc.and_(is_page, pc.match_substring_regex(table["url"], here)))
        pages += found.slice(max(0, found.num_rows - most)).to_pylist()[::-1]
        if len(pages) >= most or monotonic() > until:
            return SitePages(pages[:most], is_all=False)
    return SitePages(pages, is_all=True)


def _twins(url: str) -> list[str]:
    parsed = parse(url)
    if parsed is None or parsed.scheme not in ("http", "https"):
        return []
    rest = parsed.href.removeprefix(f"{parsed.scheme}:")
    return [f"http:{rest}", f"https:{rest}"]


def _listed(parts: list[pa.Table], schema: pa.Schema) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for part in parts:
        rows += conform(part, schema).to_pylist()
    return rows
