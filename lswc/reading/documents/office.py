"""Word, PowerPoint and Excel (ECMA-376), and OpenDocument (ISO/IEC 26300): XML in a zip file.

Libraries for them hold a whole document, and unpack all of it first. Here the few parts with text
are parsed as they are unpacked, to a bound, and nothing is held but the text.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import ZipFile

from lswc.reading.documents.packed import (
    BROKEN,
    PARTS,
    About,
    Budget,
    Enough,
    Packed,
    Part,
    local,
    path_of,
)
from lswc.reading.documents.text import DAMAGED, Reference, Text
from lswc.safety.content_types import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lswc.reading.documents.packed import ReadPart
    from lswc.reading.documents.text import Most

_DOCUMENT = "word/document.xml"
_PRESENTATION = "ppt/presentation.xml"
_WORKBOOK = "xl/workbook.xml"
_NOTES = frozenset({"footnotes", "endnotes"})
_SLIDE = re.compile(r"ppt/slides/slide(\d{0,6})\.xml")
_SHEET = re.compile(r"xl/worksheets/sheet(\d{0,6})\.xml")
_FIELD = re.compile(r"\bHYPERLINK\s+\"([^\"]{1,2000})\"")
_FORMULA = re.compile(r"\bHYPERLINK\s{0,9}\(\s{0,9}\"([^\"]{1,2000})\"", re.IGNORECASE)
_LONGEST = 2_000  # characters of a linked text
_MOST_SHARED = 1_000_000  # texts of an Excel file
_LONGEST_NUMBER = 10  # digits, of a shared text
# What says again what its alternative has said, what was moved elsewhere, or deleted, and how
# letters are read aloud.
_LEFT_OUT = frozenset({"Fallback", "moveFrom", "del", "rt"})
# Parts whose text is of a slide, a sheet or a document: diagrams, boxes, and charts.
_DRAWN = frozenset({"diagramData", "drawing", "chart"})
_NOT_SAID = frozenset({"annotation", "tracked-changes", "ruby-text"})  # of OpenDocument
_SIGNS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_WITH_ATTRIBUTES = frozenset({"lang", "vanish", "hyperlink", "fldSimple"})
_FALSE = frozenset({"0", "false", "off"})
_COMPLEX = re.compile("[\u0590-\u08ff\u0900-\u109f\u1780-\u17ff\ufb1d-\ufdff\ufe70-\ufefc]")
_EAST_ASIAN = re.compile("[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff]")


def read(
    kind: Kind,
    body: bytes,
    most: Most,
    budget: Budget | None = None,
    part: ReadPart | None = None,
) -> Text:
    """Return what a document says: as far as it is neither broken nor encrypted.

    ``part`` reads the files in it; else it is read as far as it goes without them.
    """
    try:
        with ZipFile(BytesIO(body)) as archive:
            found = _READ[kind](Packed(archive, most, budget or Budget(), part))
    except (ValueError, OverflowError, *BROKEN):
        return Text(reason=DAMAGED)
    is_nothing = found.is_cut and not found.text
    return found._replace(reason=DAMAGED if is_nothing else "").completed(most)


def _word(packed: Packed) -> Text:
    main, about = packed.main(_DOCUMENT), About()
    relations, links = packed.relations(main), packed.links(main)
    packed.parse("docProps/core.xml", about)
    folder = posixpath.dirname(main)
    chunks = {
        id_: path_of(folder, to)
        for id_, (type_, to) in relations.items() if type_ == "aFChunk"
    }  # fmt: skip
    content = _Document(packed, links, chunks)
    is_cut = packed.parse(main, content)
    for type_, to in relations.values():
        if type_ in _NOTES | _DRAWN and not is_cut:
            name = path_of(folder, to)
            content.begin_part(packed.links(name))
            is_cut |= packed.parse(name, content)
    return content.found(about, content.declared, is_cut or content.is_cut)


def _slides(packed: Packed) -> Text:
    about, content = About(), _Slides(packed.most, {})
    packed.parse("docProps/core.xml", about)
    names = packed.ordered(packed.main(_PRESENTATION), "sldId", _SLIDE)
    is_cut = len(names) > PARTS
    for name in names[:PARTS]:
        is_cut |= content.read(packed, name)
    return content.found(about, content.declared, is_cut)


def _sheets(packed: Packed) -> Text:
    about, shared = About(), _Shared(packed.most)
    packed.parse("docProps/core.xml", about)
    main = packed.main(_WORKBOOK)
    folder = posixpath.dirname(main)
    listed = dict(packed.relations(main).values())
    part = path_of(folder, listed.get("sharedStrings", "sharedStrings.xml"))
    # Some writers leave it out.
    is_cut = part in packed.archive.namelist() and packed.parse(part, shared)
    names = packed.ordered(main, "sheet", _SHEET)
    content = _Sheets(packed.most, shared.texts)
    is_cut |= len(names) > PARTS
    for name in names[:PARTS]:
        is_cut |= content.read(packed, name)
    return content.found(about, "", is_cut)


def _open(packed: Packed) -> Text:
    content, about, styles = _Open(packed.most), About(), _Styles()
    is_cut = packed.parse("content.xml", content)
    packed.parse("meta.xml", about)
    packed.parse("styles.xml", styles)
    written = {_COMPLEX: "language-complex", _EAST_ASIAN: "language-asian"}
    text = content.text[:_LONGEST]
    of_script = next((name for script, name in written.items() if script.search(text)), "language")
    return content.found(about, styles.languages.get(of_script, ""), is_cut)


_READ = {
    Kind.WORD: _word, Kind.POWERPOINT: _slides, Kind.EXCEL: _sheets, Kind.OPENDOCUMENT: _open,
}  # fmt: skip


class _Content(Part):
    """The text of a document, a paragraph a line, and its links."""

    def __init__(self, most: Most) -> None:
        self._most = most
        self._text: list[str] = []
        self._size = 0
        self._references: list[Reference] = []
        self._unread = 0
        self._link = ""
        self._link_begin = 0

    @property
    def text(self) -> str:
        """What was read so far, without blank lines."""
        return "\n".join(filter(None, map(str.strip, "".join(self._text).splitlines())))

    def found(self, about: About, declared: str, is_cut: bool) -> Text:
        """Return what was read, and what else is said of it; ``declared`` is a language."""
        declared = about.language or declared
        return Text(
            title=about.title,
            text=self.text,
            lang=declared.strip().lower(),
            references=tuple(self._references),
            unread=self._unread,
            is_cut=is_cut,
        )

    def _add(self, text: str) -> None:
        self._text.append(text)
        self._size += len(text)
        if self._size > self._most.text:
            raise Enough

    def _begin_link(self, target: str) -> None:
        self._link, self._link_begin = target, len(self._text)

    def _end_link(self) -> None:
        if self._link:
            linked = " ".join("".join(self._text[self._link_begin :])[:_LONGEST].split())
            self._refer(self._link, linked)
            self._link = ""

    def _refer(self, target: str, text: str = "") -> None:
        if len(self._references) < self._most.links:
            self._references.append(Reference(target, text))
        else:
            self._unread += 1


class _Word(_Content):
    """The main part of a Word document: WordprocessingML (ECMA-376-1 §17)."""

    def __init__(self, most: Most, links: Mapping[str, str]) -> None:
        super().__init__(most)
        self.tags: Counter[str] = Counter()
        self._links = links
        self._within = ""
        self._left_out = 0
        self._is_hidden = False
        self._run: dict[str, str] = {}
        self._field = ""
        self._outside: list[bool] = []  # of text boxes: whether it is hidden
        self._is_placeholder = False
        self._controls: list[bool] = []  # for contents: whether they show what to fill in

    @property
    def declared(self) -> str:
        """The language that is declared of most letters."""
        return next((tag for tag, _ in self.tags.most_common(1)), "")

    def begin_part(self, links: Mapping[str, str]) -> None:
        """Go on with another part, which has links of its own."""
        self._links, self._within, self._field = links, "", ""
        self._left_out, self._is_hidden, self._is_placeholder = 0, False, False
        self._outside, self._controls = [], []

    def read(self, packed: Packed, name: str) -> bool:
        """Take a part and what is drawn on it; return whether that isn't all that there was."""
        relations = packed.relations(name).values()
        for target in (to for type_, to in relations if type_ == "hyperlink"):
            self._refer(target)
        is_cut = packed.parse(name, self)
        for to in (to for type_, to in relations if type_ in _DRAWN):
            drawn = path_of(posixpath.dirname(name), to)
            self.begin_part(packed.links(drawn))
            is_cut |= packed.parse(drawn, self)
        return is_cut

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = local(tag)
        self._within = name
        if name in _LEFT_OUT:
            self._left_out += 1
        elif name == "r":
            self._run, self._is_hidden = {}, False
        elif name == "txbxContent":
            self._outside.append(self._is_hidden)
            self._add("\n")
        elif name == "showingPlcHdr":
            self._is_placeholder = True
        elif name == "sdtContent":
            self._left_out += self._is_placeholder
            self._controls.append(self._is_placeholder)
            self._is_placeholder = False
        elif name in _SIGNS:
            self._say(_SIGNS[name])
        elif name in _WITH_ATTRIBUTES:
            self._take(name, {local(key): value for key, value in attributes.items()})

    def _take(self, name: str, of: dict[str, str]) -> None:
        if name == "lang":
            self._run = of
        elif name == "vanish":
            self._is_hidden = of.get("val", "true") not in _FALSE
        elif name == "hyperlink":
            self._begin_link(self._links.get(of.get("id", ""), ""))
        elif name == "fldSimple":
            self._refer_field(of.get("instr", ""))

    def end(self, tag: str) -> None:
        name = local(tag)
        self._within = ""
        if name in _LEFT_OUT:
            self._left_out -= 1
        elif name == "r":
            self._is_hidden = False
        elif name == "p":
            self._add("\n")
            self._is_hidden = False  # of its mark
            self._refer_field(self._field)
            self._field = ""
        elif name == "pPr":
            self._is_hidden = False
        elif name == "txbxContent" and self._outside:
            self._is_hidden = self._outside.pop()
        elif name == "sdtContent" and self._controls:
            self._left_out -= self._controls.pop()
        elif name == "hyperlink":
            self._end_link()

    def data(self, data: str) -> None:
        if self._within == "t":
            self._say(data)
            self._count(data)
        elif self._within == "instrText" and len(self._field) < _LONGEST:
            self._field += data

    def _say(self, text: str) -> None:
        if not (self._left_out or self._is_hidden):
            self._add(text)

    def _refer_field(self, instructions: str) -> None:
        for target in _FIELD.findall(instructions[: 2 * _LONGEST]):
            self._refer(target)

    def _count(self, text: str) -> None:
        """Count the language that a run declares for the script it is in (§17.3.2.20)."""
        of_script = "val"
        if _COMPLEX.search(text):
            of_script = "bidi"
        elif _EAST_ASIAN.search(text):
            of_script = "eastAsia"
        if tag := self._run.get(of_script):
            self.tags[tag] += len(text)


