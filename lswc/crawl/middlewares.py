"""Spider middlewares, each of which adds what it knows to a page, and the pipeline at their end.

A page comes by ServerRelevance, ReferrerDistance, LinkLanguage, Strategy (which makes its record),
the guard, and RecordPipeline, in this order.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, signals
from scrapy.exceptions import NotConfigured
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware
from typing_extensions import override

from lswc.crawl import placement
from lswc.crawl.composition import parts_of
from lswc.crawl.pages import Page
from lswc.crawl.requests import visit_of
from lswc.errors import LswcError
from lswc.frontier.rules.visit import FollowedLink, Offer, Record
from lswc.outcomes import Outcome
from lswc.safety.content_types import Kind
from lswc.strategy import DISCARD, PageLanguage, Status, next_distance
from lswc.urls import tld

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Container, Iterable

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from lswc.crawl.commits import Commits
    from lswc.crawl.configuration import Crawl
    from lswc.frontier import Frontier
    from lswc.frontier.rules.visit import Visit
    from lswc.reading.page import ReadLink
    from lswc.strategy import Strategy


# A page has many, and this takes three quarters of the time that Offer(...) does.
_offer: Callable[[tuple[str, str, str, int, PageLanguage, int, int]], Offer] = partial(
    tuple.__new__, Offer
)


class _PageMiddleware(BaseSpiderMiddleware):
    """Scrapy's base, without a second generator round each, which looks for an old argument."""

    @override
    async def process_spider_output_async(
        self, response: Response | None, result: AsyncIterator[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        async for item in result:
            if (processed := self._get_processed(item, response)) is not None:
                yield processed


class ServerRelevanceMiddleware(_PageMiddleware):
    """Adds the status of the page's server, and of every link's target if the strategy asks for it.

    Taken after this page was counted (Tamura 2007 Fig. 3); directories instead of servers if
    the strategy counts by them.
    """

    def __init__(
        self, crawler: Crawler, strategy: Strategy, frontier: Frontier, commits: Commits
    ) -> None:
        super().__init__(crawler)
        self._frontier, self._commits = frontier, commits
        self._of_links = "target_server" in strategy.facts

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        parts = parts_of(crawler)
        return cls(crawler, parts.crawl.strategy, parts.frontier, parts.commits)

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        if isinstance(item, Page):
            lease = item.visit.lease
            units = {lease.unit, *(item.units if self._of_links else ())}
            try:
                item.statuses = self._frontier.statuses(units, lease, item.counted)
            except LswcError as error:
                self._commits.fail(error)
                return None
            item.server_status = item.statuses[lease.unit]
        return item


class ReferrerDistanceMiddleware(_PageMiddleware):
    """Adds the distance of the page's links from the latest relevant referrer (Kumar §III)."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        placement.only_for_crawls(crawler)
        return cls(crawler)

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        if isinstance(item, Page):
            item.link_distance = next_distance(item.relevant, item.distance)
        return item


class LinkLanguageMiddleware(_PageMiddleware):
    """Adds whether the target's TLD is the language's (Chan & Yamana 2010 §3).

    The other half, the anchor text's language, was determined when the page was read.
    """

    def __init__(self, crawler: Crawler, tlds: Iterable[str]) -> None:
        super().__init__(crawler)
        self._tlds = frozenset(tlds)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler, parts_of(crawler).crawl.language.tlds)

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        if isinstance(item, Page):
            item.in_tld = in_tlds(item.links, self._tlds)
        return item


def in_tlds(links: Iterable[ReadLink], tlds: Container[str]) -> set[str]:
    """Return the host names of links whose top-level domain is one of these."""
    names = {link.url.hostname for link in links}
    return {name for name in names if tld(name) in tlds}


class StrategyMiddleware(_PageMiddleware):
    """Asks the strategy about every link and turns the page into its record.

    What the page brought goes into its visit, and into the frontier when that is committed. The
    visit of a page that asks not to be kept ends here: its links and its language count, but
    there is no record of it.
    """

    def __init__(self, crawler: Crawler, crawl: Crawl, commits: Commits) -> None:
        super().__init__(crawler)
        self._commits = commits
        self._strategy = crawl.strategy
        self._identifier = crawl.reader.identifier
        self._targets = crawl.language.tags

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        parts = parts_of(crawler)
        return cls(crawler, parts.crawl, parts.commits)

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        if not isinstance(item, Page):
            return item
        visit = item.visit
        if visit.is_over:
            return None  # its lease has ended: what comes of the URL is another visit's
        visit.offers = [*self._offers(item), *visit.offers]
        if visit.unshown:
            self._commits.commit(visit, visit.unshown)
            return None
        visit.relevant, visit.brought = item.relevant, item.counted
        if item.reading.unwanted:
            self._commits.commit(visit, item.reading.unwanted)
            return None
        self._count(item)
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
            code, tier, discarded = answers[own]
            url = link.url
            visit.links.append(FollowedLink(url.href, link.anchor, tier, discarded, link.named))
            if discarded is None:
                offers[_offer((url.href, url.server, unit, code, identified, depth, 0))] = None
        return offers

    def _ask(
        self, visit: Visit, code: int, target_server: Status, number: int
    ) -> tuple[int, int | None, str | None]:
        """Count links of a code; return it, their tier, and why they are discarded, None if not.

        The tier is None if the frontier alone knows it.
        """
        tier = None if self._strategy.asks_frontier else self._strategy.cell(code, target_server)
        if tier == DISCARD:
            irrelevant = target_server == Status.IRRELEVANT
            reason = Outcome.IRRELEVANT_SERVER if irrelevant else Outcome.STRATEGY
            visit.tally["discarded", reason] += number
            return code, None, reason
        visit.tally["kept", "links" if tier is None else f"tier {tier}"] += number
        return code, tier, None

    def _count(self, page: Page) -> None:
        visit, identification = page.visit, page.reading.identification
        if visit.lease.visits:  # the frontier counts what became of it
            return
        visit.count_page(
            page.reading.kind, identification.language, identification.encoding,
            relevant=bool(page.identified), guessed=page.guessed,
        )  # fmt: skip
        if len(self._targets) > 1:
            for tag in self._identifier.relevant_for(identification):
                visit.tally["relevant", tag] += 1


class VisitGuardMiddleware:
    """Ends the visit of a page that brought no record, and doesn't go on with another request.

    Of an output that is empty, or emptied by a middleware, Scrapy sends no signal.
    """

    def __init__(self, commits: Commits) -> None:
        self._commits = commits

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(parts_of(crawler).commits)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        visit = visit_of(response)
        goes_on = False
        async for item in result:
            goes_on |= isinstance(item, Record) or _is_of(visit, item)
            yield item
        if visit is not None and not goes_on:
            self._commits.commit(visit, Outcome.NO_RECORD)


def _is_of(visit: Visit | None, item: object) -> bool:
    return visit is not None and isinstance(item, Request) and visit_of(item) is visit


class EntryPipeline:
    """Keeps a record while it passes a user's pipelines, which may make something else of it.

    What they make goes to feeds; the page is recorded as it came. It is the first pipeline.
    """

    def __init__(self, commits: Commits) -> None:
        self._commits = commits
        self._entered: dict[int, Record] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Raise NotConfigured if there is no pipeline of a user's."""
        parts = parts_of(crawler)
        placed = crawler.settings.getdict("ITEM_PIPELINES")
        if not placed.keys() - placement.own("ITEM_PIPELINES").keys():
            raise NotConfigured
        pipeline = cls(parts.commits)
        for signal in (signals.item_scraped, signals.item_dropped, signals.item_error):
            crawler.signals.connect(pipeline.passed, signal)
        return pipeline

    def process_item(self, item: Any) -> Any:
        """Keep a Record; other items pass."""
        if isinstance(item, Record):
            self._entered[item.id] = item
        return item

    def passed(self, item: Any, response: Response | None, signal: object) -> None:
        """End the visit of a record that became something else on its way."""
        visit = visit_of(response)
        entered = None if visit is None else self._entered.pop(visit.lease.id, None)
        became = signal is signals.item_scraped and not isinstance(item, Record)
        if visit is not None and entered is not None and became:
            _record(self._commits, visit, entered)


class RecordPipeline:
    """Ends the visits of the pages whose records reach it.

    It is the last pipeline: a page that another one drops has no record.
    """

    def __init__(self, commits: Commits) -> None:
        self._commits = commits

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(parts_of(crawler).commits)

    def process_item(self, item: Any) -> Any:
        """Take a Record; other items pass. A Page is a TypeError: a middleware is missing."""
        if isinstance(item, Page):
            raise TypeError(
                "a Page reached the pipelines: StrategyMiddleware is missing in SPIDER_MIDDLEWARES"
            )
        visit = self._commits.visits.get(item.id) if isinstance(item, Record) else None
        if visit is not None:
            _record(self._commits, visit, item)
        return item


def _record(commits: Commits, visit: Visit, record: Record) -> None:
    """End a visit with its page's record, if it hasn't ended yet."""
    if visit.is_over or visit.relevant is None:  # it is of an earlier lease
        return
    visit.record = record
    commits.commit(visit, Outcome.HTML if record.kind == Kind.HTML else Outcome.DOCUMENT)
