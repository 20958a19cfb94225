"""What was archived is replayed by pywb and by ReplayWeb.page, and looks as it did on the web."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import wave
from base64 import b64decode
from collections import Counter
from contextlib import ExitStack
from io import BytesIO
from threading import Thread
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from lswc.archive import wacz
from lswc.archive.cdxj import entries
from lswc.archive.collection import collected
from lswc.lab.demo.generate import prepare
from lswc.workbench.player import served
from lswc.workbench.replay import Player, server
from tests.archive.replaying import (
    OFFLINE,
    REPLAYWEBPAGE,
    WAYBACK,
    chromium,
    live,
    needs_chromium,
    needs_pywb,
    needs_replaywebpage,
    pywb,
    replaywebpage,
    seen,
    shown_by_replaywebpage,
)
from tests.corpus.test_documents import ZAWGYI
from tests.scenarios.site import THAI, Site, environment, page, run

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    Serve = Callable[[Path], AbstractContextManager[int]]

pytestmark = [pytest.mark.slow, needs_chromium]

HOSTS = (
    "www.samutlib-demo.go.th", "www.talaadnam-demo.com", "www.aharnthai-demo.com",
    "www.phleng-demo.com", "www.watpa-demo.or.th",
)  # fmt: skip
PAGES = 20
TOLERATED = 0.001  # share of pixels

TIS = '<meta http-equiv="Content-Type" content="text/html; charset=tis-620">'
CODED = {
    "http://www.one.co.th/": (f"<meta charset=utf-8><p>{THAI}</p>".encode(), THAI),
    "http://www.one.co.th/tis.html": (f"{TIS}<h1>ภาษา</h1><p>{THAI}</p>".encode("tis-620"), THAI),
    "http://www.my.example/": (f"<meta charset=utf-8><p>{ZAWGYI}</p>".encode(), ZAWGYI),
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A crawl of five hosts of the demo web, with all that their pages need."""
    folder = tmp_path_factory.mktemp("replay")
    site = Site(prepare(folder / "demo-web"), folder / "crawl")
    site.seeds(*(f"http://{host}/" for host in HOSTS))
    allowed = ",".join(host.removeprefix("www.") for host in HOSTS)
    site.crawl(LSWC_ALLOWED_DOMAINS=allowed, LSWC_ARCHIVE="all", LSWC_SITEMAPS=1)
    return site


