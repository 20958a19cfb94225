"""Resending: links that the log has to sites whose worker lost its disk are offered once more."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from lswc.archive.logged_links import OF_PAGE, Logged, links_by_page
from lswc.frontier.exchange.owners import part_of
from lswc.frontier.rules.visit import Offer
from lswc.urls import parse, site_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from lswc.crawl.configuration import Crawl
    from lswc.frontier.store.frontier import Frontier

PAGES = 50
"""Pages whose links are offered in one step."""


def resent(crawl: Crawl, frontier: Frontier, parts: Collection[int]) -> Iterator[bool]:
    """Offer the links to sites of these parts again, and the seeds, some in each step.

    They have the facts that they had, as far as the log tells. Raises LswcError.
    """
    frontier.offer(
        [
            offer
            for offer in map(crawl.seed, crawl.seeds)
            if isinstance(offer, Offer) and part_of(site_of(offer.server)) in parts
        ]
    )
    yield True
    logged = Logged(crawl.language.tlds, crawl.unit)
    for number, (page, links) in enumerate(_pages(crawl, parts), 1):
        frontier.sharing.offer_again(page["url"], partial(logged.offers, page, links))
        if number % PAGES == 0:
            yield True


def _pages(
    crawl: Crawl, parts: Collection[int]
) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Yield the log's rows of pages with links to these parts, and those links."""
    from lswc.archive.log_tables import pairs  # not above: Arrow takes 50 MB

    for attempts, links in pairs(crawl.folder):
        pages: dict[str, dict[str, Any]] = {}
        for source, _, found in links_by_page(links, lambda target: _part(target) in parts):
            pages = pages or {row["url"]: row for row in attempts.select(OF_PAGE).to_pylist()}
            if source in pages:
                yield pages[source], found


def _part(url: str) -> int:
    parsed = parse(url)
    return -1 if parsed is None else part_of(site_of(parsed.server))
