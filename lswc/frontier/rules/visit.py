"""Offers of URLs, their leases, and visits: what a lease brought, committed once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, structs

from lswc.outcomes import CHANGED, NEW, UNCHANGED, Outcome, is_dead_end, is_miss
from lswc.safety.near_duplicates import DISTANCE
from lswc.safety.server_limits import NOTHING_TAKEN, Taken
from lswc.strategy import (
    GUESS,
    LISTING,
    REQUISITE,
    SUBLISTING,
    Locality,
    PageLanguage,
    redirected,
    source_of,
)
from lswc.urls import fingerprint, fingerprints, home, parse, site_of

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence
    from datetime import datetime

    from lswc.urls import Url

LISTINGS = (LISTING, SUBLISTING)
_REQUISITES = (REQUISITE, GUESS)
_MARKS = {
    **dict.fromkeys(_REQUISITES, 0x5245_5155_4953_4954),
    **dict.fromkeys(LISTINGS, 0x4C49_5354_494E_4753),
}


def key(url: str, code: int) -> int:
    """Return the 64-bit key by which a frontier knows a URL again: ``fingerprint``'s.

    A requisite, or a listing, has another: what a page shows may be a page itself, which a strategy
    decides on.
    """
    return fingerprint(url) ^ _MARKS.get(code, 0)


def keys(offers: Sequence[Offer]) -> list[int]:
    """Return the key of each offer's URL."""
    found = fingerprints([offer.url for offer in offers])
    return [name ^ _MARKS.get(offer.code, 0) for name, offer in zip(found, offers, strict=True)]


class Offer(NamedTuple):
    """A URL offered to the frontier.

    ``code`` holds the frozen facts of its link (``lswc.strategy.encode``), or is SEED or REQUISITE.
    ``inherited`` is the language that the page takes if its own isn't known.
    ``unit`` names what the strategy counts by: the server or the directory.
    """

    url: str
    server: str
    unit: str
    code: int
    inherited: PageLanguage
    depth: int
    redirects: int = 0

    @property
    def key(self) -> int:
        """The key by which a frontier knows the URL again."""
        return key(self.url, self.code)


BANDS = (
    (0.8, "expected 80-100 %"),
    (0.5, "expected 50-80 %"),
    (0.2, "expected 20-50 %"),
    (0.05, "expected 5-20 %"),
    (0.01, "expected 1-5 %"),
    (0.0, "expected under 1 %"),
)
"""What a learned order expects of URLs: the least share of each band, and its name."""


def group(cell: int, expected: float | None) -> str:
    """Return what URLs of a cell are counted under: its tier, or what a learned order expects."""
    if expected is None:
        return f"tier {cell}"
    return next(name for least, name in BANDS if expected >= least)


class Lease(Struct, frozen=True):
    """A URL handed out: what the frontier knew of it. Its server is busy until the visit ends.

    ``cell`` is the one that it was handed out of, ``expected`` the share of relevant pages that
    this was expected to bring, None if the order isn't learned; ``referrer`` is the URL of the
    page whose link brought it, None for a seed. ``id`` is the URL's number, ``token`` that of this
    lease, which no other of this process has; ``tries`` how often the URL was postponed before.
    Of a requisite ``depth`` counts the steps from its page. ``of_server`` and ``of_domain`` are
    what its server and registered domain have brought so far. ``visits`` is how often its page was
    recorded before, and ``simhash`` that of its text then, None if it isn't known.
    """

    id: int
    url: str
    server: str
    unit: str
    code: int
    cell: int
    expected: float | None
    inherited: PageLanguage
    depth: int
    redirects: int
    referrer: str | None
    token: int = 0
    tries: int = 0
    of_server: Taken = NOTHING_TAKEN
    of_domain: Taken = NOTHING_TAKEN
    visits: int = 0
    simhash: int | None = None

    @property
    def tier(self) -> int | None:
        """The tier that it was handed out of; None in a learned order, and of a requisite."""
        return self.cell if self.expected is None and self.is_page else None

    @property
    def group(self) -> str:
        """What it is counted under: its tier, or what was expected of it."""
        return group(self.cell, self.expected)

    @property
    def source(self) -> str:
        """What named it: ``seed``, ``link``, ``sitemap`` or ``feed``."""
        return source_of(self.code)

    @property
    def listing(self) -> str | None:
        """The sitemap or feed that named it; None if none did."""
        return self.referrer if self.is_page and self.source in ("sitemap", "feed") else None

    @property
    def is_page(self) -> bool:
        """Whether it is asked for as a page, which a strategy decided on."""
        return self.code not in _MARKS

    @property
    def is_listing(self) -> bool:
        """Whether it is asked for as a sitemap or feed."""
        return self.code in LISTINGS

    @property
    def is_requisite(self) -> bool:
        """Whether it isn't asked for as a page, but as what an archived page needs."""
        return self.code in _REQUISITES

    @property
    def is_guess(self) -> bool:
        """Whether it is asked for as what an archived page may need."""
        return self.code == GUESS

    @property
    def key(self) -> int:
        """The key by which a frontier knows the URL again."""
        return key(self.url, self.code)


