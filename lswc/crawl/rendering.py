"""Rendering: pages are read, those that need their scripts as a browser shows them.

The browser has no network. What a page asks for there is fetched here, as all else is: by the
same handler, after the same robots.txt, at the same pace, into the same archive.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from html import escape
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from scrapy import Request
from scrapy.http.request import NO_CALLBACK

from lswc.crawl.browsers import Browser, Unshown
from lswc.crawl.failures import outcome_of
from lswc.crawl.readers import PageError
from lswc.crawl.requests import RENDERING, headers_of
from lswc.frontier.rules.visit import Rendered
from lswc.outcomes import Outcome
from lswc.reading.browser.messages import Answered, Shell
from lswc.reading.reader_messages import Asked
from lswc.safety.content_types import declared_type
from lswc.strategy import Status
from lswc.strategy.facts import status

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from scrapy.http import Response

    from lswc.crawl.commits import Commits
    from lswc.crawl.configuration import Crawl
    from lswc.crawl.readers import Readers
    from lswc.frontier import Frontier
    from lswc.frontier.rules.visit import Visit
    from lswc.guest.guest import Guest
    from lswc.reading.browser.messages import Wanted
    from lswc.reading.page import PageReading
    from lswc.urls import Url

    Download = Callable[[Request], Awaitable[Response]]
    Refusal = Callable[[Visit, str], str | None]

logger = logging.getLogger(__name__)

SHARE = 0.05
"""The share of the pages that may be shown: one takes as long as a hundred that are read."""

AT_FIRST = 20
"""Pages that may be shown whatever their share: a crawl's seeds may all need it."""

TOLERATED = 5
"""Pages of a server without a relevant one, after which no more are shown, whatever the strategy:
most never call a server irrelevant."""

HELD = 32_000_000
"""Bytes of scripts that are kept for further pages."""

SHELLS = "shells"
"""Kind of the counts of pages that need their scripts, by what became of them."""

CHOSEN = "chosen, rendered"
"""The name among these of pages that aren't empty, and were shown as LSWC_BROWSER_PAGES says."""

ROUTES = "hash routes left"
"""The name among these of links to what such pages show by a fragment: no URL of its own."""

NOT_GIVEN = "not given to browser"
"""Kind of the counts of what such pages asked for and didn't get, by the reason."""

AT_ONCE = 4
"""Requests under way for a page."""

_PASSED_ON = ("access-control-", "x-")


class Answer(NamedTuple):
    """What a page gets that it asked for."""

    status: int
    headers: dict[str, str]
    body: bytes


_NOTHING = Answer(0, {}, b"")


class Scripts:
    """Scripts that pages asked for, the latest: the pages of an app share theirs."""

    def __init__(self, most: int = HELD) -> None:
        self._most = most
        self._kept: OrderedDict[str, Answer] = OrderedDict()
        self._held = 0

    def get(self, url: str) -> Answer | None:
        """Return the answer to an earlier page's request, if it is kept."""
        if url in self._kept:
            self._kept.move_to_end(url)
        return self._kept.get(url)

    def keep(self, url: str, answer: Answer) -> None:
        """Keep an answer for further pages."""
        before = self._kept.pop(url, _NOTHING)
        self._kept[url] = answer
        self._held += len(answer.body) - len(before.body)
        while self._held > self._most:
            self._held -= len(self._kept.popitem(last=False)[1].body)


class Needs:
    """Fetches what one page asks for while it is shown: until then, and ``largest`` bytes in all.

    ``refusal`` tells why an address isn't asked for, None if it is; ``headers`` are those of every
    request. ``download`` takes one through all downloader middlewares.
    """

    is_over = False

    def __init__(
        self,
        visit: Visit,
        refusal: Refusal,
        headers: Mapping[str, str],
        scripts: Scripts,
        largest: int,
        download: Download,
    ) -> None:
        self.visit = visit
        self._refusal, self._headers, self._download = refusal, headers, download
        self._scripts, self._largest = scripts, largest
        self._free = asyncio.Semaphore(AT_ONCE)

    async def answer(self, wanted: Wanted) -> tuple[Answered, bytes]:
        """Return what a server answers; status 0 where nothing is asked, or nothing comes."""
        async with self._free:
            status, headers, body = await self._answer(wanted)
        return Answered(wanted.number, status, headers), body

    async def _answer(self, wanted: Wanted) -> Answer:
        kept = self._scripts.get(wanted.url) if wanted.kind == "script" else None
        if kept is not None:
            self.visit.scripts.append(wanted.url)
            return kept
        refused = self._refused(wanted.url)
        if refused is not None:
            return self._without(refused)
        try:
            response = await self._download(self._request(wanted))
        except Exception as error:  # of the network, or a limit: the page goes on without it
            return self._without(outcome_of(error))
        answer = Answer(response.status, _headers(response), response.body)
        if wanted.kind == "script" and response.status == 200:
            self._scripts.keep(wanted.url, answer)
        return answer

    def _without(self, reason: str) -> Answer:
        self.visit.tally[NOT_GIVEN, reason] += 1
        return _NOTHING

    def _refused(self, address: str) -> str | None:
        if self.is_over:
            return Outcome.LOST
        if 0 < self._largest <= sum(attempt.size for attempt in self.visit.fetched):
            return Outcome.TOO_LARGE
        return self._refusal(self.visit, address)

    def _request(self, wanted: Wanted) -> Request:
        return Request(
            wanted.url,
            callback=NO_CALLBACK,
            headers={**self._headers, **wanted.headers},
            meta={RENDERING: self, "dont_retry": True},
        )


