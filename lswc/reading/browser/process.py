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
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any

import msgspec
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import async_playwright

from lswc.processes import MAX_LETTER, Letters, letter
from lswc.reading.browser.children import cpu, end_children, memory
from lswc.reading.browser.messages import (
    DIED,
    TOO_LARGE,
    TOO_LONG,
    Answered,
    Settings,
    Shell,
    Started,
    Wanted,
)
from lswc.reading.browser.one_page import GRACE, URL, OnePage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Browser, Playwright, Request

_WATCHED = 0.5  # seconds between two looks at the browser's memory
_PIECE = 1 << 20
_HEADERS = ("accept", "content-type", "origin", "referer", "x-requested-with")
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
        page = OnePage(shell, body, self._settings, self._fetched, self._answers)
        page.cpu = -cpu()
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

    async def _shown(self, page: OnePage) -> tuple[bytes, str]:
        """Return a page's HTML, or what is wrong. Raises TimeoutError if it hangs."""
        context = await self._browser.new_context(
            user_agent=self._settings.agent,
            locale=_locale(self._settings.language),
            accept_downloads=False,
            service_workers="block",
        )
        await context.route(lambda _: True, page.answer)
        html = await page.seen(await context.new_page())
        page.cpu += cpu()  # now: what the page ran in may end with it
        await asyncio.wait_for(context.close(), GRACE)
        return html, ""

    async def _watch(self) -> None:
        """End the browser if it takes too much memory: its page then has died."""
        while memory() <= self._settings.memory:
            await asyncio.sleep(_WATCHED)
        end_children()
        os._exit(1)

    async def _fetched(self, request: Request, kind: str) -> tuple[Answered, bytes]:
        """Return what the crawl answers to a request; a page's own has its cookie."""
        number = next(self._numbers)
        answer: asyncio.Future[tuple[Answered, bytes]] = asyncio.get_running_loop().create_future()
        self._answers[number] = answer
        is_page = kind == "document"
        given = await request.all_headers() if is_page else request.headers
        names = ("accept", "cookie") if is_page else _HEADERS
        headers = {name: given[name][:URL] for name in names if name in given}
        posted = request.post_data_buffer or b"" if request.method == "POST" else b""
        wanted = Wanted(number, request.url, kind, headers, request.method)
        self._writer.write(letter(wanted, posted))
        return await answer


def _locale(accepted: str) -> str | None:
    """Return the language that scripts are told: the first of an Accept-Language, if it is one."""
    first = re.match(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*(?=\s*(?:[,;]|$))", accepted)
    return first[0] if first else None


if __name__ == "__main__":
    main()
