"""Where a crawl that is watched is kept: in a folder, or in Redis. It is only read."""

from __future__ import annotations

from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any, Protocol

from lswc.frontier import FRONTIER_FILE, sqlite_report
from lswc.frontier.lookup import find_in_file, find_in_redis
from lswc.guest.control import in_folder
from lswc.monitor import course
from lswc.monitor.course import Point, parsed, read_now

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from redis import Redis

    from lswc.frontier.completion import Completion
    from lswc.frontier.lookup import Standing
    from lswc.frontier.redis_report import Watched
    from lswc.frontier.report import Report, Server
    from lswc.guest.control.store import Kept


class Source(Protocol):
    """A crawl, as it is kept. All methods raise LswcError.

    ``name`` is what people call it by; ``command`` goes on with it. ``kept`` is what was said to
    it.
    """

    name: str
    store: str
    kept: Kept

    def identity(self) -> Mapping[str, str]:
        """Return what crawl it is."""

    def workers(self) -> list[dict[str, Any]]:
        """Return what each worker told last that it does."""

    def course(self, after: int) -> tuple[Sequence[Point], int]:
        """Return the next points of the course, and what to ask with after these."""

    def tallies(self) -> Mapping[str, Mapping[str, int]]:
        """Return the frontier's tallies by kind and name, at once."""

    def report(self, top: int) -> Report:
        """Count the whole frontier, which takes its time."""

    def completion(self, top: int) -> Completion:
        """Return how servers ended, which takes its time too."""

    def server(self, name: str, top: int) -> Server | None:
        """Return what the frontier knows of a server, None if nothing."""

    def servers_like(self, text: str, most: int) -> list[str]:
        """Return names of servers that contain a text."""

    def standing(self, url: str) -> Standing | None:
        """Return where a URL stands, None if the frontier doesn't know it."""

    def folders(self) -> list[Path]:
        """Return the folders with the crawl's logs that this machine has."""


class FolderSource:
    """A crawl of one process. Raises LswcError if there is none in the folder."""

    store = "SQLite"

    def __init__(self, folder: Path) -> None:
        self.kept: Kept = in_folder(folder)
        self.name = str(folder)
        self._folder = folder
        self._file = folder / FRONTIER_FILE

    def identity(self) -> Mapping[str, str]:
        return sqlite_report.identity(self._file)

    def workers(self) -> list[dict[str, Any]]:
        now = read_now(self._folder)
        return [now] if now else []

    def course(self, after: int) -> tuple[Sequence[Point], int]:
        return course.read(self._folder, after)

    def tallies(self) -> Mapping[str, Mapping[str, int]]:
        with sqlite_report.opened(self._file) as db:
            return sqlite_report.tallies(db)

    def report(self, top: int) -> Report:
        return sqlite_report.read(self._file, top)

    def completion(self, top: int) -> Completion:
        from lswc.frontier import completion

        return completion.in_file(self._file, top)

    def server(self, name: str, top: int) -> Server | None:
        return sqlite_report.server(self._file, name, top)

    def servers_like(self, text: str, most: int) -> list[str]:
        return sqlite_report.servers_like(self._file, text, most)

    def standing(self, url: str) -> Standing | None:
        return find_in_file(self._file, url)

    def folders(self) -> list[Path]:
        return [self._folder]


class RedisSource:
    """A crawl of many workers. Raises LswcError if there is none of this name."""

    store = "Redis"

    def __init__(self, client: Redis, name: str = "") -> None:
        from lswc.frontier.redis_report import Watched
        from lswc.frontier.version import check_redis
        from lswc.guest.control.redis_store import (
            InRedis,  # not above: Redis's client isn't for all
        )

        self.name = check_redis(client, name)
        self.kept: Kept = InRedis(client, self.name)
        self._client = client
        self._watched: Watched = Watched(client, self.name)

    def identity(self) -> Mapping[str, str]:
        return self._watched.identity()

    def workers(self) -> list[dict[str, Any]]:
        return [now for text in self._watched.workers() if (now := parsed(text))]

    def course(self, after: int) -> tuple[Sequence[Point], int]:
        lines = self._watched.course(after)
        points = [point for line in lines if (point := Point.of(line)) is not None]
        return points, after + len(lines)

    def tallies(self) -> Mapping[str, Mapping[str, int]]:
        return self._watched.tallies()

    def report(self, top: int) -> Report:
        from lswc.frontier import redis_report

        return redis_report.read(self._client, self.name, top)

    def completion(self, top: int) -> Completion:
        from lswc.frontier import completion

        return completion.in_redis(self._client, self.name, top)

    def server(self, name: str, top: int) -> Server | None:
        return self._watched.server(name, top)

    def servers_like(self, text: str, most: int) -> list[str]:
        return self._watched.servers_like(text, most)

    def standing(self, url: str) -> Standing | None:
        return find_in_redis(self._client, self.name, url)

    def folders(self) -> list[Path]:
        here = [now for now in self.workers() if now.get("host") == gethostname()]
        found = (Path(str(now.get("folder", ""))) for now in here)
        return [folder for folder in found if (folder / "log").is_dir()]
