"""Paragraphs of a page that are its own text, told from menus without counting words.

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
    from collections.abc import Sequence

    from selectolax.lexbor import LexborNode

LONG = 60
"""Letters from which on a block with few links is text by itself."""
SHORT = 15
"""Letters below which a block is text only among text."""
LONG_LINKED = 120
"""Letters from which on a block that lies in a link with all it has is text, set aside: no
headline has as many."""
MOST_LINKED = 0.4
"""Share of a block's letters in links above which it is a menu."""
LEAST_ASIDE = 0.75
"""Share of a page's letters that it sets aside above which they are its text."""

_BOUNDS = Bounds(tags=50_000)  # there is more time than in a crawl

_SKIPPED = [
    "script", "style", "template", "noscript", "svg", "math", "iframe", "object", "canvas",
    "nav", "footer", "select", "button", "textarea", "dialog",
    "[hidden]:not(main):not(article):not(section):not(div)",
    "[role=navigation]", "[role=banner]", "[role=contentinfo]",
]  # fmt: skip
_FORMS = "form,[role=search]"
# What a wall that asks for consent hides may be all that a page says.
_ASIDES = (
    "aside,[aria-hidden=true],[role=complementary],"
    "main[hidden],article[hidden],section[hidden],div[hidden]"
)
_LICENCE = (
    "a[rel~=license][href], link[rel~=license][href], area[rel~=license][href],"
    " a[href*='//creativecommons.org/licenses/'], a[href*='//creativecommons.org/publicdomain/']"
)
_PREFORMATTED = frozenset({"pre", "listing", "xmp"})
_BLOCKS = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details",
        "dir",
        "div", "dl", "dt", "fieldset", "figcaption", "figure", "form", "frameset", "h1", "h2", "h3",
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
    """A run of text between two block elements.

    ``letters`` are weighed, and so are those ``linked``: in links, and in labels of controls.
    ``is_aside`` says that the page sets it aside, hides it from readers of screens, or has a link
    around it.
    """

    text: str
    kind: Kind
    letters: float
    linked: float
    is_aside: bool = False

    @property
    def is_menu(self) -> bool:
        """Whether most of it leads elsewhere."""
        return self.linked > MOST_LINKED * self.letters

    @property
    def is_text(self) -> bool:
        """Whether it is text by itself, whatever is beside it."""
        return self.letters >= LONG and not self.is_menu


class Text(NamedTuple):
    """A page's title, its blocks of text in order, and the licence that it states.

    ``quality`` is that of a PDF's text, and ``is_cut`` says that a document has more than was read
    (``lswc.reading.documents.text``).
    """

    title: str
    blocks: list[Block]
    licence: str | None
    quality: float | None = None
    is_cut: bool = False


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
    return Text(name, _without_asides(_Blocks(tree).read(root)) if root else [], licence)


def _without_asides(found: list[Block]) -> list[Block]:
    """Return the blocks without what is set aside, unless nearly all of a page's text is there."""
    texts = [block for block in found if block.is_text]
    aside = sum(block.letters for block in texts if block.is_aside)
    if aside > LEAST_ASIDE * sum(block.letters for block in texts):
        return found
    return [block for block in found if not block.is_aside]


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
    sure = [block.is_text for block in found]
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


class _Box(NamedTuple):
    """A form or an aside, and what there was when it began: blocks, those that are text, pieces.

    ``in_line`` says that a block had begun before it, ``ends`` how often one had ended.
    """

    is_aside: bool
    in_line: bool
    ends: int
    found: int
    sure: int
    pieces: int
    linked: int


