"""Whatever a user's own middlewares and pipelines do, each URL ends once, and is said why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from lswc import settings
from tests.scenarios.site import THAI, page, run

if TYPE_CHECKING:
    from tests.scenarios.site import Site

MEDDLING = {
    "SPIDER_MIDDLEWARES": settings.SPIDER_MIDDLEWARES
    | {"tests.scenarios.meddling.Meddling": 1050, "tests.scenarios.meddling.Late": 20},
    "ITEM_PIPELINES": settings.ITEM_PIPELINES | {"tests.scenarios.meddling.Choosy": 500},
}
PATHS = ("swallowed", "swallowed-late", "broken", "dropped", "failed", "spoilt", "good")


def test_each_end_is_counted_once_whoever_meddles(site: Site) -> None:
    site.seeds("http://www.one.co.th/")
    site.add("www.one.co.th/", page(THAI, *PATHS))
    for path in PATHS:
        site.add(f"www.one.co.th/{path}", f"<html>{page(THAI, f'behind-{path}')}")
    done = run(site.command(**{name: json.dumps(value) for name, value in MEDDLING.items()}))
    assert done.returncode == 0, done.stderr
    ends = {
        "html": 2,
        "no record": 2,
        "spider error": 1,
        "item dropped or failed": 2,
        "failed": 1,
        "status 404": 4,  # behind all that became a record at first
    }
    assert site.summary["finished"] == ends
    assert sorted(site.urls) == ["http://www.one.co.th/", "http://www.one.co.th/good"]
    site.crawl()
    assert site.summary["finished"] == ends, "something was fetched again"
