"""Pages of a crawl as players replay them, beside the web that was crawled.

``python -m benchmarks.replay CRAWL --web FOLDER [--pages 20] [--by pywb] [--pictures FOLDER]``

Needs Chromium, and what replays (``make replay``); ``--by archive`` only looks whether files are
archived. Of each page: how many pixels differ, how many files the live page got, which of those the
archive lacks, and which it has and the replay lacks. ``--pictures`` keeps both of each page.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from lswc.archive import page_record, wacz
from lswc.archive.cdxj import entries
from lswc.urls import parse
from tests.archive.replaying import (
    OFFLINE,
    Seen,
    chromium,
    live,
    pywb,
    replaywebpage,
    seen,
    shown_by_replaywebpage,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Shown = Callable[[str], Seen | None]


PATIENCE = 12.0
"""Seconds until a page that is never done is looked at as it is."""


def chosen(crawl: Path, number: int) -> list[str]:
    """Return pages, relevant or seeds, of each server as many."""
    servers: dict[str, list[str]] = {}
    for record in page_record.records(crawl):
        is_wanted = record["relevant"] or record["distance"] == 0
        url = parse(record["url"]) if is_wanted else None
        if url is not None:
            servers.setdefault(url.server, []).append(url.href)
    most = -(-number // max(1, len(servers)))
    found = [url for urls in servers.values() for url in urls[:: max(1, len(urls) // most)][:most]]
    return found[:number]


def archived(crawl: Path) -> set[str]:
    """Return what the archive has with a status 200, named without schemes."""
    return {
        _bare(url)
        for index in crawl.glob("warc/*.cdxj")
        for url, entry in entries(index)
        if entry.get("status") in ("200", "206", None)
    }


def _bare(address: str) -> str:
    """Return a URL without its scheme, spelled as a crawl does."""
    url = parse(address)
    return (url.href if url else address).partition("//")[2]


def seen_live(web: Path, urls: Sequence[str]) -> list[Seen]:
    """Return what Chromium shows of the web itself."""
    command = [sys.executable, "-m", "lswc.crawl.web", str(web), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = re.search(r":(\d+)/", server.stdout.readline())
        assert port is not None
        try:
            with chromium(live(int(port[1]))) as browser:
                return [seen(browser, url, patience=PATIENCE) for url in urls]
        finally:
            server.terminate()


@contextmanager
def replays(crawl: Path, name: str) -> Iterator[Shown]:
    """Replay a crawl; yields what says how a page looks."""
    if name == "archive":
        yield lambda _: None
    elif name == "pywb":
        with pywb(crawl) as address, chromium(OFFLINE) as browser:
            yield lambda url: seen(browser, f"{address}/crawl/2/{url}", patience=PATIENCE)
    else:
        with TemporaryDirectory() as folder:
            packed, site = Path(folder) / "crawl.wacz", Path(folder) / "site"
            wacz.write([crawl], packed)
            with replaywebpage(packed, site) as address, chromium(OFFLINE) as browser:
                yield lambda url: seen(
                    browser, address + url, shown_by_replaywebpage, patience=2 * PATIENCE
                )


def main() -> None:
    """Compare, and print a line a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("crawl", type=Path)
    parser.add_argument("--web", type=Path, required=True)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--urls", type=Path, help="a file of pages, one a line, in their place")
    parser.add_argument("--by", choices=("archive", "pywb", "replaywebpage"), default="pywb")
    parser.add_argument("--pictures", type=Path)
    asked = parser.parse_args()
    urls = chosen(asked.crawl, asked.pages)
    if asked.urls:
        urls = asked.urls.read_text("utf-8").split()
    has = archived(asked.crawl)
    before = seen_live(asked.web, urls)
    with replays(asked.crawl.resolve(), asked.by) as shown:
        after = [shown(url) for url in urls]
    files = lacking = unplayed = 0
    for number, (url, old, new) in enumerate(zip(urls, before, after, strict=True)):
        absent = {name for name in old.loaded if _bare(f"http://{name}") not in has}
        lost = old.loaded - absent - new.loaded if new else set()
        files, lacking, unplayed = (
            files + len(old.loaded), lacking + len(absent), unplayed + len(lost),
        )  # fmt: skip
        differing = f"{old.difference(new):8.4%} " if new else ""
        print(f"{differing}{len(old.loaded):4} files  {url}")
        for kind, names in (("not archived", absent), ("not replayed", lost)):
            for name in sorted(names):
                print(f"        {kind}: {name}")
        if asked.pictures and new:
            asked.pictures.mkdir(parents=True, exist_ok=True)
            old.picture.save(asked.pictures / f"{number}-live.png")
            new.picture.save(asked.pictures / f"{number}-replay.png")
    print(
        f"{len(urls)} pages, {files} files: {lacking} ({lacking / files:.1%}) not archived, "
        f"{unplayed} archived and not replayed"
    )


if __name__ == "__main__":
    main()
