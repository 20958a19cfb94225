"""Crawls the sites of ``benchmarks.apps`` as Browsertrix Crawler does, by the behaviors it uses.

Run by hand, after ``npm install browsertrix-behaviors`` in some folder:

python -m benchmarks.behaviors_on_apps FOLDER/node_modules/browsertrix-behaviors/dist/behaviors.js
    [SITE ...]

Browsertrix itself needs Docker. This does what its documentation says of its defaults: each page
is loaded until its network is idle, its behaviors run (autoplay, autofetch, autoscroll and those
of single sites, 90 s at most), and its links are followed on the host, without fragments. With
CLICK=1 autoclick runs too, and with HASH=1 fragments are kept.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic
from urllib.parse import urlsplit

from playwright.async_api import Error, Page, async_playwright

from lswc.reading.browser.installed import chromium
from tests.scenarios.app_web import PAGES, AppWeb
from tests.scenarios.site import words

BEHAVIOR_SECONDS = 90
MOST = 600
_START = """options => {
  self.__bx_behaviors.init({...options, log: false});
  return self.__bx_behaviors.run();
}"""


async def crawl(name: str, port: int, behaviors: str) -> tuple[int, int]:
    """Crawl a site; return how many of its pages were read, and how many were loaded."""
    seen, texts, loaded = {f"http://{name}.example/"}, list[str](), 0
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium("auto"),
            chromium_sandbox=os.geteuid() != 0,
            args=[f"--host-resolver-rules=MAP * 127.0.0.1:{port}"],
        )
        context = await browser.new_context()
        await context.add_init_script(behaviors)
        queue = [*seen]
        while queue and loaded < MOST:
            page = await context.new_page()
            links: list[str] = []
            loaded += 1
            try:
                text, links = await _read(page, queue.pop(0))
                texts.append(text)
            except (Error, TimeoutError) as error:
                print(f"  {error}"[:120])
            await page.close()
            for link in links:
                url = link if os.environ.get("HASH") else link.partition("#")[0]
                if urlsplit(url).hostname == f"{name}.example" and url not in seen:
                    seen.add(url)
                    queue.append(url)
        await browser.close()
    own = [words(f"{name} {number}") for number in range(PAGES[name])]
    return sum(any(one in text for text in texts) for one in own), loaded


async def _read(page: Page, url: str) -> tuple[str, list[str]]:
    """Return a page's text and links, once its behaviors have run."""
    await page.goto(url, wait_until="load", timeout=90_000)
    with suppress(Error):
        await page.wait_for_load_state("networkidle", timeout=15_000)
    options = {
        "autofetch": True, "autoplay": True, "autoscroll": True, "siteSpecific": True,
        "autoclick": bool(os.environ.get("CLICK")), "clickSelector": "a",
    }  # fmt: skip
    try:
        async with asyncio.timeout(BEHAVIOR_SECONDS):
            await page.evaluate(_START, options)
    except (Error, TimeoutError) as error:
        print(f"  behaviors: {error}"[:100])
    links = "[...document.querySelectorAll('a[href]')].map(a => a.href)"
    found = await page.evaluate(f"() => [document.body.innerText, {links}]")
    return str(found[0]), list(map(str, found[1]))


def main(script: str, names: list[str]) -> None:
    """Crawl the sites of these names; all, if none is given."""
    behaviors = Path(script).read_text("utf-8")
    print("site         pages   read  loaded  requests  seconds")
    for name in names or PAGES:
        with AppWeb() as web:
            begun = monotonic()
            port = int(os.environ["HOST_WEB_PORT"])
            read, loaded = asyncio.run(crawl(name, port, behaviors))
            took = monotonic() - begun
            print(
                f"{name:<10} {PAGES[name]:>7} {read:>6} {loaded:>7} {web.asked.total():>9}"
                f" {took:>8.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
