"""What Scrapy users do: each idiom works, or is refused in one line before anything is fetched.

``python -m tests.scenarios.idioms`` tries all, prints each with its exit code, and ends with 1
unless all do what they should.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tests import forks
from tests.scenarios.site import ENGLISH, THAI, Site, page

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping

CRAWL_DELAY = 1.0
"""Seconds that the web's slow server asks for."""

SLOW = "www.slow.co.th"

MINE = '''
from dataclasses import asdict
from pathlib import Path

from scrapy import signals
from scrapy.exceptions import DropItem, IgnoreRequest, NotConfigured
from scrapy.http import HtmlResponse, Request


def said(what):
    with Path("said.txt").open("a") as file:
        print(what, file=file)


class Pipe:
    def process_item(self, item):
        said(f"pipe {getattr(item, 'url', item)}")
        return item


class Dicts:
    def process_item(self, item):
        return {"address": item.url}


class AsyncPipe:
    async def process_item(self, item):
        said("pipe")
        return item


class Drops:
    def process_item(self, item):
        raise DropItem("not wanted")


class Extension:
    @classmethod
    def from_crawler(cls, crawler):
        extension = cls()
        crawler.signals.connect(extension.closed, signals.spider_closed)
        crawler.signals.connect(extension.scraped, signals.item_scraped)
        return extension

    def scraped(self, item, response, spider):
        said(f"scraped {item.url}")

    def closed(self, reason):
        said(f"closed {reason}")


class Off:
    @classmethod
    def from_crawler(cls, crawler):
        raise NotConfigured("not today")


class Downloads:
    def process_request(self, request):
        request.headers["X-Mine"] = "1"

    def process_response(self, request, response):
        said(f"response {response.status}")
        return response


class Ignores:
    def process_request(self, request):
        if request.url.endswith("/b.html"):
            raise IgnoreRequest("mine")


class Fails:
    def process_request(self, request):
        if request.url.endswith("/b.html"):
            raise ValueError("mine")


class FailsLate:
    def process_response(self, request, response):
        if request.url.endswith("/b.html"):
            raise ValueError("mine")
        return response


class Answers:
    def process_request(self, request):
        if request.url.endswith("/b.html"):
            said("answered")
            return HtmlResponse(request.url, body=b"<title>mine</title>" + 99 * "ภาษาไทย ".encode())


class Replaces:
    def process_request(self, request):
        if request.url.endswith("/b.html") and not request.headers.get("X-Mine"):
            said("replaced")
            return request.replace(headers={**request.headers, "X-Mine": "1"})


class Requests:
    async def process_spider_output(self, response, result):
        async for item in result:
            yield item
        yield Request("http://www.one.co.th/c.html", callback=print)


class Sync:
    """Which Scrapy doesn't take any more."""

    def process_spider_output(self, response, result):
        yield from result


class Spiders:
    async def process_spider_output(self, response, result):
        async for item in result:
            said(type(item).__name__)
            yield item


class Adds:
    async def process_spider_output(self, response, result):
        async for item in result:
            yield {"more": response.url}
            yield item


class Addon:
    def update_settings(self, settings):
        settings.set_in_component_priority_dict("ITEM_PIPELINES", Pipe, 300)


class BrokenAddon:
    def update_settings(self, settings):
        raise KeyError("mine")


def by_depth(facts):
    return min(facts.distance, 3)


from lswc.crawl.middlewares import LinkLanguageMiddleware


class MyLinkLanguage(LinkLanguageMiddleware):
    def get_processed_item(self, item, response):
        said("mine")
        return super().get_processed_item(item, response)
'''

SPIDERS = """
import scrapy
from lswc.crawl.spider import LswcSpider


class Mine(LswcSpider):
    name = "mine"
    custom_settings = {"ITEM_PIPELINES": {"mine.Pipe": 300}, "LSWC_PROFILE": "bfs"}


class Started(Mine):
    name = "started"
    start_urls = ["http://www.one.co.th/c.html"]
"""

