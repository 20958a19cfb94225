"""No more is taken of a server or a domain than the settings and control.toml say."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from lswc.archive.check.agreement import check
from tests.scenarios.site import THAI, Site, page

SERVERS = ("www.one.co.th", "shop.one.co.th", "www.two.co.th")


@pytest.fixture
def three(site: Site) -> Site:
    site.seeds(*(f"http://{server}/" for server in SERVERS))
    for server in SERVERS:
        site.add(f"{server}/", page(THAI, *(f"/{number}.html" for number in range(9))))
        for number in range(9):
            site.add(f"{server}/{number}.html", page(f"{THAI} {number} {server}"))
    return site


def pages(site: Site) -> dict[str, int]:
    return dict(Counter(url.split("/")[2] for url in site.urls))


def test_pages_of_a_server_also_when_it_goes_on(three: Site) -> None:
    three.crawl(LSWC_MAX_SERVER_PAGES=4, CLOSESPIDER_ITEMCOUNT=5, CONCURRENT_REQUESTS=1)
    three.crawl(LSWC_MAX_SERVER_PAGES=4)
    assert pages(three) == dict.fromkeys(SERVERS, 4)
    assert three.summary["finished"]["server's page limit"] == 3 * 6


def test_what_a_quota_ended_comes_back_when_it_is_raised(three: Site) -> None:
    three.crawl(LSWC_MAX_SERVER_PAGES=4)
    assert check(three.folder).agrees
    whole = three.summary["finished"]
    three.crawl(LSWC_MAX_SERVER_PAGES=8, CLOSESPIDER_ITEMCOUNT=3)
    (three.folder / "summary.json").write_text(json.dumps({"finished": whole}))  # as after a kill
    report = check(three.folder)
    assert report.agrees, report
    three.crawl(LSWC_MAX_SERVER_PAGES=0)
    assert pages(three) == dict.fromkeys(SERVERS, 10)
    assert len(three.urls) == len(set(three.urls))
    assert three.summary["finished"] == {"html": 30}
    report = check(three.folder)
    assert report.agrees, report


def test_pages_of_a_domain(three: Site) -> None:
    three.crawl(LSWC_MAX_DOMAIN_PAGES=5, CONCURRENT_REQUESTS=1)
    taken = pages(three)
    assert taken["www.two.co.th"] == 5
    assert taken["www.one.co.th"] + taken["shop.one.co.th"] == 5
    assert three.summary["finished"]["site's page limit"] == 15 + 5


def test_bytes_of_a_server(three: Site) -> None:
    size = (three.web / "www.two.co.th/index.html").stat().st_size
    three.crawl(LSWC_MAX_SERVER_BYTES=size + 1)
    assert pages(three) == dict.fromkeys(SERVERS, 2)


def test_control_says_what_is_taken_of_a_place(three: Site) -> None:
    three.folder.mkdir()
    (three.folder / "control.toml").write_text(
        '["www.two.co.th/"]\nmax_pages = 2\n["one.co.th"]\nmax_pages = 7\n'
    )
    three.crawl(CONCURRENT_REQUESTS=1)
    taken = pages(three)
    assert taken["www.two.co.th"] == 2
    assert taken["www.one.co.th"] + taken["shop.one.co.th"] == 7
