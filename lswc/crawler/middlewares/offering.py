"""Where the strategy is asked: the facts of every link in, its tier or its refusal out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from lswc.crawl import crawl_of
from lswc.crawler.scheduler import scheduler_of
from lswc.frontier.contract import Found, Offer
from lswc.reading.page import Link, Page
from lswc.strategy import DISCARD, Facts, Status, encode, from_site_queue
from lswc.visit.record import Record

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class StrategyMiddleware(BaseSpiderMiddleware):
    """Asks the strategy for the tier of every link and turns the page into its record.

    What the page brought goes with its lease, and into the frontier when the lease ends. That of
    a page that asks not to be kept ends here: its links and its language count, but there is no
    record of it.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._tiers = crawl_of(crawler).strategy.table()

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        if not isinstance(item, Page):
            return item
        in_site = from_site_queue(item.lease.code)
        item.lease.offers = [
            offer for link in item.links if (offer := self._ask(item, link, in_site))
        ]
        item.lease.relevant = item.relevant
        if item.unwanted:
            scheduler_of(self.crawler).finish(item.lease.id, item.unwanted)
            return None
        self._count(item)
        return Record.of(item)

    def _ask(self, page: Page, link: Link, in_site: bool) -> Offer | None:
        code = encode(facts(page, link, in_site))
        tier = self._tiers[code][link.target_server]
        if tier == DISCARD:
            page.lease.tally["dropped", _reason(link)] += 1
            page.lease.links.append(Found(link.url.href, link.anchor, None, _reason(link)))
            return None
        page.lease.tally["kept", f"tier {tier}"] += 1
        page.lease.links.append(Found(link.url.href, link.anchor, tier, None))
        return Offer(
            link.url.href, link.url.server, link.unit, code, page.identified, page.lease.depth + 1
        )

    def _count(self, page: Page) -> None:
        tally = page.lease.tally
        tally["page", "relevant" if page.relevant else "irrelevant"] += 1
        tally["language", page.identification.language or "unknown"] += 1
        tally["encoding", page.identification.encoding] += 1
        tally["fetched", f"tier {page.lease.tier}"] += 1


def facts(page: Page, link: Link, in_site: bool) -> Facts:
    """Return the facts of a link, once all middlewares have added theirs."""
    return Facts(
        page.language,
        page.link_distance,
        page.server_status,
        link.target_server,
        link.locality,
        link.tld,
        link.anchor,
        in_site,
    )


def _reason(link: Link) -> str:
    return "irrelevant server" if link.target_server == Status.IRRELEVANT else "strategy"
