"""Servers that answered and gave no page: why, and which of them are worth a look."""

from __future__ import annotations

from collections import Counter
from heapq import nsmallest
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from lswc.outcomes import Outcome, is_left_out, is_transient
from lswc.strategy import PageLanguage
from lswc.urls import parse, tld

if TYPE_CHECKING:
    from collections.abc import Collection

    from lswc.frontier.rules.visit import Visit
    from lswc.guest.learned import Key, Learned

SERVERS_KEPT = 20_000
"""Servers that are kept; further ones aren't told."""

NO_PAGE = "no page"
"""Subject of what is learned of them: the number of URLs by reason, and of links to them."""

_SAID = (
    Outcome.ROBOTS, Outcome.CRAWL_DELAY_TOO_LONG, Outcome.RETRY_AFTER_TOO_LONG,
    Outcome.HEADERS_TOO_LARGE,
)  # fmt: skip
# The first are the most promising: what somebody could do something about.
_PROMISING = (
    Outcome.COOKIE_WALL, Outcome.NOT_HTML, Outcome.SPIDER_ERROR, Outcome.NOT_RENDERED,
    Outcome.RENDERED_ENOUGH, Outcome.STILL_EMPTY, Outcome.REDIRECT_LOOP,
    Outcome.BROKEN_COMPRESSION, f"{Outcome.STATUS} 401", f"{Outcome.STATUS} 403", Outcome.ROBOTS,
    Outcome.REDIRECT_ELSEWHERE,
)  # fmt: skip


class Server(Struct, frozen=True):
    """A server without a page: how many of its URLs ended so by each reason.

    Relevant pages ``linked`` to so many of them; ``in_tld`` says that its name ends as the
    language's do.
    """

    name: str
    reasons: dict[str, int]
    linked: int = 0
    in_tld: bool = False


class Without(Struct, frozen=True):
    """Servers without a page: how many, by their commonest reason; and the most promising."""

    servers: int = 0
    reasons: dict[str, int] = {}
    first: tuple[Server, ...] = ()


class Pageless:
    """The servers that answered, and gave no page so far; ``tlds`` are the language's.

    A server whose name isn't found, or that doesn't answer, is none of these ``servers``. Raises
    LswcError.
    """

    def __init__(self, learned: Learned, tlds: Collection[str]) -> None:
        self._learned, self._tlds = learned, frozenset(tlds)
        self.servers: set[str] = set()
        for server in learned.keys(NO_PAGE):
            self._heard((server, NO_PAGE))
        learned.heard.append(self._heard)

    def _heard(self, key: Key) -> None:
        server, subject = key
        if subject == NO_PAGE:
            (self.servers.add if self._learned.get(*key) else self.servers.discard)(server)

    def ended(self, visit: Visit) -> None:
        """Take notice of how a URL of a server ended."""
        server = visit.lease.server
        if visit.relevant is not None:
            if server in self.servers:
                self._learned.put(server, NO_PAGE, None)
            return
        reason = "" if visit.lease.of_server.pages else _reason(visit)
        if not reason or (server not in self.servers and len(self.servers) >= SERVERS_KEPT):
            return
        known: Any = self._learned.get(server, NO_PAGE)
        reasons: dict[str, int] = known[0] if known else {}
        linked = (known[1] if known else 0) + (visit.lease.inherited == PageLanguage.TARGET)
        reasons = {**reasons, reason: reasons.get(reason, 0) + 1}
        self._learned.put(server, NO_PAGE, [reasons, linked])

    def without_page(self, top: int) -> Without:
        """Return the servers without a page, and the first of them in full."""
        there = [self._server(name) for name in self.servers]
        reasons = Counter(max(one.reasons, key=one.reasons.__getitem__) for one in there)
        first = nsmallest(top, there, key=_order)
        return Without(len(there), dict(reasons.most_common()), tuple(first))

    def _server(self, name: str) -> Server:
        reasons, linked = self._learned.get(name, NO_PAGE)
        return Server(name, reasons, linked, tld(name.partition(":")[0]) in self._tlds)


def _reason(visit: Visit) -> str:
    """Return why a URL of a server that answers gave no page; "" of another."""
    outcome = visit.outcome
    if not visit.is_page or visit.lease.visits or (visit.postponed and visit.lease.tries):
        return ""
    if outcome == Outcome.REDIRECT:
        to = parse(visit.led_to)
        is_other = to is not None and to.server != visit.lease.server
        return Outcome.REDIRECT_ELSEWHERE if is_other else ""
    if outcome in _SAID:
        return outcome
    if is_left_out(outcome) or not any(attempt.status for attempt in visit.attempts):
        return ""
    return "" if is_transient(outcome) and not outcome.startswith(Outcome.STATUS) else outcome


def _order(server: Server) -> tuple[Any, ...]:
    """Return what the most promising servers come first by."""
    ranks = (_PROMISING.index(one) for one in server.reasons if one in _PROMISING)
    rank = min(ranks, default=len(_PROMISING))
    return -server.in_tld, -bool(server.linked), rank, -server.linked, server.name
