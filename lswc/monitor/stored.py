"""Stored crawl: what is kept of a crawl in folders, or by workers over Redis. It is only read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING

import msgspec

from lswc.crawl.crawl_folder import remembered
from lswc.errors import ConfigError, LswcError, StorageError
from lswc.frontier import FRONTIER_FILE, FrontierError, names_redis
from lswc.frontier.exchange import messages, status
from lswc.frontier.exchange.owners import PARTS, part_of
from lswc.frontier.rules.contract import check_format
from lswc.frontier.rules.report import SiteList, SiteOrder
from lswc.frontier.store import report as sqlite_report
from lswc.guest.control import in_folder
from lswc.monitor import course
from lswc.monitor.course import CourseSum, Point, all_parsed, parsed, read_now
from lswc.monitor.members import crawl_in
from lswc.monitor.questions import (
    Alike,
    Answer,
    CountAll,
    Known,
    OfServer,
    OfUrl,
    OneSite,
    Sites,
    answer_of,
    answered,
    encode,
)
from lswc.monitor.snapshot import Snapshot
from lswc.monitor.snapshot_sum import summed
from lswc.outcomes import OF_ELSEWHERE
from lswc.plurals import numbered
from lswc.urls import parse, site_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scrapy.settings import BaseSettings

    from lswc.frontier.exchange.post import Post
    from lswc.frontier.rules.report import OfSite, Server, SiteTotals
    from lswc.guest.control.store import Instructions
    from lswc.monitor.questions import Question

ANSWER_SECONDS = 8.0
"""Seconds for which a worker's answer is waited for."""

COUNTING = 300.0
"""Seconds for which a full count of a worker's is waited for."""

AT_ONCE = 16
"""Workers that are asked to count at a time."""

COURSE_POINTS = 100
"""Points of a worker's course that are read to go on with it."""


class StoredCrawl(ABC):
    """A crawl, as it is stored. All methods raise LswcError.

    ``name`` is what people call it by; ``kept`` holds the instructions to it.
    """

    name: str
    store: str
    kept: Instructions

    @abstractmethod
    def identity(self) -> dict[str, str]:
        """Return what crawl it is."""

    @abstractmethod
    def answers(self, question: Question, server: str = "") -> Iterator[Answer]:
        """Yield what each frontier of the crawl answers; that which owns ``server`` comes first."""

    @abstractmethod
    def reported(self) -> list[Snapshot]:
        """Return the latest snapshot of each worker."""

    @abstractmethod
    def course(self, after: int) -> tuple[Sequence[Point], int]:
        """Return the next points of the course, and what to ask with after these."""

    @abstractmethod
    def folders(self) -> list[Path]:
        """Return the folders with the crawl's logs that this machine has."""

    def gaps(self) -> list[str]:
        """Return what isn't known of the crawl here, in sentences."""
        return []

    def elsewhere(self) -> list[str]:
        """Return the workers, host:folder, whose folders aren't on this machine."""
        return []

    def gaps_of(self, url: str) -> list[str]:
        """Return why what is known here of a URL may not be all, in sentences."""
        return []

    def counted(self, top: int) -> Snapshot:
        """Return a snapshot by a full count, whose lists have ``top`` rows."""
        found = [answer.snapshot for answer in self.answers(CountAll(top))]
        return summed([snapshot for snapshot in found if snapshot is not None], top)

    def server(self, name: str, top: int) -> Server | None:
        """Return what is known of a server, and its next ``top`` URLs; None if nothing."""
        answers = self.answers(OfServer(name, top), name)
        return next((one.server for one in answers if one.server is not None), None)

    def alike(self, text: str, most: int) -> list[str]:
        """Return names of at most ``most`` servers that contain a text."""
        names = (name for one in self.answers(Alike(text, most)) for name in one.alike)
        return list(dict.fromkeys(names))[:most]

    def sites(self, question: Sites) -> SiteList:
        """Return the first sites of all frontiers."""
        lists = [answer.sites for answer in self.answers(question)]
        found = [one for part in lists for one in part.sites]
        found.sort(key=lambda one: _place_in(question.order, one))
        return SiteList(sum(part.number for part in lists), found[: question.top])

    def site(self, name: str, top: int) -> OfSite | None:
        """Return what is known of a site, with ``top`` servers; None if nothing."""
        answers = self.answers(OneSite(name, top), name)
        return next((one.site for one in answers if one.site is not None), None)

    def known(self, url: str) -> Known:
        """Return what is known of a URL, by its canonical form.

        Its owner may have been given it by a worker that finished it: then that one is named.
        """
        parts, first = parse(url), Known()
        for answer in self.answers(OfUrl(url), "" if parts is None else parts.server):
            standing = answer.known.standing
            if standing is None:
                continue
            if not (standing.outcome or "").startswith(OF_ELSEWHERE):
                return answer.known
            first = answer.known if first.standing is None else first
        return first


