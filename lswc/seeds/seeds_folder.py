"""Seeds that people put into a crawl's folder while it runs."""

from __future__ import annotations

import logging
from asyncio import ensure_future, sleep
from itertools import islice
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.asyncio import create_looping_call

from lswc.crawl.composition import parts_of
from lswc.errors import ConfigError, LswcError
from lswc.plurals import numbered

if TYPE_CHECKING:
    from asyncio import Future
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.statscollectors import StatsCollector

    from lswc.crawl.commits import Commits
    from lswc.crawl.leases import Leases
    from lswc.seeds.candidates import Asked, Candidate

FOLDER = "seeds.d"
"""Name of the folder, in the crawl's own, whose ``*.txt`` are taken."""

LOOK = 1.0
"""Seconds between two looks."""

AT_ONCE = 200
"""URLs that are offered in one transaction: others run between two."""

NAMED = 5
"""Wrong lines of a file that the log names."""

logger = logging.getLogger(__name__)


_Stamp = tuple[int, int]
"""When a file was changed (ns), and its bytes."""


class SeedsFolderExtension:
    """Offers the URLs of files in ``seeds.d``, each as soon as it stays the same for a look.

    A file that changes is read again; of its lines only the new ones count. When the crawl is
    started again all are read: the frontier knows what it has.
    """

    def __init__(
        self, folder: Path, leases: Leases, commits: Commits, stats: StatsCollector
    ) -> None:
        self._folder = folder / FOLDER
        self._leases, self._commits = leases, commits
        self._stats = stats
        self._seen: dict[Path, _Stamp] = {}
        self._taken: dict[Path, _Stamp] = {}
        self._met: set[int] = set()
        self._taking: Future[None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        parts = parts_of(crawler)
        extension = cls(parts.crawl.folder, parts.leases, parts.commits, crawler.stats)
        crawler.signals.connect(extension.opened, signals.spider_opened)
        crawler.signals.connect(extension.idle, signals.spider_idle)
        crawler.signals.connect(extension.closed, signals.spider_closed)
        return extension

    def opened(self) -> None:
        """Look now and then."""
        self._looking = create_looping_call(self.look)
        self._looking.start(LOOK)

    def closed(self) -> None:
        """Look no more."""
        if self._looking.running:
            self._looking.stop()
        if self._taking is not None:
            self._taking.cancel()

    def idle(self) -> None:
        """Keep the crawl from ending while there are files to take. Raises DontCloseSpider."""
        if self._commits.failed:
            return
        self.look()
        new = (self._taken.get(path) != stamp for path, stamp in self._stamps().items())
        if self._taking is not None or any(new):
            raise DontCloseSpider

    def look(self) -> None:
        """Take the next file that is new, or has changed, and isn't written just now."""
        if self._commits.failed or (self._taking is not None and not self._taking.done()):
            return
        self._taking = None
        seen, self._seen = self._seen, self._stamps()
        for path, stamp in self._seen.items():
            if stamp == seen.get(path) != self._taken.get(path):
                self._taken[path] = stamp
                self._taking = ensure_future(self._take(path))
                return

    def _stamps(self) -> dict[Path, _Stamp]:
        stamps = {}
        for path in sorted(self._folder.glob("*.txt")):
            try:
                status = path.stat()
            except OSError:  # it is gone again
                continue
            stamps[path] = (status.st_mtime_ns, status.st_size)
        return stamps

    async def _take(self, path: Path) -> None:
        from lswc.seeds.candidates import Asked  # not above: most crawls have no such file

        wrong: list[str] = []
        taken = left = 0
        asked = Asked(wrong=lambda line: self._note(wrong, path, line))
        try:
            candidates = _candidates(path, asked)
            while some := list(islice(candidates, AT_ONCE)):
                new = [url for url, *_ in some if self._is_new(path, url)]
                offered = self._leases.offer_seeds(new)
                taken, left = taken + offered, left + len(new) - offered
                await sleep(0)
        except ConfigError as error:
            logger.warning("%s: %s", path.name, error)
            self._stats.inc_value("lswc/seeds/files that can't be read")
        except LswcError as error:
            self._commits.fail(error)
            return
        self._tell(path, taken, left, wrong)

    def _is_new(self, path: Path, line: str) -> bool:
        key = hash((path.name, line))
        is_new = key not in self._met
        self._met.add(key)
        return is_new

    def _note(self, wrong: list[str], path: Path, line: str) -> None:
        if self._is_new(path, line):
            wrong.append(line[:80])

    def _tell(self, path: Path, taken: int, left: int, wrong: list[str]) -> None:
        self._stats.inc_value("lswc/seeds/taken", taken)
        logger.info("%s: %s taken, %d out of scope", path.name, numbered(taken, "seed"), left)
        if wrong:
            self._stats.inc_value("lswc/seeds/wrong lines", len(wrong))
            named = ", ".join(map(repr, wrong[:NAMED]))
            lines = numbered(len(wrong), "line")
            logger.warning("%s: no URL in %s: %s", path.name, lines, named)


def _candidates(path: Path, asked: Asked) -> Iterator[Candidate]:
    """Return the URLs of a file, whatever its format. Raises SeedError, while it is read too."""
    from lswc.seeds.formats import FORMATS, recognised

    return FORMATS[recognised(path)](path, asked)
