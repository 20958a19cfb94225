"""Rules of servers: robots.txt and tdmrep.json, fetched when they are needed, and cached.

Each holds for as long as its server says, within bounds. tdmrep.json is that of the TDM Reservation
Protocol (W3C Community Group 2024, "TDM File on the Origin Server").
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar
from urllib.parse import urljoin

from lswc.guest.decisions import Fails, Refuse
from lswc.guest.internet import ROBOTS, TDMREP, ClosingError
from lswc.guest.robots_txt import PathPattern, RobotsRules
from lswc.reading.opt_outs import reserved
from lswc.urls import parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from lswc.guest.decisions import Answer, Go
    from lswc.guest.internet import Internet
    from lswc.urls import Url

REMEMBERED = 10_000_000
"""Bytes of the files of one name, the latest, whose rules are cached: 160 MB of them at most.

Each counts as 1,000 bytes more, so that is 9,000 servers, most files being short.
"""

LIFETIME = 86_400.0
"""Seconds that rules are used at most (RFC 9309 §2.4)."""

UNWILLING = 600.0
"""Seconds that they are used at least: many servers say that nothing of theirs may be cached."""

STALE = 3_600.0
"""Seconds that expired rules go on if the server fails to give new ones."""

_OWN = 1_000  # bytes that an entry counts for besides its file
_ODD = 10_000  # servers whose robots.txt is asked for once more
_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*<")
_MAX_AGE = re.compile(rb"(?:^|[,\s])max-age\s*=\s*\"?(\d{1,9})", re.IGNORECASE)


class _Sized(Protocol):
    size: int


Rules = TypeVar("Rules", bound=_Sized)


class _Entry(Generic[Rules]):
    """Rules, until when they hold, and until when if none has gone by them yet."""

    __slots__ = ("rules", "since", "size", "until", "until_used")

    def __init__(self, rules: Rules, now: float, lifetime: float) -> None:
        self.rules = rules
        self.size = rules.size + _OWN
        self.since = now
        self.until = now + lifetime
        self.until_used = now + LIFETIME


class RuleCache(Generic[Rules]):
    """The rules of the servers that were asked last. ``clock`` gives seconds.

    However short rules hold, they hold for the first page after: they were fetched for it, and it
    has to wait until its server has rested.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._entries: OrderedDict[str, _Entry[Rules]] = OrderedDict()
        self._bytes = 0

    def get(self, server: str) -> Rules | None:
        """Return a server's rules, expired or not; None if there are none."""
        entry = self._entries.get(server)
        return None if entry is None else entry.rules

    def fresh(self, server: str) -> Rules | None:
        """Return a server's rules to go by them now; None if there are none that hold."""
        entry = self._entries.get(server)
        if entry is None:
            return None
        now = self._clock()
        holds = now < entry.until or now < entry.until_used
        entry.until_used = 0.0
        return entry.rules if holds else None

    def put(self, server: str, rules: Rules, lifetime: float) -> None:
        """Remember a server's rules for so many seconds."""
        before = self._entries.pop(server, None)
        entry = self._entries[server] = _Entry(rules, self._clock(), lifetime)
        self._bytes += entry.size - (before.size if before else 0)
        while self._bytes > REMEMBERED:
            self._bytes -= self._entries.popitem(last=False)[1].size

    def forget(self, since: float) -> set[str]:
        """Forget the rules that came since; return whose they were."""
        servers = {name for name, entry in self._entries.items() if entry.since >= since}
        for name in servers:
            self._bytes -= self._entries.pop(name).size
        return servers


def lifetime(answer: Answer) -> float:
    """Return the seconds that a file's rules hold, by its Cache-Control (RFC 9111 §5.2.2)."""
    value = b", ".join(answer.headers.getlist("Cache-Control"))
    age = _MAX_AGE.search(value)
    if b"no-store" in value.lower() or b"no-cache" in value.lower() or (age and int(age[1]) == 0):
        return UNWILLING
    return min(float(age[1]), LIFETIME) if age else LIFETIME


TDMREP_PATH = "/.well-known/tdmrep.json"
"""Where a server's tdmrep.json is."""

MAX_RULES = 1_000
"""Rules that are read, the first ones."""

_RULE = 100  # bytes that a rule counts for besides its file


class _Rule(NamedTuple):
    location: PathPattern
    opt_outs: tuple[str, ...]


class Reservations:
    """The rules of a tdmrep.json; a file that isn't one has none.

    ``size`` is what they take, in bytes of a robots.txt, whose rules take as much of them.
    """

    def __init__(self, body: bytes) -> None:
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            found = []
        rules = found[:MAX_RULES] if isinstance(found, list) else []
        self._rules = [rule for value in rules if (rule := _rule(value)) is not None]
        self.size = len(body) + _RULE * len(self._rules)

    def opt_outs(self, url: str) -> tuple[str, ...]:
        """Return what is reserved against mining a page, and that it is by this file.

        The first rule whose location matches counts.
        """
        found = (rule.opt_outs for rule in self._rules if rule.location.matches(url))
        return next(found, ())


