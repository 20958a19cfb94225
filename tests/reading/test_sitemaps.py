"""Sitemaps and feeds: what they name is found, and none of them can hold or fool the reader."""

from __future__ import annotations

import gzip
import json
from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.language.base_url import Base
from lswc.mishaps import ROW, what_of
from lswc.reading.sitemaps import (
    LISTINGS_AT_ONCE,
    MAX_OF_ROBOTS,
    PAGES_AT_ONCE,
    Listing,
    of_robots,
    read,
)

if TYPE_CHECKING:
    from collections.abc import Callable

URL = "http://a.example/maps/sitemap.xml"
NS = (
    'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"'
)


def urls(listing: Listing) -> list[str]:
    return [page.url.removeprefix("http://a.example/") for page in listing.pages]


SITEMAP = f"""<?xml version="1.0" encoding="UTF-8"?><urlset {NS}>
<url><loc> http://a.example/1?a=1&amp;b=2
</loc><lastmod>2026-01-01</lastmod></url><!-- <loc>http://a.example/no</loc> -->
<url><loc><![CDATA[http://a.example/2]]></loc>
<xhtml:link rel="alternate" hreflang="th" href="http://a.example/th"/></url>
<url><loc>http://a.example/2</loc></url><image><loc>http://a.example/i.png</loc></image></urlset>"""


def test_a_sitemap_names_pages_and_their_languages() -> None:
    listing = read(SITEMAP.encode(), URL)
    assert urls(listing) == ["1?a=1&b=2", "2", "th"]
    assert [page.hreflang for page in listing.pages] == ["", "", "th"]
    assert read(gzip.compress(SITEMAP.encode()), URL) == listing
    assert read(SITEMAP.replace("UTF-8", "UTF-16").encode("utf-16"), URL) == listing


def test_an_index_names_sitemaps() -> None:
    index = "<sitemapindex><sitemap><loc>1.xml</loc></sitemap><sitemap><loc>/2.xml</loc></sitemap>"
    listing = read(index.encode(), URL)
    assert listing.listings == ("http://a.example/maps/1.xml", "http://a.example/2.xml")
    assert listing.pages == ()


FEEDS = {
    "RSS": "<rss><channel><link>/home</link><item><link>/1</link><guid>/g</guid></item>"
    "<item><title>x</title><link>/2</link></item></channel></rss>",
    "RDF": '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
    ' xmlns="http://purl.org/rss/1.0/"><item><link>/1</link></item><item><link>/2</link></item>'
    "</rdf:RDF>",
    "Atom": '<feed xmlns="http://www.w3.org/2005/Atom"><link href="/home"/><entry>'
    '<link rel="self" href="/s"/><link href="/1"/></entry><entry><link rel="alternate" href="/2"/>'
    "</entry></feed>",
    "text": "http://a.example/1\r\nhttp://a.example/2\r\nno\r\n",
}


@pytest.mark.parametrize("kind", FEEDS)
def test_other_listings_name_pages(kind: str) -> None:
    assert urls(read(FEEDS[kind].encode(), URL)) == ["1", "2"]


def test_feeds_are_told_from_sitemaps() -> None:
    kinds = {kind: read(text.encode(), URL).is_feed for kind, text in FEEDS.items()}
    assert kinds == {"RSS": True, "RDF": True, "Atom": True, "text": False}
    assert not read(SITEMAP.encode(), URL).is_feed


CHANGED = {
    "<url><loc>/1</loc><lastmod>2026-01-01</lastmod></url>": "2026-01-02T00:00:00+00:00",
    "<url><loc>/1</loc><lastmod> 2026-01-01T08:00+07:00 </lastmod></url>":
        "2026-01-01T08:00:00+07:00",
    "<url><loc>/1</loc><lastmod>last week</lastmod></url>": "None",
    "<url><loc>/1</loc><lastmod>9999-12-31</lastmod></url>": "None",
    "<url><lastmod>2026-01-01</lastmod></url><url><loc>/1</loc></url>": "None",
    "<entry><link href='/1'/><updated>2026-01-01T08:00:00Z</updated></entry>":
        "2026-01-01T08:00:00+00:00",
    "<item><link>/1</link><pubDate>Thu, 01 Jan 2026 08:00:00 GMT</pubDate></item>":
        "2026-01-01T08:00:00+00:00",
}  # fmt: skip


@pytest.mark.parametrize("entry", CHANGED)
def test_a_listing_says_when_a_page_changed(entry: str) -> None:
    (listed,) = read(f"<urlset>{entry}</urlset>".encode(), URL).pages
    changed = listed.changed.isoformat() if listed.changed else "None"
    assert changed == CHANGED[entry]


