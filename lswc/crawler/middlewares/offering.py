"""Where the strategy is asked: the facts of every link in, an offer or its refusal out."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Self

from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from lswc.crawler.items import Link, Page
from lswc.crawler.running import RunningCrawl, running_of
from lswc.frontier.harvest import group
from lswc.outcomes import Outcome
from lswc.strategy import DISCARD, Status
from lswc.visit.lease import Offer
from lswc.visit.visit import FollowedLink

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy.crawler import Crawler
    from scrapy.http import Response


# A page has many, and this takes a third of the time that FollowedLink(...) does.
_followed: Callable[[tuple[str, int, int | None, str | None, int]], FollowedLink] = partial(
    tuple.__new__, FollowedLink
)


class StrategyMiddleware(BaseSpiderMiddleware):
    """Asks the strategy about every link and turns the page into its record.

    What the page brought goes into its visit, and into the frontier when that is committed. The
    visit of a page that asks not to be kept ends here: its links and its language count, but
    there is no record of it.
    """

    def __init__(self, crawler: Crawler, running: RunningCrawl) -> None:
        super().__init__(crawler)
        self._running = running
        self._strategy = running.crawl.strategy
        self._identifier = running.crawl.reader.identifier
        self._targets = running.crawl.language.tags

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler, running_of(crawler))

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        if not isinstance(item, Page):
            return item
        visit = item.visit
        if not self._running.is_under_way(visit):
            return None  # its lease has ended: what comes of the URL is another visit's
        offers = map(partial(self._ask, item), item.links, item.codes())
        visit.offers = [*(offer for offer in offers if offer is not None), *visit.offers]
        visit.relevant = item.relevant
        if item.reading.unwanted:
            self._running.commit(visit, item.reading.unwanted)
            return None
        _count(item)
        if len(self._targets) > 1:
            for tag in self._identifier.relevant_for(item.reading.identification):
                visit.tally["relevant", tag] += 1
        return item.record()

    def _ask(self, page: Page, link: Link, code: int) -> Offer | None:
        visit, url, tier = page.visit, link.url, self._tier(code, link)
        if tier == DISCARD:
            reason = _reason(link)
            visit.tally["dropped", reason] += 1
            visit.links.append(_followed((url.href, link.anchor, None, reason, link.named)))
            return None
        visit.tally["kept", "links" if tier is None else f"tier {tier}"] += 1
        visit.links.append(_followed((url.href, link.anchor, tier, None, link.named)))
        identified, depth = page.reading.identified, visit.lease.depth + 1
        return Offer(url.href, url.server, link.unit, code, identified, depth)

    def _tier(self, code: int, link: Link) -> int | None:
        """Return a link's tier, or DISCARD; None if the order is learned: the frontier knows it."""
        if self._strategy.learns:
            return None
        return self._strategy.cell(code, link.target_server)


def _count(page: Page) -> None:
    tally, identified = page.visit.tally, page.reading.identification
    guessed = "guessed" if page.guessed else "irrelevant"
    tally["page", "relevant" if page.identified else guessed] += 1
    tally["kind", page.reading.kind] += 1
    if page.identified:
        tally["source", page.visit.lease.source] += 1
    tally["language", identified.language or "unknown"] += 1
    tally["encoding", identified.encoding] += 1
    tally["fetched", group(page.visit.lease.cell, page.visit.lease.expected)] += 1


def _reason(link: Link) -> Outcome:
    irrelevant = link.target_server == Status.IRRELEVANT
    return Outcome.IRRELEVANT_SERVER if irrelevant else Outcome.STRATEGY
