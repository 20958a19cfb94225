"""The paragraphs of a page that are its own text, told from menus without counting words.

Tools made for languages with spaces measure a block by its words; here a block is measured by
its letters, and by how many of them are in links. The judgement by neighbours follows jusText
(Pomikálek 2011, §3.2).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import can_ada
from selectolax.lexbor import LexborHTMLParser

from lswc.language.html import Bounds, flattened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from selectolax.lexbor import LexborNode

LONG = 60
"""Letters from which on a block with few links is text by itself."""
SHORT = 15
"""Letters below which a block is text only among text."""
MOST_LINKED = 0.4
"""Share of a block's letters in links above which it is a menu."""

_BOUNDS = Bounds(tags=50_000)  # there is more time than in a crawl

_SKIPPED = [
    "script", "style", "template", "noscript", "svg", "math", "iframe", "object", "canvas",
    "nav", "aside", "footer", "form", "select", "button", "textarea", "dialog",
    "[hidden]", "[aria-hidden=true]", "[role=navigation]", "[role=banner]",
    "[role=contentinfo]", "[role=search]", "[role=complementary]",
]  # fmt: skip
_LICENCE = (
    "a[rel~=license][href], link[rel~=license][href], area[rel~=license][href],"
    " a[href*='//creativecommons.org/licenses/'], a[href*='//creativecommons.org/publicdomain/']"
)
_PREFORMATTED = frozenset({"pre", "listing", "xmp"})
_BLOCKS = frozenset(
    {
        "address", "article", "blockquote", "body", "caption", "center", "dd", "details", "dir",
        "div", "dl", "dt", "fieldset", "figcaption", "figure", "frameset", "h1", "h2", "h3",
        "h4", "h5", "h6", "header", "hr", "html", "legend", "li", "main", "menu", "ol", "option",
        "p", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr",
        "ul", *_PREFORMATTED,
    }
)  # fmt: skip
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_DENSE = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]")
_LETTER = re.compile(r"[^\W\d_]|[\u0e30-\u0e4e\u0eb0-\u0ecd\u102b-\u103e\u17b4-\u17d3]")
_PER_DENSE = 2.5  # an ideograph, kana or Hangul syllable says as much as 2.5 letters


Kind = Literal["text", "heading", "preformatted"]
"""What a block is; preformatted text has lines."""


@dataclass(slots=True)
class Block:
    """A run of text between two block elements. ``letters`` are weighed, ``linked`` so too."""

    text: str
    kind: Kind
    letters: float
    linked: float

    @property
    def is_menu(self) -> bool:
        """Whether most of it leads elsewhere."""
        return self.linked > MOST_LINKED * self.letters


class Text(NamedTuple):
    """A page's title, its blocks of text in order, and the licence that it states."""

    title: str
    blocks: list[Block]
    licence: str | None


def weight(text: str) -> float:
    """Return how many letters a text has; those of dense scripts count 2.5."""
    return len(_LETTER.findall(text)) + (_PER_DENSE - 1) * len(_DENSE.findall(text))


def read(html: str, url: str) -> Text:
    """Return what a page says in its own words. Never fails."""
    tree = LexborHTMLParser(flattened(html.encode("utf-8", "replace"), _BOUNDS))
    title = tree.css_first("title")
    name = " ".join(title.text().split()) if title else ""
    licence = _licence(tree, url)
    for node in tree.css(",".join(_SKIPPED)):
        node.decompose()
    root = tree.body or tree.root
    return Text(name, list(_Blocks().read(root)) if root else [], licence)


def _licence(tree: LexborHTMLParser, url: str) -> str | None:
    """Return the first licence that a page links to as its own, or a Creative Commons one."""
    for node in tree.css(_LICENCE):
        try:
            return (can_ada.parse(url) + (node.attributes.get("href") or "").strip()).href
        except ValueError:
            continue
    return None


def paragraphs(found: Sequence[Block]) -> list[Block]:
    """Return the blocks that are the page's own text."""
    sure = [not b.is_menu and b.letters >= LONG for b in found]
    kept = [
        mine or (not block.is_menu and _joins(found, sure, i))
        for i, (block, mine) in enumerate(zip(found, sure, strict=True))
    ]
    return [block for block, keep in zip(found, kept, strict=True) if keep]


def _joins(found: Sequence[Block], sure: Sequence[bool], at: int) -> bool:
    """Tell whether a short block belongs to text beside it: a heading to what follows.

    An example in a text has few letters; a column of line numbers none.
    """
    block = found[at]
    after = any(sure[at + 1 : at + 3])
    if block.kind == "heading":
        return after
    before = any(sure[max(0, at - 2) : at])
    if block.kind == "preformatted":
        return block.letters > 0 and (before or after)
    return before and after if block.letters < SHORT else before or after


class _Blocks:
    """Walks a page once, without recursion: hostile pages nest thousands deep."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._linked: list[str] = []
        self._links = 0
        self._heading = False
        self._preformatted = 0
        self._breaks = 0

    def read(self, root: LexborNode) -> Iterator[Block]:
        """Yield the blocks below a node."""
        end, leaving = root.mem_id, False
        node: LexborNode | None = root
        while node is not None:
            if not leaving:
                yield from self._enter(node)
                if node.child is not None:
                    node = node.child
                    continue
            yield from self._leave(node)
            if node.mem_id == end:
                break
            leaving = node.next is None
            node = node.parent if leaving else node.next
        yield from self._end()

    def _enter(self, node: LexborNode) -> Iterator[Block]:
        tag = node.tag
        if tag == "-text":
            self._add(node.text_content or "")
        elif tag == "a":
            self._links += 1
        elif tag == "br" and self._preformatted:
            self._pieces.append("\n")
        elif tag == "br":
            self._breaks += 1
            self._pieces.append(" ")
            if self._breaks > 1:
                yield from self._end()
        elif tag in _BLOCKS:
            yield from self._border()
            self._heading = tag in _HEADINGS
            self._preformatted += tag in _PREFORMATTED

    def _leave(self, node: LexborNode) -> Iterator[Block]:
        tag = node.tag
        if tag == "a":
            self._links -= 1
        elif tag in _PREFORMATTED:
            yield from self._end()
            self._preformatted -= 1
        elif tag in _BLOCKS:
            yield from self._border()
            self._heading = False

    def _border(self) -> Iterator[Block]:
        """End the block; within preformatted text, where each line may be one, the line."""
        if not self._preformatted:
            yield from self._end()
        elif self._pieces and not self._pieces[-1].endswith("\n"):
            self._pieces.append("\n")

    def _add(self, text: str) -> None:
        if text.strip():
            self._breaks = 0
            if self._links:
                self._linked.append(text)
        self._pieces.append(text)

    def _end(self) -> Iterator[Block]:
        written = "".join(self._pieces)
        kind: Kind = "heading" if self._heading else "text"
        if self._preformatted:
            kind = "preformatted"
            text = "\n".join(line.rstrip() for line in written.splitlines()).strip("\n")
        else:
            text = " ".join(written.split())
        if text:
            yield Block(text, kind, weight(text), weight("".join(self._linked)))
        self._pieces, self._linked, self._breaks = [], [], 0
