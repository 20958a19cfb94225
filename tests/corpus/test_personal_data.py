"""Personal data: found where it is, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.corpus.personal_data import PersonalData, masked
from lswc.language.registry import language


@pytest.mark.parametrize(
    ("code", "text", "written"),
    [
        ("th", "อีเมลa.b@mail.co.thโทร๐๘๑-๒๓๔-๕๖๗๘ครับ", "อีเมล[email]โทร[phone]ครับ"),
        ("th", "เลขบัตรประชาชน 1234545678781", "เลขบัตรประชาชน [identity]"),
        ("th", "เลขที่ 1-2345-45678-78-1", "เลขที่ [identity]"),
        ("ja", "個人番号：1234 5678 9018、電話03-1234-5678", "個人番号：[identity]、電話[phone]"),
        ("ko", "주민번호 900101-1234567 전화 010-1234-5678", "주민번호 [identity] 전화 [phone]"),
        ("zh", "身份证11010519491231002X，电话：13800138000", "身份证[identity]，电话：[phone]"),
        ("vi", "Số CCCD: 001199012345, ĐT 0912 345 678", "Số CCCD: [identity], ĐT [phone]"),
        ("lo", "ບັດປະຈຳຕົວ 12-3456789 ໂທ 020 55512345", "ບັດປະຈຳຕົວ [identity] ໂທ [phone]"),
        ("km", "អត្តសញ្ញាណប័ណ្ណលេខ ០១២៣៤៥៦៧៨", "អត្តសញ្ញាណប័ណ្ណលេខ [identity]"),
        ("my", "၁၂/မကတ(နိုင်)၁၂၃၄၅၆ ဖုန်း ၀၉၄၂၁၁၂၃၄၅၆", "[identity] ဖုန်း [phone]"),
    ],
)  # fmt: skip
def test_what_tells_of_a_person_is_masked(code: str, text: str, written: str) -> None:
    said, places = masked(text, PersonalData(language(code)).find(text))
    assert said == written
    assert [said[one.start : one.end] for one in places] == [f"[{one.kind}]" for one in places]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("th", "เลขบัตรประชาชน 1234545678789, เลขที่ 1234545678781"),  # a wrong digit; no name
        ("th", "วันที่ 12-03-2567 ราคา 1,234,567 บาท บาร์โค้ด 8850123456787 @ตลาด"),
        ("ja", "2020-01-02 1,234,567円 JAN 4901234567894 個人番号 123456789012"),
        ("ko", "901301-1234567 1234567"),
        ("zh", "110105194912310021 ISBN 9787111213826"),
        ("vi", "Mã 001199012345"),
    ],
)
def test_other_numbers_stay(code: str, text: str) -> None:
    assert PersonalData(language(code)).find(text) == ()


@given(st.text("0123 .-(+@aก๐\n", max_size=60))
def test_places_are_in_order_and_apart(text: str) -> None:
    found = PersonalData(language("th")).find(text)
    ends = [0, *(one.end for one in found)]
    assert all(end <= one.start < one.end for end, one in zip(ends, found, strict=False))
    assert all(one.end <= len(text) for one in found)
