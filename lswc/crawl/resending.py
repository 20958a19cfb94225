"""Resending: links that the log has to sites whose worker lost its disk are offered once more."""

from __future__ import annotations

from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from lswc.frontier.exchange.owners import part_of
from lswc.frontier.rules.contract import site_of
from lswc.frontier.rules.visit import Offer
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
    from collections.abc import Collection, Iterator

    from lswc.crawl.configuration import Crawl
    from lswc.frontier.store.frontier import SqliteFrontier

PAGES = 50
"""Pages whose links are offered in one step."""


def resent(crawl: Crawl, frontier: SqliteFrontier, parts: Collection[int]) -> Iterator[bool]:
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
    for number, (page, targets) in enumerate(_pages(crawl, parts), 1):
        frontier.sharing.offer_again(page["url"], partial(_offers, crawl, page, targets))
        if number % PAGES == 0:
            yield True


def _pages(
    crawl: Crawl, parts: Collection[int]
) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Yield the log's rows of pages with links to these parts, and those links."""
    from lswc.archive.log_tables import pairs  # not above: Arrow takes 50 MB

    columns = ["url", "language", "relevant", "guessed", "server_status", "distance", "depth"]
    for attempts, links in pairs(crawl.folder):
        wanted = [
            link
            for link in links.select(["source", "target", "anchor", "named"]).to_pylist()
            if _part(link["target"]) in parts
        ]
        if not wanted:
            continue
        pages = {row["url"]: row for row in attempts.select(columns).to_pylist()}
        for source, targets in groupby(wanted, itemgetter("source")):
            if source in pages:
                yield pages[source], list(targets)


def _part(url: str) -> int:
    parsed = parse(url)
    return -1 if parsed is None else part_of(site_of(parsed.server))


def _offers(
    crawl: Crawl, page: dict[str, Any], targets: list[dict[str, Any]], code: int, depth: int
) -> list[Offer]:
    beside = PageLanguage.beside(page["language"])
    identified = PageLanguage.TARGET if page["relevant"] else beside
    is_relevant = bool(page["relevant"] or page["guessed"])
    language = PageLanguage.TARGET if is_relevant else identified
    distance = next_distance(is_relevant, page["distance"] or 1)
    status = Status[(page["server_status"] or "undecided").upper()]
    offers = []
    for link in targets:
        url = parse(link["target"])
        if url is None:
            continue
        facts = Facts(
            language,
            distance,
            max(status, Status.UNDECIDED),
            Status.UNVISITED,
            Locality.ELSEWHERE,
            tld(url.hostname) in crawl.language.tlds,
            Anchor(link["anchor"] or 0),
            from_site_queue(code),
            False,
            Named(link["named"] or 0),
            False,
            code == SEED,
        )
        own = encode(facts)
        offers.append(Offer(url.href, url.server, crawl.unit(url), own, identified, depth + 1))
    return offers
