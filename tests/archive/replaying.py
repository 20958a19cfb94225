"""Replays of what a crawl stored, beside the live pages, in Chromium.

pywb is too old to share an environment with the crawl's libraries, and ReplayWeb.page is a package
of npm's: ``make replay`` installs both where these tests look for them.
"""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
import time
from contextlib import closing, contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple

import pytest
from PIL import Image, ImageChops
from playwright.sync_api import Error, sync_playwright

from lswc.archive.collection import collected
from lswc.workbench.replay import lay_out
from tests.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from playwright.sync_api import Browser, Frame, Page

INSTALLED = Path(sys.prefix)
WAYBACK = INSTALLED / "pywb" / "bin" / "wayback"
REPLAYWEBPAGE = INSTALLED / "replaywebpage" / "package"
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium isn't installed")
needs_pywb = pytest.mark.skipif(not WAYBACK.exists(), reason="no pywb: make replay installs it")
needs_replaywebpage = pytest.mark.skipif(
    not REPLAYWEBPAGE.exists(), reason="no ReplayWeb.page: make replay installs it"
)

_WAIT = 300.0
_SIZE = (1_000, 1_200)  # pixels of a screenshot
_ALIKE = 16  # of 255: pixels that differ by less are the same
_PIECE = re.compile(r"bytes=(\d*)-(\d*)")
# What replays put before an address: a collection, and a time with what the file is used as.
_REWRITTEN = re.compile(r"^http://127\.0\.0\.1:\d+/(?:[^?#]*?/)?\d*(?:[a-z]+_)?/(?=(?:https?:)?//)")


class Seen(NamedTuple):
    """A page as Chromium shows it: its picture, and the status of each file that it asked for."""

    picture: Image.Image
    files: dict[str, int]

    @property
    def loaded(self) -> set[str]:
        """The files that came over the network, named without their scheme."""
        came = [url for url, status in self.files.items() if status in (200, 206, 304)]
        return {_bare(url) for url in came if url.startswith("http")}

    def difference(self, other: Seen) -> float:
        """Return the share of pixels that differ."""
        difference = ImageChops.difference(self.picture, other.picture).convert("L")
        return sum(difference.histogram()[_ALIKE:]) / (_SIZE[0] * _SIZE[1])


def _bare(url: str) -> str:
    return _REWRITTEN.sub("", url).partition("#")[0].partition("//")[2]


@contextmanager
def chromium(rules: str, proxy: str = "") -> Iterator[Browser]:
    """Run Chromium; ``rules`` say where it finds hosts (``--host-resolver-rules``)."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=[f"--host-resolver-rules={rules}", "--ignore-certificate-errors"],
            proxy={"server": proxy} if proxy else None,
        )
        try:
            yield browser
        finally:
            browser.close()


def live(port: int) -> str:
    """Return the rules for a web that a server on this machine has."""
    return f"MAP * 127.0.0.1:{port}"


OFFLINE = "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
"""The rules for a replay: what isn't archived isn't there."""


def seen(
    browser: Browser,
    address: str,
    whole: Callable[[Page], Page | Frame] = lambda page: page,
    *,
    patience: float = 0.0,
) -> Seen:
    """Return what Chromium makes of a page; ``whole`` waits for more and says where it is.

    With ``patience`` a page that is never done is taken as it is after so many seconds, and is
    black if it can't be drawn by then.
    """
    page = browser.new_page(viewport={"width": _SIZE[0], "height": _SIZE[1]})
    page.set_default_timeout(1_000 * _WAIT)
    files: dict[str, int] = {}
    page.context.on("response", lambda answer: files.__setitem__(answer.url, answer.status))
    if patience:
        page.set_default_timeout(1_000 * patience)
    picture = Image.new("RGB", _SIZE)
    with suppress(*[Error] * bool(patience)):
        page.goto(address, wait_until="networkidle")
        whole(page).evaluate("document.fonts?.ready")
    with suppress(*[Error] * bool(patience)):
        picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    page.close()
    return Seen(picture, files)


def shown_by_replaywebpage(view: Page) -> Frame:
    """Wait until ReplayWeb.page shows a page; return its frame."""
    framed = view.frame_locator("replay-web-page iframe").frame_locator("iframe")
    framed.locator("body *").first.wait_for(state="attached")
    view.wait_for_load_state("networkidle")
    return view.frames[-1]


@contextmanager
def pywb(folder: Path, *options: str, crawls: Sequence[Path] = ()) -> Iterator[str]:
    """Run pywb over a crawl's folder, as collection ``crawl``, as it is; yields its address.

    Over ``crawls``, if there are any: what they archived is laid out in the folder.
    """
    port = free_port()
    home = folder / "pywb"
    home.mkdir(exist_ok=True)
    index = archive = folder / "warc"
    if crawls:
        warcs = collected(crawls).warcs()
        lay_out(home, warcs)
        index, archive = home / "index", home / "archive"
    (home / "config.yaml").write_text(
        f"framed_replay: false\ncollections:\n  crawl:\n    index_paths: {index}/\n"
        f"    archive_paths: {archive}/\n"
    )
    server = subprocess.Popen(
        [WAYBACK, "-p", str(port), "-b", "127.0.0.1", *options],
        cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        end = time.monotonic() + _WAIT
        while time.monotonic() < end and server.poll() is None:
            with closing(socket.socket()) as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


class _Pieces(SimpleHTTPRequestHandler):
    """Serves a folder, and pieces of its files."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        asked = _PIECE.match(self.headers.get("Range", ""))
        path = Path(self.translate_path(self.path))
        if asked is None or not path.is_file():
            super().do_GET()
            return
        content = path.read_bytes()
        begin = int(asked[1]) if asked[1] else max(0, len(content) - int(asked[2]))
        end = int(asked[2]) + 1 if asked[1] and asked[2] else len(content)
        piece = content[begin:end]
        self.send_response(206)
        said = f"bytes {begin}-{begin + len(piece) - 1}/{len(content)}"
        self.send_header("Content-Range", said)
        self.send_header("Content-Length", str(len(piece)))
        self.end_headers()
        self.wfile.write(piece)


@contextmanager
def replaywebpage(wacz: Path, folder: Path) -> Iterator[str]:
    """Serve ReplayWeb.page with a WACZ file; yields the address that a page's is added to."""
    (folder / "replay").mkdir(parents=True)
    shutil.copy(REPLAYWEBPAGE / "ui.js", folder)
    shutil.copy(REPLAYWEBPAGE / "sw.js", folder / "replay")
    shutil.copy(wacz, folder / "crawl.wacz")
    (folder / "view.html").write_text(
        "<!doctype html><style>* { margin: 0; border: 0 }</style><script src=/ui.js></script>"
        "<script>const asked = location.search.slice(1).split(`&ts=`)</script>"
        "<script>document.write(`<replay-web-page source=/crawl.wacz embed=replayonly "
        "style='display: block; height: 100vh' url='${asked[0]}' ts='${asked[1] || ``}'>`)</script>"
    )
    handler = partial(_Pieces, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/view.html?"
        server.shutdown()
