"""Composition of a crawl: the one place where its parts are made, and given what they need."""

from __future__ import annotations

import logging
from collections import deque
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import NotConfigured

from lswc.archive import page_record
from lswc.archive.archive import Archive
from lswc.archive.check.recovery import settle
from lswc.archive.earlier_crawls import Earlier
from lswc.archive.page_index import PageIndex
from lswc.crawl.close_reasons import OFFLINE_TOO_LONG
from lswc.crawl.commits import Commits
from lswc.crawl.file_handles import Handles
from lswc.crawl.generated_sites import SiteJudge
from lswc.crawl.leases import Leases
from lswc.crawl.listings import Listings
from lswc.crawl.pages import Pages
from lswc.crawl.readers import Readers
from lswc.crawl.rendering import Rendering
from lswc.crawl.requisite_offers import Requisites
from lswc.crawl.scrapy_internet import ScrapyInternet
from lswc.crawl.stores import frontier_of, seen_paragraphs_of, shared_of
from lswc.crawl.upkeep import Upkeep
from lswc.crawl.walls import Walls
from lswc.guest.admission import Reach
from lswc.guest.canonicals import REMEMBERED
from lswc.guest.control import InFolder
from lswc.guest.control_in_effect import ControlInEffect
from lswc.guest.guest import Guest, Stores
from lswc.guest.learned import FILE as LEARNED_FILE
from lswc.guest.learned import CrawlDelays, Learned
from lswc.guest.network import PROBED, Network
from lswc.guest.pageless import Pageless
from lswc.guest.rests import FILE as BACKOFF_FILE
from lswc.guest.rests import Backoff
from lswc.guest.server_cookies import ServerCookies
from lswc.guest.slots import OwnSlots
from lswc.guest.twins import Twins
from lswc.safety.server_limits import limits_of
from lswc.urls import Url, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from scrapy.crawler import Crawler

    from lswc.crawl.configuration import Crawl
    from lswc.crawl.workers import Shared
    from lswc.frontier import Frontier
    from lswc.frontier.exchange.exchange import Exchange
    from lswc.safety.server_limits import Limits

logger = logging.getLogger(__name__)


@dataclass
class Parts:
    """The parts of a crawl under way in this process.

    ``walls`` is None if no server is sent cookies, ``shared`` unless other workers have sites of
    the crawl.
    ``closing`` is called with the reason for which the crawl closes, while it can still be read.
    """

    crawl: Crawl
    handles: Handles
    frontier: Frontier
    archive: Archive
    guest: Guest
    commits: Commits
    leases: Leases
    upkeep: Upkeep
    readers: Readers
    rendering: Rendering
    requisites: Requisites
    listings: Listings
    pages: Pages
    earlier: Earlier | None
    learned: Learned
    pageless: Pageless
    twins: Twins | None
    walls: Walls | None
    shared: Shared | None
    closing: Callable[[str], None] = lambda _: None

    @property
    def exchange(self) -> Exchange | None:
        """What this worker exchanges with others; None of a crawl that is alone."""
        return None if self.shared is None else self.shared.exchange

    def close(self, reason: str = "") -> None:
        """Close all, whatever can't be; what isn't finished stays pending."""
        others = (self.earlier, self.pages.paragraphs, self.shared, self.frontier)
        ends: tuple[Callable[[], None], ...] = (
            self.readers.close,
            self.rendering.close,
            self.guest.close,
            self.learned.close,
            lambda: self.closing(reason),
            lambda: self.archive.close(whole=not self.commits.failed),
            *(one.close for one in others if one is not None),
        )
        for end in ends:
            try:
                end()
            except Exception as error:
                self.commits.not_closed(error)


def compose(crawl: Crawl, crawler: Crawler, stop: Callable[[str], None]) -> Parts:
    """Open a crawl. ``stop`` closes it in order, for a reason. Raises LswcError."""
    with ExitStack() as opened:
        parts = _composed(crawl, crawler, stop, opened)
        opened.pop_all()  # the crawl closes them
    return parts


