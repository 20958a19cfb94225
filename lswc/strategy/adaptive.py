"""The learned order: which cells bring relevant pages is learned while the crawl goes on.

A place is what is known of a server so far, its posterior share of relevant pages in buckets; a
kind is a combination of features of a link. A cell's expected relevance is its place's, moved
by the effect of each feature in that place, and then by what the cell itself brought. All that is
learned are two counts a cell, exact sums, which any number of workers may add to in any order.

What stands here of relevant pages goes for their text, if that is what counts: then a page is
relevant by a share (``lswc.strategy.value``).

The functions that count work on flat sequences and call nothing but ``log`` and ``exp``, so
that the simulator compiles them as they are, to the same floating point numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from math import exp, log
from typing import TYPE_CHECKING, Any

from lswc.errors import ConfigError
from lswc.strategy.facts import NO_PAGES, Anchor, Facts, Locality, Named, PageLanguage, Pages
from lswc.strategy.tier_rules import REQUISITES

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableSequence, Sequence

Rank = tuple[float, int]
"""What cells are compared by: the smaller comes first."""

SEEDS = 0
"""Cell of the seeds: it comes first, and teaches nothing."""

FIRST = -2.0
"""Rank of the seeds' cell."""

SITE_UNVISITED = 0
"""Place of a server whose site has no downloaded page."""

EDGES = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 0.5, 0.7, 0.88, 0.97)
"""Between the buckets of a server's share of relevant pages. They lie close where it is small: a
server without a relevant page sinks on and on, instead of being discarded."""

BUCKETS = len(EDGES) + 1
MIDDLES = tuple(
    1 / (1 + exp(-(log(low / (1 - low)) + log(high / (1 - high))) / 2))
    for low, high in pairwise((EDGES[0] / 3, *EDGES, 1 - (1 - EDGES[-1]) / 3))
)
"""What a place is taken for before anything was seen there: its bucket's middle, in logits."""

BEFORE = 0.1
"""What a server's share of relevant pages is taken for before any was seen, as two pages of it
would. It is the same in every crawl, so only its own pages and its site's move a server: taking
the crawl's mean left places behind that were worked out when the mean was another."""

PAGES_HARDLY_KNOWN = 2
"""A server with more pages than this is well known."""

PLACES = 1 + 3 * BUCKETS
"""SITE_UNVISITED, then by pages of the server: none, at most PAGES_HARDLY_KNOWN, more; and by
bucket. They are there once more, from PLACES on, for servers with a first look before them."""

LOOK = 20
"""A server has a first look before it until it has so many pages: what names the language there is
ranked as on a server that is hardly known and has brought a little. A translated folder may begin
with pages that nobody translated, and without a look these would sink the rest of it."""

LITTLE = EDGES.index(0.03) + 1
"""Bucket of such a server: 3 to 10 %. In a higher one a young crawl with free connections asks for
them before its likely pages, which are waited for in a lower one."""

REFERRERS = 6
NEAR = 4
SIZES = (len(Named), REFERRERS, NEAR, len(Anchor), 2)
"""Number of values of each feature: language named by the link, referrer, where it leads,
language of the anchor text, top-level domain."""

NAMES = ("named", "referrer", "near", "anchor", "tld")
VALUES = sum(SIZES)
KINDS = len(Named) * REFERRERS * NEAR * len(Anchor) * 2
"""Number of combinations of features; kind KINDS is that of the seeds."""

CELLS = 1 + KINDS * PLACES
"""Number of cells: SEEDS, then one per kind and place."""

SIGNATURE = f"{' '.join(f'{n}:{s}' for n, s in zip(NAMES, SIZES, strict=True))} places:{PLACES}"
"""What the numbers of cells stand for. Counts by cell mean nothing under another signature."""

PRIOR = 4.0
"""Pages that a place's effect weighs as much as its prior."""

DAMPING = 0.7
"""Share of a feature's effect that counts, as features aren't independent of each other."""

