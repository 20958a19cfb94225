"""Crawls that show pages in a real browser."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import psutil
import pytest
from fastwarc import ArchiveIterator, WarcRecordType

from lswc.corpus.stored_pages import StoredPages
from lswc.reading.browser.installed import CHROMIUMS
from tests.scenarios.site import BRAKE, ENGLISH, ROOT, THAI, Site, page, run, words

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CHROMIUM = next(filter(None, map(shutil.which, CHROMIUMS)), None)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine"),
]
SHELL = (
    '<html><head><title>t</title><script type="module" src="/app.js"></script></head><body>'
    '<noscript>You need to enable JavaScript</noscript><div id="root"></div></body></html>'
)
APP = """
const told = await (await fetch('/api/text.json')).json();
await fetch('/private/x.json').catch(() => 0);
root.innerHTML = `<p>${told.text}</p><a href="/second">x</a><a href="http://two.example/">y</a>`;
"""


def settings(**others: object) -> dict[str, object]:
    sandbox = int(os.geteuid() != 0)
    return {"LSWC_BROWSER": "auto", "LSWC_BROWSER_SANDBOX": sandbox, "LSWC_TRY_AGAIN": 0, **others}


def app(site: Site) -> None:
    """Make a web whose pages in Thai can be had by a browser only."""
    site.add("one.example/", SHELL)
    site.add("one.example/second", SHELL)
    site.add("one.example/app.js", APP)
    site.add("one.example/api/text.json", json.dumps({"text": THAI * 4}))
    site.add("one.example/private/x.json", "{}")
    site.add("one.example/robots.txt", "User-agent: *\nDisallow: /private/\n")
    site.add("two.example/", page(THAI))
    site.seeds("http://one.example/")


def test_a_page_with_text_is_shown_if_a_script_makes_its_list(site: Site) -> None:
    listed = json.dumps(["/1.html", "/2.html"])
    script = (
        "fetch('/list.json').then(r => r.json()).then(urls => { for (const url of urls)"
        " document.getElementById('list').insertAdjacentHTML('beforeend',"
        " `<li><a href=${url}>x</a>`) })"
    )
    body = f"<p>{THAI * 9}</p><ul id=list></ul><a href=#/a>a</a><script>{script}</script>"
    site.add("one.example/", f"<html><title>t</title><body>{body}")
    site.add("one.example/list.json", listed)
    for number in (1, 2):
        site.add(f"one.example/{number}.html", page(THAI))
    site.seeds("http://one.example/")
    site.crawl(**settings())
    told = {record["url"]: record["rendered"] for record in site.records}
    one = "http://one.example/"
    assert told == {one: True, f"{one}1.html": False, f"{one}2.html": False}
    assert site.summary["shells"]["rendered"] == 2
    assert site.summary["finished"] == {"html": 3, "copy": 1}  # what #/a shows, too


def test_a_page_is_read_archived_and_counted_as_its_scripts_leave_it(site: Site) -> None:
    app(site)
    site.crawl(**settings(LSWC_ARCHIVE="relevant", LSWC_READERS=1))
    told = {record["url"]: (record["relevant"], record["rendered"]) for record in site.records}
    assert told == {
        "http://one.example/": (True, True),
        "http://one.example/second": (True, True),
        "http://two.example/": (True, False),
    }
    shells = site.summary["shells"]
    assert shells["rendered"] == 2
    assert shells["not given to browser: robots.txt"] == 2
    assert site.summary["servers"] == {"relevant": 2}
    bodies = archived(site.folder)
    assert THAI in bodies["resource", "urn:dom:http://one.example/"]
    assert bodies["response", "http://one.example/"] == SHELL
    assert bodies["response", "http://one.example/app.js"] == APP
    assert ("response", "http://one.example/api/text.json") in bodies
    assert not any(url.endswith("private/x.json") for _, url in bodies)
    pages = {one.url: (one.body or b"").decode() for one in StoredPages(site.folder)}
    assert all(THAI in text for text in pages.values())
    assert len(pages) == 3
    done = run([sys.executable, "-m", "lswc", "check", str(site.folder)])
    assert done.returncode == 0, done.stdout


def archived(folder: Path) -> Mapping[tuple[str, str], str]:
    found = {}
    kinds = WarcRecordType.response | WarcRecordType.resource
    for path in (folder / "warc").glob("*.warc.gz"):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, kinds, parse_http=True):
                kind = "resource" if record.record_type == WarcRecordType.resource else "response"
                body = record.reader.read().decode("utf-8", "replace")
                found[kind, record.headers["WARC-Target-URI"]] = body
    return found


def test_a_site_without_a_relevant_page_has_so_many_tries(site: Site) -> None:
    site.add("en.example/", page(ENGLISH, *(f"/{number}" for number in range(9))))
    for number in range(9):
        site.add(f"en.example/{number}", SHELL)
    site.add("en.example/app.js", f"root.textContent = '{ENGLISH * 9}' + Math.random()")
    site.seeds("http://en.example/")
    site.crawl(**settings())
    shells = site.summary["shells"]
    del shells["browser's CPU seconds"]
    assert shells == {"rendered": 5, "rendered enough": 4}


@pytest.mark.parametrize(("text", "number"), [(ENGLISH * 9, 1), (THAI * 9 + "<i>ข่าว</i>", 0)])
def test_a_page_that_reads_otherwise_in_a_browser_is_marked(
    site: Site, text: str, number: int
) -> None:
    script = f"<script>document.getElementById('p').innerHTML = '{text}'</script>"
    body = f"<html><title>t</title><body><p id=p>{THAI * 9}</p>{script}"
    site.add("one.example/", body)
    site.seeds("http://one.example/")
    site.crawl(**settings(LSWC_BROWSER_PAGES="host:one.example"))
    assert site.summary["shells"]["chosen, rendered"] == 1
    assert site.summary["content"].get("other text in browser", 0) == number


def test_pages_that_are_not_shown_are_no_duplicates_of_each_other(site: Site) -> None:
    shells, pages = [f"/{n}" for n in range(20)], [f"/p{n}" for n in range(5)]
    site.add("one.example/", page(THAI, *shells, *pages))
    for path in shells:
        site.add(f"one.example{path}", SHELL)
    for path in pages:
        site.add(f"one.example{path}", page(THAI + words(path)))
    site.seeds("http://one.example/")
    site.crawl(LSWC_MAX_DUPLICATES=4, LSWC_TRY_AGAIN=0)
    assert site.summary["finished"] == {"not rendered": 20, "html": 6}


def test_a_crawl_that_is_killed_while_a_page_is_shown_shows_it_again(site: Site) -> None:
    app(site)
    site.add("one.example/app.js", f"await new Promise(() => 0);{APP}")  # till it is killed
    command = site.command(**settings())
    crawl = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        started = wait_for_browser(crawl.pid)
    finally:
        os.kill(crawl.pid, signal.SIGKILL)
        crawl.wait()
    _, alive = psutil.wait_procs(started, timeout=BRAKE)
    assert not alive
    site.add("one.example/app.js", APP)
    site.crawl(**settings())
    assert len(site.records) == 3
    assert sum(record["rendered"] for record in site.records) == 2
    assert site.summary["finished"]["html"] == 3


def wait_for_browser(crawl: int) -> list[psutil.Process]:
    """Return a crawl's processes once one of them is a Chromium that shows a page."""
    for _ in range(6_000):
        with suppress(psutil.NoSuchProcess):
            started: list[psutil.Process] = psutil.Process(crawl).children(recursive=True)
            if sum("chrom" in process.name() for process in started) > 4:
                return started
        time.sleep(0.05)
    raise AssertionError("no browser was started")


