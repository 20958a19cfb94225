"""Pages: made of the answers that were asked for as such, and completed up to their records."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from lswc.crawl.failures import count_mishaps
from lswc.crawl.listings import is_front_page
from lswc.crawl.readers import PageError, Unread
from lswc.crawl.requests import CUT, FILE, headers_of, url_of, visit_of
from lswc.crawl.transport.refused import Refused
from lswc.crawl.walls import FEW_LINKS, SERVERS_REMEMBERED
from lswc.errors import LswcError
from lswc.frontier.rules.visit import FollowedLink, Record, offer_like
from lswc.guest.canonicals import REMEMBERED
from lswc.guest.internet import ClosingError
from lswc.outcomes import NEW, Outcome
from lswc.reading.doorway import FEW_LEAVE
from lswc.reading.main_text.clean_text import NO_TEXT
from lswc.reading.opt_outs import RECORD_PAGES, RECORDING, forbids_mining, robots_words
from lswc.reading.page import LeftLink, without_closed
from lswc.reading.reader_messages import Asked
from lswc.safety.content_types import (
    Kind,
    declared_type,
    document_named,
    file_name,
    kind_of,
)
from lswc.strategy import (
    SEED,
    Anchor,
    Facts,
    Locality,
    Named,
    PageLanguage,
    Status,
    Value,
    distance_of,
    effective_language,
    encode,
    from_site_queue,
    share_of_text,
    yield_rate,
)
from lswc.urls import parse

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence

    from scrapy.http import Response

    from lswc.crawl.commits import Commits
    from lswc.crawl.configuration import Crawl
    from lswc.crawl.listings import Listings
    from lswc.crawl.readers import Readers
    from lswc.crawl.rendering import Rendering
    from lswc.crawl.requisite_offers import Requisites
    from lswc.crawl.walls import Walls
    from lswc.frontier import Frontier
    from lswc.frontier.rules.visit import Offer, Visit
    from lswc.frontier.store.seen_paragraphs import SeenParagraphs
    from lswc.guest.guest import Guest
    from lswc.guest.twins import Twins
    from lswc.reading.page import PageReading, ReadLink
    from lswc.urls import Url

logger = logging.getLogger(__name__)

NOT_MODIFIED = "not modified"
"""Flag of a response that is an earlier crawl's: the page hasn't changed since."""

LINKED = "linked by a relevant page"
"""Reason why a document is archived though its language isn't known."""

_DOORWAYS = (b"<form", b"<FORM", b"efresh", b"EFRESH")
_LINKED_DOCUMENTS = "linked documents"  # kind of counts
_UNKEPT = frozenset({Outcome.NOARCHIVE, Outcome.NOINDEX})

LinkFacts = tuple[Status, Locality, bool, Anchor, Named, bool]
"""What a link's facts have of its own: status of its target's unit, locality, whether its TLD is
the language's, anchor, language that it names, whether it leads into the page's own folder."""


