"""EPUB (EPUB 3.3, ISO/IEC 23761): pages of HTML in a zip file, in the order of its package."""

from __future__ import annotations

import posixpath
from io import BytesIO
from typing import TYPE_CHECKING
from urllib.parse import unquote
from zipfile import ZipFile

from lxml import etree

from lswc.language.html import Bounds, parse
from lswc.reading.documents.office import BROKEN, Budget
from lswc.reading.documents.text import Reference, Text

if TYPE_CHECKING:
    from lswc.reading.documents.text import Most

PAGES = 2_000
"""Pages of a book of which something is read."""

_CONTAINER = "META-INF/container.xml"
_INSIDE = "http://epub.invalid/"  # what a link within the book is relative to
_MAX_PACKAGE = 5_000_000  # bytes of XML that is held as a tree
_XML = {"no_network": True, "load_dtd": False, "resolve_entities": False, "huge_tree": False}


def read(body: bytes, most: Most) -> Text:
    """Return what a book says: as far as it is neither broken nor encrypted."""
    try:
        with ZipFile(BytesIO(body)) as archive:
            return _book(archive, most, Budget()).completed(most)
    except (KeyError, ValueError, OverflowError, *BROKEN):
        return Text()


def _book(archive: ZipFile, most: Most, budget: Budget) -> Text:
    root = _parsed(archive, _CONTAINER, budget).find(".//{*}rootfile")
    package = "" if root is None else root.get("full-path", "")
    about = _parsed(archive, package, budget)
    files = {one.get("id"): one.get("href", "") for one in about.iter("{*}item")}
    order = [files.get(one.get("idref"), "") for one in about.iter("{*}itemref")]
    folder, bounds = posixpath.dirname(package), Bounds(links=most.links, size=most.size)
    texts: list[str] = []
    references: list[Reference] = []
    size, is_cut = 0, len(order) > PAGES
    for name in filter(None, order[:PAGES]):
        if size > most.text or budget.is_used:
            is_cut = True
            break
        content = _part(archive, posixpath.join(folder, unquote(name)), budget)
        page = parse(content, _INSIDE, bounds=bounds)
        texts.append(page.content)
        size += len(page.content)
        outside = (link for link in page.links if not link.url.startswith(_INSIDE))
        references += (Reference(link.url, link.text) for link in outside)
        is_cut |= page.is_cut
    return Text(
        title=_said(about, "title"),
        text="\n".join(filter(None, texts)),
        lang=_said(about, "language").lower(),
        references=tuple(references[: most.links]),
        unread=max(0, len(references) - most.links),
        is_cut=is_cut or budget.is_used,
    )


def _part(archive: ZipFile, name: str, budget: Budget) -> bytes:
    """Return a part, as far as the budget goes; b"" if the book hasn't it."""
    try:
        with archive.open(posixpath.normpath(name)) as part:
            return b"".join(budget.pieces(part))
    except KeyError:
        return b""


def _parsed(archive: ZipFile, name: str, budget: Budget) -> etree._Element:
    """Return the XML of a part. Raises LxmlError; ValueError if it is large, or has entities."""
    content = _part(archive, name, budget)
    if len(content) > _MAX_PACKAGE or b"<!ENTITY" in content:
        raise ValueError("not a package")
    return etree.fromstring(content, etree.XMLParser(**_XML))


def _said(about: etree._Element, name: str) -> str:
    found = about.find(f".//{{http://purl.org/dc/elements/1.1/}}{name}")
    return "" if found is None else (found.text or "").strip()