def test_what_lacks_is_one_line_before_anything_is_fetched(site: Site, tmp_path: Path) -> None:
    app(site)
    lines = {
        "LSWC_BROWSER=/no/such/chromium": "LSWC_BROWSER='/no/such/chromium': there is no such",
        "LSWC_BROWSER=/bin/false": "Chromium doesn't start",
    }
    for given, line in lines.items():
        name, _, value = given.partition("=")
        done = run(site.command(**settings(**{name: value})))
        assert done.returncode == 2
        assert line in done.stderr
        assert done.stderr.count("\n") == 1
        assert not (site.folder / "frontier.db").exists()


CLOCK = (
    "<p id=now></p><script>fetch('/api/' + 'now' + '.json');"
    "const late = new Image(); "
    "late.onload = () => { new Image().src = '/im' + 'g/later' + '.png' };"
    "late.src = '/im' + 'g/late' + '.png'</script>"
)


def test_chosen_pages_are_shown_and_what_their_scripts_ask_for_is_archived(site: Site) -> None:
    names = ("/", *(f"/{number}.html" for number in range(1, 6)))
    for name in names:
        site.add(f"one.example{name}", page(f"{THAI} {name}", *names) + CLOCK)
    site.add("one.example/api/now.json", '{"now": 1}')
    for name in ("late", "later"):
        site.add(f"one.example/img/{name}.png", b"\x89PNG" + name.encode())
    site.add("two.example/", page(THAI) + CLOCK)
    site.seeds("http://one.example/", "http://two.example/")
    for number, (chosen, shown) in enumerate(
        (("shells", 0), ("0.5", 3), ("all", 7), ("host:two.example", 1))
    ):
        crawl = Site(site.web, site.folder.with_name(f"crawl{number}"))
        crawl.crawl(**settings(LSWC_BROWSER_PAGES=chosen))
        assert sum(record["rendered"] for record in crawl.records) == shown, chosen
        assert crawl.summary["shells"].get("chosen, rendered", 0) == shown
        is_there = ("response", "http://one.example/api/now.json") in archived(crawl.folder)
        assert is_there == (chosen in ("0.5", "all"))
        for name in ("late", "later"):  # images aren't looked at there, and archived
            image = ("response", f"http://one.example/img/{name}.png")
            assert (image in archived(crawl.folder)) == is_there


def test_all_pages_are_those_that_are_archived(site: Site) -> None:
    site.add("one.example/", page(THAI, "/en.html"))
    site.add("one.example/en.html", page(ENGLISH) + CLOCK)
    site.add("one.example/api/now.json", '{"now": 1}')
    site.seeds("http://one.example/")
    for kept, shown in (("relevant", 1), ("all", 2)):
        crawl = Site(site.web, site.folder.with_name(kept))
        crawl.crawl(**settings(LSWC_BROWSER_PAGES="all", LSWC_ARCHIVE=kept))
        assert crawl.summary["shells"]["chosen, rendered"] == shown
        is_there = ("response", "http://one.example/api/now.json") in archived(crawl.folder)
        assert is_there == (kept == "all")


def test_what_is_no_choice_of_pages(site: Site) -> None:
    site.add("one.example/", page(THAI))
    site.seeds("http://one.example/")
    for given in ("1.5", "host:", "path~("):
        done = run(site.command(**settings(LSWC_BROWSER_PAGES=given)))
        assert done.returncode == 2
        assert "LSWC_BROWSER_PAGES" in done.stderr
        assert len(done.stderr.splitlines()) == 1
