"""The main job, end to end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.scenarios.site import ENGLISH, THAI, page

if TYPE_CHECKING:
    from tests.scenarios.site import Site


@pytest.fixture
def small(site: Site) -> Site:
    """Two Thai servers, an English one between them, and an English one behind that."""
    site.seeds("http://www.one.co.th/")
    site.add("www.one.co.th/", page(THAI, "/a.html", "http://hub.example.com/"))
    site.add("www.one.co.th/a.html", page(THAI, "/"))
    site.add("hub.example.com/", page(ENGLISH, "http://two.example.net/", "http://far.example/"))
    site.add("two.example.net/", page(THAI, "b.html"))
    site.add("two.example.net/b.html", page(ENGLISH))
    site.add("far.example/", page(ENGLISH, "1.html", "2.html", "3.html"))
    for number in (1, 2, 3):
        site.add(f"far.example/{number}.html", page(ENGLISH, "4.html"))
    site.add("far.example/4.html", page(ENGLISH))
    return site


def test_breadth_first_visits_all_in_order(small: Site) -> None:
    small.crawl(CONCURRENT_REQUESTS=1)
    assert small.urls == [
        "http://www.one.co.th/",
        "http://www.one.co.th/a.html",
        "http://hub.example.com/",
        "http://two.example.net/",
        "http://far.example/",
        "http://two.example.net/b.html",
        "http://far.example/1.html",
        "http://far.example/2.html",
        "http://far.example/3.html",
        "http://far.example/4.html",
    ]


def test_records_say_what_was_decided(small: Site) -> None:
    small.crawl()
    record = {r["url"]: r for r in small.records}["http://two.example.net/b.html"]
    assert record["language"] == "en"
    assert "by_language" not in small.summary
    assert not record["relevant"]
    assert record["status"] == 200
    assert record["distance"] == 1
    assert record["server_status"] == "relevant"
    assert record["referrer"] == "http://two.example.net/"
    far = {r["url"]: r for r in small.records}["http://far.example/4.html"]
    assert far["distance"] == 4
    assert far["depth"] == 4


def test_summary_counts_pages_servers_and_links(small: Site) -> None:
    done = small.crawl()
    summary = small.summary
    assert (summary["pages"], summary["relevant"]) == (10, 3)
    assert summary["harvest_rate"] == 0.3
    assert summary["coverage"] is None
    assert summary["servers"] == {"relevant": 2, "undecided": 2}
    assert summary["finished"] == {"html": 10}
    assert "30.0%" in done.stdout


def test_a_guess_from_the_referrer_is_no_harvest(site: Site) -> None:
    site.seeds("http://www.one.com/")
    site.add("www.one.com/", page(THAI, "/1.html", "http://www.two.com/"))
    site.add("www.one.com/1.html", page("", "/2.html"))
    site.add("www.one.com/2.html", page(THAI))
    site.add("www.two.com/", page(ENGLISH, "/3.html"))
    site.add("www.two.com/3.html", page(""))
    done = site.crawl(LSWC_PROFILE="lswc_s3_t5")
    told = {r["url"]: (r["language"], r["relevant"], r["guessed"]) for r in site.records}
    assert told == {
        "http://www.one.com/": ("th", True, False),
        "http://www.one.com/1.html": (None, False, True),
        "http://www.one.com/2.html": ("th", True, False),
        "http://www.two.com/": ("en", False, False),
        "http://www.two.com/3.html": (None, False, False),
    }
    summary = site.summary
    assert (summary["pages"], summary["relevant"], summary["guessed"]) == (5, 2, 1)
    assert summary["harvest_rate"] == 0.4
    assert "40.0%" in done.stdout


def test_strategy_decides_what_is_fetched(small: Site) -> None:
    small.crawl(LSWC_PROFILE="hard_focused")
    assert sorted(small.urls) == [
        "http://hub.example.com/",
        "http://www.one.co.th/",
        "http://www.one.co.th/a.html",
    ]
    assert small.summary["discarded"] == {"strategy": 2}


def test_urls_of_a_server_found_irrelevant_are_discarded(small: Site) -> None:
    small.crawl(LSWC_STRATEGY="server_aggressive:T=2", CONCURRENT_REQUESTS=1)
    assert "http://far.example/4.html" not in small.urls
    assert small.summary["servers"]["irrelevant"] == 1
    # 3.html and 4.html waited in the queue, the third page linked to 4.html again.
    assert small.summary["discarded"] == {"server became irrelevant": 2, "irrelevant server": 1}


def test_same_crawl_twice_visits_in_the_same_order(small: Site) -> None:
    orders = []
    for name in ("first", "second"):
        small.folder = small.folder.parent / name
        small.crawl(LSWC_PROFILE="lswc_s3_t5", CONCURRENT_REQUESTS=1)
        orders.append(small.urls)
    assert orders[0] == orders[1]


def test_a_stopped_crawl_goes_on_where_it_stopped(small: Site) -> None:
    small.crawl(CLOSESPIDER_ITEMCOUNT=3, CONCURRENT_REQUESTS=1)
    first = small.urls
    assert len(first) < 10
    small.crawl(CONCURRENT_REQUESTS=1)
    assert small.urls[: len(first)] == first
    assert len(small.urls) == len(set(small.urls)) == 10
    assert small.summary["pages"] == 10


def test_a_trap_is_left_after_as_many_pages_whether_or_not_the_crawl_was_stopped(
    site: Site,
) -> None:
    site.seeds("http://www.one.co.th/")
    site.add("www.one.co.th/", page(THAI, *(f"/day/{n}/" for n in range(30))))
    for n in range(30):
        site.add(f"www.one.co.th/day/{n}/", page(ENGLISH))
    settings = {"LSWC_MAX_DUPLICATES": 8, "CONCURRENT_REQUESTS": 1}
    site.crawl(CLOSESPIDER_ITEMCOUNT=6, **settings)
    assert 6 <= len(site.urls) < 9
    site.crawl(**settings)
    assert [record["near_duplicate"] for record in site.records] == [False, False] + 8 * [True]
    assert site.summary["finished"]["near-duplicates in directory"] == 21


def test_a_torn_last_record_is_cut_on_resume(small: Site) -> None:
    small.crawl(CLOSESPIDER_ITEMCOUNT=2, CONCURRENT_REQUESTS=1)
    with (small.folder / "pages.jsonl").open("a") as file:
        file.write('{"url": "http://torn')
    small.crawl()
    assert len(set(small.urls)) == len(small.urls) == 10


def test_every_other_end_of_a_request_is_counted(site: Site) -> None:
    site.seeds("http://www.one.co.th/")
    site.add("www.one.co.th/robots.txt", "User-agent: *\nDisallow: /private/\n")
    site.add(
        "www.one.co.th/",
        page(
            THAI,
            "/private/a.html",
            "/missing.html",
            "/photo.jpg",
            "/folder",
            "http://unknown.example/",
            "mailto:someone@example.com",
            "/" + "x" * 3000,
        ),
    )
    site.add("www.one.co.th/private/a.html", page(THAI))
    site.add("www.one.co.th/photo.jpg", b"\xff\xd8\xff\xe0")
    site.add("www.one.co.th/folder/", page(THAI))
    site.crawl(RETRY_TIMES=0)
    assert sorted(site.urls) == ["http://www.one.co.th/", "http://www.one.co.th/folder/"]
    finished = site.summary["finished"]
    assert finished.pop("html") == 2
    assert finished.pop("robots.txt") == 1
    assert finished.pop("status 404") == 1
    assert finished.pop("not HTML") == 1
    assert finished.pop("redirect") == 1
    assert list(finished.values()) == [1], "the unknown host"
    assert site.summary["discarded"] == {"scheme": 1, "URL too long": 1}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="empty"),
        pytest.param(bytes(range(256)) * 40, id="binary"),
        pytest.param(b"<html><body" + b"<div" * 5000, id="broken"),
        pytest.param(THAI.encode("utf-8")[:-1], id="torn character"),
        pytest.param(
            b'<meta charset="no-such-charset">' + THAI.encode("tis-620"), id="bad charset"
        ),
        pytest.param(b"<title>\xed\xa0\x80\x00</title>", id="surrogate"),
    ],
)
def test_a_broken_page_is_recorded_and_survived(site: Site, body: bytes) -> None:
    site.seeds("http://www.one.co.th/")
    site.add("www.one.co.th/", page(THAI, "broken.html", "good.html"))
    site.add("www.one.co.th/broken.html", body)
    site.add("www.one.co.th/good.html", page(THAI))
    site.crawl()
    assert len(site.urls) == 3


def test_depth_limit_and_allowed_domains_bound_the_crawl(small: Site) -> None:
    small.crawl(DEPTH_LIMIT=1, LSWC_ALLOWED_DOMAINS="co.th,example.com")
    assert sorted(small.urls) == [
        "http://hub.example.com/",
        "http://www.one.co.th/",
        "http://www.one.co.th/a.html",
    ]
    assert small.summary["discarded"] == {"depth": 3}
