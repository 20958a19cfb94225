"""Pages: what becomes of an answer that was asked for as a page, up to the spider middlewares."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lswc.crawl.page import NOT_MODIFIED, Page
from lswc.crawl.readers import ReaderError, Unread
from lswc.crawl.requests import url_of, visit_of
from lswc.errors import LswcError
from lswc.frontier.visit import FollowedLink
from lswc.guest.internet import ClosingError
from lswc.outcomes import Outcome
from lswc.reading.messages import Asked
from lswc.reading.page import without_closed
from lswc.safety.content_types import document_named, file_name, kind_of
from lswc.strategy import effective_language

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from scrapy.http import Response

    from lswc.crawl.commits import Commits
    from lswc.crawl.configuration import Crawl
    from lswc.crawl.internet import ScrapyInternet
    from lswc.crawl.listings import Listings
    from lswc.crawl.rendering import Rendering
    from lswc.crawl.requisites import Requisites
    from lswc.frontier.visit import Visit
    from lswc.guest.guest import Guest
    from lswc.reading.page import PageReading
    from lswc.urls import Url

logger = logging.getLogger(__name__)


@dataclass
class Pages:
    """Makes a Page of an answer; its visit ends here if it is none.

    ``rendering`` reads it. What it needs, and the sitemaps of its server, are offered with its
    links if it is kept.
    """

    crawl: Crawl
    commits: Commits
    guest: Guest
    rendering: Rendering
    requisites: Requisites
    listings: Listings
    internet: ScrapyInternet

    async def parse(self, response: Response) -> AsyncIterator[Page]:
        """Yield the answer as one Page, once it is known what may be done with it."""
        page = await self.read(response)
        if page is None:
            return
        visit, reading = page.visit, page.reading
        is_kept = self.crawl.keeps(page.relevant) and not reading.unwanted
        if is_kept and not reading.opt_outs.is_tdm_told:
            await self._ask_server(page, len(response.body))
        if visit.opt_outs:
            visit.tally["content", "opt-out"] += 1
        if reading.unwanted or (visit.opt_outs and self.crawl.opt_out == "skip-archive"):
            visit.withhold()
        elif is_kept:
            self.requisites.need(visit, reading.needed, 1)
        if page.identified:
            visit.offers = [*visit.offers, *self.listings.of_server(visit)]
        yield page

    async def _ask_server(self, page: Page, size: int) -> None:
        """Add what a page's server reserves; its first page waits, but holds up no other."""
        visit, url = page.visit, page.url
        try:
            with self.internet.aside(size):
                visit.opt_outs += await self.guest.reserved(url)
            self.guest.keep_away(visit, self.guest.wait(url.server))
        except ClosingError:
            self.commits.give_back(visit)
        except LswcError as error:
            self.commits.fail(error)

    async def read(self, response: Response) -> Page | None:
        """Return the answer as a page; None if it is none: its visit has ended then."""
        visit = visit_of(response)
        url = url_of(visit) if visit is not None else None
        if visit is None or url is None:
            return None  # of a request that another component sent
        asked = Asked(headers_of(response), url, visit.lease.depth, response.url)
        try:
            reading = await self.rendering.read(visit, response, asked)
        except Unread as error:
            logger.warning("%s: %s", visit.url, error.outcome.sentence)
            self.commits.commit(visit, error.outcome)
            return None
        except ReaderError as error:
            self.commits.fail(error)
            return None
        if not self.commits.is_under_way(visit):
            return None  # its lease has ended, or its place was blocked meanwhile
        if reading is None:
            self.commits.commit(visit, self._left(asked, response.body))
            return None
        return self._page(visit, url, response, reading)

    def _page(self, visit: Visit, url: Url, response: Response, reading: PageReading) -> Page:
        near_duplicate = self.guest.limits.add(url, reading.simhash)
        admission, depth = self.guest.admission, visit.lease.depth + 1
        if admission.refuses:
            reading = without_closed(reading, lambda link: admission.of_link(link, depth))
        visit.opt_outs = (*dict.fromkeys(visit.opt_outs + reading.opt_outs.said),)
        unchanged = NOT_MODIFIED in response.flags
        _count(visit, reading, near_duplicate, unchanged)
        visit.links += (
            FollowedLink(left.url, left.anchor, None, left.reason) for left in reading.left
        )
        language = reading.identified
        if self.crawl.guesses_unknown:
            language = effective_language(language, visit.lease.inherited)
        status = 304 if unchanged else response.status
        units = [self.crawl.unit(link.url) for link in reading.links]
        return Page(visit, url, status, reading, language, near_duplicate, units)

    def _left(self, asked: Asked, body: bytes) -> Outcome:
        """Return why nothing was read of an answer."""
        content_type = next(iter(asked.headers.get("content-type", ())), "")
        name = file_name(asked.headers, asked.url.path)
        is_one = document_named(content_type, name) or kind_of(content_type, body, name)
        left = is_one and not self.crawl.reading.documents
        return Outcome.DOCUMENT_LEFT if left else Outcome.NOT_HTML


def headers_of(response: Response) -> dict[str, list[str]]:
    """Return the headers of an answer by their names in small letters."""
    return {
        name.decode("latin-1").lower(): [value.decode("latin-1") for value in values]
        for name, values in response.headers.items()
    }


def _count(visit: Visit, reading: PageReading, near_duplicate: bool, unchanged: bool) -> None:
    tally = visit.tally
    if unchanged:
        tally["content", NOT_MODIFIED] += 1
    if near_duplicate:
        tally["content", "near-duplicate"] += 1
    if reading.is_cut:
        tally["content", "page cut"] += 1
    for left in reading.left:
        tally["dropped", left.reason] += 1
    if reading.unread_links:
        tally["dropped", Outcome.TOO_MANY_LINKS] += reading.unread_links
