"""Requests of visits, and the visit of a request."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from scrapy import Request

from lswc.frontier.rules.visit import Visit
from lswc.urls import Url, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scrapy.http import Response

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

_WAKE_UP = "lswc_wake_up"


def request_for(
    visit: Visit,
    headers: Mapping[str, str],
    callback: Callable[..., Any],
    errback: Callable[..., Any],
) -> Request:
    """Return the request for a visit's URL, with these headers and its referrer's."""
    lease = visit.lease
    referrer = (lease.referrer or "").partition("#")[0]
    return Request(
        visit.url,
        callback=callback,
        errback=errback,
        meta={VISIT: visit, "depth": lease.depth, "redirect_times": visit.redirects},
        headers={**headers, **({"Referer": referrer} if referrer else {})},
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
