"""tdmrep.json, asked for once a server, when the first of its pages is to be kept."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urljoin

from scrapy import Request
from scrapy.http import Response

from lswc.crawl.requests import RULES, VISIT
from lswc.crawl.running import RunningCrawl, running_of
from lswc.guest.rule_cache import STALE, lifetime
from lswc.guest.tdmrep import PATH, Reservations

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Self

    from scrapy.crawler import Crawler

    from lswc.crawl.page import Page

TDMREP = "tdmrep.json"
"""Name of the file, as RULES has it."""

_SERVER = "lswc_tdmrep_of"
_REDIRECTS = 5


def opt_outs_of_server(running: RunningCrawl, page: Page) -> tuple[str, ...] | None:
    """Return what a page's server says against mining the page; None if it is to be asked."""
    rules = _known(running, page.visit.lease.server)
    return None if rules is None else rules.opt_outs(page.visit.url)


def failed(running: RunningCrawl, page: Page) -> None:
    """Take note that a page's server can't be asked: it says nothing."""
    rules = Reservations(b"")
    running.reservations.keep(page.visit.lease.server, rules, rules.size, STALE)


def request_for_reservations(
    page: Page, callback: Callable[..., Any], errback: Callable[..., Any]
) -> Request:
    """Return the request for what a page's server says; its visit goes on meanwhile.

    The callback gets ``page``, at once if it is known what the server says.
    """
    visit = page.visit
    return Request(
        urljoin(visit.url, PATH),
        callback=callback,
        errback=errback,
        cb_kwargs={"page": page},
        headers={"Accept": "application/json,*/*;q=0.5", "Accept-Encoding": "identity"},
        meta={
            VISIT: visit,
            RULES: TDMREP,
            _SERVER: visit.lease.server,
            "dont_retry": True,
            "download_maxsize": 0,
            "redirect_ttl": _REDIRECTS,
        },
    )


class ReservationMiddleware:
    """Keeps what a server answers, and answers in its place from then on."""

    def __init__(self, running: RunningCrawl) -> None:
        self._running = running

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(running_of(crawler))

    def process_request(self, request: Request) -> Response | None:
        """Return an empty answer if it is known what the server says."""
        if request.meta.get(RULES) != TDMREP:
            return None
        known = _known(self._running, request.meta[_SERVER])
        return None if known is None else Response(request.url)

    def process_response(self, request: Request, response: Response) -> Response:
        """Return an empty answer instead of the server's, which is kept."""
        server = request.meta.get(_SERVER)
        if server is None or _known(self._running, server) is not None:
            return response
        rules = Reservations(response.body if response.status < 300 else b"")
        seconds = STALE if response.status >= 500 else lifetime(response)
        self._running.reservations.keep(server, rules, rules.size, seconds)
        return Response(request.url)


def _known(running: RunningCrawl, server: str) -> Reservations | None:
    kept = running.reservations.get(server)
    return kept.rules if kept is not None and kept.is_fresh else None