OTHER = '''
import scrapy


class Other(scrapy.Spider):
    name = "other"
    start_urls = ["http://www.one.co.th/"]

    def parse(self, response):
        """A page.

        @url http://www.one.co.th/
        @returns items 1 1
        """
        yield {"title": response.css("title::text").get()}
'''

INHERITS = """
from lswc.settings import *

BOT_NAME = "mine"
SPIDER_MODULES = ["lswc.crawl.spider", "my_spiders", "my_other"]
ITEM_PIPELINES = {"mine.Pipe": 300}
"""

CHANGES = """
from lswc.settings import *

ITEM_PIPELINES["mine.Pipe"] = 300
del ITEM_PIPELINES["lswc.crawl.middlewares.RecordPipeline"]
"""

ALIEN = """
BOT_NAME = "alien"
SPIDER_MODULES = ["lswc.crawl.spider"]
COMMANDS_MODULE = "lswc.cli.commands"
LSWC_PROFILE = "bfs"
"""


@dataclass(frozen=True)
class Idiom:
    """What a user does.

    It is a crawl with ``settings``, or another ``command`` of Scrapy's. It works if its exit code
    is 0, all pages are recorded and it said the words of ``said`` in said.txt or its output; if
    ``refused``, it is one line with these words, exit code 2, and nothing is fetched.
    """

    name: str
    settings: Mapping[str, object] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    command: tuple[str, ...] = ("crawl", "lswc", "-a", "lang=th")
    said: str = ""
    refused: str = ""
    module: str = "lswc.settings"
    is_crawl: bool = True
    pages: int | None = None


def _components(name: str, **orders: float | None) -> dict[str, str]:
    return {name: json.dumps({f"mine.{part}": order for part, order in orders.items()})}


_OURS = "lswc.crawl.middlewares."
_OTHER = {"is_crawl": False, "module": "inherits"}

