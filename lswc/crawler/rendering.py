"""Pages that need their scripts: which are shown in a browser, and what is fetched for them.

The browser has no network. What a page asks for there is fetched here, as all else is: by the
same handler, after the same robots.txt, at the same pace, into the same archive.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from scrapy import Request
from scrapy.http.request import NO_CALLBACK

from lswc.browser.letters import Answered, Shell
from lswc.crawler.browser import Browser, Unshown
from lswc.crawler.endings import outcome_of
from lswc.crawler.requests import RENDERING
from lswc.outcomes import Outcome
from lswc.strategy import Status
from lswc.strategy.status import status
from lswc.visit.attempt import Rendered

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy.http import Response

    from lswc.browser.letters import Wanted
    from lswc.crawl import Crawl
    from lswc.crawler.running import RunningCrawl
    from lswc.visit.visit import Visit

    Download = Callable[[Request], Awaitable[Response]]

AT_FIRST = 20
"""Pages that may be shown whatever their share: a crawl's seeds may all need it."""

WAITING = 4
"""Pages that wait for the browser; more aren't shown, as each holds its server."""

TOLERATED = 5
"""Pages of a server without a relevant one, after which no more are shown, whatever the strategy:
most never call a server irrelevant."""

HELD = 32_000_000
"""Bytes of scripts that are kept for further pages."""

SHELLS = "shells"
"""Kind of the counts of pages that need their scripts, by what became of them."""

_Script = tuple[int, dict[str, str], bytes]
"""An answer: status, headers, body."""

_PASSED_ON = ("access-control-", "x-")
_NOTHING: _Script = (0, {}, b"")


class Rendering:
    """Shows a crawl's pages in a browser, and keeps their scripts for one another."""

    def __init__(self, crawl: Crawl, running: RunningCrawl) -> None:
        self._running = running
        self._share = crawl.rendering.share
        self._requests = crawl.rendering.requests
        self._largest = crawl.rendering.browser.largest if crawl.rendering.browser else 0
        self._browser = Browser(crawl.rendering.browser) if crawl.rendering.browser else None
        self._pages = self._asked = self._under_way = 0
        self._scripts: OrderedDict[str, _Script] = OrderedDict()
        self._held = 0

    def count(self) -> None:
        """Take note of a page that was read: each allows a share of another one."""
        self._pages += 1

    async def of(
        self, visit: Visit, response: Response, base: str, download: Download
    ) -> Rendered | None:
        """Return a page that needs its scripts as they leave it; None if it isn't shown."""
        refused = self._refusal(visit)
        if refused or self._browser is None:
            visit.tally[SHELLS, refused] += bool(refused)
            return None
        self._asked += 1
        self._under_way += 1
        needs = Needs(self._running, self, visit, download)
        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
        try:
            seen = await self._browser.render(
                Shell(base, content_type), response.body, needs.answer
            )
        except Unshown as error:
            visit.tally[SHELLS, error.outcome] += 1
            return None
        finally:
            needs.is_over = True
            self._under_way -= 1
        visit.tally[SHELLS, "rendered"] += 1
        for kind, number in seen.shown.refused.items():
            visit.tally["not given to browser", kind] += number
        return Rendered(seen.html, seen.shown.url or base, seen.shown.led_to)

    def _refusal(self, visit: Visit) -> str:
        """Return why a page isn't shown; "" if it is."""
        if self._browser is None:
            return "not rendered"
        if self._asked >= AT_FIRST + self._share * self._pages or not self._share:
            return Outcome.RENDERED_ENOUGH
        if self._under_way > WAITING:
            return Outcome.BROWSER_BUSY
        pages = self._running.frontier.pages_of(visit.lease.unit)
        irrelevant = status(*pages, TOLERATED) == Status.IRRELEVANT
        return Outcome.IRRELEVANT_SERVER if irrelevant else ""

    @property
    def bounds(self) -> tuple[int, int]:
        """Requests that are sent for a page, and bytes that are received; any number at 0."""
        return self._requests, self._largest

    def script(self, url: str) -> _Script | None:
        """Return the answer to an earlier page's request for a script, if it is kept."""
        kept = self._scripts.get(url)
        if kept is not None:
            self._scripts.move_to_end(url)
        return kept

    def keep(self, url: str, answer: _Script) -> None:
        """Keep a script for further pages."""
        before = self._scripts.pop(url, None)
        self._scripts[url] = answer
        self._held += len(answer[2]) - (len(before[2]) if before else 0)
        while self._held > HELD:
            self._held -= len(self._scripts.popitem(last=False)[1][2])

    def close(self) -> None:
        """End the browser."""
        if self._browser is not None:
            self._browser.close()


class Needs:
    """Fetches what one page asks for while it is shown: within bounds, and only until then."""

    is_over = False

    def __init__(
        self, running: RunningCrawl, rendering: Rendering, visit: Visit, download: Download
    ) -> None:
        self.visit = visit
        self._running, self._rendering, self._download = running, rendering, download
        self._most, self._largest = rendering.bounds
        self._sent = 0

    async def answer(self, wanted: Wanted) -> tuple[Answered, bytes]:
        """Return what a server answers; status 0 where nothing is asked, or nothing comes."""
        status, headers, body = await self._answer(wanted)
        return Answered(wanted.number, status, headers), body

    async def _answer(self, wanted: Wanted) -> _Script:
        kept = self._rendering.script(wanted.url) if wanted.kind == "script" else None
        if kept is not None:
            self.visit.scripts.append(wanted.url)
            return kept
        refused = self._refusal(wanted.url)
        if refused is not None:
            self.visit.tally["not given to browser", refused] += 1
            return _NOTHING
        self._sent += 1
        try:
            response = await self._download(self._request(wanted))
        except Exception as error:  # of the network, or a limit: the page goes on without it
            self.visit.tally["not given to browser", outcome_of(error)] += 1
            return _NOTHING
        answer = (response.status, _headers(response), response.body)
        if wanted.kind == "script" and response.status == 200:
            self._rendering.keep(wanted.url, answer)
        return answer

    def _refusal(self, address: str) -> str | None:
        if self.is_over or not self._running.is_under_way(self.visit):
            return Outcome.LOST
        if self._sent >= self._most:
            return Outcome.TOO_MANY_REQUISITES
        if 0 < self._largest <= sum(attempt.size for attempt in self.visit.fetched):
            return Outcome.TOO_LARGE
        return self._running.admission.of_file(address)

    def _request(self, wanted: Wanted) -> Request:
        headers: dict[str, Any] = {**self._running.crawl.headers, **wanted.headers}
        return Request(
            wanted.url,
            callback=NO_CALLBACK,
            headers=headers,
            meta={RENDERING: self, "dont_retry": True, "depth": self.visit.lease.depth},
        )


def _headers(response: Response) -> dict[str, str]:
    """Return the headers that a page may see: of its type, and of who may read it."""
    told = {
        name.decode("latin-1").lower(): b", ".join(values).decode("latin-1")
        for name, values in response.headers.items()
    }
    return {
        name: value
        for name, value in told.items()
        if name == "content-type" or name.startswith(_PASSED_ON)
    }
