"""The prior: what links that name a language led to on other webs, which a crawl begins with.

A crawl that has learned nothing yet takes all links alike, though webs agree that a link which
names the language leads to it, and one that names another doesn't. So the pages of crawls of many
webs are put together, by cell (``lswc.strategy.adaptive``). What links lead to that name none is
each web's own way, and left out. Webs differ, so a cell's share of relevant pages is a draw from a
beta distribution for each of them (the beta-binomial, Skellam 1948). The likeliest one says what
the mean is, and how many pages of the crawl's own it weighs: many where webs agree.
``prior.toml`` has that of the webs that docs/lab/strategies.md names.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import product
from math import lgamma, log, sqrt
from typing import TYPE_CHECKING, Any

from lswc.strategy.adaptive import (
    CELLS,
    SIGNATURE,
    Experience,
    ExperienceError,
    describe,
    names_language,
    server_share,
)
from lswc.strategy.facts import Pages
from lswc.strategy.value import Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lswc.strategy.cells import Strategy

WEBS_OF_A_CELL = 4
"""Webs that teach a cell at least."""

ALIKE = 8.0
"""A web's pages of a cell count as so many at most: pages of a web are alike."""

WEIGHTS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Pages that a cell may weigh. Before any web is known, each half as likely as half of it."""

MEANS = (
    0.003, 0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5,
    0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.96, 0.98, 0.99, 0.997,
)  # fmt: skip
"""Shares that a cell may have on the mean of all webs."""

MANY, HARDLY, HARDLY_WEIGHS = 8, 0.05, 2.0
"""Webs that agree that hardly any page of a cell is relevant, or hardly any isn't: the fewest that
teach it, what is hardly any, and the pages that this weighs. There all weights are as likely."""

HOPELESS = 0.01
"""Servers with fewer relevant pages than this share teach nothing: as few were to be expected."""

PARTS = 64
"""Relevant pages of the prior are whole parts of a page, so that sums of them are exact."""


@dataclass(frozen=True)
class Between:
    """A cell's share of relevant pages between ``webs``: its mean and standard ``deviation``."""

    webs: int
    mean: float
    deviation: float

    @property
    def pages(self) -> Pages:
        """The pages, and relevant ones, that a crawl takes it for, as if it had had them."""
        weight = round(self.mean * (1 - self.mean) / self.deviation**2 - 1)
        return Pages(weight, round(weight * self.mean * PARTS) / PARTS)


@dataclass(frozen=True)
class Prior:
    """What ``webs`` taught: the cells on which they agree."""

    webs: int
    cells: Mapping[int, Between]

    @property
    def experience(self) -> Experience:
        """What a crawl begins with: pages by cell, and none of its own."""
        return Experience({cell: between.pages for cell, between in self.cells.items()})

    def beside(self, other: Prior) -> Prior:
        """Return both together; a cell goes by the one that more webs have taught it."""
        cells = dict(other.cells)
        for cell, between in self.cells.items():
            if cell not in cells or between.webs >= cells[cell].webs:
                cells[cell] = between
        return Prior(self.webs + other.webs, cells)

    def dump(self) -> str:
        """Return it as TOML, which ``load`` reads."""
        lines = [
            "# Shares of relevant pages that kinds of links lead to, on the mean of several webs,",
            "# and how far these differ: made by lswc learn-order, see docs/strategies.md.",
            f'cells_of = "{SIGNATURE}"',
            f"webs = {self.webs}",
        ]
        for cell, between in sorted(self.cells.items()):
            lines += [
                "",
                "[[cell]]",
                f'links = "{describe(cell)}"',
                f"number = {cell}",
                f"webs = {between.webs}",
                f"mean = {between.mean:g}",
                f"deviation = {between.deviation:.4f}",
            ]
        return "\n".join(lines) + "\n"

    @classmethod
    def load(cls, text: str) -> Prior:
        """Return what ``dump`` gave. Raises ExperienceError, also if its cells were others."""
        try:
            read = tomllib.loads(text)
            signature = read["cells_of"]
            cells = dict(_cell(row) for row in read.get("cell", ()))
            prior = cls(int(read["webs"]), cells)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ExperienceError(f"this is no table of lswc learn-order ({error})") from error
        if signature != SIGNATURE:
            raise ExperienceError(
                "the table is of another version of the strategy: make it again with "
                "lswc learn-order"
            )
        if not all(0 < cell < CELLS for cell in cells):
            raise ExperienceError("the table is damaged: it has cells that don't exist")
        return prior


def _cell(row: Mapping[str, Any]) -> tuple[int, Between]:
    between = Between(int(row["webs"]), float(row["mean"]), float(row["deviation"]))
    if not 0 < between.mean < 1 or not 0 < between.deviation < 1:
        raise ValueError(f"cell {row['number']} has no mean and deviation between 0 and 1")
    if not 0 < between.pages.downloaded <= max(WEIGHTS):
        raise ValueError(f"cell {row['number']} has an impossible deviation")
    return int(row["number"]), between


def learned(webs: Sequence[Experience]) -> Prior:
    """Return what crawls of several webs, each of which began with nothing, taught together."""
    by_cell: defaultdict[int, list[Pages]] = defaultdict(list)
    for web in webs:
        for cell, pages in web.cells.items():
            if names_language(cell):
                by_cell[cell].append(pages)
    found = {
        cell: _between(pages)
        for cell, pages in by_cell.items()
        if len(pages) >= WEBS_OF_A_CELL and server_share(cell) >= HOPELESS
    }
    return Prior(len(webs), {cell: one for cell, one in found.items() if one is not None})


def _between(webs: Sequence[Pages]) -> Between | None:
    """Return the likeliest mean and deviation of a cell; None if that weighs no page."""
    counts = []
    for downloaded, relevant in webs:
        counted = min(1.0, ALIKE / downloaded)
        counts.append((counted * relevant, counted * (downloaded - relevant)))

    def likelihood(weight_and_mean: tuple[float, float]) -> float:
        weight, mean = weight_and_mean
        some, others = weight * mean, weight * (1 - mean)
        alone = _log_beta(some, others)
        return sum(_log_beta(some + r, others + n) - alone for r, n in counts) - log(weight)

    weight, mean = max(product(WEIGHTS, MEANS), key=likelihood)
    if weight < 1:
        mean = _mean(counts)
        if len(counts) < MANY or HARDLY <= mean <= 1 - HARDLY:
            return None
        weight, mean = HARDLY_WEIGHS, min(max(mean, HARDLY / 5), 1 - HARDLY / 5)
    return Between(len(counts), mean, sqrt(mean * (1 - mean) / (weight + 1)))


def _mean(counts: Iterable[tuple[float, float]]) -> float:
    relevant, others = map(sum, zip(*counts, strict=True))
    return relevant / (relevant + others)


def _log_beta(some: float, others: float) -> float:
    return lgamma(some) + lgamma(others) - lgamma(some + others)


@cache
def shipped() -> Prior:
    """Return the prior that comes with lswc."""
    return Prior.load((files("lswc.strategy") / "prior.toml").read_text("utf-8"))


def prior_of(strategy: Strategy) -> Experience:
    """Return what a crawl by a strategy begins with, if its user names nothing else.

    Nothing if its order isn't learned, or if something else than pages counts.
    """
    if not strategy.learns or strategy.value is not Value.PAGES:
        return Experience()
    return shipped().experience
