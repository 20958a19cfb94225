"""Blocks of a page: the text between two block elements, and the elements that they lie in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from lswc.reading.main_text.characters import BREAK, lines, repaired
from lswc.reading.main_text.formulas import DRAWN, tex_of
from lswc.reading.main_text.hidden import hidden_in
from lswc.reading.main_text.marks import Mark, mark_of

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

Kind: TypeAlias = Literal[
    "text", "heading", "code", "table", "title", "caption", "comment", "links", "notice", "repeated"
]
"""What a block is. Code has lines; a table's block is a short cell; the title is that of the page
once more; ``repeated`` is on many pages of its site, or on the page already."""

MAIN: frozenset[Kind] = frozenset({"text", "heading", "code", "table"})
"""Kinds of a page's own text."""

BESIDE: dict[Mark, Kind] = {
    "comment": "comment", "links": "links", "notice": "notice", "caption": "caption",
    "hidden": "notice",
}  # fmt: skip
"""What the blocks of an element are that is marked as beside the text."""

LONG = 60
"""Letters from which on a block with few links is text by itself."""
LONG_LINKED = 120
"""Letters from which on a block that lies in a link with all it has is text, set aside: no
headline has as many."""
MOST_LINKED = 0.4
"""Share of a block's letters in links above which it is a menu."""

_FORMS = "form,[role=search]"
# What a wall that asks for consent hides may be all that a page says.
_ASIDES = (
    "aside,[aria-hidden=true],[role=complementary],"
    "main[hidden],article[hidden],section[hidden],div[hidden]"
)
_CODE = frozenset({"pre", "listing", "xmp"})
_CELLS = frozenset({"td", "th"})
_LISTS = frozenset({"ul", "ol", "menu", "dir"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_BLOCKS = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details",
        "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "form", "frameset", "header",
        "hr", "html", "legend", "li", "main", "menu", "noscript", "ol", "option", "p", "section",
        "summary", "table", "tbody", "tfoot", "thead", "tr", "ul", *_CODE, *_CELLS, *_HEADINGS,
    }
)  # fmt: skip
_READINGS = frozenset({"rt", "rp", "rtc"})
_FORMULAS = frozenset({"math", "script"})
_LETTERS_DRAWN = re.compile(
    r"(?:^|[\s_-])(?:wp-)?(?:emoji|emoticon|smiley|gaiji|twemoji)", re.IGNORECASE
)
_LONGEST_DRAWN = 16  # characters: an emoji may be a sequence of ten
_NO_ASCII_LETTER = {sign: None for sign in range(128) if not chr(sign).isalpha()}
_LETTERS = re.compile(r"(?:[^\W\d_]|[\u0e30-\u0e4e\u0eb0-\u0ecd\u102b-\u103e\u17b4-\u17d3])+")
_DENSE = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]+")
_PER_DENSE = 2.5  # an ideograph, kana or Hangul syllable says as much as 2.5 letters


@dataclass(slots=True)
class Block:
    """A run of text between two block elements.

    ``letters`` are weighed, and so are those ``linked``: in links, and in labels of controls.
    ``is_aside`` says that the page sets it aside, hides it from readers of screens, or has a link
    around it; ``is_hidden``, that it is shown to nobody. ``level`` is a heading's, from 1 on;
    ``row`` numbers the rows of all tables, 0 for what is in no cell, and ``table`` their tables.
    ``mark`` begins an item of a list, "-" or "1.", of a ``depth`` from 1 on; or a table: "|".
    """

    text: str
    kind: Kind
    letters: float
    linked: float
    is_aside: bool = False
    level: int = 0
    is_hidden: bool = False
    row: int = 0
    table: int = 0
    mark: str | None = None
    depth: int = 0

    @property
    def is_menu(self) -> bool:
        """Whether most of it leads elsewhere."""
        return self.linked > MOST_LINKED * self.letters

    @property
    def is_text(self) -> bool:
        """Whether it is text by itself, whatever is beside it."""
        return self.letters >= LONG and not self.is_menu


class Box(NamedTuple):
    """An element with blocks: those from ``begin`` to ``end``, and how it is marked.

    Elements whose ancestors have the same tags have one ``place``.
    """

    mark: Mark
    begin: int
    end: int
    place: int = 0


