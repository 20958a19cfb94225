"""A page in the browser: what it asks for, when it has come to rest, and where it leads.

Its time is virtual (Chrome DevTools Protocol, ``Emulation.setVirtualTimePolicy``): while nothing
runs and nothing is fetched it jumps to the next timer, and stands still in between. So a page that
waits six seconds costs none, and one with a clock makes no more of it than is let pass.
"""

from __future__ import annotations

import asyncio
import tomllib
from base64 import b64decode
from collections import Counter
from contextlib import suppress
from importlib.resources import files
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from playwright.async_api import Error as PlaywrightError

from lswc.reading.app_shell import LOADS
from lswc.reading.browser.messages import LOADING, Shown
from lswc.urls import parse, site

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection

    from playwright.async_api import CDPSession, Page, Request, Route

    from lswc.reading.browser.messages import Answered, Settings, Shell

STEP = 500
"""Milliseconds of a page's time between two looks at it."""

PATIENCE = 10_000
"""Milliseconds of its time that a page is waited for that has no text, or says that it loads."""

RESTLESS = 4_000
"""Milliseconds of its time after which a page that has text is read though it changes: a clock."""

FRAMES, FRAME = 40, 0.02
"""So many times so many seconds is waited until what was scrolled to is drawn."""

EMPTY = 200
"""Characters of a page without text: a title, "Loading ..."."""

SCROLLS = 100
"""Times that a list is followed to where it goes on, at most."""

STILL = 2
"""Times in a row that a list doesn't grow when it is scrolled, before it has come to its end."""

PRESSES = 3
"""Buttons that are tried whether they show more of a list, and in vain, at most."""

WAYS = 30
"""Buttons, cards and menus that are asked where they lead, at most; and times that the page is
opened anew for that, as one of them has changed it."""

FEW_LINKS = 20
"""Links of a page whose buttons are asked where they lead: one with more leads on without."""

MOST_LINKS = 3_000
"""Links of a list that is followed: no more of a page's are read."""

MOST_OPENED = 20
"""Times that a page may want to go elsewhere before it is read as it is."""

BUSY = 3.0
"""Seconds after which a page is looked at that waits for nothing and lets no time pass."""

RELOADS = 2
"""Times that a page may load itself again."""

EMPTIER = 5
"""So many times the requests are scripts besides while a page has no text: it may be of modules."""

GRACE = 10.0
"""Seconds that the browser has to say what a page looks like."""

URL = 8_000
"""Characters of an address that is asked for, or led to."""

_WATCHED = 0.25  # seconds between two looks whether it waits for something
_LED_TO = 3_000  # addresses
_NAMED = 300  # files
_PIXEL = b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
_EMPTY = {"stylesheet": ("text/css", b""), "image": ("image/gif", _PIXEL)}
_MOST_TOLD = 1 << 31  # of what a page counts of itself
_FETCHED = frozenset({"script", "xhr", "fetch"})
_POSTED = 64_000  # bytes that a page sends to ask for what it shows
_HERE = files("lswc.reading.browser")
_IN_PAGE = (_HERE / "in_page.js").read_text("utf-8")
_WORDS = {
    subject: "|".join(word for words in by_language.values() for word in words)
    for subject, by_language in tomllib.loads((_HERE / "words.toml").read_text("utf-8")).items()
} | {"loading": LOADS.pattern}


