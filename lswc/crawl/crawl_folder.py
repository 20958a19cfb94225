"""Crawl folder: what is checked of it before anything is fetched."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from lswc.archive import page_record
from lswc.archive.check.recovery import refuse_older
from lswc.archive.collection import collected
from lswc.errors import ConfigError, repair, writing
from lswc.files import whole
from lswc.frontier import FRONTIER_FILE, MEMORY, WORKER_FILE
from lswc.frontier.store import report as sqlite_report
from lswc.frontier.store.lock import lock

if TYPE_CHECKING:
    from collections.abc import Iterator


def check_records(folder: Path, store: str) -> None:
    """Refuse records whose frontier is gone, or older than they are. Raises LswcError."""
    if not has_records(folder):
        return
    lock(folder).close()  # or a running crawl's files would be ahead of what is read of them
    committed = None if store == MEMORY else sqlite_report.lengths(folder / FRONTIER_FILE)
    if committed is None:
        raise ConfigError(
            f"{folder} holds the record of another crawl, whose frontier isn't there, or is empty: "
            f"put {FRONTIER_FILE} and its -wal back, choose another folder with LSWC_CRAWL, or "
            f"{repair(folder)} makes it anew from the record and the log"
        )
    refuse_older(folder, committed)


def has_records(folder: Path) -> bool:
    """Tell whether a folder holds records of pages, or what was archived of them."""
    recorded = any(page_record.lengths(folder).values())
    return recorded or any(any((folder / name).glob("*")) for name in ("warc", "log"))


def earlier_crawls(given: list[str], folder: Path) -> tuple[Path, ...]:
    """Return the folders of LSWC_RECRAWL, and those that these visited again.

    For a crawl in ``folder``. Raises ConfigError.
    """
    earlier = tuple(Path(name) for name in given)
    for crawl in earlier:
        if not any((crawl / "warc").glob("*.cdxj")):
            raise ConfigError(f"LSWC_RECRAWL: {crawl} isn't the folder of a crawl that archived")
        if crawl.resolve() == folder.resolve():
            raise ConfigError(
                f"LSWC_RECRAWL: {crawl} is this crawl's own folder: choose a new one, LSWC_CRAWL"
            )
    stored = (one for one in collected(earlier).crawls if any((one / "warc").glob("*.cdxj")))
    return tuple(crawl for crawl in stored if crawl.resolve() != folder.resolve())


class Place(NamedTuple):
    """Where a worker's crawl is: ``address`` of its Redis without a login, ``key`` its name there.

    ``worker`` is the number of this one among its workers.
    """

    address: str
    key: str
    worker: str


def without_login(address: str) -> str:
    """Return the URL of a Redis without name and password."""
    url = urlsplit(address)
    query = [pair for pair in parse_qsl(url.query) if pair[0] not in ("username", "password")]
    host = url.netloc.rpartition("@")[2]
    return url._replace(netloc=host, query=urlencode(query)).geturl()


def remember(folder: Path, place: Place) -> None:
    """Keep where a worker's crawl is. Raises LswcError."""
    if remembered(folder) != place:
        with writing(folder / WORKER_FILE), whole(folder / WORKER_FILE) as beside:
            beside.write_text(json.dumps(place._asdict(), indent=1) + "\n", "utf-8")


def remembered(folder: Path) -> Place | None:
    """Return where a worker's crawl is; None if the folder doesn't say."""
    try:
        found = json.loads((folder / WORKER_FILE).read_text("utf-8"))
        return Place(*(str(found[name]) for name in Place._fields))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def names_a_redis(folder: Path) -> bool:
    """Tell whether a folder is that of a worker, which shares a crawl."""
    return remembered(folder) is not None


def make_writable(folder: Path) -> None:
    """Make a crawl's folder, if it isn't there. Raises ConfigError if it can't be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"can't make the crawl folder {folder}: {error.strerror}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ConfigError(f"can't write to the crawl folder {folder}: choose one with LSWC_CRAWL")


@contextmanager
def begun_anew(folder: Path) -> Iterator[None]:
    """Find mistakes as if a crawl's folder weren't there; then what it holds is deleted.

    It stays as it was if any is raised. Raises FrontierError if another process crawls into it.
    """
    if not folder.is_dir():
        yield
        return
    aside = folder.with_name(f"{folder.name}.before")
    with closing(lock(folder)):
        with writing(aside):
            shutil.rmtree(aside, ignore_errors=True)  # of a process that was killed here
            folder.rename(aside)
        try:
            yield
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            aside.rename(folder)
            raise
        with writing(aside):
            shutil.rmtree(aside)
