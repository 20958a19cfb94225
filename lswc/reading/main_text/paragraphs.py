"""Paragraphs of a page that are its own text, told from all else without counting words.

Tools made for languages with blanks measure a block by its words. Here a block is measured by its
letters and by how many of them are in links, and an element by its blocks and its mark: the
closest element that holds most of the text is the page's root. Without one, a short block is
judged by its neighbours, as in jusText (Pomikálek 2011, §3.2).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, groupby
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from selectolax.lexbor import LexborHTMLParser

from lswc.language.html import Bounds, flattened
from lswc.reading.main_text.blocks import BESIDE, MAIN, Block, Blocks, Box, weight
from lswc.reading.main_text.cards import keep_cards
from lswc.reading.main_text.characters import exact
from lswc.reading.main_text.licences import Licence, licence_of
from lswc.reading.main_text.linked_data import SCRIPTS, article_of
from lswc.reading.main_text.marks import ROOTS
from lswc.reading.main_text.page_kinds import POSTS, PageKind, kind_of, signs_of, speaks_for

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from lswc.reading.main_text.blocks import Kind
    from lswc.reading.main_text.marks import Mark

SHORT = 15
"""Letters below which a block is text only among text."""
LEAST_HIDDEN = 0.9
"""Share of a page's letters that it hides above which a script shows them: they are its text."""
LEAST_ASIDE = 0.75
"""Share of a page's letters that it sets aside above which they are its text."""

# There is more time than in a crawl: the worst page of 5 MB took 4 s.
_BOUNDS = Bounds(tags=50_000, size=5_000_000, nesting=1_000)

# Boxes of programs that ask for consent: they may have more text than the page.
_CONSENT = [
    "#onetrust-consent-sdk", "#onetrust-banner-sdk", "#CybotCookiebotDialog", "#didomi-host",
    "#usercentrics-root", "#iubenda-cs-banner", "#cmplz-cookiebanner-container",
    "#cookie-law-info-bar", "#cookiescript_injected", "#BorlabsCookieBox", "#truste-consent-track",
    "#moove_gdpr_cookie_modal", "#hs-eu-cookie-confirmation", "#termly-code-snippet-support",
    "#tarteaucitronRoot", "#cookie-notice", ".qc-cmp2-container", ".cky-consent-container",
    ".cky-modal", ".fc-consent-root", ".osano-cm-window", ".cc-window", ".klaro", ".evidon-banner",
]  # fmt: skip
_LINKED_DATA = "script[type='application/ld+json']"
_SKIPPED = [
    "script:not([type^='math/tex'])", "style", "template", "svg", "iframe", "object", "canvas",
    "nav", "footer", "select", "button", "textarea", "dialog",
    "[hidden]:not(main):not(article):not(section):not(div)",
    "[role=navigation]",
]  # fmt: skip

_BETWEEN_CELLS = " | "
_OF_SHORT = 0.3  # what a letter of a short block counts, that may be a menu's
_MOST_BESIDE = 0.5  # of a page's letters in a part beside its text, else it is the text
_MOST_COMMENT = 0.8
# Times the letters that stay, in all parts with a mark: they are the text. By the dev half of WCXB,
# pages of seven kinds that others chose, factors of 1 to 16.
_MANY_BESIDE = 2.0
_LEAST_LINKED = 0.12  # of the letters in a list of links
_LEAST_IN_ROOT: dict[Mark, float] = {"body": 0.3, "article": 0.3, "main": 0.4}
_LEAST_ROOT = 100  # letters
_ONE_ROOT = 0.5  # of the letters in all roots alike: more in one, and it is the root
_LEAST_IN_BOX = 0.9  # of a page's letters in a root without a mark
_MOST_LINKED_BOX = 0.25
_LEAST_ARTICLE = 1_000  # letters of text from which on a listing is read as an article
_HEADLINE = 30  # letters of a link in a listing that is no menu's
_HEADLINES = 4  # as of cards: fewer may be of a menu, or lead to another article
_LEADS = 8  # blocks before a root of which those that are text are its lead
_LEAD, _TAIL, _FAR_TAIL = 20, 15, 30  # letters of a short block before and after all text
_NEAR = 3
_LONG_IN_ROOT, _MOST_LINKED_IN_ROOT = 100, 0.8


