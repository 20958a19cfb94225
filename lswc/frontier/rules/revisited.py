"""Pages visited again: what a frontier keeps of them, and what a visit makes of it.

A page is visited again once it was recorded as relevant, and so is a sitemap or feed that was
read. Times and rates are in days (``lswc.strategy.revisits``), since 1970.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from lswc.frontier.rules.harvest import wilson
from lswc.outcomes import CHANGED, RECORDED, UNCHANGED, Outcome, of_status
from lswc.strategy.revisits import (
    DAYS_AT_MOST,
    FIRST_CHANGES,
    FIRST_NEW,
    OF_KIND,
    SECOND_LOOK,
    Known,
    Seen,
    due,
    expected,
    unchanged,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lswc.frontier.rules.visit import Visit

LOOKED_AT = 200
"""Pages that are looked at in one go for one whose server is free."""

ORDERED = 10
"""Pages that are put in order anew at each visit: the price of a visit has changed."""

IDLE = 1 / 1_440
"""Days until the next look, while no page may be visited yet: a minute."""

MANY_LINKS = 100
"""Links of a page that is a list."""

CLAIMS, BELIEVED, DISBELIEVED = "claims of listings", "changed", "changed, not believed"
"""What of what listings claim is counted, and under which name."""

_RIGHT = 0.5
"""Share of a server's claims that have to be right: it needs four of each kind at least."""

_GONE = (of_status(404), of_status(410), Outcome.REDIRECT)
_NOT_KEPT = (
    Outcome.NOINDEX, Outcome.NOARCHIVE, Outcome.NOT_HTML, Outcome.DOCUMENT_LEFT,
    Outcome.NOT_RENDERED,
)  # fmt: skip
_AT_ONCE = 1e-6  # days: so soon after a visit nothing is learned


class Kind(IntEnum):
    """What a page that is visited again is for: each kind has rates of its own."""

    FRONT = 1
    LIST = 2
    ARTICLE = 3
    LISTING = 4
    """A sitemap or feed."""


class Became(StrEnum):
    """What a visit found of a page that is visited again."""

    CHANGED = CHANGED
    UNCHANGED = UNCHANGED
    NOT_THERE = "not there"
    """Its server says that it is gone, or somewhere else: the second time, it is."""
    NOT_HAD = "not had"
    """Its server didn't answer, or may not be asked now."""
    IRRELEVANT = "irrelevant"
    NOT_KEPT = "not kept"
    """It asks not to be kept, or is no page any more."""


class Claim(IntEnum):
    """What a listing says of a page: whether it changed since its last visit."""

    NONE = 0
    UNCHANGED = 1
    CHANGED = 2


@dataclass(frozen=True, slots=True)
class Claims:
    """What became of a server's claims: how many it made of each kind, and how many were right."""

    changed: int = 0
    right_changed: int = 0
    unchanged: int = 0
    right_unchanged: int = 0

    @property
    def are_believed(self) -> bool:
        """Whether most of either kind should be right: the lower bound of Wilson's interval.

        Both count: who says "now" of each page is often right where most pages change, and tells
        nothing.
        """
        kinds = (
            (self.right_changed, self.changed),
            (self.right_unchanged, self.unchanged),
        )
        return all(made and wilson(right, made)[0] > _RIGHT for right, made in kinds)


ENDS = (Became.IRRELEVANT, Became.NOT_KEPT)
"""After these a page is visited no more."""


def became(visit: Visit) -> Became:
    """Return what a visit found of a page that was visited again."""
    outcome = visit.outcome
    if outcome in RECORDED:
        return Became(visit.change) if visit.relevant else Became.IRRELEVANT
    if outcome == Outcome.LISTING:  # it has no text: what comes by it says what it is worth
        return Became.UNCHANGED
    if outcome in _GONE:
        return Became.NOT_THERE
    return Became.NOT_KEPT if outcome in _NOT_KEPT else Became.NOT_HAD


def is_revisited_after(visit: Visit) -> bool:
    """Tell whether the first visit of a URL makes it a page that is visited again."""
    return visit.outcome == Outcome.LISTING or (
        visit.relevant is True and visit.outcome in RECORDED
    )


def is_front(url: str) -> bool:
    """Tell whether a URL, as the frontier has it, is that of a server's front page."""
    return url.split("/", 3)[-1][:1] in ("", "?")


def kind_of(visit: Visit) -> Kind:
    """Return what a visited page is for."""
    if visit.lease.is_listing:
        return Kind.LISTING
    if is_front(visit.url):
        return Kind.FRONT
    return Kind.LIST if len(visit.links) >= MANY_LINKS else Kind.ARTICLE


