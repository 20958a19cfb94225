"""Recrawl of what earlier crawls stored: only what has changed is sent, or stored again."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from math import inf
from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured
from scrapy.http import Headers
from scrapy.responsetypes import responsetypes

from lswc.archive.http_message import BODY_BYTES
from lswc.crawl.composition import parts_of
from lswc.crawl.pages import NOT_MODIFIED
from lswc.crawl.requests import page_visit_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from lswc.archive.earlier_crawls import Earlier, Held

_CONDITION_OF = {b"etag": "If-None-Match", b"last-modified": "If-Modified-Since"}
_HELD = "lswc_held"


class RecrawlMiddleware:
    """Downloader middleware: conditional requests (RFC 9110 §13) for what LSWC_RECRAWL stored.

    A page that hasn't changed is read as it was stored, so it counts and leads on as before. One
    that is sent whole is told what was stored of it: the same payload isn't stored again.
    """

    def __init__(self, earlier: Earlier) -> None:
        self._earlier = earlier

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Ask for what earlier crawls hold. Raises NotConfigured if there are none."""
        earlier = parts_of(crawler).earlier
        if earlier is None:
            raise NotConfigured
        return cls(earlier)

    def process_request(self, request: Request) -> None:
        """Add the validators of the stored response, if it has any."""
        for condition in _CONDITION_OF.values():  # those of a URL that redirected here
            request.headers.pop(condition, None)
        request.meta.pop(_HELD, None)
        visit = page_visit_of(request)
        # What the crawl's own folder holds was visited before.
        may_be = visit is not None and (visit.lease.visits or self._earlier.are_others)
        held = self._earlier.find(request.url) if may_be else None
        if held is None:
            return
        request.meta[_HELD] = held
        request.headers.update(_conditions(held.response.headers))

    def process_response(self, request: Request, response: Response) -> Response:
        """Return what is stored instead of a 304 (Not Modified) that was asked for."""
        held: Held | None = request.meta.pop(_HELD, None)
        visit = page_visit_of(request)
        attempt = visit.attempts[-1] if visit is not None and visit.attempts else None
        if held is None or (response.status == 304 and not _is_conditional(request)):
            return response
        if response.status == 304:
            if attempt is not None:
                attempt.unchanged = held.original
            return _stored(held, response)
        if attempt is not None:
            attempt.held = held.sent()
        return response


def _conditions(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, bytes]:
    """Return what asks whether a response with these headers is still what its server has.

    It isn't asked by a time of change less than a second before the response's own: as both are
    whole seconds, the page may have changed again since (RFC 9110 §8.8.2.2).
    """
    given = {name.lower(): value for name, value in headers}
    if _seconds_old(given) < 1:
        del given[b"last-modified"]
    return {of: given[name] for name, of in _CONDITION_OF.items() if name in given}


def _seconds_old(given: Mapping[bytes, bytes]) -> float:
    """Return how long before it was sent a page changed; infinity if that isn't told."""
    told = (given.get(name, b"").decode("latin-1") for name in (b"last-modified", b"date"))
    try:
        changed, sent = (parsedate_to_datetime(time).timestamp() for time in told)
    except (ValueError, OverflowError, TypeError):
        return inf
    return sent - changed


def _is_conditional(request: Request) -> bool:
    return any(name in request.headers for name in _CONDITION_OF.values())


def _stored(held: Held, response: Response) -> Response:
    """Return the stored response, brought up to date by the new headers (RFC 9111 §3.2)."""
    headers = Headers()
    for name, value in held.response.headers:
        headers.appendlist(name, value)
    headers.update({n: v for n, v in response.headers.items() if not n.startswith(b"Content-")})
    body = held.response.transferred(BODY_BYTES)
    made = responsetypes.from_args(headers, response.url, body=body)
    return made(
        response.url,
        headers=headers,
        body=body,
        flags=[NOT_MODIFIED],
        ip_address=response.ip_address,
    )