class _Open(NamedTuple):
    """An element that is being read, and what there was when it began."""

    node: LexborNode
    tag: str
    is_link: bool
    mark: Mark
    begin: int
    part: _Part | None
    place: int


class _Part(NamedTuple):
    """A form or an aside, and what there was when it began: blocks that are text, pieces.

    ``in_line`` says that a block had begun before it, ``ends`` how often one had ended.
    """

    is_aside: bool
    is_hidden: bool
    in_line: bool
    ends: int
    sure: int
    pieces: int
    linked: int


def weight(text: str) -> float:
    """Return how many letters a text has; those of dense scripts count 2.5."""
    if text.isascii():
        return len(text.translate(_NO_ASCII_LETTER))
    dense = sum(map(len, _DENSE.findall(text)))
    return sum(map(len, _LETTERS.findall(text))) + (_PER_DENSE - 1) * dense


def _letter_of(image: LexborNode) -> str:
    """Return the letter or emoji that an image is drawn for, "" if for none."""
    said = image.attributes
    alt = (said.get("alt") or "").strip()
    if not 0 < len(alt) <= _LONGEST_DRAWN:
        return ""
    is_sign = not any(sign.isalnum() or sign.isspace() for sign in alt) and not alt.isascii()
    return alt if is_sign or _LETTERS_DRAWN.search(said.get("class") or "") else ""