@dataclass(slots=True)
class Page:
    """A downloaded page and its links; the middlewares fill in what they know of where these lead.

    ``language`` is the one that decides, a guess included. ``near_duplicate`` says that a page
    like it came before. ``units`` are those of the targets of ``links``, its links in scope, in
    their order, and ``statuses`` what is known of them; ``in_tld`` are the host names there whose
    TLD is the language's. ``distance`` from the latest relevant referrer is the page's own,
    ``link_distance`` that of its links.

    ``relevant``: strategies count the page as written in the target language. ``identified``: it
    was identified as such, and harvest rates count these pages only. ``guessed``: it is taken for
    such because its referrer is, its own language being unknown. ``reason`` is LINKED, or "".
    ``counted`` is what it adds to the counts of its server: 1 or 0 by that, or what its text says.
    """

    visit: Visit
    url: Url
    status: int
    reading: PageReading
    language: PageLanguage
    near_duplicate: bool
    units: Sequence[str] = ()
    statuses: Mapping[str, Status] = field(default_factory=dict)
    in_tld: Collection[str] = ()
    server_status: Status = Status.UNDECIDED
    link_distance: int = 1
    links: Sequence[ReadLink] = field(init=False)
    relevant: bool = field(init=False)
    counted: float = field(init=False)
    identified: bool = field(init=False)
    reason: str = ""
    guessed: bool = field(init=False)
    source: str = field(init=False)
    distance: int = field(init=False)

    def __post_init__(self) -> None:
        self.links = self.reading.links
        self.relevant = self.counted = self.language == PageLanguage.TARGET
        self.identified = self.reading.identified == PageLanguage.TARGET
        self.guessed = self.relevant and not self.identified
        self.source = self.visit.lease.source
        self.distance = distance_of(self.visit.lease.code)

    def link_facts(self) -> list[LinkFacts]:
        """Return what the facts of the links have of their own, in their order.

        Complete once all middlewares have added theirs.
        """
        unvisited, status_of, in_tld = Status.UNVISITED, self.statuses.get, self.in_tld
        return [
            (
                status_of(unit, unvisited), link.locality, link.url.hostname in in_tld,
                link.anchor, link.named, link.same_folder,
            )
            for link, unit in zip(self.links, self.units, strict=True)
        ]  # fmt: skip

    def codes(self, facts: Iterable[LinkFacts]) -> dict[LinkFacts, int]:
        """Return the code of the facts of the links that have these of their own."""
        code = self.visit.lease.code
        in_site, from_seed = from_site_queue(code), code == SEED
        language, distance, status = self.language, self.link_distance, self.server_status
        return {
            own: encode(
                Facts(
                    language, distance, status, target, locality, tld, anchor, in_site, False,
                    named, same_folder, from_seed,
                )
            )
            for own in facts
            for target, locality, tld, anchor, named, same_folder in (own,)
        }  # fmt: skip

    def record(self) -> Record:
        """Return what is kept of the page, once the spider middlewares are done with it."""
        lease, identified = self.visit.lease, self.reading.identification
        attempts = self.visit.attempts
        return Record(
            id=lease.id,
            url=self.visit.url,
            status=self.status,
            kind=self.reading.kind,
            title=self.reading.title,
            language=identified.language,
            variant=identified.variant,
            encoding=identified.encoding,
            confidence=round(identified.confidence, 3),
            decided_by=identified.how,
            shares=" ".join(f"{code}={share}" for code, share in identified.shares),
            relevant=None if self.reason else self.identified,
            reason=self.reason,
            guessed=self.guessed,
            distance=self.distance,
            tier=lease.tier,
            expected=None if lease.expected is None else round(lease.expected, 4),
            depth=lease.depth,
            server_status=self.server_status.name.lower(),
            simhash=f"{self.reading.simhash:016x}",
            near_duplicate=self.near_duplicate,
            content_language=self.reading.content_language,
            vary=self.reading.vary,
            opt_outs=self.visit.opt_outs,
            rendered=self.visit.rendered,
            truncated=attempts[-1].truncated if attempts else "",
            cookies=self.visit.cookies,
            source=self.source,
            referrer=lease.referrer,
            # As in the archive, which a reader finds it by.
            time=(attempts[-1].time if attempts else datetime.now(UTC)).isoformat(
                timespec="milliseconds"
            ),
            visit=lease.visits + 1,
            change=self.visit.change if lease.visits else NEW,
            unread=self.reading.unread_links,
        )


