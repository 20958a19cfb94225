"""How requests without a page end; whole crawls are in tests/crawl."""

from __future__ import annotations

import sqlite3
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError

from lswc.crawl import composition
from lswc.crawl.stores import frontier_of
from lswc.errors import ConfigError
from lswc.urls import parse
from tests.crawl.running import SetUp

if TYPE_CHECKING:
    from pathlib import Path
    from typing import NoReturn

    from lswc.frontier import Frontier

URL = "http://a.example/"
GONE = HttpError(Response(URL, 404))
LATE = DownloadTimeoutError()


@pytest.mark.parametrize(
    ("errors", "unanswered"),
    [
        ([LATE, LATE], 2),
        ([LATE, GONE, LATE], 1),
        ([ValueError(), ValueError()], 0),
        ([LATE, ValueError(), LATE], 2),
    ],
)
def test_timeouts_in_a_row_are_counted(
    tmp_path: Path, errors: list[Exception], unanswered: int
) -> None:
    urls = [f"{URL}{number}" for number in range(len(errors))]
    url = parse(URL)
    assert url is not None
    with SetUp(tmp_path, *urls, DOWNLOAD_DELAY=0) as crawl:
        for error in errors:
            failure: Any = SimpleNamespace(value=error, request=crawl.request(crawl.visit()))
            crawl.parts.commits.errback(failure)
        assert crawl.parts.guest.limits.unanswered(url) == unanswered
        assert sum(crawl.parts.frontier.counts().tally["finished"].values()) == len(errors)


def test_a_crawl_that_cannot_be_composed_leaves_its_frontier_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []

    def opens(*given: Any) -> Frontier:
        opened.append(frontier_of(*given))
        return opened[-1]

    def fails(_: object) -> NoReturn:
        raise ConfigError("no readers")

    monkeypatch.setattr(composition, "frontier_of", opens)
    monkeypatch.setattr(composition, "Readers", fails)
    with pytest.raises(ConfigError, match="no readers"):
        _ = SetUp(tmp_path).parts
    (frontier,) = opened
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        frontier.counts()
