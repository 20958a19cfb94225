"""How requests without a page end; whole crawls are in tests/crawl."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.exceptions import DownloadTimeoutError
from scrapy.http import Request, Response
from scrapy.spidermiddlewares.httperror import HttpError
from scrapy.utils.test import get_crawler

from lswc.crawler.scheduler import LEASE, TierScheduler
from lswc.crawler.spider import LswcSpider
from lswc.safety.limits import Limits
from lswc.urls import parse

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
def test_timeouts_in_a_row_are_counted(errors: list[Exception], unanswered: int) -> None:
    scheduler: Any = TierScheduler.__new__(TierScheduler)
    scheduler.limits = Limits(timeouts=2)
    ended: list[str] = []
    scheduler.finish = lambda _, outcome: ended.append(outcome)
    spider: Any = LswcSpider()
    spider.crawler = get_crawler()
    spider.crawler.engine = SimpleNamespace(scheduler=scheduler)
    for error in errors:
        spider.errback(SimpleNamespace(value=error, request=Request(URL, meta={LEASE: 1})))
    url = parse(URL)
    assert url is not None
    assert scheduler.limits.unanswered(url) == unanswered
    assert len(ended) == len(errors)
