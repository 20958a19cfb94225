"""An earlier crawl: the pages that lead to most other servers in the language."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lswc.archive.store import SETTINGS, wanted_of
from lswc.lab.analysis.collection import Collection
from lswc.lab.trace.from_log import as_trace
from lswc.seeds.candidates import Candidate, SeedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from lswc.lab.trace.format import Trace
    from lswc.seeds.candidates import Asked


def read(folder: Path, asked: Asked) -> Iterator[Candidate]:
    """Yield the best hubs of a crawl with a log, or of a trace, the best first.

    Raises SeedError for a crawl of another language and for data without links or URLs, LswcError
    for a torn trace.
    """
    asked.say("links", 0, 0)
    with as_trace(folder, _one_of(folder, asked.codes)) as trace:
        collection = Collection.read(trace)
        if collection.trace is None:
            raise SeedError(f"{folder}: hubs need links, which a crawl with a log or a trace has")
        language = collection.about.language
        if language not in asked.codes:
            raise SeedError(f"{folder} is a crawl of {collection.language}")
        wanted = hubs(collection.trace).tolist()
        named = dict(collection.rows("SELECT id, url FROM urls WHERE page AND url <> ''"))
    if wanted and not any(page in named for page in wanted):
        raise SeedError(f"{folder} has no URLs in words: a synthetic web makes no seeds")
    for rank, page in enumerate(wanted, 1):
        if page in named:
            yield Candidate(named[page], language=language, weight=1 / rank)


def hubs(trace: Trace) -> NDArray[np.int32]:
    """Return the best hub page of each relevant server, the best server first.

    Servers are ranked by the number of other relevant servers that their pages link to, then by
    the number of those links: a server that points the way to many others is a good place to
    begin. A server's hub is its relevant page with the most such links. Servers without such
    links are left out.
    """
    relevant = trace.relevant
    has_relevant = np.zeros(len(trace.site), np.bool_)
    has_relevant[trace.server[relevant]] = True
    source, target = _between(trace, relevant, has_relevant)
    servers = len(trace.site)
    pairs = np.unique(trace.server[source].astype(np.int64) * servers + trace.server[target])
    reached = np.bincount(pairs // servers, minlength=servers)
    linked = np.bincount(trace.server[source], minlength=servers)
    pages, outgoing = np.unique(source, return_counts=True)
    at = trace.server[pages]
    order = np.lexsort((pages, -outgoing, at, -linked[at], -reached[at]))
    first = np.concatenate([[True], np.diff(at[order]) != 0]) if len(order) else order > 0
    found: NDArray[np.int32] = pages[order][first].astype(np.int32)
    return found


def _between(
    trace: Trace, relevant: NDArray[np.bool_], has_relevant: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return the links of relevant pages to other relevant servers, as sources and targets."""
    sources, targets = [], []
    step = 1 << 20
    for first in range(0, trace.urls, step):
        offsets = trace.offsets[first : first + step + 1]
        target = trace.targets[offsets[0] : offsets[-1]]
        source = np.repeat(np.arange(first, first + len(offsets) - 1), np.diff(offsets))
        home, there = trace.server[source], trace.server[target]
        kept = relevant[source] & (home != there) & has_relevant[there]
        sources.append(source[kept])
        targets.append(target[kept])
    return np.concatenate(sources), np.concatenate(targets)


def _one_of(folder: Path, codes: Sequence[str]) -> str:
    """Return which language of a crawl of several is asked for; "" for any other collection."""
    if not (folder / SETTINGS).is_file():
        return ""
    tags = wanted_of(folder).tags
    return next((code for code in codes if code in tags), "") if len(tags) > 1 else ""
