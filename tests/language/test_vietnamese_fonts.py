"""Vietnamese in fonts of its own becomes Unicode, and no other text does."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.language.encodings import text_of
from lswc.language.vietnamese_fonts import font_of, in_unicode, is_garbled

TEXT = (
    "Quyết định của ủy ban nhân dân tỉnh về việc phê duyệt kế hoạch sử dụng đất, những người thắng "
    "cuộc ở đường phố bằng đặc biệt."
)
_OF = {text_of(bytes((code,)), "tcvn"): code for code in range(0x100)}
ABC = bytes(_OF[letter] for letter in TEXT)
VNI = (
    "Quyeát ñònh cuûa uûy ban nhaân daân tænh veà vieäc pheâ duyeät keá hoaïch söû duïng ñaát, "
    "nhöõng ngöôøi thaéng cuoäc ôû ñöôøng phoá baèng ñaëc bieät."
)


@pytest.mark.parametrize(
    ("written", "font"),
    [
        pytest.param(ABC.decode("cp1252"), "tcvn", id="ABC"),
        pytest.param(ABC.decode("cp1258"), "tcvn", id="ABC as Windows-1258"),
        pytest.param(
            unicodedata.normalize("NFC", ABC.decode("cp1258")), "tcvn", id="the same, composed"
        ),
        pytest.param(VNI, "vni", id="VNI"),
        pytest.param(
            VNI.encode("cp1252").decode("cp1258"), "vni", id="VNI as Windows-1258"
        ),
        pytest.param(TEXT, "", id="Unicode"),
        pytest.param(unicodedata.normalize("NFD", TEXT), "", id="Unicode, decomposed"),
    ],
)  # fmt: skip
def test_a_font_is_told_by_the_syllables(written: str, font: str) -> None:
    assert font_of(written) == font
    assert font == "" or in_unicode(written, font) == TEXT


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("CéNG HßA X· HéI CHñ NGHÜA VIÖT NAM", "CỘNG HÒA XÃ HỘI CHỦ NGHĨA VIỆT NAM"),
        ("Uû ban nh©n d©n TØNH", "Uỷ ban nhân dân TỈNH"),
        ("COÄNG HOØA XAÕ HOÄI CHUÛ NGHÓA VIEÄT NAM", "CỘNG HÒA XÃ HỘI CHỦ NGHĨA VIỆT NAM"),
    ],
)
def test_capitals(written: str, text: str) -> None:
    assert in_unicode(written, font_of(written)) == text


@pytest.mark.parametrize(
    "text",
    [
        "", "a", "123 ¶¶¶ ®", "The café of Montréal is nice, and so is the crème brûlée.",
        "Le café où l'été était là, déjà à côté de la forêt.", "Der Bär über dem Fluß ist schön.",
        "São Paulo não é a capital do país, é a maior.", "© 2005 ABC ® ½ µm · 20 °C",
        "ภาษาไทย é µ", "日本語 é", "Xin chào, toán hoá và các bạn", "Svenska är på åtta öar",
    ],
)  # fmt: skip
def test_other_text_is_in_no_such_font(text: str) -> None:
    assert font_of(text) == ""


def test_what_is_beside_a_text_of_few_words_helps() -> None:
    assert [font_of("Ch\u00ad\u00acng I", likely) for likely in ("", "tcvn")] == ["", "tcvn"]
    assert font_of("Chương I", "tcvn") == ""
    assert font_of("Zürich", "tcvn") == ""


def test_garbled_text_is_no_vietnamese() -> None:
    assert not is_garbled(TEXT)
    assert not is_garbled("Kế hoạch của Müller, García và Đặng về việc ở Zürich năm nay")
    assert is_garbled(ABC.decode("mac_roman"))


@given(st.text())
def test_any_text_gives_an_answer(text: str) -> None:
    for font in ("tcvn", "viscii", "vni", font_of(text) or "vni"):
        in_unicode(text, font)
    is_garbled(text)
