"""PDF (ISO 32000), by PDFium."""

from __future__ import annotations

import ctypes
import re
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Any

from lswc.reading.documents.text import Reference, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

    from lswc.reading.documents.text import Most

SECONDS = 5.0
"""After so many no further page of a document is begun; one page may take a minute."""

_PAGES = 2_000
_LONGEST = 2_000  # bytes of an address, and characters of a linked text
_SAMPLE = 200  # glyphs of a page
_FULL = 0.7  # of the length of a page's longest lines
# TDM Reservation Protocol (W3C Community Group 2024), in XMP.
_RESERVED = re.compile(rb"tdm:reservation\s{0,9}(?:>|=\s{0,9}[\"'])\s{0,9}([01])\b")
_HYPHEN = re.compile("[\x02\ufffe]\r?\n?")
# PDFium gives a cluster of letters again for each of its glyphs if a PDF says by ActualText what
# they are together (ISO 32000-2 §14.9.4), as Chromium's PDFs do: "ด้วด้ ย".
_CHROMIUM = "Skia/PDF"
_MARKS = "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u17b4-\u17d3"
_REPEATED = re.compile(rf"(\S{{1,8}}[{_MARKS}])(\S{{1,4}}?)\1(?: (?=\S))")
_IN_ONE_ANOTHER = 3
# Scripts whose lines go on in the next without a blank.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef"
_JOINED = re.compile(f"(?<=[{_UNSPACED}])\x00(?=[{_UNSPACED}])")


def read(body: bytes, most: Most) -> Text:
    """Return what a PDF says; nothing if it is broken, or needs a password."""
    # Not above: most crawls' readers never need it.
    from pypdfium2 import PdfDocument, PdfiumError, raw

    # For a font that isn't embedded PDFium takes one of this machine's; a letter that such a font
    # lacks has no extent, and text without extent is left out. Its own fonts are everywhere alike.
    raw.FPDF_SetSystemFontInfo(None)
    reserved = _RESERVED.search(body)
    robots = frozenset({f"tdm-reservation={reserved[1].decode()}"} if reserved else ())
    try:
        with PdfDocument(body) as document:
            return _document(document, most)._replace(robots=robots).completed(most)
    except PdfiumError:
        return Text(robots=robots)


def _document(document: PdfDocument, most: Most) -> Text:
    texts: list[str] = []
    references: list[Reference] = []
    size, unread, end = 0, 0, monotonic() + SECONDS
    repeats = _CHROMIUM in _said(document, "Producer")
    number = len(document)
    for index in range(min(number, _PAGES)):
        if size > most.text or monotonic() > end:
            break
        text, links = _page(document, index, most.links + 1)
        texts.append(paragraphs(_once(text) if repeats else text))
        size += len(text)
        taken = links[: max(0, most.links - len(references))]
        references += taken
        unread += len(links) - len(taken)
    return Text(
        title=_said(document, "Title"),
        text="\n".join(filter(None, texts)),
        lang=_language(document),
        references=tuple(references),
        unread=unread,
        is_cut=len(texts) < number,
    )


def _page(document: PdfDocument, index: int, most: int) -> tuple[str, list[Reference]]:
    """Return the text and the links of a page; none of a broken one."""
    from pypdfium2 import PdfiumError

    try:
        page = document[index]
    except PdfiumError:
        return "", []
    try:
        text = page.get_textpage()
        links = list(islice(_links(document, page, text), most))
        return text.get_text_bounded() if _is_named(text) else "", links
    except PdfiumError:
        return "", []
    finally:
        page.close()


def _is_named(text: PdfTextPage) -> bool:
    """Tell whether a font says of most glyphs which letters they are (ISO 32000-2 §9.10)."""
    from pypdfium2 import raw

    number = text.count_chars()
    sample = range(0, number, max(1, number // _SAMPLE))
    unnamed = sum(raw.FPDFText_HasUnicodeMapError(text, place) == 1 for place in sample)
    return bool(2 * unnamed <= len(sample))


def _once(text: str) -> str:
    for _ in range(_IN_ONE_ANOTHER):
        text = _REPEATED.sub(r"\1\2", text)
    return text


def paragraphs(text: str) -> str:
    """Return a page's text with a paragraph a line, as far as the lengths of its lines tell.

    A line that is shorter than the longest ones ends its paragraph.
    """
    lines = [line.strip() for line in _HYPHEN.sub("", text).splitlines()]
    lines = [" ".join(line.split()) for line in lines if line]
    lengths = sorted(map(len, lines))
    full = _FULL * lengths[len(lengths) * 9 // 10] if lengths else 0
    joined = "".join(f"{line}\x00" if len(line) >= full else f"{line}\n" for line in lines)
    return _JOINED.sub("", joined).replace("\x00", " ").strip()


def _links(document: PdfDocument, page: PdfPage, text: PdfTextPage) -> Iterator[Reference]:
    """Yield the annotations of a page that lead to a URI (ISO 32000-2 §12.5.6.5, §12.6.4.8)."""
    from pypdfium2 import raw

    place, link = ctypes.c_int(0), raw.FPDF_LINK()
    while raw.FPDFLink_Enumerate(page, place, link):
        action = raw.FPDFLink_GetAction(link)
        if action and raw.FPDFAction_GetType(action) == raw.PDFACTION_URI:
            target = _bytes(raw.FPDFAction_GetURIPath, document, action)
            if target:
                yield Reference(
                    target.rstrip(b"\0").decode("utf-8", "replace"), _linked(link, text)
                )


def _linked(link: Any, text: PdfTextPage) -> str:
    from pypdfium2 import raw

    box = raw.FS_RECTF()
    if not raw.FPDFLink_GetAnnotRect(link, box):
        return ""
    found = text.get_text_bounded(box.left, box.bottom, box.right, box.top)
    return " ".join(found[:_LONGEST].split())


def _language(document: PdfDocument) -> str:
    """Return the /Lang of the catalog (ISO 32000-2 §14.9.2)."""
    from pypdfium2 import raw

    return _utf_16(_bytes(raw.FPDFCatalog_GetLanguage, document)).lower()


def _said(document: PdfDocument, name: str) -> str:
    """Return what the document's information says (§14.3.3)."""
    from pypdfium2 import raw

    return _utf_16(_bytes(raw.FPDF_GetMetaText, document, name.encode()))


def _utf_16(text: bytes) -> str:
    return text.decode("utf-16-le", "replace").strip("\0 ")


def _bytes(function: Any, *arguments: Any) -> bytes:
    """Return what a function of PDFium puts into a buffer; b"" if that is nothing, or too long."""
    size = function(*arguments, None, 0)
    if not 1 < size <= _LONGEST:
        return b""
    buffer = ctypes.create_string_buffer(size)
    function(*arguments, ctypes.cast(buffer, function.argtypes[-2]), size)
    return buffer.raw
