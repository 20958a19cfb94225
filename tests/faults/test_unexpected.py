"""An error that nobody expected, wherever it is raised: the crawl ends, says why, and goes on."""

from __future__ import annotations

import subprocess
import sys
from socket import AF_UNIX, SOCK_DGRAM, socket
from typing import TYPE_CHECKING

import pytest

from lswc.archive.check.agreement import check
from tests.scenarios.site import BRAKE, ROOT, THAI, Site, environment, page, run, words

if TYPE_CHECKING:
    from pathlib import Path

PAGES = 24
RAISES = '{"tests.faults.component.Raises": 1}'
PLACES = (
    "archive.store",
    "commits._tally",
    "frontier.commit",
    "frontier.lease",
    "frontier.next_ready",
    "guest.admission.of_visit",
    "leases.next",
    "leases.take_fed_seeds",
    "leases.take_owed",
)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    site = Site(tmp_path / "web", tmp_path / "crawl")
    for number in range(PAGES):
        links = (f"http://s{n % 4}.example/{n}.html" for n in (2 * number + 1, 2 * number + 2))
        site.add(f"s{number % 4}.example/{number}.html", page(THAI + words(number), *links))
    site.seeds("http://s0.example/0.html")
    return site


@pytest.mark.parametrize("place", PLACES)
def test_the_crawl_ends_and_goes_on(site: Site, place: str) -> None:
    given = {"EXTENSIONS": RAISES, "TEST_PLACE": place, "TEST_PAGES": 8}
    done = run(site.command(**given))
    assert done.returncode == 1
    assert "an error of lswc's own, KeyError('unexpected')" in done.stderr
    assert "Traceback" in done.stderr
    assert site.summary["reason"] == "unexpected error"
    site.crawl()
    assert len(site.urls) == PAGES
    assert check(site.folder).agrees


@pytest.mark.parametrize("place", ["archive.close", "guest.close", "readers.close"])
def test_what_cannot_be_closed_leaves_the_rest_in_order(site: Site, place: str) -> None:
    given = {"EXTENSIONS": RAISES, "TEST_PLACE": place, "TEST_PAGES": 8}
    done = run(site.command(**given))
    assert done.returncode == 1
    assert "an error of lswc's own at the end, KeyError('unexpected')" in done.stderr
    assert site.summary["reason"] == "finished"
    assert len(site.urls) == PAGES
    assert not (site.folder / "frontier.db-wal").exists()
    site.crawl()
    assert check(site.folder).agrees


STUCK = '{"lswc.monitor.recorder.Recorder": 1, "tests.faults.component.Stuck": 2}'


def test_a_crawl_that_is_stuck_ends(site: Site, tmp_path: Path) -> None:
    address = str(tmp_path / "systemd")
    given = {"EXTENSIONS": STUCK, "TEST_PAGES": 8, "DOWNLOAD_TIMEOUT": 0.2}
    with socket(AF_UNIX, SOCK_DGRAM) as systemd:
        systemd.bind(address)
        command = site.command(**given)
        done = subprocess.run(
            command, cwd=ROOT, env={**environment(), "NOTIFY_SOCKET": address},
            capture_output=True, text=True, timeout=BRAKE,
        )  # fmt: skip
        assert systemd.recv(100) == b"WATCHDOG=1"
    assert done.returncode == 1
    assert "nothing has ended for" in done.stderr
    assert "Traceback" not in done.stderr
    assert site.summary["reason"] == "stuck"
    site.crawl()
    assert len(site.urls) == PAGES


def test_what_does_not_even_end_is_ended() -> None:
    code = (
        "from time import sleep\nfrom lswc.monitor import watchdog\n"
        "watchdog.GRACE = 0.1\nprint(watchdog.stuck(300.0))\nsleep(60)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=BRAKE
    )
    assert done.returncode == 1
