"""Rendering: pages are read, those that need their scripts as a browser shows them.

The browser has no network. What a page asks for there is fetched here, as all else is: by the
same handler, after the same robots.txt, at the same pace, into the same archive.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, OrderedDict
from html import escape
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace
from scrapy import Request
from scrapy.http.request import NO_CALLBACK

from lswc.crawl.browser_budget import Budget
from lswc.crawl.browsers import Browser, Unshown
from lswc.crawl.failures import outcome_of
from lswc.crawl.readers import PageError
from lswc.crawl.requests import RENDERING, STEP, headers_of
from lswc.frontier.rules.visit import Rendered
from lswc.guest.cookies import Jar
from lswc.guest.server_cookies import Way
from lswc.outcomes import Outcome
from lswc.reading.browser.messages import Answered, Shell
from lswc.reading.page import ReadLink
from lswc.reading.reader_messages import Asked
from lswc.safety.content_types import declared_type
from lswc.strategy import Anchor, Locality, Named
from lswc.urls import Url, parse, site

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from scrapy.http import Response

    from lswc.crawl.configuration import Crawl
    from lswc.crawl.readers import Readers
    from lswc.frontier import Frontier
    from lswc.frontier.rules.visit import Visit
    from lswc.guest.guest import Guest
    from lswc.guest.server_cookies import ServerCookies
    from lswc.reading.browser.messages import Wanted
    from lswc.reading.page import PageReading

    Download = Callable[[Request], Awaitable[Response]]
    Refusal = Callable[[Visit, str], str | None]

logger = logging.getLogger(__name__)

WAITING = 16
"""Pages that may wait for the browser: more would leave a crawl no connection for others."""

OF_PROVEN = 100
"""Pages of a site that brought pages, which are asked for again at a time."""

HELD = 32_000_000
"""Bytes of scripts that are kept for further pages."""

SHELLS = "shells"
"""Kind of the counts of pages that need their scripts, by what became of them."""

RENDERED = "rendered"
"""The name among these of pages that were shown."""

CHOSEN = "chosen, rendered"
"""The name among these of pages that aren't empty, and were shown as LSWC_BROWSER_PAGES says."""

OTHERWISE = "other text in browser"
"""Name of the count of pages that have a text, and show quite another one in the browser."""

UNLIKE = 16
"""Bits by which the simhashes of two texts of 64 bits differ that have little in common."""

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

    async def answer(self, wanted: Wanted, posted: bytes) -> tuple[Answered, bytes]:
        """Return what a server answers; status 0 where nothing is asked, or nothing comes.

        ``posted`` is the body of a POST.
        """
        async with self._free:
            status, headers, body = await self._answer(wanted, posted)
        return Answered(wanted.number, status, headers), body

    async def _answer(self, wanted: Wanted, posted: bytes) -> Answer:
        kept = self._scripts.get(wanted.url) if wanted.kind == "script" else None
        if kept is not None:
            self.visit.scripts.append(wanted.url)
            return kept
        refused = self._refused(wanted.url)
        if refused is not None:
            return self._without(refused)
        try:
            response = await self._download(self._request(wanted, posted))
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

    def _request(self, wanted: Wanted, posted: bytes) -> Request:
        meta = {RENDERING: self, "dont_retry": True}
        if wanted.kind == "document":
            meta[STEP] = True  # with the cookie that its script set
        return Request(
            wanted.url,
            method=wanted.method,
            body=posted,
            callback=NO_CALLBACK,
            headers={**self._headers, **wanted.headers},
            meta=meta,
        )


