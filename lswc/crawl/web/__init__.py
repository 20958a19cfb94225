"""Frozen or generated web, served on loopback under its real host names.

``LSWC_WEB`` names it: empty for the real web, a name of the entry points ``lswc.webs`` for one that
is generated, such as ``demo``, else a folder ``<folder>/<hostname>/<path>``, an archive file, a
folder of them, or a crawl's folder. One that changes by the day has a ``changes.json`` in its
folder.
"""

from __future__ import annotations

import json
import logging
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lswc.archive.appended_files import ArchiveError
from lswc.archive.collection import collected
from lswc.archive.run_settings import SETTINGS
from lswc.archive.volumes import is_archive
from lswc.crawl.web.answers import WebError
from lswc.crawl.web.folder import FolderWeb
from lswc.crawl.web.recorded import WarcWeb

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from lswc.archive.collection import Collection
    from lswc.crawl.web.answers import Web

logger = logging.getLogger(__name__)

__all__ = [
    "TruthPage", "WebError", "from_settings", "open_web", "prepare", "seconds_a_day", "truth",
]  # fmt: skip

CHANGES = "changes.json"
"""A file of a web that changes by the day: ``changed_by`` names an entry point ``lswc.changes``,
``seconds_a_day`` says how long a day is."""

A_DAY = 86_400.0


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
    """Open a folder of host folders, an archive file, a folder of them, or crawl folders.

    With a crawl come those that it visited again. Several are divided by commas. Raises WebError
    if it is none of these.
    """
    named = [web] if web.exists() else [Path(one) for one in str(web).split(",")]
    if missing := [one for one in named if not one.exists()]:
        raise WebError(f"LSWC_WEB: no such folder or archive file: {missing[0]}")
    if len(named) > 1 or web.is_file() or _is_crawl(web):
        return WarcWeb(_archives(named))
    if name := _changes(web).get("changed_by"):
        for change in entry_points(group="lswc.changes", name=str(name)):
            changing: Callable[[Path], Web] = change.load()
            return changing(web)
        raise WebError(f"LSWC_WEB: {web / CHANGES} names what isn't installed: {name}")
    archives = _archives(named)
    return WarcWeb(archives) if archives else FolderWeb(web)


def _archives(named: Sequence[Path]) -> list[Path]:
    """Return the archive files of what is named, of crawls in the order of their numbers."""
    crawls = [path for path in named if _is_crawl(path)]
    found = list(_with_earlier(crawls).warcs()) if crawls else []
    for path in named:
        if path.is_file():
            found.append(path)
        elif path not in crawls:
            found += sorted(one for one in path.iterdir() if one.is_file() and is_archive(one))
    return found


def _is_crawl(folder: Path) -> bool:
    return (folder / "warc").is_dir() and (folder / SETTINGS).exists()


def _with_earlier(crawls: Sequence[Path]) -> Collection:
    """Return crawls with those that they visited again; what isn't there any more is logged."""
    try:
        found = collected(crawls)
    except ArchiveError as error:
        raise WebError(f"LSWC_WEB: {error}") from error
    for said in found.gone:
        logger.warning("LSWC_WEB: %s", said)
    return found


def seconds_a_day(web: Path | None) -> float:
    """Return how long a day is on a web: shorter than elsewhere on one whose time is pressed.

    Raises WebError if its folder says that no time passes.
    """
    seconds = _changes(web).get("seconds_a_day", A_DAY) if web else A_DAY
    if not isinstance(seconds, int | float) or not 0 < seconds <= A_DAY:
        raise WebError(f"LSWC_WEB: {web}: seconds_a_day is no number above 0: {seconds}")
    return float(seconds)


def _changes(web: Path) -> dict[str, object]:
    """Return what a folder says of a web that changes by the day; nothing of another."""
    try:
        said = json.loads((web / CHANGES).read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise WebError(f"LSWC_WEB: {web / CHANGES}: {error}") from error
    return said if isinstance(said, dict) else {}


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