IDIOMS = (
    Idiom("plain crawl"),
    Idiom("own pipeline", _components("ITEM_PIPELINES", Pipe=300), said="pipe http"),
    Idiom("own pipeline, after all", _components("ITEM_PIPELINES", Pipe=5_000), said="pipe http"),
    Idiom("own pipeline, before all", _components("ITEM_PIPELINES", Pipe=-5), said="pipe http"),
    Idiom("a pipeline that makes dicts", _components("ITEM_PIPELINES", Dicts=300)),
    Idiom("a pipeline that awaits", _components("ITEM_PIPELINES", AsyncPipe=300), said="pipe"),
    Idiom("a pipeline that drops all", _components("ITEM_PIPELINES", Drops=300), pages=0),
    Idiom("own extension", _components("EXTENSIONS", Extension=10), said="closed finished"),
    Idiom("an extension that isn't configured", _components("EXTENSIONS", Off=10)),
    Idiom(
        "own downloader middleware",
        _components("DOWNLOADER_MIDDLEWARES", Downloads=543),
        said="response 200",
    ),
    Idiom(
        "a downloader middleware next to the network",
        _components("DOWNLOADER_MIDDLEWARES", Downloads=999),
        said="response 200",
    ),
    Idiom(
        "own spider middleware", _components("SPIDER_MIDDLEWARES", Spiders=543), said="Record"
    ),
    Idiom(
        "a spider middleware next to the spider",
        _components("SPIDER_MIDDLEWARES", Spiders=2_000),
        said="Page",
    ),
    Idiom(
        "a spider middleware next to the engine",
        _components("SPIDER_MIDDLEWARES", Spiders=1),
        said="Record",
    ),
    Idiom("a middleware that adds items", _components("SPIDER_MIDDLEWARES", Adds=500)),
    Idiom(
        "a pipeline that makes dicts, and items beside",
        {**_components("SPIDER_MIDDLEWARES", Adds=500)}
        | {"ITEM_PIPELINES": '{"scrapy.pipelines.files.FilesPipeline": null, "mine.AsyncPipe": 1}'},
    ),
    Idiom("a middleware that ignores", _components("DOWNLOADER_MIDDLEWARES", Ignores=100), pages=4),
    Idiom("one that fails", _components("DOWNLOADER_MIDDLEWARES", Fails=100), pages=4),
    Idiom("one that fails at the answer", _components("DOWNLOADER_MIDDLEWARES", FailsLate=100),
          pages=4),
    Idiom("one that answers itself", _components("DOWNLOADER_MIDDLEWARES", Answers=100),
          said="answered"),
    Idiom("one that answers next to the network",
          _components("DOWNLOADER_MIDDLEWARES", Answers=999), said="answered"),
    Idiom("one that replaces", _components("DOWNLOADER_MIDDLEWARES", Replaces=100),
          said="replaced"),
    Idiom("one that replaces next to the network",
          _components("DOWNLOADER_MIDDLEWARES", Replaces=999), said="replaced"),
    Idiom("a spider middleware that asks for more", _components("SPIDER_MIDDLEWARES", Requests=500),
          said="own callback isn't kept", pages=6),
    Idiom("start_urls", command=("crawl", "started", "-a", "lang=th"), module="inherits", pages=6),
    Idiom("no User-Agent", {"DOWNLOADER_MIDDLEWARES_BASE": "{}"}, refused="can't be taken out"),
    Idiom("own add-on", _components("ADDONS", Addon=100), said="pipe http"),
    Idiom(
        "a part of lswc's off",
        {"EXTENSIONS": '{"lswc.monitor.terminal_line.TerminalLine": null}'},
    ),
    Idiom(
        "a subclass in the place of a part",
        {
            "SPIDER_MIDDLEWARES": json.dumps(
                {f"{_OURS}LinkLanguageMiddleware": None, "mine.MyLinkLanguage": 1020}
            )
        },
        said="mine",
    ),
    Idiom("a settings module that inherits", module="inherits", said="pipe http"),
    Idiom("a settings module that changes lswc's dictionaries", module="changes", said="pipe http"),
    Idiom("a subclass of the spider", command=("crawl", "mine", "-a", "lang=th"),
          module="inherits", said="pipe http"),
    Idiom("runspider, a subclass", command=("runspider", "my_spiders.py", "-a", "lang=th"),
          said="pipe http", pages=6),
    Idiom("-o", arguments=("-o", "pages.csv")),
    Idiom("FEEDS", {"FEEDS": '{"pages.jsonl": {"format": "jsonlines"}}'}),
    Idiom("own strategy", {"LSWC_STRATEGY": "mine:by_depth"}),
    Idiom("CONCURRENT_ITEMS", {"CONCURRENT_REQUESTS": 4, "CONCURRENT_ITEMS": 50}),
    Idiom("CONCURRENT_REQUESTS_PER_DOMAIN", {"CONCURRENT_REQUESTS_PER_DOMAIN": 8}),
    Idiom("DOWNLOAD_DELAY", {"DOWNLOAD_DELAY": 0.1}),
    Idiom("AutoThrottle", {"AUTOTHROTTLE_ENABLED": 1, "AUTOTHROTTLE_START_DELAY": 0.1}),
    Idiom("JOBDIR", {"JOBDIR": "job"}),
    Idiom("RETRY_TIMES, RETRY_HTTP_CODES", {"RETRY_TIMES": 0, "RETRY_HTTP_CODES": "500,503"}),
    Idiom("RETRY_ENABLED", {"RETRY_ENABLED": 0}),
    Idiom("COOKIES_ENABLED", {"COOKIES_ENABLED": 0}),
    Idiom("USER_AGENT", {"USER_AGENT": "mine/1 (+https://library.example/)"}),
    Idiom("ROBOTSTXT_OBEY", {"ROBOTSTXT_OBEY": 0}, said=""),
    Idiom("LOG_FILE", {"LOG_FILE": "crawl.log"}),
    Idiom("--logfile, -L DEBUG", arguments=("--logfile", "crawl.log", "-L", "DEBUG")),
    Idiom("CLOSESPIDER_ITEMCOUNT", {"CLOSESPIDER_ITEMCOUNT": 100}),
    Idiom("CLOSESPIDER_TIMEOUT", {"CLOSESPIDER_TIMEOUT": 200}),
    Idiom("CLOSESPIDER_PAGECOUNT", {"CLOSESPIDER_PAGECOUNT": 1_000}),
    Idiom("DEPTH_LIMIT", {"DEPTH_LIMIT": 5}),
    Idiom("DEFAULT_REQUEST_HEADERS", {"DEFAULT_REQUEST_HEADERS": '{"X-Mine": "1"}'}),
    Idiom("STATS_CLASS", {"STATS_CLASS": "scrapy.statscollectors.MemoryStatsCollector"}),
    Idiom("TELNETCONSOLE_ENABLED", {"TELNETCONSOLE_ENABLED": 1, "TELNETCONSOLE_PORT": ""},
          arguments=("-L", "DEBUG"), said="extensions.telnet.TelnetConsole"),
    Idiom("MEMUSAGE_LIMIT_MB", {"MEMUSAGE_LIMIT_MB": 8_000}),
    Idiom("PeriodicLog", {"EXTENSIONS": '{"scrapy.extensions.periodic_log.PeriodicLog": 0}',
                          "PERIODIC_LOG_STATS": "1"}),
    # refused
    Idiom("a part that is needed, off", {"ITEM_PIPELINES": f'{{"{_OURS}RecordPipeline": null}}'},
          refused="can't be taken out"),
    Idiom("the guest off",
          {"DOWNLOADER_MIDDLEWARES": '{"lswc.crawl.guest_middleware.GuestMiddleware": null}'},
          refused="can't be taken out"),
    Idiom("the recorder off", {"EXTENSIONS": '{"lswc.monitor.recorder.Recorder": null}'},
          refused="can't be taken out"),
    Idiom("the User-Agent of another",
          {"DOWNLOADER_MIDDLEWARES":
           '{"scrapy.downloadermiddlewares.useragent.UserAgentMiddleware": null}'},
          refused="can't be taken out"),
    Idiom("parts in another order",
          {"SPIDER_MIDDLEWARES": f'{{"{_OURS}StrategyMiddleware": 1100}}'},
          refused="must come after"),
    Idiom("Scrapy's robots.txt middleware",
          {"DOWNLOADER_MIDDLEWARES":
           '{"scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": 100}'},
          refused="robots.txt is obeyed without it"),
    Idiom("DUPEFILTER_CLASS", {"DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter"},
          refused="the frontier knows"),
    Idiom("SCHEDULER", {"SCHEDULER": "scrapy_redis.scheduler.Scheduler"},
          refused="LSWC_FRONTIER for Redis"),
    Idiom("SCHEDULER_PRIORITY_QUEUE",
          {"SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.ScrapyPriorityQueue"},
          refused="LSWC_STRATEGY says"),
    Idiom("HTTPCACHE_ENABLED", {"HTTPCACHE_ENABLED": 1}, refused="LSWC_RECRAWL"),
    Idiom("DOWNLOAD_HANDLERS",
          {"DOWNLOAD_HANDLERS":
           '{"https": "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler"}'},
          refused="https must be lswc.crawl.transport.handler"),
    Idiom("a module that isn't there", {"ITEM_PIPELINES": '{"none.Pipe": 300}'},
          refused="ITEM_PIPELINES: can't import none.Pipe: No module named 'none'"),
    Idiom("a class that isn't there", _components("EXTENSIONS", None_=1), refused="can't import"),
    Idiom("an order that is none", {"ITEM_PIPELINES": '{"mine.Pipe": "first"}'},
          refused="must be a number, or None"),
    Idiom("no reactor", {"TWISTED_REACTOR_ENABLED": 0}, refused="names are looked up by"),
    Idiom("another reactor",
          {"TWISTED_REACTOR": "twisted.internet.selectreactor.SelectReactor"},
          refused="names are looked up by"),
    Idiom("no JSON", {"ITEM_PIPELINES": "mine.Pipe"}, refused="must be a dictionary as JSON"),
    Idiom("an add-on that isn't there", {"ADDONS": '{"none.Addon": 1}'}, refused="ADDONS: can't"),
    Idiom("an add-on that fails", _components("ADDONS", BrokenAddon=1), refused="KeyError: 'mine'"),
    Idiom("a spider middleware that isn't async", _components("SPIDER_MIDDLEWARES", Sync=500),
          refused="must be an async generator"),
    Idiom("settings that don't build on lswc's", module="alien", refused="from lswc.settings"),
    Idiom("runspider, no such file", command=("runspider", "none.py"), refused="isn't a file"),
    Idiom("parse with lswc", command=("parse", "--spider=lswc", "http://www.one.co.th/"),
          refused="shell URL", is_crawl=False),
    Idiom("fetch with lswc", command=("fetch", "--spider=lswc", "http://www.one.co.th/"),
          refused="shell URL", is_crawl=False),
    Idiom("shell with lswc", command=("shell", "--spider=lswc", "http://www.one.co.th/"),
          refused="shell URL", is_crawl=False),
    Idiom("check of a folder", command=("check", "web"), refused="web is not a crawl folder",
          is_crawl=False),
    # Scrapy's tools
    Idiom("settings --get", command=("settings", "--get", "SPIDER_MIDDLEWARES"),
          said="ServerRelevanceMiddleware", is_crawl=False),
    Idiom("list", command=("list",), said="lswc", is_crawl=False),
    Idiom("fetch", command=("fetch", "--nolog", "http://www.one.co.th/"), said=THAI,
          is_crawl=False),
    Idiom("shell",
          command=("shell", "--nolog", "-c", "read(response, 'th')", "http://www.one.co.th/"),
          said="language    th", is_crawl=False),
    Idiom("shell, what isn't read",
          command=("shell", "--nolog", "-c", "read(response, 'xx')", "http://www.one.co.th/"),
          said="error: unknown language 'xx'", is_crawl=False),
    Idiom("parse", command=("parse", "--spider=other", "http://www.one.co.th/"),
          said="'title': 't'", **_OTHER),  # type: ignore[arg-type]
    Idiom("a second spider", command=("crawl", "other"), said="'item_scraped_count': 1",
          **_OTHER),  # type: ignore[arg-type]
    Idiom("runspider, another spider", command=("runspider", "my_other.py"),
          said="'item_scraped_count': 1", is_crawl=False),
    Idiom("check", command=("check", "-v"), said="OK", **_OTHER),  # type: ignore[arg-type]
    Idiom("genspider", command=("genspider", "-d", "basic"), said="class", is_crawl=False),
    Idiom("bench", {"CLOSESPIDER_TIMEOUT": 1, "LSWC_WEB": ""}, command=("bench",),
          said="Crawled", is_crawl=False),
)  # fmt: skip


