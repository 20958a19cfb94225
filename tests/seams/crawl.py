"""Crawl of the machine: Scrapy's engine and all of lswc's parts in this process, step by step."""

from __future__ import annotations

import asyncio
import importlib
import logging
import os
import pkgutil
import sqlite3
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import twisted.internet
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from typing_extensions import override

import lswc
from lswc import processes
from lswc import settings as defaults
from lswc.archive import appended_files, page_record, warc_writer
from lswc.crawl import composition, scrapy_internet
from lswc.crawl.spider import LswcSpider
from lswc.crawl.transport import connection
from lswc.crawl.transport.resolver import Resolver
from lswc.guest.slots import OwnSlots
from tests.seams.clock import Clock, Loop, Swaps
from tests.seams.machine import Connection, Disk, Reading
from tests.seams.web import BACKOFF, Resolving, Web, url

if TYPE_CHECKING:
    from lswc.crawl.composition import Parts

# All that a crawl imports has to be there before its clock is swapped; scrapyd's site isn't of it.
for room in ("archive", "crawl", "crawl.transport", "frontier", "guest", "monitor", "seeds"):
    for module in pkgutil.iter_modules([str(Path(lswc.__file__).parent / room.replace(".", "/"))]):
        if not (module.ispkg or module.name == "scrapyd_site"):
            importlib.import_module(f"lswc.{room}.{module.name}")