class Text(NamedTuple):
    """A page's title, all its blocks in order, and the licence that it states.

    ``page_kind`` is that of HTML, ``quality`` that of a PDF's text. ``is_cut`` says that a document
    has more than was read (``lswc.reading.documents.text``).
    """

    title: str
    blocks: list[Block]
    licence: Licence | None
    quality: float | None = None
    is_cut: bool = False
    page_kind: PageKind | None = None

    @property
    def paragraphs(self) -> list[Block]:
        """The blocks that are the page's own text."""
        return [block for block in self.blocks if block.kind in MAIN]


def read(html: str, url: str, *, as_written: bool = False) -> Text:
    """Return what a page says, each block with its kind. Never fails.

    ``as_written`` leaves the characters as they are: those of a legacy font are letters of others.
    """
    text = read_markup(flattened(html.encode("utf-8", "replace"), _BOUNDS), url)
    if as_written:
        return text
    for block in text.blocks:
        block.text = exact(block.text)
    return text._replace(title=exact(text.title))


def read_markup(markup: bytes, url: str) -> Text:
    """Return the same of a page in UTF-8 that holds no parser (``lswc.language.html``)."""
    tree = LexborHTMLParser(markup)
    title = tree.css_first("title")
    name = " ".join(title.text().split()) if title else ""
    linked_data = [node.text() for node in tree.css(_LINKED_DATA)[:SCRIPTS]]
    licence = licence_of(tree, url, linked_data)
    signs = signs_of(markup, tree, url, linked_data)
    for node in tree.css(",".join((*_SKIPPED, *_CONSENT))):
        node.decompose()
    root = tree.body or tree.root
    if root is None:
        return Text(name, [], licence)
    blocks = Blocks(tree)
    blocks.read(root)
    kinds = [block.kind for block in blocks.found]
    way = _OF_POSTS if not POSTS.isdisjoint(signs) else _OF_ARTICLES
    _judge(blocks.found, _without(blocks.boxes, way.unmarked), name, way)
    page_kind, is_sure = kind_of(signs, blocks.found, blocks.boxes)
    is_listing = is_sure and page_kind == "listing"
    own = sum(block.letters for block in blocks.found if block.is_text and block.kind in MAIN)
    says_little = is_listing and own < _LEAST_ARTICLE
    is_service = page_kind == "service" and speaks_for(signs, page_kind)
    says_little = says_little and _has_headlines(blocks.found)
    if way is _OF_ARTICLES and (is_service or says_little):
        way = _OF_LISTINGS if is_listing else _OF_SERVICES
        _judge_again(blocks, kinds, name, way)
    keep_cards(blocks.found, blocks.boxes, is_listing=is_listing)
    if not any(block.is_text and block.kind in MAIN for block in blocks.found):
        blocks.found += blocks_of_lines(article_of(linked_data))
    return Text(name, _in_rows(blocks.found), licence, page_kind=page_kind)


def _in_rows(found: list[Block]) -> list[Block]:
    """Return the blocks with those of a table's row that are the page's text in one line.

    The first of each table is marked.
    """
    joined: list[Block] = []
    for (row, kind), group in groupby(found, lambda block: (block.row, block.kind)):
        cells = list(group)
        first = cells[0]
        if row and kind == "table" and len(cells) > 1:
            text = _BETWEEN_CELLS.join(" ".join(cell.text.split()) for cell in cells)
            letters = sum(cell.letters for cell in cells)
            linked = sum(cell.linked for cell in cells)
            joined.append(replace(first, text=text, letters=letters, linked=linked))
        else:
            joined += cells
    seen: set[int] = set()
    for block in joined:
        if block.kind == "table" and block.table not in seen:
            seen.add(block.table)
            block.mark = "|"
    return joined


