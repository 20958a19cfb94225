"""Characters and lines of a page's text, exact to the letter."""

from __future__ import annotations

from unicodedata import is_normalized

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.reading.main_text.characters import exact, repaired
from lswc.reading.main_text.paragraphs import read

LAO = "ນັກຮຽນໄປໂຮງຮຽນທຸກວັນ ແລະອ່ານໜັງສືໃນຫ້ອງສະໝຸດຂອງເມືອງຫຼວງ ແລະອ່ານໜັງສືໃນຫ້ອງສະໝຸດຂອງເມືອງຫຼວງ"


def shown(inside: str) -> str:
    """Return the text of a paragraph between two others."""
    page = f"<main><p>{LAO}</p><p>{LAO} {inside}</p><p>{LAO}</p></main>"
    texts = [one.text for one in read(page, "http://a.example/").paragraphs]
    assert texts[::2] == [LAO, LAO]
    return texts[1].removeprefix(LAO).strip()


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("cafe\u0301", "caf\xe9"),
        ("\u0e19\u0e4d\u0e32 \u0e19\u0e4d\u0e49\u0e32", "\u0e19\u0e33 \u0e19\u0e49\u0e33"),
        ("\u0e99\u0ecd\u0eb2", "\u0e99\u0eb3"),
        ("so\xadft \ufeffb\x07om \u200eleft\u200f\x85", "soft bom left"),
        ("\u200f\u05e9\u05dc\u05d5\u05dd", "\u200f\u05e9\u05dc\u05d5\u05dd"),
        ("\u1780\u200b\u1780 \u200d", "\u1780\u200b\u1780 \u200d"),
    ],
)
def test_a_letter_has_one_form_and_nothing_unseen_stays(written: str, text: str) -> None:
    assert exact(written).rstrip("\x85") == text


@given(st.text())
def test_exact_text_stays_exact(text: str) -> None:
    once = exact(text)
    assert is_normalized("NFC", once)
    assert exact(once) == once


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "cp874"])
@pytest.mark.parametrize(
    "text", ["ประเทศไทยภาพ", "ຂ່າວຂອງມື້ນີ້", "日本語の文字", "việc đất nước ấy đã"]
)
def test_utf_8_that_was_read_as_single_bytes_is_repaired(encoding: str, text: str) -> None:
    read_wrong = "".join(bytes((b,)).decode(encoding, "ignore") or chr(b) for b in text.encode())
    if encoding != "cp874" or text[0] == "ป":
        assert repaired(f"abc {read_wrong}") == f"abc {text}"


@pytest.mark.parametrize("text", ["Ã©tat Ã ", "เธอเป็นเธอ", "naïve café à la «¿qué?»", "à¸"])
def test_what_may_be_meant_so_is_not_repaired(text: str) -> None:
    assert repaired(text) == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("東京は、\n  政治や\n\t経済", "東京は、政治や経済"),
        ("การ\r\nศึกษา", "การศึกษา"),
        ("កម្ពុ\nជា។\nប្រទេស", "កម្ពុជា។ ប្រទេស"),
        ("ต่างๆ\nของ", "ต่างๆ ของ"),
        ("한국어\n문장", "한국어 문장"),
        ("word\nother 東\nTokyo", "word other 東 Tokyo"),
        ("東 京", "東 京"),
        ("東<b>\n京</b>", "東京"),
    ],
)
def test_a_source_line_end_is_a_blank_only_where_words_have_one(source: str, text: str) -> None:
    assert shown(source) == text


def test_a_break_is_a_line_end() -> None:
    assert shown("one<br>two\n three<br/>") == "one\ntwo three"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<ruby>漢字<rp>(</rp><rt>かんじ</rt><rp>)</rp></ruby>は", "漢字は"),
        ("<ruby>中<rt>ちゅう</rt>国<rt>ごく<b>x</b></ruby>へ", "中国へ"),
        ("<ruby><rb>振</rb><rtc><rt>ふり</rt></rtc></ruby>が", "振が"),
        ("<ruby><ruby>東<rt>とう</rt></ruby><rt>east</rt></ruby>の", "東の"),
    ],
)
def test_ruby_is_its_base_text(markup: str, text: str) -> None:
    assert shown(markup) == text


@pytest.mark.parametrize(
    ("image", "text"),
    [
        ("<img class='emoji' alt='😀'>", "a😀b"),
        ("<img alt=👍🏽 src=x>", "a👍🏽b"),
        ("<img class='gaiji' alt='髙'>", "a髙b"),
        ("<img alt='logo'>", "ab"),
        ("<img alt='a photo of a house' class=emoji>", "ab"),
        ("<img>", "ab"),
    ],
)
def test_a_drawn_letter_is_its_alt(image: str, text: str) -> None:
    assert shown(f"a{image}b") == text
