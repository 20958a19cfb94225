"""A worker's folder in which nothing was fetched yet: alone, and beside another's."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from lswc.archive import wacz
from lswc.archive.appended_files import ArchiveError
from lswc.archive.collection import collected
from lswc.corpus import writing
from lswc.corpus.stored_pages import pieces
from lswc.frontier.rules.visit import Attempt, Exchange
from lswc.lab.trace.from_log import as_trace, log, to_trace
from lswc.seeds.formats import recognised
from lswc.workbench.replay import pywb_of
from tests.crawl.running import SetUp

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def new(tmp_path: Path) -> Path:
    with SetUp(tmp_path) as crawl:
        assert crawl.parts.frontier.pending == 1
    return tmp_path / "crawl"


@pytest.fixture
def other(tmp_path: Path) -> Path:
    folder = tmp_path / "other"
    folder.mkdir()
    with SetUp(folder, LSWC_ARCHIVE="all") as crawl:
        visit = crawl.visit()
        answer = Exchange(b"GET / HTTP/1.1\r\n\r\n", bytearray(b"HTTP/1.1 404\r\n\r\n"), [b"no"])
        visit.attempts = [Attempt(visit.url, datetime.now(UTC), 404, exchange=answer)]
        crawl.parts.commits.commit(visit, "status 404")
    return folder / "crawl"


def traced(crawl: Path) -> None:
    with ExitStack() as stack:
        stack.enter_context(as_trace(crawl))


def replayed(crawl: Path) -> None:
    with pywb_of(collected([crawl]), "wayback"):
        pass


USES: dict[str, Callable[[Path], object]] = {
    "analyze": traced,
    "corpus": lambda crawl: writing.write([crawl], crawl / "corpus"),
    "replay": replayed,
    "trace": lambda crawl: to_trace(crawl, crawl / "trace"),
    "wacz": lambda crawl: wacz.write([crawl], crawl / "one.wacz"),
}


@pytest.mark.parametrize("use", USES)
def test_alone_it_is_said_that_nothing_was_fetched_yet(new: Path, use: str) -> None:
    before = set(new.rglob("*"))
    with pytest.raises(ArchiveError, match="crawl: nothing was fetched yet"):
        USES[use](new)
    assert set(new.rglob("*")) == before


def test_a_folder_of_pages_whose_log_is_gone_is_no_new_one(new: Path, other: Path) -> None:
    (new / "pages.jsonl").write_text("{}\n", "utf-8")
    for folders in ((new,), (new, other), (other, new)):
        with pytest.raises(ArchiveError, match="crawl: it is not a crawl folder: it has no crawl"):
            log(*folders)


@pytest.mark.parametrize("is_first", [True, False])
def test_beside_another_it_counts_as_nothing(new: Path, other: Path, is_first: bool) -> None:
    crawls = [new, other] if is_first else [other, new]
    attempts, links = log(*crawls)
    assert attempts.equals(log(other)[0])
    assert len(links) == 0
    with as_trace(crawls[0], others=crawls[1:]) as trace:
        assert (trace / "urls.parquet").exists()
    assert pieces(crawls) == pieces([other])
    assert wacz.write(crawls, other / "one.wacz").captures == 1
    assert recognised(new) == recognised(other) == "crawl"