def locality(here: str, there: str) -> Locality:
    """Return how far apart two servers are, by their names."""
    if here == there:
        return Locality.SAME_SERVER
    return Locality.SAME_SITE if site_of(here) == site_of(there) else Locality.ELSEWHERE


def offer_like(visit: Visit, url: Url, unit: str, redirects: int | None = None) -> Offer:
    """Return the offer of a visit's page by another URL, with the facts of the link to that."""
    lease = visit.lease
    times = lease.redirects if redirects is None else redirects
    return Offer(url.href, url.server, unit, lease.code, lease.inherited, lease.depth, times)


def offer_of_redirect(visit: Visit, url: Url, unit: str, redirects: int) -> Offer:
    """Return the offer of a redirect's target: it has a place of its own."""
    offer = offer_like(visit, url, unit, redirects)
    source = parse(visit.lease.url)
    if source is None:
        return offer
    here, there = home(source), home(url)
    hop = locality(here.server, there.server)
    return offer._replace(code=redirected(offer.code, hop, here.folder == there.folder))


_OVERHEAD = 50  # bytes of a Python object


@dataclass(slots=True)
class Exchange:
    """The bytes of a request and its response as they were on the wire.

    ``head`` is the response's status line and headers, the empty line included; ``body`` comes
    in pieces, chunked if the server chunked it.
    """

    request: bytes = b""
    head: bytearray = field(default_factory=bytearray)
    body: list[bytes] = field(default_factory=list)

    @property
    def weight(self) -> int:
        """Bytes of memory that it takes, roughly, with the attempt that it is of."""
        pieces = sum(len(piece) + _OVERHEAD for piece in self.body)
        return len(self.request) + len(self.head) + pieces + 20 * _OVERHEAD


class Original(NamedTuple):
    """Where a payload is stored: its URL, date (WARC's form) and digest (base 32 of SHA-1).

    ``entity`` is the digest of its body without Transfer-Encoding, if the record has another's.
    ``id`` is that of its record, and ``file`` the name of the WARC file, "" if that isn't known.
    """

    url: str
    date: str
    digest: str
    entity: str = ""
    id: str = ""
    file: str = ""


class Rendered(NamedTuple):
    """A page as its scripts left it: HTML in UTF-8, its URL then, and where they wanted to go."""

    html: bytes
    url: str
    led_to: tuple[str, ...]


DISCONNECT = "disconnect"
"""Of an attempt that is ``truncated``: its connection was closed, or broke, within the body."""

STOPPED = "unspecified"
"""Of an attempt that is ``truncated``: no more of its body was wanted."""


@dataclass(slots=True)
class Attempt:
    """A request that was sent, or that failed on its way.

    ``time`` (UTC) is when it began; ``status`` 0 without a response, or without a status in it;
    ``size`` that of the body in bytes, still compressed; ``mime`` the media type that the server
    said, without parameters; ``error`` the name of what failed. ``exchange`` is None if nothing
    is archived or nothing came; ``truncated`` says why its body isn't whole, as WARC-Truncated
    does. ``rendered`` is the page as a browser showed it, if one did. ``unchanged`` is what an
    earlier crawl stored, if the server says that it still holds; ``held`` if it sent it again, or
    something else. ``protocol`` and ``cipher`` say how it was sent, such as "tls/1.3" and
    "TLS_AES_128_GCM_SHA256", "" without encryption.
    """

    url: str
    time: datetime
    status: int = 0
    mime: str = ""
    size: int = 0
    ip: str = ""
    error: str | None = None
    exchange: Exchange | None = None
    truncated: str = ""
    unchanged: Original | None = None
    held: Original | None = None
    rendered: Rendered | None = None
    protocol: str = ""
    cipher: str = ""


