"""What Scrapy says of every page is formatted only where it is shown."""

from __future__ import annotations

import logging

import pytest
from scrapy import Request, Spider
from scrapy.http import Response

from lswc.monitor.log_formatter import ShownFormatter

URL = "http://www.example.co.th/"


@pytest.mark.parametrize(("level", "shown"), [(logging.INFO, False), (logging.DEBUG, True)])
def test_lines_for_debug_are_made_where_they_are_shown(
    level: int, shown: bool, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(level, "scrapy")
    response, spider = Response(URL, request=Request(URL)), Spider("any")
    formatter = ShownFormatter()
    assert bool(formatter.crawled(Request(URL), response, spider)) is shown
    assert bool(formatter.scraped({"url": URL}, response, spider)) is shown
