"""The spider: ``scrapy crawl lswc -a lang=th``."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.exceptions import DownloadTimeoutError, IgnoreRequest
from scrapy.spidermiddlewares.httperror import HttpError

from lswc import __version__
from lswc.crawl import Crawl
from lswc.crawler import profiles
from lswc.crawler.politeness import robots_tag
from lswc.crawler.recrawl import NOT_MODIFIED
from lswc.crawler.scheduler import LEASE, scheduler_of
from lswc.crawler.transport.refused import Refused
from lswc.errors import ConfigError
from lswc.frontier.contract import Found
from lswc.reading.page import Link, Page
from lswc.safety.content import is_html
from lswc.simhash import simhash
from lswc.strategy import Locality, effective_language
from lswc.urls import parse, site
from lswc.visit.attempt import ATTEMPTS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

    from lswc.frontier.contract import Lease
    from lswc.langid import RawLink, Reading
    from lswc.urls import Url

_IGNORED = {
    "DOWNLOAD_MAXSIZE": "decompressed too large",
    "max redirections": "too many redirects",
}
_COMPRESSIONS = {"zlib", "gzip", "brotli", "_brotli", "backports", "compression", "struct"}


EXAMINED = 20_000
"""Characters of a page's text that are compared with other pages'."""


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

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Add the contact to the User-Agent, unless the user gave another."""
        super().update_settings(settings)
        if contact := settings.get("LSWC_CONTACT"):
            settings.set("USER_AGENT", f"lswc/{__version__} (+{contact})", priority="spider")

    @classmethod
    def check(cls, settings: BaseSettings, **arguments: Any) -> None:
        """Do what the crawl's start will do, up to the first fetch. Raises ValueError."""
        settings = settings.copy()
        cls.update_settings(settings)
        profiles.apply(settings)
        spider = cls(**arguments)
        Crawl.of(settings, spider.lang, spider.seeds).open_frontier(settings).close()

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Page]:
        """Yield the response as one Page, or end its lease if it isn't HTML."""
        scheduler = scheduler_of(self.crawler)
        lease = scheduler.frontier.leases[response.meta[LEASE]]
        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
        if not is_html(content_type, response.body):
            scheduler.finish(lease.id, "not HTML")
            return
        reading = self.crawl.identifier.read(response.body, content_type or None, response.url)
        told = reading.robots | robots_tag(response)
        unwanted = next((word for word in ("noindex", "noarchive") if self._obeys(word, told)), "")
        if unwanted:
            for attempt in response.meta[ATTEMPTS]:
                attempt.exchange = None  # nothing of it is archived
        if NOT_MODIFIED in response.flags:
            lease.tally["content", NOT_MODIFIED] += 1
        page = self._page(response, lease, reading, self._obeys("nofollow", told))
        page.unwanted = unwanted
        yield page

    def _obeys(self, word: str, told: frozenset[str]) -> bool:
        return word in self.crawl.robots_words and (
            word in told or ("none" in told and word != "noarchive")
        )

    def _page(self, response: Response, lease: Lease, reading: Reading, nofollow: bool) -> Page:
        identified = self.crawl.identifier.relevance(reading.identification)
        guess = self.crawl.guesses_unknown
        key = simhash(reading.text[:EXAMINED])
        url = parse(lease.url)
        near_duplicate = url is not None and scheduler_of(self.crawler).limits.add(url, key)
        if near_duplicate:
            lease.tally["content", "near-duplicate"] += 1
        page = Page(
            lease,
            304 if NOT_MODIFIED in response.flags else response.status,
            reading.identification,
            identified,
            effective_language(identified, lease.inherited) if guess else identified,
            reading.title,
            key,
            near_duplicate,
        )
        if reading.unread_links:
            lease.tally["dropped", "too many links"] += reading.unread_links
        if reading.is_cut:
            lease.tally["content", "page cut"] += 1
        self._add_links(page, reading.links, nofollow)
        return page

    def _add_links(self, page: Page, links: list[RawLink], nofollow: bool) -> None:
        here = site(page.lease.server.partition(":")[0])
        obeys_nofollow = "nofollow" in self.crawl.robots_words
        limits = scheduler_of(self.crawler).limits
        for raw in links:
            url = self.crawl.scope.check(raw.url, page.lease.depth + 1)
            if isinstance(url, str):
                self._drop(page, raw, raw.url[: self.crawl.scope.max_length or None], url)
            elif nofollow or (raw.nofollow and obeys_nofollow):
                self._drop(page, raw, url.href, "nofollow")
            elif reason := limits.closed(url):
                self._drop(page, raw, url.href, reason)
            elif url.href != page.lease.url:
                where = _locality(url, page.lease.server, here)
                page.links.append(Link(url, self.crawl.unit(url), where, raw.anchor))

    def _drop(self, page: Page, raw: RawLink, url: str, reason: str) -> None:
        page.lease.tally["dropped", reason] += 1
        page.lease.links.append(Found(url, raw.anchor, None, reason))

    def errback(self, failure: Failure) -> None:
        """End the lease of a request that brought no page. Never yields anything."""
        request: Request = vars(failure)["request"]  # set by Scrapy's scraper
        scheduler, url = scheduler_of(self.crawler), parse(request.url)
        if url is not None and isinstance(failure.value, DownloadTimeoutError | HttpError):
            scheduler.limits.answered(url, isinstance(failure.value, HttpError))
        scheduler.finish(request.meta[LEASE], _outcome(failure.value))


def _locality(url: Url, server: str, site_of_page: str) -> Locality:
    if url.server == server:
        return Locality.SAME_SERVER
    if site(url.hostname) == site_of_page:
        return Locality.SAME_SITE
    return Locality.ELSEWHERE


def _outcome(error: BaseException | None) -> str:
    """Name the end of a request; of what a server says, only a number goes into the name."""
    if isinstance(error, HttpError):
        status = error.response.status
        return f"status {status}" if 100 <= status < 600 else "status invalid"
    if isinstance(error, Refused):
        return str(error)
    if isinstance(error, IgnoreRequest):
        return next((end for words, end in _IGNORED.items() if words in str(error)), "ignored")
    if type(error).__module__.partition(".")[0] in _COMPRESSIONS:
        return "broken compression"
    if isinstance(error, ValueError):
        return "invalid URL"  # of a redirect
    return type(error).__name__
