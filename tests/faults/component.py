"""Extensions of Scrapy that do to a running crawl what a machine does to it."""

from __future__ import annotations

import os
import shutil
import signal
from contextlib import suppress
from math import inf
from pathlib import Path
from threading import get_ident
from time import sleep
from typing import TYPE_CHECKING, Self

from scrapy import signals

from lswc.crawl import commits
from lswc.crawl.composition import parts_of
from lswc.monitor import observer

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


class SavesOften:
    """Lets a crawl make durable what is committed once five pages came since it last did."""

    def __init__(self, crawler: Crawler) -> None:
        self._pages = 0
        commits.SAVE_SECONDS = inf
        frontier = parts_of(crawler).frontier
        self._checkpoint, frontier.checkpoint = frontier.checkpoint, self._save  # type: ignore[method-assign]
        crawler.signals.connect(self._page, signals.item_scraped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _page(self) -> None:
        self._pages += 1
        if self._pages >= 5:
            commits.SAVE_SECONDS = 0  # until it has: the next page may come before

    def _save(self) -> None:
        self._checkpoint()
        self._pages, commits.SAVE_SECONDS = 0, inf


class AfterPages:
    """Does something to a crawl once it has recorded TEST_PAGES pages."""

    def __init__(self, crawler: Crawler) -> None:
        self.left = crawler.settings.getint("TEST_PAGES")
        crawler.signals.connect(self._page, signals.item_scraped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _page(self) -> None:
        self.left -= 1
        if self.left == 0:
            self.act()

    def act(self) -> None:
        raise NotImplementedError


class Signalled(AfterPages):
    """Sends the process TEST_SIGNALS, such as "SIGSTOP", after TEST_PAGES pages.

    So what a test does then meets a crawl that is under way, however fast or busy the machine is.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._signals = [signal.Signals[one] for one in crawler.settings.getlist("TEST_SIGNALS")]

    def act(self) -> None:
        for one in self._signals:
            signal.raise_signal(one)


class EndsAnywhere(AfterPages):
    """Ends the process at once, TEST_WORK seconds of its own work after TEST_PAGES pages.

    The system does that, by SIGPROF, at whatever the process is then; as SIGKILL it runs nothing.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._work = crawler.settings.getfloat("TEST_WORK")
        if self.left == 0:
            self.act()

    def act(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, self._work)


BETWEEN_SAVES = 30  # pages


class PowerCut:
    """Ends the process in its second save, and leaves in TEST_DISK what was made durable.

    That is: of each file of the crawl the bytes at its last fsync, and the frontier as it was
    after its last checkpoint. The end comes right after that checkpoint, or TEST_PAGES pages later.
    The record is closed at TEST_PART bytes, if that isn't 0, and WARC files are as long as ever.
    Saves come by the number of pages, so that the speed of the machine is nothing to them.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._parts = parts_of(crawler)
        self._pages = self._saves = 0
        self._later = crawler.settings.getint("TEST_PAGES")
        self._disk = Path(crawler.settings["TEST_DISK"])
        self._parts.archive._pages._limit = crawler.settings.getfloat("TEST_PART")
        commits.SAVE_SECONDS = inf
        self._fsync = os.fsync
        os.fsync = self._sync  # type: ignore[assignment]
        frontier = self._parts.frontier
        self._checkpoint, frontier.checkpoint = frontier.checkpoint, self._save  # type: ignore[method-assign]
        self._prepare, frontier.prepare_checkpoint = frontier.prepare_checkpoint, self._wait  # type: ignore[method-assign]
        crawler.signals.connect(self._page, signals.item_scraped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _wait(self) -> bool:
        """Prepare a save, however long the disk takes: pages don't come meanwhile."""
        while not self._prepare():
            sleep(0.001)
        return True

    def _sync(self, handle: int) -> None:
        self._fsync(handle)
        path = Path(f"/proc/self/fd/{handle}").readlink()
        self._copy(path)
        if path == self._parts.crawl.folder.resolve():
            self._name_parts(path)

    def _name_parts(self, folder: Path) -> None:
        """Give the parts of the record the names, and contents, that they have now."""
        for path in folder.glob("pages-*"):
            self._copy(path)
        for path in self._disk.glob("pages*"):
            if not (folder / path.name).exists():
                path.unlink(missing_ok=True)

    def _save(self) -> None:
        self._checkpoint()
        self._copy(self._parts.crawl.folder.resolve() / "frontier.db")
        commits.SAVE_SECONDS = inf
        self._saves, self._pages = self._saves + 1, 0
        self._cut_if_due()

    def _copy(self, path: Path) -> None:
        if path.is_file():
            to = self._disk / path.relative_to(self._parts.crawl.folder.resolve())
            to.parent.mkdir(parents=True, exist_ok=True)
            # Parts are compressed in a thread, which the end of the process may catch at this.
            beside = self._disk.with_name(f"copy-{get_ident()}")
            with suppress(FileNotFoundError):  # or it has been renamed meanwhile
                shutil.copyfile(path, beside)
                beside.replace(to)

    def _page(self) -> None:
        self._pages += 1
        self._cut_if_due()
        if self._saves < 2 and self._pages == BETWEEN_SAVES:
            commits.SAVE_SECONDS = 0

    def _cut_if_due(self) -> None:
        if self._saves == 2 and self._pages == self._later:
            os.kill(os.getpid(), signal.SIGKILL)


class ReadOnly(AfterPages):
    """Lets the record's file be only read after TEST_PAGES pages, as if its disk had failed."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._parts = parts_of(crawler)

    def act(self) -> None:
        path = self._parts.crawl.folder.resolve() / "pages.jsonl"
        only_read = os.open(path, os.O_RDONLY)
        for handle in Path("/proc/self/fd").iterdir():
            if handle.exists() and handle.readlink() == path:
                os.dup2(only_read, int(handle.name))


class Raises(AfterPages):
    """Lets TEST_PLACE, such as "frontier.lease" of the crawl's parts, raise after TEST_PAGES pages.

    What it raises nobody expects.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._parts = parts_of(crawler)
        *self._names, self._name = crawler.settings["TEST_PLACE"].split(".")

    def act(self) -> None:
        of: object = self._parts
        for name in self._names:
            of = getattr(of, name)
        assert callable(getattr(of, self._name))
        setattr(of, self._name, self._raises)

    def _raises(self, *_: object, **__: object) -> None:
        raise KeyError("unexpected")


class Stuck(AfterPages):
    """Lets a crawl lease nothing after TEST_PAGES pages, though a URL is due; a second is long."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        observer.STUCK = 1.0
        self._frontier = parts_of(crawler).frontier

    def act(self) -> None:
        self._frontier.lease = lambda now: None  # type: ignore[method-assign]
        self._frontier.next_ready = lambda: 0.0  # type: ignore[method-assign]
