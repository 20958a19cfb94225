"""Stored crawl: what is kept of a crawl in its folder, or in Redis. It is only read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

from lswc.errors import ConfigError
from lswc.frontier import FRONTIER_FILE, names_redis, sqlite_report
from lswc.guest.control import in_folder
from lswc.monitor import course
from lswc.monitor.course import read_now

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from scrapy.settings import BaseSettings

    from lswc.frontier.report import Reader
    from lswc.guest.control.store import Instructions
    from lswc.monitor.course import Point
    from lswc.monitor.snapshot import Snapshot


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


def stored(place: str, key: str, settings: BaseSettings) -> StoredCrawl:
    """Return the crawl in a folder or, by its key, in Redis, as a worker's folder says where.

    Raises LswcError.
    """
    if names_redis(place):
        raise ConfigError(f"{place}: name the folder of a worker")
    return StoredInFolder(Path(place))
