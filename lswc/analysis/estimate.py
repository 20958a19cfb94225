"""The report's part on how large the language's web is."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lswc.analysis import figures, size
from lswc.analysis.section import Section
from lswc.analysis.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lswc.analysis.size import Pair

_PURPOSE = (
    "How many pages the language has, and so how much of it the crawl has. If two words occur "
    "independently of each other, N = N_A N_B / N_AB (Mon 2010 §5.3); if two crawls are "
    "independent of each other, the same holds for their pages (capture and recapture)."
)


def by_words(
    name: str,
    pairs: Sequence[Pair],
    documents: int | None,
    relevant: int,
    quality: tuple[float, float],
) -> Section:
    """Estimate by pairs of words.

    ``documents`` is the true size if the counts are from the crawl's own text, None if they are
    from elsewhere; ``relevant`` the relevant pages of the crawl; ``quality`` the identifier's
    precision and accuracy. Raises AnalysisError if too few pairs occur together.
    """
    extremes = 2 if len(pairs) > 4 else 0
    found = size.estimate(pairs, extremes)
    rows = [
        (*(getattr(pair, head) for head in size.HEADS), _finite(pair.size), kept)
        for pair, kept in zip(pairs, found.kept, strict=True)
    ]
    table = Table(
        "word_pairs", "Size by pair of words", (*size.HEADS, "size", "kept"), rows, shown=50
    )
    said = [
        f"Mean {found.mean:,.0f}, standard deviation {found.deviation:,.0f}, of "
        f"{sum(found.kept)} pairs; left out: {len(pairs) - sum(found.kept)}."
    ]
    if documents is None:
        recall = size.corrected_recall(relevant, found.mean, *quality)
        said.append(
            f"The crawl has {relevant:,} relevant pages: a recall of {recall:.2%}, if the "
            f"identifier's precision is {quality[0]:.1%} and its accuracy {quality[1]:.1%}."
        )
    else:
        said.append(
            f"The counts are from the crawl's own {documents:,} documents, so this measures the "
            f"method: it finds {found.mean / documents:.2f} times what is there."
        )
    names = [f"{pair.word_a} / {pair.word_b}" for pair in pairs]
    drawn = [i for i, pair in enumerate(pairs) if 0 < pair.size < math.inf]
    figure = figures.estimates(
        [names[i] for i in drawn],
        [pairs[i].size for i in drawn],
        [found.kept[i] for i in drawn],
        found.mean,
    )
    title = f"Size of the {name} web, by pairs of words"
    return Section("size_by_words", title, _PURPOSE, tuple(said), (table,), figure)


def by_crawls(name: str, first: int, second: int, both: int) -> Section:
    """Estimate by the relevant pages of two crawls, and those that both have."""
    rows: list[tuple[object, ...]] = []
    for method, found in (
        ("Lincoln-Petersen", size.lincoln_petersen(first, second, both)),
        ("Chapman", size.chapman(first, second, both)),
    ):
        has = first / found.size if found.size else None
        rows.append((method, _finite(found.size), _finite(found.low), _finite(found.high), has))
    heads = ("method", "size", "95 % low", "95 % high", "share this crawl has")
    title = f"Size of the {name} web, by two crawls"
    said = (
        f"{first:,} relevant pages in the first crawl, {second:,} in the second, {both:,} in both.",
        "Two crawls from the same seeds find the same well-linked pages, so they are not "
        "independent: take this as a lower limit.",
    )
    table = Table("size_by_crawls", title, heads, rows)
    return Section("size_by_crawls", title, _PURPOSE, said, (table,))


def _finite(value: float) -> int | None:
    return round(value) if math.isfinite(value) else None