@dataclass
class Pages:
    """Makes a Page of an answer; its visit ends here if it is none.

    ``readers`` read it, and once more as ``rendering`` shows it, if it is empty until its scripts
    run. What it needs, and the sitemaps of its server, are offered with its
    links if it is kept. ``paragraphs`` are those that pages had before, None unless text counts.
    ``walls`` gets behind doorways, if the crawl sends cookies; ``twins`` knows which URLs are one.
    """

    crawl: Crawl
    frontier: Frontier
    commits: Commits
    guest: Guest
    readers: Readers
    rendering: Rendering
    requisites: Requisites
    listings: Listings
    paragraphs: SeenParagraphs | None = None
    walls: Walls | None = None
    twins: Twins | None = None

    async def parse(self, response: Response) -> AsyncIterator[Page]:
        """Yield the answer as one Page, once it is known what may be done with it."""
        page = await self.read(response)
        if page is None:
            return
        visit, reading = page.visit, page.reading
        if reading.kind is not Kind.HTML and self._is_linked(page, len(response.body)):
            page.reason = LINKED
        is_told = (page.relevant or page.reason) and not visit.unshown
        is_kept = (is_told or self.crawl.archived == "all") and not reading.unwanted
        if is_kept and not reading.opt_outs.is_tdm_told and self.crawl.opt_out != RECORD_PAGES:
            await self._ask_server(page, len(response.body))
        if visit.opt_outs:
            visit.tally["content", "opt-out"] += 1
        if reading.unwanted or (visit.opt_outs and self.crawl.withholds(visit.opt_outs)):
            visit.withhold()
            page.reason = ""
        elif is_kept and (any(reading.needed) or visit.fetched or visit.scripts or visit.named):
            self.requisites.need(visit, reading.needed, 1)
        if page.reason:
            visit.tally[_LINKED_DOCUMENTS, "archived"] += 1
            visit.tally[_LINKED_DOCUMENTS, "bytes"] += len(response.body)
        if page.identified:
            visit.offers = [*visit.offers, *self._listings_of(visit)]
        if self.paragraphs is None or self._is_weighed(page, len(response.body), self.paragraphs):
            yield page

    def _listings_of(self, visit: Visit) -> list[Offer]:
        """Return the offers of what may name more of a relevant page's server."""
        is_first = visit.lease.server not in self.listings.asked
        found = self.listings.of_server(visit) if self.crawl.sitemaps and is_first else []
        if visit.lease.server in self.listings.cut_fronts:
            found = [*found, *self.listings.of_cut(visit)]
        return found

    def _is_weighed(self, page: Page, size: int, seen: SeenParagraphs) -> bool:
        """Count the page's clean text; tell whether that was possible."""
        try:
            _weigh(page, size, self.crawl, seen)
        except LswcError as error:
            self.commits.fail(error)
            return False
        return True

    def _is_linked(self, page: Page, size: int) -> bool:
        """Tell whether a document is archived for its referrer's sake; one too many is counted."""
        reading, lease = page.reading, page.visit.lease
        most = self.crawl.linked_documents
        if page.identified or (reading.identification.language and reading.has_text):
            return False
        if lease.inherited != PageLanguage.TARGET or lease.referrer is None:
            return False
        if reading.unwanted or self.crawl.archived != "relevant" or not most:
            return False
        try:
            taken = self.frontier.tallies().get(_LINKED_DOCUMENTS, {}).get("bytes", 0)
        except LswcError as error:
            self.commits.fail(error)
            return False
        if taken + size > most:
            page.visit.tally[_LINKED_DOCUMENTS, "beyond LSWC_LINKED_DOCUMENTS"] += 1
            return False
        return True

    async def _ask_server(self, page: Page, size: int) -> None:
        """Add what a page's server reserves; its first page waits for that."""
        visit, url = page.visit, page.url
        try:
            visit.opt_outs += await self.guest.reserved(visit, url, size)
        except ClosingError:
            self.commits.give_back(visit)
        except LswcError as error:
            self.commits.fail(error)

    async def read(self, response: Response) -> Page | None:
        """Return the answer as a page; None if it is none: its visit has ended then."""
        try:
            return await self._read(response)
        except LswcError as error:  # of its readers, or a store
            self.commits.fail(error)
        except (Unread, Refused, ClosingError, PageError) as error:
            visit = visit_of(response)
            if visit is None:
                return None
            if isinstance(error, PageError):
                logger.error("nothing could be read of %s: %s", visit.url, error)
                self.commits.commit(visit, Outcome.SPIDER_ERROR)
                return None
            if isinstance(error, ClosingError):
                self.commits.give_back(visit)
                return None
            logger.warning("%s: %s", visit.url, error.outcome.sentence)
            self.commits.commit(visit, error.outcome)
        return None

    async def _read(self, response: Response) -> Page | None:
        """Read an answer: what is behind it if it is a doorway, shown if it needs its scripts."""
        visit = visit_of(response)
        url = url_of(visit) if visit is not None else None
        if visit is None or url is None:
            return None  # of a request that another component sent
        if FILE in response.flags:
            self._take_file(visit, response)
            return None
        asked = Asked(headers_of(response), url, visit.lease.depth, response.url)
        body, walls = response.body, self.walls
        reading = await self.readers.read(asked, body)
        if reading is not None and reading.unread_links and _may_be_hub(visit, reading):
            reading = await self._read_whole(visit, asked, body, reading)
        if walls is not None and reading is not None:
            if _may_be_wall(visit, reading, response):
                response, reading = await walls.behind(visit, url, response, reading)
            walls.passed_by.add(url.server)
            if len(walls.passed_by) > SERVERS_REMEMBERED:
                walls.passed_by.clear()
        if reading is not None and self._is_shown(visit, url, reading):
            reading = await self.rendering.read(visit, response, asked, reading)
        if visit.is_over:
            return None  # its lease has ended, or its place was blocked meanwhile
        if reading is None:
            self.commits.commit(visit, self._left(asked, body))
            return None
        return self._page(visit, url, response, reading)

    async def _read_whole(
        self, visit: Visit, asked: Asked, body: bytes, reading: PageReading
    ) -> PageReading | None:
        """Read a front page with too many links once more, if its server is relevant.

        If that turns out later, its links are asked for then. Raises what the readers raise.
        """
        is_relevant = reading.identified == PageLanguage.TARGET
        if not (is_relevant or self.frontier.pages_of(visit.lease.unit).relevant):
            self.listings.cut(visit)
            return reading
        visit.tally["content", "front page read whole"] += 1
        return await self.readers.read(replace(asked, is_large=True), body)

    def _is_shown(self, visit: Visit, url: Url, reading: PageReading) -> bool:
        """Tell whether a page may be shown in a browser: it needs that, or was chosen."""
        if reading.unwanted or visit.is_over:
            return False
        if url.route and self.crawl.browser is not None:
            return True  # its server doesn't know of it
        if reading.is_shell or self.crawl.browser is None or reading.kind is not Kind.HTML:
            return reading.is_shell
        of = (PageLanguage.TARGET, *self.crawl.reading.requisites_of)
        return self.rendering.chooses(visit, url, is_wanted=reading.identified in of)

    def _take_file(self, visit: Visit, response: Response) -> None:
        """End the visit of a file that is linked to; it is archived if that isn't refused."""
        words = robots_words(headers_of(response).get("x-robots-tag", ()))
        if words & self.crawl.reader.obeyed & _UNKEPT or self.crawl.withholds(visit.opt_outs):
            visit.withhold()
        else:
            visit.is_file = True
            visit.tally["content", FILE] += 1
            visit.tally["content", "file cut"] += CUT in response.flags
        self.commits.commit(visit, Outcome.NOT_HTML)

    def _page(self, visit: Visit, url: Url, response: Response, reading: PageReading) -> Page:
        visit.simhash, visit.text = reading.simhash, reading.text
        near_duplicate = not visit.unshown and self._is_near_duplicate(visit, url, reading)
        if listing := visit.lease.listing:
            self.guest.limits.listed(listing, True)
        admission, depth = self.guest.admission, visit.lease.depth + 1
        if near_duplicate:
            admission.repeats(url)
        if admission.refuses:
            reading = without_closed(reading, lambda link: admission.of_link(link, depth))
        visit.opt_outs = (*dict.fromkeys(visit.opt_outs + reading.opt_outs.said),)
        unchanged = NOT_MODIFIED in response.flags
        may_be_twin = reading.kind is Kind.HTML and not (
            visit.lease.visits or visit.unshown or url.route
        )
        if self.twins is not None and may_be_twin:
            reading = self._known_by_one_name(self.twins, visit, url, reading, near_duplicate)
        elif self._is_copy_of_its_page(url, reading):
            reading = replace(reading, unwanted=Outcome.COPY)
        _count(visit, reading, near_duplicate, unchanged)
        visit.links += (
            FollowedLink(left.url, left.anchor, None, left.reason) for left in reading.left
        )
        language = reading.identified
        if visit.rendered:
            is_new = language == PageLanguage.TARGET and not near_duplicate
            self.rendering.took(visit, is_new=is_new)
        if self.crawl.guesses_unknown:
            language = effective_language(language, visit.lease.inherited)
        status = 304 if unchanged else response.status
        units = [self.crawl.unit(link.url) for link in reading.links]
        return Page(visit, url, status, reading, language, near_duplicate, units)

    def _is_copy_of_its_page(self, url: Url, reading: PageReading) -> bool:
        """Tell whether a page shows at a route of its scripts what it shows without."""
        if self.twins is None or not url.route:
            return False
        return self.twins.canonicals.knows(url.without_route, reading.simhash)

    def _known_by_one_name(
        self, twins: Twins, visit: Visit, url: Url, reading: PageReading, near_duplicate: bool
    ) -> PageReading:
        """Take notice of what a page shows; return it with links by the names that count.

        One that shows what the URL did that counts for it isn't to be recorded; nor is one whose
        URL that counts wasn't asked for: that is offered.
        """
        shape, places, said = reading.simhash, twins.places, twins.canonicals
        place = hash((url.path, url.query, shape))
        before, places[place] = places.get(place), url.server
        if before is not None and before != url.server:
            twins.shown(url, shape, before)
        if reading.unwanted is None:
            said.texts[hash(url.href.partition("://")[2])] = shape
        if url.query:
            twins.values(url, shape)
        if len(places) > REMEMBERED or len(said.texts) > REMEMBERED:
            twins.bound()
        has_others = bool(twins.servers or twins.parameters)
        if reading.canonical or said.waiting or said.named or has_others:
            reading = self._by_canonical(twins, visit, url, reading, near_duplicate)
        links = reading.links
        if any(_may_have_session(link.url) for link in links[:: len(links) // 3 or 1]):
            twins.visited(url, [link.url for link in links])
        if not (twins.servers or twins.parameters):
            return reading
        return replace(reading, links=_renamed(twins, links))

    def _by_canonical(
        self, twins: Twins, visit: Visit, url: Url, reading: PageReading, near_duplicate: bool
    ) -> PageReading:
        """Return a page with what is known of it by the URL that counts, as it says or its site."""
        said, shape, canonical = twins.canonicals, reading.simhash, parse(reading.canonical)
        if canonical is not None and said.is_endless(url.server):
            reading, canonical = _without(reading, canonical), None
        if canonical is not None and canonical.server != url.server:
            twins.named(url, canonical, redirects=False)
        if reading.unwanted is not None:
            return reading
        own, may_come = twins.own(url, canonical), partial(self._may_come, visit)
        found = said.shown(url, shape, own, may_come)
        if found is None:
            return reading
        if found[0] == Outcome.CANONICAL:
            self._offer_own(visit, found[1])
            self.guest.limits.take_back(url, shape, near_duplicate)  # it comes by that URL
        return replace(reading, unwanted=found[0])

    def _offer_own(self, visit: Visit, url: Url) -> None:
        """Offer the URL that counts for a page, in its place."""
        visit.offers = [*visit.offers, offer_like(visit, url, self.crawl.unit(url))]
        visit.links.append(FollowedLink(url.href, None, visit.lease.tier, None))

    def _may_come(self, visit: Visit, url: Url) -> bool:
        """Tell whether a URL may be asked for, and wasn't. Raises LswcError."""
        if isinstance(self.guest.admission.scope_of(visit, url.href), Outcome):
            return False
        with self.frontier.reading() as reader:
            standing = reader.find(url.href)
        return standing is None or standing.outcome is None

    def _is_near_duplicate(self, visit: Visit, url: Url, reading: PageReading) -> bool:
        """Tell whether a page like this one came before; it is none of its own earlier text."""
        limits, lease = self.guest.limits, visit.lease
        if lease.visits:
            limits.visited_again(url, lease.simhash, reading.simhash)
            return False
        return limits.add(url, reading.simhash, reading.identification.language)

    def _left(self, asked: Asked, body: bytes) -> Outcome:
        """Return why nothing was read of an answer."""
        content_type = declared_type(asked.headers)
        name = file_name(asked.headers, asked.url.path)
        is_one = document_named(content_type, name) or kind_of(content_type, body, name)
        left = is_one and not self.crawl.reading.documents
        return Outcome.DOCUMENT_LEFT if left else Outcome.NOT_HTML


def _without(reading: PageReading, to: Url) -> PageReading:
    """Return a page without its links to one URL, which shows the page once more."""
    left = [LeftLink(to.href, x.anchor, Outcome.COPY) for x in reading.links if x.url == to]
    kept = tuple(link for link in reading.links if link.url != to)
    return replace(reading, links=kept, left=(*reading.left, *left))


def _may_have_session(url: Url) -> bool:
    return bool(url.query) or ";" in url.path or "/(" in url.path


def _renamed(twins: Twins, links: Sequence[ReadLink]) -> tuple[ReadLink, ...]:
    servers, parameters = twins.servers, twins.parameters
    return tuple(
        replace(link, url=twins.link(link.url))
        if link.url.server in servers or link.url.server in parameters
        else link
        for link in links
    )


def _may_be_hub(visit: Visit, reading: PageReading) -> bool:
    """Tell whether a page is one whose links all count, as it leads to all of its server."""
    return reading.kind is Kind.HTML and is_front_page(visit.url)


def _may_be_wall(visit: Visit, reading: PageReading, response: Response) -> bool:
    """Tell whether a page may be a doorway, or have a switch to the crawl's language."""
    if visit.is_over or visit.cookies:
        return not visit.is_over
    if len(reading.links) <= FEW_LINKS:
        body = response.body
        if any(sign in body for sign in _DOORWAYS) or b"Refresh" in response.headers:
            return True
    if 1 < len(reading.links) <= 1 + FEW_LEAVE and is_front_page(visit.url):
        return True
    return reading.identified != PageLanguage.TARGET and any(
        link.named == Named.TARGET and link.locality == Locality.SAME_SERVER
        for link in reading.links
    )


def _weigh(page: Page, size: int, crawl: Crawl, seen: SeenParagraphs) -> None:
    """Count the page's clean text, what is new in it, and by that the page, if such counts.

    What can't be in a corpus counts nothing. ``size`` is that of its body. Raises LswcError.
    """
    visit, reading, value = page.visit, page.reading, crawl.strategy.value
    clean = reading.clean
    opts_out = crawl.opt_out not in RECORDING and forbids_mining(visit.opt_outs)
    if reading.unwanted or opts_out:
        clean = NO_TEXT
    are_new = seen.add([paragraph for paragraph, _ in clean.paragraphs])
    new = all_letters = 0
    for (_, letters), is_new in zip(clean.paragraphs, are_new, strict=True):
        new += letters * is_new
        all_letters += letters
    visit.tally["clean text", "new letters"] += new
    visit.tally["clean text", "letters seen before"] += all_letters - new
    if value == Value.TEXT:
        page.counted = share_of_text(new)
    elif value == Value.YIELD:
        page.counted = yield_rate(clean.size, size)


def _count(visit: Visit, reading: PageReading, near_duplicate: bool, unchanged: bool) -> None:
    tally = visit.tally
    if unchanged:
        tally["content", NOT_MODIFIED] += 1
    if near_duplicate:
        tally["content", "near-duplicate"] += 1
    if reading.is_cut:
        tally["content", "page cut"] += 1
    if reading.other_links:
        tally["content", "links given otherwise"] += reading.other_links
    if reading.mishaps:
        count_mishaps(visit, reading.mishaps)
    for left in reading.left:
        tally["discarded", left.reason] += 1
    if reading.unread_links:
        tally["discarded", Outcome.TOO_MANY_LINKS] += reading.unread_links
