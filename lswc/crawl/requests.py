"""Requests of visits, and the visit of a request."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.downloadermiddlewares import redirect
from scrapy.spidermiddlewares.referer import RefererMiddleware
from typing_extensions import override
from w3lib.url import safe_url_string

from lswc.crawl.placement import only_for_crawls
from lswc.frontier.visit import Visit
from lswc.language.html import parse as parse_page
from lswc.safety.content_types import declared_type, is_html
from lswc.urls import Url, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

VISIT = "lswc_visit"
"""Key in ``request.meta`` of the Visit that a request is sent for."""

RULES = "lswc_rules"
"""Key in ``request.meta`` of the name of the file in which a server says its rules, such as
"robots.txt", if that is what is asked for instead of a page."""

GO = "lswc_go"
"""Key in ``request.meta`` of the guest's leave to send a request, until that has ended."""

RENDERING = "lswc_rendering"
"""Key in ``request.meta`` of what a request is sent for that a page in the browser needs."""

STEP = "lswc_step"
"""Key in ``request.meta`` of a request that a visit sends besides its own, to get behind a wall."""

CUT = "cut"
"""Flag of a response whose body goes on: it was cut at the limit."""

FILE = "linked file"
"""Flag of a response that is no page, and is archived as a file that an archived page links to."""

BROKEN_OFF = "broken off"
"""Flag of a response whose connection was closed, or broke, within its body."""

KNOCK = "lswc_knock"
"""Key in ``request.meta`` of the list that takes the Attempt, if a page is asked for to see whether
its server answers for itself: by a new connection, and it isn't recorded."""

_REDIRECTS = (301, 302, 303, 307, 308)
_SHORT = 4_096  # bytes
_WAKE_UP = "lswc_wake_up"


def request_for(
    visit: Visit,
    headers: Mapping[str, str],
    callback: Callable[..., Any],
    errback: Callable[..., Any],
) -> Request:
    """Return the request for a visit's URL, with these headers and its referrer's."""
    lease = visit.lease
    return Request(
        visit.url,
        callback=callback,
        errback=errback,
        meta={VISIT: visit, "depth": lease.depth, "redirect_times": visit.redirects},
        headers={**headers, **({"Referer": lease.referrer} if lease.referrer else {})},
    )


def url_of(source: Request | Visit) -> Url | None:
    """Return a request's or visit's URL, taken apart; None if it is none. Many ask for it."""
    return _parsed(source.url)


_parsed = lru_cache(maxsize=1_024)(parse)


def visit_of(source: Request | Response | None) -> Visit | None:
    """Return the visit of a request or response; None for robots.txt and other requests."""
    request = getattr(source, "request", source)
    visit = None if request is None else request.meta.get(VISIT)
    return visit if isinstance(visit, Visit) else None


def page_visit_of(request: Request) -> Visit | None:
    """Return the visit of a request for its page, not for a file that it needs besides."""
    visit = request.meta.get(VISIT)
    return visit if isinstance(visit, Visit) and RULES not in request.meta else None


def wake_up() -> Request:
    """Return a request that only makes the engine ask the scheduler again."""
    return Request("data:,wake", meta={_WAKE_UP: True})


def is_wake_up(request: Request) -> bool:
    """Tell whether a request is one of ``wake_up``."""
    return bool(request.meta.get(_WAKE_UP))


def headers_of(response: Response) -> dict[str, list[str]]:
    """Return the headers of an answer by their names in small letters."""
    return {
        name.decode("latin-1").lower(): [value.decode("latin-1") for value in values]
        for name, values in dict.items(response.headers)  # Headers looks each name up once more
    }


def _linked(response: Response) -> str:
    """Return where the page of a redirect leads, "" if it has no link, or several.

    It is read here, so only one that is as short as such pages are.
    """
    body = response.body
    if len(body) > _SHORT or not is_html(declared_type(headers_of(response)), body):
        return ""
    links = {link.url for link in parse_page(body, response.url).links}
    links = {link for link in links if link.startswith(("http://", "https://"))}
    return safe_url_string(links.pop()) if len(links) == 1 else ""


class RedirectMiddleware(redirect.RedirectMiddleware):
    """Scrapy's, which asks no spider middleware for the Referer: one costs every page its time."""

    def __init__(self, settings: BaseSettings) -> None:
        super().__init__(settings)
        self._referer = RefererMiddleware(settings)

    @classmethod
    @override
    def from_crawler(cls, crawler: Crawler) -> Self:
        only_for_crawls(crawler)
        made = cls(crawler.settings)
        made.crawler = crawler
        return made

    @override
    def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Request | Response:
        """Follow a redirect; one that says only in its body where it leads, too."""
        is_mute = response.status in _REDIRECTS and b"Location" not in response.headers
        if is_mute and (target := _linked(response)):
            response.headers[b"Location"] = target
        answer: Request | Response = super().process_response(request, response)
        return answer

    @override
    def handle_referer(self, request: Request, response: Response) -> None:
        request.headers.pop("Referer", None)
        self._referer.get_processed_request(request, response)
