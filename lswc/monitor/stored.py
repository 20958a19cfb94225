"""Stored crawl: what is kept of a crawl in its folder, or in Redis. It is only read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING

from lswc.crawl.crawl_folder import names_a_redis
from lswc.frontier import FRONTIER_FILE, names_redis
from lswc.frontier.contract import check_format
from lswc.frontier.store import report as sqlite_report
from lswc.guest.control import in_folder
from lswc.monitor import course
from lswc.monitor.course import Point, all_parsed, read_now
from lswc.monitor.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from redis import Redis
    from scrapy.settings import BaseSettings

    from lswc.frontier.redis_report import RedisReader
    from lswc.frontier.report import Reader
    from lswc.frontier.sharded_report import ShardedReader
    from lswc.guest.control.store import Instructions


class StoredCrawl(ABC):
    """A crawl, as it is stored. All methods raise LswcError.

    ``name`` is what people call it by; ``kept`` holds the instructions to it.
    """

    name: str
    store: str
    kept: Instructions

    @abstractmethod
    def frontier(self) -> AbstractContextManager[Reader]:
        """Open the frontier to be read."""

    @abstractmethod
    def reported(self) -> list[Snapshot]:
        """Return the latest snapshot of each worker."""

    @abstractmethod
    def course(self, after: int) -> tuple[Sequence[Point], int]:
        """Return the next points of the course, and what to ask with after these."""

    @abstractmethod
    def folders(self) -> list[Path]:
        """Return the folders with the crawl's logs that this machine has."""


class StoredInFolder(StoredCrawl):
    """A crawl of one process. Raises LswcError if there is none in the folder."""

    store = "SQLite"

    def __init__(self, folder: Path) -> None:
        self.kept = in_folder(folder)
        self.name = str(folder)
        self._folder = folder

    def frontier(self) -> AbstractContextManager[Reader]:
        return sqlite_report.opened(self._folder / FRONTIER_FILE)

    def reported(self) -> list[Snapshot]:
        now = read_now(self._folder)
        return [now] if now is not None else []

    def course(self, after: int) -> tuple[Sequence[Point], int]:
        return course.read(self._folder, after)

    def folders(self) -> list[Path]:
        return [self._folder]


class StoredInRedis(StoredCrawl):
    """A crawl of many workers. Raises LswcError if there is none of this name."""

    store = "Redis"

    def __init__(self, clients: Sequence[Redis], name: str = "") -> None:
        from lswc.frontier.sharded_report import opened_all  # not above: Redis isn't for all
        from lswc.guest.control.redis_store import InRedis
        from lswc.guest.sharded import on_servers

        self._clients = clients
        with opened_all(clients, name) as reader:
            check_format(reader.identity())
            self.name = reader.name
        alone = len(clients) == 1
        self.kept = InRedis(clients[0], self.name) if alone else on_servers(clients, self.name)

    def frontier(self) -> AbstractContextManager[RedisReader | ShardedReader]:
        from lswc.frontier.sharded_report import opened_all

        return opened_all(self._clients, self.name)

    def reported(self) -> list[Snapshot]:
        with self.frontier() as reader:
            return all_parsed(reader.workers.told(), Snapshot)

    def course(self, after: int) -> tuple[Sequence[Point], int]:
        with self.frontier() as reader:
            lines = reader.workers.course(after)
        return all_parsed(lines, Point), after + len(lines)

    def folders(self) -> list[Path]:
        workers = [worker for now in self.reported() for worker in now.workers]
        found = (Path(worker.folder) for worker in workers if worker.host == gethostname())
        return [folder for folder in found if (folder / "log").is_dir()]


def stored(place: str, key: str, settings: BaseSettings) -> StoredCrawl:
    """Return the crawl in a folder or, by its key, in Redis, as a worker's folder says where.

    Raises LswcError.
    """
    if not (in_redis := names_redis(place)) and not names_a_redis(Path(place)):
        return StoredInFolder(Path(place))
    from lswc.crawl import workers  # not above: Redis's client isn't for all

    folder, address = (Path(), place) if in_redis else (Path(place), "")
    return StoredInRedis(*workers.named(settings, address, key, folder))
