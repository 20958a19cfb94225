"""A web that wants to be crawled, over HTTP: what the servers were asked for, in which order."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING

import pytest

from lswc.frontier.store.report import opened
from tests.hostile.farm_web import FarmWeb
from tests.hostile.farms import (
    SEEDS,
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

KNOWN, LAST = 120, 400
"""Honest pages between which shares are counted: more hosts have others than are asked at once."""

BLOGS = 100

FARMS: dict[str, tuple[str, Web]] = {
    "random domains": ("http://trap-0.co.th/", {"trap": trap}),
    "200 domains": ("http://farm-0.co.th/", {"farm": farm(200)}),
    "an expired one": ("http://expired-0.co.th/", {"expired": expired, "trap": trap}),
}


@pytest.mark.parametrize("name", FARMS)
def test_a_farm_is_no_more_than_a_part_of_the_requests(name: str, tmp_path: Path) -> None:
    """Without a share it is nine in ten. No page links to it before honest ones wait on more hosts
    than are asked at a time, however fast these answer.
    """
    entry, kinds = FARMS[name]
    with FarmWeb({"honest": honest(PAGES), **kinds}, entry, KNOWN) as web:
        web.crawl(tmp_path, CLOSESPIDER_ITEMCOUNT=500)
    asked = web.kinds()
    first, last = until(KNOWN, asked), until(LAST, asked)
    assert first == KNOWN, f"{first - KNOWN} requests went to the farm before a page linked to it"
    of_farm = [number for number, kind in enumerate(asked[:last], 1) if kind != "honest"]
    told = f"the farm had {last - LAST} of {last - KNOWN}, which were requests {of_farm}"
    assert last - LAST <= 0.15 * (last - KNOWN), told
    assert len(set(asked)) > 1, "no page of the farm was asked for"


def until(pages: int, asked: list[str]) -> int:
    """Return how many requests there were until so many honest pages had been asked for."""
    found = [number for number, kind in enumerate(asked, 1) if kind == "honest"]
    told = f"no {pages} honest pages: after {KNOWN} requests {dict(Counter(asked[KNOWN:]))}"
    assert len(found) >= pages, told
    return found[pages - 1]


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