def _composed(
    crawl: Crawl, crawler: Crawler, stop: Callable[[str], None], opened: ExitStack
) -> Parts:
    settings, stats = crawler.settings, crawler.stats
    handles = _handles(crawl, settings.getint("CONCURRENT_REQUESTS"))
    frontier = opened.enter_context(closing(frontier_of(crawl, settings)))
    shared = shared_of(crawl, settings, frontier)
    if shared is not None:
        opened.callback(shared.close)
    instructions = InFolder(crawl.folder) if shared is None else shared.control
    judge = SiteJudge(crawl.folder) if crawl.reading.text else None
    marked = (lambda: judge.generated) if judge is not None else frozenset
    control = ControlInEffect(instructions, stats.inc_value, marked, crawl.generated)
    archive = Archive(
        crawl.folder,
        crawl.language.name,
        crawl.archived,
        crawl.file_sizes,
        crawl.described(settings),
        settle(crawl.folder, frontier),
    )
    opened.callback(archive.close, whole=False)
    if crawl.reading.text:
        archive.page_index = PageIndex(crawl.folder, stats.inc_value, judge)
    internet = ScrapyInternet(crawler, crawl.headers)
    network = Network(
        internet,
        crawl.seeds,
        crawl.max_offline,
        lambda visit, outcome: commits.end(visit, outcome),
        lambda visit: commits.give_back(visit),
        lambda: stop(OFFLINE_TOO_LONG),
    )
    recorded = _Recorded()
    limits = _limits(crawl, network, frontier, recorded)
    frontier.visit_again(page_record.records(crawl.folder))
    paragraphs = seen_paragraphs_of(crawl)
    if paragraphs is not None:
        opened.callback(paragraphs.close)
    backoff = Backoff(crawl.folder / BACKOFF_FILE, crawl.politeness.backoff)
    opened.callback(backoff.close)
    slots = OwnSlots() if shared is None else shared.slots
    stores = Stores(crawl.folder, frontier, slots, control, backoff)
    learned = Learned(crawl.folder / LEARNED_FILE)
    opened.callback(learned.close)
    guest = Guest(crawl.politeness, _reach(crawl), stores, limits, internet, network)
    commits = Commits(crawl, frontier, archive, guest, stats, stop)
    twins = commits.twins = Twins(learned) if crawl.twins else None
    if twins is not None:
        twins.load(recorded.latest)
    leases = Leases(crawl, frontier, guest, commits, stats, twins)
    if shared is not None:
        leases.feed = shared.feed
        shared.exchange.arrivals.saves = commits.save
        shared.exchange.ownership.resends = shared.resends
    readers = Readers(crawl)
    walls = cookies = None
    if settings.getbool("COOKIES_ENABLED"):
        cookies = ServerCookies(learned)
        walls = Walls(crawl, guest, readers, cookies, internet)
    rendering = Rendering(crawl, frontier, readers, guest, internet.download, cookies)
    leases.may_be_shown = rendering.wanted
    requisites = Requisites(crawl, commits, guest, readers)
    pageless = Pageless(learned, crawl.language.tlds)
    commits.pageless = pageless
    earlier = _earlier(crawl)
    if earlier is not None and crawl.revisit:
        archive.indexed = earlier.keep
    listings = Listings(crawl, frontier, commits, readers, earlier if crawl.earlier else None)
    listings.load(recorded.cut)
    guest.rules.heard = listings.heard
    guest.rules.heard_delay = CrawlDelays(learned).heard
    commits.taken_back = listings.taken_back
    internet.reads = readers.read
    network.in_scope = partial(_in_scope, crawl)
    network.distrusted = lambda since: archive.forget(guest.rules.forget(since))
    return Parts(
        crawl,
        handles,
        frontier,
        archive,
        guest,
        commits,
        leases,
        Upkeep(crawl, archive, guest, commits, leases, shared),
        readers,
        rendering,
        requisites,
        listings,
        Pages(
            crawl,
            frontier,
            commits,
            guest,
            readers,
            rendering,
            requisites,
            listings,
            paragraphs,
            walls,
            twins,
        ),
        earlier,
        learned,
        pageless,
        twins,
        walls,
        shared,
    )


def _earlier(crawl: Crawl) -> Earlier | None:
    """Return what was stored of pages that are asked for now; None if none was."""
    if not (crawl.earlier or crawl.revisit):
        return None
    return Earlier(crawl.earlier, crawl.folder if crawl.revisit else None)


def _handles(crawl: Crawl, requests: int) -> Handles:
    """Share out the file handles of this process among so many requests, if they all fit."""
    handles = Handles.of(requests, crawl.web is not None)
    if handles.requests < requests:
        logger.warning(
            "%d requests at a time and no more, as this process may have only few files open "
            "(ulimit -n)",
            handles.requests,
        )
    return handles


@dataclass
class _Recorded:
    """Recorded pages: URLs and simhashes of the ``latest``, URLs of those that were ``cut``."""

    latest: deque[tuple[str, int]] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    whole: deque[tuple[str, int]] = field(default_factory=lambda: deque(maxlen=5 * PROBED))
    cut: list[str] = field(default_factory=list)

    def noted(self, records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Take note of records, and yield them."""
        for record in records:
            page = record["url"], int(record["simhash"], 16)
            self.latest.append(page)
            if not record.get("truncated"):
                self.whole.append(page)
            if record.get("unread"):
                self.cut.append(record["url"])
            yield record


def _limits(crawl: Crawl, network: Network, frontier: Frontier, recorded: _Recorded) -> Limits:
    """Return the limits of servers, as far as the pages recorded so far use them up.

    The latest of these servers are those that should answer, or have a name, if any does; and their
    pages are known.
    """
    limits = limits_of(crawl.quotas, crawl.max_duplicates)
    limits.load(recorded.noted(page_record.records(crawl.folder)), frontier.family_of)
    for address, simhash in recorded.whole:
        if (url := parse(address)) is not None:
            network.answered(url)
            network.know(url, simhash)
    return limits


def _in_scope(crawl: Crawl, seed: str) -> Url | None:
    url = crawl.reader.scope.check(seed, 0)
    return url if isinstance(url, Url) else None


def _reach(crawl: Crawl) -> Reach:
    requisites = crawl.reader.requisites
    return Reach(
        pages=crawl.reader.scope,
        requisites=None if requisites is None else requisites.scope,
        files=crawl.reading.any_host(),
        unit=crawl.unit,
        quotas=crawl.quotas,
    )


def parts_of(crawler: Crawler) -> Parts:
    """Return the parts of the crawl that a crawler runs, for ``from_crawler`` to choose from.

    Raises NotConfigured if its spider isn't an LswcSpider: a component of lswc's leaves it alone.
    """
    parts = getattr(crawler.spider, "parts", None)
    if not isinstance(parts, Parts):
        raise NotConfigured
    return parts
