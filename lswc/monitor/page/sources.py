"""Sources of a crawl that is watched: its folder, or Redis. They are only read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any

from lswc.frontier import FRONTIER_FILE, sqlite_report
from lswc.guest.control import in_folder
from lswc.monitor import course
from lswc.monitor.course import Point, parsed, read_now

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager

    from redis import Redis

    from lswc.frontier.redis_report import RedisReader
    from lswc.frontier.report import Completion, Reader, Report, Server, Standing
    from lswc.guest.control.store import Kept


class Source(ABC):
    """A crawl, as it is kept. All methods raise LswcError.

    ``name`` is what people call it by; ``command`` goes on with it. ``kept`` is what was said to
    it.
    """

    name: str
    store: str
    kept: Kept

    @abstractmethod
    def reader(self) -> AbstractContextManager[Reader]:
        """Open the frontier to be read."""

    @abstractmethod
    def workers(self) -> list[dict[str, Any]]:
        """Return what each worker told last that it does."""

    @abstractmethod
    def course(self, after: int) -> tuple[Sequence[Point], int]:
        """Return the next points of the course, and what to ask with after these."""

    @abstractmethod
    def folders(self) -> list[Path]:
        """Return the folders with the crawl's logs that this machine has."""

    def identity(self) -> Mapping[str, str]:
        """Return what crawl it is."""
        with self.reader() as reader:
            return reader.identity()

    def tallies(self) -> Mapping[str, Mapping[str, int]]:
        """Return the frontier's tallies by kind and name, at once."""
        with self.reader() as reader:
            return reader.tallies()

    def report(self, top: int) -> Report:
        """Count the whole frontier, which takes its time."""
        with self.reader() as reader:
            return reader.report(top)

    def completion(self, top: int) -> Completion:
        """Return how servers ended, which takes its time too."""
        with self.reader() as reader:
            return reader.completion(top)

    def server(self, name: str, top: int) -> Server | None:
        """Return what the frontier knows of a server, None if nothing."""
        with self.reader() as reader:
            return reader.server(name, top)

    def servers_like(self, text: str, most: int) -> list[str]:
        """Return names of servers that contain a text."""
        with self.reader() as reader:
            return reader.servers_like(text, most)

    def standing(self, url: str) -> Standing | None:
        """Return where a URL stands, None if the frontier doesn't know it."""
        with self.reader() as reader:
            return reader.standing(url)


class FolderSource(Source):
    """A crawl of one process. Raises LswcError if there is none in the folder."""

    store = "SQLite"

    def __init__(self, folder: Path) -> None:
        self.kept: Kept = in_folder(folder)
        self.name = str(folder)
        self._folder = folder

    def reader(self) -> AbstractContextManager[Reader]:
        return sqlite_report.opened(self._folder / FRONTIER_FILE)

    def workers(self) -> list[dict[str, Any]]:
        now = read_now(self._folder)
        return [now] if now else []

    def course(self, after: int) -> tuple[Sequence[Point], int]:
        return course.read(self._folder, after)

    def folders(self) -> list[Path]:
        return [self._folder]


class RedisSource(Source):
    """A crawl of many workers. Raises LswcError if there is none of this name."""

    store = "Redis"

    def __init__(self, client: Redis, name: str = "") -> None:
        from lswc.frontier import redis_report  # not above: Redis's client isn't for all
        from lswc.guest.control.redis_store import InRedis

        self._client = client
        with redis_report.opened(client, name) as reader:
            reader.check_version()
            self.name = reader.name
        self.kept: Kept = InRedis(client, self.name)

    def reader(self) -> AbstractContextManager[RedisReader]:
        from lswc.frontier import redis_report

        return redis_report.opened(self._client, self.name)

    def workers(self) -> list[dict[str, Any]]:
        with self.reader() as reader:
            return [now for text in reader.workers() if (now := parsed(text))]

    def course(self, after: int) -> tuple[Sequence[Point], int]:
        with self.reader() as reader:
            lines = reader.course(after)
        points = [point for line in lines if (point := Point.of(line)) is not None]
        return points, after + len(lines)

    def folders(self) -> list[Path]:
        here = [now for now in self.workers() if now.get("host") == gethostname()]
        found = (Path(str(now.get("folder", ""))) for now in here)
        return [folder for folder in found if (folder / "log").is_dir()]
