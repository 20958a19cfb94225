"""Word (.docx, ECMA-376) and OpenDocument (ISO/IEC 26300): XML in a zip file.

Libraries for them hold a whole document, and unpack all of it first. Here the few parts with text
are parsed as they are unpacked, to a bound, and nothing is held but the text.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from io import BytesIO
from time import monotonic
from typing import TYPE_CHECKING
from zipfile import BadZipFile, ZipFile

from lxml import etree

from lswc.reading.documents.text import Reference, Text
from lswc.safety.content_types import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lswc.reading.documents.text import Most

MAX_PART = 50_000_000
"""Bytes of a part that are unpacked."""

SECONDS = 5.0
"""After so many no more of a part is read."""

_PIECE = 65_536
_MAIN = "word/document.xml"
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


def read(kind: Kind, body: bytes, most: Most) -> Text:
    """Return what a document says: as far as it is neither broken nor encrypted."""
    try:
        with ZipFile(BytesIO(body)) as archive:
            found = _word(archive, most) if kind is Kind.WORD else _open(archive, most)
    except (ValueError, OverflowError, *_BROKEN):
        return Text()
    return found.completed(most)


def _word(archive: ZipFile, most: Most) -> Text:
    package = _Relations()
    _parse(archive, "_rels/.rels", package)
    main = next((t for type_, t in package.of.values() if type_ == "officeDocument"), _MAIN)
    main = main.lstrip("/")
    folder, _, name = main.rpartition("/")
    relations, about = _Relations(), _About()
    _parse(archive, f"{folder}/_rels/{name}.rels", relations)
    _parse(archive, "docProps/core.xml", about)
    links = {id_: to for id_, (type_, to) in relations.of.items() if type_ == "hyperlink"}
    content = _Word(most, links)
    is_cut = _parse(archive, main, content)
    declared = next((tag for tag, _ in content.tags.most_common(1)), "")
    return content.found(about, declared, is_cut)


def _open(archive: ZipFile, most: Most) -> Text:
    content, about, styles = _Open(most), _About(), _Styles()
    is_cut = _parse(archive, "content.xml", content)
    _parse(archive, "meta.xml", about)
    _parse(archive, "styles.xml", styles)
    written = {_COMPLEX: "language-complex", _EAST_ASIAN: "language-asian"}
    text = content.text[:_LONGEST]
    of_script = next((name for script, name in written.items() if script.search(text)), "language")
    return content.found(about, styles.languages.get(of_script, ""), is_cut)


def _parse(archive: ZipFile, name: str, target: _Part) -> bool:
    """Let lxml tell a target of a part; return whether that isn't all that there was."""
    parser = etree.XMLParser(
        target=target, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True,
        remove_pis=True,
    )  # fmt: skip
    left, end = MAX_PART, monotonic() + SECONDS
    try:
        with archive.open(name) as part:
            while left > 0 and monotonic() < end and (piece := part.read(_PIECE)):
                left -= len(piece)
                parser.feed(piece)
        is_cut = left <= 0 or monotonic() >= end
        if not is_cut:
            parser.close()
    except (KeyError, _Enough, _Refused, *_BROKEN):
        return True
    return is_cut


# A part that is packed in a way unknown, or encrypted, is a NotImplementedError or RuntimeError.
_BROKEN = (etree.LxmlError, BadZipFile, EOFError, OSError, RuntimeError, zlib.error)


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
