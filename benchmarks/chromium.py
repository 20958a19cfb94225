"""Chromium as a reader of pages: what its DOM has after parsing, scripts off.

Pages are served on loopback under their own host names; no other name has an address. Each forbids
by its policy (CSP) all that it would load: asking for that and breaking it off takes far longer.
"""

from __future__ import annotations

import asyncio
import shutil
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from lswc.reading.browser.installed import CHROMIUMS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Page

SECONDS = 20
"""Seconds that Chromium has for a page."""

TIMES = 3
"""How often it is asked to show one: what the page before refreshes itself to breaks that off."""

TABS = 4
"""Pages that are shown at once: most of a page's time is spent waiting."""

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
    """Tabs, each of which shows pages one by one."""

    def __init__(self) -> None:
        self.tabs: asyncio.Queue[Page] = asyncio.Queue()
        self._served: dict[bytes, Served] = {}

    async def read(self, served: Served) -> Seen | str:
        """Return what Chromium sees of a page, or why it shows none."""
        name = served.url.partition("://")[2].encode()
        tab = await self.tabs.get()
        self._served[name] = served
        try:
            return await self._seen(tab, served)
        finally:
            del self._served[name]
            self.tabs.put_nowait(tab)

    async def _seen(self, tab: Page, served: Served) -> Seen | str:
        from playwright.async_api import Error

        said = "leads to another page"
        for _ in range(TIMES):
            try:
                await tab.goto(served.url, wait_until="commit", timeout=1_000 * SECONDS)
                await tab.wait_for_load_state("domcontentloaded", timeout=1_000 * SECONDS)
                seen = await tab.evaluate(_READ)
                if tab.url.partition("#")[0] == served.url:
                    return Seen(**seen)
            except Error as error:
                said = str(error).partition("\n")[0]
        return said

    async def answer(self, stream: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer a request of the browser: only the page itself is there."""
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            target = b"".join((await stream.readline()).split()[1:2])
            host = b""
            while line := (await stream.readline()).strip():
                if line[:5].lower() == b"host:":
                    host = line[5:].strip()
            writer.write(self._answer(host + target))
            await writer.drain()
        writer.close()

    def _answer(self, name: bytes) -> bytes:
        served = self._served.get(name)
        if served is None:
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
        reader = Reader()
        server = await asyncio.start_server(reader.answer, "127.0.0.1", 0)
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
            for _ in range(TABS):
                reader.tabs.put_nowait(await context.new_page())
            yield reader
        finally:
            await browser.close()
            server.close()