@dataclass(slots=True)
class Revisited(Known):
    """What is kept of a page that is visited again, besides what is known of its changes.

    ``visits`` were made so far, ``misses`` in a row since it was had; ``is_gone`` says that it
    wasn't there at the last one. ``simhash`` is that of its text, None of a listing.
    It is ``due`` then; sooner only if nothing comes before it, and it was had. ``claim`` is what a
    listing of its server has said since the last visit; if that is believed to be a change, it was
    ``heard`` then.
    """

    kind: Kind = Kind.ARTICLE
    visits: int = 1
    misses: int = 0
    is_gone: bool = False
    simhash: int | None = None
    due: float = 0.0
    claim: Claim = Claim.NONE
    heard: float = 0.0

    def may_be_asked(self, now: float) -> bool:
        """Tell whether a visit may be made though it isn't due.

        A page that wasn't had is left alone until it is; unless the clock went back since.
        """
        had = not (self.misses or self.is_gone)
        return had or not now < self.due <= now + DAYS_AT_MOST

    def missed(self, what: Became, now: float) -> bool:
        """Take notice of a visit that didn't have the page; tell whether it is visited any more."""
        if what == Became.NOT_THERE:
            if self.is_gone:
                return False
            self.is_gone, self.due = True, now + SECOND_LOOK
            return True
        self.misses += 1
        self.due = now + min(DAYS_AT_MOST, SECOND_LOOK * 2.0 ** min(self.misses, 9))
        return True

    def had(self, is_changed: bool, now: float, usual: float) -> tuple[float, float]:
        """Take notice of a visit; return the changes that it should have had, in how many days."""
        since = min(now - self.visited, DAYS_AT_MOST)  # more was the clock's
        self.visited, self.misses, self.is_gone = now, 0, False
        self.visits += 1
        self.claim, self.heard = Claim.NONE, 0.0
        return (self.learn(is_changed, since, usual), since) if since > _AT_ONCE else (0.0, 0.0)

    def hear(self, changed: float, now: float, *, is_believed: bool) -> Claim:
        """Take notice of when it changed last, as a listing says; return what that claims."""
        self.claim = Claim.CHANGED if changed > self.visited else Claim.UNCHANGED
        if self.claim == Claim.UNCHANGED:
            self.heard = 0.0
        elif is_believed:
            self.heard = self.heard or now
        return self.claim

    def order(self, changes: float, new: float, price: float) -> None:
        """Say when it is due, by what is usual of its kind and site, and a visit's price.

        A change that was heard of, and is believed, makes it due at once: nothing is gained by
        waiting. Not if no visit is ever worth the price, as it changes too fast.
        """
        wait = due(*self.belief(changes), self.finds(new), price)
        if self.heard and wait < DAYS_AT_MOST:
            wait = max(0.0, min(wait, self.heard - self.visited))
        self.due = self.visited + wait

    def fresh(self, changes: float, now: float) -> float:
        """Return how probable it is that it hasn't changed since its visit."""
        if self.is_gone:
            return 0.0
        return unchanged(*self.belief(changes), max(0.0, now - self.visited))


class Learned(NamedTuple):
    """What a visit taught: why its page is visited no more, else ""; and changes in so many days.

    ``claim`` is what a listing had said of it since the visit before, and whether that was right.
    """

    reason: str = ""
    changes: float = 0.0
    days: float = 0.0
    claim: Claim = Claim.NONE
    is_right: bool = False


def after_first_visit(
    visit: Visit, now: float, usual: tuple[float, float], price: float
) -> Revisited:
    """Return what is kept of a page after its first visit."""
    page = Revisited(now, kind=kind_of(visit), simhash=visit.simhash)
    page.order(*usual, price)
    return page


def learn(
    page: Revisited,
    visit: Visit,
    what: Became,
    now: float,
    usual: tuple[float, float],
    price: float,
) -> Learned:
    """Take what a visit found into what is kept."""
    if what in ENDS:
        return Learned(what)
    if what not in (Became.CHANGED, Became.UNCHANGED):
        return Learned("" if page.missed(what, now) else "gone")
    claim, is_changed = page.claim, what == Became.CHANGED
    changes, since = page.had(is_changed, now, usual[0])
    page.simhash = visit.simhash
    page.order(*usual, price)
    return Learned("", changes, since, claim, (claim == Claim.CHANGED) == is_changed)


def is_wanted(record: Mapping[str, Any]) -> bool:
    """Tell whether the page of a record is one that is page."""
    return bool(record["relevant"] or record["guessed"])


def as_recorded(
    record: Mapping[str, Any], day: float, now: float, wait: Mapping[Kind, float]
) -> Revisited:
    """Return what is kept of a page that was recorded while none was visited again.

    A ``day`` has so many seconds; ``wait`` says after how many days a page of a kind is due.
    """
    time = datetime.fromisoformat(record["time"]).timestamp() / day
    kind = Kind.FRONT if is_front(record["url"]) else Kind.ARTICLE
    visits, simhash = record.get("visit", 1), int(record["simhash"], 16)
    page = Revisited(min(time, now), kind=kind, visits=visits, simhash=simhash)
    page.due = page.visited + wait[kind]
    return page


def first_wait(kind: Kind, usual: tuple[float, float], price: float) -> float:
    """Return after how many days a page of a kind is due that was seen once."""
    page = Revisited(0.0, kind=kind)
    page.order(*usual, price)
    return page.due


def usual_of(of_all: Sequence[float], own: Sequence[float]) -> tuple[float, float]:
    """Return the changes and the new pages a day to expect of a site's page of a kind.

    By what was seen of all pages of the kind, and of the site's own: changes, new pages, days.
    """
    changes, new = (
        expected(
            Seen(OF_KIND + of_all[place], OF_KIND / first + of_all[2]),
            Seen(own[place], own[2]),
        )
        for place, first in enumerate((FIRST_CHANGES, FIRST_NEW))
    )
    return changes, new