class Blocks:
    """Walks a page once, without recursion: hostile pages nest thousands deep.

    A form may hold all of a page's text, or a search box; what is hidden from readers of screens
    may be a sign drawn with letters. Such is a notice, unless a block in it is text by itself.
    """

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._asides = {node.mem_id for node in tree.css(_ASIDES)}
        self._hidden = hidden_in(tree)
        self._parts = self._asides | self._hidden | {node.mem_id for node in tree.css(_FORMS)}
        self.found: list[Block] = []
        self.boxes: list[Box] = []
        self._drawn = {node.mem_id for node in tree.css(DRAWN)}
        self._within = self._concealed = 0
        self._sure = 0
        self._pieces: list[str] = []
        self._linked: list[str] = []
        self._links = self._blocks_linked = 0
        self._level = 0
        self._code = self._cells = self._rows = self._tables = 0
        self._lists: list[int | None] = []
        self._item: str | None = None
        self._breaks = 0
        self._is_blank = True
        self._ends = 0
        self._place = 0
        self._places: dict[tuple[int, str], int] = {}

    def read(self, root: LexborNode) -> None:
        """Find the blocks below a node, and the boxes, inner ones first."""
        opened: list[_Open] = []
        node: LexborNode | None = root
        while node is not None:
            tag = node.tag or ""
            if tag == "-text":
                self._add(node.text_content or "")
                child = None
            else:
                element = self._enter(node, tag)
                child = None if self._has_no_text(node, tag) else node.child
                if child is None:
                    self._leave(element)
                else:
                    opened.append(element)
            node = child or (node.next if opened else None)
            while node is None and opened:
                element = opened.pop()
                self._leave(element)
                node = element.node.next if opened else None
        self._end()

    def _enter(self, node: LexborNode, tag: str) -> _Open:
        is_link, part, place = False, None, self._place
        mark: Mark = ""
        if tag in _BLOCKS:
            self._border()
            mark = mark_of(node, tag)
            self._level = int(tag[1]) if tag in _HEADINGS else 0
            self._code += tag in _CODE
            self._cells += tag in _CELLS
            self._rows += tag == "tr"
            self._tables += tag == "table"
            if tag in _LISTS or tag == "li":
                self._begin_item(tag)
            self._blocks_linked += self._links > 0
            self._place = self._places.setdefault((self._place, tag), len(self._places) + 1)
        elif tag == "label" or (tag == "a" and "href" in node.attributes):
            is_link = True
            self._links += 1
        elif tag == "br":
            self._break()
        elif tag == "img":
            self._add(_letter_of(node))
        elif tag in _FORMULAS:
            self._add(tex_of(node))
        if self._parts and node.mem_id in self._parts:
            part = self._begin_part(node.mem_id)
        return _Open(node, tag, is_link, mark, len(self.found), part, place)

    def _has_no_text(self, node: LexborNode, tag: str) -> bool:
        """Tell whether what is below an element is no text, or was taken as a whole."""
        return tag in _READINGS or tag in _FORMULAS or node.mem_id in self._drawn

    def _leave(self, element: _Open) -> None:
        tag = element.tag
        if tag in _BLOCKS:
            if tag in _CODE:
                self._end()
                self._code -= 1
            else:
                self._border()
                self._level = 0
            self._cells -= tag in _CELLS
            self._tables += tag == "table"
            if tag in _LISTS:
                self._lists.pop()
            self._blocks_linked -= self._links > 0
            if element.begin < len(self.found):
                box = Box(element.mark, element.begin, len(self.found), self._place)
                self.boxes.append(box)
            self._place = element.place
        elif element.is_link:
            self._links -= 1
        if element.part is not None:
            self._end_part(element.part, element.begin)

    def _begin_item(self, tag: str) -> None:
        if tag != "li":
            self._lists.append(0 if tag == "ol" else None)
        elif self._lists and (before := self._lists[-1]) is not None:
            self._lists[-1] = before + 1
            self._item = f"{before + 1}."
        else:
            self._item = "-"

    def _break(self) -> None:
        if self._code:
            self._pieces.append("\n")
            return
        self._breaks += 1
        self._pieces.append(BREAK)
        if self._breaks > 1:
            self._end()

    def _begin_part(self, element: int) -> _Part:
        in_line = not self._is_blank
        sizes = self._ends, self._sure, len(self._pieces), len(self._linked)
        is_aside, is_hidden = element in self._asides, element in self._hidden
        part = _Part(is_aside and not in_line, is_hidden, in_line, *sizes)
        self._within += part.is_aside
        self._concealed += is_hidden and not in_line
        return part

    def _end_part(self, part: _Part, begin: int) -> None:
        """Take what is in a form or an aside for a notice, unless there is text in it."""
        has_blocks = self._ends > part.ends
        if part.is_hidden:
            if part.in_line and not has_blocks:
                del self._pieces[part.pieces :], self._linked[part.linked :]
            elif not part.in_line:
                self._end()
                self._concealed -= 1
            self._within -= part.is_aside
            return
        self._within -= part.is_aside
        if self._sure > part.sure or (has_blocks and part.in_line):
            return
        for block in self.found[begin:]:
            block.kind = "notice"
        pieces, linked = (0, 0) if has_blocks else (part.pieces, part.linked)
        letters = weight("".join(self._pieces[pieces:]))
        if Block("", "text", letters, weight("".join(self._linked[linked:]))).is_text:
            self._sure += 1
        else:
            del self._pieces[pieces:], self._linked[linked:]

    def _border(self) -> None:
        """End the block; within code, where each line may be one, the line."""
        if not self._code:
            self._end()
        elif self._pieces and not self._pieces[-1].endswith("\n"):
            self._pieces.append("\n")

    def _add(self, text: str) -> None:
        if not text.isspace():
            self._breaks, self._is_blank = 0, False
            if self._links:
                self._linked.append(text)
        self._pieces.append(text)

    def _end(self) -> None:
        self._ends += 1
        if not self._is_blank:
            written = repaired("".join(self._pieces))
            if self._code:
                text = "\n".join(line.rstrip() for line in written.splitlines()).strip("\n")
            else:
                text = lines(written)
            if text:
                self._append(text)
        self._is_blank = True
        self._breaks = 0
        if self._pieces:
            self._pieces, self._linked = [], []

    def _append(self, text: str) -> None:
        letters = weight(text)
        linked = weight("".join(self._linked)) if self._linked else 0.0
        is_aside = self._within > 0
        if self._blocks_linked and not (self._level or self._code) and letters >= LONG_LINKED:
            linked, is_aside = 0.0, True  # the link is around an article's first lines
        kind, is_hidden = self._kind(letters), self._concealed > 0
        block = Block(text, kind, letters, linked, is_aside, self._level, is_hidden)
        if kind == "table":
            block.row, block.table = self._rows, self._tables
        elif kind == "text" and self._item:
            block.mark, block.depth = self._item, max(1, len(self._lists))
        self._item = None
        self.found.append(block)
        self._sure += block.is_text and not is_hidden

    def _kind(self, letters: float) -> Kind:
        if self._code:
            return "code"
        if self._level:
            return "heading"
        return "table" if self._cells and letters < LONG else "text"