class Rendering:
    """Reads pages that need their scripts as a browser shows them, if the crawl has one.

    ``download`` takes a request through all downloader middlewares. ``cookies`` learns those that
    scripts set to be let in, None if the crawl sends none.
    """

    def __init__(
        self,
        crawl: Crawl,
        frontier: Frontier,
        readers: Readers,
        guest: Guest,
        download: Download,
        cookies: ServerCookies | None = None,
    ) -> None:
        self._frontier, self._readers, self._download = frontier, readers, download
        self._guest, self._cookies = guest, cookies
        self._headers = crawl.headers
        self._settings = crawl.browser
        self._browser = Browser(self._settings) if self._settings else None
        self._scripts = Scripts()
        self._pages = crawl.browser_pages
        self._budget = Budget(crawl.browser_pages.budget, crawl.browser_pages.tries)
        self._read_again = self._wanted = 0
        self._under_way = 0

    def chooses(self, visit: Visit, url: Url, *, is_wanted: bool) -> bool:
        """Tell whether a page is shown that isn't empty without its scripts.

        Each that the operator names, and by their share, evenly, of those that are wanted. It
        doesn't count among those that need it.
        """
        is_sent = bool(visit.attempts) and visit.attempts[-1].unchanged is None
        if self._browser is None or not is_sent:
            return False
        self._wanted += is_wanted
        share = self._pages.share
        is_next = int(self._wanted * share) > int((self._wanted - 1) * share)
        is_named = any(pattern.holds(url) for pattern in self._pages.patterns)
        if not is_named and not (is_next and is_wanted):
            return False
        visit.is_chosen = True
        return True

    async def read(
        self, visit: Visit, response: Response, asked: Asked, shell: PageReading
    ) -> PageReading:
        """Return what a page says once its scripts have run, or what it said if it isn't shown.

        One that was empty, and still is, says nothing: ``visit.unshown`` is why. Raises Unread and
        ReaderError.
        """
        outcome: str = self._refusal(visit)
        reading = shell
        if not outcome and self._browser is not None:
            self._under_way += 1
            try:
                outcome, reading = await self._read(self._browser, visit, response, asked, shell)
            finally:
                self._under_way -= 1
        if reading.is_empty and outcome == RENDERED:
            outcome = Outcome.STILL_EMPTY
        visit.tally[SHELLS, CHOSEN if visit.is_chosen and outcome == RENDERED else outcome] += 1
        if reading.is_empty:
            visit.unshown = outcome
        return reading

    async def _read(
        self,
        browser: Browser,
        visit: Visit,
        response: Response,
        asked: Asked,
        shell: PageReading,
    ) -> tuple[str, PageReading]:
        """Show a page and read it; return how that ended, and what it says."""
        try:
            rendered, cookie = await self._shown(browser, visit, response)
        except Unshown as error:
            if not visit.is_chosen:
                self._budget.vain(_site(visit), failed=True)
            return error.outcome, shell
        if not visit.attempts:
            return Outcome.LOST, shell
        visit.attempts[-1].rendered, visit.rendered = rendered, True
        visit.opt_outs += shell.opt_outs.said
        routes, others = _parted(rendered.led_to, asked.url)
        led_to = "".join(f'<a href="{escape(address)}"></a>' for address in others)
        headers = {**asked.headers, "content-type": ["text/html; charset=utf-8"]}
        shown = Asked(headers, asked.url, asked.depth, rendered.url)
        self._read_again += 1
        try:
            reading = await self._readers.read(shown, rendered.html + led_to.encode())
        except PageError as error:
            logger.error("%s is read as it was sent: %s", visit.url, error)
            reading = None
        if reading is None:
            return RENDERED, shell
        if not shell.is_empty and _is_other(shell, reading):
            visit.tally["content", OTHERWISE] += 1
        if cookie and not reading.is_empty:
            self._let_in(visit, cookie)
        return RENDERED, _with_routes(reading, routes)

    async def _shown(
        self, browser: Browser, visit: Visit, response: Response
    ) -> tuple[Rendered, str]:
        """Show a page; return it, and the cookie that it wanted to be let in. Raises Unshown."""
        largest = self._settings.largest if self._settings else 0
        needs = Needs(
            visit, self.refusal_of_file, self._headers, self._scripts, largest, self._download
        )
        home = _site(visit)
        shell = Shell(
            _shown_at(visit, response),
            declared_type(headers_of(response)),
            self._budget.explores(home),
        )
        try:
            html, shown = await browser.render(shell, response.body, needs.answer)
        finally:
            needs.is_over = True
        for kind, number in shown.refused.items():
            visit.tally[NOT_GIVEN, kind] += number
        visit.named += shown.named
        if shown.explored:
            self._budget.explored(home, shown.explored - 1)
        visit.tally["browser", "CPU ms"] += int(1_000 * shown.cpu)
        # A page can give itself another URL of its server, or one that nothing is relative to.
        url = shown.url if shown.url.startswith("http") else response.url
        return Rendered(html, url, shown.led_to), shown.cookie

    def _let_in(self, visit: Visit, cookie: str) -> None:
        """Learn the cookie that a script set and a page came with: others need no browser then."""
        url = parse(visit.url)
        if self._cookies is not None and url is not None:
            jar = Jar()
            jar.take(url.href, [pair.encode() + b"; Path=/" for pair in cookie.split("; ")])
            self._cookies.opened(url, Way.DOORWAY, jar)

    def took(self, visit: Visit, *, is_new: bool) -> None:
        """Take notice of a page that was shown: whether it is relevant, and like no other."""
        if visit.is_chosen:
            return
        if is_new:
            self._budget.brought(_site(visit))
        else:
            self._budget.vain(_site(visit))

    def wanted(self) -> Callable[[str, int], bool] | None:
        """Return which of the pages that weren't shown may be now; None if none can.

        Some of each site that brought pages, and one of each of a few others.
        """
        left = WAITING // 2 - self._under_way
        if self._browser is None or left <= 0:
            return None
        read = self._readers.pages - self._read_again
        proven, others = Counter[str](), set[str]()

        def may(address: str, depth: int) -> bool:
            url = parse(address)
            home = "" if url is None else site(url.hostname)
            if self._budget.is_proven(home):  # its server is asked for one at a time
                proven[home] += 1
                return proven[home] <= OF_PROVEN
            if not home or home in others or len(others) >= left:
                return False
            if not self._budget.allows(home, read, len(others)):
                return False
            others.add(home)
            return True

        return may

    def _refusal(self, visit: Visit) -> str:
        """Return why a page isn't shown; "" if it is."""
        if self._browser is None:
            return Outcome.NOT_RENDERED
        if visit.is_chosen:
            return ""
        if self._under_way >= WAITING:
            return Outcome.RENDERED_ENOUGH
        read = self._readers.pages - self._read_again
        is_allowed = self._budget.allows(_site(visit), read, self._under_way)
        return "" if is_allowed else Outcome.RENDERED_ENOUGH

    def refusal_of_file(self, visit: Visit, address: str) -> str | None:
        """Return why a page that is shown doesn't get a file; None if it may."""
        if visit.is_over:
            return Outcome.LOST
        return self._guest.admission.of_file(address, monotonic())

    def close(self) -> None:
        """End the browser."""
        if self._browser is not None:
            self._browser.close()