def blocks_of_lines(text: str) -> list[Block]:
    """Return a document's blocks: each of its lines is a paragraph, if it isn't empty."""
    lines = filter(None, map(str.strip, text.splitlines()))
    blocks = [Block(line, "text", weight(line), 0.0) for line in lines]
    judge_by_neighbours(blocks)
    return blocks


class _Way(NamedTuple):
    """How the main text of a kind of pages is told.

    Elements with marks that are ``unmarked`` are as any other. Blocks of ``least_linked`` letters
    are text, wherever they lead. ``has_one_root`` says that the root
    with most of the text has all of it, ``leaves_asides`` that what a page sets aside is none.
    """

    unmarked: frozenset[Mark] = frozenset()
    least_linked: float = inf
    has_one_root: bool = True
    leaves_asides: bool = True


_OF_ARTICLES = _Way()
# Each post may be marked as a comment, and a long one is no more of the text than a short one.
_OF_POSTS = _Way(frozenset({"comment"}), has_one_root=False)
# What an office or a firm does, and what a listing has, stands in parts of which each may be marked
# as an article, or lie in a link with all it has.
_OF_SERVICES = _Way(frozenset(ROOTS), leaves_asides=False)
_OF_LISTINGS = _Way(frozenset({"body", "article", "links"}), _HEADLINE, leaves_asides=False)


def _judge_again(blocks: Blocks, kinds: Sequence[Kind], title: str, way: _Way) -> None:
    _restore(blocks.found, kinds)
    linked = [block.linked for block in blocks.found]
    for block in blocks.found:
        if block.letters >= way.least_linked:
            block.linked = 0.0
    _judge(blocks.found, _without(blocks.boxes, way.unmarked), title, way)
    for block, letters in zip(blocks.found, linked, strict=True):
        block.linked = letters


def _has_headlines(found: Sequence[Block]) -> bool:
    """Tell whether a listing has long links that may be its text."""
    linked = (b for b in found if b.letters >= _HEADLINE and b.linked > b.letters / 2)
    return sum(1 for _ in linked) >= _HEADLINES


def _without(boxes: Sequence[Box], marks: Collection[Mark]) -> list[Box]:
    """Return elements without these marks."""
    return [box._replace(mark="") if box.mark in marks else box for box in boxes]


def _restore(found: Sequence[Block], kinds: Sequence[Kind]) -> None:
    for block, kind in zip(found, kinds, strict=True):
        block.kind = kind


def _judge(found: list[Block], boxes: Sequence[Box], title: str, way: _Way) -> None:
    """Tell the kind of each block; again without the marks that leave nearly nothing.

    A forum is made of many small comments: each is beside the text, but all of them are the text.
    """
    kinds = [block.kind for block in found]
    _judge_by(found, boxes, title, way)
    _name_copies(found)
    stays = sum(block.letters for block in found if block.is_text and block.kind in MAIN)
    too_many = _too_many(found, kinds, boxes, stays)
    if too_many:
        _restore(found, kinds)
        _judge_by(found, _without(boxes, too_many), title, way)
        _name_copies(found)


def _too_many(
    found: list[Block], kinds: list[Kind], boxes: Sequence[Box], stays: float
) -> set[Mark]:
    """Return the marks whose parts have several times the letters of what stays."""
    left_out: dict[Mark, set[int]] = {"comment": set(), "notice": set(), "links": set()}
    end_of_last: dict[Mark, int] = {}
    for mark, begin, end, _ in sorted(boxes, key=lambda box: (box.begin, -box.end)):
        if mark not in left_out or end <= end_of_last.get(mark, 0):
            continue
        left_out[mark].update(range(max(begin, end_of_last.get(mark, 0)), end))
        end_of_last[mark] = end
    least = max(_MANY_BESIDE * stays, _LEAST_ROOT)
    return {
        mark
        for mark, places in left_out.items()
        if sum(_lost(found[i], kinds[i], BESIDE[mark]) for i in places) > least
    }


