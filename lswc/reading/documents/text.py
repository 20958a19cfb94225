"""Text of a document, as whoever took it out of its format hands it on."""

from __future__ import annotations

import re
from typing import NamedTuple

from lswc.language.charset import Decoded, decode
from lswc.language.html import MAX_TITLE
from lswc.language.vietnamese_fonts import font_of

_ADDRESS = re.compile(r"(?:https?://|www\.)[!#-;=?-Z_a-z~\[\]]{4,2000}", re.IGNORECASE)
_END = ".,;:!?'*_"
_BRACKETS = {")": "(", "]": "["}
_EXAMINED = 40_000  # characters
_UNREADABLE = 0.15  # of what isn't blank
# Private use, replaced, controls, and the signs that a Latin charset has where others have letters;
# those of a row, as between a chapter and its page, count once.
_NO_LETTERS = re.compile(
    "([\ue000-\uf8ff\U000f0000-\U0010ffff\ufffd-\uffff\x00-\x08\x0e-\x1f\x7f-\x9f¡-¿×÷])(?!\\1)"
)
_BLANK = re.compile(r"\s+")
# A file's name, or what programs call a document that no one named.
_NO_TITLE = re.compile(
    r"[?\ufffd\s]+"
    r"|(?:microsoft (?:office )?(?:word|excel|powerpoint)|powerpoint|print|full page photo)"
    r"(?: -.*)?"
    r"|.*\.(?:docx?|docm|dotx?|rtf|odt|ods|odp|xlsx?|xlsm|pptx?|pps|pdf|txt|html?|indd|qxd|qxp|pmd|p65"
    r"|ai|cdr|eps|ps|dvi|tex|pub|pages|hwpx?|wpd|tiff?|jpe?g|png)"
    r"|(?:untitled|no ?title|title|(?:new )?(?:microsoft word )?document|doc|book|workbook|sheet"
    r"|presentation|powerpoint presentation|slide|folie|diapositiva|無題|无标题|無標題|未命名"
    r"|제목 ?없음|スライド|幻灯片|投影片|슬라이드|ภาพนิ่ง|สไลด์|งานนำเสนอ powerpoint|ไม่มีชื่อ"
    r"|không có tiêu đề|bản trình bày powerpoint|powerpoint プレゼンテーション|powerpoint 演示文稿"
    r"|powerpoint 簡報|powerpoint 프레젠테이션)[\s_-]*(?:\(?\d{0,4}\)?)",
    re.IGNORECASE,
)
_THAI_GLYPH = re.compile("[\uf700-\uf71a]")
# What Thai fonts of Microsoft's call glyphs that are moved out of each other's way: U+F700 on.
_THAI_GLYPHS = dict(
    zip(
        range(0xF700, 0xF71B),
        "\u0e10\u0e34\u0e35\u0e36\u0e37\u0e48\u0e49\u0e4a\u0e4b\u0e4c\u0e48\u0e49\u0e4a\u0e4b\u0e4c"
        "\u0e0d\u0e31\u0e4d\u0e47\u0e48\u0e49\u0e4a\u0e4b\u0e4c\u0e38\u0e39\u0e3a",
        strict=True,
    )
)


LOCKED, DAMAGED, SCANNED, ILLEGIBLE, OLDER = (
    "locked", "damaged", "scanned", "illegible", "older format",
)  # fmt: skip
"""Why a document has no text: it needs a password, is broken, is pictures, has a font that doesn't
say its letters, or is one of Word's or PowerPoint's older files."""


class Most(NamedTuple):
    """What is read of a document at most: characters, links, and bytes of plain text.

    After so many ``seconds`` of CPU no further page of a PDF is begun; one may take a minute.
    """

    text: int = 200_000
    links: int = 3_000
    size: int = 524_288
    seconds: float = 5.0


class Reference(NamedTuple):
    """What a document links to, as it is written there, and the text that is linked."""

    target: str
    text: str = ""


class Text(NamedTuple):
    """What a document says.

    ``text`` has a paragraph a line. ``lang`` is the language that it declares, a BCP 47 tag in
    lower case, or "". ``decoded`` is how plain text came to be text. ``robots`` is what it says of
    itself, in the words of META. ``unread`` links were too many; ``is_cut`` says that more was left
    unread. ``quality`` is the share of a PDF's letters of which it is sure which they are, and
    where: by what its fonts say of them, and by what the spelling of the script forbids. It is None
    for other documents, and for one that shows no letters. Of a page of which no font says its
    letters ``text`` has what can hardly be others. ``scanned`` are the pages of a PDF, from 0 on,
    that are pictures without text. ``reason`` is why nothing at all can be read, as LOCKED; "" if
    something can, or if that is unknown.
    """

    title: str = ""
    text: str = ""
    lang: str = ""
    references: tuple[Reference, ...] = ()
    decoded: Decoded | None = None
    robots: frozenset[str] = frozenset()
    unread: int = 0
    is_cut: bool = False
    quality: float | None = None
    scanned: tuple[int, ...] = ()
    reason: str = ""

    def completed(self, most: Most, separators: str = "") -> Text:
        """Return it with the addresses in its text as links, and without what can't be read.

        ``separators`` are signs at which an address ends.
        """
        text = legible(self.text[: most.text])
        apart = text.translate(dict.fromkeys(map(ord, separators), " "))
        found = dict.fromkeys((*self.references, *addresses(apart, most.links)))
        return self._replace(
            title=legible(_named(self.title[: 2 * MAX_TITLE])),
            text=text,
            references=tuple(found)[: most.links],
            unread=self.unread + max(0, len(found) - most.links),
            is_cut=self.is_cut or len(self.text) > most.text,
        )


def _named(title: str) -> str:
    """Return a title; "" if it is none."""
    title = " ".join(title.split())[:MAX_TITLE]
    return "" if _NO_TITLE.fullmatch(title) else title


def addresses(text: str, most: int) -> list[Reference]:
    """Return the URLs that are written in a text."""
    found: dict[str, None] = {}
    for written in _ADDRESS.finditer(text):
        if len(found) > most:
            break
        address = _whole(written[0])
        found.setdefault(address if address[:4].lower() == "http" else f"http://{address}")
    return [Reference(address) for address in found]


def _whole(written: str) -> str:
    """Return an address without the signs of the sentence that it is in."""
    while written and (
        written[-1] in _END or (written[-1] in _BRACKETS and _BRACKETS[written[-1]] not in written)
    ):
        written = written[:-1]
    return written


def legible(text: str) -> str:
    """Return a text; "" if too much of it are no letters.

    A PDF may say of its glyphs only which of the font's they are, or that they are letters that
    they don't look like: then no one can tell what is written there, unless it is Vietnamese.
    """
    text = text.translate(_THAI_GLYPHS) if _THAI_GLYPH.search(text) else text
    signs = len(_BLANK.sub("", text[:_EXAMINED]))
    if len(_NO_LETTERS.findall(text[:_EXAMINED])) > _UNREADABLE * signs:
        return text if font_of(text) else ""
    return text


def plain_text(body: bytes, content_type: str, most: Most, separators: str = "") -> Text:
    """Return the text of bytes in any charset; at ``separators`` an address in it ends."""
    decoded = decode(body[: most.size], content_type or None)
    text = Text(
        text=decoded.text.replace("\r\n", "\n").replace("\r", "\n"),
        decoded=decoded,
        is_cut=len(body) > most.size,
    )
    # Fonts with an encoding of their own look like no letters: lswc.language knows them.
    return text.completed(most, separators)._replace(text=text.text[: most.text])