class _Blocks:
    """Walks a page once, without recursion: hostile pages nest thousands deep.

    A form may hold all of a page's text, or a search box; what is hidden from readers of screens
    may be a sign drawn with letters. Such is kept if a block in it is text by itself.
    """

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._asides = {node.mem_id for node in tree.css(_ASIDES)}
        self._boxes = self._asides | {node.mem_id for node in tree.css(_FORMS)}
        self._begun: list[_Box] = []
        self._within = 0
        self._found: list[Block] = []
        self._sure = 0
        self._pieces: list[str] = []
        self._linked: list[str] = []
        self._links = self._blocks_linked = 0
        self._heading = False
        self._preformatted = 0
        self._breaks = 0
        self._is_blank = True
        self._ends = 0

    def read(self, root: LexborNode) -> list[Block]:
        """Return the blocks below a node."""
        end, leaving = root.mem_id, False
        node: LexborNode | None = root
        while node is not None:
            if not leaving:
                self._enter(node)
                if node.child is not None:
                    node = node.child
                    continue
            self._leave(node)
            if node.mem_id == end:
                break
            leaving = node.next is None
            node = node.parent if leaving else node.next
        self._end()
        return self._found

    def _enter(self, node: LexborNode) -> None:
        tag = node.tag
        if tag == "-text":
            self._add(node.text_content or "")
            return
        if tag in _BLOCKS:
            self._border()
            self._heading = tag in _HEADINGS
            self._preformatted += tag in _PREFORMATTED
            self._blocks_linked += self._links > 0
        elif _leads(node):
            self._links += 1
        elif tag == "br" and self._preformatted:
            self._pieces.append("\n")
        elif tag == "br":
            self._breaks += 1
            self._pieces.append(" ")
            if self._breaks > 1:
                self._end()
        if node.mem_id in self._boxes:
            self._begin_box(node.mem_id in self._asides)

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag
        if tag in _BLOCKS:
            if tag in _PREFORMATTED:
                self._end()
                self._preformatted -= 1
            else:
                self._border()
                self._heading = False
            self._blocks_linked -= self._links > 0
        elif _leads(node):
            self._links -= 1
        if node.mem_id in self._boxes:
            self._end_box(self._begun.pop())

    def _begin_box(self, is_aside: bool) -> None:
        in_line = not self._is_blank
        sizes = len(self._found), self._sure, len(self._pieces), len(self._linked)
        box = _Box(is_aside and not in_line, in_line, self._ends, *sizes)
        self._begun.append(box)
        self._within += box.is_aside

    def _end_box(self, box: _Box) -> None:
        """Drop what is in a form or an aside, unless there is text in it."""
        self._within -= box.is_aside
        has_blocks = self._ends > box.ends
        if self._sure > box.sure or (has_blocks and box.in_line):
            return
        del self._found[box.found :]
        pieces, linked = (0, 0) if has_blocks else (box.pieces, box.linked)
        letters = weight("".join(self._pieces[pieces:]))
        if Block("", "text", letters, weight("".join(self._linked[linked:]))).is_text:
            self._sure += 1
        else:
            del self._pieces[pieces:], self._linked[linked:]

    def _border(self) -> None:
        """End the block; within preformatted text, where each line may be one, the line."""
        if not self._preformatted:
            self._end()
        elif self._pieces and not self._pieces[-1].endswith("\n"):
            self._pieces.append("\n")

    def _add(self, text: str) -> None:
        if text.strip():
            self._breaks, self._is_blank = 0, False
            if self._links:
                self._linked.append(text)
        self._pieces.append(text)

    def _end(self) -> None:
        written = "".join(self._pieces)
        kind: Kind = "heading" if self._heading else "text"
        if self._preformatted:
            kind = "preformatted"
            text = "\n".join(line.rstrip() for line in written.splitlines()).strip("\n")
        else:
            text = " ".join(written.split())
        if text:
            letters, linked = weight(text), weight("".join(self._linked))
            is_aside = self._within > 0
            if self._blocks_linked and kind == "text" and letters >= LONG_LINKED:
                linked, is_aside = 0.0, True  # the link is around an article's first lines
            block = Block(text, kind, letters, linked, is_aside)
            self._found.append(block)
            self._sure += block.is_text
        self._pieces, self._linked, self._breaks = [], [], 0
        self._is_blank = True
        self._ends += 1


def _leads(node: LexborNode) -> bool:
    """Tell whether an element's text names a page, or a control; a target of links names none."""
    tag = node.tag
    return tag == "label" or (tag == "a" and "href" in node.attributes)
