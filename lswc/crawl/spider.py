"""The spider: ``scrapy crawl lswc -a lang=th``."""

from __future__ import annotations

import logging
from asyncio import ensure_future
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.spidermiddlewares.httperror import HttpError

from lswc import __version__
from lswc.crawl import browsers, profiles
from lswc.crawl.configuration import Crawl
from lswc.crawl.failures import outcome_of
from lswc.crawl.internet import ScrapyInternet
from lswc.crawl.page import Page
from lswc.crawl.readers import ReaderError, Unread
from lswc.crawl.recrawl import NOT_MODIFIED
from lswc.crawl.requests import url_of, visit_of
from lswc.crawl.running import RunningCrawl
from lswc.crawl.stores import control_of, frontier_of, handles_of
from lswc.errors import ConfigError, LswcError
from lswc.frontier.visit import FollowedLink
from lswc.guest.control_in_effect import at_start
from lswc.guest.internet import ClosingError
from lswc.monitor import metrics
from lswc.outcomes import Outcome
from lswc.reading.messages import Asked, AskedListing, AskedRequisite
from lswc.reading.page import without_closed
from lswc.reading.requisites import Needed, RequisiteReader
from lswc.safety.content_types import document_named, file_name, kind_of
from lswc.strategy import effective_language

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

    from lswc.frontier.visit import Visit
    from lswc.reading.page import PageReading


logger = logging.getLogger(__name__)