class Look(NamedTuple):
    """What a page looks like: characters of text, elements, links so far, whether it loads."""

    text: int = 0
    elements: int = 0
    links: int = 0
    loads: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether the page has no text yet, as far as can be seen."""
        return self.text <= EMPTY or self.loads


class _Deadline:
    """When a page is read as it is then, ``at`` the latest, on a monotonic clock."""

    def __init__(self, seconds: float) -> None:
        now = monotonic()
        self.at, self._most = now + seconds, now + LOADING * seconds

    @property
    def is_over(self) -> bool:
        """Whether that is now."""
        return monotonic() >= self.at

    def put_off(self, seconds: float) -> None:
        """Put it off, within bounds: the page waits for its scripts, which their server delays."""
        self.at = min(self.at + seconds, self._most)


class _Time:
    """A page's time, which passes only as it is let, and not while requests are ``pending``.

    ``loads`` tells whether its scripts are still to come.
    """

    def __init__(
        self,
        session: CDPSession,
        pending: Collection[int],
        grace: float,
        loads: Callable[[], bool],
    ) -> None:
        self._session, self._is_over = session, asyncio.Event()
        self._pending, self._grace, self._loads = pending, grace, loads
        self._busy = BUSY
        session.on("Emulation.virtualTimeBudgetExpired", lambda _: self._is_over.set())

    async def passes(self, milliseconds: int, until: _Deadline) -> bool:
        """Let so much of it pass, or as much as does ``until`` then.

        Tell whether it did: not if the page waits for nothing, and is busy for BUSY seconds.
        """
        self._is_over.clear()
        policy = {"policy": "pauseIfNetworkFetchesPending", "budget": milliseconds}
        async with asyncio.timeout(self._grace):
            await self._session.send("Emulation.setVirtualTimePolicy", policy)
        over, busy_since = asyncio.ensure_future(self._is_over.wait()), monotonic()
        while not (until.is_over or (await asyncio.wait([over], timeout=_WATCHED))[0]):
            if self._pending:
                busy_since = monotonic()
                if self._loads():
                    until.put_off(_WATCHED)
            elif monotonic() - busy_since > self._busy:
                self._busy = 0.0  # it won't, another time
                break
        over.cancel()
        return self._is_over.is_set()


class OnePage:
    """A page in the browser: ``fetched`` gets what it asks for, ``pending`` has what it waits for.

    It is given itself, as its server sent it, and isn't let go anywhere else. ``cpu`` are the
    seconds of processor that it took.
    """

    cpu = 0.0

    def __init__(
        self,
        shell: Shell,
        body: bytes,
        settings: Settings,
        fetched: Callable[[Request, str], Awaitable[tuple[Answered, bytes]]],
        pending: Collection[int],
    ) -> None:
        self._shell, self._body, self._settings = shell, body, settings
        self._fetched, self._pending = fetched, pending
        self._grace = min(GRACE, settings.seconds)
        self._page: Page | None = None
        self._time: _Time | None = None
        self._look = Look()
        self._opened = self._asked = self._modules = self._scripts = self._explored = 0
        self._is_held = False
        self._cookie = ""
        self._known: set[str] = set()
        self._kept: dict[str, tuple[Answered, bytes]] = {}
        self._led_to: dict[str, None] = {}
        self._refused: Counter[str] = Counter()
        self._named: dict[str, None] = {}

    def told(self, problem: str) -> Shown:
        """Return what is to say of it."""
        return Shown(
            (self._page.url if self._page is not None else "")[:URL],
            tuple(self._led_to),
            dict(self._refused),
            problem,
            tuple(self._named),
            self._cookie,
            self._explored,
            max(0.0, self.cpu),
        )

    async def seen(self, page: Page) -> bytes:
        """Return it once it rests, or its time is over; as it is then.

        Raises TimeoutError if its scripts let nobody else run, and Playwright's errors.
        """
        self._page = page
        page.context.on("page", _close)
        until = _Deadline(self._settings.seconds)
        session = await page.context.new_cdp_session(page)
        self._time = _Time(session, self._pending, self._grace, self._lacks_scripts)
        await self._open_page(page, until)
        if self._settings.presses and self._look.text <= EMPTY and await self._told("enter"):
            await self._rests(until)
        if self._look.text > EMPTY and not self._wants_away:
            await self._follow(until)
        html = await self._content(page)
        self._leads_to(await self._told("gone"))
        self._leads_to(await self._told("routes"))
        may_explore = self._look.text > EMPTY and not self._wants_away
        if may_explore and self._shell.explores and self._look.links <= FEW_LINKS:
            await self._explore(page, until)
        return html.encode("utf-8", "replace")

    @property
    def _wants_away(self) -> bool:
        return self._opened > MOST_OPENED

    async def _open_page(self, page: Page, until: _Deadline) -> None:
        with suppress(PlaywrightError):  # it may go elsewhere at once, which it isn't let
            await page.goto(self._shell.url, wait_until="commit", timeout=1_000 * GRACE)
        await self._rests(until)

    async def _rests(self, until: _Deadline) -> None:
        """Return when the page has come to rest: it has text and has stopped to change.

        Or when its patience, or its time, is over.
        """
        passed = 0
        while not until.is_over and passed < PATIENCE:
            before = self._look
            has_passed = await self._passes(STEP, until)
            passed += STEP
            is_still = not self._pending and before == self._look
            is_restless = passed >= RESTLESS or not has_passed
            if not self._look.is_empty and (is_still or is_restless or self._wants_away):
                break

    async def _passes(self, milliseconds: int, until: _Deadline) -> bool:
        """Let time pass, then look at the page; tell whether it passed."""
        has_passed = self._time is None or await self._time.passes(milliseconds, until)
        self._look = _looked(await self._told("look"))
        return has_passed

    # Lists

    async def _follow(self, until: _Deadline) -> None:
        """Follow a list to where it goes on: by scrolling, or by a button that shows more."""
        vain = still = 0
        for _ in range(SCROLLS):
            if until.is_over or self._is_full:
                return
            before = self._look
            if still:
                await self._told("back")
                await self._drawn(until)
            moved = await self._told("scroll") is True and not still
            await self._drawn(until)
            await self._rests_shortly(until)
            still = 0 if moved or self._grew(before) else still + 1
            if still < STILL:
                continue
            if vain >= PRESSES or await self._told("more") is not True:
                return
            await self._rests_shortly(until)
            if not self._grew(before):
                vain += 1
                await self._told("vain")

    async def _drawn(self, until: _Deadline) -> None:
        """Return once what was scrolled to is drawn: its time passes as the clock's meanwhile."""
        drawn = asyncio.ensure_future(self._told("frame"))
        for _ in range(FRAMES):
            passes = self._time is None or await self._time.passes(int(1_000 * FRAME), until)
            if (await asyncio.wait([drawn], timeout=FRAME))[0] or not passes:
                break
        drawn.cancel()

    @property
    def _is_full(self) -> bool:
        return self._look.links >= MOST_LINKS or self._asked >= self._settings.requests

    def _grew(self, before: Look) -> bool:
        return self._look.links > before.links or self._look.text > before.text + EMPTY

    async def _rests_shortly(self, until: _Deadline) -> None:
        for _ in range(6):
            before = self._look
            await self._passes(STEP, until)
            if not self._look.loads or self._look == before:
                return

    # Ways on that are no links

    async def _explore(self, page: Page, until: _Deadline) -> None:
        """Ask buttons, cards and menus where they lead, by pressing each, and go nowhere."""
        before, anew = len(self._led_to), 0
        self._known = {*_texts(await self._told("noted"))}
        number, most = 0, await self._ways()
        while number < most and not until.is_over:
            if not await self._told("press", number=number):
                anew += 1
                if anew > WAYS:
                    break
                self._is_held = False
                self._opened = 0
                await self._open_page(page, until)
                if self._look.text <= EMPTY or not number < await self._ways():
                    break
                await self._told("press", number=number)
            number += 1
            await self._passes(STEP, until)
            self._leads_to(await self._told("noted"))
        self._explored = 1 + len(self._led_to) - before

    async def _ways(self) -> int:
        """Find what may lead on; let nothing lead away from now on; return how many there are."""
        self._is_held = True
        await self._told("hold")
        await self._told("fail")
        found = await self._told("ways", most=WAYS)
        self._leads_to(await self._told("noted"))
        return found if isinstance(found, int) and 0 <= found <= WAYS else 0

    def _leads_to(self, addresses: object) -> None:
        """Take note of where the page leads, besides by its links."""
        own = self._shell.url
        for address in _texts(addresses):
            is_one = address.startswith(("http://", "https://")) and len(address) <= URL
            if is_one and address != own and address not in self._known:
                self._note(address)

    def _note(self, address: str) -> None:
        if len(self._led_to) < _LED_TO:
            self._led_to.setdefault(address)

    # What is asked of the page

    async def _content(self, page: Page) -> str:
        """Return the page's HTML, open shadow roots within."""
        html = await self._told("whole")
        if isinstance(html, str):
            return html
        return await asyncio.wait_for(page.content(), self._grace)

    async def _told(self, verb: str, **given: object) -> object:
        """Return what the page answers to a verb of ``in_page.js``; None if it fails.

        That may be anything. Raises TimeoutError.
        """
        if self._page is None:
            return None
        asked = [verb, {**_WORDS, **given}]
        with suppress(PlaywrightError):  # the page goes elsewhere meanwhile, or broke what it needs
            return await asyncio.wait_for(self._page.evaluate(_IN_PAGE, asked), self._grace)
        return None

    # What the page asks for

    async def answer(self, route: Route, request: Request) -> None:
        """Give it what it asks for: from the crawl, or not at all."""
        with suppress(PlaywrightError):  # it is gone meanwhile
            if self._is_of_page(request):
                await self._open(route, request)
            elif request.resource_type in _EMPTY:  # scripts may wait for it; eyes don't
                self._name(request)
                content_type, body = _EMPTY[request.resource_type]
                await route.fulfill(status=200, content_type=content_type, body=body)
            elif request.method == "GET" and request.url in self._kept:
                await _fulfilled(route, *self._kept[request.url])
            elif refused := self._refusal(request):
                self._name(request)
                self._refused[refused] += 1
                await route.abort()
            else:
                is_script = request.resource_type == "script"
                self._scripts += is_script
                found = await self._fetched(request, request.resource_type)
                self._scripts -= is_script
                if self._shell.explores and request.method == "GET":
                    self._kept[request.url] = found
                await _fulfilled(route, *found)

    def _lacks_scripts(self) -> bool:
        return self._scripts > 0 and self._look.text <= EMPTY

    def _name(self, request: Request) -> None:
        is_file = request.method == "GET" and _may_be_asked(request)
        if is_file and len(self._named) < _NAMED:
            self._named.setdefault(request.url)

    def _is_of_page(self, request: Request) -> bool:
        if not request.is_navigation_request() or self._page is None:
            return False
        return request.frame == self._page.main_frame

    async def _open(self, route: Route, request: Request) -> None:
        """Give the page itself, again if it loads itself again: with the cookie that it set then.

        Where it wants to go otherwise is only noted.
        """
        is_own = _same(request.url, self._shell.url) and request.method == "GET"
        self._opened += 1
        if self._opened == 1:
            await self._itself(route)
        elif is_own and self._opened <= 1 + RELOADS and not self._is_held:
            await self._again(route, request)
        else:
            if not is_own and request.method == "GET" and _may_be_asked(request):
                self._note(request.url)
            await route.fulfill(status=204)  # so the page stays, which it may not if it fails

    async def _itself(self, route: Route) -> None:
        headers = {"content-type": self._shell.content_type or "text/html"}
        await route.fulfill(status=200, headers=headers, body=self._body)

    async def _again(self, route: Route, request: Request) -> None:
        """Give a page that loads itself again what its server answers to the cookie that it set."""
        cookie = (await request.all_headers()).get("cookie", "")[:URL]
        if not cookie or cookie == self._cookie:
            await self._itself(route)
            return
        answered, body = await self._fetched(request, "document")
        if answered.status == 200:
            self._cookie, self._body = cookie, body
        await self._itself(route)

    def _refusal(self, request: Request) -> str:
        """Return why a request isn't handed to the crawl, in a word; "" if it is."""
        if request.resource_type not in _FETCHED:
            return request.resource_type
        if not _may_be_asked(request):
            return "not http"
        if request.method != "GET" and not self._may_post(request):
            return "not GET"
        is_module = request.resource_type == "script" and self._look.text <= EMPTY
        self._modules += is_module
        self._asked += not is_module
        free = EMPTIER * self._settings.requests
        number = self._modules - free if is_module else self._asked
        return "too many" if number > self._settings.requests else ""

    def _may_post(self, request: Request) -> bool:
        """Tell whether a page asks its own site so for what it shows, and nobody pressed it to."""
        one, other = parse(request.url), parse(self._shell.url)
        if request.method != "POST" or self._is_held or one is None or other is None:
            return False
        is_short = len(request.post_data_buffer or b"") <= _POSTED
        return is_short and site(one.hostname) == site(other.hostname)


def _looked(told: object) -> Look:
    """Return what a page tells of itself, which may be anything."""
    if not isinstance(told, list) or len(told) != 4:
        return Look()
    counts = [n if isinstance(n, int) and 0 <= n <= _MOST_TOLD else 0 for n in told[:3]]
    return Look(counts[0], counts[1], counts[2], told[3] is True)


def _texts(told: object) -> list[str]:
    return [one for one in told if isinstance(one, str)] if isinstance(told, list) else []


def _same(one: str, other: str) -> bool:
    return one.partition("#")[0] == other.partition("#")[0]


def _may_be_asked(request: Request) -> bool:
    return request.url.startswith(("http://", "https://")) and len(request.url) <= URL


async def _fulfilled(route: Route, answered: Answered, body: bytes) -> None:
    """Hand on an answer of the crawl's, which knows why if there is none."""
    if answered.status:
        await route.fulfill(status=answered.status, headers=answered.headers, body=body)
    else:
        await route.abort()


async def _close(page: Page) -> None:
    """Close a window that a page opened."""
    with suppress(PlaywrightError):
        await page.close()
