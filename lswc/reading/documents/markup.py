"""HTML in a document: a book's page, or a part of a Word file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from lswc.language.html import Bounds, flattened, parse
from lswc.reading.documents.text import Reference, Text
from lswc.reading.main_text.blocks import Blocks

if TYPE_CHECKING:
    from lswc.reading.documents.text import Most

MAX_SIZE = 5_000_000
"""Bytes that are read."""

_INSIDE = "http://document.invalid/"  # what a link within the document is relative to
_NO_TEXT = ["script", "style", "template"]
_TAGS = 50_000  # chapters have more than pages of the web


def read(source: bytes, most: Most) -> Text:
    """Return what HTML in UTF-8 says, and what it links to outside of its document.

    What is linked stays: a document has no menus, but notes and cross-references in its sentences.
    """
    is_cut, source = len(source) > MAX_SIZE, source[:MAX_SIZE]
    bounds = Bounds(links=most.links, size=MAX_SIZE, tags=_TAGS)
    markup = flattened(source, bounds)
    page = parse(source, _INSIDE, bounds=bounds, bounded=markup)
    outside = [link for link in page.links if not link.url.startswith(_INSIDE)]
    tree = LexborHTMLParser(markup)
    for node in tree.css(",".join(_NO_TEXT)):
        node.decompose()
    blocks = Blocks(tree)
    if (root := tree.body or tree.root) is not None:
        blocks.read(root)
    return Text(
        title=page.title,
        text="\n".join(block.text for block in blocks.found),
        references=tuple(Reference(link.url, link.text) for link in outside),
        unread=page.unread,
        is_cut=is_cut or page.is_cut,
    )
