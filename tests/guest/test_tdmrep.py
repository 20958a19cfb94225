"""What a server says of mining its pages' text, in its tdmrep.json."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.guest.server_rules import MAX_RULES, Reservations

SITE = "https://a.example"


def told(rules: object, path: str) -> tuple[str, ...]:
    return Reservations(json.dumps(rules).encode()).opt_outs(SITE + path)


def rule(location: object, reservation: object = 1, **more: object) -> dict[str, object]:
    return {"location": location, "tdm-reservation": reservation, **more}


RESERVED = ("tdm-reservation=1 (tdmrep.json)",)


@pytest.mark.parametrize(
    ("rules", "path", "said"),
    [
        ([rule("/")], "/a", True),
        ([rule("/a/")], "/a/b?c", True),
        ([rule("/a/")], "/A/b", False),
        ([rule("/a/*.jpg")], "/a/b/c.jpg", True),
        ([rule("/a$")], "/a", True),
        ([rule("/a$")], "/ab", False),
        ([rule("*b")], "/ab", True),
        ([rule("/%61")], "/a", True),
        ([rule("/ข่าว")], "/%E0%B8%82%E0%B9%88%E0%B8%B2%E0%B8%A7", True),
        # The first that matches counts, not the longest.
        ([rule("/a", 0), rule("/")], "/ab", False),
        ([rule("/"), rule("/a", 0)], "/ab", True),
        ([rule("/", "1")], "/", True),
        ([rule("/", 2)], "/", False),
        ([{"location": "/"}], "/", False),
        ([rule("a"), rule(["/"]), rule("/\nAllow: /"), 7, None, rule("/b")], "/b", True),
        ([rule("/\nDisallow: /c")], "/c", False),
        (rule("/"), "/", False),
        ("/", "/", False),
    ],
)
def test_the_first_rule_that_matches_counts(rules: object, path: str, said: bool) -> None:
    assert told(rules, path) == (RESERVED if said else ())


def test_the_policy_is_told_too() -> None:
    policy = "https://a.example/policy.json"
    expected = (*RESERVED, f"tdm-policy={policy} (tdmrep.json)")
    assert told([rule("/", **{"tdm-policy": policy})], "/") == expected
    for odd in ("a; b", "\n", 7, "x" * 9_000):
        assert told([rule("/", **{"tdm-policy": odd})], "/") == RESERVED


@given(st.binary() | st.text().map(str.encode), st.text())
def test_any_bytes_get_an_answer(body: bytes, path: str) -> None:
    assert Reservations(body).opt_outs(f"{SITE}/{path}") in ((), RESERVED)


def test_a_hostile_file_is_no_work() -> None:
    assert Reservations(b"[" * 100_000).opt_outs(f"{SITE}/") == ()
    many = [rule("/b")] * MAX_RULES + [rule("/")]
    assert told(many, "/a") == ()
    assert told([rule("/" + "*a" * 1_000 + "b")], "/" + "a" * 2_000) == ()