@dataclass(slots=True)  # frozen would take as long as all else that is done with a record
class Record:
    """The record of a page; an item as Scrapy's feeds and pipelines know it.

    ``id`` is the page's number in the frontier, ``kind`` what it is written in: ``html``, or a
    document's (``lswc.safety.content_types``). ``language`` is the identified one, None if it
    isn't known; ``variant`` the way it is written, such as ``zh-Hant``, "" if that isn't
    known or it has but one; ``decided_by`` says by what, ``shares`` how much of the text is in
    which language, such as ``th=0.62 en=0.35``. ``relevant`` says that it is the target language,
    None of a document whose language isn't known, and that is archived for the ``reason`` "linked
    by a relevant page"; ``guessed`` that it isn't known, and that the page counts for the strategy
    as its referrer does, which is relevant. ``distance`` is the page's own from the latest relevant
    referrer, ``tier`` the one it was fetched in, or ``expected`` how probable it was, when it was
    fetched, that it is relevant: None for an order that isn't learned. ``server_status`` is that of
    its server (or directory, if the strategy counts by them) after this page. ``simhash`` is that
    of its text, in 16 hex digits; ``near_duplicate`` says that one like it came before, among the
    crawl's latest pages.
    ``source`` says what named its URL: ``seed``, ``link``, ``sitemap`` or ``feed``.
    ``content_language`` is the language that the server says, ``vary`` what its answer depends on:
    both as in the headers, "" without one. ``opt_outs`` is what
    the page says against mining its text, and where; ``rendered`` says that it was read as a
    browser showed it; ``truncated`` why it isn't whole, as in an Attempt; ``cookies`` what it was
    asked for with, as its Cookie said. ``time`` is UTC, ISO
    8601. ``visit`` is the number of the page's visit, from 1, and ``change`` says what became of
    its text since the one before: ``new``, ``changed`` or ``unchanged``. ``unread`` is the number
    of its links beyond the bounds of what is read.
    """

    id: int
    url: str
    status: int
    kind: str
    title: str
    language: str | None
    variant: str
    encoding: str
    confidence: float
    decided_by: str
    shares: str
    relevant: bool | None
    reason: str
    guessed: bool
    distance: int
    tier: int | None
    expected: float | None
    depth: int
    server_status: str
    simhash: str
    near_duplicate: bool
    content_language: str
    vary: str
    opt_outs: tuple[str, ...]
    rendered: bool
    truncated: str
    cookies: str
    source: str
    referrer: str | None
    time: str
    visit: int
    change: str
    unread: int = 0


class FollowedLink(Struct, frozen=True, gc=False):
    """A link of a page and what became of it, for the crawl log.

    ``anchor`` is its Anchor, ``named`` its Named, None if it wasn't asked; ``tier`` is that of a
    kept link, None if the order is learned, and ``discarded`` says why another wasn't.
    """

    url: str
    anchor: int | None
    tier: int | None
    discarded: str | None
    named: int | None = None


