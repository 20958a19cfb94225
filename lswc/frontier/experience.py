"""What a crawl learned about cells, as a store keeps it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.strategy import Experience, Pages
from lswc.strategy.adaptive import SEEDS
from lswc.strategy.status import NO_PAGES

if TYPE_CHECKING:
    from collections.abc import Mapping


def experience_of(by_cell: Mapping[int, Pages]) -> Experience:
    """Return the experience of all these pages; those of the seeds' cell don't teach."""
    cells = {cell: pages for cell, pages in by_cell.items() if cell != SEEDS and pages.downloaded}
    return Experience(cells, _sum(by_cell))


def by_cell(experience: Experience) -> dict[int, Pages]:
    """Return the pages of an experience by cell, those that don't teach in the seeds' cell."""
    taught = _sum(experience.cells)
    seeds = Pages(
        experience.crawl.downloaded - taught.downloaded, experience.crawl.relevant - taught.relevant
    )
    return experience.cells | ({SEEDS: seeds} if seeds != NO_PAGES else {})


def _sum(by_cell: Mapping[int, Pages]) -> Pages:
    counts = by_cell.values()
    return Pages(sum(p.downloaded for p in counts), sum(p.relevant for p in counts))
