"""EPUB (EPUB 3.3, ISO/IEC 23761): pages of XHTML in a zip file, in the order of its package."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from io import BytesIO
from typing import TYPE_CHECKING
from urllib.parse import unquote
from zipfile import ZipFile

from lxml import etree

from lswc.language.charset import decode
from lswc.language.xhtml import as_html
from lswc.reading.documents import markup
from lswc.reading.documents.packed import BROKEN, Budget
from lswc.reading.documents.text import DAMAGED, Reference, Text
from lswc.safety.content_types import has_other_signature

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lswc.reading.documents.text import Most

PAGES = 2_000
"""Pages of a book of which something is read."""

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_TYPE = "application/xhtml+xml"
_MAX_PACKAGE = 5_000_000  # bytes of XML that is held as a tree
_XML = {"no_network": True, "load_dtd": False, "resolve_entities": False, "huge_tree": False}


def read(body: bytes, most: Most) -> Text:
    """Return what a book says: as far as it is neither broken nor encrypted."""
    try:
        with ZipFile(BytesIO(body)) as archive:
            return _book(archive, most, Budget()).completed(most)
    except (KeyError, ValueError, OverflowError, *BROKEN):
        return Text(reason=DAMAGED)


def _book(archive: ZipFile, most: Most, budget: Budget) -> Text:
    root = _parsed(archive, _CONTAINER, budget).find(".//{*}rootfile")
    package = "" if root is None else root.get("full-path", "")
    about = _parsed(archive, package, budget)
    order = list(dict.fromkeys(_order(about, posixpath.dirname(package))))
    encrypted = _encrypted(archive, budget)
    names = {_spelled(name): name for name in archive.namelist()}
    texts: list[str] = []
    references: list[Reference] = []
    size, unread, is_cut = 0, 0, len(order) > PAGES
    for name in order[:PAGES]:
        if size > most.text or budget.is_used:
            is_cut = True
            break
        if name in encrypted:
            is_cut = True
            continue
        page = _page(_part(archive, names.get(_spelled(name), name), budget), most)
        texts.append(page.text)
        size += len(page.text)
        references += page.references
        unread += page.unread
        is_cut |= page.is_cut
    return Text(
        title=_said(about, "title"),
        text="\n".join(filter(None, texts)),
        lang=_said(about, "language").lower(),
        references=tuple(references[: most.links]),
        unread=unread + max(0, len(references) - most.links),
        is_cut=is_cut or budget.is_used,
    )


def _order(about: etree._Element, folder: str) -> Iterator[str]:
    """Yield the names of a book's pages; each of a type that has text."""
    files = {one.get("id"): one for one in about.iter("{*}item")}
    for reference in about.iter("{*}itemref"):
        item = files.get(reference.get("idref"))
        if item is not None and not item.get("media-type", "").startswith(("image/", "audio/")):
            name = unquote(re.split("[?#]", item.get("href", ""))[0])
            if name:
                yield posixpath.normpath(posixpath.join(folder, name))


def _spelled(name: str) -> str:
    """Return a name of a part as it is compared: writers spell it otherwise in a reference."""
    plain = unquote(name).replace("\\", "/").lstrip("/")
    return unicodedata.normalize("NFC", plain).casefold()


def _encrypted(archive: ZipFile, budget: Budget) -> frozenset[str]:
    """Return the names of the parts that a key is needed for (EPUB 3.3 §4.2.6.3.2)."""
    if _ENCRYPTION not in archive.namelist():
        return frozenset()
    found = _parsed(archive, _ENCRYPTION, budget).iter("{*}CipherReference")
    return frozenset(posixpath.normpath(unquote(one.get("URI", ""))) for one in found)


def _page(content: bytes, most: Most) -> Text:
    if has_other_signature(content):
        return Text()
    return markup.read(as_html(decode(content, _TYPE).text.encode("utf-8", "replace")), most)


def _part(archive: ZipFile, name: str, budget: Budget) -> bytes:
    """Return a part, as far as the budget goes; b"" if the book hasn't it."""
    try:
        with archive.open(name) as part:
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
