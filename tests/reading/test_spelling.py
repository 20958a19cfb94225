"""Spelling: what a script forbids shows that a text was misread."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.reading.documents.spelling import forbidden
from tests.language.test_vietnamese_fonts import TEXT as VIETNAMESE
from tests.scenarios.site import THAI

KHMER = "មនុស្សទាំងអស់កើតមកមានសេរីភាព និងសមភាពក្នុងផ្នែកសេចក្តីថ្លៃថ្នូរនិងសិទ្ធិ។"
BURMESE = "လူတိုင်းသည် တူညီ လွတ်လပ်သော ဂုဏ်သိက္ခာဖြင့် လည်းကောင်း၊ မွေးဖွားလာသူများ ဖြစ်သည်။"
LAO = "ມະນຸດທຸກຄົນເກີດມາມີກຽດສັກສີ ສິດທິ ເສລີພາບ ເຮົາ ແລະ ນ້ຳ ຄຳ ເຂົ້າ ຫຼາຍ"
THAI_WORDS = "น้ำ ทำ ฤๅ เพราะ ผัวะ เกาะ ไม่ใช่ ทั้งนั้น ฯลฯ ๆ ครึ่ง เมื่อ สิทธิ์ พระเจ้าอยู่หัวฯ"


@pytest.mark.parametrize("text", [THAI, THAI_WORDS, LAO, KHMER, BURMESE, VIETNAMESE, "", "a b"])
def test_text_that_is_right_has_none(text: str) -> None:
    assert forbidden(text) == 0


@pytest.mark.parametrize(
    "text",
    ["ก ่", "ก า", "เ ก", "นักเรีีน", "ก่้", "มั", "ะ", "ກ ່", "ເ ກ", "ກ າ", "ក្", "ក ា", "កាិ",
     "ေ က", "ကိိ", "်", "က ့", "न ा", "a่"],
)  # fmt: skip
def test_what_a_script_forbids(text: str) -> None:
    assert forbidden(text) > 0


def test_words_that_are_no_syllables() -> None:
    assert forbidden(VIETNAMESE.replace("ế", "ð").replace("ị", "ỡ")) > 1
    assert forbidden("Zürich") == 0


@given(st.text())
def test_any_text_gives_an_answer(text: str) -> None:
    assert forbidden(text) >= 0
