"""Where the strategy is asked: the facts of every link in, an offer or its refusal out."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from lswc.crawl.page_item import Page
from lswc.crawl.running import RunningCrawl, running_of
from lswc.frontier.harvest import group
from lswc.frontier.lease import Offer
from lswc.frontier.visit import FollowedLink
from lswc.outcomes import Outcome
from lswc.strategy import DISCARD, PageLanguage, Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from lswc.frontier.visit import Visit


# A page has many, and this takes three quarters of the time that Offer(...) does.
_offer: Callable[[tuple[str, str, str, int, PageLanguage, int, int]], Offer] = partial(
    tuple.__new__, Offer
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
        visit.offers = [*self._offers(item), *visit.offers]
        visit.relevant = item.relevant
        if item.reading.unwanted:
            self._running.commit(visit, item.reading.unwanted)
            return None
        _count(item)
        if len(self._targets) > 1:
            for tag in self._identifier.relevant_for(item.reading.identification):
                visit.tally["relevant", tag] += 1
        return item.record()

    def _offers(self, page: Page) -> Iterable[Offer]:
        """Return the offers of the links that are kept, each once; say what becomes of all.

        Most links of a page have the same facts as others of it, about which is asked once.
        """
        visit, facts = page.visit, page.link_facts()
        numbers = Counter(facts)
        answers = {
            own: self._ask(visit, code, own[0], numbers[own])
            for own, code in page.codes(numbers).items()
        }
        identified, depth = page.reading.identified, visit.lease.depth + 1
        offers: dict[Offer, None] = {}
        for link, unit, own in zip(page.links, page.units, facts, strict=True):
            code, tier, dropped = answers[own]
            url = link.url
            visit.links.append(FollowedLink(url.href, link.anchor, tier, dropped, link.named))
            if dropped is None:
                offers[_offer((url.href, url.server, unit, code, identified, depth, 0))] = None
        return offers

    def _ask(
        self, visit: Visit, code: int, target_server: Status, number: int
    ) -> tuple[int, int | None, str | None]:
        """Count links of a code; return it, their tier, and why they are dropped, None if not.

        The tier is None if the order is learned: the frontier knows it.
        """
        tier = None if self._strategy.learns else self._strategy.cell(code, target_server)
        if tier == DISCARD:
            irrelevant = target_server == Status.IRRELEVANT
            reason = Outcome.IRRELEVANT_SERVER if irrelevant else Outcome.STRATEGY
            visit.tally["dropped", reason] += number
            return code, None, reason
        visit.tally["kept", "links" if tier is None else f"tier {tier}"] += number
        return code, tier, None


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
