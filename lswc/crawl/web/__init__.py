"""Frozen or generated web, served on loopback under its real host names.

``LSWC_WEB`` names it: empty for the real web, a name of the entry points ``lswc.webs`` for one that
is generated, such as ``demo``, else a folder ``<folder>/<hostname>/<path>``, a WARC file or a
folder of them.
"""

from __future__ import annotations

import json
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lswc.crawl.web.answers import WebError
from lswc.crawl.web.folder import FolderWeb
from lswc.crawl.web.recorded import WarcWeb, is_warc

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lswc.crawl.web.answers import Web

__all__ = ["TruthPage", "WebError", "from_settings", "open_web", "prepare", "truth"]


class TruthPage(NamedTuple):
    """What is known of a page before it is crawled.

    The ``language`` of one that is negotiated is the one that a crawl for it is served.
    ``reachable`` maps a language to the least number of links and redirects that lead from
    that language's seeds to the page, robots.txt respected; a language that can't reach it is
    absent. ``listed`` says which listing names a page that no link leads to: ``sitemap`` or
    ``index``, ``rss`` or ``atom``, else "".
    """

    url: str
    language: str
    encoding: str
    server: str
    reachable: Mapping[str, int]
    listed: str = ""


def prepare(setting: str, crawls: Path) -> Path | None:
    """Return the folder or WARC file that ``LSWC_WEB`` names, None for the real web.

    A generated one is made once, as ``<crawls>/<name>-web``. Raises WebError for a name that holds
    no web.
    """
    if not setting:
        return None
    folder = Path(setting)
    if setting.isidentifier():  # else no need to ask what is installed, which takes its time
        for generated in entry_points(group="lswc.webs", name=setting):
            prepare_web: Callable[[Path], Path] = generated.load()
            folder = prepare_web(crawls / f"{setting}-web")
    open_web(folder)
    return folder


def open_web(web: Path) -> Web:
    """Open a folder of host folders, a WARC file or a folder of WARC files.

    Raises WebError if it is none of these.
    """
    if web.is_file() and is_warc(web):
        return WarcWeb([web])
    if not web.is_dir():
        raise WebError(f"LSWC_WEB: no such folder or WARC file: {web}")
    warcs = sorted(filter(is_warc, web.iterdir()))
    return WarcWeb(warcs) if warcs else FolderWeb(web)


def from_settings(settings: Mapping[str, object]) -> Path | None:
    """Prepare what a crawl's settings name; the demo web goes beside the crawl's own folder."""
    crawl = Path(str(settings.get("LSWC_CRAWL") or "crawls/any"))
    return prepare(str(settings.get("LSWC_WEB") or ""), crawl.parent)


def truth(folder: Path) -> dict[str, TruthPage] | None:
    """Return every HTML page of a web by its URL, or None if its truth isn't known."""
    file = folder / "truth.jsonl"
    if not file.is_file():
        return None
    with file.open(encoding="utf-8") as lines:
        pages = [TruthPage(**json.loads(line)) for line in lines]
    return {page.url: page for page in pages}