@pytest.fixture(scope="module")
def urls(demo: Site) -> list[str]:
    """Twenty of its pages: of each host as many, its front page and its app's shell among them."""
    found: list[str] = []
    for host in HOSTS:
        own = sorted(url for url in demo.urls if url.startswith(f"http://{host}/"))
        found += own[:: max(1, len(own) // (PAGES // len(HOSTS)))][: PAGES // len(HOSTS)]
    assert len(found) == PAGES
    return [f"http://{HOSTS[0]}/app.html", *found[1:]]


@needs_pywb
def test_pywb_shows_pages_as_they_were_and_nothing_is_missing(
    demo: Site, urls: list[str], serve: Serve
) -> None:
    with serve(demo.web) as port, chromium(live(port)) as browser:
        before = {url: seen(browser, url) for url in urls}
    with pywb(demo.folder) as address, chromium(OFFLINE) as browser:
        after = {url: seen(browser, f"{address}/crawl/2/{url}") for url in urls}
    for url in urls:
        assert before[url].loaded - after[url].loaded == set(), url
        assert before[url].difference(after[url]) <= TOLERATED, url
    assert sum(len(page.loaded) for page in before.values()) > 7 * PAGES
    assert before[urls[0]].difference(before[urls[1]]) > TOLERATED


@needs_pywb
def test_the_index_says_what_pywbs_own_does(demo: Site) -> None:
    indexer = WAYBACK.with_name("cdx-indexer")
    compared: Counter[str] = Counter()
    for cdxj in demo.folder.glob("warc/*.cdxj"):
        stored = {entry["offset"]: (url, entry) for url, entry in entries(cdxj)}
        done = subprocess.run(
            [indexer, "-j", cdxj.with_suffix(".warc.gz")],
            capture_output=True,
            text=True,
            check=True,
        )
        for line in done.stdout.splitlines():
            expected = json.loads(line.split(" ", 2)[2])
            url, entry = stored.pop(expected["offset"])
            assert url == expected["url"]
            for name in ("mime", "digest", "length", "filename", "mime-detected"):
                assert entry.get(name) == expected.get(name), (url, name)
            assert expected.get("status", entry["status"]) == entry["status"]
            compared[entry["mime"]] += 1
        assert stored == {}
    assert compared.keys() >= {"text/html", "text/css", "image/png", "warc/revisit", "unk"}


@needs_replaywebpage
def test_replaywebpage_opens_a_wacz_file_and_nothing_is_missing(
    demo: Site, urls: list[str], serve: Serve, tmp_path: Path
) -> None:
    url = urls[-1]
    out = tmp_path / "demo.wacz"
    command = demo.command()
    run([*command[: command.index("crawl")], "wacz", str(demo.folder), "--out", str(out)])

    with serve(demo.web) as port, chromium(live(port)) as browser:
        before = seen(browser, url)
    with replaywebpage(out, tmp_path / "site") as address, chromium(OFFLINE) as browser:
        after = seen(browser, address + url, shown_by_replaywebpage)
    assert len(before.loaded) > 7
    assert before.loaded - after.loaded == set()
    assert before.difference(after) <= TOLERATED


@needs_pywb
def test_modules_fonts_and_files_within_files_are_there(site: Site, serve: Serve) -> None:
    host = "www.one.co.th"
    site.seeds(f"http://{host}/")
    head = (
        '<script type=importmap>{"imports": {"lib": "./lib-1.js"}}</script>'
        "<script type=module src=app.js></script><link rel=preload as=fetch href=data.json>"
        '<base href="/base/"><link rel=stylesheet href=style.css>'
        "<object data=drawn.svg></object><p data-bg=late.png>x</p><iframe src=/frame/></iframe>"
        "<p style=\"background: image-set('set.png' 1x)\">x</p>"
    )
    site.add(f"{host}/", page(THAI) + head)
    for name, text in {
        "app.js": 'import "./a.js"; import "lib"; import("/b.js"); fetch("/data.json")',
        "a.js": 'export {} from "./deep/c.js"', "deep/c.js": "", "lib-1.js": "",
        "b.js": 'for (const p of document.querySelectorAll("[data-bg]"))'
                "p.style.background = `url(${p.dataset.bg})`",
        "data.json": "{}", "base/style.css": "@import 'more.css' layer(x); p { color: red }",
        "base/more.css": "@font-face { font-family: F; src: url(f.ttf) } p { font-family: F }",
        "base/drawn.svg": '<svg xmlns="http://www.w3.org/2000/svg"><image href="in.png"/></svg>',
        "frame/index.html": "<link rel=stylesheet href=frame.css>", "frame/frame.css": "p {}",
    }.items():  # fmt: skip
        site.add(f"{host}/{name}", text)
    for name in ("f.ttf", "late.png", "set.png", "in.png"):
        site.add(f"{host}/base/{name}", b"\0")
    site.crawl()
    url = f"http://{host}/"
    with serve(site.web) as port, chromium(live(port)) as browser:
        before = seen(browser, url)
    # As a proxy: rewritten pages have no modules in pywb.
    with pywb(site.folder, "--proxy", "crawl") as address, chromium("", address) as browser:
        after = seen(browser, url)
    assert len(before.loaded) == 16
    assert before.loaded - after.loaded == set()


@needs_pywb
def test_thai_tis_620_and_zawgyi_are_replayed(site: Site) -> None:
    for url, (body, _) in CODED.items():
        site.add(url.removeprefix("http://"), body)
    site.seeds(*CODED)
    site.crawl(LSWC_ARCHIVE="all")
    with pywb(site.folder) as address, chromium(OFFLINE) as browser:
        for url, (_, text) in CODED.items():
            view = browser.new_page()
            view.goto(f"{address}/crawl/2/{url}")
            assert text.strip() in view.inner_text("body")


@pytest.fixture
def recrawled(site: Site, tmp_path: Path) -> tuple[Site, dict[str, str]]:
    """Three crawls of a site, each of what the one before stored; and each page's text now.

    One page has changed since the first crawl, one since the second, one never.
    """
    host = "http://www.one.co.th"
    site.seeds(f"{host}/")
    front = page(THAI, "/a.html", "/b.html", "/c.html")
    site.add("www.one.co.th/", front)
    for name in ("a", "b", "c"):
        site.add(f"www.one.co.th/{name}.html", page(f"{THAI} first-{name}"))
    site.crawl(LSWC_ARCHIVE="all")
    texts = {f"{host}/{name}.html": f"first-{name}" for name in "abc"}
    earlier = [site.folder]
    for number, name in ((2, "b"), (3, "c")):
        time.sleep(1.1)  # captures have a date in seconds
        site.add(f"www.one.co.th/{name}.html", page(f"{THAI} later-{name}"))
        texts[f"{host}/{name}.html"] = f"later-{name}"
        site = Site(site.web, tmp_path / f"crawl-{number}")
        site.crawl(LSWC_ARCHIVE="all", LSWC_RECRAWL=",".join(map(str, earlier)))
        earlier.insert(0, site.folder)
    assert [r["status"] for r in sorted(site.records, key=lambda r: r["url"])][1:] == [
        304,
        304,
        200,
    ]
    return site, texts


def when(site: Site, url: str) -> str:
    """Return the digits of when a crawl visited a page."""
    (found,) = (record["time"] for record in site.records if record["url"] == url)
    return "".join(filter(str.isdigit, found.partition(".")[0].partition("+")[0]))


@needs_pywb
@pytest.mark.parametrize("is_indexed_anew", [False, True])
def test_each_page_of_a_recrawl_opens_at_its_own_date_in_pywb(
    recrawled: tuple[Site, dict[str, str]], tmp_path: Path, is_indexed_anew: bool
) -> None:
    site, texts = recrawled
    crawls = [tmp_path / name for name in ("crawl-3", "crawl-2", "crawl")]
    for warc in (path for crawl in crawls for path in crawl.glob("warc/*.warc.gz")):
        if is_indexed_anew:  # by who knows nothing of ours
            indexer = WAYBACK.with_name("cdx-indexer")
            made = subprocess.run([indexer, "-j", "-s", warc], capture_output=True, check=True)
            warc.with_name(warc.name.replace(".warc.gz", ".cdxj")).write_bytes(made.stdout)
    with pywb(site.folder, crawls=[site.folder]) as address, chromium(OFFLINE) as browser:
        for url, text in texts.items():
            view = browser.new_page()
            asked = f"{address}/crawl/{when(site, url)}mp_/{url}"
            answer = view.goto(asked)
            assert answer is not None
            assert (answer.status, answer.url) == (200, asked), "it has a capture of that date"
            assert text in view.inner_text("body")


@needs_replaywebpage
def test_each_page_of_a_recrawl_opens_at_its_own_date_in_replaywebpage(
    recrawled: tuple[Site, dict[str, str]], tmp_path: Path
) -> None:
    site, texts = recrawled
    out = tmp_path / "one.wacz"
    wacz.write([site.folder], out)
    with replaywebpage(out, tmp_path / "site") as address, chromium(OFFLINE) as browser:
        for url, text in texts.items():
            view = browser.new_page()
            view.goto(f"{address}{url}&ts={when(site, url)}")
            framed = view.frame_locator("replay-web-page iframe").frame_locator("iframe")
            framed.locator("p").first.wait_for()
            assert text in framed.locator("body").inner_text()
            assert any(f"/{when(site, url)}mp_/" in frame.url for frame in view.frames)


@needs_replaywebpage
def test_the_player_opens_a_capture_in_one_press(recrawled: tuple[Site, dict[str, str]]) -> None:
    site, texts = recrawled
    collection = collected([site.folder])
    with served(collection) as archive:
        serving = server(collection.crawls, Player(REPLAYWEBPAGE, archive), 0)
        Thread(target=serving.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{serving.server_port}/"
        with chromium(OFFLINE) as browser:
            for url, text in texts.items():
                view = browser.new_page()
                view.goto(f"{address}?q={url[-6:]}")
                title = view.locator("tbody a").first  # the latest crawl's comes first
                title.click()
                framed = view.frame_locator("replay-web-page iframe")
                shown = framed.frame_locator("iframe").locator("body")
                expect(shown).to_contain_text(text, timeout=300_000)
        serving.shutdown()
        serving.server_close()


@pytest.fixture
def playing(site: Site) -> tuple[Site, str]:
    """A crawl of a page with a minute of sound and a second of video, and its URL."""
    url, content = "http://www.one.co.th/", BytesIO()
    with wave.open(content, "wb") as sound:
        sound.setparams((1, 1, 8_000, 0, "NONE", ""))
        sound.writeframes(bytes(60 * 8_000))
    with chromium(OFFLINE) as browser:
        video = b64decode(browser.new_page().evaluate(FILMED))
    site.add("www.one.co.th/sound.wav", content.getvalue())
    site.add("www.one.co.th/film.webm", video)
    site.add("www.one.co.th/", page(THAI) + "<audio src=sound.wav></audio><video src=film.webm>")
    site.seeds(url)
    site.crawl()
    return site, url


# A canvas that changes, as Chromium records it.
FILMED = """async () => {
  const canvas = document.createElement("canvas"), pieces = [];
  canvas.width = canvas.height = 64;
  const pen = canvas.getContext("2d"), film = new MediaRecorder(canvas.captureStream(25));
  const drawing = setInterval(() => { pen.fillStyle = `hsl(${Math.random() * 360} 90% 50%)`;
    pen.fillRect(0, 0, 64, 64); }, 40);
  film.ondataavailable = (event) => pieces.push(event.data);
  film.start();
  await new Promise((done) => setTimeout(done, 1000));
  await new Promise((done) => { film.onstop = done; film.stop(); });
  clearInterval(drawing);
  const bytes = new Uint8Array(await new Blob(pieces).arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}"""
# What plays is heard from its 40th second on, which a player asks for by a range.
PLAYED = """async () => {
  const [sound, film] = document.querySelectorAll("audio, video");
  sound.muted = film.muted = true;
  await sound.play();
  const sought = new Promise((done) => { sound.onseeked = done; });
  sound.currentTime = 40;
  await sought;
  await film.play();
  const ended = new Promise((done) => { film.onended = done; });
  await ended;
  return [sound.duration, Math.floor(sound.currentTime) >= 40, film.videoWidth];
}"""


@needs_pywb
def test_sound_and_video_play_in_pywb(playing: tuple[Site, str]) -> None:
    site, url = playing
    with pywb(site.folder) as address, chromium(OFFLINE) as browser:
        view = browser.new_page()
        view.goto(f"{address}/crawl/2mp_/{url}")
        assert view.evaluate(PLAYED) == [60, True, 64]


@needs_replaywebpage
def test_sound_and_video_play_in_replaywebpage(playing: tuple[Site, str], tmp_path: Path) -> None:
    site, url = playing
    wacz.write([site.folder], tmp_path / "one.wacz")
    with (
        replaywebpage(tmp_path / "one.wacz", tmp_path / "site") as address,
        chromium(OFFLINE) as browser,
    ):
        view = browser.new_page()
        view.set_default_timeout(300_000)
        view.goto(address + url)
        assert shown_by_replaywebpage(view).evaluate(PLAYED) == [60, True, 64]


@needs_replaywebpage
def test_a_press_in_the_live_page_opens_the_capture(site: Site) -> None:
    url = "http://www.one.co.th/"
    site.add("www.one.co.th/", page(f"{THAI} as it was"))
    site.seeds(url)
    site.crawl()
    program = [sys.executable, "-m", "lswc"]
    with ExitStack() as stack:
        addresses = {}
        for name in ("replay", "watch"):
            command = [*program, name, str(site.folder), "--port", "0"]
            process = stack.enter_context(
                subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment())
            )
            stack.callback(process.terminate)
            assert process.stdout is not None
            addresses[name] = process.stdout.readline().strip()
        view = stack.enter_context(chromium(OFFLINE)).new_page()
        view.goto(addresses["watch"])
        view.fill("#q", url)
        view.keyboard.press("Enter")
        with view.context.expect_page() as opened:
            view.get_by_role("link", name="as it was").first.click()
        framed = opened.value.frame_locator("replay-web-page iframe").frame_locator("iframe")
        expect(framed.locator("body")).to_contain_text(THAI.split()[0], timeout=300_000)
        assert opened.value.url.startswith(addresses["replay"])
