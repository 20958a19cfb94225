"""What a frontier holds and promises: URLs and server counters, which change together.

Verbs: ``offer`` links to URLs, ``lease`` the next one, ``finish`` it. A URL is pending, leased
or finished; what a strategy discards is counted and forgotten, so another page may offer
it again. A URL is known by its ``fingerprint``, so http and https twins are one.

Every end of a request reaches ``finish`` exactly once; a second call for the same lease does
nothing. Where each end arrives:

=========================================  ===============================================
end of a request                           arrives at
=========================================  ===============================================
page recorded                              ``RecordPipeline``, after the record is written
item dropped, or a pipeline raised         signals ``item_dropped``, ``item_error``
callback or spider middleware raised       signal ``spider_error``
callback output swallowed                  ``LeaseGuardMiddleware``
download error, timeout, robots.txt,       the errback of the request
retries exhausted, status filtered,
IgnoreRequest, too many redirects
retry                                      ``TierScheduler.enqueue_request`` (lease is kept)
redirect                                   ``TierScheduler.enqueue_request`` (target offered;
                                           the lease is kept if that is the same URL's twin)
anything else, such as a redirect that     ``TierScheduler.has_pending_requests``, asked when
a ``request_scheduled`` handler refused    nothing runs any more
crawl closed or killed                     nothing to do: unfinished URLs are pending again
=========================================  ===============================================
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from lswc.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from contextlib import AbstractContextManager

    from lswc.strategy import PageLanguage, Status


REDIRECT = "redirect"
"""Outcome of a URL that led to another.

If that leads back to its https twin, as in http://a, http://www.a, https://a, the twin is taken:
the one case in which a URL is fetched by both schemes.
"""


class FrontierError(ConfigError):
    """A frontier isn't this crawl's, or is in use; the message says what to do."""


class Offer(NamedTuple):
    """A URL offered to the frontier.

    ``code`` holds the frozen facts of its link (``lswc.strategy.encode``, or SEED).
    ``inherited`` is the language that the page takes if its own can't be told.
    ``unit`` names what the strategy counts by: the server or the directory.
    """

    url: str
    server: str
    unit: str
    code: int
    inherited: PageLanguage
    depth: int
    redirects: int = 0


def is_twin_of_redirect(offer: Offer) -> bool:
    """Tell whether an offer is taken though its http twin is finished, having redirected."""
    return offer.redirects > 0 and offer.url.startswith("https:")


class Found(NamedTuple):
    """A link of a page and what became of it, for the crawl log.

    ``anchor`` is its Anchor, None if it wasn't asked; ``tier`` is that of a kept link, and
    ``dropped`` says why another wasn't.
    """

    url: str
    anchor: int | None
    tier: int | None
    dropped: str | None


@dataclass(slots=True)
class Lease:
    """A URL handed out. Its server is busy until the lease is finished.

    ``relevant``, ``offers`` and ``tally`` are what the page brought, kept until ``finish``
    stores them. ``relevant`` stays None for what doesn't count as a page; ``tally`` counts by
    (kind, name), for instance ("dropped", "depth"). ``links`` are for the crawl log only.
    ``rest`` is the least time in seconds from handing the URL out until the server's next: None
    for the frontier's own delay, 0 if nothing was fetched.
    """

    id: int
    url: str
    server: str
    unit: str
    code: int
    tier: int
    inherited: PageLanguage
    depth: int
    redirects: int
    referrer: str | None
    relevant: bool | None = None
    rest: float | None = None
    offers: Sequence[Offer] = ()
    tally: Counter[tuple[str, str]] = field(default_factory=Counter)
    links: list[Found] = field(default_factory=list)


@dataclass(frozen=True)
class Counts:
    """What a frontier holds.

    ``pending`` by tier; ``servers`` (or directories, if the strategy counts by them) by
    status; ``tally`` by kind and name: "finished" URLs by outcome, "dropped" links and URLs by
    reason, and whatever the pages' leases counted.
    """

    pending: Mapping[int, int]
    leased: int
    servers: Mapping[str, int]
    tally: Mapping[str, Mapping[str, int]]


class Frontier(Protocol):
    """One contract for every store."""

    def statuses(
        self, units: Collection[str], lease: Lease, relevant: bool | None
    ) -> dict[str, Status]:
        """Return the status of each unit as it is after counting the leased page.

        ``relevant`` is None if the page doesn't count.
        """

    def offer(self, offers: Sequence[Offer]) -> None:
        """Add URLs that no page brought (seeds), in one transaction."""

    def lease(self, now: float) -> Lease | None:
        """Hand out the oldest URL of the best tier whose server is free and rested.

        ``now`` in seconds, on any clock that doesn't go back. None if there is none now.
        """

    def next_ready(self) -> float | None:
        """Return when ``lease`` is worth another try though nothing is offered or finished here.

        That is when the next resting server is rested, or when it's time to see what other
        workers did; None if neither will be.
        """

    def renew(self, now: float) -> None:
        """Say that this worker lives, so that its leases don't expire. Ask every few seconds."""

    def finish(self, lease_id: int, outcome: str, records: Mapping[str, int] | None = None) -> bool:
        """End a lease: in one transaction, count the page, ask again the URLs of its unit if
        the status changed, store what the page brought, and free the server.

        ``records`` has the lengths in bytes of the files that the crawl writes, by name, what
        this URL brought included.
        False if the lease had ended. Raises FrontierError if the store can't be written; it
        then holds what it held before.
        """

    def records(self) -> dict[str, int]:
        """Return the ``records`` of the last commit that had some."""

    def fed(self) -> AbstractContextManager[list[str]]:
        """Give addresses that users feed to the running crawl as further seeds.

        They are taken off the feed when the block ends without an error, so none is lost.
        """

    @property
    def leases(self) -> Mapping[int, Lease]:
        """The leases of this process, by id."""

    @property
    def pending(self) -> int:
        """Number of URLs neither leased nor finished."""

    @property
    def servers(self) -> int:
        """Number of servers that URLs were offered of."""

    @property
    def unfinished(self) -> int:
        """Number of URLs pending, or leased by this worker or another: 0 ends the crawl."""

    def counts(self) -> Counts:
        """Count everything, exactly."""

    def close(self) -> None:
        """Close the store. Unfinished leases become pending."""
