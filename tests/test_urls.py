"""Canonical URLs, servers, directories and sites."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.urls import directory, fingerprint, parse, site, tld


@pytest.mark.parametrize(
    ("url", "href", "server"),
    [
        ("HTTP://Example.COM:80/a/../b#f", "http://example.com/b", "example.com"),
        ("https://example.com:443/", "https://example.com/", "example.com"),
        ("http://example.com:8080", "http://example.com:8080/", "example.com:8080"),
        ("http://user:secret@example.com/", "http://example.com/", "example.com"),
        ("http://ไทย.com/ก", "http://xn--o3cw4h.com/%E0%B8%81", "xn--o3cw4h.com"),
    ],
)
def test_parse(url: str, href: str, server: str) -> None:
    parsed = parse(url)
    assert parsed is not None
    assert (parsed.href, parsed.server) == (href, server)


@pytest.mark.parametrize("url", ["", "no/scheme", "http://", "http://a b/", "http://a/\ud800"])
def test_not_a_url(url: str) -> None:
    assert parse(url) is None


@given(st.text())
def test_parsing_again_changes_nothing(text: str) -> None:
    parsed = parse(f"http://example.com/{text}")
    assert parsed is None or parse(parsed.href) == parsed


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://www.xsp.com/user1/whatsnew.html", "www.xsp.com/user1/"),
        ("http://www.xsp.com/about.html", "www.xsp.com/"),
        ("http://www.xsp.com/a/b/c.html", "www.xsp.com/a/"),
    ],
)
def test_directory_as_in_the_paper(url: str, expected: str) -> None:
    parsed = parse(url)
    assert parsed is not None
    assert directory(parsed) == expected


def test_site_is_the_registered_domain_with_private_suffixes() -> None:
    assert site("www.news.co.th") == "news.co.th"
    assert site("a.b.blogspot.com") == "b.blogspot.com"
    assert site("192.0.2.1") == "192.0.2.1"


def test_tld() -> None:
    assert [tld(h) for h in ("a.co.th", "a.com.", "192.0.2.1", "[::1]")] == ["th", "com", "", ""]


def test_fingerprint_fits_sqlite_and_differs() -> None:
    prints = {fingerprint(f"http://a/{i}") for i in range(10_000)}
    assert len(prints) == 10_000
    assert all(-(2**63) <= p < 2**63 for p in prints)