def _is_other(sent: PageReading, shown: PageReading) -> bool:
    return (sent.simhash ^ shown.simhash).bit_count() > UNLIKE


def _shown_at(visit: Visit, response: Response) -> str:
    """Return the URL that a page is shown at: that of the answer, with the visit's route."""
    url = parse(visit.url)
    return response.url.partition("#")[0] + (url.route if url is not None else "")


def _parted(led_to: Iterable[str], url: Url) -> tuple[list[Url], list[str]]:
    """Return of the addresses that a page leads to its own routes, and the others."""
    routes, others = dict[str, Url](), list[str]()
    for address in led_to:
        found = parse(address) if "#" in address else None
        if found is None or not found.route:
            others.append(address)
        elif found.without_route.href == url.without_route.href and found.href != url.href:
            routes[found.href] = found
    return [*routes.values()], others


def _with_routes(reading: PageReading, routes: Sequence[Url]) -> PageReading:
    """Return a page with links to its routes, which no reader of HTML takes for links."""
    if not routes or reading.unwanted:
        return reading
    made = (
        ReadLink(url, Locality.SAME_SERVER, Anchor.NONE, Named.NONE, same_folder=True)
        for url in routes
    )
    return replace(reading, links=(*reading.links, *made))


def _site(visit: Visit) -> str:
    url = parse(visit.url)
    return site(url.hostname) if url is not None else visit.lease.server


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