OWN_PRIOR = 8.0
"""Pages of a cell that weigh as much as what is expected of it."""

OPTIMISM = 0.15
"""What a cell is overrated by, in logits: those that come first are best by merit and by luck."""

FLOOR = 0.1
"""A look at a server hardly known is worth at least this share of the crawl's mean."""


def kind(facts: Facts) -> int:
    """Return the kind of a link: its features as one number, 0 .. KINDS - 1."""
    number = facts.named * REFERRERS + _referrer(facts)
    number = number * NEAR + _near(facts)
    number = number * len(Anchor) + facts.anchor
    return number * 2 + facts.tld


def _referrer(facts: Facts) -> int:
    """Relevant; unknown; English or other, two steps from a relevant page; three; more."""
    if facts.referrer == PageLanguage.TARGET:
        return 0
    if facts.referrer == PageLanguage.UNKNOWN:
        return 1
    if facts.distance <= 2:
        return 2 if facts.referrer == PageLanguage.ENGLISH else 3
    return 4 if facts.distance == 3 else 5


def _near(facts: Facts) -> int:
    if facts.locality == Locality.SAME_SERVER:
        return 0 if facts.same_folder else 1
    return 2 if facts.locality == Locality.SAME_SITE else 3


def place(downloaded: int, relevant: float, site_downloaded: int, site_relevant: float) -> int:
    """Return the place of a server, by the pages and relevant pages of it and of its site.

    While it has a first look before it, PLACES are added.
    """
    if site_downloaded == 0:
        return SITE_UNVISITED
    of_site = (site_relevant + 2 * BEFORE) / (site_downloaded + 2)
    share = (relevant + 2 * of_site) / (downloaded + 2)
    number = 1
    for edge in EDGES:
        if share >= edge:
            number += 1
    if downloaded > PAGES_HARDLY_KNOWN:
        number += 2 * BUCKETS
    elif downloaded > 0:
        number += BUCKETS
    return number + PLACES if downloaded < LOOK else number


def place_of_look(place: int) -> int:
    """Return the place by which links that name the language are ranked during a first look."""
    if place == SITE_UNVISITED:
        return place
    visited, bucket = divmod(place - 1, BUCKETS)
    return place if bucket >= LITTLE else 1 + min(visited, 1) * BUCKETS + LITTLE


