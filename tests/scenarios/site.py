"""Real crawls of small frozen webs: a process of their own, real HTTP on loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from tests import forks
from tests.archive.reading import as_zcat_reads

ROOT = Path(__file__).parents[2]

BRAKE = 300.0
"""Seconds after which a test gives up what hangs; nothing that works takes nearly as long."""

LONG_AGO = 1_600_000_000.0
"""Unix time."""

AN_HOUR = 3_600.0
"""Seconds."""

THAI = "ภาษาไทยเป็นภาษาที่มีผู้พูดมากที่สุดในประเทศไทย และข่าววันนี้มีเรื่องน่าสนใจหลายเรื่อง "
LETTERS = "กขคงจชซญดตถทธนบปผพฟภมยรลวศสหอ"
ENGLISH = "This page is written in English, and the news of today is about the weather and trade. "


def words(seed: object) -> str:
    """Return Thai words that no other seed's text has: as alike as those of two servers."""
    choose = Random(str(seed))
    return " ".join("".join(choose.choices(LETTERS, k=6)) for _ in range(60))


def page(text: str, *links: str, anchor: str = "") -> str:
    """Return a page of HTML with the text and a link to each address."""
    listed = "".join(f'<li><a href="{link}">{anchor or link}</a>' for link in links)
    return f"<html><head><title>t</title></head><body><p>{text * 4}</p><ul>{listed}</ul></body>"


@dataclass
class Site:
    """A folder with a frozen web, and the crawl folder beside it."""

    web: Path
    folder: Path

    def add(self, address: str, body: str | bytes) -> None:
        """Add a page, or change it; the address is ``host/path``, ``host/`` its front page.

        The time of its change is long ago, and an hour after the one before.
        """
        path = self.web / (address + "index.html" if address.endswith("/") else address)
        path.parent.mkdir(parents=True, exist_ok=True)
        changed = path.stat().st_mtime if path.exists() else LONG_AGO
        path.write_bytes(body if isinstance(body, bytes) else body.encode())
        os.utime(path, (changed + AN_HOUR,) * 2)

    def seeds(self, *urls: str) -> None:
        """Write the Thai seeds of this web."""
        self.web.mkdir(exist_ok=True)
        (self.web / "seeds-th.txt").write_text("\n".join(urls))

    def command(self, *arguments: str, **settings: object) -> list[str]:
        """Return the command that crawls this web for Thai, by itself, without delays."""
        given = {
            "LSWC_WEB": self.web,
            "LSWC_CRAWL": self.folder,
            "DOWNLOAD_DELAY": 0,
            "LSWC_PROFILE": "bfs",
            "LSWC_TRY_AGAIN": "",
            "LSWC_READERS": 0,
            **settings,
        }
        lines = [part for name, value in given.items() for part in ("-s", f"{name}={value}")]
        return [*SCRAPY, "crawl", "lswc", "-a", "lang=th", *arguments, *lines]

    def crawl(self, *arguments: str, **settings: object) -> subprocess.CompletedProcess[str]:
        """Crawl to the end; fails the test unless it ends well and quietly."""
        done = run(self.command(*arguments, **settings))
        assert done.returncode == 0, done.stderr
        for word in ("Traceback", "DeprecationWarning", "ERROR", "internal meta keys"):
            assert word not in done.stderr, done.stderr
        return done

    @property
    def records(self) -> list[dict[str, Any]]:
        """The records of the crawl, in order."""
        return [json.loads(line) for line in as_zcat_reads(self.folder)]

    @property
    def urls(self) -> list[str]:
        """The recorded URLs, in order."""
        return [record["url"] for record in self.records]

    @property
    def summary(self) -> dict[str, Any]:
        """The crawl's summary."""
        summary: dict[str, Any] = json.loads((self.folder / "summary.json").read_text())
        return summary


SCRAPY = [sys.executable, "-W", "error::DeprecationWarning:lswc", "-m", "scrapy"]


def run(command: list[str], cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run a command of the project to its end."""
    if command[: len(SCRAPY)] == SCRAPY:
        return forks.run(command[len(SCRAPY) :], cwd, environment())
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=BRAKE, env=environment()
    )


def wait_until_stopped(process: subprocess.Popen[str]) -> None:
    """Wait until a process that stops itself does, which ``SIGCONT`` lets go on."""
    end = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    assert end is not None
    assert end.si_code == os.CLD_STOPPED, process.communicate()


def environment() -> dict[str, str]:
    """Return the environment of a crawl: warnings of our own code are errors."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
