"""XML in a zip file (ECMA-376-2), as far as it is wanted: the parts of a document, as unpacked."""

from __future__ import annotations

import posixpath
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, NamedTuple
from zipfile import BadZipFile, ZipFile

from lxml import etree

from lswc.reading.documents.deadline import Deadline

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Mapping

    from lswc.reading.documents.text import Most, Text

MAX_UNPACKED = 50_000_000
"""Bytes of a document that are unpacked."""

PARTS = 2_000
"""Slides, or sheets, of which something is read."""

_PIECE = 65_536
_LONGEST = 2_000  # characters of a title

# A part that is packed in a way unknown, or encrypted, is a NotImplementedError or RuntimeError.
BROKEN = (etree.LxmlError, BadZipFile, EOFError, OSError, RuntimeError, zlib.error)


class Enough(Exception):
    """As much was read as is wanted."""


class _Refused(Exception):
    """A part isn't read further."""


class Part:
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
    deadline: Deadline = field(default_factory=Deadline)

    def pieces(self, part: IO[bytes]) -> Iterator[bytes]:
        """Yield a part as it is unpacked, until the budget is used up."""
        while not self.is_used and (piece := part.read(_PIECE)):
            self.left -= len(piece)
            yield piece

    @property
    def is_used(self) -> bool:
        """Whether no more may be read."""
        return self.left <= 0 or self.deadline.is_over


ReadPart = Callable[[bytes, str, "Most", Budget], "Text"]
"""Reads a file in a document: by its content, its name, and what may be read."""


class Packed(NamedTuple):
    """A document as it is packed, and what may be read of it; without ``part`` no file in it is."""

    archive: ZipFile
    most: Most
    budget: Budget
    part: ReadPart | None = None

    def parse(self, name: str, target: Part) -> bool:
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
        except (KeyError, Enough, _Refused, *BROKEN):
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

    def main(self, usual: str) -> str:
        """Return the name of the main part, as the package says it; else the usual one."""
        package = self.relations("").values()
        named = next((to for type_, to in package if type_ == "officeDocument"), usual)
        return named.lstrip("/")

    def ordered(self, main: str, listed: str, pattern: re.Pattern[str]) -> list[str]:
        """Return the parts that elements of a name list in the main part, in that order.

        Those that it hides are none of them. If it lists none: what a pattern finds, by its number.
        """
        order = _Order(listed)
        self.parse(main, order)
        relations, folder = self.relations(main), posixpath.dirname(main)
        targets = [relations[id_][1] for id_ in order.ids if id_ in relations]
        if targets or (order.listed and not order.ids):
            return list(dict.fromkeys(path_of(folder, target) for target in targets))
        found = {name: pattern.fullmatch(name) for name in self.archive.namelist()}
        numbers = {name: int(match[1] or 0) for name, match in found.items() if match}
        return sorted(numbers, key=numbers.__getitem__)


def path_of(folder: str, target: str) -> str:
    """Return the name of the part that a relationship leads to (ECMA-376-2 §6.2.2)."""
    return posixpath.normpath(posixpath.join("/", folder, target))[1:]


def local(tag: str) -> str:
    return tag.rpartition("}")[2]


class _Relations(Part):
    """The relationships of a part, by their ids: type and target (ECMA-376-2 §6.5.3)."""

    def __init__(self) -> None:
        self.of: dict[str, tuple[str, str]] = {}

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if local(tag) == "Relationship" and len(self.of) < 10_000:
            type_ = attributes.get("Type", "").rpartition("/")[2]
            self.of[attributes.get("Id", "")] = type_, attributes.get("Target", "")


class _Order(Part):
    """The ids of the slides, or sheets, that a main part lists and shows (§19.2.1.33, §18.2.19)."""

    def __init__(self, name: str) -> None:
        self.ids: list[str] = []
        self.listed = 0
        self._name = name

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if local(tag) != self._name:
            return
        self.listed += 1
        if "hidden" not in attributes.get("state", "").lower() and len(self.ids) <= PARTS:
            self.ids += (value for key, value in attributes.items() if key.endswith("}id"))


class About(Part):
    """The title and the language in a document's metadata (Dublin Core)."""

    def __init__(self) -> None:
        self.title = self.language = ""
        self._within = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._within = local(tag)

    def end(self, tag: str) -> None:
        self._within = ""

    def data(self, data: str) -> None:
        if self._within == "title" and len(self.title) < _LONGEST:
            self.title += data
        elif self._within == "language" and len(self.language) < _LONGEST:
            self.language += data
