"""A web that wants to be crawled, over HTTP: what the servers were asked for, in which order."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from lswc.frontier.sqlite_report import opened
from tests.hostile.farm_web import FarmWeb
from tests.hostile.farms import (
    SEEDS,
    TRAP,
    blogs,
    expired,
    farm,
    honest,
    host_of,
    kind_of,
    trap,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hostile.farms import Web

pytestmark = pytest.mark.slow

PAGES = 8
"""Pages of an honest host: 60 of them have 480."""

FIRST = 240
"""Honest pages until which shares are counted: more hosts have others than are asked at a time."""

BLOGS = 100

WEBS: dict[str, Web] = {
    "random domains": {"honest": honest(PAGES, TRAP, at=0), "trap": trap},
    "200 domains": {"honest": honest(PAGES, "http://farm-0.com/", at=0), "farm": farm(200)},
    "an expired one": {
        "honest": honest(PAGES, "http://expired-0.com/", at=0), "expired": expired, "trap": trap,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", WEBS)
def test_a_farm_is_no_more_than_a_part_of_the_requests(name: str, tmp_path: Path) -> None:
    """Without a share it is nine in ten. The share itself is held by a clock of our own
    (test_farms.py): here the first domain is asked as fast as it answers, while no honest page that
    is known can be.
    """
    with FarmWeb(WEBS[name]) as web:
        web.crawl(tmp_path, CLOSESPIDER_ITEMCOUNT=500)
    asked = web.kinds()
    assert FIRST <= asked.count("honest") < len(asked)
    last = [number for number, kind in enumerate(asked) if kind == "honest"][FIRST - 1]
    assert sum(kind != "honest" for kind in asked[:last]) <= 0.5 * last


def test_domains_of_a_farm_that_are_alike_count_as_one(tmp_path: Path) -> None:
    """One of 40 would be left alone after six pages."""
    web: Web = {"honest": honest(3, "http://same-0.com/", of=1, at=1), "same": farm(40, "same")}
    with FarmWeb(web) as served:
        served.crawl(tmp_path, LSWC_MAX_DUPLICATES=3)
    asked = set(served.asked)
    same = sum("same-" in url for url in asked)
    assert len(asked) == 180 + same
    assert 12 <= same <= 12 + 40 + 16


def test_honest_blogs_of_one_host_are_no_farm(tmp_path: Path) -> None:
    web: Web = {"honest": honest(PAGES, blogs=BLOGS), "blog": blogs(BLOGS, 2)}
    with FarmWeb(web) as served:
        served.crawl(tmp_path)
    asked = set(served.asked)
    assert asked == linked(web)
    with opened(tmp_path / "crawl" / "frontier.db") as reader:
        names = {host_of(url) for url in asked if "blogspot" in url}
        assert sum(reader.family_of(name) == () for name in names) >= 0.8 * len(names)


def linked(web: Web) -> set[str]:
    """Return all URLs of a web that can be reached from the seeds."""
    found, waiting = set(SEEDS), [*SEEDS]
    while waiting:
        url = waiting.pop()
        links = set(web[kind_of(host_of(url))](url, Random(url)).links) - found
        found |= links
        waiting += links
    return found
