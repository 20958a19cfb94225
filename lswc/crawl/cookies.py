"""Cookies of requests: what their servers want to see each time, and no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import NotConfigured

from lswc.crawl.composition import parts_of
from lswc.crawl.requests import RENDERING, STEP, page_visit_of, url_of
from lswc.errors import LswcError

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Request, Response

    from lswc.crawl.commits import Commits
    from lswc.crawl.walls import Walls
    from lswc.frontier.visit import Visit
    from lswc.urls import Url


class CookiesMiddleware:
    """Downloader middleware: sends the cookies of servers, and lets visits through their walls.

    What an answer sets outside of that is left, so no page depends on those before it.
    """

    def __init__(self, walls: Walls, commits: Commits) -> None:
        self._walls, self._commits = walls, commits

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Raises NotConfigured if COOKIES_ENABLED is off."""
        parts = parts_of(crawler)
        if parts.walls is None:
            raise NotConfigured
        return cls(parts.walls, parts.commits)

    def process_request(self, request: Request) -> None:
        """Say what the request's server wants to see, whatever another was sent."""
        if STEP in request.meta:
            return
        request.headers.pop("Cookie", None)
        visit, url = page_visit_of(request), url_of(request)
        if url is None or (visit is None and RENDERING not in request.meta):
            return
        cookies = self._walls.cookies.header(url)
        if cookies:
            request.headers["Cookie"] = cookies
        if visit is not None:
            visit.cookies = cookies

    def process_response(
        self, request: Request, response: Response
    ) -> Response | Awaitable[Response]:
        """Return the answer behind a wall instead of a redirect that is one."""
        if response.status < 300 and not request.headers.get("Cookie"):
            return response
        visit, url = page_visit_of(request), url_of(request)
        if visit is None or url is None or visit.is_over or STEP in request.meta:
            return response
        if response.status < 300:
            self._walls.cookies.worked(url.server)
            return response
        return self._passed(visit, url, request, response)

    async def _passed(
        self, visit: Visit, url: Url, request: Request, response: Response
    ) -> Response:
        try:
            return await self._walls.passed(visit, url, request, response)
        except LswcError as error:
            self._commits.fail(error)
            return response