class Place:
    """A folder of a user's with a small web, modules and spiders of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.site = Site(folder / "web", folder / "crawl")
        self.site.seeds("http://www.one.co.th/", f"http://{SLOW}/")
        self.site.add("www.one.co.th/", page(THAI, "/a.html", "/b.html", f"http://{SLOW}/a.html"))
        self.site.add("www.one.co.th/a.html", page(ENGLISH * 2, "/"))
        self.site.add("www.one.co.th/b.html", page(THAI * 3))
        self.site.add("www.one.co.th/c.html", page(THAI * 7))
        self.site.add(f"{SLOW}/robots.txt", f"User-agent: *\nCrawl-delay: {CRAWL_DELAY:g}\n")
        self.site.add(f"{SLOW}/", page(THAI * 2, "/a.html"))
        self.site.add(f"{SLOW}/a.html", page(THAI * 5))
        for name, text in {
            "mine": MINE, "my_spiders": SPIDERS, "my_other": OTHER, "inherits": INHERITS,
            "changes": CHANGES, "alien": ALIEN,
        }.items():  # fmt: skip
            (folder / f"{name}.py").write_text(text)

    def run(self, idiom: Idiom) -> subprocess.CompletedProcess[str]:
        """Do as a user does."""
        given: dict[str, object] = {"LSWC_WEB": self.site.web, "LSWC_CRAWL": self.site.folder}
        if idiom.is_crawl:
            given |= {"DOWNLOAD_DELAY": 0, "LSWC_READERS": 0, "LSWC_TRY_AGAIN": ""}
            if (
                idiom.command[1] not in ("mine", "started")
                and "LSWC_STRATEGY" not in idiom.settings
            ):
                given["LSWC_PROFILE"] = "bfs"
        settings = [
            part for name, value in {**given, **idiom.settings}.items()
            for part in ("-s", f"{name}={value}")
        ]  # fmt: skip
        environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": idiom.module}
        command = [*idiom.command, *idiom.arguments, *settings]
        return forks.run(command, self.folder, environment)

    def wrong(self, idiom: Idiom, done: subprocess.CompletedProcess[str]) -> str:
        """Return what isn't as it should be, "" if all is."""
        lines = done.stderr.splitlines()
        if idiom.refused:
            if done.returncode != 2 or len(lines) != 1 or idiom.refused not in lines[0]:
                return f"exit code {done.returncode}, {len(lines)} lines: {done.stderr[-2_000:]}"
            return "something was fetched" if self.site.folder.joinpath("log").exists() else ""
        said = self.folder / "said.txt"
        told = done.stdout + done.stderr + (said.read_text() if said.exists() else "")
        fails = idiom.pages is None and "Traceback" in done.stderr
        if done.returncode or fails or idiom.said not in told:
            return f"exit code {done.returncode}, {idiom.said!r} isn't in: {told[-3_000:]}"
        return self._wrong_crawl(idiom) if idiom.is_crawl else ""

    def _wrong_crawl(self, idiom: Idiom) -> str:
        wanted = 5 if idiom.pages is None else idiom.pages
        if len(self.site.urls) != wanted or not (self.site.folder / "summary.json").exists():
            return f"recorded: {self.site.urls}"
        finished: dict[str, int] = self.site.summary["finished"]
        if "lost" in finished or ("failed" in finished and wanted == 5):
            return f"finished: {finished}"
        times = sorted(
            datetime.fromisoformat(record["time"])
            for record in self.site.records
            if SLOW in record["url"]
        )
        rests = [(after - before).total_seconds() for before, after in pairwise(times)]
        is_obeyed = idiom.settings.get("ROBOTSTXT_OBEY") != 0
        if is_obeyed and wanted and min(rests) < 0.95 * CRAWL_DELAY:
            return f"the Crawl-delay isn't kept: {rests}"
        environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "lswc.settings"}
        checked = forks.run(["check", str(self.site.folder)], self.folder, environment)
        return "" if checked.returncode == 0 else checked.stdout + checked.stderr


def tried(idiom: Idiom) -> tuple[int, str]:
    """Try an idiom in a folder of its own: its exit code, and what is wrong."""
    with TemporaryDirectory() as folder:
        place = Place(Path(folder))
        done = place.run(idiom)
        return done.returncode, place.wrong(idiom, done)


def main() -> None:
    """Print each idiom with its exit code and what is wrong of it."""
    names = sys.argv[1:]
    chosen = [idiom for idiom in IDIOMS if not names or idiom.name in names]
    wrong = 0
    for idiom in chosen:
        code, why = tried(idiom)
        wrong += bool(why)
        ended = "wrong" if why else "refused" if idiom.refused else "works"
        print(f"{code}  {ended:7}  {idiom.name}")
        if why:
            print(f"   {why}")
    print(f"{len(chosen) - wrong} of {len(chosen)} as they should be")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
