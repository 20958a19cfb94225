"""XML: a web directory's dump in RDF (DMOZ, Curlie), sitemaps, OPML, SPARQL results.

A sitemap (sitemaps.org, protocol 0.9) names pages in ``loc``; ``xhtml:link`` beside it names the
same page in other languages. An index of sitemaps names no page. OPML (opml.org/spec2.opml) names a
site in ``htmlUrl``, its feed in ``xmlUrl``.
"""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Generic, TypeVar
from xml.parsers import expat

from lswc.language.registry import code_of
from lswc.seeds.candidates import Candidate, SeedError
from lswc.seeds.formats.json_results import rows_of
from lswc.seeds.formats.texts import candidates
from lswc.seeds.headings import Headings
from lswc.seeds.kinds import BLOGS
from lswc.seeds.sources import LINE, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lswc.seeds.candidates import Asked

_Found = TypeVar("_Found")

_TEXT = 4096
"""Characters of a text that are kept."""
_LONGEST = 1 << 20  # bytes of a tag: expat keeps it whole

# XML's own five entities pass; any other ampersand becomes text, so no entity is ever expanded.
_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)")
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_rdf(path: Path, asked: Asked) -> Iterator[Candidate]:
    """Yield the pages of a dump in DMOZ's or Curlie's RDF (``ExternalPage``).

    Streams: memory doesn't grow with the dump. Bytes that aren't UTF-8, control characters and
    stray ampersands, which real dumps have, are mended. Raises SeedError for what isn't XML and
    for a DTD with entities.
    """
    yield from _read(path, asked, _Rdf(), "the RDF of a web directory")


def read_sitemap(path: Path, asked: Asked) -> Iterator[Candidate]:
    """Yield the pages of a sitemap, in the same way. Raises SeedError."""
    yield from _read(path, asked, _Sitemap(asked), "a sitemap")


def read_opml(path: Path, asked: Asked) -> Iterator[Candidate]:
    """Yield the sites of a list of feeds (OPML), in the same way; feeds without one are counted.

    Raises SeedError.
    """
    yield from _read(path, asked, _Opml(asked), "OPML")


def read_sparql(path: Path, asked: Asked) -> Iterator[Candidate]:
    """Yield the URLs of a query's result (SPARQL Query Results XML Format). Raises SeedError."""
    rows = _read(path, asked, _Sparql(), "the result of a query")
    yield from candidates(path, rows_of(rows), asked)


def _read(path: Path, asked: Asked, reader: _Reader[_Found], what: str) -> Iterator[_Found]:
    try:
        with opened(path, asked.say) as file:
            while line := file.readline(LINE):
                reader.feed(line.decode(errors="replace"))
                yield from reader.take()
            reader.close()
            yield from reader.take()
    except expat.ExpatError as error:
        raise SeedError(f"{path} isn't {what}: {error}") from error


class _Reader(Generic[_Found]):
    """Pushes XML through expat and collects what is found in it."""

    def __init__(self) -> None:
        self.found: list[_Found] = []
        self._text: list[str] = []
        self._length = 0
        self._pending = ""
        self._fed = 0
        self._parser = expat.ParserCreate("UTF-8")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.EntityDeclHandler = _refuse

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Hear of an element, by its local name."""

    def end(self, name: str) -> None:
        """Hear of an element's end."""

    def feed(self, line: str) -> None:
        """Read on."""
        # A line cut short may end within an entity; its last piece waits for the next one.
        line = self._pending + line
        cut = line.rfind("&", max(0, len(line) - 6)) if not line.endswith("\n") else -1
        line, self._pending = (line[:cut], line[cut:]) if cut >= 0 else (line, "")
        self._parse(line, last=False)

    def close(self) -> None:
        """Read what is left."""
        self._parse(self._pending, last=True)

    def take(self) -> list[_Found]:
        """Return what was found since the last call."""
        found, self.found = self.found, []
        return found

    def text(self) -> str:
        """Return the text since the last call, at most the first 4096 characters of it."""
        text = " ".join(unescape("".join(self._text)).split())
        self._text, self._length = [], 0
        return text

    def _parse(self, text: str, *, last: bool) -> None:
        mended = _AMPERSAND.sub("&amp;", _NOT_XML.sub(" ", text)).encode()
        self._parser.Parse(mended, last)
        self._fed += len(mended)
        if self._fed - self._parser.CurrentByteIndex > _LONGEST:
            raise SeedError("not read: it has a tag without end")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self.start(name.rpartition(":")[2], attributes)

    def _end(self, name: str) -> None:
        self.end(name.rpartition(":")[2])

    def _characters(self, text: str) -> None:
        if self._length < _TEXT:
            self._text.append(text[:_TEXT])
            self._length += len(text)


def _refuse(*_: object) -> None:
    raise SeedError("not read: it declares XML entities, which no real file does")


class _Rdf(_Reader[Candidate]):
    def __init__(self) -> None:
        super().__init__()
        self._url = ""
        self._words: list[str] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "ExternalPage":
            self._url, self._words = unescape(attributes.get("about", "")), []
        self.text()

    def end(self, name: str) -> None:
        text = self.text()
        if name in ("Title", "Description"):
            self._words.append(text)
        elif name == "ExternalPage" and self._url:
            self.found.append(Candidate(self._url, " ".join(filter(None, self._words))[:_TEXT]))
            self._url = ""


class _Sitemap(_Reader[Candidate]):
    def __init__(self, asked: Asked) -> None:
        super().__init__()
        self._passed = asked.passed
        self._in_index = False

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.text()
        if name == "sitemap":
            self._in_index = True
        elif name == "link" and (href := attributes.get("href")):
            tag = attributes.get("hreflang", "").lower()
            known = tag and tag != "x-default"
            self.found.append(Candidate(href.strip(), language=code_of(tag) if known else None))

    def end(self, name: str) -> None:
        text = self.text()
        if name == "sitemap":
            self._in_index = False
        elif name == "loc" and self._in_index:
            self._passed["another sitemap, not a page"] += 1
        elif name == "loc":
            self.found.append(Candidate(text))


class _Opml(_Reader[Candidate]):
    def __init__(self, asked: Asked) -> None:
        super().__init__()
        self._asked, self._headings, self._depth = asked, Headings(), 0

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if name != "outline":
            return
        given = {key.lower(): value for key, value in attributes.items()}
        text = given.get("text") or given.get("title", "")
        tag = given.get("language", "").strip()
        code = code_of(tag) if tag and tag.lower() not in ("unknown", "und") else None
        self._depth += 1
        url = given.get("htmlurl") or (given.get("url") if given.get("type") == "link" else "")
        if url:
            kind = self._headings.kind or BLOGS
            title = " ".join(filter(None, (text, given.get("description"))))[:_TEXT]
            self.found.append(Candidate(url.strip(), title, code, kind=kind))
        elif given.get("xmlurl"):
            self._asked.passed["feed without its site"] += 1
        else:
            self._headings.begin(self._depth, text)

    def end(self, name: str) -> None:
        self.text()
        if name == "outline":
            self._headings.end(self._depth)
            self._depth -= 1


class _Sparql(_Reader[dict[str, str]]):
    def __init__(self) -> None:
        super().__init__()
        self._row: dict[str, str] = {}
        self._variable = ""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.text()
        if name == "result":
            self._row = {}
        elif name == "binding":
            self._variable = attributes.get("name", "")

    def end(self, name: str) -> None:
        text = self.text()
        if name in ("uri", "literal") and self._variable:
            self._row[self._variable] = text
        elif name == "binding":
            self._variable = ""
        elif name == "result" and self._row:
            self.found.append(self._row)
