"""Whatever a user's own middlewares and pipelines do, each URL ends once, and is said why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from lswc import settings
from tests.crawl.site import THAI, page, run

if TYPE_CHECKING:
    from tests.crawl.site import Site

MEDDLING = {
    "SPIDER_MIDDLEWARES": settings.SPIDER_MIDDLEWARES
    | {"tests.crawl.meddling.Meddling": 1050, "tests.crawl.meddling.Late": 20},
    "ITEM_PIPELINES": settings.ITEM_PIPELINES | {"tests.crawl.meddling.Choosy": 500},
}
PATHS = ("swallowed", "swallowed-late", "broken", "dropped", "failed", "good")


@pytest.fixture
def meddled(site: Site) -> Site:
    """A crawl, to its end, whose user's own parts keep all pages but two from their records."""
    site.seeds("http://www.one.co.th/")
    site.add("www.one.co.th/", page(THAI, *PATHS))
    for path in PATHS:
        site.add(f"www.one.co.th/{path}", f"<html>{page(THAI, f'behind-{path}')}")
    done = run(site.command(**{name: json.dumps(value) for name, value in MEDDLING.items()}))
    assert done.returncode == 0, done.stderr
    return site


def test_a_page_that_brought_no_record_ends_too(meddled: Site) -> None:
    finished = meddled.summary["finished"]
    assert finished.pop("status 404") == len(PATHS) - 2, "links of what became a record count"
    assert finished == {
        "html": 2, "no record": 2, "spider error": 1, "item dropped or failed": 2,
    }  # fmt: skip
    assert sorted(meddled.urls) == ["http://www.one.co.th/", "http://www.one.co.th/good"]


def test_none_is_fetched_again(meddled: Site) -> None:
    before = meddled.summary["finished"]
    meddled.crawl()
    assert meddled.summary["finished"] == before
