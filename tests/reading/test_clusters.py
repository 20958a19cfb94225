"""Clusters of Khmer and Burmese are in Unicode's order, however they were drawn."""

from __future__ import annotations

import pytest

from lswc.reading.documents.clusters import in_order
from lswc.reading.documents.pdf import with_sara_am


@pytest.mark.parametrize(
    ("drawn", "text"),
    [
        pytest.param("េសចក្ដី េដើរ", "សេចក្ដី ដើរ", id="Khmer, a vowel first"),
        pytest.param("្របេទស", "ប្រទេស", id="Khmer, ro below first"),
        pytest.param("ស្រ្តី", "ស្ត្រី", id="Khmer, ro below before another"),
        pytest.param("សេ្ដច", "ស្ដេច", id="Khmer, a vowel before what is below"),
        pytest.param("កេី កេា កេោ កេៅ", "កើ កោ កោ កៅ", id="Khmer, vowels of two parts"),
        pytest.param("ឃេ\uf155ញ នេ\uf153", "ឃើញ នៅ", id="Khmer OS, parts of vowels"),
        pytest.param("ក្ុនង ធ្ូន", "ក្នុង ធ្នូ", id="Khmer, a vowel in what is below"),
        pytest.param(
            "សិទ្ធិិ \u1019\u103b\u102d\u102d\u102f", "សិទ្ធិ \u1019\u103b\u102d\u102f", id="twice"
        ),
        pytest.param("ប្រទេស ស៊ី ក៏ ធម៌ នេះ", "ប្រទេស ស៊ី ក៏ ធម៌ នេះ", id="Khmer as it is"),
        pytest.param("ေရး ြပည် အေရး", "ရေး ပြည် အရေး", id="Burmese, a vowel and ra first"),
        pytest.param("ကေျာ် ကုိ", "ကျော် ကို", id="Burmese, signs in another order"),
        pytest.param("လ္ူ ဂုဏ်", "လူ ဂုဏ်", id="Burmese, nothing is stacked"),
        pytest.param("ပြည်သူ့ သိက္ခာ ယောက်ျား", "ပြည်သူ့ သိက္ခာ ယောက်ျား", id="Burmese as it is"),
        pytest.param("ေက်ာင္း ျမန္မာ", "ေက်ာင္း ျမန္မာ", id="Zawgyi"),
        pytest.param("ไทย ພາສາ Việt 日本", "ไทย ພາສາ Việt 日本", id="others"),
    ],
)
def test_signs_are_in_the_order_of_unicode(drawn: str, text: str) -> None:
    assert in_order(drawn) == text
    assert in_order(text) == text


@pytest.mark.parametrize(
    ("drawn", "text"),
    [
        ("ເ້ຂົາ", "ເຂົ້າ"),
        ("ບ່ໍ", "ບໍ່"),
        ("ນ້ໍາ", "ນ້ຳ"),
        ("เ่ลม", "เล่ม"),
        ("ที่นี่ น้ำ เล่า", "ที่นี่ น้ำ เล่า"),
    ],
)
def test_a_tone_is_at_its_letter(drawn: str, text: str) -> None:
    assert with_sara_am(drawn) == text
