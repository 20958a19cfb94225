"""Excel's older files say what their cells do; broken ones harm nothing."""

from __future__ import annotations

import random

import pytest

from lswc.reading.documents import deadline, read
from lswc.reading.documents.separate_process import DocumentProcess
from lswc.reading.documents.text import Most, Text
from lswc.safety.content_types import Kind, kind_of
from tests.reading import made
from tests.reading.old_files import compound, workbook

LINK = "http://a.example/"
BOOK = workbook(
    {"one": [(0, 0, "ภาษาไทย"), (0, 1, "b"), (1, 0, LINK)], "two": [(0, 0, "hidden")],
     "three": [(65_535, 255, "the last")]},
    hidden=["two"],
)  # fmt: skip


@pytest.mark.usefixtures("brake")
def test_far_cells_fill_up_no_memory() -> None:
    """A sheet whose rows are as long as the longest would have millions of cells, each of these."""
    body = workbook({str(number): [(65_535, 255, "a")] for number in range(10)})
    assert read(Kind.EXCEL, body, "", Most()).text.split() == ["a"] * 10


def test_cells_in_their_order() -> None:
    found = read(Kind.EXCEL, BOOK, "", Most())
    assert found.text.splitlines() == ["ภาษาไทย", "b", LINK, "the last"]
    assert [one.target for one in found.references] == [LINK]
    assert not found.is_cut


def test_a_name_for_a_broken_formula_is_no_error() -> None:
    body = workbook({"one": [(0, 0, "a")]}, formula=b"\x2d" + bytes(8))
    assert read(Kind.EXCEL, body, "", Most()).reason == "damaged"


def test_no_more_is_taken_than_asked() -> None:
    many = workbook({"one": [(row, 0, "a" * 100) for row in range(300)]})
    found = read(Kind.EXCEL, many, "", Most(text=1_000))
    assert (len(found.text), found.is_cut) == (1_000, True)


def test_sheets_are_read_for_a_while_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "process_time", iter(range(0, 1_000, 4)).__next__)
    found = read(Kind.EXCEL, workbook({str(n): [(0, 0, str(n))] for n in range(9)}), "", Most())
    assert (found.text.split(), found.is_cut) == (["0"], True)


@pytest.mark.parametrize(
    "body",
    [
        BOOK[:512], BOOK[:600], BOOK[:3_000], BOOK[:-700], BOOK[:8] + bytes(2_000),
        compound("Workbook", b""), compound("Workbook", b"\x09\x08" * 9_000),
        compound("Book", BOOK), compound("WordDocument", b"a" * 9_000),
        BOOK.replace(b"\x85\x00\x0b", b"\x85\x00\xff"),
    ],
)  # fmt: skip
def test_a_broken_one_says_nothing_of_harm(body: bytes) -> None:
    with DocumentProcess() as aside:
        assert "hidden" not in aside.read(Kind.EXCEL, body, "", Most()).text
        assert aside.read(Kind.TEXT, b"good", "", Most()).text == "good"


def test_noise_in_one_is_no_error() -> None:
    dice = random.Random(1)
    for _ in range(60):
        body = bytearray(BOOK)
        for _ in range(dice.choice((1, 9, 90))):
            body[dice.randrange(8, len(body))] = dice.randrange(256)
        assert isinstance(read(Kind.EXCEL, bytes(body), "", Most()), Text)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (made.rtf("a"), Kind.RTF),
        (b"<html><table><tr><td>a", Kind.HTML),
        (made.xlsx("a"), Kind.EXCEL),
        (made.docx(made.paragraph("a")), Kind.WORD),
        (BOOK, Kind.EXCEL),
        (b"a\tb\n", None),
    ],
)
@pytest.mark.parametrize(
    ("name", "served"),
    [("a.xls", ""), ("a.doc", ""), ("a.xls", "application/vnd.ms-excel"),
     ("a.doc", "application/msword"), ("a.doc", "application/octet-stream")],
)  # fmt: skip
def test_what_an_old_name_is_given_to_is_what_its_bytes_say(
    body: bytes, kind: Kind | None, name: str, served: str
) -> None:
    kind = Kind.WORD if body is BOOK and name == "a.doc" else kind
    assert kind_of(served, body, name) is kind
