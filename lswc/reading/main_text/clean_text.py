"""Clean text of a page in a crawl's languages: its own paragraphs, as a corpus takes them."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

from msgspec import Struct

from lswc.language.shares import measure
from lswc.reading.main_text.blocks import MAIN
from lswc.reading.main_text.paragraphs import blocks_of_lines, read_markup

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from lswc.reading.main_text.blocks import Block


class CleanText(Struct, frozen=True, array_like=True):
    """``paragraphs``: of each, 64 bits that stand for it, and its letters (``blocks.weight``).

    ``size`` is that of their text in bytes (UTF-8).
    """

    paragraphs: tuple[tuple[int, int], ...] = ()
    size: int = 0


NO_TEXT = CleanText()


def of_page(markup: bytes, url: str, codes: Collection[str]) -> CleanText:
    """Return the paragraphs of an HTML page that are in languages of these codes."""
    return _clean(read_markup(markup, url).blocks, codes)


def of_document(text: str, codes: Collection[str]) -> CleanText:
    """Return the same of a document, of which each line is a paragraph."""
    return _clean(blocks_of_lines(text), codes)


def _clean(blocks: Iterable[Block], codes: Collection[str]) -> CleanText:
    own = [b for b in blocks if b.kind in MAIN and b.letters >= 1 and _language(b.text) in codes]
    return CleanText(
        tuple((_name(block.text), round(block.letters)) for block in own),
        sum(len(block.text.encode("utf-8", "replace")) for block in own),
    )


def _language(text: str) -> str:
    shares = measure(text).shares
    return max(shares, key=shares.__getitem__, default="")


def _name(text: str) -> int:
    digest = blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)
