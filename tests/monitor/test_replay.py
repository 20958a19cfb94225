"""Replay: the search before pywb, and what is left when it ends."""

from __future__ import annotations

import json
import os
import stat
import sys
from threading import Thread
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest

from lswc.archive.collection import collected
from lswc.errors import ConfigError, StorageError
from lswc.monitor import replay
from lswc.monitor.replay import address_of, announced, archived, page, pywb_of, server, wayback

if TYPE_CHECKING:
    from pathlib import Path

PYWB = "http://127.0.0.1:9/crawl/"
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
    assert f'href="{PYWB}20260102030405/http://a.example/news?a=1&amp;b=2"' in shown
    assert f'href="{PYWB}*/http://a.example/news?a=1&amp;b=2">calendar' in shown


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


def test_pywb_runs_as_long_as_it_is_needed(crawl: Path) -> None:
    with pywb_of(collected([crawl]), command(crawl, LISTENS)) as address, pytest.raises(HTTPError):
        urlopen(address).close()
    with pytest.raises(OSError, match="refused"):
        urlopen(address).close()


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
    with pytest.raises(ConfigError, match="pipx install pywb"):
        wayback()


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
