"""An error that nobody expected, wherever it is raised: the crawl ends, says why, and goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lswc.archive.check.agreement import check
from tests.scenarios.site import THAI, Site, page, run, words

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
