"""URL patterns: what they match, in which part, and what is no pattern."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.errors import ConfigError
from lswc.outcomes import Outcome
from lswc.safety.url_patterns import (
    PATTERN_CHARACTERS,
    PATTERNS_OF_A_LIST,
    REGEXES_OF_A_LIST,
    naming,
    patterns_of,
    url_patterns,
)
from lswc.urls import Url, parse

URL = "http://www.example.co.th:8080/news/2026/a.html?id=7&sort=date"


def url(address: str = URL) -> Url:
    found = parse(address)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "pattern",
    [
        "host:www.example.co.th",
        "host:*.example.co.th",
        "path:/news/*",
        "path:*/2026/*.html",
        "path:*",
        "query:*sort=*",
        "query:id=7&sort=date",
        "www.example.co.th:8080/news/*",
        "url:*example*?id=7*",
        "*.html?*",
        "host~example",
        r"path~/20\d\d/",
        "query~(^|&)sort=",
        r"url~:8080/.*\?id",
    ],
)
def test_a_pattern_matches(pattern: str) -> None:
    assert naming(url(), [pattern]) == pattern


@pytest.mark.parametrize(
    "pattern",
    [
        "host:example.co.th",
        "host:*.example.co.th:8080",
        "path:/news/",
        "path:news",
        "path:/NEWS/*",
        "path:/news/*/2026/*",
        "path:*news/2026*2026*",
        "query:?id=7*",
        "http://www.example.co.th:8080/*",
        "www.example.co.th/news/*",
        r"path~^/20\d\d/",
        "path~id=7",
    ],
)
def test_a_pattern_does_not_match(pattern: str) -> None:
    assert naming(url(), [pattern]) == ""


def test_both_schemes_are_matched() -> None:
    for scheme in ("http", "https"):
        assert naming(url(f"{scheme}://a.example/x"), ["a.example/x"])


def test_other_letters_are_matched_as_urls_have_them() -> None:
    assert naming(url("http://a.example/ข่าว/1?q=ไทย"), ["path:/ข่าว/*"])
    assert naming(url("http://a.example/ข่าว/1?q=ไทย"), ["query:*ไทย"])


@given(st.text("ab*", max_size=9), st.text("ab", max_size=9))
def test_a_star_is_any_text(glob: str, text: str) -> None:
    reference = re.fullmatch(".*".join(map(re.escape, glob.split("*"))), f"/{text}")
    if glob:
        assert bool(naming(url(f"http://h/{text}"), [f"path:{glob}"])) == bool(reference)


def test_what_excludes_goes_before_what_includes() -> None:
    patterns = url_patterns(["path:/news/*"], ["query:*sort=*"])
    assert patterns is not None
    assert patterns.refusal(url()) is Outcome.EXCLUDED
    assert patterns.refusal(url("http://a.example/")) is Outcome.NOT_INCLUDED
    assert patterns.refusal(url("http://a.example/news/")) is None
    assert patterns.refusal(url("http://a.example/a.css"), is_page=False) is None
    assert patterns.refusal(url(), is_page=False) is Outcome.EXCLUDED
    assert url_patterns((), ()) is None


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("", "is no pattern"),
        ("path:", "is no pattern"),
        ("path:/a b", "is no pattern"),
        ("x" * (PATTERN_CHARACTERS + 1), "is no pattern"),
        ("host:ไทย", "write the host as it stands in URLs"),
        ("ไทย/x", "write the host as it stands in URLs"),
        ("path~(", "is no regex of RE2: missing )"),
        (r"path~(a)\1", "is no regex of RE2: invalid escape sequence"),
        ("path~ข่าว", "write other letters as URLs have them"),
        ("path~a{1000}", "shorten the regex"),
    ],
)
def test_what_is_no_pattern(pattern: str, says: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(says)):
        patterns_of([pattern])


@pytest.mark.parametrize(
    ("pattern", "most"), [("a", PATTERNS_OF_A_LIST), ("url~a", REGEXES_OF_A_LIST)]
)
def test_there_are_only_so_many(pattern: str, most: int) -> None:
    assert len(patterns_of([pattern] * most)) == most
    with pytest.raises(ConfigError, match="more than"):
        patterns_of([pattern] * (most + 1))


@pytest.mark.usefixtures("brake")  # Python's own take minutes, or years
@pytest.mark.parametrize(
    "pattern", ["path~(a+a+)+y", "path~(a|aa)+$y", "path~(.*)(.*)(.*)(.*)z$", "path:*a*a*a*a*a*y"]
)
def test_no_url_takes_long(pattern: str) -> None:
    hostile = url("http://h/" + "a" * 2_000)
    (found,) = patterns_of([pattern])
    assert not found.holds(hostile)


def test_a_pattern_may_be_as_long_as_that() -> None:
    assert PATTERN_CHARACTERS == 500
    assert patterns_of(["x" * PATTERN_CHARACTERS])
