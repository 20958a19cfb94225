"""The papers' methods, each by the rules of its paper."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lswc.language import Identifier, IdentifierError
from lswc.language.methods import names
from lswc.language.registry import language
from lswc.strategy import Anchor

THAI = "นักเรียนไปโรงเรียนทุกวัน และอ่านหนังสือในห้องสมุดของเมืองหลวง ครูสอนภาษาไทยและประวัติศาสตร์ " * 4
ENGLISH = "The students go to school every day and read the books in the library of the town. " * 4
JAPANESE = "学生は毎日学校に行き、町の図書館で本を読みます。先生は日本語と歴史を教えています。" * 4
REFERENCES = "".join(f"&#{ord(c)};" for c in THAI)


def meta(charset: str) -> str:
    return f'<meta http-equiv="Content-Type" content="text/html; charset={charset}">'


def answer(method: str, body: bytes, target: str = "th", header: str | None = None) -> str | None:
    reading = Identifier(language(target), method).read(body, header, "http://a.test/")
    return reading.identification.language


BY_TEXT = [m for m in names() if m != "meta"]


@pytest.mark.parametrize("method", BY_TEXT)
def test_thai_in_utf8_and_english(method: str) -> None:
    assert answer(method, f"<p>{THAI}".encode()) == "th"
    assert answer(method, f"<p>{ENGLISH}".encode()) != "th"


@pytest.mark.parametrize("method", ["tamura2007", "somboonviwat2006", "g2li", "textcat", "auto"])
def test_thai_in_tis620_without_a_declaration(method: str) -> None:
    assert answer(method, f"<p>{THAI}".encode("cp874")) == "th"


@pytest.mark.parametrize("charset", ["TIS-620", "windows-874", "iso-8859-11"])
@pytest.mark.parametrize("method", ["tamura2007_utf8", "somboonviwat2006", "meta"])
def test_english_with_a_thai_charset_is_taken_for_thai(method: str, charset: str) -> None:
    assert answer(method, f"{meta(charset)}<p>{ENGLISH}".encode()) == "th"
    assert answer("auto", f"{meta(charset)}<p>{ENGLISH}".encode()) == "en"


def test_tamura_takes_the_last_meta_and_no_header() -> None:
    page = f"{meta('iso-8859-1')}{meta('tis-620')}<p>{ENGLISH}".encode()
    assert answer("tamura2007", page) == "th"
    page = f"{meta('tis-620')}{meta('shift_jis')}<p>{ENGLISH}".encode()
    assert answer("tamura2007", page) == "ja"
    assert answer("tamura2007", ENGLISH.encode(), header="text/html; charset=tis-620") == "en"


@pytest.mark.parametrize("name", ["iso-8859-1", "x-no-such-charset"])
def test_tamura_tests_the_last_meta_alone(name: str) -> None:
    page = f"{meta('tis-620')}{meta(name)}<p>{ENGLISH}".encode()
    assert answer("tamura2007", page) == "en"


def test_tamura_knows_no_iso_8859_11() -> None:
    english, thai = f"{meta('iso-8859-11')}<p>{ENGLISH}", f"{meta('iso-8859-11')}<p>{THAI}"
    assert answer("tamura2007", english.encode()) == "en"
    assert answer("tamura2007", thai.encode("cp874")) == "th"  # by its text
    for charset in ("TIS-620", "windows-874"):
        assert answer("tamura2007", f"{meta(charset)}<p>{ENGLISH}".encode()) == "th"


@pytest.mark.parametrize(
    "hidden",
    [
        f"<!-- {meta('tis-620')} -->",
        f"<script>'{meta('tis-620')}'</script>",
        '<meta name="description" content="how to write charset=tis-620">',
        '<meta http-equiv="refresh" content="9; url=/?charset=tis-620">',
    ],
)
@pytest.mark.parametrize("method", ["tamura2007", "somboonviwat2006"])
def test_a_charset_is_what_a_meta_element_declares(method: str, hidden: str) -> None:
    assert answer(method, f"{hidden}<p>{ENGLISH}".encode()) == "en"
    declared = "<META content=\"text/html;CHARSET = 'TIS-620'\" HTTP-EQUIV=content-type>"
    for shown in (declared, "<meta charset=tis-620>"):
        assert answer(method, f"{shown}{hidden}<p>{ENGLISH}".encode()) == "th"


@pytest.mark.parametrize("declared", ["", meta("utf-8")])
def test_utf8_that_cant_be_converted_isnt_thai_but_by_the_variant(declared: str) -> None:
    for stray in ("– © 2004", "\u00a0"):  # the second is in ISO-8859-11
        page = f"{declared}<p>{THAI}{stray}".encode()
        assert answer("tamura2007", page) != "th"
        assert answer("tamura2007_utf8", page) == "th"
    assert answer("tamura2007", f"{declared}<p>{THAI}".encode()) == "th"
    assert answer("tamura2007", f"{declared}<p>{JAPANESE}".encode()) == "ja"


def test_utf8_of_a_target_without_a_charset_has_its_profile() -> None:
    text = "မြန်မာဘာသာစကားသည် မြန်မာနိုင်ငံ၏ ရုံးသုံးဘာသာစကား ဖြစ်သည်။ " * 6
    assert answer("tamura2007", f"<p>{text}".encode(), "my") == "my"


@pytest.mark.parametrize("method", ["tamura2007", "textcat", "g2li"])
def test_numeric_references_escape_the_papers_but_not_auto(method: str) -> None:
    assert answer(method, f"<p>{REFERENCES}".encode()) != "th"
    assert answer("auto", f"<p>{REFERENCES}".encode()) == "th"


def test_somboonviwat_combines_meta_and_text() -> None:
    assert answer("somboonviwat2006", f"{meta('shift_jis')}<p>{ENGLISH}".encode()) == "ja"
    assert (
        answer("somboonviwat2006", f"{meta('shift_jis')}<p>{THAI}".encode("cp874", "ignore"))
        == "th"
    )
    assert answer("somboonviwat2006", f"{meta('tis-620')}<img>".encode()) == "th"
    assert answer("somboonviwat2006", b"<img src=a>") is None


def test_kumar_has_no_detector_for_thai() -> None:
    assert answer("meta", f"<p>{THAI}".encode("cp874")) is None
    assert answer("meta", f"<p>{JAPANESE}".encode("euc-jp"), "ja") == "ja"
    assert answer("meta", f"{meta('euc-jp')}<p>{ENGLISH}".encode(), "ja") == "ja"


def test_g2li_names_the_encoding_and_ignores_meta() -> None:
    body = f"{meta('shift_jis')}<p>{THAI}".encode("cp874")
    found = Identifier(language("th"), "g2li").read(body, None, "http://a.test/").identification
    assert (found.language, found.encoding) == ("th", "tis-620")


def test_textcat_says_nothing_of_short_text() -> None:
    assert answer("textcat", b"<p>Hello") is None


@pytest.mark.parametrize("method", ["somboonviwat2006", "pythainlp"])
def test_thai_anchors_by_words(method: str) -> None:
    identifier = Identifier(language("th"), method)
    assert identifier.anchor("Thai โรงเรียน") is Anchor.TARGET
    assert identifier.anchor("Hello") is Anchor.OTHER
    assert identifier.anchor("ฎฏฐฑ") is Anchor.OTHER
    assert identifier.anchor("123") is Anchor.NONE


WORDS = {
    "th": ("ข่าว", "หน้าแรก", "ติดต่อเรา", THAI[:60]),
    "lo": ("ຂ່າວ", "ໜ້າທຳອິດ"),
    "km": ("ព័ត៌មាន", "ទំព័រដើម"),
    "my": ("သတင်း", "ပင်မစာမျက်နှာ"),
    "vi": ("Trang chủ", "Tin tức"),
    "ja": ("ニュース", "お問い合わせ"),
    "ko": ("뉴스", "회사 소개"),
    "zh": ("新闻", "关于我们", "聯絡我們"),
    "": ("News", "About us", "Новости", "ÜBER UNS", "𝓗ello", "ʘʘ"),
}


@pytest.mark.parametrize("target", [code for code in WORDS if code])
def test_a_word_of_an_anchor_is_told_by_its_ngrams(target: str) -> None:
    identifier = Identifier(language(target), "textcat")
    for code, words in WORDS.items():
        for word in words:
            expected = Anchor.TARGET if code == target else Anchor.OTHER
            assert identifier.anchor(word) is expected, (code, word)


def test_pythainlp_knows_thai_alone() -> None:
    with pytest.raises(IdentifierError, match="Thai only"):
        Identifier(language("my"), "pythainlp")


@pytest.mark.parametrize("method", names())
def test_any_bytes_give_every_method_an_answer(method: str) -> None:
    identifier = Identifier(language("th"), method)

    @settings(deadline=None, max_examples=30)
    @given(st.binary())
    def read(body: bytes) -> None:
        found = identifier.read(body, None, "http://a.test/").identification
        assert 0 <= found.confidence <= 1

    read()