def _lost(block: Block, before: Kind, kind: Kind) -> float:
    """Return the letters of a block of text that was left out as one of a kind."""
    is_lost = block.kind == kind and before in MAIN and block.is_text
    return block.letters if is_lost and not (block.is_hidden or block.is_aside) else 0.0


def _name_copies(found: Sequence[Block]) -> None:
    """Name what the page has already: two different paragraphs or more in the same order."""
    own = [block for block in found if block.kind in MAIN]
    first: dict[str, int] = {}
    offset, run = 0, list[Block]()
    for i, block in enumerate(own):
        at = first.setdefault(block.text, i)
        if run and at < i and own[i - offset].text == block.text:
            run.append(block)
            continue
        _end_copy(run)
        offset, run = i - at, [block] if at < i else []
    _end_copy(run)


def _end_copy(run: list[Block]) -> None:
    if len({block.text for block in run if block.is_text}) > 1:
        for block in run:
            block.kind = "repeated"


def _judge_by(found: list[Block], boxes: Sequence[Box], title: str, way: _Way) -> None:
    _leave_hidden(found)
    if way.leaves_asides:
        _set_aside(found)
    _set_apart(found, boxes)
    root = _root(found, boxes, has_one=way.has_one_root)
    if root is None:
        judge_by_neighbours(found)
        return
    inside = {i for begin, end in root for i in range(begin, end)}
    begin = min(inside)
    inside |= {i for i in range(max(0, begin - _LEADS), begin) if found[i].is_text}
    _drop(found[i] for i in range(len(found)) if i not in inside)
    _name_titles(found, title)
    _judge_in_root([found[i] for i in sorted(inside) if found[i].kind in MAIN])


def _drop(blocks: Iterable[Block], kind: Kind = "notice") -> None:
    for block in blocks:
        if block.kind in MAIN:
            block.kind = "links" if block.is_menu else kind


def _leave_hidden(found: list[Block]) -> None:
    """Drop what a page hides, unless nearly all of its text is hidden until a script has run."""
    texts = [block for block in found if block.is_text and block.kind in MAIN]
    hidden = sum(block.letters for block in texts if block.is_hidden)
    if hidden <= LEAST_HIDDEN * sum(block.letters for block in texts):
        _drop(block for block in found if block.is_hidden)


def _set_aside(found: list[Block]) -> None:
    """Drop the blocks that a page sets aside, unless nearly all of its text is there."""
    texts = [block for block in found if block.is_text and block.kind in MAIN]
    aside = sum(block.letters for block in texts if block.is_aside)
    if aside <= LEAST_ASIDE * sum(block.letters for block in texts):
        _drop(block for block in found if block.is_aside)


def _mass(block: Block) -> float:
    """Return how much a block adds to where the text may be."""
    if block.kind not in MAIN or (block.is_menu and not block.is_text):
        return 0.0
    return block.letters if block.is_text else _OF_SHORT * block.letters


def _set_apart(found: list[Block], boxes: Sequence[Box]) -> None:
    """Name the blocks in parts that are marked as beside the text, outer parts first."""
    for are_comments in (True, False):
        sums = [0.0, *accumulate(map(_mass, found))]
        most = (_MOST_COMMENT if are_comments else _MOST_BESIDE) * sums[-1]
        for mark, begin, end, _ in reversed(boxes):
            kind = BESIDE.get(mark)
            if kind is None or (kind == "comment") is not are_comments:
                continue
            if sums[end] - sums[begin] <= most and _may_be(kind, found[begin:end]):
                for block in found[begin:end]:
                    if block.kind in MAIN:
                        block.kind = kind


def _may_be(kind: Kind, blocks: list[Block]) -> bool:
    """Tell whether a list of links has links; a sidebar in a book has none."""
    if kind != "links":
        return True
    return sum(b.linked for b in blocks) >= _LEAST_LINKED * sum(b.letters for b in blocks)


