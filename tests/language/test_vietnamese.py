"""Vietnamese syllables, in words and on pages."""

from __future__ import annotations

import unicodedata

import pytest

from lswc.language import Identifier
from lswc.language.registry import language
from lswc.language.vietnamese import could_be_vietnamese, is_syllable, is_vietnamese
from lswc.strategy import Anchor

TEXT = "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi"


@pytest.mark.parametrize("word", [*TEXT.lower().split(), "nghiêng", "là", "quốc", "yêu", "sách"])
def test_syllables(word: str) -> None:
    assert is_syllable(word)


@pytest.mark.parametrize(
    "word", ["hack", "sach", "sàch", "école", "façade", "żółć", "strong", "bàá"]
)
def test_what_no_syllable_is_spelt_like(word: str) -> None:
    assert not is_syllable(word)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("là", True), ("trang nhà", True), ("trang nha", False), ("à la carte", False), ("", False)],
)
def test_texts(text: str, expected: bool) -> None:
    assert is_vietnamese(text) is expected
    assert is_vietnamese(unicodedata.normalize("NFD", text)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("trang chu", True), ("tin tuc", True), ("latest news", False), ("", False)],
)
def test_texts_without_marks(text: str, expected: bool) -> None:
    assert could_be_vietnamese(text) is expected


@pytest.mark.parametrize(
    ("text", "hint", "expected"),
    [
        ("nhà", None, Anchor.TARGET),
        ("trang chu va tin tuc", "vi", Anchor.TARGET),
        ("trang chu va tin tuc", None, Anchor.OTHER),
        ("Latest news of the town", "vi", Anchor.OTHER),
        ("Papua New Guinea", "vi", Anchor.TARGET),
        ("Home", "vi", Anchor.OTHER),
        ("Papua New Guinea", None, Anchor.OTHER),
        ("niño", None, Anchor.OTHER),
        ("niño", "vi", Anchor.OTHER),
        ("Trinidad và Tobago", None, Anchor.OTHER),
        ("Trinidad và Tobago", "vi", Anchor.TARGET),
    ],
)
def test_anchors(text: str, hint: str | None, expected: Anchor) -> None:
    assert Identifier(language("vi")).anchor(text, hint) is expected


@pytest.mark.parametrize("size", [len(TEXT), 20])
def test_decomposed_pages_and_anchors(size: int) -> None:
    text = unicodedata.normalize("NFD", TEXT[:size])
    page = f"<title>{text}</title><p>{text}<a href=x>{text}</a>"
    reading = Identifier(language("vi")).read(page.encode(), None, "http://a.test/")
    assert reading.identification.language == "vi"
    assert reading.title == reading.links[0].text == TEXT[:size].strip()
    assert reading.anchors[0] is Anchor.TARGET