class Log(logging.Handler):
    """What a crawl says that it shouldn't: tracebacks, and what others call an error."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: list[str] = []
        self.wrong: list[str] = []

    @override
    def emit(self, record: logging.LogRecord) -> None:
        said = record.getMessage()
        self.said.append(said)
        ours = record.name.startswith("lswc")
        lost = said.startswith(("request lost", "the lease of", "leases ended"))
        if record.exc_info or lost or (record.levelno >= logging.ERROR and not ours):
            self.wrong.append(logging.Formatter().format(record))


class Machine:
    """A clock, a web, a disk and processes, in whose places nothing of this machine is used."""

    def __init__(self, folder: Path, pages: int, salt: int, profile: str) -> None:
        self.clock = Clock()
        self.web = Web(pages, salt)
        self.disk = Disk(self._died)
        self.reading = Reading()
        self.folder = folder / "crawl"
        self._seeds = folder / "seeds.txt"
        self._seeds.write_text(f"{url(0)}\n{url(1)}\n", "utf-8")
        self._profile = profile
        self.swaps = Swaps()
        self.run: Run | None = None
        self._swap()

    def _swap(self) -> None:
        swaps, disk = self.swaps, self.disk
        swaps.put_item(sys.modules, "twisted.internet.reactor")
        swaps.keep_time(self.clock)
        swaps.put(scrapy_internet.ScrapyInternet, "now", staticmethod(self.clock.monotonic))
        swaps.put(scrapy_internet.ScrapyInternet, "unix_time", staticmethod(self.clock.time))
        swaps.put(composition, "OwnSlots", partial(OwnSlots, self.clock.monotonic))
        swaps.put(scrapy_internet.ScrapyInternet, "opens", self._opens)
        swaps.put(connection, "start_connection", self.web.connect)
        swaps.put(processes, "Popen", self._popen)
        swaps.put(os, "fsync", disk.sync)
        swaps.put(page_record, "Thread", _AtOnce)
        swaps.put(warc_writer, "TemporaryFile", disk.temporary)
        opened, connect = appended_files.Appended.__init__, sqlite3.connect

        def init(file: Any, path: Path) -> None:
            opened(file, path)
            file._file = disk.of(file._file)

        def connected(path: Any, **given: Any) -> sqlite3.Connection:
            if str(path).endswith("frontier.db"):
                db: Connection = connect(path, factory=Connection, **given)
                db.disk = disk
                return db
            plain: sqlite3.Connection = connect(path, **given)
            return plain

        swaps.put(appended_files.Appended, "__init__", init)
        swaps.put(sqlite3, "connect", connected)

    async def _opens(self, where: Any) -> bool:
        return self.web.online and self.web.state(where.hostname) == "found"

    def _popen(self, *_: object, stdin: int, **__: object) -> Any:
        return self.reading.start(asyncio.get_running_loop(), stdin)

    def _died(self) -> None:
        if self.run is not None:
            self.run.loop.stop()

    def begin(self, *, is_stopped: bool = False) -> Run:
        """Compose the crawl over the folder, and let it begin; it may be stopped meanwhile."""
        self.web.begin()
        self.reading.begin()
        self.disk.crawl = self.folder
        self.run = Run(self)
        if is_stopped:
            self.run.loop.call_soon(self.run.stop)
        self.run.let(0.01)
        return self.run

    def settings(self) -> Settings:
        """Return what the crawl is run with."""
        given: dict[str, Any] = {
            name: value for name, value in vars(defaults).items() if name.isupper()
        }
        own = {
            "LSWC_CONTACT": "https://library.example/",
            "LSWC_CRAWL": str(self.folder),
            "LSWC_PROFILE": self._profile,
            "LSWC_READERS": 2,
            "LSWC_SITEMAPS": True,
            "LSWC_TRY_AGAIN": [30, 60],
            "LSWC_BACKOFF": BACKOFF,
            "LSWC_MIN_DISK": 0,
            "LSWC_ALLOWED_PORTS": [80, 443],
            "LSWC_WARC_SIZE": 200_000,
            "DOWNLOAD_TIMEOUT": 20,
            "DNSCACHE_ENABLED": False,
            "TWISTED_REACTOR_ENABLED": False,
            "EXTENSIONS": {
                name: order
                for name, order in given["EXTENSIONS"].items()
                if "terminal" not in name and "Metrics" not in name
            },
        }
        settings = Settings()
        settings.setdict(given, "project")
        settings.setdict(own, "cmdline")
        return settings

    def close(self) -> None:
        """Give this machine back what was swapped."""
        if self.run is not None:
            self.run.abandon()
        self.reading.begin()
        self.swaps.undo()


class Run:
    """One process of the crawl, as it were: from its composition to its end, or to its death."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.loop = Loop(machine.clock)
        self.log = Log()
        logging.getLogger().addHandler(self.log)
        self.loop.set_exception_handler(self._loop_failed)
        self.crawler = Crawler(LswcSpider, machine.settings())
        resolver_of: Any = SimpleNamespace(nameResolver=Resolving(machine.web))
        resolver = Resolver.from_crawler(self.crawler, resolver_of)
        resolver_of.nameResolver.refusals = resolver.refusals
        machine.swaps.put(twisted.internet, "reactor", SimpleNamespace(nameResolver=resolver))
        crawling = self.crawler.crawl_async(lang="th", seeds=str(machine._seeds))
        self.task = self.loop.create_task(crawling)
        self.task.add_done_callback(lambda _: self.loop.stop())

    def _loop_failed(self, _: object, context: dict[str, Any]) -> None:
        self.log.wrong.append(f"{context.get('message')}: {context.get('exception')!r}")

    @property
    def parts(self) -> Parts:
        """The parts of the crawl."""
        spider: Any = self.crawler.spider
        parts: Parts = spider.parts
        return parts

    @property
    def has_ended(self) -> bool:
        """Whether the crawl has closed."""
        return self.task.done()

    @property
    def is_closing(self) -> bool:
        """Whether its parts close, or have closed."""
        slot = self.crawler.engine._slot
        return slot is None or slot.closing is not None or self.parts.commits.failed

    @property
    def reason(self) -> str:
        """Why it closed."""
        return str(self.crawler.stats.get_value("finish_reason"))

    def let(self, seconds: float) -> None:
        """Let time pass, in which the crawl does what it wants to."""
        if not self.task.done():
            self.loop.let(seconds)

    def stop(self) -> None:
        """Ask the crawl to end in order, as Ctrl-C does."""
        self._stopping = self.loop.create_task(self.crawler.stop_async())

    def abandon(self) -> None:
        """Let go of it without closing anything, and take away what is left of it here."""
        root = logging.getLogger()
        for handler in list(root.handlers):  # Scrapy's own goes only with a crawl that ends
            if handler is self.log or getattr(handler, "crawler", None) is self.crawler:
                root.removeHandler(handler)
        self._machine.disk.crawl = None
        if not self.loop.is_closed():
            self.loop.set_exception_handler(lambda *_: None)
            for _ in range(3):
                for task in asyncio.all_tasks(self.loop):
                    task.cancel()
                self.loop.let(0.0)
            engine: Any = self.crawler.engine
            if engine is not None and engine._slot is not None:
                # What was being downloaded says so when it is garbage, to another run's loop.
                engine._slot.nextcall.schedule = lambda *_: None
            self._machine.reading.begin()
            self.loop.hang_up()
            self.loop.let(0.0)
            self.loop.close()
            if self.crawler.spider is not None and "parts" in vars(self.crawler.spider):
                self.parts.frontier.close()
        self._machine.disk.let_go()
        self._machine.run = None


class _AtOnce:
    """A thread that has ended before anything else goes on."""

    def __init__(self, target: Any, **_: object) -> None:
        self._target = target

    def start(self) -> None:
        self._target()

    def join(self) -> None:
        pass

    def is_alive(self) -> bool:
        return False
