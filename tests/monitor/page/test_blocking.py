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
from lswc.guest.control_in_effect import LOOK
from lswc.monitor.page.data import PageData
from lswc.monitor.stored import StoredInFolder
from tests.monitor.page.test_data import A_MINUTE
from tests.scenarios.shared_web import PORT, SharedWeb
from tests.scenarios.site import ROOT, SCRAPY, THAI, environment, page, run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

PAGES = 60
DELAY = 0.25
SEEDS = ("http://www.unwanted.example/", "http://www.wanted.example/")


def pages() -> dict[str, str]:
    """Two servers, each with a front page that links to all its others."""
    made: dict[str, str] = {}
    for seed in SEEDS:
        others = [f"{seed}{number}.html" for number in range(1, PAGES)]
        made |= dict.fromkeys(others, page(THAI)) | {seed: page(THAI, *others)}
    return made


class Crawl:
    """A crawl of the two servers, that runs."""

    def __init__(self, folder: Path, web: SharedWeb) -> None:
        self.folder, self._web = folder / "crawl", web
        (folder / "seeds.txt").write_text("\n".join(SEEDS))
        settings = {
            "LSWC_CRAWL": self.folder,
            "LSWC_PROFILE": "bfs",
            "LSWC_CONTACT": "https://library.example/crawl",
            "TWISTED_DNS_RESOLVER": "tests.scenarios.shared_web.Resolver",
            "DOWNLOAD_DELAY": DELAY,
            "LSWC_MAX_DUPLICATES": 0,
        }
        given = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
        seeds = f"seeds={folder / 'seeds.txt'}"
        self.process = subprocess.Popen(
            [*SCRAPY, "crawl", "lswc", "-a", "lang=th", "-a", seeds, *given],
            cwd=ROOT,
            env={**environment(), PORT: str(web.port)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def asked(self, site: str) -> int:
        """Return how many pages of a site were asked for."""
        return sum(urlsplit(url).hostname == f"www.{site}.example" for url in self._web.fetched)

    def wait_for(self, site: str, number: int) -> None:
        """Wait until so many pages of a site were asked for."""
        until = monotonic() + A_MINUTE
        while self.asked(site) < number:
            assert self.process.poll() is None
            assert monotonic() < until
            sleep(0.02)


@pytest.fixture
def crawl(tmp_path: Path) -> Iterator[Crawl]:
    with SharedWeb(pages()) as web:
        crawl = Crawl(tmp_path, web)
        yield crawl
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
        with closing(HTTPConnection(address.netloc, timeout=60)) as connection:
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
    crawl.wait_for("unwanted", 3)
    block(crawl.folder)
    ((place, rule),) = read(in_folder(crawl.folder)).rules
    assert (place.name, rule.block, rule.why) == ("unwanted.example", True, "their mail")
    sleep(2 * LOOK + 2 * DELAY)  # two looks, and what was under way
    before, others = crawl.asked("unwanted"), crawl.asked("wanted")
    assert before < PAGES
    crawl.wait_for("wanted", others + 5)
    assert crawl.asked("unwanted") == before
    assert crawl.process.wait(timeout=A_MINUTE) == 0
    assert (crawl.asked("unwanted"), crawl.asked("wanted")) == (before, PAGES)
    ended = json.loads((crawl.folder / "summary.json").read_text())["finished"]
    under_way = before + PAGES - ended["html"]  # one may have been, and is blocked then
    assert under_way in (0, 1)
    assert ended == {
        "html": before + PAGES - under_way,
        "blocked": PAGES - before + under_way,
    }
    shown = PageData(StoredInFolder(crawl.folder)).get()
    assert [row[:2] for row in shown["dropped"]] == [["blocked", PAGES - before]]
    assert shown["errors"] == []
