"""Estimates of how large the language's web is, for the report."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lswc.lab.analysis import figures, size
from lswc.lab.analysis.section import Section
from lswc.lab.analysis.table import Table
from lswc.plurals import numbered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lswc.lab.analysis.size import Estimate, Pair

_PURPOSE = (
    "How many pages the language has, and so how much of it the crawl has. If two words occur "
    "independently of each other, N = N_A N_B / N_AB (Mon 2010 §5.3); if two crawls are "
    "independent of each other, the same holds for their pages (capture and recapture)."
)


def by_words(
    language: str,
    pairs: Sequence[Pair],
    relevant: int,
    quality: tuple[float, float],
    extremes: int = 2,
) -> Section:
    """Estimate the web's size by pairs of words counted elsewhere.

    ``relevant`` are the crawl's relevant pages, ``quality`` the identifier's precision and
    accuracy; of the pairs ``extremes`` are left out. Raises AnalysisError if too few
    pairs occur together.
    """
    found = size.estimate(pairs, extremes if len(pairs) > 2 * extremes else 0)
    recall = size.corrected_recall(relevant, found.mean, *quality)
    finding = (
        f"The crawl has {relevant:,} relevant pages: a recall of {recall:.2%}, if the "
        f"identifier's precision is {quality[0]:.1%} and its accuracy {quality[1]:.1%}."
    )
    title = f"Size of the {language} web, by pairs of words"
    findings = [finding]
    if impossible := sum(pair.impossible for pair in pairs):
        findings.append(
            f"{impossible} pairs have more documents with both words than with one of them, as "
            "estimates of a search engine may: they are taken as they are."
        )
    return _by_pairs(("size_by_words", title), "word_pairs", pairs, found, findings)


def by_own_text(pairs: Sequence[Pair], documents: int) -> Section:
    """Estimate the known number of documents by pairs of words counted in them.

    Raises AnalysisError if too few pairs occur together.
    """
    found = size.estimate(pairs, 2 if len(pairs) > 4 else 0)
    finding = (
        f"The counts are from the crawl's own {documents:,} documents, so this measures the "
        f"method: it finds {found.mean / documents:.2f} times what is there."
    )
    title = "Size of the crawl, by pairs of words in its text"
    return _by_pairs(("size_by_own_text", title), "word_pairs_of_text", pairs, found, [finding])


def _by_pairs(
    head: tuple[str, str],
    name: str,
    pairs: Sequence[Pair],
    found: Estimate,
    findings: Sequence[str],
) -> Section:
    rows = [
        (*(getattr(pair, column) for column in size.HEADS), _finite(pair.size), kept)
        for pair, kept in zip(pairs, found.kept, strict=True)
    ]
    heads = (*size.HEADS, "size", "kept")
    mean = (
        f"Mean {found.mean:,.0f}, standard deviation {found.deviation:,.0f}, of "
        f"{sum(found.kept)} pairs; left out: {len(pairs) - sum(found.kept)}."
    )
    drawn = [i for i, pair in enumerate(pairs) if 0 < pair.size < math.inf]
    figure = figures.estimates(
        [f"{pairs[i].word_a} / {pairs[i].word_b}" for i in drawn],
        [pairs[i].size for i in drawn],
        [found.kept[i] for i in drawn],
        found.mean,
    )
    table = Table(name, "Size by pair of words", heads, rows, shown=50)
    return Section(*head, _PURPOSE, (mean, *findings), (table,), figure)


def by_crawls(language: str, first: int, second: int, both: int) -> Section:
    """Estimate by the relevant pages of two crawls, and those that both have."""
    rows: list[tuple[object, ...]] = []
    for method, found in (
        ("Lincoln-Petersen", size.lincoln_petersen(first, second, both)),
        ("Chapman", size.chapman(first, second, both)),
    ):
        has = first / found.size if found.size else None
        rows.append((method, _finite(found.size), _finite(found.low), _finite(found.high), has))
    heads = ("method", "size", "95 % low", "95 % high", "share this crawl has")
    title = f"Size of the {language} web, by two crawls"
    finding = (
        f"{numbered(first, 'relevant page')} in the first crawl, {second:,} in the second, "
        f"{both:,} in both.",
        "Two crawls from the same seeds find the same well-linked pages, so they are not "
        "independent: take this as a lower limit.",
    )
    table = Table("size_by_crawls", title, heads, rows)
    return Section("size_by_crawls", title, _PURPOSE, finding, (table,))


def _finite(value: float) -> int | None:
    return round(value) if math.isfinite(value) else None
