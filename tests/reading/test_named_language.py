"""The language that a link names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.language.names import codes, names
from lswc.language.registry import known
from lswc.reading.named_language import named, named_by
from lswc.strategy import Named
from lswc.urls import parse


def seen(address: str, target: str = "th", tag: str = "") -> Named:
    url = parse(address)
    assert url is not None
    return named(target, url, tag)


@pytest.mark.parametrize(
    "address",
    [
        "http://a.com/th/about.html",
        "http://a.com/about/index.th.html",
        "http://a.com/docs/th_TH/",
        "http://a.com/docs/th-th/",
        "http://a.com/docs/th_TH.UTF-8/x",
        "http://a.com/00_th.html",
        "http://a.com/th-index.php",
        "http://a.com/thai/",
        "http://a.com/manual-thai.html",
        "http://a.com/%E0%B9%84%E0%B8%97%E0%B8%A2/",
        "http://a.com/?lang=th",
        "http://a.com/x?id=3&hl=th-TH",
        "http://a.com/?thai",
        "http://th.a.com/",
        "http://www.thai.a.co.uk/",
        "http://a.com/tha/",
        "http://a.com/en/th/",
    ],
)
def test_it_names_the_target(address: str) -> None:
    assert seen(address) is Named.TARGET
    assert seen(address, "ja") is Named.OTHER


@pytest.mark.parametrize(
    "address",
    [
        "http://a.com/",
        "http://www.th.com/",  # the domain's own name is a name
        "http://a.com/the/other",
        "http://a.com/month/lath.html",
        "http://a.com/nth/path-through",
        "http://a.com/x?th=5",
        "http://a.com/a-th-b",
        "http://a.com/" + "thai-" * 20,
        "http://a.com/%th/%",
        "http://127.0.0.1/",
    ],
)
def test_it_names_no_language(address: str) -> None:
    assert seen(address) is Named.NONE


@pytest.mark.parametrize(
    ("address", "target"),
    [
        ("http://a.com/jp/", "ja"),
        ("http://a.com/jpn/", "ja"),
        ("http://a.com/japanese/", "ja"),
        ("http://a.com/zh-Hant/", "zh"),
        ("http://a.com/page_zh_CN.html", "zh"),
        ("http://a.com/cn/", "zh"),
        ("http://a.com/iw/", "he"),
        ("http://a.com/kr/", "ko"),
        ("http://la.a.com/", "lo"),
        ("http://a.com/ger/", "de"),
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
    assert seen("http://a.com/", tag=tag) is Named[expected]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("ไทย", "th"),
        (" [ TH ] ", "th"),
        ("Thai", "th"),
        ("Português (Brasil)", "pt"),
        ("English version", "en"),
        ("日本語版", "ja"),
        ("မြန်မာဘာသာ", "my"),
    ],
)
def test_an_anchor_text_that_names_a_language(text: str, target: str) -> None:
    url = parse("http://a.com/?p=12")
    assert url is not None
    assert named(target, url, "", text) is Named.TARGET
    assert named("sw", url, "", text) is Named.OTHER


@pytest.mark.parametrize(
    "text", ["", "Home", "the Thais of old and their English friends in Siam", "แผนที่", "thaipage"]
)
def test_any_other_anchor_text(text: str) -> None:
    url = parse("http://a.com/?p=12")
    assert url is not None
    assert named("th", url, "", text) is Named.NONE


def test_the_target_wins_over_another() -> None:
    assert seen("http://a.com/en/", tag="th") is Named.TARGET
    assert seen("http://a.com/th/", tag="en") is Named.TARGET


def test_every_language_is_named_by_its_code_and_name() -> None:
    assert all(word == word.casefold() for word in [*codes(), *names()])
    for code in ("th", "my", "lo", "km", "vi", "ja", "ko", "zh"):
        assert code in known()
        assert codes()[code] == {code}


@given(st.text(max_size=60), st.text(max_size=60), st.sampled_from(["th", "ja"]))
def test_any_url_names_something_or_nothing(path: str, query: str, target: str) -> None:
    url = parse(f"http://a.com/{path}?{query}")
    if url is not None:
        assert named(target, url) in Named


@pytest.mark.parametrize(
    ("address", "tag", "text"),
    [
        ("http://a.com/zh-tw/", "", ""),
        ("http://a.com/zh_TW.UTF-8/x", "", ""),
        ("http://a.com/x?lang=zh-hk", "", ""),
        ("http://a.com/index.zh-hant.html", "", ""),
        ("http://tw.a.com/", "", ""),
        ("http://a.com/x", "zh-hant-tw", ""),
        ("http://a.com/x", "", "繁體中文"),
        ("http://a.com/x", "", "Chinese (Traditional)"),
        ("http://a.com/zh/x", "", ""),
        ("http://a.com/x", "", "中文"),
        ("http://a.com/zh-cn/", "zh-tw", ""),
    ],
)
def test_a_link_names_a_variant_or_none(address: str, tag: str, text: str) -> None:
    url = parse(address)
    assert url is not None
    assert named("zh-Hant", url, tag, text) is Named.TARGET
    assert named("zh", url, tag, text) is Named.TARGET
    assert named("th", url, tag, text) is Named.OTHER


@pytest.mark.parametrize(
    ("address", "tag", "text"),
    [
        ("http://a.com/zh-cn/", "", ""),
        ("http://cn.a.com/", "", ""),
        ("http://a.com/x", "zh-hans", ""),
        ("http://a.com/x", "", "简体中文"),
        ("http://a.com/x", "", "Simplified Chinese"),
    ],
)
def test_a_link_names_another_variant(address: str, tag: str, text: str) -> None:
    url = parse(address)
    assert url is not None
    assert named("zh-Hant", url, tag, text) is Named.OTHER
    assert named("zh", url, tag, text) is Named.TARGET


def test_of_several_targets_one_that_is_named_is_enough() -> None:
    plain = parse("http://a.com/x")
    assert plain is not None
    said = ["ไทย", "ລາວ", "日本語", "x"]
    found = [named_by(("th", "lo"), plain, "", text) for text in said]
    assert found == [Named.TARGET, Named.TARGET, Named.OTHER, Named.NONE]
    assert named_by(("th", "lo"), plain, "lo") == Named.TARGET
