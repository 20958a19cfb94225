"""Canonical URLs, servers, directories and sites."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy import Request

from lswc.urls import directory, fingerprint, has_public_suffix, parse, registered_domain, site, tld


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


@pytest.mark.parametrize(
    ("url", "href"),
    [
        # The WHATWG URL Standard, section by section: scheme, host, IPv4, IPv6, port, path, query.
        ("hTTp:\\\\example.com\\a", "http://example.com/a"),
        ("http:example.com", "http://example.com/"),
        ("  http://example.com/\t\n ", "http://example.com/"),
        ("http://exa\nmple.com", "http://example.com/"),
        ("http:///example.com", "http://example.com/"),
        ("http://EXAMPLE.com", "http://example.com/"),
        ("http://ex%41mple.com", "http://example.com/"),
        ("http://ｅｘａｍｐｌｅ.com", "http://example.com/"),
        ("http://例え.jp", "http://xn--r8jz45g.jp/"),
        ("http://faß.example", "http://xn--fa-hia.example/"),
        ("http://a。b.example", "http://a.b.example/"),
        ("http://example.com.", "http://example.com/"),
        ("http://example.com.:8080/", "http://example.com:8080/"),
        ("http://192.168.257", "http://192.168.1.1/"),
        ("http://0x7f.1", "http://127.0.0.1/"),
        ("http://0300.168.0.1", "http://192.168.0.1/"),
        ("http://4294967295", "http://255.255.255.255/"),
        ("http://127.0.0.1.", "http://127.0.0.1/"),
        ("http://[::1]", "http://[::1]/"),
        ("http://[0:0::0:1]:80/", "http://[::1]/"),
        ("http://[::127.0.0.1]", "http://[::7f00:1]/"),
        ("http://[2001:DB8::1]", "http://[2001:db8::1]/"),
        ("http://example.com:080/", "http://example.com/"),
        ("http://example.com:/", "http://example.com/"),
        ("http://example.com:0", "http://example.com:0/"),
        ("https://example.com:80", "https://example.com:80/"),
        ("http://example.com/a/./b/../c", "http://example.com/a/c"),
        ("http://example.com/a/%2e%2E/b", "http://example.com/b"),
        ("http://example.com/../..", "http://example.com/"),
        ("http://example.com/a//b/", "http://example.com/a//b/"),
        ("http://example.com/a b", "http://example.com/a%20b"),
        ("http://example.com/ก", "http://example.com/%E0%B8%81"),
        ("http://example.com/a?b c'd", "http://example.com/a?b%20c%27d"),
        ("http://example.com/a?b#c", "http://example.com/a?b"),
        ("http://example.com/\ud800", "http://example.com/%EF%BF%BD"),
        # RFC 3986 §6.2.2, which the standard leaves as it is.
        ("http://example.com/%7Euser/%e0%b8%81", "http://example.com/~user/%E0%B8%81"),
        ("http://example.com/?q=%c3%a9%2D", "http://example.com/?q=%C3%A9-"),
        ("http://example.com/%2", "http://example.com/%2"),
        ("http://example.com/%%34%31", "http://example.com/%%341"),
        ("http://example.com/a?", "http://example.com/a"),
        (
            "http://example.com/[a]{b}?c[]=|^`\\",
            "http://example.com/%5Ba%5D%7Bb%7D?c%5B%5D=%7C%5E%60%5C",
        ),
        ("http://example.com/?%[%4]", "http://example.com/?%%5B%4%5D"),
        # What says who follows a link.
        ("http://a.example/?utm_source=x&id=1&UTM_medium=y", "http://a.example/?id=1"),
        ("http://a.example/?fbclid=x", "http://a.example/"),
        ("http://a.example/p.php?PHPSESSID=0f&x=1", "http://a.example/p.php?x=1"),
        ("http://a.example/a;jsessionid=0A.node/b?x=1", "http://a.example/a/b?x=1"),
        ("http://a.example/(S(abcdefghijklmnopqrstuvwx))/a.aspx", "http://a.example/a.aspx"),
        ("http://a.example/?sid=0123456789abcdef0123456789ABCDEF", "http://a.example/"),
        ("http://a.example/?sid=5", "http://a.example/?sid=5"),
        ("http://a.example/?b=2&a=1", "http://a.example/?b=2&a=1"),
        ("http://a.example/.;sid=1/b", "http://a.example/b"),
    ],
)
def test_one_canonical_form(url: str, href: str) -> None:
    parsed = parse(url)
    assert parsed is not None
    assert parsed.href == href
    assert parse(href) == parsed


@pytest.mark.parametrize(
    "url",
    ["http://[", "http://[:1]", "http://[::1", "http://[1:2:3:4:5:6:7:8:9]", "http://256.1.1.1",
     "http://1.2.3.4.5", "http://0xffffffff1", "http://example.com:65536", "http://example.com:x",
     "http://a%00b", "http://a<b", "http://a^b", "http://%", "http://xn--a", "http://.", "//a/b"],
)  # fmt: skip
def test_failures_of_the_standard(url: str) -> None:
    assert parse(url) is None


def test_port() -> None:
    urls = ["http://a/", "https://a/", "http://a:443/", "http://[::1]:81/", "mailto:a@b"]
    assert [u.port for url in urls if (u := parse(url))] == [80, 443, 443, 81, 0]


def test_twins_have_one_fingerprint() -> None:
    assert fingerprint("http://a.example/x") == fingerprint("https://a.example/x")
    assert fingerprint("http://a.example/x") != fingerprint("http://a.example/y")


@pytest.mark.parametrize("url", ["", "no/scheme", "http://", "http://a b/"])
def test_not_a_url(url: str) -> None:
    assert parse(url) is None


@given(st.text() | st.text("%2E4105;=sid&/.?()S", max_size=40))
def test_parsing_again_changes_nothing(text: str) -> None:
    parsed = parse(f"http://example.com/{text}")
    assert parsed is None or parse(parsed.href) == parsed


@given(st.text())
def test_a_canonical_url_is_what_scrapy_asks_for(text: str) -> None:
    for url in (parse(f"http://example.com/{text}"), parse(f"http://example.com/?{text}")):
        assert url is None or Request(url.href).url == url.href


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


@pytest.mark.parametrize(
    ("hostname", "domain"),
    [
        # The list's own test cases, test_psl.txt: a rule of one label, of two, a wildcard, one
        # whose own parent is none, an exception, and names that aren't ASCII.
        ("com", ""),
        ("b.example.com", "example.com"),
        ("uk.com", ""),
        ("a.b.example.uk.com", "example.uk.com"),
        ("c.kobe.jp", ""),
        ("b.c.kobe.jp", "b.c.kobe.jp"),
        ("a.b.c.kobe.jp", "b.c.kobe.jp"),
        ("b.test.ck", "b.test.ck"),
        ("www.city.kobe.jp", "city.kobe.jp"),
        ("www.www.ck", "www.ck"),
        ("xn--55qx5d.cn", ""),
        ("www.xn--85x722f.xn--55qx5d.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("shishi.xn--fiqs8s", "shishi.xn--fiqs8s"),
        # A label that is none: nobody has registered it.
        ("a..com", ""),
    ],
)
def test_registered_domains_are_those_of_the_list(hostname: str, domain: str) -> None:
    assert registered_domain(hostname) == domain
    assert has_public_suffix(hostname) == bool(domain)


def test_a_suffix_that_the_list_does_not_know_is_no_public_one() -> None:
    assert not has_public_suffix("www.a.unheardof")


@pytest.mark.parametrize(
    ("hostname", "expected"),
    [
        ("www.a.unheardof", "a.unheardof"),
        ("a.unheardof", "a.unheardof"),
        ("unheardof", "unheardof"),
        ("192.0.2.1", "192.0.2.1"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("x.kawasaki.jp", "x.kawasaki.jp"),
    ],
)
def test_site_under_a_tld_that_the_list_does_not_know(hostname: str, expected: str) -> None:
    assert site(hostname) == expected


def test_tld() -> None:
    assert [tld(h) for h in ("a.co.th", "a.com.", "192.0.2.1", "[::1]")] == ["th", "com", "", ""]


def test_fingerprint_fits_sqlite_and_differs() -> None:
    prints = {fingerprint(f"http://a/{i}") for i in range(10_000)}
    assert len(prints) == 10_000
    assert all(-(2**63) <= p < 2**63 for p in prints)


@pytest.mark.parametrize(
    ("address", "href", "route"),
    [
        ("http://a.example/#/about", "http://a.example/#/about", "#/about"),
        ("http://a.example/x?b=1#!/c", "http://a.example/x?b=1#!/c", "#!/c"),
        ("http://a.example/#/", "http://a.example/", ""),
        ("http://a.example/#top", "http://a.example/", ""),
        ("http://ไทย.example/#/ข่าว", None, "#/%E0%B8%82%E0%B9%88%E0%B8%B2%E0%B8%A7"),
        ("http://a.example/?utm_source=b#/c", "http://a.example/#/c", "#/c"),
    ],
)
def test_a_route_of_scripts_is_part_of_a_url_and_no_other_fragment(
    address: str, href: str | None, route: str
) -> None:
    url = parse(address)
    assert url is not None
    assert url.route == route
    if href is not None:
        assert url.href == href
    assert parse(url.href) == url
    bare = url.without_route
    assert not bare.route
    assert bare == parse(address.partition("#")[0])
