"""Logged links: what the log has of a page's links, as offers to a frontier.

They have the facts that they had when the page was read, as far as the log tells.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from lswc.frontier.rules.visit import Offer, locality
from lswc.strategy import (
    SEED,
    Anchor,
    Facts,
    Locality,
    Named,
    PageLanguage,
    Status,
    encode,
    from_site_queue,
    next_distance,
)
from lswc.urls import parse, tld

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    from pyarrow import Table

    from lswc.urls import Url

LINK_COLUMNS = ["target", "anchor", "named", "tier"]
OF_PAGE = ["url", "language", "relevant", "guessed", "server_status", "distance", "depth"]
"""Columns of the log that are needed of a page, to offer its links."""


class Logged(NamedTuple):
    """How a crawl offers links: the top-level domains of its language; what a URL is counted by."""

    tlds: Container[str]
    unit: Callable[[Url], str]

    def offer(self, url: Url, code: int, inherited: PageLanguage, depth: int) -> Offer:
        """Return the offer of a URL."""
        return Offer(url.href, url.server, self.unit(url), code, inherited, depth)

    def offers(
        self, page: dict[str, Any], links: Iterable[dict[str, Any]], code: int, depth: int
    ) -> list[Offer]:
        """Return the offers of a page's links; the link to the page had this code, and depth."""
        beside = PageLanguage.beside(page["language"])
        identified = PageLanguage.TARGET if page["relevant"] else beside
        is_relevant = bool(page["relevant"] or page["guessed"])
        status = Status[(page["server_status"] or "undecided").upper()]
        facts = Facts(
            PageLanguage.TARGET if is_relevant else identified,
            next_distance(is_relevant, page["distance"] or 1),
            max(status, Status.UNDECIDED),
            Status.UNVISITED,
            Locality.ELSEWHERE,
            False,
            Anchor.NONE,
            from_site_queue(code),
            from_seed=code == SEED,
        )
        here = parse(page["url"])
        found = ((link, parse(link["target"])) for link in links)
        return [
            self.offer(
                url,
                encode(
                    facts._replace(
                        locality=Locality.ELSEWHERE
                        if here is None
                        else locality(here.server, url.server),
                        tld=tld(url.hostname) in self.tlds,
                        anchor=Anchor(link["anchor"] or 0),
                        named=Named(link["named"] or 0),
                    )
                ),
                identified,
                depth + 1,
            )
            for link, url in found
            if url is not None
        ]


def links_by_page(
    links: Table, is_wanted: Callable[[str], bool] = lambda target: True
) -> Iterator[tuple[str, int, list[dict[str, Any]]]]:
    """Yield pages of a table of the log with the links that were kept of them, and are wanted.

    A page is told by its URL, and the number of its visit.
    """
    columns = ["source", "visit", "dropped", *LINK_COLUMNS]
    rows = (
        row
        for batch in links.select(columns).to_batches(max_chunksize=10_000)
        for row in batch.to_pylist()
        if row["dropped"] is None and is_wanted(row["target"])
    )
    for (source, visit), found in groupby(rows, itemgetter("source", "visit")):
        yield source, visit or 1, list(found)