def test_robots_names_sitemaps() -> None:
    robots = (
        b"User-agent: *\nSitemap: /1.xml\nsitemap :http://b.example/2.xml # x\n#Sitemap: /3.xml\n"
    )
    found = of_robots(robots + b"Sitemap: /1.xml\nSitemap:\n", "http://a.example/robots.txt")
    assert found == ("http://a.example/1.xml", "http://b.example/2.xml")
    many = b"".join(b"Sitemap: /%d.xml\n" % number for number in range(1_000))
    assert len(of_robots(many, URL)) == MAX_OF_ROBOTS


def url(address: str) -> str:
    return f"<url><loc>{address}</loc></url>"


def test_what_an_entity_stands_for_is_not_put_in() -> None:
    entity = '<!DOCTYPE x [<!ENTITY a "/of-an-entity">]>'
    assert urls(read(f"{entity}<urlset>{url('&a;')}{url('/1')}</urlset>".encode(), URL)) == [
        "maps/&a;",
        "1",
    ]


LAUGHS = (
    '<!DOCTYPE x [<!ENTITY a "http://a.example/lol">'
    + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + f"]><urlset>{url('&i;')}{url('http://a.example/1')}</urlset>"
)
FILE = (
    '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/hostname">]><urlset>' + url("/&f;") + "</urlset>"
)
DTD = '<!DOCTYPE urlset SYSTEM "http://127.0.0.1:9/x.dtd"><urlset>' + url("/1") + "</urlset>"
PARAMETER = '<!DOCTYPE x [<!ENTITY % p SYSTEM "file:///etc/hostname"> %p;]><urlset>' + url("/1")


@cache
def zeros() -> bytes:
    return gzip.compress(b"<urlset>" + b" " * 200_000_000)


