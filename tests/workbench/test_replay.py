"""Replay: the search before pywb, and what is left when it ends."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from io import BytesIO
from threading import Thread
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen
from zipfile import ZIP_STORED, ZipFile

import pytest

from lswc.archive.collection import collected
from lswc.errors import ConfigError, StorageError
from lswc.processes import lives
from lswc.workbench import replay
from lswc.workbench.player import Range, Served, no_player, player, served
from lswc.workbench.replay import (
    Player,
    Pywb,
    address_of,
    announced,
    archived,
    page,
    pywb_of,
    server,
    wayback,
)

if TYPE_CHECKING:
    from pathlib import Path

PYWB = Pywb("http://127.0.0.1:9/crawl/")
TIME = "2026-01-02T03:04:05.678+00:00"
LISTENS = """#!{python}
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
assert "archive_paths" in open("config.yaml").read()
port = int(sys.argv[sys.argv.index("-p") + 1])
HTTPServer(("127.0.0.1", port), BaseHTTPRequestHandler).serve_forever()
"""


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """A crawl with three archived pages, and one that isn't relevant."""
    pages = [
        ("http://a.example/news?a=1&b=2", "ข่าว <b>วันนี้</b>", True),
        ("http://a.example/old", None, True),
        ("http://b.example/Sport", "News", True),
        ("http://b.example/english", "News", False),
    ]
    records = [
        {"url": url, "title": title, "relevant": relevant, "guessed": False, "time": TIME}
        for url, title, relevant in pages
    ]
    (tmp_path / "pages.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records))
    (tmp_path / "settings.json").write_text('{"LSWC_ARCHIVE": "relevant", "LSWC_RECRAWL": []}')
    (tmp_path / "warc").mkdir()
    (tmp_path / "warc" / "1.cdxj").touch()
    (tmp_path / "warc" / "1.warc.gz").touch()
    return tmp_path


def command(folder: Path, text: str) -> str:
    path = folder / "wayback"
    path.write_text(text.format(python=sys.executable))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("NEWS", ["/news?a=1&b=2", "/Sport"]),
        ("ข่าว", ["/news?a=1&b=2"]),
        ("b.example", ["/Sport"]),
        ("", ["/news?a=1&b=2", "/old", "/Sport"]),
        ("nothing", []),
    ],
)
def test_a_search_by_url_and_title(crawl: Path, text: str, paths: list[str]) -> None:
    assert [one.url.partition("example")[2] for one in archived([crawl], text)] == paths


def test_all_pages_are_found_where_all_are_archived(crawl: Path) -> None:
    (crawl / "settings.json").write_text('{"LSWC_ARCHIVE": "all", "LSWC_RECRAWL": []}')
    assert len(list(archived([crawl], ""))) == 4


def test_what_the_web_says_is_text(crawl: Path) -> None:
    shown = page([crawl], PYWB, '"><script>')
    assert "<script>" not in shown
    shown = page([crawl], PYWB, "news")
    assert "<b>" not in shown
    assert f'href="{PYWB.address}20260102030405/http://a.example/news?a=1&amp;b=2"' in shown
    assert f'href="{PYWB.address}*/http://a.example/news?a=1&amp;b=2">all captures' in shown


def test_it_answers_by_its_own_names_only(crawl: Path) -> None:
    serving = server([crawl], PYWB, 0)
    thread = Thread(target=serving.serve_forever)
    thread.start()
    address = f"http://127.0.0.1:{serving.server_port}/"
    try:
        with urlopen(f"{address}?q={quote('ข่าว')}") as answer:
            assert "1 page" in answer.read().decode()
            assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        for request, status in (
            (Request(address, headers={"Host": "evil.example"}), 421),
            (Request(f"{address}settings.json"), 404),
        ):
            with pytest.raises(HTTPError) as refused:
                urlopen(request)
            assert refused.value.code == status
            refused.value.close()
        with pytest.raises(ConfigError, match="can't listen to port"):
            server([crawl], PYWB, serving.server_port)
    finally:
        serving.shutdown()
        thread.join()
        serving.server_close()


def test_it_ends_with_the_process_that_it_is_for(crawl: Path) -> None:
    command = [sys.executable, "-c", "input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        serving = server([crawl], PYWB, 0, process.pid)
        serving.service_actions()
        process.kill()
        process.wait()
    with serving, pytest.raises(KeyboardInterrupt):
        serving.serve_forever(0.01)
    assert not lives(2**70)
    assert lives(1)


def test_pywb_runs_as_long_as_it_is_needed(crawl: Path) -> None:
    with pywb_of(collected([crawl]), command(crawl, LISTENS)) as shown, pytest.raises(HTTPError):
        urlopen(shown.address).close()
    with pytest.raises(OSError, match="refused"):
        urlopen(shown.address).close()


def test_a_pywb_that_fails_says_why(crawl: Path) -> None:
    broken = command(crawl, "#!{python}\nimport sys; sys.exit('no gevent')")
    with (
        pytest.raises(StorageError, match="pywb doesn't answer: no gevent"),
        pywb_of(collected([crawl]), broken),
    ):
        pass


def test_a_crawl_that_archived_nothing(tmp_path: Path) -> None:
    with (
        pytest.raises(ConfigError, match="has no archive"),
        pywb_of(collected([tmp_path]), "wayback"),
    ):
        pass


def test_pywb_is_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert wayback() is None
    assert player() is None
    assert "pipx install pywb" in str(no_player())


def test_where_it_is_replayed_is_known_while_it_is(tmp_path: Path) -> None:
    address = "http://127.0.0.1:6810/"
    with announced(tmp_path, address):
        assert address_of(tmp_path) == address
    assert address_of(tmp_path) == ""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"address": "http://127.0.0.1:1/"}',
        '{"address": "http://127.0.0.1:1/", "process": 999999999}',
        '{"address": "http://evil.example/", "process": OWN}',
    ],
)
def test_what_a_killed_replay_left_counts_for_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / replay.FILE).write_text(text.replace("OWN", str(os.getpid())))
    assert address_of(tmp_path) == ""


