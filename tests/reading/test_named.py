"""The language that a link names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.languages import known
from lswc.languages.naming import codes, names
from lswc.reading.named import named
from lswc.strategy import Named
from lswc.urls import parse


def seen(address: str, target: str = "th", tag: str = "") -> Named:
    url = parse(address)
    assert url is not None
    return named(target, url, tag)


@pytest.mark.parametrize(
    "address",
    [
        "http://a.example/th/about.html",
        "http://a.example/about/index.th.html",
        "http://a.example/docs/th_TH/",
        "http://a.example/docs/th-th/",
        "http://a.example/docs/th_TH.UTF-8/x",
        "http://a.example/00_th.html",
        "http://a.example/th-index.php",
        "http://a.example/thai/",
        "http://a.example/manual-thai.html",
        "http://a.example/%E0%B9%84%E0%B8%97%E0%B8%A2/",
        "http://a.example/?lang=th",
        "http://a.example/x?id=3&hl=th-TH",
        "http://a.example/?thai",
        "http://th.a.example/",
        "http://www.thai.a.co.uk/",
        "http://a.example/tha/",
        "http://a.example/en/th/",
    ],
)
def test_it_names_the_target(address: str) -> None:
    assert seen(address) is Named.TARGET
    assert seen(address, "ja") is Named.OTHER


@pytest.mark.parametrize(
    "address",
    [
        "http://a.example/",
        "http://www.th.com/",  # the domain's own name is a name
        "http://a.example/the/other",
        "http://a.example/month/lath.html",
        "http://a.example/nth/path-through",
        "http://a.example/x?th=5",
        "http://a.example/a-th-b",
        "http://a.example/" + "thai-" * 20,
        "http://a.example/%th/%",
        "http://127.0.0.1/",
    ],
)
def test_it_names_no_language(address: str) -> None:
    assert seen(address) is Named.NONE


@pytest.mark.parametrize(
    ("address", "target"),
    [
        ("http://a.example/jp/", "ja"),
        ("http://a.example/jpn/", "ja"),
        ("http://a.example/japanese/", "ja"),
        ("http://a.example/zh-Hant/", "zh"),
        ("http://a.example/page_zh_CN.html", "zh"),
        ("http://a.example/cn/", "zh"),
        ("http://a.example/iw/", "he"),
        ("http://a.example/kr/", "ko"),
        ("http://la.a.example/", "lo"),
        ("http://a.example/ger/", "de"),
    ],
)
def test_usual_aliases(address: str, target: str) -> None:
    assert seen(address, target) is Named.TARGET
    assert seen(address) is Named.OTHER


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("th", "TARGET"),
        ("th-th", "TARGET"),
        ("de-ch", "OTHER"),
        ("x-default", "NONE"),
        ("", "NONE"),
    ],
)
def test_hreflang(tag: str, expected: str) -> None:
    assert seen("http://a.example/", tag=tag) is Named[expected]


def test_the_target_wins_over_another() -> None:
    assert seen("http://a.example/en/", tag="th") is Named.TARGET
    assert seen("http://a.example/th/", tag="en") is Named.TARGET


def test_every_language_is_named_by_its_code_and_name() -> None:
    assert all(word == word.casefold() for word in [*codes(), *names()])
    for code in ("th", "my", "lo", "km", "vi", "ja", "ko", "zh"):
        assert code in known()
        assert codes()[code] == {code}


@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from(["th", "ja"]))
def test_any_url_names_something_or_nothing(path: str, query: str, target: str) -> None:
    url = parse(f"http://a.example/{path}?{query}")
    if url is not None:
        assert named(target, url) in Named
