"""Cookies that servers may set, those that are sent, and those that are learned of a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.guest.cookies import COOKIE_BYTES, COOKIES_OF_AN_ANSWER, HEADER_CHARACTERS, Jar
from lswc.guest.learned import FILE, Learned
from lswc.guest.server_cookies import MOST_KEPT, TRIES, ServerCookies, Way
from lswc.urls import Url, parse

if TYPE_CHECKING:
    from pathlib import Path


def url(address: str) -> Url:
    parsed = parse(address)
    assert parsed is not None
    return parsed


def jar(address: str, *lines: str) -> Jar:
    made = Jar()
    made.take(address, [line.encode("latin-1") for line in lines])
    return made


@pytest.mark.parametrize(
    ("line", "to", "sent"),
    [
        ("a=1", "http://www.a.co.th/x", "a=1"),
        ("a=1", "http://sub.www.a.co.th/", ""),
        ("a=1", "http://a.co.th/", ""),
        ("a=1; Domain=a.co.th", "http://a.co.th/", "a=1"),
        ("a=1; domain=.A.CO.TH", "https://other.a.co.th/", "a=1"),
        ("a=1; Domain=co.th", "http://www.a.co.th/", ""),
        ("a=1; Domain=th", "http://b.th/", ""),
        ("a=1; Domain=b.co.th", "http://b.co.th/", ""),
        ("a=1; Domain=", "http://www.a.co.th/", "a=1"),
        ("a=1; Path=/shop", "http://www.a.co.th/", ""),
        ("a=1; Path=/shop", "http://www.a.co.th/shop/1", "a=1"),
        ("a=1; Secure", "http://www.a.co.th/", ""),
        ("a=1; Secure; HttpOnly; SameSite=None", "https://www.a.co.th/", "a=1"),
        ("a=1; Max-Age=0", "http://www.a.co.th/", ""),
        ("a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "http://www.a.co.th/", ""),
        ("a=1; Expires=nonsense", "http://www.a.co.th/", "a=1"),
        ('a="b c"; Version=1', "http://www.a.co.th/", 'a="b c"'),
        ("a", "http://www.a.co.th/", "a"),
        ("=1", "http://www.a.co.th/", ""),
        ("", "http://www.a.co.th/", ""),
        ("a=\r\nX: 1", "http://www.a.co.th/", ""),
        (f"a={'1' * COOKIE_BYTES}", "http://www.a.co.th/", ""),
    ],
)
def test_a_cookie_goes_where_it_may(line: str, to: str, sent: str) -> None:
    found = jar("http://www.a.co.th/p", line)
    assert found.header(to) == sent
    assert Jar(found.kept()).header(to) == sent, "as it is kept"


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "[::1]:8000", "localhost", "a.github.io"])
def test_hosts_without_a_domain_have_cookies_of_their_own(host: str) -> None:
    found = jar(f"http://{host}/", "a=1", "b=2; Domain=github.io")
    assert found.header(f"http://{host}/x") == "a=1"
    assert found.header("http://b.github.io/") == ""


def test_a_flood_is_bounded() -> None:
    found = jar("http://a.example/", *(f"c{n}={'v' * 400}; Path=/" for n in range(1_000)))
    assert len(found.kept()) == COOKIES_OF_AN_ANSWER
    assert 0 < len(found.header("http://a.example/")) <= HEADER_CHARACTERS


@given(st.lists(st.binary(max_size=200)))
def test_no_line_of_a_stranger_is_an_error(lines: list[bytes]) -> None:
    made = Jar()
    made.take("http://www.a.example/p?q", lines)
    header = made.header("http://www.a.example/p")
    assert "\n" not in header
    assert "\r" not in header


def sent(cookies: ServerCookies, to: Url) -> str:
    found = cookies.jars.get(to.server)
    return "" if found is None else found.header(to.href)


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Callable[[], ServerCookies]]:
    """Return what begins another run of a crawl."""
    runs: list[Learned] = []

    def begin() -> ServerCookies:
        runs.append(Learned(tmp_path / FILE))
        return ServerCookies(runs[-1])

    yield begin
    for run in runs:
        run.close()


Begin = Callable[[], ServerCookies]


FIRST, SECOND = url("http://a.example/one"), url("http://a.example/two")


def test_a_walls_cookies_are_sent_once_two_urls_needed_them(begin: Begin) -> None:
    cookies = begin()
    cookies.opened(FIRST, Way.WALL, jar(FIRST.href, "s=1; Path=/", "back=%2Fone; Path=/"))
    assert sent(cookies, SECOND) == ""
    set_then = jar(SECOND.href, "s=2; Path=/", "back=%2Ftwo; Path=/", "more=1; Path=/")
    cookies.opened(SECOND, Way.WALL, set_then)
    assert sent(cookies, FIRST) == "s=2", "what both were given, and names no URL"
    assert sent(begin(), FIRST) == "s=2", "also in another run"
    assert sent(cookies, url("http://b.example/")) == ""


def test_a_wall_that_wants_others_each_time_is_sent_none(begin: Begin) -> None:
    cookies = begin()
    for number in range(2 + TRIES):
        cookies.opened(FIRST, Way.WALL, jar(FIRST.href, f"s={number}; Path=/"))
    assert sent(cookies, FIRST) == ""


def test_a_session_that_ended_is_followed_by_the_next(begin: Begin) -> None:
    cookies = begin()
    for number in range(10):
        cookies.opened(FIRST, Way.WALL, jar(FIRST.href, f"s={number}; Path=/"))
        cookies.worked("a.example")
    assert sent(cookies, FIRST) == "s=9"


def test_a_server_is_sent_few_cookies(begin: Begin) -> None:
    cookies = begin()
    many = jar(FIRST.href, *(f"c{n}=1; Path=/" for n in range(40)))
    cookies.opened(FIRST, Way.DOORWAY, many)
    assert sent(cookies, FIRST).count(";") == MOST_KEPT - 1


def test_tries_end_by_server_and_way(begin: Begin) -> None:
    cookies = begin()
    for _ in range(TRIES):
        assert cookies.may_try("a.example", Way.WALL)
        assert not cookies.is_shut("a.example", "")
        cookies.failed("a.example", Way.WALL, "")
    assert not cookies.may_try("a.example", Way.WALL)
    assert cookies.is_shut("a.example", "")
    assert not cookies.is_shut("a.example", "/elsewhere")
    assert cookies.may_try("a.example", Way.DOORWAY)
    assert cookies.may_try("b.example", Way.WALL)


def test_what_a_kill_tore_is_learned_anew(tmp_path: Path) -> None:
    file = tmp_path / FILE
    learned = Learned(file)
    learned.put("a.example", "cookies", {"failed": {"wall": 1}})
    learned.put("a.example", "cookies", {"failed": {"wall": 2}})
    learned.put("b.example", "other", 1)
    learned.close()
    with file.open("ab") as torn:
        torn.write(b'["c.example", "cook')
    again = Learned(file)
    assert again.get("a.example", "cookies") == {"failed": {"wall": 2}}
    assert again.keys("other") == ["b.example"]
    assert again.get("c.example", "cookies") is None
    again.close()
    assert len(file.read_bytes().splitlines()) == 2, "only the latest is left"
