"""What people say to the crawl while it runs, put to effect."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from lswc.errors import ConfigError
from lswc.guest.control import Rule, Watching, lifts
from lswc.outcomes import Outcome
from lswc.safety.quotas import Quota, Quotas
from lswc.urls import site

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

    from lswc.frontier import Frontier
    from lswc.guest.control import Control
    from lswc.guest.control.store import Kept
    from lswc.urls import Url

LOOK = 1.0
"""Seconds between two looks at what is said."""

ANEW, FIRST = 30.0, 500
"""Seconds between two looks which servers come first, and how many of them at most."""

_NOTHING = Rule()

logger = logging.getLogger(__name__)


def at_start(where: Kept) -> Watching:
    """Return what is said to a crawl that begins, or goes on.

    Raises LswcError if that can't be read or understood, and if it says stop.
    """
    watching = Watching(where)
    if watching.control.stop:
        raise ConfigError(
            "control.toml says stop: take that back to go on, with `lswc control CRAWL unstop`"
        )
    return watching


class Steering:
    """What is said to the crawl, for each URL. ``rests`` says why nothing is fetched now, or "".

    Raises LswcError as ``at_start``.
    """

    def __init__(self, where: Kept, stats: StatsCollector) -> None:
        self._watching = at_start(where)
        self._stats = stats
        self._first: list[str] = []
        self._first_until = 0.0
        self.rests = ""
        self._set_rest()
        self._set_quotas()

    @property
    def control(self) -> Control:
        """What is in force."""
        return self._watching.control

    @property
    def pauses(self) -> bool:
        """Whether places wait, or the whole crawl."""
        return bool(self.rests) or any(rule.pause for _, rule in self.control.rules)

    def rule(self, url: Url) -> Rule:
        """Return what holds for a URL."""
        return self.control.at(url) if self.control.rules else _NOTHING

    def first(self, frontier: Frontier, now: float) -> list[str]:
        """Return the servers whose URLs come first, by priority. Raises StorageError."""
        places = [(place, rule.priority) for place, rule in self.control.rules if rule.priority]
        if not places:
            return []
        if now >= self._first_until:
            self._first_until = now + ANEW
            found = [
                (-max(ranks), name)
                for name in frontier.server_names()
                if (ranks := [rank for place, rank in places if place.has_server(name)])
            ]
            self._first = [name for _, name in sorted(found)[:FIRST]]
        return self._first

    def quotas(self, url: Url) -> Quotas | None:
        """Return what is said of how much is taken of a URL's server and registered domain, if any.

        What is said of a name below the registered domain is that of each server there; of one
        above it, that of each registered domain. The narrowest place is heard.
        """
        if not self._quotas:
            return None
        server = domain = Quota()
        below = f".{site(url.hostname)}"
        for place, said in self._quotas:
            if not place.holds(url):
                continue
            if place.server or place.domain.endswith(below):
                server = server.or_else(said)
            else:
                domain = domain.or_else(said)
        return Quotas(server, domain)

    def refusal(self, url: Url, depth: int) -> Outcome | None:
        """Return why a URL isn't to be asked for, or followed; None if it may be."""
        if not self.control.rules:
            return None
        rule = self.control.at(url)
        if rule.block:
            return Outcome.BLOCKED
        return Outcome.DEPTH if rule.max_depth is not None and depth > rule.max_depth else None

    def look(self) -> tuple[bool, bool]:
        """Look what is said now: whether it is something else, and whether it allows more.

        Raises StorageError if the store can't be reached.
        """
        before = self.control
        changed = self._watching.look()
        if changed:
            self._first_until = 0.0
            self._tell()
            self._set_quotas()
        self._set_rest()
        return changed, changed and lifts(before, self.control)

    def _tell(self) -> None:
        wrong = self._watching.wrong
        if wrong:
            logger.warning("%s; what was said before stays in force", wrong)
            self._stats.inc_value("lswc/control/wrong")
            return
        places = ", ".join(place.name for place, _ in self.control.rules) or "no place"
        logger.info("something else is said to the crawl, of %s", places)
        self._stats.inc_value("lswc/control/changes")

    def _set_quotas(self) -> None:
        said = [
            (place, Quota(rule.max_pages or 0, rule.max_bytes or 0))
            for place, rule in self.control.rules
            if rule.max_pages or rule.max_bytes
        ]
        # The narrowest first: a server, then the longer of two domains.
        self._quotas = sorted(said, key=lambda pair: (bool(pair[0].domain), -len(pair[0].domain)))

    def _set_rest(self) -> None:
        before, self.rests = self.rests, self.control.rests()
        if self.rests and not before:
            logger.warning("the crawl waits: %s", self.rests)
        elif before and not self.rests:
            logger.info("the crawl goes on")
