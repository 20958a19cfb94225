"""pywb replays what was archived, and Chromium shows it as it showed on the web.

Runs where both are installed; LSWC_WAYBACK names pywb's ``wayback`` if it isn't on the path.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.corpus.test_documents import ZAWGYI
from tests.crawl.site import THAI

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.crawl.site import Site

WAYBACK = os.environ.get("LSWC_WAYBACK") or shutil.which("wayback")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
PORT_WAIT = 60.0

pytestmark = [
    pytest.mark.skipif(WAYBACK is None, reason="pywb is not installed"),
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]

TIS = '<meta http-equiv="Content-Type" content="text/html; charset=tis-620">'
PAGES = {
    "http://www.one.co.th/": f"<meta charset=utf-8><p>{THAI}</p>".encode(),
    "http://www.one.co.th/tis.html": f"{TIS}<h1>ภาษา</h1><p>{THAI}</p>".encode("tis-620"),
    "http://www.my.example/": f"<meta charset=utf-8><p>{ZAWGYI}</p>".encode(),
}
TEXT = [THAI.strip(), THAI.strip(), ZAWGYI]


@contextmanager
def replaying(folder: Path) -> Iterator[str]:
    """Run pywb over a crawl folder; yields the address that URLs are appended to."""
    assert WAYBACK is not None
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home = folder / "pywb"
    home.mkdir()
    warc = folder / "warc"
    (home / "config.yaml").write_text(
        f"framed_replay: false\ncollections:\n  crawl:\n    index_paths: {warc}/\n"
        f"    archive_paths: {warc}/\n"
    )
    server = subprocess.Popen(
        [WAYBACK, "-p", str(port), "-b", "127.0.0.1"],
        cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        end = time.monotonic() + PORT_WAIT
        while time.monotonic() < end:
            with closing(socket.socket()) as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/crawl/2/"
    finally:
        server.terminate()
        server.wait()


def shown(address: str, profile: Path) -> str:
    """Return the DOM that Chromium makes of a page."""
    assert CHROMIUM is not None
    done = subprocess.run(
        [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
         "--virtual-time-budget=5000", "--dump-dom", address],
        capture_output=True, timeout=120, check=True,
    )  # fmt: skip
    return done.stdout.decode()


def test_thai_tis_620_and_zawgyi_are_replayed(site: Site, tmp_path: Path) -> None:
    for url, body in PAGES.items():
        address = url.removeprefix("http://")
        site.add(address, body)
    site.seeds(*PAGES)
    site.crawl(LSWC_ARCHIVE="all")
    with replaying(site.folder) as address:
        for url, text in zip(PAGES, TEXT, strict=True):
            assert text in shown(address + url, tmp_path / "profile")
