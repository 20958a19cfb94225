"""Pages of which a few bytes are wrong, and pages in two charsets."""

from __future__ import annotations

import random

import pytest

from lswc.language import Identifier
from lswc.language.charset import decode
from lswc.language.encodings import text_of
from lswc.language.registry import language
from lswc.strategy import PageLanguage

TEXTS = {
    "tis-620": (
        "th",
        "นักเรียนไปโรงเรียนทุกวัน และอ่านหนังสือในห้องสมุดของเมืองหลวง ครูสอนประวัติศาสตร์ ",
    ),
    "shift_jis": (
        "ja",
        "生徒たちは毎日学校へ行き、町の図書館で本を読みます。先生は歴史を教えています。",
    ),
    "euc-jp": (
        "ja",
        "生徒たちは毎日学校へ行き、町の図書館で本を読みます。先生は歴史を教えています。",
    ),
    "euc-kr": (
        "ko",
        "학생들은 매일 학교에 가서 도시의 도서관에서 책을 읽습니다. 선생님은 역사를 가르칩니다. ",
    ),
    "gb2312": (
        "zh",
        "学生们每天去学校，在城市的图书馆里读书。老师教中文和历史。",
    ),
    "big5": (
        "zh",
        "學生們每天去學校，在城市的圖書館裡讀書。老師教中文和歷史。",
    ),
    "windows-1251": (
        "ru",
        "Ученики каждый день ходят в школу и читают книги в библиотеке города. ",
    ),
    "windows-1256": (
        "ar",
        "يذهب التلاميذ إلى المدرسة كل يوم ويقرؤون الكتب في مكتبة المدينة. ",
    ),
    "iso-8859-7": (
        "el",
        "Οι μαθητές πηγαίνουν κάθε μέρα στο σχολείο και διαβάζουν βιβλία. ",
    ),
}
CODECS = {"tis-620": "cp874", "gb2312": "gb18030"}


def page(label: str, body: bytes) -> bytes:
    """Return a page that declares a charset."""
    return b"<!doctype html><html><head><meta charset=%b></head><body><p>%b</p>" % (
        label.encode(),
        body,
    )


@pytest.mark.parametrize("size", [200, 900])
@pytest.mark.parametrize("wrong", [b"\xff", b"\x80", b"\xfe", b"\xa0"])
@pytest.mark.parametrize("label", TEXTS)
def test_a_few_wrong_bytes_take_no_page_from_its_charset(
    label: str, wrong: bytes, size: int
) -> None:
    code, text = TEXTS[label]
    body = bytearray((text * 30)[:size].encode(CODECS.get(label, label)))
    chance = random.Random(size)
    for place in chance.sample(range(len(body)), len(body) // 50):
        body[place : place + 1] = wrong
    found = decode(page(label, bytes(body)), f"text/html; charset={label}")
    assert found.text == text_of(page(label, bytes(body)), found.encoding)
    assert found.how == "header"
    identifier = Identifier(language(code))
    reading = identifier.read(page(label, bytes(body)), None, "http://a.test/")
    assert identifier.relevance(reading.identification) is PageLanguage.TARGET


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("label", TEXTS)
def test_a_sentence_in_utf8_on_a_page_in_another_charset(label: str, is_first: bool) -> None:
    text = TEXTS[label][1]
    legacy, utf8 = (text * 8).encode(CODECS.get(label, label)), text.encode()
    body = utf8 + legacy if is_first else legacy + utf8
    found = decode(page(label, body))
    assert text * 9 in found.text
    assert found.how == "meta"


@pytest.mark.parametrize("label", [None, "utf-8", "header"])
@pytest.mark.parametrize("of", TEXTS)
def test_a_sentence_in_another_charset_on_a_page_in_utf8(of: str, label: str | None) -> None:
    text = TEXTS[of][1]
    body = (text * 8).encode() + b"<hr>" + (text * 2).encode(CODECS.get(of, of))
    found = decode(page(label, body) if label else body, f"text/html; charset={of}")
    assert f"{text * 8}<hr>{text * 2}" in found.text
    assert found.encoding == "utf-8"


@pytest.mark.usefixtures("brake")
def test_a_charset_that_changes_a_thousand_times() -> None:
    text = TEXTS["euc-jp"][1]
    body = b"".join((text.encode("euc-jp"), text.encode())[n % 2] for n in range(1_000))
    assert decode(page("euc-jp", body)).text.count(text) == 1_000


@pytest.mark.usefixtures("brake")
@pytest.mark.parametrize(
    "unit", [b"a" * 99 + b"\xe9", b"\xe9 ", b"\xe9\xc3\xa9", b"\xe3\x81", b"a"]
)
def test_long_words_and_many_broken_ones_are_read_once(unit: bytes) -> None:
    assert decode(unit * (400_000 // len(unit)) + b"\xff", "text/html; charset=utf-8").text


def test_a_broken_byte_in_utf8_stays_one() -> None:
    body = ("Ελληνικά και ελληνικά. " * 9).encode().replace(b"\xce\xb5\xce\xbb", b"\xe5\xce\xbb", 1)
    found = decode(body)
    assert (found.encoding, found.text.count("\ufffd")) == ("utf-8", 1)


def test_a_page_that_is_nearly_all_zeros() -> None:
    assert decode(b"\0" * 9_000 + "ไทย".encode("cp874") * 300, "text/html; charset=tis-620").text


@pytest.mark.parametrize("lie", ["ibm866", "macintosh", "cp1006", "viscii", "utf-16be"])
@pytest.mark.parametrize("label", TEXTS)
def test_a_lie_on_purpose(label: str, lie: str) -> None:
    text = TEXTS[label][1] * 4
    body = text.encode(CODECS.get(label, label))
    assert text in decode(page(lie, body), f"text/html; charset={lie}").text


def test_a_page_that_lost_its_letters_stays_what_it_is_declared() -> None:
    body = (
        b"<li>\x81\xca??????X?g???[?B <li>\x81\x91???\x81\x91??RandomAccessFile?? \x81}???K?i" * 30
    )
    found = decode(page("shift_jis", body))
    assert (found.encoding, found.how) == ("shift_jis", "meta")
