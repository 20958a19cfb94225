"""Markdown of a corpus's texts, as a reader of CommonMark shows it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from lswc.corpus.markdown import escaped, of
from lswc.reading.main_text.paragraphs import read

WORDS = "ข้อความที่ยาวพอจะเป็นย่อหน้าได้ด้วยตัวเอง ไม่ว่าจะมีอะไรอยู่ข้าง ๆ ก็ตาม และยาวกว่านั้นอีกหน่อย"
SIGNS = '\\`*_[]()<>&#+-=.!|~$:;/1 a"\n'


def shown(markdown: str) -> LexborHTMLParser:
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return LexborHTMLParser(reader.render(markdown))


def of_page(body: str) -> str:
    """Return the Markdown of a page's own text."""
    text, segments = "", list[dict[str, Any]]()
    for one in read(f"<body><article>{body}</article></body>", "http://a.example/").paragraphs:
        begin = len(text)
        text += one.text + "\n"
        about = {"kind": one.kind, "level": one.level or one.depth or None, "mark": one.mark}
        segments.append({"start": begin, "end": len(text) - 1, **about})
    return of({"text": text, "segments": segments})


@given(st.text(SIGNS, min_size=1, max_size=30))
@example("a ![x](y) [z]: w")
@example("a\n--- | ---\n1 | 2")
@example("a\n===")
@example("1) a\n> b\n~~~\n# c #")
@example("&lt;script&gt; <b>x</b> <!-- x -->")
def test_what_would_be_markup_is_shown_as_it_was_written(text: str) -> None:
    text = "\n".join(filter(None, (" ".join(line.split()) for line in text.split("\n"))))
    page = shown(escaped(text))
    assert page.body is not None
    assert page.body.text().split() == text.split()
    assert {node.tag for node in page.body.css("body *")} <= {"p", "br"}


def test_headings_lists_tables_and_code_stay_what_they_are() -> None:
    assert of_page(
        f"<h2>หัวข้อ # 1 #</h2><p>{WORDS}<ol><li>ข้อแรกของรายการนี้<ul><li>ข้อย่อยที่หนึ่ง</ul>"
        "<li># ข้อที่สองของรายการ</ol><table><tr><th>เมือง<th>คน<tr><td>แพร่|น่าน<td>4</table>"
        f"<table><tr><td>ตารางอื่น<td>5</table><pre>a ``` b\n  c</pre><p>{WORDS}"
    ) == (
        f"## หัวข้อ # 1 \\#\n\n{WORDS}\n\n1. ข้อแรกของรายการนี้\n    - ข้อย่อยที่หนึ่ง\n"
        "2. \\# ข้อที่สองของรายการ\n\n| เมือง | คน |\n| --- | --- |\n| แพร่\\|น่าน | 4 |\n\n"
        f"| ตารางอื่น | 5 |\n| --- | --- |\n\n````\na ``` b\n  c\n````\n\n{WORDS}"
    )


@pytest.mark.parametrize(
    ("tex", "written"),
    [
        ("a&lt;script>", r"$a\lt script\gt$"),
        ("[a](javascript:b)", "$[a]{}(javascript:b)$"),
        ("a_1 * b_2", "$a_1 * b_2$"),
    ],
)
def test_a_formula_is_in_dollars_and_no_markup_to_others(tex: str, written: str) -> None:
    said = of_page(f"<p>{WORDS} <math alttext='{tex}'></math> 5$")
    assert said == rf"{WORDS} {written} 5\$"
    assert not shown(said).css("script, a")
