"""Opening of a WACZ file: how long ReplayWeb.page takes until a page of it is there.

``python -m benchmarks.wacz_opening [--pages 30000] [--out FOLDER] [--beside FILE] [--tries 3]``

Makes an archive of so many pages, three captures each, packs it, and opens a page in Chromium; in
turns with another WACZ file of the same archive, if there is one: ``wacz create -p PAGES
FOLDER/crawl/warc/*.warc.gz`` of py-wacz's, say. Needs ReplayWeb.page (``make replay``).
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from lswc.archive.appended_files import OpenFiles
from lswc.archive.wacz import write
from lswc.archive.warc_writer import WarcWriter
from lswc.frontier.rules.visit import Attempt, Exchange
from tests.archive.replaying import OFFLINE, chromium, replaywebpage

BEGAN = datetime(2026, 9, 1, tzinfo=UTC)


def capture(url: str, number: int, kind: str, body: bytes) -> Attempt:
    """Return an answer of a server."""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    exchange = Exchange(b"GET / HTTP/1.1\r\n\r\n", bytearray(head.encode()), [body])
    return Attempt(url, BEGAN + timedelta(seconds=number), 200, kind, exchange=exchange)


def made(folder: Path, pages: int) -> None:
    """Write the folder of a crawl with so many pages, and two images each."""
    folder.mkdir(parents=True)
    writer, records = WarcWriter(OpenFiles(folder), "th", {}, 10**9, {}), []
    for number in range(pages):
        url = f"http://www.s{number % 500}.example/p/{number}.html"
        html = f"<!doctype html><title>Page {number}</title><h1>Page {number}</h1>{number:09}" * 40
        writer.write([(capture(url, number, "text/html", html.encode()), {"outcome": "html"})])
        for image in range(2):
            png = capture(
                f"{url}-{image}.png", number, "image/png", f"PNG{number}-{image}".encode()
            )
            writer.write([(png, {"outcome": "requisite"})])
        at = (BEGAN + timedelta(seconds=number)).isoformat(timespec="milliseconds")
        record = {"id": number, "url": url, "title": f"Page {number}", "relevant": True, "time": at}
        records.append(json.dumps(record))
    writer.close()
    (folder / "pages.jsonl").write_text("\n".join(records) + "\n")
    (folder / "settings.json").write_text('{"language": "th", "LSWC_RECRAWL": []}')


def opened(wacz: Path, url: str) -> float:
    """Return how many seconds it takes until a page is there."""
    with (
        tempfile.TemporaryDirectory() as folder,
        replaywebpage(wacz, Path(folder) / "site") as address,
        chromium(OFFLINE) as browser,
    ):
        view = browser.new_page()
        view.set_default_timeout(600_000)
        began = time.monotonic()
        view.goto(address + url)
        framed = view.frame_locator("replay-web-page iframe").frame_locator("iframe")
        framed.locator("h1").first.wait_for()
        return time.monotonic() - began


def main() -> None:
    """Print the seconds of each try, and the median of each file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=30_000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--tries", type=int, default=3)
    asked = parser.parse_args()
    out = asked.out or Path(tempfile.mkdtemp())
    if not (out / "crawl").exists():
        made(out / "crawl", asked.pages)
        print(write([out / "crawl"], out / "crawl.wacz"), flush=True)
    number = asked.pages * 2 // 3
    url = f"http://www.s{number % 500}.example/p/{number}.html"
    files = [out / "crawl.wacz", *([asked.beside] if asked.beside else [])]
    seconds: dict[Path, list[float]] = {file: [] for file in files}
    for _ in range(asked.tries):
        for file in files:
            seconds[file].append(opened(file, url))
            print(f"{seconds[file][-1]:6.1f} s  {file}", flush=True)
    for file, every in seconds.items():
        print(f"{median(every):6.1f} s  {file}, median")


if __name__ == "__main__":
    main()