class StoredInFolders(StoredCrawl):
    """A crawl of one process, or what folders have of several. Raises LswcError if one has none."""

    store = "SQLite"

    def __init__(self, folders: Sequence[Path], kept: Instructions) -> None:
        self.kept = kept
        self.name = ", ".join(map(str, folders))
        self._folders = list(folders)
        about = [self._about(folder) for folder in folders]
        for folder, one in zip(folders, about, strict=True):
            check_format(one)
            if any(one.get(key) != about[0].get(key) for key in ("language", "strategy", "crawl")):
                raise ConfigError(f"{folder} has another crawl than {folders[0]}")
        self._identity = about[0]
        self._sum = CourseSum()

    @staticmethod
    def _about(folder: Path) -> dict[str, str]:
        with sqlite_report.opened(folder / FRONTIER_FILE) as reader:
            return reader.identity()

    def identity(self) -> dict[str, str]:
        return self._identity

    def answers(self, question: Question, server: str = "") -> Iterator[Answer]:
        for folder in self._folders:
            with sqlite_report.opened(folder / FRONTIER_FILE) as reader:
                yield answered(reader, question)

    def reported(self) -> list[Snapshot]:
        return [now for folder in self._folders if (now := read_now(folder)) is not None]

    def course(self, after: int) -> tuple[Sequence[Point], int]:
        if len(self._folders) == 1:
            return course.read(self._folders[0], after)
        return self._sum.go_on(dict(enumerate(map(course.read_all, self._folders))), after)

    def folders(self) -> list[Path]:
        return self._folders

    def _own_parts(self) -> set[int]:
        """Return the parts of the sites that the workers of these folders have."""
        own = set[int]()
        for folder in self._folders:
            with sqlite_report.opened(folder / FRONTIER_FILE) as reader:
                own |= reader.own_parts()
        return own

    def gaps(self) -> list[str]:
        place = remembered(self._folders[0])
        if place is None or not (others := PARTS - len(self._own_parts())):
            return []
        return [
            f"{numbered(others, 'part')} of {PARTS} of the sites are other workers': name their "
            f"folders, too, or the Redis, {place.address} --key {place.key}"
        ]

    def gaps_of(self, url: str) -> list[str]:
        place, parts = remembered(self._folders[0]), parse(url)
        if place is None or parts is None:
            return []
        if part_of(site_of(parts.server)) in self._own_parts():
            return []
        here = "this worker's" if len(self._folders) == 1 else "one of these workers'"
        return [
            f"Its site isn't {here}: ask all, `lswc why {place.address} --key {place.key} {url}`"
        ]


class StoredInRedis(StoredCrawl):
    """A crawl of many workers. Raises LswcError if there is none of this name.

    Workers that run are asked; of others the folders are read, as far as they are on this machine.
    """

    store = "Redis"

    def __init__(self, post: Post) -> None:
        from lswc.guest.control.redis_store import InRedis  # not above: Redis isn't for all

        self._post = post
        self.name = post.name
        self.kept = InRedis(post)
        self._crawl, _ = crawl_in(post)
        identity = msgspec.json.decode(self._crawl)
        if identity.get("messages") != str(messages.FORMAT):
            raise FrontierError(f"the crawl {post.name} is one of another version of lswc")
        self._identity = {str(key): str(value) for key, value in identity.items()}
        self._gaps: list[str] = []
        self._sum = CourseSum()

    def identity(self) -> dict[str, str]:
        return self._identity

    def _names(self) -> dict[int, str]:
        """Return the workers, host:folder by number, of which something may be known."""
        _, owners = crawl_in(self._post)
        statuses = self._post.statuses()
        numbers = sorted({*owners.members, *owners.gone} - owners.lost.keys())
        names = dict.fromkeys(numbers, "")
        for number in names.keys() & statuses.keys():
            names[number] = status.decode(statuses[number]).name
        return names

    def _folder(self, number: int, name: str) -> Path | None:
        """Return the folder of a worker if it is on this machine."""
        host, _, path = name.partition(":")
        file = Path(path) / FRONTIER_FILE
        if host != gethostname() or not path or not file.is_file():
            return None
        with suppress(LswcError), sqlite_report.opened(file) as reader:
            about = reader.identity()
            known = about.get("worker"), about.get("crawl", "").encode()
            return Path(path) if known == (str(number), self._crawl) else None
        return None

    def answers(self, question: Question, server: str = "") -> Iterator[Answer]:
        names = self._names()
        alive = self._post.alive(names)
        if isinstance(question, CountAll):
            yield from self._counts(question, names, alive)
            return
        owner = crawl_in(self._post)[1].of_part[part_of(site_of(server))] if server else 0
        for number in sorted(names, key=lambda one: one != owner):
            answer = self._ask(number, names[number], question, number in alive)
            if answer is not None:
                yield answer
            elif number == owner:
                raise StorageError(
                    f"worker {number} ({names[number]}) has {server}: it doesn't answer, and its "
                    "folder isn't on this machine"
                )

    def _ask(self, number: int, name: str, question: Question, runs: bool) -> Answer | None:
        """Return what a worker answers, or its folder; None if neither is to be had."""
        if (folder := self._folder(number, name)) is not None:
            with sqlite_report.opened(folder / FRONTIER_FILE) as reader:
                return answered(reader, question)
        if not runs:
            return None
        seconds = COUNTING if isinstance(question, CountAll) else ANSWER_SECONDS
        packed = self._post.ask(number, encode(question), seconds)
        answer = None if packed is None else answer_of(packed)
        if answer is not None and answer.error:
            raise StorageError(f"worker {number} ({name}): {answer.error}")
        return answer

    def _counts(
        self, question: CountAll, names: dict[int, str], alive: set[int]
    ) -> Iterator[Answer]:
        """Yield the count of each worker, or what it reported last."""
        gaps: list[str] = []
        snapshots = self._post.snapshots()
        with ThreadPoolExecutor(AT_ONCE) as threads:
            found = threads.map(
                lambda number: self._ask(number, names[number], question, number in alive), names
            )
            for (number, name), answer in zip(names.items(), found, strict=True):
                if answer is not None and answer.snapshot is not None:
                    yield answer
                    continue
                last = parsed(snapshots.get(number, b""), Snapshot)
                gaps.append(_gap(number, name, last))
                if last is not None:
                    yield Answer(snapshot=last)
        self._gaps = gaps

    def gaps(self) -> list[str]:
        return self._gaps

    def reported(self) -> list[Snapshot]:
        names, snapshots = self._names(), self._post.snapshots()
        found = []
        for number, name in names.items():
            last = parsed(snapshots.get(number, b""), Snapshot)
            if last is None and (folder := self._folder(number, name)) is not None:
                last = read_now(folder)
            found += [last] if last is not None else []
        return found

    def course(self, after: int) -> tuple[Sequence[Point], int]:
        names = self._names()
        lines = self._post.courses(names, *([COURSE_POINTS] if after else []))
        points = {number: all_parsed(texts, Point) for number, texts in lines.items()}
        for number, name in names.items():
            if not points[number] and (folder := self._folder(number, name)) is not None:
                points[number] = course.read_all(folder)
        return self._sum.go_on(points, after)

    def folders(self) -> list[Path]:
        found = (self._folder(number, name) for number, name in self._names().items())
        return [folder for folder in found if folder is not None]

    def gaps_of(self, url: str) -> list[str]:
        names = ", ".join(self.elsewhere())
        return [f"The logs of these workers aren't on this machine: {names}"] if names else []

    def elsewhere(self) -> list[str]:
        names = self._names().items()
        return [name or f"worker {n}" for n, name in names if self._folder(n, name) is None]


