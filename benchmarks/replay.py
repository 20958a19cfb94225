"""Pages of a crawl as pywb replays them, beside the web that was crawled.

``python -m benchmarks.replay CRAWL --web FOLDER [--pages 20] [--pictures FOLDER]``

Needs Chromium, and pywb (``make replay``). Of each page: how many pixels differ, how many files the
live page got, and which of those the replay lacks. ``--pictures`` keeps both of each page.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

from lswc.archive import page_record
from lswc.urls import parse
from tests.archive.replaying import OFFLINE, chromium, live, pywb, seen


def chosen(crawl: Path, number: int) -> list[str]:
    """Return relevant pages, of each server as many."""
    servers: dict[str, list[str]] = {}
    for record in page_record.records(crawl):
        url = parse(record["url"]) if record["relevant"] else None
        if url is not None:
            servers.setdefault(url.server, []).append(url.href)
    most = -(-number // max(1, len(servers)))
    found = [url for urls in servers.values() for url in urls[:: max(1, len(urls) // most)][:most]]
    return found[:number]


def main() -> None:
    """Compare, and print a line a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("crawl", type=Path)
    parser.add_argument("--web", type=Path, required=True)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("--pictures", type=Path)
    asked = parser.parse_args()
    urls = chosen(asked.crawl, asked.pages)
    command = [sys.executable, "-m", "lswc.crawl.web", str(asked.web), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = re.search(r":(\d+)/", server.stdout.readline())
        assert port is not None
        with chromium(live(int(port[1]))) as browser:
            before = [seen(browser, url) for url in urls]
        server.terminate()
    with pywb(asked.crawl.resolve()) as address, chromium(OFFLINE) as browser:
        after = [seen(browser, f"{address}/crawl/2/{url}") for url in urls]
    files = missing = 0
    for number, (url, old, new) in enumerate(zip(urls, before, after, strict=True)):
        lacking = sorted(old.loaded - new.loaded)
        files, missing = files + len(old.loaded), missing + len(lacking)
        print(f"{old.difference(new):8.4%} {len(old.loaded):4} files  {url}  {' '.join(lacking)}")
        if asked.pictures:
            asked.pictures.mkdir(parents=True, exist_ok=True)
            old.picture.save(asked.pictures / f"{number}-live.png")
            new.picture.save(asked.pictures / f"{number}-replay.png")
    print(f"{len(urls)} pages, {files} files, {missing} of them missing in the replay")


if __name__ == "__main__":
    main()
