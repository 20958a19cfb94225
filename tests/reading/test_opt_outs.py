"""What a page says against mining its text."""

from __future__ import annotations

import pytest

from lswc.reading.opt_outs import (
    FIELD_CHARACTERS,
    forbids_mining,
    in_robots,
    opt_outs,
    reasons,
    reserved,
)


@pytest.mark.parametrize(
    ("headers", "in_headers", "in_page", "said"),
    [
        ({}, [], [], []),
        ({}, ["noindex", "noai"], ["noai"], ["noai (META)", "noai (X-Robots-Tag)"]),
        ({"tdm-reservation": ["1"]}, [], [], ["tdm-reservation=1 (header)"]),
        ({"tdm-reservation": ["0"]}, [], ["tdm-reservation=0"], []),
        ({"tdm-reservation": ["1"]}, [], ["tdm-reservation=0"], []),
        ({"tdm-reservation": ["0"]}, [], ["tdm-reservation=1"], ["tdm-reservation=1 (META)"]),
        ({"tdm-reservation": ["1"], "tdm-policy": ["https://a.example/p"]}, [], [],
         ["tdm-policy=https://a.example/p (header)", "tdm-reservation=1 (header)"]),
        ({}, [], ["tdm-reservation=1"], ["tdm-reservation=1 (META)"]),
        ({"content-usage": ["train-ai=n"]}, [], [], ["train-ai=n (Content-Usage)"]),
        ({"content-usage": ["search=n, bots=y", "TRAIN-AI = n;x=1"]}, [], [],
         ["train-ai=n (Content-Usage)"]),
        ({"content-usage": ["train-ai=n", "train-ai=y"]}, [], [], []),
        ({"content-usage": ["=,;,n"]}, [], [], []),
        ({"content-signal": ["ai-train=no, ai-input=n, search=yes"]}, [], [],
         ["ai-train=no (Content-Signal)"]),
    ],
)  # fmt: skip
def test_what_is_said_and_where(
    headers: dict[str, list[str]], in_headers: list[str], in_page: list[str], said: list[str]
) -> None:
    assert list(opt_outs(headers, in_headers, in_page).said) == said


@pytest.mark.parametrize(
    ("headers", "in_page", "told"),
    [
        ({}, ["noai"], False),
        ({"tdm-reservation": ["0"]}, [], True),
        ({}, ["tdm-reservation=1"], True),
        ({}, ["tdm-reservation=yes"], False),
    ],
)
def test_what_is_up_to_the_server(
    headers: dict[str, list[str]], in_page: list[str], told: bool
) -> None:
    assert opt_outs(headers, [], in_page).is_tdm_told == told


def test_a_policy_is_named_where_it_can_stand_in_a_line() -> None:
    said = "tdm-reservation=1 (x)"
    assert reserved("", "x") == (said,)
    assert reserved("a" * FIELD_CHARACTERS, "x") == (
        said,
        f"tdm-policy={'a' * FIELD_CHARACTERS} (x)",
    )
    for policy in ("a" * (FIELD_CHARACTERS + 1), "a b", "a;b", "a\nb"):
        assert reserved(policy, "x") == (said,)


def test_what_a_robots_txt_says_against_mining() -> None:
    said = in_robots("train-ai=n, search=n", "ai-train=no, search=no", ["GPTBot", "CCBot"])
    assert said == (
        "train-ai=n (robots.txt)", "ai-train=no (robots.txt)", "search=no (robots.txt)",
        "disallow=GPTBot CCBot (robots.txt)",
    )  # fmt: skip
    assert in_robots("", "", ()) == ()
    policy = "tdm-policy=https://a.example/p (header)"
    assert list(reasons((*said, policy))) == [
        "train-ai=n (robots.txt)", "ai-train=no (robots.txt)",
        "disallow=GPTBot (robots.txt)", "disallow=CCBot (robots.txt)",
    ]  # fmt: skip
    assert forbids_mining(said)
    assert not forbids_mining(["search=no (robots.txt)"])
    assert not forbids_mining(())
