"""Likeness of answers: what several registered domains in a row say alike may be no server's.

A captive portal gives one page for all, or leads all to one host; a resolver leads every name to a
parking page; a broken line cuts every body. None of it is to be taken for what servers say.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from lswc.frontier.rules.visit import DISCONNECT
from lswc.outcomes import Outcome
from lswc.safety.near_duplicates import DISTANCE
from lswc.urls import parse, site

if TYPE_CHECKING:
    from collections.abc import Callable

    from lswc.frontier.rules.visit import Attempt, Visit
    from lswc.urls import Url

IN_A_ROW = 5
"""Registered domains in a row with like answers, or with none, after which the network is doubted.
All that are known are enough, if they are fewer, but two."""

TAIL = 16
"""Answers that are compared with the next: the latest. No more are held, but during a look."""

HEAVY = 32_000_000
"""Bytes of answers that are held at most, but during a look."""

KNOWN = 5
"""Pages that are remembered to ask for them again: the latest, each of another server."""

HELD_SECONDS = 1.0
"""Seconds that an answer is held at least if its server rests at all: others come meanwhile."""

LIKE_SECONDS = 5.0
"""Seconds without another like them, after which too few like answers are looked at."""

ACQUITTED, LONGEST = 60.0, 3600.0
"""Seconds that a sign, found to be the servers' own, is believed: at first, and the most after
twice as many each time."""

_ACQUITTALS = 64  # that are remembered
_BITS = (1 << 64) - 1


def is_like(one: int, other: int) -> bool:
    """Tell whether two signs are those of like answers."""
    return (one ^ other).bit_count() <= DISTANCE


def sign_of_redirect(url: Url, target: Url) -> int | None:
    """Return the sign of an answer that leads from one URL to another.

    None within a registered domain: there a server leads on, and says nothing else.
    """
    if site(url.hostname) == site(target.hostname):
        return None
    return hash(("redirect", target.hostname)) & _BITS


def sign_of_answer(attempt: Attempt) -> int | None:
    """Return the sign of an answer whose text isn't known; None if it says nothing.

    That a server fails (5xx, 429) is tried again anyway; 511 is a network's (RFC 6585 §6). Files
    that aren't HTML many servers have alike.
    """
    if attempt.truncated == DISCONNECT:
        return hash(DISCONNECT) & _BITS
    status = attempt.status
    if not status or status in (304, 429) or (status >= 500 and status != 511):
        return None
    if status < 300 and attempt.size and attempt.mime != "text/html":
        return None
    return hash((status, attempt.mime, attempt.size)) & _BITS


def sign_of(visit: Visit, outcome: str) -> int | None:
    """Return the sign of a visit's answer: 64 bits, nearly the same for like ones.

    That of a page is the simhash of its text. None if no server was asked, or if it leads on
    within its registered domain.
    """
    if not visit.attempts or visit.attempts[-1].unchanged is not None:
        return None
    attempt = visit.attempts[-1]
    if visit.simhash is not None and not attempt.truncated:
        return visit.simhash
    if outcome != Outcome.REDIRECT:
        return sign_of_answer(attempt)
    url, target = parse(visit.url), parse(visit.led_to)
    return sign_of_redirect(url, target) if url and target else None


@dataclass(slots=True)
class _Answer:
    """An answer; its ``visit`` until it is believed, and ``due``, when it is.

    ``is_odd``: another registered domain's was like it.
    """

    sign: int
    server: str
    due: float
    outcome: str
    visit: Visit | None
    weight: int
    is_odd: bool = False


@dataclass(slots=True)
class _Acquittal:
    """That domains have this sign is their own matter; or that these have any, if it is None.

    Not both: domains with one error page are no reason to believe whatever is said in their names.
    """

    sign: int | None
    sites: set[str]
    until: float
    seconds: float = ACQUITTED

    def covers(self, sign: int, sites: set[str]) -> bool:
        return sites <= self.sites if self.sign is None else is_like(self.sign, sign)


class Likeness:
    """Holds the latest answers until others came that are unlike, and suspects those that are like.

    An answer is held while its server rests anyway, so no crawl is slower for it. ``end`` is called
    with what is believed. The ``suspect`` is the sign of answers of so many registered domains in a
    row that the network is to be looked at, None if there is none: nothing is believed then. It is
    asked now and then of fewer, too, which may have been a short lie. ``next_due`` is when the next
    answer is to be believed, None if none is held; ``weight`` the bytes of those that are.
    """

    def __init__(self, end: Callable[[Visit, str], None]) -> None:
        self._end = end
        self._latest: list[_Answer] = []
        self._acquittals: list[_Acquittal] = []
        self._first: _Answer | None = None  # the latest, while nothing is known
        self._few_at, self._few_wait = 0.0, ACQUITTED
        self.suspect: int | None = None
        self.next_due: float | None = None
        self.weight = 0
        self.known: OrderedDict[str, tuple[str, int]] = OrderedDict()
        self.held: dict[int, _Answer] = {}

    def takes(self, visit: Visit, outcome: str, now: float, *, others: bool) -> bool:
        """Take a visit that is to end so, if it has an answer: it is held, or ended.

        As long as nothing is known, an answer is held until the next, if ``others`` are to come.
        """
        sign = sign_of(visit, outcome)
        if sign is None:
            return False
        due = _due(visit, now)
        if self._first is not None:
            self._first.due, self._first = min(self._first.due, now + HELD_SECONDS), None
        new = _Answer(sign, visit.lease.server, due, outcome, visit, _weight(visit))
        if others and due > now and not self.known:
            new.due, self._first = now + LIKE_SECONDS, new
        # As is_like does: most pages get no further than this.
        like = [one for one in self._latest if (one.sign ^ sign).bit_count() <= DISTANCE]
        sites = {_site(one.server) for one in (*like, new)} if like else set()
        if len(sites) > 1 and not self._is_acquitted(sign, sites, now):
            self._latest = [one for one in self._latest if not is_like(one.sign, sign)] + like
            for one in (*like, new):
                one.due, one.is_odd = now + LIKE_SECONDS, True
            if len(sites) >= self._enough:
                self.suspect = sign
        self._latest.append(new)
        self._forget_expired(visit.lease.id)
        self.held[visit.lease.id] = new
        self.weight += new.weight
        self.believe_due(now)
        return True

    def _forget_expired(self, url: int) -> None:
        """Forget the answer of an earlier visit of a URL, whose lease has expired."""
        if (one := self.held.pop(url, None)) is not None:
            one.visit = None
            self.weight -= one.weight

    @property
    def _enough(self) -> int:
        return min(IN_A_ROW, max(2, len(self.known))) if self.known else IN_A_ROW

    def believe_due(self, now: float, *, at_rest: bool = False) -> None:
        """Believe what was held for long enough, or all because nothing else runs."""
        for one in [one for one in self.held.values() if at_rest or one.due <= now]:
            self._believe_or_doubt(one, now)
        while self.suspect is None and (len(self._latest) > TAIL or self.weight > HEAVY):
            if self._latest[0].visit is not None:
                self._believe_or_doubt(self._latest[0], now)
            if self.suspect is None:
                del self._latest[0]
        self.next_due = min((one.due for one in self.held.values()), default=None)

    def _believe_or_doubt(self, one: _Answer, now: float) -> None:
        """Believe an answer, unless it is one of few like ones, and it is time to look at such."""
        if self.suspect is not None or one.visit is None:
            return
        is_due = one.is_odd and now >= self._few_at
        if is_due and not self._is_acquitted(one.sign, self.sites(one.sign), now):
            self._few_at = now + self._few_wait
            self._few_wait = min(2 * self._few_wait, LONGEST)
            self.suspect = one.sign
        else:
            self._believe(one)

    def _believe(self, one: _Answer) -> None:
        visit, one.visit = one.visit, None
        if visit is None:
            return
        del self.held[visit.lease.id]
        self.weight -= one.weight
        if visit.record is not None and not visit.attempts[-1].truncated:
            self.know(one.server, visit.url, one.sign)
        self._end(visit, one.outcome)

    def know(self, server: str, url: str, sign: int) -> None:
        """Remember the sign of a server's page."""
        self.known[server] = url, sign
        self.known.move_to_end(server)
        if len(self.known) > KNOWN:
            self.known.popitem(last=False)

    def forget(self, is_blocked: Callable[[str], bool]) -> None:
        """Forget the pages that aren't to be asked for any more."""
        for server, (url, _) in list(self.known.items()):
            if is_blocked(url):
                del self.known[server]

    def sites(self, sign: int) -> set[str]:
        """Return the registered domains of the latest answers with a sign, or nearly that."""
        return {_site(one.server) for one in self._latest if is_like(one.sign, sign)}

    def urls(self, sign: int) -> list[str]:
        """Return the URLs of the held answers with a sign, or nearly that."""
        like = (one.visit for one in self.held.values() if is_like(one.sign, sign))
        return [visit.lease.url for visit in like if visit is not None]

    def _is_acquitted(self, sign: int, sites: set[str], now: float) -> bool:
        return any(one.until > now and one.covers(sign, sites) for one in self._acquittals)

    def acquit(self, now: float, *, for_good: bool = False) -> None:
        """Believe the suspect, and all that is held; for a while, or ``for_good``."""
        sign, self.suspect = self.suspect, None
        if sign is None:
            return
        sites = self.sites(sign)
        before = [one for one in self._acquittals if one.covers(sign, sites)]
        seconds = min(2 * max((one.seconds for one in before), default=ACQUITTED / 2), LONGEST)
        others = [one for one in self._acquittals if one not in before]
        until = inf if for_good else now + seconds
        self._acquittals = [*others, _Acquittal(sign, sites, until, seconds)][-_ACQUITTALS:]
        for one in list(self.held.values()):
            self._believe(one)
        self.next_due = None

    def condemn(self, now: float, *, is_over: bool) -> list[Visit]:
        """Return the visits that are held, to be given back: what they brought is forgotten.

        If it ``is_over`` already, or their pages change all the time, they are believed next.
        """
        visits = [one.visit for one in self.held.values() if one.visit is not None]
        if self.suspect is not None and is_over:
            until = now + ACQUITTED
            self._acquittals.append(_Acquittal(None, self.sites(self.suspect), until))
        self.suspect = self.next_due = None
        self.weight = 0
        self.held.clear()
        self._latest.clear()
        self._few_at, self._few_wait = 0.0, ACQUITTED
        return visits


def _due(visit: Visit, now: float) -> float:
    """Return until when a visit's server rests, which is soon: its answer may be held as long."""
    rested = visit.since + visit.rest
    return min(max(rested, now + HELD_SECONDS), now + LIKE_SECONDS) if rested > now else now


def _weight(visit: Visit) -> int:
    return sum(one.size for one in visit.attempts if one.exchange is not None)


def _site(server: str) -> str:
    return site(server.partition(":")[0])
