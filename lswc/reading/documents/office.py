"""Word, PowerPoint and Excel (ECMA-376), and OpenDocument (ISO/IEC 26300): XML in a zip file.

Libraries for them hold a whole document, and unpack all of it first. Here the few parts with text
are parsed as they are unpacked, to a bound, and nothing is held but the text.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from dataclasses import dataclass, field
from io import BytesIO
from time import monotonic
from typing import IO, TYPE_CHECKING, NamedTuple
from zipfile import BadZipFile, ZipFile

from lxml import etree

from lswc.reading.documents.text import Reference, Text
from lswc.safety.content_types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lswc.reading.documents.text import Most

MAX_UNPACKED = 50_000_000
"""Bytes of a document that are unpacked."""

SECONDS = 5.0
"""After so many no more of a document is read."""

PARTS = 2_000
"""Slides, or sheets, of which something is read."""

_PIECE = 65_536
_MAIN = "word/document.xml"
_SLIDE = re.compile(r"ppt/slides/slide(\d{1,6})\.xml")
_SHEET = re.compile(r"xl/worksheets/sheet(\d{1,6})\.xml")
_FIELD = re.compile(r"\bHYPERLINK\s+\"([^\"]{1,2000})\"")
_LONGEST = 2_000  # characters of a linked text
_COMPLEX = re.compile("[\u0590-\u08ff\u0900-\u109f\u1780-\u17ff\ufb1d-\ufdff\ufe70-\ufefc]")
_EAST_ASIAN = re.compile("[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff]")


class _Enough(Exception):
    """As much was read as is wanted."""


class _Refused(Exception):
    """A part isn't read further."""


class _Part:
    """What lxml tells of a part as it parses it."""

    def doctype(self, *_: str | None) -> None:
        """Refuse what declares entities: neither format has any."""
        raise _Refused

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Take the start of an element."""

    def end(self, tag: str) -> None:
        """Take its end."""

    def data(self, data: str) -> None:
        """Take text; in pieces of any size."""

    def close(self) -> None:
        """Take the end of the part."""


@dataclass
class Budget:
    """The bytes that may still be unpacked of a document, and until when."""

    left: int = field(default_factory=lambda: MAX_UNPACKED)
    end: float = field(default_factory=lambda: monotonic() + SECONDS)

    def pieces(self, part: IO[bytes]) -> Iterator[bytes]:
        """Yield a part as it is unpacked, until the budget is used up."""
        while not self.is_used and (piece := part.read(_PIECE)):
            self.left -= len(piece)
            yield piece

    @property
    def is_used(self) -> bool:
        """Whether no more may be read."""
        return self.left <= 0 or monotonic() >= self.end


class _Packed(NamedTuple):
    """A document as it is packed, and what may be read of it."""

    archive: ZipFile
    most: Most
    budget: Budget

    def parse(self, name: str, target: _Part) -> bool:
        """Let lxml tell a target of a part; return whether that isn't all that there was."""
        parser = etree.XMLParser(
            target=target, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True,
            remove_pis=True,
        )  # fmt: skip
        try:
            with self.archive.open(name) as part:
                for piece in self.budget.pieces(part):
                    parser.feed(piece)
            if not self.budget.is_used:
                parser.close()
        except (KeyError, _Enough, _Refused, *BROKEN):
            return True
        return self.budget.is_used

    def relations(self, name: str) -> dict[str, tuple[str, str]]:
        """Return the relationships of a part, by their ids: type and target."""
        folder, _, last = name.rpartition("/")
        found = _Relations()
        self.parse(f"{folder}/_rels/{last}.rels".lstrip("/"), found)
        return found.of

    def links(self, name: str) -> dict[str, str]:
        """Return what a part links to, by the ids of the relationships."""
        found = self.relations(name)
        return {id_: to for id_, (type_, to) in found.items() if type_ == "hyperlink"}

    def numbered(self, pattern: re.Pattern[str]) -> list[str]:
        """Return the names of parts that a pattern finds, by their number there."""
        found = {name: pattern.fullmatch(name) for name in self.archive.namelist()}
        numbers = {name: int(match[1]) for name, match in found.items() if match}
        return sorted(numbers, key=numbers.__getitem__)[:PARTS]


def read(kind: Kind, body: bytes, most: Most) -> Text:
    """Return what a document says: as far as it is neither broken nor encrypted."""
    try:
        with ZipFile(BytesIO(body)) as archive:
            found = _READ[kind](_Packed(archive, most, Budget()))
    except (ValueError, OverflowError, *BROKEN):
        return Text()
    return found.completed(most)


def _word(packed: _Packed) -> Text:
    package = packed.relations("")
    main = next((t for type_, t in package.values() if type_ == "officeDocument"), _MAIN)
    main, about = main.lstrip("/"), _About()
    links = packed.links(main)
    packed.parse("docProps/core.xml", about)
    content = _Word(packed.most, links)
    is_cut = packed.parse(main, content)
    return content.found(about, content.declared, is_cut)


def _slides(packed: _Packed) -> Text:
    about, content = _About(), _Slides(packed.most, {})
    packed.parse("docProps/core.xml", about)
    is_cut = False
    for name in packed.numbered(_SLIDE):
        content.link_all(packed.links(name))
        is_cut |= packed.parse(name, content)
    return content.found(about, content.declared, is_cut)


def _sheets(packed: _Packed) -> Text:
    about, content = _About(), _Sheets(packed.most, {})
    packed.parse("docProps/core.xml", about)
    shared = "xl/sharedStrings.xml"  # which some writers leave out
    is_cut = shared in packed.archive.namelist() and packed.parse(shared, content)
    for name in packed.numbered(_SHEET):
        content.link_all(packed.links(name))
        is_cut |= packed.parse(name, content)
    return content.found(about, "", is_cut)


