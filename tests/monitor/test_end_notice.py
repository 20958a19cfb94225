"""End notice: who is told of a crawl's end, and what comes of it if that fails."""

from __future__ import annotations

import asyncio
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.settings import Settings

from lswc.crawl.spider import LswcSpider
from lswc.errors import ConfigError
from lswc.monitor.end_notice import EndNotice, command_of, run
from tests.scenarios import site as sites
from tests.scenarios.site import THAI, Site, page

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def commanded(value: str) -> list[str]:
    return command_of(Settings({"LSWC_ON_END": value}))


def test_what_is_named() -> None:
    assert commanded("") == []
    assert commanded(f"{sys.executable} -c 'a b' $HOME")[1:] == ["-c", "a b", "$HOME"]
    assert commanded("https://hooks.example/x")[-1] == "https://hooks.example/x"


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("nosuchcommand x", "LSWC_ON_END: there is no command 'nosuchcommand', nor is it a web"),
        ("mail 'x", "LSWC_ON_END: No closing quotation"),
    ],
)
def test_what_can_not_be_run(value: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        commanded(value)


def test_a_command_reads_what_is_told(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    code = f"import sys; open({str(heard)!r}, 'wb').write(sys.stdin.buffer.read())"
    assert run(python(code), "ภาษา".encode() * 100_000) == ""
    assert heard.read_text("utf-8") == "ภาษา" * 100_000


def test_a_command_that_fails_says_why() -> None:
    code = "import sys; print('x' * 9_000, file=sys.stderr); sys.exit('no such mailbox')"
    said = run(python(code), b"{}")
    assert said.startswith("exit code 1: x")
    assert said.endswith("x no such mailbox")
    assert len(said) < 600


def test_what_a_command_says_in_no_encoding_is_told_all_the_same() -> None:
    code = "import sys; sys.stderr.buffer.write(b'no \\xff mailbox'); sys.exit(3)"
    assert run(python(code), b"") == "exit code 3: no \ufffd mailbox"


def test_a_command_that_hangs_ends_with_its_children() -> None:
    child = "import subprocess, sys; subprocess.run(['sleep', '1000'])"
    assert run(python(child), b"", 0.2) == "it took more than 0.2 seconds"


@pytest.mark.parametrize(("status", "said"), [(204, ""), (500, "exit code 1: HTTP Error 500")])
def test_a_web_address_is_told(status: int, said: str) -> None:
    heard: list[tuple[str | None, bytes]] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the name that http.server calls
            body = self.rfile.read(int(self.headers["Content-Length"]))
            heard.append((self.headers["Content-Type"], body))
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Hook)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        found = run(commanded(f"http://127.0.0.1:{server.server_port}/hook"), b'{"pages": 1}', 300)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert found.startswith(said)
    assert bool(found) == bool(said)
    assert heard == [("application/json", b'{"pages": 1}')]


@pytest.mark.parametrize(("status", "count"), [(0, "sent"), (3, "failed")])
def test_an_end_is_told_and_counted(tmp_path: Path, status: int, count: str) -> None:
    heard, counts = tmp_path / "heard", list[str]()
    closes: list[Callable[[str], Coroutine[None, None, None]]] = []
    (tmp_path / "tell").write_text(f"#!/bin/sh\ncat > {heard}\nexit {status}\n")
    (tmp_path / "tell").chmod(0o700)
    crawler: Any = SimpleNamespace(
        settings=Settings({"LSWC_ON_END": str(tmp_path / "tell")}),
        spidercls=LswcSpider,
        signals=SimpleNamespace(connect=lambda closed, _: closes.append(closed)),
        stats=SimpleNamespace(inc_value=counts.append),
        get_extension=lambda _: SimpleNamespace(folder=Path("crawls/\udcff"), last=None),
    )
    EndNotice.from_crawler(crawler)
    asyncio.run(closes[0]("shutdown"))
    assert json.loads(heard.read_text("utf-8")) == {
        "reason": "shutdown", "exit_code": 0, "folder": "crawls/?",
    }  # fmt: skip
    assert counts == [f"lswc/monitor/end notice {count}"]


@pytest.mark.slow
def test_a_crawl_tells_its_end_and_one_that_can_not_ends_well(tmp_path: Path) -> None:
    site = Site(tmp_path / "web", tmp_path / "crawl")
    site.seeds("http://a.example/")
    site.add("a.example/", page(THAI))
    heard = tmp_path / "heard.json"
    site.crawl(LSWC_ON_END=f"tee {heard}")
    told = json.loads(heard.read_text("utf-8"))
    assert told == {"folder": str(site.folder), "exit_code": 0, **site.summary}
    assert told["all_runs"]["runs"] == 1
    done = sites.run(site.command(LSWC_ON_END="false"))
    assert done.returncode == 0
    assert "LSWC_ON_END: no message about the end was sent: exit code 1" in done.stderr
    assert site.summary["all_runs"]["runs"] == 2
