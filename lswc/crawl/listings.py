"""Listings: sitemaps and feeds of servers that gave a relevant page, and what they name."""

from __future__ import annotations

import logging
from collections import OrderedDict
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urljoin

from scrapy.spidermiddlewares.httperror import HttpError

from lswc.crawl.failures import count_mishaps
from lswc.crawl.readers import PageError, Unread
from lswc.crawl.requests import headers_of, visit_of
from lswc.errors import LswcError
from lswc.frontier.rules.visit import FollowedLink, Offer, locality
from lswc.outcomes import Outcome
from lswc.reading import sitemaps
from lswc.reading.named_language import named
from lswc.reading.reader_messages import AskedListing
from lswc.safety.content_types import declared_type
from lswc.strategy import (
    DISCARD,
    LISTING,
    SEED,
    SUBLISTING,
    Anchor,
    Facts,
    PageLanguage,
    Source,
    Status,
    encode,
)
from lswc.urls import parse, tld

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scrapy.http import Response
    from twisted.python.failure import Failure

    from lswc.archive.earlier_crawls import Earlier
    from lswc.crawl.commits import Commits
    from lswc.crawl.configuration import Crawl
    from lswc.crawl.readers import Readers
    from lswc.frontier import Frontier
    from lswc.frontier.rules.visit import Visit
    from lswc.reading.sitemaps import ListedPage, Listing
    from lswc.urls import Url

logger = logging.getLogger(__name__)

_Value = TypeVar("_Value")

_USUAL, _OTHER = "/sitemap.xml", "/sitemap_index.xml"
"""Where a sitemap is that robots.txt doesn't name, and where it is if it isn't there."""

REMEMBERED = 10_000
"""Servers whose robots.txt is remembered to have named sitemaps, or that were asked for theirs."""


TRIED, WORTH = 100, 0.05
"""After so many pages of a server, this share of them must be relevant for more of a long listing
to be taken."""


