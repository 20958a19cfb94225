"""Chromium as a reader of pages: what its DOM has after parsing, scripts off.

Pages are served on loopback under their own host names; no other name has an address. Each forbids
by its policy (CSP) all that it would load: asking for that and breaking it off takes far longer.
"""

from __future__ import annotations

import asyncio
import shutil
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from lswc.reading.browser.installed import CHROMIUMS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Page

SECONDS = 20
"""Seconds that Chromium has for a page."""

TIMES = 3
"""How often it is asked to show one: what the page before refreshes itself to breaks that off."""

# What lswc reads of a page (lswc.language.html), as the DOM has it.
_READ = """() => {
  const followed = ['next', 'prev', 'alternate', 'canonical', 'index', 'contents', 'start'];
  const links = [], add = (raw, url) => { if (raw && raw[0] !== '#') links.push(url); };
  const found = 'a, area[href], frame[src], iframe[src], link[href], meta[http-equiv]';
  for (const one of document.querySelectorAll(found)) {
    const name = one.localName, html = one.namespaceURI === 'http://www.w3.org/1999/xhtml';
    if (name === 'a') {
      const raw = one.getAttribute('href') ?? (html ? null : one.getAttribute('xlink:href'));
      if (raw === null) continue;
      if (html) add(raw, one.href);
      else if (raw && URL.canParse(raw, document.baseURI))
        add(raw, new URL(raw, document.baseURI).href);
    } else if (!html) continue;
    else if (name === 'area') add(one.getAttribute('href'), one.href);
    else if (name === 'link') {
      const rels = one.rel.toLowerCase().split(/\\s+/);
      if (followed.some(rel => rels.includes(rel)) && !rels.includes('stylesheet'))
        add(one.getAttribute('href'), one.href);
    } else if (name === 'meta') {
      if (one.httpEquiv.toLowerCase() !== 'refresh') continue;
      const to = /^\\s*[\\d.]+\\s*[;,]\\s*(?:url\\s*=\\s*)?["']?([^"']+)/i.exec(one.content);
      if (to && URL.canParse(to[1], document.baseURI))
        add(to[1], new URL(to[1], document.baseURI).href);
    } else add(one.getAttribute('src'), one.src);
  }
  const skipped = ['script', 'style', 'select', 'nav', 'footer', 'a', 'template', 'title'];
  const words = [];
  const walk = node => {
    for (const child of node.childNodes) {
      if (child.nodeType === Node.TEXT_NODE || child.nodeType === Node.CDATA_SECTION_NODE)
        words.push(child.data);
      else if (child.nodeType === Node.ELEMENT_NODE && !skipped.includes(child.localName))
        walk(child);
    }
  };
  if (document.body) walk(document.body);
  return {links, base: new URL('.', document.baseURI).href, charset: document.characterSet,
    type: document.contentType, title: document.title, text: words.join('\\n')};
}"""


class Seen(NamedTuple):
    """What Chromium sees of a page; ``base`` is what its links are relative to."""

    links: list[str]
    base: str
    charset: str
    type: str
    title: str
    text: str


class Served(NamedTuple):
    """A page: its URL, headers and body."""

    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


def executable() -> str | None:
    """Return the path of an installed Chromium, None if there is none."""
    return next(filter(None, map(shutil.which, CHROMIUMS)), None)


class Reader:
    """A tab that shows pages one by one."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.served: Served | None = None

    async def read(self, served: Served) -> Seen | str:
        """Return what Chromium sees of a page, or why it shows none."""
        from playwright.async_api import Error

        self.served = served
        said = ""
        for _ in range(TIMES):
            try:
                await self._page.goto(served.url, wait_until="commit", timeout=1_000 * SECONDS)
                await self._page.wait_for_load_state("domcontentloaded", timeout=1_000 * SECONDS)
                return Seen(**await self._page.evaluate(_READ))
            except Error as error:
                said = str(error).partition("\n")[0]
        return said

    async def answer(self, stream: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer a request of the browser: only the page itself is there."""
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            line = await stream.readline()
            while (await stream.readline()).strip():
                pass
            writer.write(self._answer(line.split()[1:2]))
            await writer.drain()
        writer.close()

    def _answer(self, target: list[bytes]) -> bytes:
        served = self.served
        path = served.url.split("/", 3)[3] if served else ""
        if served is None or target != [f"/{path}".encode()]:
            # A page that refreshes itself stays where it is.
            return b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"
        lines = "".join(f"{name}: {value}\r\n" for name, value in served.headers)
        lines += "Content-Security-Policy: default-src 'none'\r\n"
        lines += f"Content-Length: {len(served.body)}\r\nConnection: close\r\n\r\n"
        return b"HTTP/1.1 200 OK\r\n" + lines.encode("latin-1") + served.body


@asynccontextmanager
async def reading() -> AsyncIterator[Reader]:
    """Start Chromium, and end it. Needs the extra ``browser``."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        reader: Reader | None = None

        async def answer(*streams: Any) -> None:
            if reader is not None:
                await reader.answer(*streams)

        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        browser = await playwright.chromium.launch(
            executable_path=executable(),
            args=[
                f"--host-resolver-rules=MAP * 127.0.0.1:{port}",
                "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                "--disable-features=HttpsUpgrades,HttpsFirstBalancedModeAutoEnable",
                "--blink-settings=imagesEnabled=false",
            ],
        )  # fmt: skip
        try:
            context = await browser.new_context(java_script_enabled=False, accept_downloads=False)
            reader = Reader(await context.new_page())
            yield reader
        finally:
            await browser.close()
            server.close()
