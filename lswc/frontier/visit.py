"""What a visit brought: one object, built along the way, and committed once."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lswc.frontier.attempt import Attempt
    from lswc.frontier.lease import Lease, Offer
    from lswc.frontier.page_record import Record


class FollowedLink(Struct, frozen=True, gc=False):
    """A link of a page and what became of it, for the crawl log.

    ``anchor`` is its Anchor, ``named`` its Named, None if it wasn't asked; ``tier`` is that of a
    kept link, None if the order is learned, and ``dropped`` says why another wasn't.
    """

    url: str
    anchor: int | None
    tier: int | None
    dropped: str | None
    named: int | None = None


@dataclass(slots=True)
class Visit:
    """What came of a lease. The lease itself never changes.

    ``url`` is asked for next: the lease's, or its https twin that a redirect led to, after
    ``redirects`` redirects. ``outcome`` says how it ended, empty until then. ``relevant`` stays
    None for what doesn't count as a page, ``is_page`` says that it was asked for as one. ``tally``
    counts by (kind, name), for instance ("dropped", "depth"). ``offers`` are the links that the
    strategy kept, ``links`` all of them.
    ``dropped`` are URLs that wait until then, and no longer because of what this page is.
    ``attempts`` are the requests sent, ``record`` is what is kept of a page,
    ``opt_outs`` what it says against mining its text, and where; ``requisites`` are the URLs that
    it needs besides, if it is archived: they are among the ``offers``.

    ``rendered`` says that its page is what a browser showed;
    ``fetched`` are the requests sent for what the page asked for there, ``scripts`` the URLs
    of those that needed none, as another page had asked for them.

    ``since`` is when the URL was handed out, in seconds of a monotonic clock; ``rest`` the least
    time from then until the server's next: None for the crawl's own delay, 0 if nothing was
    fetched. ``put_off`` says that the URL is tried again another time: then nothing is kept of it
    but that it was tried.
    """

    lease: Lease
    since: float = 0.0
    url: str = ""
    redirects: int = 0
    outcome: str = ""
    relevant: bool | None = None
    rest: float | None = None
    offers: Sequence[Offer] = ()
    tally: Counter[tuple[str, str]] = field(default_factory=Counter)
    links: list[FollowedLink] = field(default_factory=list)
    dropped: Sequence[str] = ()
    attempts: list[Attempt] = field(default_factory=list)
    record: Record | None = None
    opt_outs: tuple[str, ...] = ()
    requisites: Sequence[str] = ()
    put_off: bool = False
    rendered: bool = False
    fetched: list[Attempt] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    is_page: bool = field(init=False)

    @property
    def received(self) -> int:
        """Bytes of all answers, as they were sent."""
        return sum(attempt.size for attempt in (*self.attempts, *self.fetched))

    def withhold(self) -> None:
        """Let nothing of it be archived."""
        for attempt in (*self.attempts, *self.fetched):
            attempt.exchange = attempt.rendered = None

    def __post_init__(self) -> None:
        self.is_page = self.lease.is_page  # many ask for it
        self.url = self.url or self.lease.url
        self.redirects = self.redirects or self.lease.redirects
