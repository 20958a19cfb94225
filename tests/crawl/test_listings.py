"""What becomes of sitemaps and feeds; whole crawls are in tests/scenarios/test_listings.py."""

from __future__ import annotations

from asyncio import run
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from scrapy.http import Response
from scrapy.spidermiddlewares.httperror import HttpError

from lswc.crawl.listings import TRIED, WORTH
from lswc.language.html import BOUNDS
from lswc.outcomes import Outcome
from lswc.reading.sitemaps import LISTINGS_AT_ONCE
from lswc.strategy import LISTING, SUBLISTING, PageLanguage, Pages
from tests.crawl.running import SetUp

if TYPE_CHECKING:
    from pathlib import Path

    from lswc.frontier.rules.visit import Visit

URLSET = "<urlset>{}</urlset>"
INDEX = "<sitemapindex>{}</sitemapindex>"
RSS = "<rss><channel>{}</channel></rss>"


def located(tag: str, *names: str) -> str:
    return "".join(f"<{tag}><loc>{name}</loc></{tag}>" for name in names)


class OfServer(SetUp):
    """A crawl whose one page was relevant, and the visit of its server's listing."""

    def __init__(self, folder: Path, robots: str = "", **settings: object) -> None:
        given = {"LSWC_SITEMAPS": 1, "DOWNLOAD_DELAY": 0, **settings}
        folder.mkdir(exist_ok=True)
        super().__init__(folder, "http://a.example/folder/", **given)
        listings, visit = self.parts.listings, self.visit()
        listings.heard("a.example", robots.encode(), "http://a.example/robots.txt")
        visit.offers = listings.of_server(visit)
        self.parts.commits.commit(visit, "html")
        self.listing = self.visit()

    def end(self, body: str) -> Visit:
        """End the visit of the listing, which says this."""
        answer = Response(self.listing.url, body=body.encode(), request=self.request(self.listing))
        run(self.parts.listings.parse(answer))
        return self.listing


def test_a_server_s_sitemap_is_where_its_robots_txt_says_or_where_it_usually_is(
    tmp_path: Path,
) -> None:
    with OfServer(tmp_path / "usual") as crawl:
        assert crawl.listing.url == "http://a.example/sitemap.xml"
        assert (crawl.listing.lease.code, crawl.listing.lease.depth) == (LISTING, 1)
        assert list(crawl.parts.listings.asked) == ["a.example"]
        crawl.parts.listings.taken_back(crawl.listing)
        assert not crawl.parts.listings.asked
    with OfServer(tmp_path / "said", "Sitemap: /maps/a.xml") as crawl:
        assert crawl.listing.url == "http://a.example/maps/a.xml"


def test_pages_of_a_sitemap_are_offered_as_a_relevant_page_s_links(tmp_path: Path) -> None:
    names = "/one", "http://b.example/", "/closed/1", "ftp://a.example/"
    with OfServer(tmp_path, LSWC_EXCLUDE=["path:/closed/*"]) as crawl:
        visit = crawl.end(URLSET.format(located("url", *names)))
        assert visit.outcome == Outcome.LISTING
        kept = ["http://a.example/one", "http://b.example/"]
        assert [(offer.url, offer.server, offer.inherited, offer.depth) for offer in visit.offers] \
            == [(kept[0], "a.example", PageLanguage.TARGET, 1),
                (kept[1], "b.example", PageLanguage.TARGET, 1)]  # fmt: skip
        assert [(link.url, link.discarded) for link in visit.links] == [
            ("http://a.example/closed/1", Outcome.EXCLUDED),
            ("ftp://a.example/", Outcome.SCHEME),
            *((url, None) for url in kept),
        ]
        assert visit.tally == {
            ("kept", "of sitemaps and feeds"): 2,
            ("discarded", Outcome.EXCLUDED): 1,
            ("discarded", Outcome.SCHEME): 1,
            ("listings", Outcome.LISTING): 1,
            ("received", "bytes"): 0,
        }
        assert crawl.visit().lease.source == "sitemap"


def test_what_the_strategy_leaves_out_is_counted(tmp_path: Path) -> None:
    """By its top-level domain alone, in this profile."""
    names = "/one", "http://a.th/", "/two"
    with OfServer(tmp_path, LSWC_PROFILE="tld", LSWC_SITEMAPS=1) as crawl:
        visit = crawl.end(URLSET.format(located("url", *names)))
        assert [offer.url for offer in visit.offers] == ["http://a.th/"]
        discards = [(link.tier, link.discarded) for link in visit.links]
        assert discards == [(None, Outcome.STRATEGY), (0, None), (None, Outcome.STRATEGY)]
        assert visit.tally["discarded", Outcome.STRATEGY] == 2


def test_a_feed_says_that_it_is_one(tmp_path: Path) -> None:
    with OfServer(tmp_path) as crawl:
        crawl.end(RSS.format("<item><link>/fed.html</link></item>"))
        page = crawl.visit()
        assert (page.url, page.lease.source) == ("http://a.example/fed.html", "feed")


