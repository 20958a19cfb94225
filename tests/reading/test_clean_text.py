"""Clean text of a page: its own paragraphs in the language, each with what stands for it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lswc.language import Identifier, registry
from lswc.reading.main_text.clean_text import NO_TEXT, of_document, of_page
from lswc.reading.page import PageReader
from lswc.reading.scope import Scope
from lswc.urls import parse
from tests.scenarios.site import ENGLISH, THAI

URL = "http://a.example/"
HTML = {"content-type": ["text/html; charset=utf-8"]}


def page(*paragraphs: str) -> bytes:
    inside = "".join(f"<p>{one}</p>" for one in paragraphs)
    menu = "<nav><a href=/>home</a></nav>"
    return f"<title>t</title><body>{menu}<article>{inside}</article></body>".encode()


def test_paragraphs_in_the_language_count_and_no_others() -> None:
    found = of_page(page(THAI * 3, ENGLISH * 3), URL, ["th"])
    ((_, letters),) = found.paragraphs
    assert 0 < letters <= len(THAI) * 3
    assert found.size == len(" ".join((THAI * 3).split()).encode())


def test_the_same_paragraph_is_the_same_wherever_it_stands() -> None:
    one = of_page(page(THAI * 3), URL, ["th"]).paragraphs
    other = of_page(page(ENGLISH * 3, THAI * 3), "http://b.example/", ["th"]).paragraphs
    assert one == other
    assert one != of_page(page(THAI * 4), URL, ["th"]).paragraphs


def test_a_paragraph_is_of_the_language_that_most_of_it_is_in() -> None:
    for text, code in ((ENGLISH * 6 + THAI[:20], "en"), (THAI * 6 + ENGLISH[:20], "th")):
        found = {one for one in ("en", "th") if of_page(page(text), URL, [one]).paragraphs}
        assert found == {code}


@given(st.text("กขคabc ", min_size=1))
def test_what_stands_for_a_paragraph_fits_a_file_of_sqlite(text: str) -> None:
    for name, letters in of_document(f"{THAI}{text}", ["th"]).paragraphs:
        assert -(2**63) <= name < 2**63
        assert letters > 0


def test_lines_of_a_document_are_paragraphs() -> None:
    found = of_document(f"{THAI * 3}\n\n{THAI * 4}\n", ["th"])
    assert len(found.paragraphs) == 2


def reader(*, clean_text: bool) -> PageReader:
    identifier = Identifier(registry.language("th"))
    return PageReader(identifier, Scope(0, 2_083, ()), frozenset(), clean_text=clean_text)


def test_it_is_read_of_relevant_pages_and_if_text_counts() -> None:
    url = parse(URL)
    assert url is not None
    for clean_text, body, has_text in (
        (True, page(THAI * 3), True),
        (False, page(THAI * 3), False),
        (True, page(ENGLISH * 9), False),
    ):
        reading = reader(clean_text=clean_text).read(body, HTML, url, 0)
        assert reading is not None
        assert (reading.clean != NO_TEXT) is has_text
