"""PDF (ISO 32000), by PDFium."""

from __future__ import annotations

import ctypes
import re
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import normalize

from lswc.reading.documents import clusters
from lswc.reading.documents.deadline import Deadline
from lswc.reading.documents.spelling import WEIGHT, forbidden
from lswc.reading.documents.text import (
    DAMAGED,
    ILLEGIBLE,
    LOCKED,
    SCANNED,
    Reference,
    Text,
    legible,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

    from lswc.reading.documents.pdf_names import Names
    from lswc.reading.documents.text import Most

_PAGES = 2_000
_SCAN = 20  # signs beside a picture that are a page's number, or a stamp
_LONGEST = 2_000  # bytes of an address, and characters of a linked text
_SAMPLE = 200  # glyphs of a page
_EXAMINED = 4_000  # characters of a page whose font names no letters
_CERTAIN, _LEAST_LETTERS, _MOST_FORBIDDEN = 0.9, 60, 0.02
_SPELLED = frozenset({"th", "lo", "vi"})
_KANA, _LETTER = re.compile("[\u3041-\u30fc]"), re.compile(r"[^\W\d_]")
_KANA_OF_JAPANESE = 0.25
_NO_LETTERS = re.compile("[\ue000-\uefff\ufffd\U000f0000-\U0010ffff]")  # or not said which
_FULL = 0.7  # of the length of a page's longest lines
# TDM Reservation Protocol (W3C Community Group 2024), in XMP.
_RESERVED = re.compile(rb"tdm:reservation\s{0,9}(?:>|=\s{0,9}[\"'])\s{0,9}([01])\b")
_HYPHEN = re.compile("(?:[\x02\ufffe]|\xad(?=\r?\n))\r?\n?")
# Sara am of Thai and Lao is drawn as a ring and a vowel; Word calls the ring a blank, others call
# it the whole. A tone's mark comes before it, and after a vowel above or below its letter.
_SARA_AM = re.compile(
    "(?<=[\u0e01-\u0e2e\u0e80-\u0eaf\u0edc-\u0edf])([\u0e48-\u0e4b\u0ec8-\u0ecb]?)"
    "[ \u0e4d\u0ecd\u0e33\u0eb3]([\u0e48-\u0e4b\u0ec8-\u0ecb]?)([\u0e32\u0eb2])"
)
_TONE_FIRST = re.compile(
    "([\u0e48-\u0e4c\u0ec8-\u0ecc])([\u0e31\u0e34-\u0e3a\u0eb1\u0eb4-\u0ebc]|[\u0e4d\u0ecd](?![\u0e32\u0eb2]))"
    "|([\u0e33\u0eb3])([\u0e48-\u0e4b\u0ec8-\u0ecb])"
)
# Where no tone's mark can be, it is of the letter that follows.
_TONE_BEFORE = re.compile(
    "(?<=[\u0e30\u0e32\u0e40-\u0e44\u0eb0\u0eb2\u0ec0-\u0ec4])([\u0e48-\u0e4b\u0ec8-\u0ecb])"
    "([\u0e01-\u0e2e\u0e81-\u0eae\u0edc-\u0edf][\u0e31\u0e34-\u0e39\u0e4d\u0eb1\u0eb4-\u0ebc\u0ecd]?)"
    "(?![\u0e48-\u0e4b\u0ec8-\u0ecb])"
)
_VOWEL_AA = re.compile("[\u0e32\u0eb2]")
_FEW = 2  # letters that may stand alone in a line, as before a sara am
# A glyph of both has the lower code point in many a font's map: U+2F47 for U+65E5.
_RADICALS = {n: normalize("NFKC", chr(n)) for n in range(0x2E80, 0x2FE0)}
# Scripts whose lines go on in the next without a blank.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff"
    "\uff00-\uff20\uff3b-\uff40\uff5b-\uffef"
)
_JOINED = re.compile(f"(?<=[{_UNSPACED}])\x00(?=[{_UNSPACED}])")


def read(body: bytes, most: Most, scans: Mapping[int, str] | None = None) -> Text:
    """Return what a PDF says; nothing if it is broken, or needs a password.

    ``scans`` are the texts of pages that are pictures, as someone else has read them.
    """
    # Not above: most crawls' readers never need it.
    from pypdfium2 import PdfDocument, PdfiumError, raw

    from lswc.reading.documents import pdf_fonts
    from lswc.reading.documents.pdf_names import Names

    pdf_fonts.use()
    reserved = _RESERVED.search(body)
    robots = frozenset({f"tdm-reservation={reserved[1].decode()}"} if reserved else ())
    try:
        with PdfDocument(body) as document, Names(document) as names:
            found = _document(document, names, most, scans or {})
            return found._replace(robots=robots).completed(most)
    except PdfiumError as error:
        is_locked = error.err_code == raw.FPDF_ERR_PASSWORD
        return Text(robots=robots, reason=LOCKED if is_locked else DAMAGED)