class Listings:
    """Which listings a crawl asks for, and what becomes of what they name.

    A page that a listing names counts as one that a relevant page of the server links to, without
    a word: that is what its facts say, and which kind of listing it was. One that an ``earlier``
    crawl holds, and that has changed since by what the listing says, is queued as the seeds are: it
    is visited again first. The frontier knows which listing was asked for; ``asked`` are the
    servers that were asked for theirs in this run. ``cut_fronts`` are servers' front pages of whose
    links some weren't read.
    """

    def __init__(
        self,
        crawl: Crawl,
        frontier: Frontier,
        commits: Commits,
        readers: Readers,
        earlier: Earlier | None,
    ) -> None:
        self._crawl, self._earlier = crawl, earlier
        self._frontier, self._commits, self._readers = frontier, commits, readers
        self._said: OrderedDict[str, tuple[str, ...]] = OrderedDict()
        self.cut_fronts: OrderedDict[str, str] = OrderedDict()
        self.asked: OrderedDict[str, None] = OrderedDict()

    async def parse(self, response: Response) -> None:
        """End the visit of a sitemap or feed: its pages are offered as links."""
        visit, commits = visit_of(response), self._commits
        if visit is None:
            return
        try:
            headers = headers_of(response)
            content_type = declared_type(headers) if is_front_page(visit.url) else None
            asked = AskedListing(response.url, _part(visit.url), content_type)
            answer = await self._readers.ask(asked, response.body)
            if not visit.is_over:
                self._take(visit, answer.listing)
        except Unread as error:
            commits.commit(visit, error.outcome)
        except PageError as error:
            logger.error("nothing could be read of %s: %s", visit.url, error)
            commits.commit(visit, Outcome.SPIDER_ERROR)
        except LswcError as error:
            commits.fail(error)
        commits.commit(visit, Outcome.LISTING)

    def failed(self, failure: Failure) -> None:
        """End the visit of a listing that couldn't be had: as the errback of its request."""
        request = vars(failure)["request"]  # set by Scrapy's scraper
        if (visit := visit_of(request)) is not None and isinstance(failure.value, HttpError):
            visit.offers = self._instead(visit)
        self._commits.errback(failure)

    def _instead(self, visit: Visit) -> list[Offer]:
        """Return the offer of the other place of a sitemap, if none was at the usual one."""
        if visit.lease.code != LISTING or urljoin(visit.url, _USUAL) != visit.url:
            return []
        return self._offers((urljoin(visit.url, _OTHER),), LISTING, visit.lease.depth)

    def heard(self, server: str, robots: bytes, url: str) -> None:
        """Take note of the sitemaps that a server's robots.txt names."""
        if self._crawl.sitemaps and (said := sitemaps.of_robots(robots, url)):
            _remember(self._said, server, said)

    def of_server(self, visit: Visit) -> list[Offer]:
        """Return the offers of the sitemaps of a relevant page's server: it counts as asked."""
        server = visit.lease.server
        _remember(self.asked, server, None)
        said = self._said.get(server) or (urljoin(visit.url, _USUAL),)
        return self._offers(said, LISTING, visit.lease.depth + 1)

    def load(self, cut: Iterable[str]) -> None:
        """Take note of the front pages among those of which an earlier run left links unread."""
        for address in filter(is_front_page, cut):
            if (url := parse(address)) is not None:
                _remember(self.cut_fronts, url.server, url.href)

    def cut(self, visit: Visit) -> None:
        """Take note of a front page of whose links some weren't read."""
        _remember(self.cut_fronts, visit.lease.server, visit.url)

    def of_cut(self, visit: Visit) -> list[Offer]:
        """Return the offer of the front page of a relevant page's server, if that was cut.

        It is asked for as a listing: a second record of it wouldn't do.
        """
        front = self.cut_fronts.pop(visit.lease.server, None)
        if front is None or front == visit.url:
            return []
        return self._offers((front,), LISTING, visit.lease.depth + 1)

    def taken_back(self, visit: Visit) -> None:
        """Take it that what a visit's page offered wasn't queued."""
        self.asked.pop(visit.lease.server, None)

    def _offers(self, addresses: Iterable[str], code: int, depth: int) -> list[Offer]:
        checked = (self._crawl.reader.scope.check(address, depth) for address in addresses)
        return [
            Offer(url.href, url.server, self._crawl.unit(url), code, PageLanguage.OTHER, depth)
            for url in checked
            if not isinstance(url, Outcome)
        ]

    def _take(self, visit: Visit, found: Listing) -> None:
        """Offer what a part of a listing names, with the visit's links. Raises LswcError.

        The part that follows is asked for once these sitemaps were, if their pages are worth it:
        it has the listing's URL with the part's number as its fragment.
        """
        count_mishaps(visit, found.mishaps)
        if _part(visit.url) and not self._is_worth(visit):
            left = len(found.pages) + len(found.listings)
            visit.tally["discarded", Outcome.LISTING_NOT_WORTH] += left
            return
        depth = visit.lease.depth
        pages = [(page, self._crawl.reader.scope.check(page.url, depth)) for page in found.pages]
        kept = [(page, target) for page, target in pages if not isinstance(target, Outcome)]
        for page, reason in pages:
            if isinstance(reason, Outcome):
                visit.tally["discarded", reason] += 1
                visit.links.append(FollowedLink(page.url[:2_083], None, None, reason))
        visit.dates = {
            target.href: page.changed.timestamp() for page, target in kept if page.changed
        }
        units = {self._crawl.unit(target) for _, target in kept}
        known = self._frontier.statuses(units, visit.lease, None)
        source = Source.FEED if found.is_feed else Source.SITEMAP
        offers = [self._ask(visit, page, target, known, source) for page, target in kept]
        visit.offers = [offer for offer in offers if offer is not None]
        if not found.pages and not found.listings:
            visit.offers = self._instead(visit)
        if visit.lease.code == LISTING:  # an index names no index (sitemaps.org)
            visit.offers = [*visit.offers, *self._offers(found.listings, SUBLISTING, depth)]
        if found.has_more:
            visit.offers = [*visit.offers, _next(visit)]

    def _is_worth(self, visit: Visit) -> bool:
        """Tell whether enough pages of a listing's server were relevant. Raises LswcError."""
        pages = self._frontier.pages_of(visit.lease.unit)
        return pages.downloaded < TRIED or pages.relevant >= WORTH * pages.downloaded

    def _ask(
        self,
        visit: Visit,
        page: ListedPage,
        url: Url,
        known: Mapping[str, Status],
        source: Source,
    ) -> Offer | None:
        """Ask the strategy about a page; return its offer, None if it isn't followed."""
        strategy, unit = self._crawl.strategy, self._crawl.unit(url)
        status = known.get(unit, Status.UNVISITED)
        code = encode(self._facts(visit, page, url, status)._replace(source=source))
        if self._has_changed(page, url):
            code = SEED
            visit.tally["content", "changed since"] += 1
        tier = None if strategy.asks_frontier else strategy.cell(code, status)
        if tier == DISCARD:
            visit.tally["discarded", Outcome.STRATEGY] += 1
            visit.links.append(FollowedLink(url.href, Anchor.NONE, None, Outcome.STRATEGY))
            return None
        visit.tally["kept", "of sitemaps and feeds"] += 1
        visit.links.append(FollowedLink(url.href, Anchor.NONE, tier, None))
        return Offer(url.href, url.server, unit, code, PageLanguage.TARGET, visit.lease.depth)

    def _has_changed(self, page: ListedPage, url: Url) -> bool:
        if self._earlier is None or page.changed is None:
            return False
        return self._earlier.changed_since(url.href, page.changed)

    def _facts(self, visit: Visit, page: ListedPage, url: Url, status: Status) -> Facts:
        language = self._crawl.language
        return Facts(
            PageLanguage.TARGET,
            1,
            Status.RELEVANT,
            status,
            locality(visit.lease.server, url.server),
            tld(url.hostname) in language.tlds,
            Anchor.NONE,
            False,
            named=named(language.tag, url, page.hreflang.lower(), ""),
        )


def is_front_page(url: str) -> bool:
    """Tell whether a URL is that of its server's front page."""
    parsed = parse(url)
    return parsed is not None and parsed.path == "/" and not parsed.query


def _part(url: str) -> int:
    """Return which part of a listing is meant, from 0."""
    number = url.partition("#")[2]
    return int(number) if number.isdecimal() and number.isascii() else 0


def _next(visit: Visit) -> Offer:
    """Return the offer of the part of a listing that follows."""
    lease, address = visit.lease, visit.url.partition("#")[0]
    url = f"{address}#{_part(visit.url) + 1}"
    return Offer(url, lease.server, lease.unit, lease.code, lease.inherited, lease.depth)


def _remember(into: OrderedDict[str, _Value], server: str, value: _Value) -> None:
    into[server] = value
    into.move_to_end(server)
    if len(into) > REMEMBERED:
        into.popitem(last=False)