def _place_in(order: SiteOrder, site: SiteTotals) -> tuple[float, str]:
    """Return what a site is sorted by, as a frontier sorts (``site_report``)."""
    number = 0 if order == SiteOrder.NAME else getattr(site, order)
    return -number, site.name


def _gap(number: int, name: str, last: Snapshot | None) -> str:
    """Say what isn't known of a worker."""
    what = "nothing of it is counted"
    if last is not None:
        when = f"{datetime.fromtimestamp(last.time, UTC):%Y-%m-%d %H:%M:%S}"
        what = f"its latest report is counted, at {when} UTC"
    return (
        f"worker {number} ({name or 'nobody knows where'}) doesn't answer, and its folder isn't on "
        f"this machine: {what}"
    )


def stored(
    places: str | Sequence[str], key: str, settings: BaseSettings
) -> StoredInFolders | StoredInRedis:
    """Return the crawl in folders or, by its key, in Redis. Raises LswcError.

    What people instruct a worker is in Redis, which its folder names.
    """
    names = [places] if isinstance(places, str) else list(places)
    if len(names) == 1 and names_redis(names[0]):
        return StoredInRedis(post_of(names[0], key, settings))
    if wrong := [name for name in names if names_redis(name)]:
        raise ConfigError(f"name folders, or one Redis: {wrong[0]} and others are too many")
    folders = [Path(name) for name in names]
    kept: Instructions = in_folder(folders[0])
    if remembered(folders[0]) is not None:
        from lswc.guest.control.redis_store import InRedis  # not above: Redis isn't for all

        kept = InRedis(post_of(names[0], key, settings))
    return StoredInFolders(folders, kept)


def post_of(place: str, key: str, settings: BaseSettings) -> Post:
    """Return the way to a crawl in Redis, which is named, or by the folder of a worker.

    Raises LswcError.
    """
    from lswc.crawl import workers  # not above: Redis's client isn't for all

    address, folder = (place, Path()) if names_redis(place) else ("", Path(place))
    if not address and remembered(folder) is None:
        raise ConfigError(f"{place} is no folder of a worker that shares a crawl: name its Redis")
    return workers.named(settings, address, key, folder)


def folders_of(
    places: Sequence[str], key: str, settings: BaseSettings
) -> tuple[list[Path], list[str]]:
    """Return the folders of a crawl on this machine, and the workers whose folders are elsewhere.

    A Redis stands for the folders of all workers. Raises LswcError.
    """
    if not any(map(names_redis, places)):
        return [Path(name) for name in places], []
    crawl = stored(places, key, settings)
    found = crawl.folders()
    if not found:
        raise ConfigError(f"no folder of a worker of {crawl.name} is on this machine")
    return found, crawl.elsewhere()
