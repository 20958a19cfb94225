"""Spider: ``scrapy crawl lswc -a lang=th``."""

from __future__ import annotations

from asyncio import ensure_future
from functools import cached_property
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import UsageError

from lswc import __version__
from lswc.crawl import browsers, placement, profiles
from lswc.crawl.composition import Parts, compose
from lswc.crawl.configuration import Crawl
from lswc.crawl.file_handles import Handles
from lswc.crawl.stores import check_shared, frontier_of
from lswc.errors import ConfigError
from lswc.guest.control import InFolder
from lswc.guest.control_in_effect import at_start

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.http import Response
    from scrapy.settings import BaseSettings, Settings

    from lswc.crawl.pages import Page


class ForeignSettingsError(ConfigError, UsageError):
    """The settings are of a project that knows nothing of lswc's: Scrapy's own commands say so."""

    def __init__(self) -> None:
        super().__init__(placement.FOREIGN)


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
        placement.check(self.settings)
        return Crawl.of(self.settings, self.lang, self.seeds)

    @cached_property
    def parts(self) -> Parts:
        """The parts of the crawl: made for the first component that is built."""
        return compose(self.crawl, self.crawler, self._close)

    def _close(self, reason: str) -> None:
        closing = self.crawler.engine.close_spider_async(reason=reason)
        self._closing = ensure_future(closing)

    async def start(self) -> AsyncIterator[Any]:
        """Yield what ``start_urls`` of a subclass names, as seeds; they go to the frontier.

        The scheduler has offered the crawl's seeds before. A stop that came before the engine ran
        is obeyed now: Scrapy forgets it.
        """
        if not self.crawler.crawling:
            await self.crawler.engine.stop_async()
            return
        for url in self.start_urls:
            yield Request(url)

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Apply the profile, put lswc's parts beside a user's, and say who crawls.

        That is in the User-Agent, unless the user gave another; an address, in From. Raises
        ConfigError.
        """
        super().update_settings(settings)
        if settings.get("LSWC_PROFILE") is None:
            raise ForeignSettingsError
        profiles.apply(settings)
        placement.place(settings)
        if contact := settings.get("LSWC_CONTACT"):
            settings.set("USER_AGENT", f"lswc/{__version__} (+{contact})", priority="spider")
            if "://" not in contact:  # an e-mail address: RFC 9110 §10.1.2
                headers = {**settings.getdict("DEFAULT_REQUEST_HEADERS"), "From": contact}
                settings.set("DEFAULT_REQUEST_HEADERS", headers, priority="spider")

    @classmethod
    def applied(cls, settings: Settings) -> Settings:
        """Return the settings as they are when the crawl starts. Raises ConfigError."""
        crawler = Crawler(cls, settings)
        placement.apply_addons(crawler)
        placement.check(crawler.settings)
        return crawler.settings

    @classmethod
    def check(cls, settings: Settings, **arguments: Any) -> None:
        """Do what the crawl's start will do, up to the first fetch. Raises LswcError."""
        settings = cls.applied(settings)
        placement.check_reactor(settings)
        spider = cls(**arguments)
        crawl = Crawl.of(settings, spider.lang, spider.seeds)
        Handles.of(settings.getint("CONCURRENT_REQUESTS"), crawl.web is not None)
        if crawl.browser is not None:
            browsers.check(crawl.browser)
        check_shared(crawl, settings)
        frontier_of(crawl, settings).close()
        at_start(InFolder(crawl.folder))

    def parse(self, response: Response, **kwargs: Any) -> AsyncIterator[Page]:
        """Yield an answer as one Page, if it is one."""
        return self.parts.pages.parse(response)

    async def parse_requisite(self, response: Response) -> None:
        """Take what an archived page needs."""
        await self.parts.requisites.parse(response)

    async def parse_listing(self, response: Response) -> None:
        """Take a sitemap or feed."""
        await self.parts.listings.parse(response)