def learn_effects(
    used: Sequence[int],
    downloaded: Mapping[int, int] | Sequence[int],
    relevant: Mapping[int, float] | Sequence[float],
    crawl_downloaded: int,
    crawl_relevant: float,
    places: MutableSequence[float],
    effects: MutableSequence[float],
) -> None:
    """Work out what places and features mean for relevance, from the counts of cells.

    ``used`` are the cells with pages. ``downloaded`` and ``relevant`` are their pages, by cell.
    The results are filled in: ``places`` of shape (PLACES,), a place's relevance in logits, and
    ``effects`` of shape (PLACES * VALUES,), what a feature's value adds to it there.
    """
    mean = (crawl_relevant + 1) / (crawl_downloaded + 2)
    pages, hits = [0.0] * (PLACES * VALUES), [0.0] * (PLACES * VALUES)
    place_pages, place_hits = [0.0] * PLACES, [0.0] * PLACES
    for cell in used:
        at = (cell - 1) % PLACES
        left, first = (cell - 1) // PLACES, VALUES
        place_pages[at] += downloaded[cell]
        place_hits[at] += relevant[cell]
        for feature in range(len(SIZES) - 1, -1, -1):
            first -= SIZES[feature]
            value = at * VALUES + first + left % SIZES[feature]
            left //= SIZES[feature]
            pages[value] += downloaded[cell]
            hits[value] += relevant[cell]
    for at in range(PLACES):
        prior = mean
        if at != SITE_UNVISITED:
            prior = MIDDLES[(at - 1) % BUCKETS]
        share = (place_hits[at] + PRIOR * prior) / (place_pages[at] + PRIOR)
        places[at] = log(share / (1 - share))
    for value in range(VALUES):
        all_pages, all_hits, expected = 0.0, 0.0, 0.0
        for here in range(value, PLACES * VALUES, VALUES):
            if pages[here]:
                all_pages += pages[here]
                all_hits += hits[here]
                expected += pages[here] / (1 + exp(-places[here // VALUES]))
        # Both what was seen and what the places alone would have made of it, shrunk to the mean.
        seen = (all_hits + PRIOR * mean) / (all_pages + PRIOR)
        before = (expected + PRIOR * mean) / (all_pages + PRIOR)
        overall = log(seen / (1 - seen)) - log(before / (1 - before))
        for here in range(value, PLACES * VALUES, VALUES):
            effects[here] = overall
            if pages[here]:
                at = here // VALUES
                prior = 1 / (1 + exp(-places[at] - overall))
                share = (hits[here] + PRIOR * prior) / (pages[here] + PRIOR)
                effects[here] = log(share / (1 - share)) - places[at]


def share_of(
    cell: int,
    downloaded: int,
    relevant: float,
    places: Sequence[float],
    effects: Sequence[float],
) -> float:
    """Return the share of relevant pages of a cell that has brought these pages itself.

    ``places`` and ``effects`` are those of ``learn_effects``. Not of the seeds' cell.
    """
    at = (cell - 1) % PLACES
    left, first = (cell - 1) // PLACES, VALUES
    logit = places[at]
    for feature in range(len(SIZES) - 1, -1, -1):
        first -= SIZES[feature]
        logit += DAMPING * effects[at * VALUES + first + left % SIZES[feature]]
        left //= SIZES[feature]
    return (relevant + OWN_PRIOR / (1 + exp(-logit))) / (downloaded + OWN_PRIOR)


def expected_of(share: float) -> float:
    """Return what a cell should bring, by ``share_of``: the estimate, without OPTIMISM."""
    return 1 / (1 + (1 - share) / share * exp(OPTIMISM))


def worth_of(cell: int, share: float, crawl_downloaded: int, crawl_relevant: float) -> float:
    """Return what a cell is ranked by: ``share_of``, or the price of a look.

    That is paid for servers hardly known, so that none is found late. It is no estimate.
    """
    floor = FLOOR * (crawl_relevant + 1) / (crawl_downloaded + 2) * (1 + share)
    is_hardly_known = (cell - 1) % PLACES <= 2 * BUCKETS
    return floor if is_hardly_known and floor > share else share


def server_share(cell: int) -> float:
    """Return the least share of relevant pages of the servers of a cell, as their place says it.

    0 if nothing is known of their site, and of seeds.
    """
    at = (cell - 1) % PLACES
    return 0.0 if cell == SEEDS or at == SITE_UNVISITED else (0.0, *EDGES)[(at - 1) % BUCKETS]


def names_language(cell: int) -> bool:
    """Tell whether the links of a cell name a language, the crawl's or another; seeds don't."""
    return cell != SEEDS and _named(cell) != Named.NONE


def names_target(cell: int) -> bool:
    """Tell whether the links of a cell name the crawl's language; seeds don't."""
    return cell != SEEDS and _named(cell) == Named.TARGET


def _named(cell: int) -> int:
    return (cell - 1) // PLACES // (KINDS // len(Named))


_WORDS = (
    ("names no language", "names the language", "names another language"),
    (
        "from a relevant page", "from a page of unknown language", "from an English page, 2 steps",
        "from another page, 2 steps", "from 3 steps away", "from farther away",
    ),
    ("in the folder", "on the server", "on the site", "elsewhere"),
    ("text in the language", "text in another language", "without text"),
    ("other top-level domain", "top-level domain of the language"),
)  # fmt: skip
_VISITED = (
    "server unvisited",
    f"server with 1-{PAGES_HARDLY_KNOWN} pages",
    f"server with more than {PAGES_HARDLY_KNOWN} pages",
)


def describe(cell: int) -> str:
    """Return a cell in words: the features of its links, and what is known of their server."""
    if cell == SEEDS:
        return "seeds"
    left, at = divmod(cell - 1, PLACES)
    words: list[str] = []
    for word, size in zip(reversed(_WORDS), reversed(SIZES), strict=True):
        left, value = divmod(left, size)
        words.insert(0, word[value])
    if at == SITE_UNVISITED:
        return f"{', '.join(words)}; site unvisited"
    visited, bucket = divmod(at - 1, BUCKETS)
    low, high = (0.0, *EDGES, 1.0)[bucket : bucket + 2]
    return f"{', '.join(words)}; {_VISITED[visited]}, {100 * low:g}-{100 * high:g} % relevant"


def is_due(crawl_downloaded: int, scored: int) -> bool:
    """Tell whether to score all cells again, at so many pages, after doing it at ``scored``.

    At each page below 200, then at every further per cent.
    """
    return crawl_downloaded - scored >= max(1, scored // 100)


class ExperienceError(ConfigError):
    """What was learned can't be read; the message says why."""


@dataclass
class Experience:
    """Pages that taught, by the cell that they were leased from, and all pages of the crawl.

    What was asked for in vain counts as a page of its cell that brought nothing, and not as one of
    the crawl: such links lead nowhere, which makes no look at another server worth less. Exact sums
    that only grow: the experience of several workers is the sum of theirs.
    """

    cells: dict[int, Pages] = field(default_factory=dict)
    crawl: Pages = NO_PAGES

    def learn(self, cell: int, relevant: float) -> None:
        """Count a downloaded page. Seeds don't teach, but count as pages of the crawl."""
        self.crawl = _sum(self.crawl, Pages(1, relevant))
        if cell != SEEDS:
            self.cells[cell] = _sum(self.cells.get(cell, NO_PAGES), Pages(1, relevant))

    def miss(self, cell: int, number: int = 1) -> None:
        """Count URLs that were leased from a cell, and asked for in vain."""
        if cell != SEEDS:
            self.cells[cell] = _sum(self.cells.get(cell, NO_PAGES), Pages(number, 0))

    def merge(self, other: Experience) -> None:
        """Add another crawl's or worker's experience."""
        self.crawl = _sum(self.crawl, other.crawl)
        for cell, pages in other.cells.items():
            self.cells[cell] = _sum(self.cells.get(cell, NO_PAGES), pages)

    def copy(self) -> Experience:
        """Return the experience as it is now."""
        return Experience(dict(self.cells), self.crawl)

    def dump(self) -> dict[str, Any]:
        """Return it as plain numbers and strings, for JSON."""
        cells = [[cell, *pages] for cell, pages in sorted(self.cells.items())]
        return {"cells_of": SIGNATURE, "crawl": list(self.crawl), "cells": cells}

    @classmethod
    def load(cls, dumped: Mapping[str, Any]) -> Experience:
        """Return what ``dump`` gave. Raises ExperienceError, also if its cells were others."""
        try:
            signature, (pages, relevant) = dumped["cells_of"], dumped["crawl"]
            crawl = Pages(int(pages), number(relevant))
            cells = {int(c): Pages(int(n), number(r)) for c, n, r in dumped["cells"]}
        except (KeyError, TypeError, ValueError) as error:
            raise ExperienceError(f"this is no experience of a crawl ({error!r})") from error
        if signature != SIGNATURE:
            raise ExperienceError(
                f"the experience is of another version of the strategy: its cells are {signature},"
                f" now they are {SIGNATURE}"
            )
        if not all(
            0 < cell < CELLS and 0 <= pages.relevant <= pages.downloaded
            for cell, pages in cells.items()
        ):
            raise ExperienceError("the experience is damaged: it has counts that no crawl makes")
        return cls(cells, crawl)


def number(written: float | str) -> float:
    """Return a number as it was written; a whole one as an integer."""
    value = float(written)
    return int(value) if value.is_integer() else value


def _sum(some: Pages, more: Pages) -> Pages:
    return Pages(some.downloaded + more.downloaded, some.relevant + more.relevant)


def _less(some: Pages, fewer: Pages) -> Pages:
    return Pages(some.downloaded - fewer.downloaded, some.relevant - fewer.relevant)


class LearnedOrder:
    """The cell of the higher expected relevance comes first; ties: the smaller cell.

    ``experience`` grows with each page. ``scored`` is the experience as it was when all
    cells were last scored; since then each cell has gone on by its own pages alone. So the two
    are all that a crawl must keep to go on as if it had never stopped. Of the experience
    ``earlier`` was there before the crawl: the prior, or an earlier crawl's.
    """

    def __init__(
        self,
        experience: Experience | None = None,
        scored: Experience | None = None,
        earlier: Experience | None = None,
    ) -> None:
        self.experience = experience or Experience()
        self.scored = scored or self.experience.copy()
        self._heard = Experience()
        self._earlier = earlier or Experience()
        self.pages: float = self.experience.crawl.downloaded - self._earlier.crawl.downloaded
        self._fit()

    def hear(self, heard: Experience) -> None:
        """Take what other workers have learned so far, in place of what they had the last time."""
        before, self._heard = self._heard, heard
        changed = {
            cell
            for cell in before.cells.keys() | heard.cells.keys()
            if before.cells.get(cell) != heard.cells.get(cell)
        }
        known = self.experience
        for cell in changed:
            own = _less(known.cells.get(cell, NO_PAGES), before.cells.get(cell, NO_PAGES))
            known.cells[cell] = _sum(own, heard.cells.get(cell, NO_PAGES))
            self._scores.pop(cell, None)
        known.crawl = _sum(_less(known.crawl, before.crawl), heard.crawl)
        self.pages = known.crawl.downloaded - self._earlier.crawl.downloaded
        if is_due(known.crawl.downloaded, self.scored.crawl.downloaded):
            self.score_all()

    def learn(self, cell: int, relevant: float) -> bool:
        self.experience.learn(cell, relevant)
        self.pages += 1
        self._scores.pop(cell, None)
        due = is_due(self.experience.crawl.downloaded, self.scored.crawl.downloaded)
        if due:
            self.score_all()
        return due

    def miss(self, cell: int) -> None:
        self.experience.miss(cell)
        self._scores.pop(cell, None)

    def score_all(self) -> None:
        """Score all cells by the experience as it is now."""
        self.scored = self.experience.copy()
        self._fit()

    def expected(self, cell: int) -> float:
        if cell == SEEDS:
            return (self.scored.crawl.relevant + 1) / (self.scored.crawl.downloaded + 2)
        return expected_of(self._scored(cell)[0])

    def before(self, cell: int) -> int:
        return self._earlier.cells.get(cell, NO_PAGES).downloaded

    def worth(self, cell: int) -> float:
        return self.expected(cell) if cell == SEEDS else self._scored(cell)[1]

    def rank(self, cell: int) -> Rank:
        if cell >= REQUISITES:
            return (0.0, cell)  # after all pages
        return (FIRST if cell == SEEDS else -self._scored(cell)[1], cell)

    def _scored(self, cell: int) -> tuple[float, float]:
        """Return a cell's share and worth."""
        known = self._scores.get(cell)
        if known is None:
            own = self.experience.cells.get(cell, NO_PAGES)
            share = share_of(cell, *own, self._places, self._effects)
            known = self._scores[cell] = share, worth_of(cell, share, *self.scored.crawl)
        return known

    def _fit(self) -> None:
        self._scores: dict[int, tuple[float, float]] = {}
        self._places = [0.0] * PLACES
        self._effects = [0.0] * (PLACES * VALUES)
        used, crawl = sorted(self.scored.cells), self.scored.crawl
        downloaded = {cell: pages.downloaded for cell, pages in self.scored.cells.items()}
        relevant = {cell: pages.relevant for cell, pages in self.scored.cells.items()}
        learn_effects(used, downloaded, relevant, *crawl, self._places, self._effects)
