"""Of a robots.txt only what is said to one robot, and not too much of that."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from lswc.safety.robots import MAX_PATTERNS, MAX_SIZE, NOTHING_ALLOWED, reduced

LINES = [
    "User-agent: *", "user-agent: lswc", "User-Agent: LSWC", "User agent other",
    "useragent:lswc",
    "User-agent:", "User-agent: lswc*", "User-agent: other # lswc", "  User-agent : *  ", "",
    "# note", "Disallow: /a", "Disallow:", "Allow: /a/b$", "disallow /c*d", "Crawl-delay: 3",
    "Crawl-delay: nan", "Sitemap: http://a.example/s", "Host: a.example", "Noise: x", "noise",
    "Disallow: /ก#x", "\ufeffUser-agent: *", "Dissallow: /e", "Request-rate: 1/5",
]  # fmt: skip
PATHS = ["", "a", "a/b", "a/bc", "c", "cxd", "e", "%E0%B8%81", "z"]


@given(st.lists(st.sampled_from(LINES), max_size=12))
def test_it_says_the_same(lines: list[str]) -> None:
    text = "\r\n".join(lines)
    whole, part = Protego.parse(text.removeprefix("\ufeff")), reduced(text.encode(), "lswc")
    short = Protego.parse(part.decode())
    assert short.crawl_delay("lswc") == whole.crawl_delay("lswc")
    for path in PATHS:
        url = f"http://a.example/{path}"
        assert short.can_fetch(url, "lswc") == whole.can_fetch(url, "lswc"), (url, part)


@given(st.binary(), st.text())
def test_any_bytes_get_an_answer(body: bytes, agent: str) -> None:
    assert isinstance(reduced(body, agent), bytes)


def test_other_robots_cost_nothing() -> None:
    others = "".join(f"User-agent: a{n}\n" for n in range(1_000)) + "User-agent: *\nUser-agent: b\n"
    rules = "".join(f"Disallow: /{n}\n" for n in range(1_000))
    assert (
        reduced(f"{others}{rules}".encode(), "lswc").decode() == f"User-agent: *\n{rules}".strip()
    )
    assert reduced(f"User-agent: a\n{rules}".encode(), "lswc") == b""


@pytest.mark.parametrize("pattern", ["Disallow: /*x", "Allow: /x$"])
def test_a_server_with_too_many_patterns_allows_nothing(pattern: str) -> None:
    most = "User-agent: *\n" + "\n".join([pattern] * MAX_PATTERNS)
    assert reduced(most.encode(), "lswc").decode() == most
    assert reduced(f"{most}\n{pattern}".encode(), "lswc") == NOTHING_ALLOWED
    assert reduced(f"{most}\nUser-agent: b\n{pattern}".encode(), "lswc").decode() == most


def test_the_rest_of_a_long_file_is_not_read() -> None:
    start = b"User-agent: *\n#" + b"x" * (MAX_SIZE - 100)
    assert reduced(start + b"\n" + b"#" * 200 + b"\nDisallow: /", "lswc") == b"User-agent: *"


def test_a_version_makes_no_other_robot() -> None:
    assert reduced(b"User-agent: LSWC/1.0\nDisallow: /", "lswc/2.0 (+https://a.example)") == (
        b"User-agent: lswc\nDisallow: /"
    )
