"""A site is blocked from the page, or with ``lswc control``, while a crawl runs."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import closing
from http.client import HTTPConnection
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from lswc.guest.control import in_folder, read
from lswc.monitor.stored import StoredInFolders
from lswc.workbench.live.data import PageData
from tests.scenarios.shared_web import PORT, Gate, SharedWeb
from tests.scenarios.site import BRAKE, ROOT, SCRAPY, THAI, environment, page, run, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

PAGES = 20
DELAY = 0.05
ANSWERED = 3
"""Pages of the unwanted site that are answered before it is blocked."""
SEEDS = ("http://www.unwanted.example/", "http://www.wanted.example/")


def pages() -> dict[str, str]:
    """Two servers, each with a front page that links to all its others."""
    made: dict[str, str] = {}
    for seed in SEEDS:
        others = [f"{seed}{number}.html" for number in range(1, PAGES)]
        made |= {url: page(THAI + words(url)) for url in others} | {seed: page(THAI, *others)}
    return made


class Crawl:
    """A crawl of the two servers, that runs; ``gate`` holds what the unwanted one answers."""

    def __init__(self, folder: Path, web: SharedWeb, gate: Gate) -> None:
        self.folder, self.gate, self._web = folder / "crawl", gate, web
        (folder / "seeds.txt").write_text("\n".join(SEEDS))
        settings = {
            "LSWC_CRAWL": self.folder,
            "LSWC_PROFILE": "bfs",
            "LSWC_CONTACT": "https://library.example/crawl",
            "TWISTED_DNS_RESOLVER": "tests.scenarios.shared_web.Resolver",
            "DOWNLOAD_DELAY": DELAY,
            "DOWNLOAD_TIMEOUT": 900,
            "LSWC_MAX_DUPLICATES": 0,
        }
        given = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
        seeds = f"seeds={folder / 'seeds.txt'}"
        self.log = folder / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*SCRAPY, "crawl", "lswc", "-a", "lang=th", "-a", seeds, *given],
                cwd=ROOT,
                env={**environment(), PORT: str(web.port)},
                stdout=subprocess.DEVNULL,
                stderr=log,
            )

    def asked(self, site: str) -> int:
        """Return how many pages of a site were asked for."""
        return sum(urlsplit(url).hostname == f"www.{site}.example" for url in self._web.fetched)

    def wait_until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds while the crawl runs."""
        until = monotonic() + BRAKE
        while not holds():
            assert self.process.poll() is None, self.log.read_text()
            assert monotonic() < until
            sleep(0.02)


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[Crawl]:
    gate = Gate()
    gate.shut(ANSWERED, "unwanted.example")
    with SharedWeb(pages(), gate) as web:
        crawl = Crawl(tmp_path, web, gate)
        yield crawl
        gate.open()
        crawl.process.kill()
        crawl.process.wait()


def block_on_the_page(folder: Path) -> None:
    """Ask what the page asks when its button is pressed."""
    command = [sys.executable, "-m", "lswc", "watch", str(folder), "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment()
    ) as watch:
        assert watch.stdout is not None
        address = urlsplit(watch.stdout.readline().strip())
        said = {"key": "block", "value": True, "place": "unwanted.example", "why": "their mail"}
        headers = {"X-Lswc-Token": address.fragment, "Origin": f"http://{address.netloc}"}
        with closing(HTTPConnection(address.netloc, timeout=BRAKE)) as connection:
            connection.request("POST", "/api/say", json.dumps(said), headers)
            answer = connection.getresponse()
            assert answer.status == 200, answer.read()
        watch.terminate()


def block_with_a_command(folder: Path) -> None:
    done = run(
        [*SCRAPY, "control", str(folder), "block", "unwanted.example", "--why", "their mail"]
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("block", [block_on_the_page, block_with_a_command])
def test_nothing_more_of_a_blocked_site_is_asked_for(crawl: Crawl, block: Any) -> None:
    crawl.wait_until(lambda: crawl.gate.held == 1)
    block(crawl.folder)
    ((place, rule),) = read(in_folder(crawl.folder)).rules
    assert (place.name, rule.block, rule.why) == ("unwanted.example", True, "their mail")
    crawl.wait_until(lambda: "the instructions to the crawl have changed" in crawl.log.read_text())
    crawl.gate.open()
    assert crawl.process.wait(timeout=BRAKE) == 0
    assert (crawl.asked("unwanted"), crawl.asked("wanted")) == (ANSWERED + 1, PAGES)
    ended = json.loads((crawl.folder / "summary.json").read_text())["finished"]
    assert ended == {"html": ANSWERED + PAGES, "blocked": PAGES - ANSWERED}, "one was under way"
    shown = PageData(StoredInFolders([crawl.folder], in_folder(crawl.folder))).get()
    assert shown["tallies"]["left_out"] == {"blocked": PAGES - ANSWERED}
    assert shown["tallies"]["errors"] == {}