class Rendering:
    """Reads pages that need their scripts as a browser shows them, if the crawl has one.

    ``download`` takes a request through all downloader middlewares.
    """

    def __init__(
        self,
        crawl: Crawl,
        frontier: Frontier,
        readers: Readers,
        guest: Guest,
        commits: Commits,
        download: Download,
    ) -> None:
        self._frontier, self._readers, self._download = frontier, readers, download
        self._guest, self._commits = guest, commits
        self._headers = crawl.headers
        self._settings = crawl.browser
        self._browser = Browser(self._settings) if self._settings else None
        self._scripts = Scripts()
        self._pages = crawl.browser_pages
        self._read_again = self._asked = self._relevant = 0
        self._chosen: set[int] = set()

    def chooses(self, visit: Visit, url: Url) -> bool:
        """Tell whether a relevant page is shown that isn't empty without its scripts.

        Of several by its share, evenly. It doesn't count among those that are.
        """
        is_sent = bool(visit.attempts) and visit.attempts[-1].unchanged is None
        if self._browser is None or not is_sent:
            return False
        self._relevant += 1
        share = self._pages.share
        is_next = int(self._relevant * share) > int((self._relevant - 1) * share)
        if not is_next and not any(pattern.holds(url) for pattern in self._pages.patterns):
            return False
        self._chosen.add(visit.lease.token)
        return True

    async def read(
        self, visit: Visit, response: Response, asked: Asked, shell: PageReading
    ) -> PageReading | None:
        """Return what a page says once its scripts have run, if it is shown.

        Each page that was read allows a share of another to be shown. Raises Unread and
        ReaderError.
        """
        try:
            rendered = await self.of(visit, response)
        finally:
            self._chosen.discard(visit.lease.token)
        if rendered is None or not visit.attempts:
            return shell
        visit.attempts[-1].rendered, visit.rendered = rendered, True
        visit.opt_outs += shell.opt_outs.said
        led_to = "".join(f'<a href="{escape(url)}"></a>' for url in rendered.led_to)
        headers = {**asked.headers, "content-type": ["text/html; charset=utf-8"]}
        shown = Asked(headers, asked.url, asked.depth, rendered.url)
        self._read_again += 1
        try:
            return await self._readers.read(shown, rendered.html + led_to.encode())
        except PageError as error:
            logger.error("%s is read as it was sent: %s", visit.url, error)
            return shell

    async def of(self, visit: Visit, response: Response) -> Rendered | None:
        """Return a page that needs its scripts as they leave it; None if it isn't shown."""
        outcome: str = self._refusal(visit)
        rendered = None
        if not outcome and self._browser is not None and self._settings is not None:
            needs = Needs(
                visit,
                self.refusal_of_file,
                self._headers,
                self._scripts,
                self._settings.largest,
                self._download,
            )
            try:
                rendered = await self._shown(self._browser, needs, response)
                outcome = CHOSEN if visit.lease.token in self._chosen else "rendered"
            except Unshown as error:
                outcome = error.outcome
        visit.tally[SHELLS, outcome] += 1
        return rendered

    async def _shown(self, browser: Browser, needs: Needs, response: Response) -> Rendered:
        """Show a page. Raises Unshown."""
        self._asked += needs.visit.lease.token not in self._chosen
        content_type = declared_type(headers_of(response))
        try:
            shell = Shell(response.url, content_type)
            html, shown = await browser.render(shell, response.body, needs.answer)
        finally:
            needs.is_over = True
        for kind, number in shown.refused.items():
            needs.visit.tally[NOT_GIVEN, kind] += number
        needs.visit.named += shown.named
        if shown.routes:
            needs.visit.tally[SHELLS, ROUTES] += shown.routes
        # A page can give itself another URL of its server, or one that nothing is relative to.
        url = shown.url if shown.url.startswith("http") else response.url
        return Rendered(html, url, shown.led_to)

    def _refusal(self, visit: Visit) -> str:
        """Return why a page isn't shown; "" if it is."""
        if self._browser is None:
            return Outcome.NOT_RENDERED
        if visit.lease.token in self._chosen:
            return ""
        read = self._readers.pages - self._read_again
        if not SHARE or self._asked >= AT_FIRST + SHARE * read:
            return Outcome.RENDERED_ENOUGH
        pages = self._frontier.pages_of(visit.lease.unit)
        is_irrelevant = status(*pages, TOLERATED) == Status.IRRELEVANT
        return Outcome.IRRELEVANT_SERVER if is_irrelevant else ""

    def refusal_of_file(self, visit: Visit, address: str) -> str | None:
        """Return why a page that is shown doesn't get a file; None if it may."""
        if visit.is_over:
            return Outcome.LOST
        return self._guest.admission.of_file(address, monotonic())

    def close(self) -> None:
        """End the browser."""
        if self._browser is not None:
            self._browser.close()


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
