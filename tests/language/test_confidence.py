"""Confidence: how likely it is that the language that is named leads; answer and shares agree."""

from __future__ import annotations

import html
import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lswc.lab.methods.evaluation import load
from lswc.language import Identification, Identifier
from lswc.language.registry import language
from tests.language.labelled_pages import PARAGRAPHS, made

IDENTIFIER = Identifier(language("th"))
LATIN = ("de", "en", "vi")


def told(text: str, lang: str = "") -> Identification:
    """Return what a page of a text is told to be."""
    page = f"<html lang='{lang}'><body><p>{html.escape(text)}"
    return IDENTIFIER.read(page.encode(), None, "http://a.test/").identification


def agree(found: Identification) -> bool:
    """Tell whether no other language has a larger share than the one that is named.

    Where most of the text is untold, none that is told has to lead.
    """
    if not found.shares or found.language is None:
        return True
    largest = found.shares[0][1]
    return largest < 0.3 or found.share(found.language) == largest


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(sorted(PARAGRAPHS)), min_size=1, max_size=3),
    st.integers(3, 900),
    st.sampled_from(["", "en", "th", "vi", "fr", "zh-Hant", "xx"]),
    st.randoms(use_true_random=False),
)
def test_answer_and_shares_agree(
    codes: list[str], size: int, lang: str, chance: random.Random
) -> None:
    text = "\n".join(" ".join(PARAGRAPHS[code])[: chance.randint(3, size)] for code in codes)
    found = told(text, lang)
    assert agree(found)
    assert 0 <= found.confidence <= 1


def test_they_agree_on_pages_of_all_kinds(tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("pages") / "pages.jsonl"
    file.write_text("".join(json.dumps(page) + "\n" for page in made()), "utf-8")
    for page in load(file)[0]:
        assert agree(IDENTIFIER.read(page.body, page.content_type, page.url).identification)


@pytest.mark.parametrize("other", [code for code in PARAGRAPHS if code not in LATIN])
def test_a_page_of_two_halves_may_be_led_by_either(other: str) -> None:
    chance = random.Random(other)
    english = " ".join(chance.sample(PARAGRAPHS["en"], 3))
    text = " ".join(PARAGRAPHS[other])
    whole = told(text)
    assert whole.language == other
    assert whole.confidence > 0.95
    for size in range(50, len(text), 50):
        found = told(f"{english}\n{text[:size]}")
        shares = [share for _, share in found.shares]
        if len(shares) > 1 and shares[0] - shares[1] < 0.05:
            assert 0.45 < found.confidence < 0.75
        elif len(shares) > 1 and shares[0] - shares[1] > 0.4:
            assert found.confidence > 0.9


@pytest.mark.parametrize("text", ["東京都", "設定", "大学院工学研究科", "人民", "中国地方"])
def test_kanji_that_chinese_has_as_well_are_never_sure(text: str) -> None:
    assert told(text).confidence <= 0.7
    assert told(text, "ja").language == "ja"
    assert told(text, "zh").confidence > 0.9


@pytest.mark.parametrize(
    ("text", "code"),
    [("这是什么", "zh"), ("圖書館裡讀書", "zh"), ("働く人の峠", "ja"), ("ひらがな", "ja")],
)
def test_characters_of_one_standard_are_sure(text: str, code: str) -> None:
    found = told(text)
    assert (found.language, found.confidence > 0.9) == (code, True)


@pytest.mark.parametrize("text", ["နိုင်ကာရာဂွာ", "ဒေါင်းလုပ်", "အောက်လိုင်း", "နိဒါန်း"])
def test_a_word_is_never_surely_rakhine(text: str) -> None:
    found = told(text)
    assert found.language == "my" or found.confidence < 0.7
