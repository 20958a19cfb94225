"""Small random webs for hypothesis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st

from lswc.lab.trace import graph
from lswc.lab.trace.format import About, Fate, Texts, Trace
from lswc.strategy import PageLanguage

if TYPE_CHECKING:
    from numpy.typing import NDArray

STRATEGIES = [
    "bfs", "hard_focused", "soft_focused", "distance", "limited_distance:N=2",
    "limited_distance:N=3", "server_aggressive:T=0", "server_aggressive:T=2",
    "server_conservative:T=1", "directory_conservative:T=1", "lswc:S=1,T=1", "lswc:S=1,T=2",
    "lswc:S=2,T=5", "tld_anchor", "tld", "anchor", "site_queues", "site_queues:L=3", "spiderling",
    "perfect", "adaptive", "adaptive_text",
]  # fmt: skip


@st.composite
def webs(draw: st.DrawFn) -> Trace:
    """Draw a web with pages, failures, URLs never downloaded, any links, and any seeds.

    Redirects lead anywhere: to other sites, in chains, in loops, to themselves.
    """
    n = draw(st.integers(1, 30))
    servers = draw(st.integers(1, min(n, 8)))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    server = np.sort(random.integers(0, servers, n)).astype(np.int32)
    if draw(st.booleans()):
        random.shuffle(server)
    site = random.integers(0, servers, servers).astype(np.int32)
    directory = np.unique(server * 3 + random.integers(0, 3, n), return_inverse=True)[1]
    redirects = draw(st.sampled_from([0.1, 0.4]))
    fate = random.choice(
        [Fate.PAGE, Fate.NEVER, Fate.FAILED, Fate.REDIRECT],
        n,
        p=[0.8 - redirects, 0.1, 0.1, redirects],
    ).astype(np.int8)
    fate[0] = Fate.PAGE
    likely = draw(st.sampled_from([0.1, 0.3, 0.6]))
    language = random.choice(
        list(PageLanguage), n, p=[likely, (1 - likely) / 3, (1 - likely) / 3, (1 - likely) / 3]
    ).astype(np.int8)
    degree = np.where(fate == Fate.PAGE, random.poisson(draw(st.sampled_from([1, 3, 8])), n), 0)
    degree[fate == Fate.REDIRECT] = 1
    offsets = np.concatenate([[0], np.cumsum(degree)]).astype(np.int64)
    m = int(offsets[-1])
    targets = random.integers(0, n, m).astype(np.int32)
    seeds = random.integers(0, n, draw(st.integers(1, 3))).astype(np.int32)
    return Trace(
        About("th", ("th",), "random"),
        server,
        directory.astype(np.int32),
        site,
        random.random(servers) < 0.4,
        language,
        fate,
        graph.distances(offsets, targets, seeds),
        offsets,
        targets,
        random.integers(0, 3, m).astype(np.int8),
        seeds,
        random.integers(0, 3, m).astype(np.int8),
        (server * 4 + random.integers(0, 4, n)).astype(np.int32),
        texts(random, fate == Fate.PAGE),
    )


def texts(random: np.random.Generator, is_page: NDArray[np.bool_]) -> Texts:
    """Draw a text for each page, of paragraphs that many have."""
    n = len(is_page)
    size = np.where(is_page, random.integers(1, 5_000, n), 0)
    numbers = np.where(is_page, random.integers(0, 5, n), 0)
    offsets = np.concatenate([[0], np.cumsum(numbers)]).astype(np.int64)
    paragraphs = random.integers(0, max(1, offsets[-1]), offsets[-1])
    return Texts(
        size.astype(np.int32),
        (size * random.choice([0, 0.004, 0.5], n)).astype(np.int32),
        offsets,
        paragraphs.astype(np.int32),
        random.integers(1, 3_000, offsets[-1]).astype(np.int32),
    )
