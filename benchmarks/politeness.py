"""One hot server and 29 others, two seconds between requests to a server: who keeps the rate?

``python -m benchmarks.politeness [--seconds 20]``

The hot server has 300 URLs in the best tier, the others 60 each in the next. As many pages a second
as servers are free could be had: 30 servers / 2 s = 15. Prints pages a second, servers visited and
how long the crawl took to stop, beside Scrapy's two priority queues with the same URLs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.http import Response

THAI = "ข่าววันนี้ของประเทศไทยมีเรื่องน่าสนใจหลายเรื่องสำหรับผู้อ่านทุกคน " * 4
ENGLISH = "The news of today is about the weather, the trade and the people of the country. " * 4
DELAY, HOT, OTHERS, EACH = 2.0, 300, 29, 60
QUEUES = {
    "Scrapy, ScrapyPriorityQueue": "scrapy.pqueues.ScrapyPriorityQueue",
    "Scrapy, default queue": "scrapy.pqueues.DownloaderAwarePriorityQueue",
}
COMMON = {
    "DOWNLOAD_DELAY": DELAY,
    "DOWNLOAD_DELAY_JITTER": 0,
    "CONCURRENT_REQUESTS": 16,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
    "ROBOTSTXT_OBEY": False,
    "LOG_LEVEL": "CRITICAL",
    "TWISTED_DNS_RESOLVER": "lswc.crawler.transport.resolver.Resolver",
}


def hot() -> list[str]:
    return [f"http://hot.example/{page}.html" for page in range(HOT)]


def others() -> list[str]:
    return [f"http://other{s}.example/{page}.html" for page in range(EACH) for s in range(OTHERS)]


def make(folder: Path) -> None:
    """Write the web: two seeds that link to it, the hot server's from a relevant page."""
    seeds = {"http://relevant.example/": (THAI, hot()), "http://hub.example/": (ENGLISH, others())}
    for url, (text, links) in seeds.items():
        anchors = "".join(f'<a href="{link}">{link}</a> ' for link in links)
        _write(folder, url + "index.html", f"<p>{text}</p>{anchors}")
    for url in hot() + others():
        _write(folder, url, f"<p>{ENGLISH}</p>")
    (folder / "seeds-th.txt").write_text("\n".join(seeds))


def _write(folder: Path, url: str, html: str) -> None:
    parts = urlsplit(url)
    path = folder / str(parts.hostname) / parts.path[1:]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(html, encoding="utf-8")


class Plain(Spider):
    """Asks for all URLs at once, the hot server's with a better priority."""

    name = "plain"

    async def start(self) -> AsyncIterator[Request]:
        for url in hot():
            yield Request(url, priority=10)
        for url in others():
            yield Request(url)

    def parse(self, response: Response, **kwargs: Any) -> Any:
        yield {"url": response.url}


def rival(queue: str, web: Path, out: Path, seconds: float) -> None:
    process = AsyncCrawlerProcess(
        {
            **COMMON,
            "LSWC_WEB": str(web),
            "CLOSESPIDER_TIMEOUT": seconds,
            "SCHEDULER_PRIORITY_QUEUE": QUEUES[queue],
            "FEEDS": {str(out): {"format": "jsonlines"}},
        }
    )
    process.crawl(Plain)
    process.start()


def ours(web: Path, folder: Path, seconds: float) -> None:
    settings = {**COMMON, "LSWC_WEB": web, "LSWC_CRAWL": folder, "LSWC_PROFILE": "soft_focused",
                "CLOSESPIDER_TIMEOUT": seconds, "LSWC_ARCHIVE": "none"}  # fmt: skip
    command = [sys.executable, "-m", "scrapy", "crawl", "lswc", "-a", "lang=th"]
    command += [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def measure(name: str, web: Path, folder: Path, seconds: float) -> None:
    out = folder / "pages.jsonl"
    start = monotonic()
    if name in QUEUES:
        command = [sys.executable, "-m", __spec__.name, "--one", name, str(web), str(out)]
        subprocess.run([*command, "--seconds", str(seconds)], check=True)
    else:
        ours(web, folder, seconds)
    took = monotonic() - start
    urls = [json.loads(line)["url"] for line in out.read_text().splitlines()]
    servers = len({urlsplit(url).hostname for url in urls})
    rate = len(urls) / seconds
    print(f"{name:30}{rate:6.1f} pages/s {servers:4} servers, {took:5.1f} s with start and stop")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--one", nargs=3, metavar=("QUEUE", "WEB", "OUT"))
    options = parser.parse_args()
    if options.one:
        queue, web, out = options.one
        rival(queue, Path(web), Path(out), options.seconds)
        return
    with tempfile.TemporaryDirectory() as temporary:
        web = Path(temporary) / "web"
        make(web)
        for number, name in enumerate(("lswc", *QUEUES)):
            folder = Path(temporary) / str(number)
            folder.mkdir()
            measure(name, web, folder, options.seconds)


if __name__ == "__main__":
    main()
