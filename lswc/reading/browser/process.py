"""Process that has the browser: it shows pages one by one, and ends with the crawl.

``python -m lswc.reading.browser.process <folder>``, its standard input a socket;
``lswc.reading.browser.messages`` says what goes through it. The folder is where the browser
may write.

The browser has no network: its proxy doesn't exist, and no name has an address. Whatever a page
asks for is handed to the crawl, which fetches it as it fetches all else, or refuses it. It has no
other way to a server, so a hole in what is intercepted here leads nowhere.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import socket
import sys
from base64 import b64decode
from collections import Counter
from contextlib import suppress
from itertools import count
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import async_playwright

from lswc.processes import MAX_LETTER, Letters, letter
from lswc.reading.browser.children import end_children, memory
from lswc.reading.browser.messages import (
    DIED,
    TOO_LARGE,
    TOO_LONG,
    Answered,
    Settings,
    Shell,
    Shown,
    Started,
    Wanted,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Collection

    from playwright.async_api import Browser, Page, Playwright, Request, Route

QUIET = 0.5
"""Seconds between two looks at a page, in which it asked for nothing."""

LOOKS = 6
"""Looks at a page that changes each time: a clock, say."""

PATIENCE = 6.0
"""Seconds that a page without text is waited for after it rests: a timer may write it."""

EMPTY = 200
"""Characters of a page without text: a title, "Loading ..."."""

SCROLLS = 5
"""Times that a page which grew, or may grow, is scrolled to its end: lists go on there."""

GRACE = 10.0
"""Seconds that the browser has to say what a page looks like."""

_WATCHED = 0.5  # seconds between two looks at the browser's memory
_LED_TO = 10  # pages
_NAMED = 300  # files
_PIXEL = b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
_EMPTY = {"stylesheet": ("text/css", b""), "image": ("image/gif", _PIXEL)}
_PIECE = 1 << 20
_URL = 8_000  # characters
_MOST_TOLD = 1 << 31  # of what a page counts of itself
_FETCHED = frozenset({"script", "xhr", "fetch"})
_HEADERS = ("accept", "origin", "referer", "x-requested-with")
_ARGUMENTS = (
    # No network. A name that is mapped so is never asked for, nor is a written address.
    "--proxy-server=no-network.invalid:1",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-background-networking",
    "--disable-sync",
    "--no-pings",
    # Nothing that only eyes and ears need.
    "--disable-gpu",
    "--disable-3d-apis",
    "--disable-remote-fonts",
    "--disable-speech-api",
    "--disable-notifications",
    "--mute-audio",
    "--renderer-process-limit=2",
    "--js-flags=--max-old-space-size=512",
)

_PREFIX = re.compile(r"^\W*\[pid=\d+\]\[err\]\s*(?:\[[^\]]*\]\s*)?")

# What a page looks like: its HTML with open shadow roots written out (HTML Standard §8.5.4), null
# if it has none; the length of its text; and its links that only its scripts tell apart.
_LOOK = """() => {
  const roots = [], hosts = [document];
  for (const host of hosts)
    for (const element of host.querySelectorAll('*'))
      if (element.shadowRoot && roots.length < 1000) {
        roots.push(element.shadowRoot); hosts.push(element.shadowRoot);
      }
  const root = document.documentElement;
  const whole = () => '<!DOCTYPE html>' + root.cloneNode(false).outerHTML.split('</html')[0]
    + root.getHTML({shadowRoots: roots}) + '</html>';
  const texts = roots.map(shadow => shadow.textContent.trim().length);
  const text = texts.reduce((sum, length) => sum + length, document.body?.innerText.length || 0);
  const routes = [...document.querySelectorAll('a[href^="#/"], a[href^="#!"]')];
  return [roots.length ? whole() : null, text,
    new Set(routes.map(route => route.getAttribute('href'))).size];
}"""
_SCROLL = """() => {
  const page = document.scrollingElement, before = page ? page.scrollTop : 0;
  if (page) page.scrollTo({top: page.scrollHeight, behavior: 'instant'});
  return Boolean(page) && page.scrollTop > before;
}"""

_letters = msgspec.msgpack.Decoder(Settings | Shell | Answered)


def main() -> None:
    """Show pages until the socket ends; nothing that was started outlives that."""
    folder = sys.argv[1]
    try:
        with socket.socket(fileno=0) as crawl:
            asyncio.run(_serve(crawl, folder))
    finally:
        end_children()
        shutil.rmtree(folder, ignore_errors=True)


async def _serve(crawl: socket.socket, folder: str) -> None:
    crawl.setblocking(False)
    stream, writer = await asyncio.open_unix_connection(sock=crawl)
    letters = _received(stream)
    with suppress(ConnectionError, StopAsyncIteration):
        settings: Settings = (await anext(letters))[0]
        async with async_playwright() as playwright:
            try:
                browser = await _launched(playwright, settings, folder)
            except PlaywrightError as error:
                writer.write(letter(Started(_reason(error.message))))
                await writer.drain()
                return
            writer.write(letter(Started("")))
            try:
                await _Window(browser, settings, writer).show_all(letters)
            finally:
                _end(folder)  # not in order, which a page that hangs would hold up


def _end(folder: str) -> None:
    end_children()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(0)


async def _received(stream: asyncio.StreamReader) -> AsyncIterator[tuple[Any, bytes]]:
    letters = Letters(MAX_LETTER)
    while piece := await stream.read(_PIECE):
        for said, with_it in letters.add(piece):
            yield _letters.decode(said), with_it


async def _launched(playwright: Playwright, settings: Settings, folder: str) -> Browser:
    return await playwright.chromium.launch(
        executable_path=settings.executable,
        chromium_sandbox=settings.sandbox,
        args=[*_ARGUMENTS],
        ignore_default_args=["--disable-popup-blocking"],
        handle_sigint=False,
        handle_sigterm=False,
        handle_sighup=False,
        downloads_path=folder,
        # Nothing of the crawl's own environment.
        env={"PATH": os.environ.get("PATH", ""), "HOME": folder, "TMPDIR": folder, "LANG": "C"},
    )


def _reason(message: str) -> str:
    """Return the line of a launch that failed which says why."""
    lines = message.splitlines()
    fatal = [line for line in lines if "FATAL:" in line]
    errors = [line for line in lines if "ERROR:" in line and "/dbus/" not in line]
    said = (_PREFIX.sub("", line).strip() for line in (*fatal, *errors, *lines))
    return next(filter(None, said), "no reason given")[:300]


class _Window:
    """Shows pages in a browser, each in a context of its own, of which nothing is kept."""

    def __init__(self, browser: Browser, settings: Settings, writer: asyncio.StreamWriter) -> None:
        self._browser, self._settings, self._writer = browser, settings, writer
        self._answers: dict[int, asyncio.Future[tuple[Answered, bytes]]] = {}
        self._numbers = count(1)
        self._showing: asyncio.Task[None] | None = None

    async def show_all(self, letters: AsyncIterator[tuple[Any, bytes]]) -> None:
        """Show the pages that come, until no more can."""
        async for said, with_it in letters:
            if isinstance(said, Shell):
                self._showing = asyncio.create_task(self._show(said, with_it))
            elif isinstance(said, Answered) and said.number in self._answers:
                self._answers.pop(said.number).set_result((said, with_it))

    async def _show(self, shell: Shell, body: bytes) -> None:
        self._answers.clear()
        watching = asyncio.create_task(self._watch()) if self._settings.memory else None
        page = _OnePage(shell, body, self._settings, self._fetched, self._answers)
        try:
            html, problem = await self._shown(page)
        except TimeoutError:
            html, problem = b"", TOO_LONG
        except (PlaywrightError, OSError):
            html, problem = b"", DIED
        if self._settings.largest and len(html) > self._settings.largest:
            html, problem = b"", TOO_LARGE
        if watching is not None:
            watching.cancel()
        self._writer.write(letter(page.told(problem), html))
        await self._writer.drain()

    async def _shown(self, page: _OnePage) -> tuple[bytes, str]:
        """Return a page's HTML, or what is wrong. Raises TimeoutError if it hangs."""
        context = await self._browser.new_context(
            user_agent=self._settings.agent,
            locale=_locale(self._settings.language),
            accept_downloads=False,
            service_workers="block",
        )
        await context.route(lambda _: True, page.answer)
        html = await page.seen(await context.new_page())
        await asyncio.wait_for(context.close(), GRACE)
        return html, ""

    async def _watch(self) -> None:
        """End the browser if it takes too much memory: its page then has died."""
        while memory() <= self._settings.memory:
            await asyncio.sleep(_WATCHED)
        end_children()
        os._exit(1)

    async def _fetched(self, request: Request) -> tuple[Answered, bytes]:
        """Return what the crawl answers to a request."""
        number = next(self._numbers)
        answer: asyncio.Future[tuple[Answered, bytes]] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        given = request.headers
        headers = {name: given[name][:_URL] for name in _HEADERS if name in given}
        self._writer.write(letter(Wanted(number, request.url, request.resource_type, headers)))
        return await answer


