"""Trace of a crawl, made of its log (docs/lab/trace.md)."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lswc.archive.appended_files import ArchiveError
from lswc.archive.crawl_log import NO_PAGES, NO_VISIT
from lswc.archive.log_tables import ATTEMPTS, LINKS, conform, pairs
from lswc.archive.run_settings import is_new, lacking, language_of, wanted_of
from lswc.lab.trace.builder import places
from lswc.lab.trace.format import ADDRESS, KIND, TIME, URLS, About, compressed_rows, write
from lswc.lab.trace.graph import distances
from lswc.outcomes import RECORDED, Outcome
from lswc.strategy import Anchor, Named
from lswc.urls import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

_OF_THIS_CRAWL = [
    Outcome.STRATEGY.value, Outcome.IRRELEVANT_SERVER.value, Outcome.TOO_MANY_UNPROVEN.value,
]  # fmt: skip
"""Why links were discarded that another strategy, or another cap, may follow."""


def log(crawl: Path, *others: Path) -> tuple[pa.Table, pa.Table]:
    """Return the attempts and the links of a crawl, a killed one's too.

    ``others``: the folders of its other workers, if it has several; then the attempts are in the
    order of their times. Raises ArchiveError if a folder has no crawl log, or a damaged one;
    but a worker may have fetched nothing yet, if another has.
    """
    found = {folder: _log(folder) for folder in (crawl, *others)}
    parts = [part for some in found.values() for part in some]
    without = [folder for folder, some in found.items() if not some]
    if not parts or not all(map(is_new, without)):
        raise lacking(without, "it is not a crawl folder: it has no crawl log")
    attempts = _joined(ATTEMPTS, [part[0] for part in parts])
    links = _joined(LINKS, [part[1] for part in parts])
    if others:
        attempts = attempts.take(pc.sort_indices(attempts, [("time", "ascending")]))
    return attempts, links


def _log(crawl: Path) -> list[tuple[pa.Table, pa.Table]]:
    """Return a folder's tables of attempts and links, oldest first; none if it has no log."""
    return list(pairs(crawl))


def _joined(schema: pa.Schema, parts: Sequence[pa.Table]) -> pa.Table:
    return pa.concat_tables([conform(part, schema) for part in parts]).unify_dictionaries()


@contextmanager
def as_trace(folder: Path, lang: str = "", others: Sequence[Path] = ()) -> Iterator[Path]:
    """Give the folder of a trace: for a crawl with a log, one made of that for the while.

    ``others`` are the folders of its other workers. Raises as ``to_trace`` does.
    """
    if not (others or (folder / "log").is_dir() or is_new(folder)):
        yield folder
        return
    with TemporaryDirectory(prefix="lswc-") as temporary:
        trace = Path(temporary) / "trace"
        to_trace(folder, trace, lang, others)
        yield trace


def to_trace(crawl: Path, out: Path, lang: str = "", others: Sequence[Path] = ()) -> int:
    """Write a crawl's log as a trace; return the number of URLs. Raises ArchiveError, TraceError.

    ``lang`` is the target language's tag, if the crawl has several; ``others`` are the folders of
    its other workers.
    http and https twins are one URL. A URL's last attempt counts. Of the links that were discarded
    only those are in the trace that the strategy discarded, or the cap of unproven sites: another
    may follow them. Links out of a page that was fetched but isn't one are left out.
    """
    target = language_of(crawl, lang)
    for other in others:
        if language_of(other, lang) != target:
            raise ArchiveError(f"{other} is no worker of the crawl of {crawl}: another language")
    attempts, links = log(crawl, *others)
    outcomes = pc.cast(attempts["outcome"], pa.string())
    kinds = pc.cast(attempts["kind"], pa.string())
    is_page = pc.invert(pc.is_in(kinds, pa.array(NO_PAGES)))
    attempts = attempts.filter(pc.and_(is_page, pc.invert(pc.is_in(outcomes, pa.array(NO_VISIT)))))
    dropped = pc.cast(links["dropped"], pa.string())
    links = links.filter(pc.or_(pc.is_null(dropped), pc.is_in(dropped, pa.array(_OF_THIS_CRAWL))))
    words, tried, sources, targets = _numbered(attempts, links)
    rows, columns = _outcomes(len(words), tried, attempts, target.tag)
    if wanted_of(crawl).tag != target.tag:
        columns["relevant"] = pc.fill_null(pc.equal(columns["language"], target.tag), False)
    # Of a page that was visited again the links of its latest visit with a page.
    visits = pc.fill_null(links["visit"], 1).to_numpy()
    latest = np.zeros(len(words) + 1, np.int64)  # one more for sources that are unknown
    np.maximum.at(latest, sources, visits)
    sources[visits < latest[sources]] = -1
    offsets, order = _by_source(sources, len(words), rows)
    anchors = pc.fill_null(links["anchor"], int(Anchor.NONE)).to_numpy().astype(np.int8)
    named = pc.fill_null(links["named"], int(Named.NONE)).to_numpy().astype(np.int8)
    targets, anchors, named = targets[order], anchors[order], named[order]
    seeds = np.unique(tried[_is_seed(attempts)]).astype(np.int32)
    columns["distance"] = distances(offsets, targets, seeds)
    about = About(target.tag, target.tlds, f"crawl {crawl}")
    schema = URLS.append(ADDRESS).append(TIME).append(KIND)
    columns = {"url": words, **places(map(parse, words)), **columns}
    table = pa.table(columns).select(schema.names).cast(schema)
    write(out, about, seeds, [table], compressed_rows(offsets, targets, anchors, named))
    return len(words)