HOSTILE: dict[str, Callable[[], bytes]] = {
    "laughs": LAUGHS.encode,
    "a file": FILE.encode,
    "a DTD elsewhere": DTD.encode,
    "a parameter entity": PARAMETER.encode,
    "a bomb": zeros,
    "a bomb in a bomb": lambda: gzip.compress(zeros()),
    "a torn gzip": lambda: gzip.compress(SITEMAP.encode())[:-40],
    "gzip that isn't": lambda: b"\x1f\x8b\x08" + b"x" * 100,
    "too many pages": lambda: ("<urlset>" + "".join(url(f"/{n}") for n in range(30_000))).encode(),
    "too many sitemaps": lambda: b"<sitemapindex>" + b"<sitemap><loc>/x</loc></sitemap>" * 50_000,
    "deep": lambda: b"<urlset>" + b"<url>" * 200_000,
    "attributes": lambda: b"<urlset " + b" ".join(b"a%d='1'" % n for n in range(30_000)) + b">",
    "an attribute": lambda: b"<urlset a='" + b"x" * 12_000_000 + b"'>",
    "a name": lambda: b"<urlset><" + b"x" * 12_000_000 + b">",
    "a text": lambda: b"<urlset><url><loc>" + b"x" * 12_000_000,
    "an address": lambda: ("<urlset>" + url("http://a.example/" + "x" * 10_000)).encode(),
    "namespaces": lambda: (
        b"<urlset>" + b"".join(b"<n%d:url xmlns:n%d='x%d'/>" % (n, n, n) for n in range(9_999))
    ),
    "open ends": lambda: b"<urlset><url><loc>http://a.example/1",
    "HTML": lambda: b"<html><body><url><loc>/1</loc></url>",
    "no root": lambda: b"<>" * 1_000,
    "binary": lambda: bytes(range(256)) * 1_000,
    "references": lambda: b"<urlset><url><loc>" + b"&#65;" * 500_000,
    "comments": lambda: b"<urlset>" + b"<!-- x -->" * 500_000,
    "instructions": lambda: b"<urlset>" + b"<?x y?>" * 500_000,
    "empty": lambda: b"",
    "lines": lambda: b"http://a.example/1\n" * 500_000,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.usefixtures("brake")
def test_no_listing_holds_the_reader_or_reads_more_than_itself(name: str) -> None:
    listing = read(HOSTILE[name](), URL)
    assert len(listing.pages) <= PAGES_AT_ONCE
    assert len(listing.listings) <= LISTINGS_AT_ONCE
    assert set(urls(listing)) <= {str(n) for n in range(PAGES_AT_ONCE)} | {
        "maps/",
        "",
        "1?a=1&b=2",
        "2",
        "th",
        "&f;",  # as it is written
        "maps/&i;",
    }


ONE, TWO = "http://a.example/one?a=1&b=2", "http://a.example/two"
BARE = f"<urlset>{url(ONE)}{url(TWO)}</urlset>"
XML = "<?xml version='1.0' encoding='UTF-8'?>"
ATOM = 'xmlns:atom="http://www.w3.org/2005/Atom"'


def item(inside: str) -> str:
    return f"<item><title>x</title>{inside}</item>"


def rss(*inside: str) -> str:
    return f"{XML}<rss {ATOM}><channel><link>/</link>{''.join(map(item, inside))}</channel></rss>"


ODD: dict[str, str | bytes] = {
    "an ampersand": XML + BARE,
    "an ampersand that is escaped twice": XML + BARE.replace("&", "&amp;amp;"),
    "an ampersand in CDATA": XML
    + BARE.replace("<loc>", "<loc><![CDATA[").replace("</loc", "]]></loc"),
    "junk before the declaration": "\n\n<!-- <urlset> --> \n" + XML + BARE,
    "a warning before it": "<br />\n<b>Warning</b>: x() in <b>y</b>\n" + XML + BARE,
    "two marks": b"\xef\xbb\xbf\xef\xbb\xbf" + (XML + BARE).encode(),
    "UTF-16": (XML.replace("8", "16") + BARE).encode("utf-16"),
    "UTF-16 without a mark": (XML.replace("8", "16") + BARE).encode("utf-16-be"),
    "UTF-16 that isn't": (XML.replace("8", "16") + BARE).encode(),
    "a charset that isn't": XML.replace("UTF-8", "utf8mb4_unicode") + BARE,
    "bytes that aren't its charset's": (XML + BARE).encode() + b"<!-- \xa1\xff -->",
    "controls": (XML + BARE.replace("<loc>", "\x0b\x1f<loc>\x00")).encode(),
    "references to nothing": XML + BARE.replace("<loc>", "&nbsp;&#0;&#x1f;<loc>"),
    "a prefix": XML + BARE.replace("</", "</s:").replace("<u", "<s:u").replace("<l", "<s:l"),
    "capitals": (XML + BARE).replace("url", "URL").replace("loc", "Loc"),
    "entries that aren't closed": XML + BARE.replace("</url>", ""),
    "entries that aren't there": XML + BARE.replace("<url>", "").replace("</url>", ""),
    "two files in one": XML + f"<urlset>{url(ONE)}</urlset>" + XML + f"<urlset>{url(TWO)}</urlset>",
    "more after its end": XML + BARE + "<script>a && b</script>",
    "two in one gzip": gzip.compress((XML + f"<urlset>{url(ONE)}").encode())
    + gzip.compress((url(TWO) + "</urlset>").encode()),
    "lines with a mark": f"\ufeff{ONE}\n{TWO}",
    "lines with CR": f"{ONE}\r{TWO}\r",
    "lines in UTF-16": f"{ONE}\n{TWO}".encode("utf-16"),
    "lines with blanks": f"\n\n  {ONE}  \n\t{TWO}\t2026-01-01\n",
    "lines with a comment": f"# sitemap\n{ONE}\n{TWO}\n",
    "guid": rss(f"<guid>{ONE}</guid>", f"<guid isPermaLink='true'> {TWO} </guid>"),
    "guid that is none": rss(
        "<guid isPermaLink='false'>http://a.example/?p=1</guid>",
        f"<guid isPermaLink='false'>1</guid><link>{ONE}</link>",
        f"<guid>tag:a.example,2026:1</guid><link>{TWO}</link>",
    ),
    "atom:link": rss(f"<atom:link href='{ONE}'/>", f"<atom:link rel='alternate' href='{TWO}'/>"),
    "a link and guid": rss(
        f"<guid>/g</guid><atom:link href='/h'/><link>{ONE}</link>", f"<link>{TWO}</link>"
    ),
    "an address of Atom's base": "<feed xml:base='http://a.example/'>"
    f"<entry><link href='{ONE[17:]}'/></entry><entry><link href='two'/></entry></feed>",
    "an id": f"<feed><entry><id>{ONE}</id></entry>"
    f"<entry><id>urn:x</id><link href='{TWO}'/></entry></feed>",
    "about": '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    f"<item rdf:about='{ONE}'/><item rdf:about='/x'><link>{TWO}</link></item></rdf:RDF>",
    "an address in parts": XML + BARE.replace("one", "<!-- x -->one"),
    "packed twice": gzip.compress(gzip.compress((XML + BARE).encode())),
    "addresses without a scheme": XML + BARE.replace("http://", ""),
    "addresses in quotes": XML + BARE.replace("<loc>", "<loc>'").replace("</loc>", "'</loc>"),
    "cut in an address": XML + BARE.replace("</urlset>", "<url><loc>http://a.example/th"),
    "entries in another element": XML
    + BARE.replace("<urlset>", "<urlset><urls>").replace("</urlset>", "</urls></urlset>"),
    "elements that aren't closed": f"{XML}<rss><channel><item><title><b></title><link>{ONE}</link>"
    f"</item><item><description><p>x<br></description><link>{TWO}</link></item></channel></rss>",
    "lines in quotes": f'"{ONE}"\n"{TWO}"\n',
    "one line": f"{ONE}, {TWO}",
    "lines with tags": f"{ONE}<br>\n{TWO}<br>\n",
    "an image": XML
    + BARE.replace("</loc>", "</loc><image:image><image:loc>/i</image:loc></image:image>"),
}  # fmt: skip


@pytest.mark.parametrize("shape", ODD)
def test_a_listing_may_be_odd(shape: str) -> None:
    body = ODD[shape]
    assert urls(read(body if isinstance(body, bytes) else body.encode(), URL)) == [
        "one?a=1&b=2",
        "two",
    ]


def test_what_stands_in_a_document_type_is_not_taken_for_a_root() -> None:
    assert urls(read(f"<!DOCTYPE x><!-- --> <urlset>{url('/1')}".encode(), URL)) == ["1"]


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_robots_names_sitemaps_however_lines_end(end: str) -> None:
    robots = end.join(
        ["\ufeffSitemap: /1.xml", "sitemap\xa0'/2.xml'", "Site-map:</3.xml>", "Sitemaps: /4"]
    )
    found = of_robots(robots.encode(), "http://a.example/robots.txt")
    assert [one.rpartition("/")[2] for one in found] == ["1.xml", "2.xml", "3.xml"]


def test_the_newest_come_first_where_there_are_many() -> None:
    days = [f"<sitemap><loc>/{n}</loc><lastmod>2026-01-01T00:{n // 60:02}:{n % 60:02}Z</lastmod>"
            "</sitemap>" for n in range(250)]  # fmt: skip
    body = f"<sitemapindex><sitemap><loc>/undated</loc></sitemap>{''.join(days)}</sitemapindex>"
    parts = [read(body.encode(), URL, part) for part in range(3)]
    named = [one.rpartition("/")[2] for part in parts for one in part.listings]
    assert named == [*(str(n) for n in reversed(range(250))), "undated"]
    assert [part.has_more for part in parts] == [True, True, False]
    few = read(f"<sitemapindex>{''.join(days[:9])}".encode(), URL)
    assert few.listings[0] == "http://a.example/0"
    assert not few.has_more


def test_one_url_without_end_is_one_page() -> None:
    assert urls(read(b"<urlset>" + url("/1").encode() * 50_000, URL)) == ["1"]


def test_an_error_costs_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    join = Base.join

    def fails(base: Base, href: str) -> str:
        if "two" in href:
            raise KeyError(href)
        return join(base, href)

    monkeypatch.setattr(Base, "join", fails)
    listing = read((XML + BARE).encode(), URL)
    assert urls(listing) == ["one?a=1&b=2"]
    assert [what_of(mishap) for mishap, _ in listing.mishaps] == [ROW]


@given(st.binary(max_size=300))
def test_any_bytes_are_a_listing_or_none(body: bytes) -> None:
    read(body, URL)
    read(b"<urlset><url><loc>" + body, URL)


def json_feed(**more: object) -> bytes:
    items = [
        {"url": "1", "date_modified": "2026-03-01T10:00:00Z", "language": "th"},
        {"url": "/2", "date_published": "2026-03-01"},
        {"url": 3}, {"id": "4"}, "5", None,
    ]  # fmt: skip
    return json.dumps(
        {"version": "https://jsonfeed.org/version/1", "items": items, **more}
    ).encode()


def test_a_json_feed_names_pages() -> None:
    listing = read(json_feed(), URL)
    assert urls(listing) == ["maps/1", "2"]
    assert [page.hreflang for page in listing.pages] == ["th", ""]
    assert [page.changed and page.changed.isoformat() for page in listing.pages] == [
        "2026-03-01T10:00:00+00:00", "2026-03-02T00:00:00+00:00",
    ]  # fmt: skip
    assert listing.is_feed
    assert read(b"\xef\xbb\xbf" + json_feed(), URL) == listing
    assert read(gzip.compress(json_feed()), URL) == listing


@pytest.mark.parametrize(
    "body",
    [
        json_feed(version="2"), json_feed(version=1), json_feed(items={"url": "1"}),
        json_feed()[:-9], b"{" * 100_000, b'{"a":' * 100_000, b'{"version": ' + b"9" * 9_000,
        json_feed(filler=" " * 5_000_000),
    ],
)  # fmt: skip
def test_other_json_names_nothing(body: bytes) -> None:
    assert read(body, URL).pages == ()