class _OnePage:
    """A page in the browser: ``fetched`` gets what it asks for, ``pending`` has what it waits for.

    It is given itself, as its server sent it, and isn't let go anywhere else.
    """

    def __init__(
        self,
        shell: Shell,
        body: bytes,
        settings: Settings,
        fetched: Callable[[Request], Awaitable[tuple[Answered, bytes]]],
        pending: Collection[int],
    ) -> None:
        self._shell, self._body, self._settings = shell, body, settings
        self._fetched, self._pending = fetched, pending
        self._grace = min(GRACE, settings.seconds)
        self._page: Page | None = None
        self._is_open = False
        self._asked = self._text = self._routes = 0
        self._led_to: dict[str, None] = {}
        self._refused: Counter[str] = Counter()
        self._named: dict[str, None] = {}

    def told(self, problem: str) -> Shown:
        """Return what is to say of it."""
        url = self._page.url if self._page is not None else ""
        led_to, named = tuple(self._led_to), tuple(self._named)
        return Shown(url[:_URL], led_to, dict(self._refused), problem, self._routes, named)

    async def seen(self, page: Page) -> bytes:
        """Return it once it rests, or its time is over; as it is then.

        Raises TimeoutError if its scripts let nobody else run, and Playwright's errors.
        """
        self._page = page
        page.context.on("page", _close)
        until = monotonic() + self._settings.seconds
        with suppress(PlaywrightError):  # it may go elsewhere at once, which it isn't let
            await page.goto(self._shell.url, wait_until="commit", timeout=1_000 * GRACE)
        patience = min(until, monotonic() + PATIENCE)
        html, looks, scrolls = "", 0, 0
        while monotonic() < until and looks < LOOKS:
            await asyncio.sleep(QUIET)
            if self._pending:
                continue
            before, html = html, await self._content(page)
            if len(html) != len(before):
                looks += 1
            elif self._text > EMPTY and scrolls < SCROLLS and await self._scrolled(page):
                scrolls, looks = scrolls + 1, 0
            elif self._text > EMPTY or monotonic() >= patience:
                break
        else:
            html = await self._content(page)
        return html.encode("utf-8", "replace")

    async def _content(self, page: Page) -> str:
        """Return the page's HTML, open shadow roots within; take notice of its text."""
        html, self._text, self._routes = _told(await self._asked_of(page, _LOOK))
        return html or await asyncio.wait_for(page.content(), self._grace)

    async def _scrolled(self, page: Page) -> bool:
        """Scroll to the page's end; tell whether that wasn't seen yet."""
        return await self._asked_of(page, _SCROLL) is True

    async def _asked_of(self, page: Page, script: str) -> object:
        """Return what a script says of the page; None if it fails. Raises TimeoutError."""
        with suppress(PlaywrightError):  # the page goes elsewhere meanwhile, or broke what it needs
            return await asyncio.wait_for(page.evaluate(script), self._grace)
        return None

    async def answer(self, route: Route, request: Request) -> None:
        """Give it what it asks for: from the crawl, or not at all."""
        with suppress(PlaywrightError):  # it is gone meanwhile
            if self._is_of_page(request):
                await self._open(route, request)
            elif request.resource_type in _EMPTY:  # scripts may wait for it; eyes don't
                self._name(request)
                content_type, body = _EMPTY[request.resource_type]
                await route.fulfill(status=200, content_type=content_type, body=body)
            elif refused := self._refusal(request):
                self._name(request)
                self._refused[refused] += 1
                await route.abort()
            else:
                await _fulfilled(route, *await self._fetched(request))

    def _name(self, request: Request) -> None:
        is_file = request.method == "GET" and _may_be_asked(request)
        if is_file and len(self._named) < _NAMED:
            self._named.setdefault(request.url)

    def _is_of_page(self, request: Request) -> bool:
        if not request.is_navigation_request() or self._page is None:
            return False
        return request.frame == self._page.main_frame

    async def _open(self, route: Route, request: Request) -> None:
        """Give the page itself, once; where it wants to go after that is only noted."""
        if not self._is_open:
            self._is_open = True
            headers = {"content-type": self._shell.content_type or "text/html"}
            await route.fulfill(status=200, headers=headers, body=self._body)
            return
        is_link = request.method == "GET" and _may_be_asked(request)
        if is_link and len(self._led_to) < _LED_TO:
            self._led_to.setdefault(request.url)
        await route.abort()

    def _refusal(self, request: Request) -> str:
        """Return why a request isn't handed to the crawl, in a word; "" if it is."""
        if request.resource_type not in _FETCHED:
            return request.resource_type
        if request.method != "GET":
            return "not GET"
        if not _may_be_asked(request):
            return "not http"
        self._asked += 1
        return "too many" if self._asked > self._settings.requests else ""


def _told(told: object) -> tuple[str, int, int]:
    """Return what a page tells of itself, which may be anything: HTML, if it has other; numbers."""
    html, text, routes = told if isinstance(told, list) and len(told) == 3 else ("", 0, 0)
    numbers = [n if isinstance(n, int) and 0 <= n <= _MOST_TOLD else 0 for n in (text, routes)]
    return html if isinstance(html, str) else "", numbers[0], numbers[1]


def _may_be_asked(request: Request) -> bool:
    return request.url.startswith(("http://", "https://")) and len(request.url) <= _URL


async def _fulfilled(route: Route, answered: Answered, body: bytes) -> None:
    """Hand on an answer of the crawl's, which knows why if there is none."""
    if answered.status:
        await route.fulfill(status=answered.status, headers=answered.headers, body=body)
    else:
        await route.abort()


def _locale(accepted: str) -> str | None:
    """Return the language that scripts are told: the first of an Accept-Language, if it is one."""
    first = re.match(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*(?=\s*(?:[,;]|$))", accepted)
    return first[0] if first else None


async def _close(page: Page) -> None:
    """Close a window that a page opened."""
    with suppress(PlaywrightError):
        await page.close()


if __name__ == "__main__":
    main()
