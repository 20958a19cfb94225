"""One hot server and 29 others, two seconds between requests to a server: who keeps the rate?

``python -m benchmarks.politeness [--seconds 20]``

The hot server has 300 URLs in the best tier, the others 60 each in the next. As many pages a second
as servers are free could be had: 30 servers / 2 s = 15. Prints pages a second, servers visited and
how long the crawl took to stop, beside Scrapy's two priority queues with the same URLs.

``python -m benchmarks.politeness --seen 20000 [--redis redis://127.0.0.1:6379/0]`` takes the
servers' view instead: so many requests by one process, and by two workers over Redis, each logged
where it arrives. It fails if one came sooner after the last answer of its server than promised, if
there were more at a time to a server, an address or a registered domain, or if a page came before
robots.txt.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerProcess

from tests.scenarios.guest_web import Answer, GuestWeb, serving
from tests.scenarios.server_view import address, before_robots, domain, server, too_many

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.http import Response

    from tests.scenarios.guest_web import Given

THAI = "ข่าววันนี้ของประเทศไทยมีเรื่องน่าสนใจหลายเรื่องสำหรับผู้อ่านทุกคน " * 4
ENGLISH = "The news of today is about the weather, the trade and the people of the country. " * 4
DELAY, HOT, OTHERS, EACH = 2.0, 300, 29, 60
SEEN_DELAY = 0.5
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
    "TWISTED_DNS_RESOLVER": "lswc.crawl.transport.resolver.Resolver",
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


def seen(requests: int, redis: str) -> None:
    """Crawl a web of servers that log what they see, and check it."""
    hosts = [f"s{n}-{2 + n % 200}.{'one' if n % 20 == 0 else f'd{n}'}.example" for n in range(500)]
    pages = [f"http://{host}/{n}" for n in range(requests // len(hosts)) for host in hosts]
    for store in ("sqlite", redis):
        workers = 2 if store == redis else 1
        with tempfile.TemporaryDirectory() as temporary:
            web = _logged(Path(temporary), pages, store, workers)
        checks = {
            "sooner than promised, to a server": too_many(web.visits, server, 1, SEEN_DELAY),
            "more than two to an address": too_many(web.visits, address, 2, SEEN_DELAY),
            "more than four to a domain": too_many(web.visits, domain, 4, 0.0),
            "before robots.txt": before_robots(web.visits),
        }
        print(f"{store.partition(':')[0]}, {workers} worker(s): {len(web.visits):,} requests")
        for name, found in checks.items():
            print(f"  {name:35}{len(found):6}")
        assert not any(checks.values())


def _logged(folder: Path, pages: list[str], store: str, workers: int) -> GuestWeb:
    answers: dict[str, Given] = {url: Answer(f"<p>{THAI} {url}") for url in pages}
    parts = [pages[start : start + 2000] for start in range(0, len(pages), 2000)]
    seeds = [f"http://hub{number}-1.hub.example/" for number in range(len(parts))]
    for seed, part in zip(seeds, parts, strict=True):
        links = "".join(f'<a href="{url}">{url}</a> ' for url in part)
        answers[seed] = Answer(f"<p>{THAI}</p>{links}")
    web = GuestWeb(answers)
    (folder / "seeds.txt").write_text("\n".join(seeds))
    settings = {
        "LSWC_CONTACT": "https://library.example/", "LSWC_PROFILE": "bfs", "LSWC_ARCHIVE": "none",
        "LSWC_FRONTIER": store, "LSWC_REDIS_KEY": folder.name, "LSWC_MAX_DUPLICATES": 0,
        "LSWC_DELAY_FACTOR": 0, "DOWNLOAD_DELAY": SEEN_DELAY, "CONCURRENT_REQUESTS": 64,
        "TWISTED_DNS_RESOLVER": "tests.scenarios.guest_web.ByName", "LOG_LEVEL": "ERROR",
        "LSWC_ALLOWED_NETWORKS": "127.0.0.0/8",
    }  # fmt: skip
    command = [sys.executable, "-m", "scrapy", "crawl", "lswc", "-a", "lang=th"]
    command += ["-a", f"seeds={folder}/seeds.txt"]
    command += [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    addresses = [f"127.0.0.{number}" for number in range(2, 202)]
    with serving(web, folder, addresses) as ports:
        started = [
            subprocess.Popen(
                [*command, "-s", f"LSWC_CRAWL={folder}/{number}"],
                env={**os.environ, **ports}, stdout=subprocess.DEVNULL,
            )
            for number in range(workers)
        ]  # fmt: skip
        assert [process.wait() for process in started] == [0] * workers
    return web


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--one", nargs=3, metavar=("QUEUE", "WEB", "OUT"))
    parser.add_argument("--seen", type=int, metavar="REQUESTS")
    parser.add_argument("--redis", default="redis://127.0.0.1:6379/0")
    options = parser.parse_args()
    if options.seen:
        seen(options.seen, options.redis)
        return
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