def _root(
    found: list[Block], boxes: Sequence[Box], *, has_one: bool
) -> list[tuple[int, int]] | None:
    """Return where the blocks of the elements are that hold a page's text."""
    sums = [0.0, *accumulate(map(_mass, found))]

    def mass(begin: int, end: int) -> float:
        return sums[end] - sums[begin]

    for mark in ROOTS:
        outer = _outer([(begin, end) for name, begin, end, _ in boxes if name == mark])
        whole = sum(mass(*one) for one in outer)
        if whole < _LEAST_ROOT or whole < _LEAST_IN_ROOT[mark] * sums[-1]:
            continue
        best = max(outer, key=lambda one: mass(*one))
        is_one = has_one and mass(*best) > _ONE_ROOT * whole
        return [best] if is_one else outer
    return _unmarked(found, boxes, mass) if sums[-1] else None


def _outer(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the places that lie in no other."""
    outer: list[tuple[int, int]] = []
    for begin, end in sorted(places, key=lambda one: (one[0], -one[1])):
        if not outer or begin >= outer[-1][1]:
            outer.append((begin, end))
    return outer


def _unmarked(
    found: list[Block], boxes: Sequence[Box], mass: Callable[[int, int], float]
) -> list[tuple[int, int]] | None:
    """Return the smallest element with nearly all of a page's text, if it has few links."""
    best = (0, len(found))
    least = _LEAST_IN_BOX * mass(*best)
    for _, begin, end, _ in boxes:
        if 1 < end - begin < best[1] - best[0] and mass(begin, end) >= least:
            best = (begin, end)
    own = [block for block in found[slice(*best)] if block.kind in MAIN]
    letters, linked = sum(block.letters for block in own), sum(block.linked for block in own)
    return [best] if letters >= _LEAST_ROOT and linked < _MOST_LINKED_BOX * letters else None


def _name_titles(found: list[Block], title: str) -> None:
    """Name the headings that are the page's title once more."""
    whole = "".join(title.split()).casefold()
    for block in found:
        if block.level == 1 and block.kind in MAIN and whole:
            said = "".join(block.text.split()).casefold()
            if said in whole or whole in said:
                block.kind = "title"


def _judge_in_root(found: list[Block]) -> None:
    """Keep what is text in the root, and the short blocks among it; headings with what follows."""
    sure = [i for i, block in enumerate(found) if block.is_text]
    sure = sure or [i for i, block in enumerate(found) if not block.is_menu]
    first, last = (sure[0], sure[-1]) if sure else (len(found), 0)
    is_followed = False
    for i, block in reversed(list(enumerate(found))):
        if block.kind == "heading":
            keeps = is_followed and (first <= i <= last or not block.is_menu)
        else:
            keeps = is_followed = _stays(block, first - i, i - last)
        if not keeps:
            _drop([block])


def _stays(block: Block, before: int, after: int) -> bool:
    """Tell whether a block in the root is text, so many blocks before all text or after it."""
    if block.is_text:
        return True
    if block.kind == "code":
        return block.letters > 0
    if block.is_menu:
        most = _MOST_LINKED_IN_ROOT * block.letters
        return block.letters > _LONG_IN_ROOT and block.linked < most
    if before > 0:
        return block.letters >= _LEAD
    return after <= 0 or block.letters >= (_TAIL if after <= _NEAR else _FAR_TAIL)


def judge_by_neighbours(found: Sequence[Block]) -> None:
    """Drop the blocks that neither are text by themselves nor belong to such beside them."""
    blocks = [block for block in found if block.kind in MAIN]
    sure = [block.is_text for block in blocks]
    _drop(
        block
        for i, block in enumerate(blocks)
        if not sure[i] and (block.is_menu or not _joins(blocks, sure, i))
    )


def _joins(found: Sequence[Block], sure: Sequence[bool], at: int) -> bool:
    """Tell whether a short block belongs to text beside it: a heading to what follows.

    An example in a text has few letters; a column of line numbers none.
    """
    block = found[at]
    after = any(sure[at + 1 : at + 3])
    if block.kind == "heading":
        return after
    before = any(sure[max(0, at - 2) : at])
    if block.kind == "code":
        return block.letters > 0 and (before or after)
    return before and after if block.letters < SHORT else before or after