def _document(document: PdfDocument, names: Names, most: Most, scans: Mapping[int, str]) -> Text:
    from lswc.reading.documents.pdf_annotations import read_forms

    texts: list[str] = []
    references: list[Reference] = []
    scanned: list[int] = []
    read_forms(document)
    size, unread, shown, sure, read = 0, 0, 0, 0, 0
    deadline = Deadline(most.seconds)
    number = len(document)
    for index in range(min(number, _PAGES)):
        if size > most.text or deadline.is_over:
            break
        page = _page(document, names, index, most.links + 1)
        text = with_sara_am(scans[index]) if index in scans else page.text
        texts += (paragraphs(text), page.filled)
        size += len(text) + len(page.filled)
        scanned += [index] if page.is_scan else []
        read += 1
        shown += page.shown
        sure += page.sure
        taken = page.links[: max(0, most.links - len(references))]
        references += taken
        unread += len(page.links) - len(taken)
    whole = "\n".join(filter(None, texts))
    unread_for = SCANNED if scanned else ILLEGIBLE if shown else DAMAGED if not number else ""
    return Text(
        title=_said(document, "Title"),
        text=whole,
        lang=_language(document),
        references=tuple(references),
        unread=unread,
        is_cut=read < number,
        quality=round(sure / shown, 3) if shown else None,
        scanned=tuple(scanned),
        reason="" if whole else unread_for,
    )


class _Page(NamedTuple):
    """A page's text and links; of so many letters ``shown`` so many are ``sure``.

    ``filled`` is what its fields hold, and what was written on it. A page ``is_scan`` if it is a
    picture.
    """

    text: str = ""
    filled: str = ""
    links: Sequence[Reference] = ()
    shown: int = 0
    sure: int = 0
    is_scan: bool = False


def _page(document: PdfDocument, names: Names, index: int, most: int) -> _Page:
    """Return what a page says; nothing of a broken one."""
    from pypdfium2 import PdfiumError

    from lswc.reading.documents.pdf_annotations import filled
    from lswc.reading.documents.pdf_content import in_order
    from lswc.reading.documents.pdf_pictures import is_picture

    try:
        page = document[index]
    except PdfiumError:
        return _Page()
    try:
        text = page.get_textpage()
        links, shown = list(islice(_links(document, page, text), most)), text.count_chars()
        written = "\n".join(filled(document, page))
        if shown <= _SCAN and is_picture(page):
            return _Page(text.get_text_bounded(), written, links, is_scan=True)
        unnamed = _unnamed(text)
        if 2 * unnamed > 1:
            seen = text.get_text_bounded().translate(_RADICALS)
            return _Page(seen if _is_certain(seen) else "", written, links, shown)
        plain = text.get_text_bounded()
        named = partial(names.on_page, index)
        found, doubtful = in_order(page, text, plain, named, unnamed > 0)
        found = clusters.in_order(with_sara_am(found.translate(_RADICALS)))
        if not legible(found):
            return _Page("", written, links, shown)
        doubtful += WEIGHT * forbidden(found) + len(_NO_LETTERS.findall(found))
        return _Page(found, written, links, shown, max(0, shown - doubtful))
    except PdfiumError:
        return _Page()
    finally:
        page.close()


def _unnamed(text: PdfTextPage) -> float:
    """Return the share of a page's glyphs of which no font says what they are (ISO 32000-2 §9.10).

    It is that of a sample.
    """
    from pypdfium2 import raw

    number = text.count_chars()
    sample = range(0, number, max(1, number // _SAMPLE))
    unnamed = sum(raw.FPDFText_HasUnicodeMapError(text, place) == 1 for place in sample)
    return float(unnamed / max(1, len(sample)))


def _is_certain(text: str) -> bool:
    """Tell whether a text can hardly be other letters than it seems, though no font says so.

    Glyphs of which only the numbers are known make no words. In a script that one language has any
    letters do: then the rules of its spelling must be strict enough to tell.
    """
    from lswc.language.shares import measure

    sample = text[:_EXAMINED]
    if not legible(sample):
        return False
    found = measure(sample)
    best = max(found.shares, key=found.shares.__getitem__, default="")
    is_sure = min(found.shares.get(best, 0.0), found.certainty.get(best, 0.0)) >= _CERTAIN
    is_known = best not in found.by_letters or best in _SPELLED or _has_kana(sample)
    return (
        is_sure
        and is_known
        and found.total >= _LEAST_LETTERS
        and WEIGHT * forbidden(sample) <= _MOST_FORBIDDEN * found.total
    )


def _has_kana(text: str) -> bool:
    """Tell whether a text has as much kana as Japanese: few glyphs have numbers that are kana."""
    return len(_KANA.findall(text)) >= _KANA_OF_JAPANESE * len(_LETTER.findall(text))


def with_sara_am(text: str) -> str:
    """Return a text whose marks of Thai and Lao are in Unicode's order, and sara am is a letter."""
    text = _TONE_BEFORE.sub(r"\2\1", _TONE_FIRST.sub(r"\2\1\4\3", text))
    if not _VOWEL_AA.search(text):
        return text
    lines = text.splitlines()
    return "\n".join(line if _is_spaced(line) else _SARA_AM.sub(_composed, line) for line in lines)


def _is_spaced(line: str) -> bool:
    """Tell whether a line is set with room between its letters, as headings are."""
    words = line.split()
    alone = sum(len(word) == 1 for word in words)
    return alone > max(_FEW, len(words) // 2)


def _composed(found: re.Match[str]) -> str:
    return f"{found[1] or found[2]}{chr(ord(found[3]) + 1)}"


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