@dataclass(slots=True)
class Visit:
    """What came of a lease. The lease itself never changes.

    ``url`` is asked for next: the lease's, or its https twin that a redirect led to, after
    ``redirects`` redirects; ``led_to`` is where one led that ended it. ``outcome`` says how it
    ended, empty until then. ``relevant`` stays None for what doesn't count as a page, ``is_page``
    says that it was asked for as one. ``brought`` is what a page counts (``lswc.strategy.value``);
    None if that is what ``relevant`` says. ``tally`` counts by (kind, name), for instance
    ("discarded", "depth"). ``offers`` are the links that the strategy kept, ``links`` all of them.
    ``simhash`` is that of its text, if it was read. ``dates`` are those when pages changed last,
    as a sitemap or feed says: Unix times by URL.
    ``discarded`` are URLs that wait until then, and no longer because of what this page is.
    ``attempts`` are the requests sent, ``record`` is what is kept of a page,
    ``opt_outs`` what it says against mining its text, and where; ``requisites`` are the URLs that
    it needs besides, if it is archived: they are among the ``offers``.

    ``cookies`` are those that its answer depends on, as its request's Cookie said them.
    ``is_chosen`` says that a browser shows its page though it isn't empty without its scripts;
    ``rendered`` that its page is what one showed;
    ``fetched`` are the requests sent for what the page asked for there, ``scripts`` the URLs
    of those that needed none, as another page had asked for them, ``named`` what nobody looks at in
    a browser: images, fonts, style sheets.

    ``is_over`` says that it has ended, or that its lease is another worker's by now: nobody waits
    for what still comes. ``since`` is when the URL was handed out, in seconds of a monotonic clock;
    ``rest`` the seconds from then until its server may be asked again: the guest says them, and
    they are 0 until it lets something be asked. ``postponed`` says that the URL is tried again
    another time: then nothing is kept of it but that it was tried. ``unshown`` is why the page says
    nothing: it is empty until its scripts run, and wasn't shown. ``is_file`` says that what came
    is no page, but a file that is archived as it is linked to. ``text`` is the beginning of what
    the page says, if pages are indexed.
    """

    lease: Lease
    since: float = 0.0
    url: str = ""
    redirects: int = 0
    led_to: str = ""
    outcome: str = ""
    relevant: bool | None = None
    brought: float | None = None
    simhash: int | None = None
    rest: float = 0.0
    offers: Sequence[Offer] = ()
    tally: Counter[tuple[str, str]] = field(default_factory=Counter)
    links: list[FollowedLink] = field(default_factory=list)
    discarded: Sequence[str] = ()
    dates: Mapping[str, float] = field(default_factory=dict)
    attempts: list[Attempt] = field(default_factory=list)
    record: Record | None = None
    opt_outs: tuple[str, ...] = ()
    requisites: Sequence[str] = ()
    postponed: bool = False
    rendered: bool = False
    is_chosen: bool = False
    cookies: str = ""
    fetched: list[Attempt] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    named: list[str] = field(default_factory=list)
    is_file: bool = False
    unshown: str = ""
    text: str = ""
    is_over: bool = False
    is_page: bool = field(init=False)

    @property
    def counted(self) -> float | None:
        """What it adds to the counts of its unit and cell; None if it doesn't count as a page.

        A page that is visited again was counted.
        """
        if self.lease.visits:
            return None
        if self.relevant is None or self.brought is None:
            return self.relevant
        return self.brought

    @property
    def is_dead_end(self) -> bool:
        """Whether its server answered, and has no page there: such links lead nowhere."""
        return self.is_miss and is_dead_end(self.outcome)

    @property
    def is_miss(self) -> bool:
        """Whether it was a look at its server that brought nothing: an error, or no answer."""
        return self.is_page and not self.lease.visits and is_miss(self.outcome)

    @property
    def change(self) -> str:
        """What became of the page's text since the visit before."""
        before = self.lease.simhash
        if not self.lease.visits:
            return NEW
        if before is None or self.simhash is None:
            return CHANGED
        return UNCHANGED if (before ^ self.simhash).bit_count() <= DISTANCE else CHANGED

    @property
    def received(self) -> int:
        """Bytes of all answers, as they were sent."""
        return sum(attempt.size for attempt in (*self.attempts, *self.fetched))

    def count_page(
        self, kind: str, language: str | None, encoding: str, *, relevant: bool, guessed: bool
    ) -> None:
        """Count its page, which is seen for the first time, by what it is, and what led to it."""
        tally, is_other = self.tally, "guessed" if guessed else "irrelevant"
        tally["page", "relevant" if relevant else is_other] += 1
        tally["kind", kind] += 1
        if relevant:
            tally["source", self.lease.source] += 1
        tally["language", language or "unknown"] += 1
        tally["encoding", encoding] += 1
        tally["fetched", self.lease.group] += 1

    def count_end(self) -> None:
        """Count what it brought, beside what was counted as its page was read."""
        self.tally["received", "bytes"] += self.received
        if not self.is_page:
            kind = "requisites" if self.lease.is_requisite else "listings"
            outcome = f"guessed: {self.outcome}" if self.lease.is_guess else self.outcome
            self.tally[kind, outcome] += 1

    def withhold(self) -> None:
        """Let nothing of it be archived, nor its text be shown."""
        self.text = ""
        for attempt in (*self.attempts, *self.fetched):
            attempt.exchange = attempt.rendered = None

    def __post_init__(self) -> None:
        self.is_page = self.lease.is_page  # many ask for it
        self.url = self.url or self.lease.url
        self.redirects = self.redirects or self.lease.redirects


def leave_out(visit: Visit, without_room: Container[str]) -> None:
    """Say in a page's links which of them are discarded, as their servers' sites have no room."""
    if not without_room:
        return
    urls = {offer.url for offer in visit.offers if offer.server in without_room}
    reason = Outcome.TOO_MANY_UNPROVEN
    visit.links = [
        structs.replace(link, tier=None, discarded=reason) if link.url in urls else link
        for link in visit.links
    ]
