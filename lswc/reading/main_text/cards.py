"""Cards of a page: parts made alike, as a shop's products, a list of articles, a table of events.

Each is too short, or has too many links, to be text by itself. Together they are what such a page
says, if it says nothing else.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import accumulate
from statistics import median
from typing import TYPE_CHECKING

from lswc.reading.main_text.blocks import BESIDE, MAIN, Box

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lswc.reading.main_text.blocks import Block
    from lswc.reading.main_text.marks import Mark

LEAST_CARDS = 4
"""Parts made alike, and different in what they say, from which on they are cards."""
LEAST_LETTERS = 20
"""Letters of the median card at least: entries of menus have fewer."""
ENOUGH = 100
"""Letters of text besides cards that must have as many to be the page's text, too; beside twice as
many they need four times as many: a short article has more headlines around it than a list."""
ENOUGH_OF_LISTING = 0.5
"""Letters that cards need, by each of the other text, in a page that surely is a listing."""

# By the dev half of WCXB, and by two sets of news that must not get worse: 4 to 6 cards, 12 to 45
# letters each, 75 to 300 besides.
_TALLEST = 3  # medians that a card counts: one with the rest of the page in it counts no more

_BESIDE: frozenset[Mark] = frozenset(BESIDE) - {"caption"}
_NEVER: frozenset[Mark] = frozenset({"notice", "hidden"})


def keep_cards(found: Sequence[Block], boxes: Sequence[Box], *, is_listing: bool) -> None:
    """Take the cards of a page for its text if there is little of any other.

    A shop may call its goods a list of links: they are taken where there is no other text at all.
    """
    text = sum(block.letters for block in found if block.kind in MAIN)
    lost = _left_out(found, boxes, _BESIDE if text else _NEVER)
    least = ENOUGH_OF_LISTING * text if is_listing else text**2 / ENOUGH
    if sum(block.letters for block in lost) > least:
        for block in lost:
            block.kind = "heading" if block.level else "table" if block.row else "text"


def _left_out(found: Sequence[Block], boxes: Sequence[Box], marks: frozenset[Mark]) -> list[Block]:
    """Return the blocks of cards outside parts with these marks that aren't the page's text."""
    may_be = _may_be(found, boxes, marks)
    return [
        found[i]
        for card in _cards(found, boxes, may_be)
        for i in range(card.begin, card.end)
        if may_be[i] and found[i].kind not in MAIN
    ]


def _may_be(found: Sequence[Block], boxes: Sequence[Box], marks: frozenset[Mark]) -> list[bool]:
    """Tell of each block whether it may be of a card: not in a part with one of these marks."""
    depth = [0] * (len(found) + 1)
    for box in boxes:
        if box.mark in marks:
            depth[box.begin] += 1
            depth[box.end] -= 1
    return [
        not (beside or block.is_hidden or block.kind == "repeated")
        for beside, block in zip(accumulate(depth), found, strict=False)
    ]


def _cards(found: Sequence[Block], boxes: Sequence[Box], may_be: Sequence[bool]) -> list[Box]:
    """Return those elements made alike that say the most.

    By sums, since hostile pages nest: what an element says is told by the sum of its texts' hashes.
    """
    own = [block.letters if may else 0.0 for block, may in zip(found, may_be, strict=True)]
    said = [hash(block.text) if may else 0 for block, may in zip(found, may_be, strict=True)]
    letters, words = [0.0, *accumulate(own)], [0, *accumulate(said)]
    alike: defaultdict[int, list[Box]] = defaultdict(list)
    for box in boxes:
        if words[box.end] != words[box.begin]:
            alike[box.place].append(box)
    best, most = list[Box](), 0.0
    for parts in alike.values():
        if len({words[part.end] - words[part.begin] for part in parts}) < LEAST_CARDS:
            continue
        sizes = [letters[part.end] - letters[part.begin] for part in parts]
        usual = median(sizes)
        whole = sum(min(size, _TALLEST * usual) for size in sizes)
        if usual >= LEAST_LETTERS and whole > most:
            best, most = parts, whole
    return best
