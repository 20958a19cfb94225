"""Links that a strategy doesn't tell apart are asked for in the order of their page.

That order carries information: shuffled, a learned order needs up to half as many pages more.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from tests.scenarios.site import THAI, page

if TYPE_CHECKING:
    from tests.frontier.redis_server import RedisServer
    from tests.scenarios.site import Site

HOME = "http://www.one.co.th/"
WORDS = [f"page{a}{b}" for a in "qwertyuiop" for b in "asd"]


@pytest.mark.parametrize(
    ("profile", "store", "readers"),
    [("bfs", "SQLite", 1), ("adaptive", "SQLite", 0), ("adaptive", "Redis", 1)],
)
def test_links_are_asked_for_as_their_page_names_them(
    site: Site, redis_server: RedisServer, profile: str, store: str, readers: int
) -> None:
    names = [f"/p/{word}.html" for word in WORDS]
    random.Random(readers).shuffle(names)
    site.seeds(HOME)
    site.add("www.one.co.th/", page(THAI, *names))
    for name in names:
        site.add(f"www.one.co.th{name}", page(THAI + name * 9))
    given: dict[str, object] = {"LSWC_SITEMAPS": 0, "LSWC_STOP_HARVEST": 0}
    if store == "Redis":
        given |= {"LSWC_FRONTIER": redis_server.url, "LSWC_REDIS_KEY": "in-document-order"}
    site.crawl(LSWC_PROFILE=profile, LSWC_READERS=readers, LSWC_ARCHIVE="none", **given)
    assert [url.removeprefix(HOME) for url in site.urls] == ["", *(name[1:] for name in names)]