class LswcSpider(Spider):
    """Collects the pages of one language, or of several.

    Arguments: ``lang``, an ISO 639 code, or a variant's tag such as zh-Hant, or several with
    commas between; ``seeds``, a
    file with one URL a line, instead of those shipped. Raises ConfigError for any other.
    """

    name = "lswc"

    def __init__(self, lang: str = "", seeds: str = "", **kwargs: Any) -> None:
        unknown = [name for name in kwargs if not name.startswith("_")]  # scrapyd passes _job
        if unknown:
            raise ConfigError(f"unknown argument -a {unknown[0]}; known: lang, seeds")
        super().__init__(**kwargs)
        self.lang = lang
        self.seeds = seeds

    @cached_property
    def crawl(self) -> Crawl:
        """The crawl, by the settings as they are once add-ons were applied."""
        return Crawl.of(self.settings, self.lang, self.seeds)

    @cached_property
    def running(self) -> RunningCrawl:
        """The crawl under way: opened for the first component that is built."""
        internet = ScrapyInternet(self.crawler)
        return RunningCrawl(self.crawl, self.settings, self.crawler.stats, self._close, internet)

    def _close(self, reason: str) -> None:
        closing = self.crawler.engine.close_spider_async(reason=reason)
        self._closing = ensure_future(closing)

    async def start(self) -> AsyncIterator[Any]:
        """Yield nothing: the scheduler offers the seeds to the frontier before the start."""
        return
        yield

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Say who crawls: in the User-Agent, unless the user gave another; an address, in From."""
        super().update_settings(settings)
        if contact := settings.get("LSWC_CONTACT"):
            settings.set("USER_AGENT", f"lswc/{__version__} (+{contact})", priority="spider")
            if "://" not in contact:  # an e-mail address: RFC 9110 §10.1.2
                headers = {**settings.getdict("DEFAULT_REQUEST_HEADERS"), "From": contact}
                settings.set("DEFAULT_REQUEST_HEADERS", headers, priority="spider")

    @classmethod
    def check(cls, settings: BaseSettings, **arguments: Any) -> None:
        """Do what the crawl's start will do, up to the first fetch. Raises LswcError."""
        settings = settings.copy()
        cls.update_settings(settings)
        profiles.apply(settings)
        spider = cls(**arguments)
        crawl = Crawl.of(settings, spider.lang, spider.seeds)
        handles_of(crawl, settings)
        metrics.check(settings)
        if crawl.browser is not None:
            browsers.check(crawl.browser)
        frontier_of(crawl, settings).close()
        at_start(control_of(crawl, settings))

    async def parse(self, response: Response, **kwargs: Any) -> AsyncIterator[Page]:
        """Yield the response as one Page, if it is one."""
        visit = visit_of(response)
        if visit is not None and not visit.lease.is_page:
            if visit.lease.is_listing:
                await self._end_listing(response, visit)
            else:
                await self._end_requisite(response, visit)
            return
        page = await self.read(response)
        if page is None:
            return
        if self._is_up_to_server(page):
            await self._ask_server(page, len(response.body))
        yield self._decided(page)

    async def _end_listing(self, response: Response, visit: Visit) -> None:
        """End the visit of a sitemap or feed: its pages are offered as links."""
        running = self.running
        try:
            answer = await running.readers.ask(AskedListing(response.url), response.body)
            if running.is_under_way(visit):
                running.listings.take(visit, answer.listing, running.frontier.statuses)
        except Unread as error:
            running.commit(visit, error.outcome)
        except LswcError as error:
            running.fail(error)
        running.commit(visit, Outcome.LISTING)

    async def _end_requisite(self, response: Response, visit: Visit) -> None:
        """End the visit of what an archived page needs, which may need more itself."""
        if (url := url_of(visit)) is not None:
            self.running.limits.answered(url, True)
        if visit.opt_outs and self.crawl.opt_out == "skip-archive":
            visit.withhold()
        elif self.crawl.reader.requisites is not None:
            needed = await self._needed(response, visit.lease.depth)
            if self.running.is_under_way(visit):
                self.running.requisites.need(visit, needed, visit.lease.depth + 1)
        self.running.commit(visit, Outcome.REQUISITE)

    async def _needed(self, response: Response, steps: int) -> Needed:
        """Return what a requisite needs; if it cost its reader nothing, with the reason."""
        content_type = next(iter(_headers(response).get("content-type", ())), "")
        if not RequisiteReader.reads(response.body, content_type):
            return Needed()
        asked = AskedRequisite(content_type, response.url, steps)
        try:
            return (await self.running.readers.ask(asked, response.body)).needed
        except Unread as error:
            logger.warning("%s: %s", response.url, error.outcome.sentence)
            return Needed((), ((error.outcome, 1),))
        except ReaderError as error:
            self.running.fail(error)
            return Needed()

    async def read(self, response: Response) -> Page | None:
        """Return the response as a page; None if it is none: its visit has ended then."""
        visit = visit_of(response)
        url = url_of(visit) if visit is not None else None
        if visit is None or url is None:
            return None  # of a request that another component sent
        asked = Asked(_headers(response), url, visit.lease.depth, response.url)
        try:
            reading = await self.running.readers.read(asked, response.body)
            if reading is not None and reading.is_shell and self.running.is_under_way(visit):
                reading = await self._shown(visit, response, asked, reading)
        except Unread as error:
            logger.warning("%s: %s", visit.url, error.outcome.sentence)
            self.running.commit(visit, error.outcome)
            return None
        except ReaderError as error:
            self.running.fail(error)
            return None
        if not self.running.is_under_way(visit):
            return None  # its lease has ended, or its place was blocked meanwhile
        if reading is None:
            self.running.commit(visit, self._left(asked, response.body))
            return None
        near_duplicate = self.running.limits.add(url, reading.simhash)
        depth = visit.lease.depth + 1
        if self.running.guest.admission.refuses:
            of_link = self.running.guest.admission.of_link
            reading = without_closed(reading, lambda link: of_link(link, depth))
        visit.opt_outs = (*dict.fromkeys(visit.opt_outs + reading.opt_outs.said),)
        self.running.rendering.count()
        return self._page(response, visit, reading, near_duplicate)

    async def _shown(
        self, visit: Visit, response: Response, asked: Asked, shell: PageReading
    ) -> PageReading | None:
        """Return what a page that needs its scripts says once they have run, if it is shown.

        Raises Unread, PageError and ReaderError.
        """
        if shell.unwanted:
            return shell
        download = self.crawler.engine.download_async
        rendered = await self.running.rendering.of(visit, response, download)
        if rendered is None or not visit.attempts:
            return shell
        visit.attempts[-1].rendered, visit.rendered = rendered, True
        visit.opt_outs += shell.opt_outs.said
        led_to = "".join(f'<a href="{escape(url)}"></a>' for url in rendered.led_to)
        headers = {**asked.headers, "content-type": ["text/html; charset=utf-8"]}
        shown = Asked(headers, asked.url, asked.depth, rendered.url)
        return await self.running.readers.read(shown, rendered.html + led_to.encode())

    def _left(self, asked: Asked, body: bytes) -> Outcome:
        """Return why nothing was read of a response."""
        content_type = next(iter(asked.headers.get("content-type", ())), "")
        name = file_name(asked.headers, asked.url.path)
        is_one = document_named(content_type, name) or kind_of(content_type, body, name)
        left = is_one and not self.crawl.reading.documents
        return Outcome.DOCUMENT_LEFT if left else Outcome.NOT_HTML

    def _is_up_to_server(self, page: Page) -> bool:
        """Tell whether a page is kept and says nothing itself of text and data mining."""
        kept = self.crawl.keeps(page.relevant) and not page.reading.unwanted
        return kept and not page.reading.opt_outs.is_tdm_told

    async def _ask_server(self, page: Page, size: int) -> None:
        """Add what a page's server reserves; its first page waits, but holds up no other."""
        visit, guest, slot = page.visit, self.running.guest, self.crawler.engine.scraper.slot
        url = url_of(visit)
        if url is None or slot is None:
            return
        size = max(size, slot.MIN_RESPONSE_SIZE)
        slot.active_size -= size
        try:
            visit.opt_outs += await guest.reserved(url)
            guest.keep_away(visit, guest.wait(url.server))
        except ClosingError:
            self.running.give_back(visit)
        except LswcError as error:
            self.running.fail(error)
        finally:
            slot.active_size += size

    def _decided(self, page: Page) -> Page:
        """Return a page of which all opt-outs are known."""
        visit = page.visit
        if visit.opt_outs:
            visit.tally["content", "opt-out"] += 1
        if page.reading.unwanted or (visit.opt_outs and self.crawl.opt_out == "skip-archive"):
            visit.withhold()
        elif self.crawl.keeps(page.relevant):
            self.running.requisites.need(visit, page.reading.needed, 1)
        if page.identified:
            visit.offers = [*visit.offers, *self.running.listings.of_server(visit)]
        return page

    def _page(
        self, response: Response, visit: Visit, reading: PageReading, near_duplicate: bool
    ) -> Page:
        unchanged = NOT_MODIFIED in response.flags
        _count(visit, reading, near_duplicate, unchanged)
        visit.links += (
            FollowedLink(left.url, left.anchor, None, left.reason) for left in reading.left
        )
        identified = reading.identified
        guess = self.crawl.guesses_unknown
        return Page(
            visit,
            304 if unchanged else response.status,
            reading,
            effective_language(identified, visit.lease.inherited) if guess else identified,
            near_duplicate,
            [self.crawl.unit(link.url) for link in reading.links],
        )

    def errback(self, failure: Failure) -> None:
        """End the visit of a request that brought no page. Never yields anything."""
        request: Request = vars(failure)["request"]  # set by Scrapy's scraper
        visit, url = visit_of(request), url_of(request)
        if url is not None and isinstance(failure.value, HttpError):
            self.running.limits.answered(url, True)
        if visit is not None:
            self.running.commit(visit, outcome_of(failure.value))


def _headers(response: Response) -> dict[str, list[str]]:
    return {
        name.decode("latin-1").lower(): [value.decode("latin-1") for value in values]
        for name, values in response.headers.items()
    }


def _count(visit: Visit, reading: PageReading, near_duplicate: bool, unchanged: bool) -> None:
    for name, counts in (
        (NOT_MODIFIED, unchanged),
        ("near-duplicate", near_duplicate),
        ("page cut", reading.is_cut),
    ):
        if counts:
            visit.tally["content", name] += 1
    for left in reading.left:
        visit.tally["dropped", left.reason] += 1
    if reading.unread_links:
        visit.tally["dropped", Outcome.TOO_MANY_LINKS] += reading.unread_links
