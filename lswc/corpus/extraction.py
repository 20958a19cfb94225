"""Extraction: what a stored page says by itself, before it is compared with any other page."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from myanmar.converter import convert

from lswc.corpus.personal_data import Personal, PersonalData
from lswc.corpus.programs import Programs
from lswc.corpus.stored_pages import PAGE_BYTES, Stored
from lswc.language import vietnamese_fonts
from lswc.language.charset import decode
from lswc.language.font_encodings import Fonts
from lswc.language.shares import measure
from lswc.language.variants import variants_of
from lswc.language.xhtml import as_html
from lswc.reading.documents.text import Most
from lswc.reading.documents.text import Text as Document
from lswc.reading.machine_translation import mark_of
from lswc.reading.main_text.blocks import Kind
from lswc.reading.main_text.characters import exact
from lswc.reading.main_text.licences import Licence
from lswc.reading.main_text.paragraphs import Text, blocks_of_lines, read
from lswc.safety.content_types import Kind as PageKind
from lswc.safety.content_types import is_xhtml

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lswc.language.registry import Language
    from lswc.reading.documents.separate_process import DocumentProcess

_MOST = 0.5  # of a paragraph's letters
_SECONDS = 12.0  # of CPU, for the pages of one PDF
_CONVERTERS = {"zawgyi-one": "zawgyi", "win-researcher": "wininnwa"}
_VIETNAMESE = "windows-1258"
_TAG = re.compile(r"<[^<>]*>")
_REMEMBERED = 4_096  # paragraphs, of at most so many characters: a site repeats them on its pages
_REMEMBERED_LENGTH = 2_000


def _as_font_wants(body: bytes, text: str) -> str:
    """Return a page in Windows-1258, or what Windows-1252 has there if that is what a font wants.

    Letters and marks of the former can't be told apart any more once they are joined.
    """
    western = body.decode("cp1252", "replace")
    is_font = vietnamese_fonts.font_of(_TAG.sub(" ", western))
    plain = _TAG.sub(" ", text)
    if is_font and (vietnamese_fonts.is_garbled(plain) or vietnamese_fonts.font_of(plain)):
        return western
    return text


class Paragraph(NamedTuple):
    """A paragraph in Unicode; ``converted`` names the encoding that it was written in.

    ``score`` says how sure its language is, from 0 to 1. ``level`` is that of a heading or an item
    of a list, ``mark`` what begins an item or a table (``blocks.Block``). ``is_wanted`` says that
    it is in the corpus's language and variant. ``personal`` is where personal data is.
    """

    text: str
    language: str | None
    converted: str | None
    score: float = 0.0
    kind: Kind = "text"
    level: int | None = None
    mark: str | None = None
    is_wanted: bool = False
    personal: tuple[Personal, ...] = ()


class Extracted(msgspec.Struct, frozen=True):
    """What a page says: its own paragraphs, and the letters of all by the kinds of their blocks.

    ``page`` has no body any more; ``is_copy`` says that it had none. The title is in Unicode.
    ``scanned`` is how many pages of a PDF are pictures. ``reason`` is why a document has no text.
    """

    page: Stored
    is_copy: bool = False
    title: str = ""
    paragraphs: list[Paragraph] = []
    letters: dict[str, int] = {}
    page_kind: str | None = None
    licence: Licence | None = None
    quality: float | None = None
    is_cut: bool = False
    machine_translated: str | None = None
    scanned: int | None = None
    reason: str = ""

    @property
    def text(self) -> str:
        """All its paragraphs, with those that its site repeats."""
        return "\n".join(one.text for one in self.paragraphs)


class Extractor:
    """Reads pages for a corpus of one language. ``documents`` reads what isn't HTML.

    ``programs`` are of ``lswc.corpus.programs.PROGRAMS``. Raises ConfigError if one isn't there.
    """

    def __init__(
        self, target: Language, documents: DocumentProcess, programs: Sequence[str] = ()
    ) -> None:
        self._documents = Programs(documents, programs, target.code)
        self._target = target.code
        self._variant = target.variant.tag if target.variant else ""
        self._fonts = Fonts(target.code, target.fonts)
        self._personal = PersonalData(target)
        self._remembered = lru_cache(_REMEMBERED)(self._paragraph)

    def read(self, page: Stored) -> Extracted:
        """Return what a page says. Never fails."""
        if page.body is None:
            return Extracted(page, is_copy=True)
        found, translated, document = self._text(page, page.body)
        letters = Counter[str]()
        for block in found.blocks:
            letters[block.kind] += round(block.letters)
        font = self._font("\n".join(block.text for block in found.paragraphs))
        title = self.paragraph(found.title, font)
        return Extracted(
            page._replace(body=None),
            title=title.text if title.language == self._target else exact(found.title),
            paragraphs=[
                self.paragraph(b.text, font)._replace(
                    kind=b.kind, level=b.level or b.depth or None, mark=b.mark
                )
                for b in found.paragraphs
            ],
            letters=letters,
            page_kind=found.page_kind,
            licence=found.licence,
            quality=found.quality,
            is_cut=found.is_cut,
            machine_translated=translated,
            scanned=len(document.scanned) if page.kind is PageKind.PDF else None,
            reason=document.reason,
        )

    def _text(self, page: Stored, body: bytes) -> tuple[Text, str | None, Document]:
        if page.kind is not PageKind.HTML:
            document = self._document(page, body)
            blocks, quality = blocks_of_lines(document.text), document.quality
            return Text(document.title, blocks, None, quality, document.is_cut), None, document
        html = self._decoded(page, body[:PAGE_BYTES])
        found = read(html, page.url, as_written=True)._replace(is_cut=len(body) > PAGE_BYTES)
        return found, mark_of(html), Document()

    def _document(self, page: Stored, body: bytes) -> Document:
        most = Most(text=PAGE_BYTES, size=PAGE_BYTES, seconds=_SECONDS)
        return self._documents.read(page.kind, body, page.content_type or "", most)

    def _may_be_variant(self, paragraph: Paragraph) -> bool:
        """Tell whether nothing says that a paragraph is in another variant than the target's."""
        known = variants_of(self._target) if self._variant else None
        encoding = paragraph.converted or ""
        return known is None or known.of_words(paragraph.text, encoding) in ("", self._variant)

    def _decoded(self, page: Stored, body: bytes) -> str:
        if self._fonts and page.encoding in _CONVERTERS and page.encoding != "zawgyi-one":
            return body.decode("cp1252", "replace")  # as the font wants it read
        decoded = decode(body, page.content_type)
        text = decoded.text
        if self._target == "vi" and decoded.encoding == _VIETNAMESE:
            text = _as_font_wants(body, text)
        if is_xhtml(page.content_type or "", body):
            return as_html(text.encode("utf-8", "replace")).decode("utf-8")
        return text

    def _font(self, text: str, likely: str = "") -> str:
        """Return what Vietnamese is written in that isn't in Unicode, if that is the target."""
        return vietnamese_fonts.font_of(text, likely) if self._target == "vi" else ""

    def paragraph(self, text: str, font: str = "") -> Paragraph:
        """Tell a paragraph's language, and write it in Unicode if it is in the target's.

        ``font`` is what most of its page is written in.
        """
        tell = self._remembered if len(text) <= _REMEMBERED_LENGTH else self._paragraph
        return tell(text, font)

    def _paragraph(self, text: str, font: str) -> Paragraph:
        told = self._told(text, font)
        is_wanted = told.language == self._target and self._may_be_variant(told)
        written = exact(told.text)
        personal = self._personal.find(written)
        return told._replace(text=written, is_wanted=is_wanted, personal=personal)

    def _told(self, text: str, likely: str) -> Paragraph:
        if own := self._font(text, likely):
            written = vietnamese_fonts.in_unicode(text, own)
            return self._told_as_written(written)._replace(converted=own)
        return self._told_as_written(text)

    def _told_as_written(self, text: str) -> Paragraph:
        found = measure(text)
        best = max(found.shares, key=found.shares.__getitem__, default="")
        if best in found.by_letters and found.shares[best] >= _MOST:
            score = found.certainty.get(best, 0.0)
            told = self._converted(text, best, found.encoding)._replace(score=score)
        elif (font := self._fonts.match(text)) is not None and font.share >= _MOST:
            told = self._converted(text, self._target, font.encoding)._replace(score=font.share)
        else:
            told = Paragraph(text, best or None, None, found.certainty.get(best, 0.0))
        if told.language == "vi" and vietnamese_fonts.is_garbled(text):
            return Paragraph(text, None, None)
        return told

    def _converted(self, text: str, code: str, encoding: str) -> Paragraph:
        known = _CONVERTERS.get(encoding)
        if known is None or code != self._target:
            return Paragraph(text, code, None)
        return Paragraph(convert(text, known, "unicode"), code, encoding)