def _numbered(
    attempts: pa.Table, links: pa.Table
) -> tuple[list[str], NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]]:
    """Return the URLs by number; and those of attempts, of links' sources, and of their targets.

    http and https twins are one URL, by the name that was asked for last, or else linked to first.
    A source is -1 if it is no such URL, or was asked for by another name later.
    """
    asked = len(attempts)
    both = pa.chunked_array([*attempts["url"].chunks, *links["target"].chunks], pa.string())
    coded = _without_scheme(both).combine_chunks().dictionary_encode()
    codes = coded.indices.to_numpy().astype(np.int32)
    named_by = np.empty(len(coded.dictionary), np.int64)
    named_by[codes[::-1]] = np.arange(len(codes))[::-1]
    named_by[codes[:asked]] = np.arange(asked)
    words = both.combine_chunks().take(pa.array(named_by))
    known = pc.index_in(_without_scheme(links["source"]), value_set=coded.dictionary)
    is_so_named = pc.fill_null(pc.equal(words.take(known.combine_chunks()), links["source"]), False)
    sources = np.where(is_so_named.to_numpy(), pc.fill_null(known, -1).to_numpy(), -1)
    return words.to_pylist(), codes[:asked], sources.astype(np.int64), codes[asked:]


def _without_scheme(urls: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.replace_substring_regex(pc.cast(urls, pa.string()), "^[a-z]+://", "")


def _is_seed(attempts: pa.Table) -> NDArray[np.bool_]:
    first = pc.and_(pc.is_null(attempts["referrer"]), pc.equal(attempts["depth"], 0))
    found: NDArray[np.bool_] = pc.fill_null(first, False).to_numpy()
    return found


def _outcomes(
    n: int, tried: NDArray[np.int32], attempts: pa.Table, target: str
) -> tuple[NDArray[np.bool_], dict[str, Any]]:
    """Return which URLs may have links, and the columns of what became of each URL."""
    last = np.full(n, -1, np.int64)
    last[tried] = np.arange(len(tried))
    known = pa.array(np.where(last < 0, 0, last), mask=last < 0)
    taken = attempts.select(_TAKEN).take(known)
    status = pc.fill_null(taken["status"], 0).to_numpy()
    recorded = pc.is_in(pc.cast(taken["outcome"], pa.string()), pa.array(RECORDED))
    recorded = pc.fill_null(recorded, False).to_numpy()
    status = np.where(recorded & (status == 304), 200, status)  # it is as it was stored
    page: NDArray[np.bool_] = recorded & (status // 100 == 2)
    blank = pa.array(~page)
    empty = pa.scalar(None, pa.string())
    words = {
        name: pc.if_else(blank, empty, values)
        for name, values in (
            ("language", _languages(taken, target)),
            ("encoding", pc.cast(taken["encoding"], pa.string())),
            ("kind", pc.cast(taken["kind"], pa.string())),
        )
    }
    words["relevant"] = pc.and_(pa.array(page), pc.fill_null(taken["relevant"], False))
    words |= {"address": taken["address"], "time": taken["time"]}
    return page | (status // 100 == 3), {"status": status, "page": page, **words}


def _languages(attempts: pa.Table, target: str) -> pa.ChunkedArray:
    """Return the pages' languages; for a crawl of a variant, their variants where known."""
    languages = pc.cast(attempts["language"], pa.string())
    if "-" not in target:
        return languages
    variants = pc.cast(attempts["variant"], pa.string())
    return pc.if_else(pc.equal(pc.fill_null(variants, ""), ""), languages, variants)


def _by_source(
    sources: NDArray[np.int64], n: int, linking: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the offsets of each URL's links, and the order that puts them together."""
    valid = np.flatnonzero((sources >= 0) & linking[sources])
    order = valid[np.argsort(sources[valid], kind="stable")]
    counts = np.bincount(sources[order], minlength=n)
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), order


_TAKEN = [
    "status", "outcome", "kind", "language", "variant", "relevant", "encoding", "address", "time",
]  # fmt: skip