NPM = """#!/bin/sh
test "$1" = pack || exit 1
while [ "$1" != --pack-destination ]; do shift; done
cd "$2" && mkdir package && echo ui > package/ui.js && echo sw > package/sw.js
tar -czf p.tgz package
"""


def test_npm_fetches_the_player_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    npm = tmp_path / "npm"
    npm.write_text(NPM)
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    folder = player()
    assert folder is not None
    assert (folder / "ui.js").read_text() == "ui\n"
    npm.write_text("#!/bin/sh\necho no network >&2; exit 1")
    assert player() == folder
    (folder / "sw.js").unlink()
    with pytest.raises(StorageError, match=r"npm can't fetch .*: no network"):
        player()


def test_what_is_served_is_a_wacz_file_and_warc_files_stay_where_they_are(crawl: Path) -> None:
    record = b"WARC" * 300_000
    (crawl / "warc" / "1.warc.gz").write_bytes(record)
    line = {"url": "http://a.example/", "filename": "1.warc.gz", "offset": "0", "length": "4"}
    (crawl / "warc" / "1.cdxj").write_text(f"example,a)/ 20260102030405 {json.dumps(line)}\n")
    settings = {"LSWC_ARCHIVE": "all", "LSWC_RECRAWL": [], "language": "th"}
    (crawl / "settings.json").write_text(json.dumps(settings))
    with served(collected([crawl])) as archive:
        whole = b"".join(archive.pieces(Range(0, archive.size)))
        at = whole.index(record)
        for asked, expected in {
            "bytes=0-9": whole[:10],
            "bytes=-22": whole[-22:],
            f"bytes={at - 5}-{at + 7}": whole[at - 5 : at + 8],
            f"bytes={at + len(record) - 3}-": whole[at + len(record) - 3 :],
        }.items():
            part = archive.asked(asked)
            assert part is not None
            assert b"".join(archive.pieces(part)) == expected
        for wrong in ("bytes=-", "bytes=9-2", "chars=0-1", f"bytes={archive.size}-", "bytes=a-b"):
            assert archive.asked(wrong) is None
        assert whole[-22:-18] == b"PK\5\6"
        (crawl / "warc" / "1.warc.gz").write_bytes(b"")
        with pytest.raises(OSError, match="shorter than it was"):
            b"".join(archive.pieces(Range(0, archive.size)))
    with ZipFile(BytesIO(whole)) as packed:
        assert packed.namelist()[:2] == ["archive/1.warc.gz", "indexes/index.cdx.gz"]
        assert b"json-pages-1.0" in packed.read("pages/pages.jsonl")
        info = packed.getinfo("archive/1.warc.gz")
        assert (info.file_size, info.compress_type) == (len(record), ZIP_STORED)


def test_a_capture_is_shown_by_the_player(crawl: Path) -> None:
    (crawl / "ui.js").write_text("ui")
    (crawl / "sw.js").write_text("sw")
    archive = Served((crawl / "ui.js").open("rb"), [])
    serving = server([crawl], Player(crawl, archive), 0)
    thread = Thread(target=serving.serve_forever)
    thread.start()
    address = f"http://127.0.0.1:{serving.server_port}"

    def got(path: str, **headers: str) -> tuple[int, bytes, str]:
        with urlopen(Request(address + path, headers=headers)) as answer:
            policy = answer.headers["Content-Security-Policy"] or ""
            return answer.status, answer.read(), policy

    try:
        shown = got("/")[1].decode()
        link = "view?url=http%3A%2F%2Fa.example%2Fnews%3Fa%3D1%26b%3D2&amp;ts=20260102030405"
        assert link in shown
        status, body, policy = got("/go?url=http://a.example/old&ts=2026-01-02T03:04:05Z")
        assert b'url="http://a.example/old" ts="20260102030405"' in body
        assert "default-src 'self'" in policy
        assert b"<script>" not in got('/view?url="><script>')[1]
        assert got("/replay/sw.js")[:2] == (200, b"sw")
        assert got("/archive.wacz", Range="bytes=1-1")[:2] == (206, b"i")
        for path, header, status in (("/archive.wacz", "bytes=9-", 416), ("/x", "", 404)):
            with pytest.raises(HTTPError) as refused:
                got(path, Range=header)
            assert refused.value.code == status
            refused.value.close()
    finally:
        serving.shutdown()
        thread.join()
        serving.server_close()
        archive.close()
