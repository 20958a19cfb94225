"""The spider: ``scrapy crawl lswc -a lang=th``."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response, TextResponse
from scrapy.spidermiddlewares.httperror import HttpError

from lswc.crawl import Crawl
from lswc.errors import ConfigError
from lswc.frontier.contract import Found
from lswc.page import Link, Page
from lswc.scheduler import LEASE, scheduler_of
from lswc.strategy import Locality, Unit, effective_language
from lswc.urls import directory, site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from twisted.python.failure import Failure

    from lswc.frontier.contract import Lease
    from lswc.langid import RawLink, Reading
    from lswc.urls import Url

_HTML = ("text/html", "application/xhtml+xml")


class LswcSpider(Spider):
    """Collects the pages of one language.

    Arguments: ``lang``, an ISO 639 code; ``seeds``, a file with one URL a line, instead of
    those shipped for the language. Raises ConfigError for any other.
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

    async def start(self) -> AsyncIterator[Any]:
        """Yield nothing: the scheduler offers the seeds to the frontier before the start."""
        return
        yield

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Page]:
        """Yield the response as one Page, or end its lease if it isn't HTML."""
        scheduler = scheduler_of(self.crawler)
        lease = scheduler.frontier.leases[response.meta[LEASE]]
        if not _is_html(response):
            scheduler.finish(lease.id, "not HTML")
            return
        reading = self.crawl.identifier.read(response.body, _content_type(response), response.url)
        yield self._page(response, lease, reading)

    def _page(self, response: Response, lease: Lease, reading: Reading) -> Page:
        identified = self.crawl.identifier.relevance(reading.identification)
        guess = self.crawl.guesses_unknown
        page = Page(
            lease,
            response.status,
            reading.identification,
            identified,
            effective_language(identified, lease.inherited) if guess else identified,
            reading.title,
        )
        self._add_links(page, reading)
        return page

    def _add_links(self, page: Page, reading: Reading) -> None:
        here = site(page.lease.server.partition(":")[0])
        for raw in reading.links:
            url = self.crawl.scope.check(raw.url, page.lease.depth + 1)
            if isinstance(url, str):
                self._drop(page, raw, raw.url, url)
            elif raw.nofollow or "nofollow" in reading.robots:
                self._drop(page, raw, url.href, "nofollow")
            elif url.href != page.lease.url:
                where = _locality(url, page.lease.server, here)
                page.links.append(Link(url, self.unit(url), where, raw.anchor_text))

    def _drop(self, page: Page, raw: RawLink, url: str, reason: str) -> None:
        page.lease.tally["dropped", reason] += 1
        page.lease.links.append(Found(url, raw.anchor, None, reason))

    def unit(self, url: Url) -> str:
        """Return what the strategy counts a URL's page for: its server or its directory."""
        by_server = self.crawl.strategy.unit is Unit.SERVER
        return url.server if by_server else directory(url)

    def errback(self, failure: Failure) -> None:
        """End the lease of a request that brought no page. Never yields anything."""
        request: Request = vars(failure)["request"]  # set by Scrapy's scraper
        scheduler_of(self.crawler).finish(request.meta[LEASE], _outcome(failure.value))


def _is_html(response: Response) -> bool:
    content_type = (response.headers.get("Content-Type") or b"").split(b";")[0].strip().lower()
    if content_type:
        return content_type.decode("latin-1") in _HTML
    return isinstance(response, TextResponse)


def _content_type(response: Response) -> str | None:
    value = response.headers.get("Content-Type")
    return value.decode("latin-1") if value else None


def _locality(url: Url, server: str, site_of_page: str) -> Locality:
    if url.server == server:
        return Locality.SAME_SERVER
    if site(url.hostname) == site_of_page:
        return Locality.SAME_SITE
    return Locality.ELSEWHERE


def _outcome(error: BaseException | None) -> str:
    if isinstance(error, HttpError):
        return f"status {error.response.status}"
    if isinstance(error, IgnoreRequest):
        return "robots.txt" if "robots.txt" in str(error) else f"ignored: {error}"
    return type(error).__name__