def _open(packed: _Packed) -> Text:
    content, about, styles = _Open(packed.most), _About(), _Styles()
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

# A part that is packed in a way unknown, or encrypted, is a NotImplementedError or RuntimeError.
BROKEN = (etree.LxmlError, BadZipFile, EOFError, OSError, RuntimeError, zlib.error)


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


class _Relations(_Part):
    """The relationships of a part, by their ids: type and target (ECMA-376-2 §6.5.3)."""

    def __init__(self) -> None:
        self.of: dict[str, tuple[str, str]] = {}

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if _local(tag) == "Relationship" and len(self.of) < 10_000:
            type_ = attributes.get("Type", "").rpartition("/")[2]
            self.of[attributes.get("Id", "")] = type_, attributes.get("Target", "")


class _About(_Part):
    """The title and the language in a document's metadata (Dublin Core)."""

    def __init__(self) -> None:
        self.title = self.language = ""
        self._within = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._within = _local(tag)

    def end(self, tag: str) -> None:
        self._within = ""

    def data(self, data: str) -> None:
        if self._within == "title" and len(self.title) < _LONGEST:
            self.title += data
        elif self._within == "language" and len(self.language) < _LONGEST:
            self.language += data


class _Content(_Part):
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

    def found(self, about: _About, declared: str, is_cut: bool) -> Text:
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
            raise _Enough

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
        self._fallback = 0
        self._run: dict[str, str] = {}
        self._field = ""

    @property
    def declared(self) -> str:
        """The language that is declared of most letters."""
        return next((tag for tag, _ in self.tags.most_common(1)), "")

    def link_all(self, links: Mapping[str, str]) -> None:
        """Take the links of a part."""
        for target in links.values():
            self._refer(target)

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = _local(tag)
        self._within = name
        if name == "Fallback":  # says again what its alternative has said
            self._fallback += 1
        elif name == "r":
            self._run = {}
        elif name == "lang":
            self._run = {_local(key): value for key, value in attributes.items()}
        elif name in ("tab", "br", "cr"):
            self._add("\t" if name == "tab" else "\n")
        elif name == "hyperlink":
            of = {_local(key): value for key, value in attributes.items()}
            self._begin_link(self._links.get(of.get("id", ""), ""))
        elif name == "fldSimple":
            of = {_local(key): value for key, value in attributes.items()}
            self._refer_field(of.get("instr", ""))

    def end(self, tag: str) -> None:
        name = _local(tag)
        self._within = ""
        if name == "Fallback":
            self._fallback -= 1
        elif name == "p":
            self._add("\n")
            self._refer_field(self._field)
            self._field = ""
        elif name == "hyperlink":
            self._end_link()

    def data(self, data: str) -> None:
        if self._within == "t" and not self._fallback:
            self._add(data)
            self._count(data)
        elif self._within == "instrText" and len(self._field) < _LONGEST:
            self._field += data

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


class _Slides(_Word):
    """The slides of a PowerPoint file: DrawingML (§21.1.2)."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        super().start(tag, attributes)
        if _local(tag) == "rPr" and (lang := attributes.get("lang")):
            self._run = dict.fromkeys(("val", "bidi", "eastAsia"), lang)


class _Sheets(_Word):
    """The texts of an Excel file: shared, in their cells, or of formulas (§18.4.8, §18.3.1)."""

    _sounds = 0
    _is_text = False  # of a cell, what its formula gives

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        super().start(tag, attributes)
        name = _local(tag)
        self._sounds += name == "rPh"  # how a text is read aloud
        if name == "c":
            self._is_text = attributes.get("t") == "str"

    def end(self, tag: str) -> None:
        super().end(tag)
        name = _local(tag)
        self._sounds -= name == "rPh"
        if name in ("si", "is") or (name == "v" and self._is_text):
            self._add("\n")

    def data(self, data: str) -> None:
        if self._within == "v" and self._is_text:
            self._add(data)
        elif not self._sounds:
            super().data(data)


class _Open(_Content):
    """The content of an OpenDocument file."""

    def __init__(self, most: Most) -> None:
        super().__init__(most)
        self._depth = 0  # of paragraphs
        self._left_out = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = _local(tag)
        if name in ("annotation", "tracked-changes"):
            self._left_out += 1
        elif name in ("p", "h"):
            self._depth += 1
        elif name in ("s", "tab", "line-break"):
            self._add("\n" if name == "line-break" else " ")
        elif name == "a":
            of = {_local(key): value for key, value in attributes.items()}
            self._begin_link(of.get("href", ""))

    def end(self, tag: str) -> None:
        name = _local(tag)
        if name in ("annotation", "tracked-changes"):
            self._left_out -= 1
        elif name in ("p", "h"):
            self._depth -= 1
            self._add("\n")
        elif name == "a":
            self._end_link()

    def data(self, data: str) -> None:
        if self._depth and not self._left_out:
            self._add(data)


class _Styles(_Part):
    """The languages of an OpenDocument file's default style, by the script of the text."""

    def __init__(self) -> None:
        self.languages: dict[str, str] = {}
        self._is_default = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = _local(tag)
        if name == "default-style":
            self._is_default = True
        elif name == "text-properties" and self._is_default:
            of = {_local(key): value for key, value in attributes.items()}
            for key in ("language", "language-complex", "language-asian"):
                if of.get(key, "none") != "none":
                    self.languages.setdefault(key, of[key])

    def end(self, tag: str) -> None:
        if _local(tag) == "default-style":
            self._is_default = False
