"""A redirect leads where its header says, or the one link of its page."""

from __future__ import annotations

import pytest
from scrapy import Request, Spider
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from lswc.crawl.guest_middleware import RedirectMiddleware

HTML = {"Content-Type": "text/html"}
MOVED = "<h1>Moved</h1>The document has moved <a href='{}'>here</a>."


class Ours(Spider):
    """It has parts, as a spider of lswc's."""

    parts = None


def led_to(status: int, body: str, headers: dict[str, str]) -> str | None:
    middleware = RedirectMiddleware.from_crawler(get_crawler(Ours))
    request = Request("http://a.example/old")
    response = Response(request.url, status, headers, body.encode(), request=request)
    answer = middleware.process_response(request, response)
    return answer.url if isinstance(answer, Request) else None


@pytest.mark.parametrize(
    ("status", "body", "headers", "expected"),
    [
        (301, MOVED.format("/new"), HTML, "http://a.example/new"),
        (302, MOVED.format("http://b.example/?q=ก"), HTML, "http://b.example/?q=%E0%B8%81"),
        (308, "<meta http-equiv=refresh content='0;url=new'>", HTML, "http://a.example/new"),
        (301, MOVED.format("/new"), HTML | {"Location": "/said"}, "http://a.example/said"),
        (301, MOVED.format("/new") + MOVED.format("/other"), HTML, None),
        (301, MOVED.format("/new") + " " * 4_096, HTML, None),
        (301, MOVED.format("javascript:x()"), HTML, None),
        (301, MOVED.format("/new"), {"Content-Type": "text/plain"}, None),
        (301, "", HTML, None),
        (200, MOVED.format("/new"), HTML, None),
        (404, MOVED.format("/new"), HTML, None),
    ],
)
def test_where_a_redirect_leads(
    status: int, body: str, headers: dict[str, str], expected: str | None
) -> None:
    assert led_to(status, body, headers) == expected