def test_an_index_leads_to_listings_that_lead_to_no_more(tmp_path: Path) -> None:
    index = INDEX.format(located("sitemap", "b.xml"))
    with OfServer(tmp_path) as crawl:
        (offer,) = crawl.end(index).offers
        assert (offer.url, offer.code, offer.depth) == ("http://a.example/b.xml", SUBLISTING, 1)
        crawl.listing = crawl.visit()
        assert crawl.end(index).offers == []


@pytest.mark.parametrize(
    ("robots", "body", "other"),
    [
        ("", None, ["http://a.example/sitemap_index.xml"]),
        ("", URLSET.format(""), ["http://a.example/sitemap_index.xml"]),
        ("Sitemap: /maps/a.xml", None, []),
    ],
)
def test_a_sitemap_that_is_not_there_may_be_elsewhere(
    tmp_path: Path, robots: str, body: str | None, other: list[str]
) -> None:
    with OfServer(tmp_path, robots) as crawl:
        visit = crawl.listing
        if body is None:
            missing = HttpError(Response(visit.url, 404))
            failure: Any = SimpleNamespace(value=missing, request=crawl.request(visit))
            crawl.parts.listings.failed(failure)
            assert visit.outcome == "status 404"
        else:
            crawl.end(body)
        assert [offer.url for offer in visit.offers] == other
        assert all((one.code, one.depth) == (LISTING, 1) for one in visit.offers)


def test_dates_of_a_listing_are_told_to_the_frontier(tmp_path: Path) -> None:
    dated = "<url><loc>/{}</loc><lastmod>{}</lastmod></url>"
    body = URLSET.format(
        dated.format("day", "1970-01-02")
        + dated.format("time", "1970-01-02T00:00:07+00:00")
        + dated.format("broken", "yesterday")
        + located("url", "/none")
    )
    with OfServer(tmp_path) as crawl:
        dates = crawl.end(body).dates
    # Of a day alone its end.
    assert dates == {"http://a.example/day": 172_800.0, "http://a.example/time": 86_407.0}


def test_a_long_index_is_gone_on_with(tmp_path: Path) -> None:
    names = [f"/{number}.xml" for number in range(LISTINGS_AT_ONCE + 1)]
    body = INDEX.format(located("sitemap", *names))
    with OfServer(tmp_path) as crawl:
        *listed, following = crawl.end(body).offers
        assert [offer.url for offer in listed] == [f"http://a.example{one}" for one in names[:-1]]
        assert (following.url, following.code) == ("http://a.example/sitemap.xml#1", LISTING)
        for _ in listed:
            crawl.parts.commits.commit(crawl.visit(), Outcome.LISTING)
        crawl.listing = crawl.visit()
        assert crawl.listing.url == following.url
        (last,) = crawl.end(body).offers
        assert (last.url, last.code) == (f"http://a.example{names[-1]}", SUBLISTING)


@pytest.mark.parametrize(("relevant", "offered"), [(WORTH * TRIED, 1), (WORTH * TRIED - 1, 0)])
def test_a_long_index_is_gone_on_with_while_it_is_worth_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, relevant: float, offered: int
) -> None:
    names = [f"/{number}.xml" for number in range(LISTINGS_AT_ONCE + 1)]
    body = INDEX.format(located("sitemap", *names))
    with OfServer(tmp_path) as crawl:
        monkeypatch.setattr(
            type(crawl.parts.frontier), "pages_of", lambda self, unit: Pages(TRIED, relevant)
        )
        crawl.listing.url += "#1"
        visit = crawl.end(body)
        assert len(visit.offers) == offered
        assert visit.tally["discarded", Outcome.LISTING_NOT_WORTH] == 1 - offered


MANY = "".join(f"<a href=/{n}>x</a>" for n in range(BOUNDS.links + 5))


def test_a_front_page_that_was_cut_names_its_links_once_its_server_is_relevant(
    tmp_path: Path,
) -> None:
    with OfServer(tmp_path) as crawl:
        crawl.end("")
        seen = crawl.visit()
        listings = crawl.parts.listings
        assert listings.of_cut(seen) == []
        seen.url = "http://a.example/"
        listings.cut(seen)
        seen.url = "http://a.example/other"
        (offer,) = listings.of_cut(seen)
        assert (offer.url, offer.code) == ("http://a.example/", LISTING)
        assert listings.of_cut(seen) == []
        seen.url = offer.url
        html = {"Content-Type": "text/html"}
        body = (MANY + "<a rel=nofollow href=/no>x</a>").encode()
        answer = Response(seen.url, body=body, headers=html, request=crawl.request(seen))
        run(listings.parse(answer))
        assert len(seen.offers) == BOUNDS.links + 5
        assert seen.outcome == Outcome.LISTING


def test_a_listing_of_which_nothing_can_be_read_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(body: bytes, url: str, part: int) -> None:
        raise KeyError(url)

    with OfServer(tmp_path) as crawl:
        monkeypatch.setattr("lswc.reading.sitemaps.read", fails)
        assert crawl.end("").outcome == Outcome.SPIDER_ERROR