class _Document(_Word):
    """A Word document with the files in it, whose text stands where they do (§17.17.2)."""

    def __init__(self, packed: Packed, links: Mapping[str, str], chunks: Mapping[str, str]) -> None:
        super().__init__(packed.most, links)
        self.is_cut = False
        self._packed, self._chunks = packed, chunks

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        super().start(tag, attributes)
        if local(tag) == "altChunk":
            ids = (value for key, value in attributes.items() if local(key) == "id")
            if name := self._chunks.get(next(ids, "")):
                self._say_all(name)

    def _say_all(self, name: str) -> None:
        packed = self._packed
        if packed.part is None or packed.budget.is_used:
            self.is_cut = True
            return
        try:
            with packed.archive.open(name) as part:
                content = b"".join(packed.budget.pieces(part))
        except (KeyError, *BROKEN):
            self.is_cut = True
            return
        found = packed.part(content, name, packed.most, packed.budget)
        self.is_cut |= found.is_cut
        self._say(f"{found.text}\n")
        for reference in found.references:
            self._refer(*reference)


class _Slides(_Word):
    """The slides of a PowerPoint file: DrawingML (§21.1.2)."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        super().start(tag, attributes)
        if local(tag) == "rPr" and (lang := attributes.get("lang")):
            self._run = dict.fromkeys(("val", "bidi", "eastAsia"), lang)


class _Shared(_Content):
    """The texts that the cells of an Excel file share, by their numbers (§18.4.8)."""

    def __init__(self, most: Most) -> None:
        super().__init__(most)
        self.texts: list[str] = []
        self._sounds = 0
        self._within = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._within = local(tag)
        self._sounds += self._within == "rPh"  # how a text is read aloud

    def end(self, tag: str) -> None:
        name = local(tag)
        self._within = ""
        self._sounds -= name == "rPh"
        if name == "si":
            self.texts.append("".join(self._text))
            self._text = []
            if len(self.texts) > _MOST_SHARED:
                raise Enough

    def data(self, data: str) -> None:
        if self._within == "t" and not self._sounds:
            self._text.append(data)


class _Sheets(_Word):
    """The texts of an Excel file, in the order of its cells (§18.3.1.4): shared, or their own."""

    def __init__(self, most: Most, shared: list[str]) -> None:
        super().__init__(most, {})
        self._shared = shared
        self._sounds = 0
        self._type = ""  # of a cell
        self._value = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        super().start(tag, attributes)
        name = local(tag)
        self._sounds += name == "rPh"
        if name == "c":
            self._type, self._value = attributes.get("t", ""), ""

    def end(self, tag: str) -> None:
        super().end(tag)
        name = local(tag)
        self._sounds -= name == "rPh"
        if name == "v" and self._type == "s":
            number = self._value.strip()
            if number.isdecimal() and len(number) < _LONGEST_NUMBER:
                self._add("".join(self._shared[int(number) : int(number) + 1]) + "\n")
        elif name == "is" or (name == "v" and self._type == "str"):
            self._add("\n")
        elif name == "f":
            for target in _FORMULA.findall(self._field[: 2 * _LONGEST]):
                self._refer(target)
            self._field = ""

    def data(self, data: str) -> None:
        if self._within == "v" and self._type == "str":
            self._add(data)
        elif self._within == "f" and len(self._field) < _LONGEST:
            self._field += data
        elif self._within == "v" and len(self._value) < _LONGEST_NUMBER:
            self._value += data
        elif not self._sounds:
            super().data(data)


class _Open(_Content):
    """The content of an OpenDocument file."""

    def __init__(self, most: Most) -> None:
        super().__init__(most)
        self._depth = 0  # of paragraphs
        self._left_out = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = local(tag)
        if name in _NOT_SAID:
            self._left_out += 1
        elif name in ("p", "h"):
            self._depth += 1
        elif name in ("s", "tab", "line-break"):
            self._add("\n" if name == "line-break" else " ")
        elif name == "a":
            of = {local(key): value for key, value in attributes.items()}
            self._begin_link(of.get("href", ""))

    def end(self, tag: str) -> None:
        name = local(tag)
        if name in _NOT_SAID:
            self._left_out -= 1
        elif name in ("p", "h"):
            self._depth -= 1
            self._add("\n")
        elif name == "a":
            self._end_link()

    def data(self, data: str) -> None:
        if self._depth and not self._left_out:
            self._add(data)


class _Styles(Part):
    """The languages of an OpenDocument file's default style, by the script of the text."""

    def __init__(self) -> None:
        self.languages: dict[str, str] = {}
        self._is_default = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = local(tag)
        if name == "default-style":
            self._is_default = True
        elif name == "text-properties" and self._is_default:
            of = {local(key): value for key, value in attributes.items()}
            for key in ("language", "language-complex", "language-asian"):
                if of.get(key, "none") != "none":
                    self.languages.setdefault(key, of[key])

    def end(self, tag: str) -> None:
        if local(tag) == "default-style":
            self._is_default = False
