"""Simplified and Traditional Chinese, Serbian in two scripts, Burmese in three encodings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.language import Identification, Identifier, IdentifierError
from lswc.language.registry import language
from lswc.strategy import Anchor, PageLanguage

# The Universal Declaration of Human Rights.
HANS = "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。"
HANT = "人人生而自由，在尊嚴和權利上一律平等。他們賦有理性和良心，並應以兄弟關係的精神相對待。"
JAPANESE = "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。"
CYRILLIC = (
    "Сва људска бића рађају се слободна и једнака у достојанству и правима. Она су обдарена "
    "разумом и свешћу и треба једни према другима да поступају у духу братства."
)
UNICODE = "လူတိုင်းသည် တူညီ လွတ်လပ်သော ဂုဏ်သိက္ခာဖြင့် လည်းကောင်း မွေးဖွားလာသူများ ဖြစ်သည်။"
ZAWGYI = "လူတိုင္းသည္ တူညီ လြတ္လပ္ေသာ ဂုဏ္သိကၡာျဖင့္ လည္းေကာင္း ေမြးဖြားလာသူမ်ား ျဖစ္သည္။"


def identified(html: str | bytes, tag: str, url: str = "http://a.test/") -> Identification:
    body = html if isinstance(html, bytes) else html.encode()
    return Identifier(language(tag)).read(body, None, url).identification


def relevance(html: str | bytes, tag: str) -> PageLanguage:
    return Identifier(language(tag)).relevance(identified(html, tag))


@pytest.mark.parametrize(
    ("html", "variant"),
    [
        (HANS, "zh-Hans"),
        (HANT, "zh-Hant"),
        (HANT.encode("big5"), "zh-Hant"),
        (HANT.encode("gbk"), "zh-Hant"),  # the charset has both, the characters tell
        (f"<html lang=zh-CN>{HANT}", "zh-Hant"),
        ("中文", ""),
        ("<html lang=zh-HK>中文", "zh-Hant"),
        ("<html lang=zh_Hans_CN>中文", "zh-Hans"),
        ("<html lang=zh><meta property=og:locale content=zh_TW>中文", "zh-Hant"),
        ("<html lang=zh-TW><title>https://a.test/</title>", "zh-Hant"),
        (f"{JAPANESE * 2}<p>{HANS}", ""),
        (CYRILLIC, "sr-Cyrl"),
        (UNICODE, "my-Mymr"),
        (ZAWGYI, "my-Qaag"),
        ("ภาษาไทย", ""),
    ],
)
def test_the_variant_of_what_leads_is_told_whatever_the_target(
    html: str | bytes, variant: str
) -> None:
    assert identified(html, "th").variant == variant


def test_the_place_of_a_page_tells_where_nothing_else_does() -> None:
    assert identified("中文", "zh", "http://www.a.com.tw/").variant == "zh-Hant"
    assert identified("中文", "zh", "http://a.test/zh-cn/x.html").variant == "zh-Hans"
    assert identified(HANS, "zh", "http://a.test/zh-tw/x.html").variant == "zh-Hans"


@pytest.mark.parametrize(
    ("html", "tag", "expected"),
    [
        (HANT, "zh-Hant", PageLanguage.TARGET),
        (HANS, "zh-Hant", PageLanguage.OTHER),
        (HANS, "zh", PageLanguage.TARGET),
        ("中文", "zh-Hant", PageLanguage.UNKNOWN),
        ("中文", "zh", PageLanguage.TARGET),
        (f"{HANS * 2}\n{HANT}", "zh-Hant", PageLanguage.TARGET),  # it contains it
        (f"{HANS * 30}\n{HANT}", "zh-Hant", PageLanguage.OTHER),
        (f"{JAPANESE * 2}<p>{HANS}", "zh-Hans", PageLanguage.TARGET),
        (JAPANESE, "zh-Hant", PageLanguage.OTHER),
        (CYRILLIC, "sr-Latn", PageLanguage.OTHER),
        (CYRILLIC, "sr-Cyrl", PageLanguage.TARGET),
        ("<html lang=sr-Latn><title>b92</title>", "sr-Latn", PageLanguage.TARGET),
        (ZAWGYI, "my-Qaag", PageLanguage.TARGET),
        (UNICODE, "my-Qaag", PageLanguage.OTHER),
        (ZAWGYI, "my", PageLanguage.TARGET),
    ],
)
def test_a_page_in_another_variant_is_not_relevant(
    html: str, tag: str, expected: PageLanguage
) -> None:
    assert relevance(html, tag) is expected


@pytest.mark.parametrize(
    ("text", "tag", "expected"),
    [
        ("關於我們", "zh-Hant", Anchor.TARGET),
        ("关于我们", "zh-Hant", Anchor.OTHER),
        ("首頁", "zh-Hans", Anchor.OTHER),
        ("中文", "zh-Hant", Anchor.TARGET),  # may be
        ("News", "zh-Hant", Anchor.OTHER),
        (ZAWGYI[:40], "my-Qaag", Anchor.TARGET),
        (UNICODE[:40], "my-Qaag", Anchor.OTHER),
    ],
)
def test_anchor_texts_follow(text: str, tag: str, expected: Anchor) -> None:
    assert Identifier(language(tag)).anchor(text, "zh") is expected


def test_shares_of_variants_are_of_the_whole_text() -> None:
    english = "This is written in English, and it is about the weather of today. " * 3
    found = identified(f"{HANS}\n{HANT}\n{english}", "zh")
    assert sum(found.variants_of("zh").values()) == pytest.approx(found.share("zh"), abs=0.01)
    assert found.share("zh-Hans") == pytest.approx(found.share("zh-Hant"), abs=0.1)


def test_traditional_chinese_is_told_beside_japanese() -> None:
    found = identified(f"{HANT * 6}<p>{JAPANESE}", "ja")
    assert (found.language, found.variant) == ("zh", "zh-Hant")
    assert 0.1 < found.share("ja") < 0.25
    assert identified(f"{JAPANESE * 6}<p>{HANT}", "zh").share("zh-Hant") > 0.1


def test_other_methods_tell_no_variants() -> None:
    with pytest.raises(IdentifierError, match="zh-Hant needs auto"):
        Identifier(language("zh-Hant"), "cld2")


@given(st.text(alphabet=st.sampled_from(HANS + HANT + JAPANESE + "ab \n"), max_size=60))
def test_any_text_has_a_variant_of_its_language_or_none(text: str) -> None:
    found = identified(text, "zh-Hant")
    assert found.variant == "" or found.variant.startswith(f"{found.language}-")
    assert sum(found.variants_of("zh").values()) <= found.share("zh") + 0.01
