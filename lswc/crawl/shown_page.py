"""A page as lswc reads it, for a person: its language, and what becomes of its links.

It is read as if it were a seed of a crawl that has just begun: nothing is known of other servers.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lswc.crawl import profiles
from lswc.crawl.configuration import reader_settings, strategy_of
from lswc.crawl.middlewares import in_tlds
from lswc.crawl.pages import Page
from lswc.crawl.requests import headers_of
from lswc.errors import ConfigError
from lswc.frontier.rules.visit import Lease, Visit
from lswc.language import registry
from lswc.outcomes import Outcome
from lswc.strategy import DISCARD, NO_PAGES, SEED, PageLanguage, Pages, Unit, next_distance, status
from lswc.urls import directory, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scrapy.http import Response
    from scrapy.settings import BaseSettings

    from lswc.reading.page import PageReading
    from lswc.strategy import Strategy
    from lswc.urls import Url


@dataclass(frozen=True)
class ShownPage:
    """``reading`` is what the page says; ``links`` are its links, each with what becomes of it.

    That is its tier, in a learned order its cell in words, or the reason why it is discarded.
    """

    reading: PageReading
    links: tuple[tuple[str, str], ...]

    def lines(self) -> Iterator[str]:
        """Yield what a person is shown; titles and URLs are as the page has them."""
        found = self.reading.identification
        shares = ", ".join(f"{code} {share}" for code, share in found.shares)
        yield f"title       {self.reading.title}"
        yield f"language    {found.language or 'unknown'}, by {found.how}; {found.encoding}"
        yield f"shares      {shares or 'none'}"
        relevant = "yes" if self.reading.identified == PageLanguage.TARGET else "no"
        is_empty = self.reading.is_empty
        yield f"relevant    {'unknown: empty until its scripts run' if is_empty else relevant}"
        yield f"links       {len(self.links)}"
        for said, number in Counter(said for _, said in self.links).most_common():
            yield f"            {number:5} {said}"
        for url, said in self.links:
            yield f"{said:>30}  {url}"


def read(response: Response, lang: str, given: BaseSettings) -> ShownPage:
    """Read an answer for a language, by the settings of a crawl. Raises ConfigError."""
    settings = given.copy()
    profiles.apply(settings)
    registry.use(settings.get("LSWC_LANGUAGES"))
    target = registry.wanted(lang)
    url = parse(response.url)
    if url is None:
        raise ConfigError(f"{response.url} isn't a web address")
    reader = reader_settings(target.tag, settings).reader()
    reading = reader.read(response.body, headers_of(response), url, 0)
    if reading is None:
        raise ConfigError(f"{response.url} is neither HTML nor a document that is read")
    page = _page(reading, url, response.status, strategy_of(settings))
    page.in_tld = in_tlds(page.links, frozenset(target.tlds))
    followed = _followed(page, strategy_of(settings))
    left = ((link.url, str(link.reason)) for link in reading.left)
    return ShownPage(reading, (*followed, *left))


def _page(reading: PageReading, url: Url, http_status: int, strategy: Strategy) -> Page:
    def unit_of(of: Url) -> str:
        return of.server if strategy.unit is Unit.SERVER else directory(of)

    unit, language = unit_of(url), reading.identified
    lease = Lease(
        0, url.href, url.server, unit, SEED, 0, None, PageLanguage.TARGET, 0, 0, None
    )  # fmt: skip
    units = [unit_of(link.url) for link in reading.links]
    page = Page(Visit(lease), url, http_status, reading, language, False, units)
    page.server_status = status(1, page.relevant, strategy.tolerated)
    page.statuses = {unit: page.server_status}
    page.link_distance = next_distance(page.relevant, page.distance)
    return page


def _followed(page: Page, strategy: Strategy) -> Iterator[tuple[str, str]]:
    facts = page.link_facts()
    codes = page.codes(facts)
    own, here = page.visit.lease.unit, strategy.place(Pages(1, page.relevant))
    elsewhere = strategy.place(NO_PAGES)
    for link, unit, of_link in zip(page.links, page.units, facts, strict=True):
        cell = strategy.cell(codes[of_link], here if unit == own else elsewhere)
        said = str(Outcome.STRATEGY) if cell == DISCARD else strategy.describe(cell)
        yield link.url.href, said