def _rule(value: Any) -> _Rule | None:
    location = value.get("location") if isinstance(value, dict) else None
    # It is matched as a line of robots.txt is: one line.
    if not isinstance(location, str) or location[:1] not in ("/", "*"):
        return None
    if not location.isprintable():
        return None
    is_reserved = str(value.get("tdm-reservation")) == "1"
    policy = value.get("tdm-policy")
    opt_outs = reserved(policy if isinstance(policy, str) else "", "tdmrep.json")
    return _Rule(PathPattern(location), opt_outs if is_reserved else ())


class ServerRules:
    """What servers say of being asked, and of what becomes of their pages.

    ``robot`` is the name for which robots.txt is read, "" if it isn't. ``heard`` is called with the
    server, the text and the URL of each robots.txt; ``heard_delay`` with the server and its
    Crawl-delay in seconds, 0 if there is none.
    """

    def __init__(self, internet: Internet, robot: str) -> None:
        self._internet = internet
        self.robot = robot
        self.heard: Callable[[str, bytes, str], None] = lambda *_: None
        self.heard_delay: Callable[[str, float], None] = lambda *_: None
        self.robots: RuleCache[RobotsRules] = RuleCache(internet.now)
        self.reservations: RuleCache[Reservations] = RuleCache(internet.now)
        self._odd: OrderedDict[str, None] = OrderedDict()

    def crawl_delay(self, server: str) -> float:
        """Return the Crawl-delay of a server in seconds, as far as that is known."""
        rules = self.robots.get(server)
        return 0.0 if rules is None else rules.crawl_delay

    async def fetch_robots(self, url: Url) -> Refuse | Fails | None:
        """Fetch the robots.txt of a URL's server, or go on with the one before if that fails.

        A page of HTML isn't one: it is fetched once more before the server's next page, and only if
        that is such a page again the server has no rules. Return what keeps it from being had.
        Raises what the network does.
        """
        before = self.robots.get(url.server)
        try:
            answer = await self._internet.fetch(url, ROBOTS, None)
        except ClosingError:
            raise
        except Exception:  # of the network, whatever it is: the page's own request will meet it
            if before is None:
                raise
            self.robots.put(url.server, before, STALE)
            return None
        if isinstance(answer, Refuse):
            return answer
        if not _fails(answer):
            body = answer.body if answer.status < 300 else b""
            if self._is_odd(url.server, body):
                return None
            self._take(url, body, lifetime(answer))
        elif before is None:
            return Fails(answer)
        else:
            self.robots.put(url.server, before, STALE)
        return None

    def _take(self, url: Url, body: bytes, seconds: float) -> None:
        rules = RobotsRules(body, self.robot)
        self.robots.put(url.server, rules, seconds)
        self.heard_delay(url.server, rules.crawl_delay)
        self.heard(url.server, body, urljoin(url.href, f"/{ROBOTS}"))

    def _is_odd(self, server: str, body: bytes) -> bool:
        """Tell whether a robots.txt is a page, for the first time."""
        if not _PAGE.match(body) or server in self._odd:
            self._odd.pop(server, None)
            return False
        self._odd[server] = None
        if len(self._odd) > _ODD:
            self._odd.popitem(last=False)
        return True

    def forget(self, since: float) -> Callable[[str], bool]:
        """Forget the rules that came since; return what tells by a URL whether they were its."""
        robots, reserved = self.robots.forget(since), self.reservations.forget(since)
        servers = robots | reserved
        self._odd.clear()
        return lambda address: (url := parse(address)) is not None and url.server in servers

    async def fetch_reservations(self, url: Url, go: Go) -> None:
        """Fetch the tdmrep.json of a URL's server: one that can't be had says nothing."""
        try:
            answer = await self._internet.fetch(url, TDMREP, go)
        except ClosingError:
            raise
        except Exception:  # of the network, whatever it is
            self.reserves_nothing(url)
            return
        if isinstance(answer, Refuse) or answer.status >= 500:
            self.reserves_nothing(url)
            return
        body = answer.body if answer.status < 300 else b""
        self.reservations.put(url.server, Reservations(body), lifetime(answer))

    def reserves_nothing(self, url: Url) -> None:
        """Take it for a while that a URL's server reserves nothing: it can't be asked."""
        self.reservations.put(url.server, Reservations(b""), STALE)


def _fails(answer: Answer) -> bool:
    return answer.status >= 500 or answer.status == 429
