"""Control in effect: what people instruct the running crawl to do, for each URL."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from lswc.errors import ConfigError
from lswc.guest.control import ControlError, Rule, lifts, read
from lswc.guest.control.rules_in_force import KEEP, LAST
from lswc.safety.server_limits import Quota, Quotas
from lswc.urls import site

if TYPE_CHECKING:
    from collections.abc import Callable

    from lswc.frontier import Frontier
    from lswc.guest.control import Control
    from lswc.guest.control.store import Instructions
    from lswc.urls import Url

LOOK = 1.0
"""Seconds between two looks at the instructions."""

ANEW, FIRST = 30.0, 500
"""Seconds between two looks which servers come first, and how many of them at most."""

REMEMBERED = 10_000
"""Servers whose rules are remembered."""

MAX_SAID = 500
"""Characters that are said of what is wrong with instructions: they may hold a long line."""

_NOTHING = Rule()

logger = logging.getLogger(__name__)


def at_start(where: Instructions) -> Control:
    """Return the instructions to a crawl that begins, or goes on.

    Raises LswcError if they can't be read or understood, and if one is to stop.
    """
    control = read(where)
    if control.stop:
        raise ConfigError("control.toml says stop. To go on: `lswc control CRAWL unstop`")
    return control


class ControlInEffect:
    """The instructions that hold now: the last that could be understood are ``control``.

    ``halt`` says why the whole crawl asks for nothing, or "", and ``wrong`` what is wrong with
    newer instructions. ``count`` counts a name in the statistics. ``generated`` returns the sites
    that machines wrote, and ``becomes`` says what becomes of them. Raises LswcError as
    ``at_start``.
    """

    def __init__(
        self,
        where: Instructions,
        count: Callable[[str], None],
        generated: Callable[[], frozenset[str]] = frozenset,
        becomes: str = KEEP,
    ) -> None:
        self._where = where
        self._seen = self._read = where.version()
        self._generated, self._becomes = generated, becomes
        self._given, self._is_last = at_start(where), False
        self._known = self._given, generated(), self._is_last
        self.control = self._judged()
        self.wrong = ""
        self._count = count
        self._first: list[str] = []
        self._first_until = 0.0
        self.halt = ""
        self._set_halt()
        self._set_places()

    def _judged(self) -> Control:
        given, marked, is_last = self._known
        sites = frozenset[str]() if self._becomes == KEEP else marked
        return given.judged(sites, self._becomes, is_last=is_last)

    def takes_last(self) -> bool:
        """Let what waits for all others be fetched at the next look; tell whether there is such."""
        waits = any(rule.generated == LAST for _, rule in self.control.rules)
        self._is_last |= waits
        return waits

    @property
    def pauses(self) -> bool:
        """Whether places wait, or the whole crawl."""
        return bool(self.halt) or any(rule.pause for _, rule in self.control.rules)

    def rule(self, url: Url) -> Rule:
        """Return what holds for a URL. Many ask for each page: that of its server is remembered."""
        if not self.control.rules:
            return _NOTHING
        rule = self._rules.get(url.server)
        if rule is None:
            rule = self.control.at(url)
            if url.server not in self._divided and len(self._rules) < REMEMBERED:
                self._rules[url.server] = rule
        return rule

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
        """Return the quotas that a URL's server and registered domain have in particular, if any.

        Those of a name below the registered domain are of each server there; those of one above
        it, of each registered domain. The narrowest place counts.
        """
        if not self._quotas:
            return None
        server = domain = Quota()
        below = f".{site(url.hostname)}"
        for place, quota in self._quotas:
            if not place.holds(url):
                continue
            if place.server or place.domain.endswith(below):
                server = server.or_else(quota)
            else:
                domain = domain.or_else(quota)
        return Quotas(server, domain)

    def look(self) -> tuple[bool, bool]:
        """Look at the instructions: whether they have changed, and whether they allow more.

        Raises StorageError if the store can't be reached.
        """
        before, given, wrong = self.control, self._given, self.wrong
        self._look()
        changed = (self.control, self.wrong) != (before, wrong)
        if changed:
            self._first_until = 0.0
            if (self._given, self.wrong) != (given, wrong):
                self._report()
            self._set_places()
        self._set_halt()
        return changed, changed and lifts(before, self.control)

    def _look(self) -> None:
        self._read_instructions()
        known = self._given, self._generated(), self._is_last
        if known != self._known:
            self._known = known
            self.control = self._judged()

    def _read_instructions(self) -> None:
        """Read a version that is the same at two looks: an editor may write it at the first."""
        try:
            version = self._where.version()
        except ControlError as error:
            version = str(error)
        stands, self._seen = version == self._seen, version
        if version == self._read or not stands:
            return
        self._read = version
        try:
            if version is None:
                raise ControlError(
                    "control.toml is gone: its instructions stay in force. To remove them, "
                    "write an empty one"
                )
            self._given, self.wrong = read(self._where), ""
        except ControlError as error:
            self.wrong = str(error)[:MAX_SAID]

    def _report(self) -> None:
        if self.wrong:
            logger.warning("%s; the earlier instructions stay in force", self.wrong)
            self._count("lswc/control/wrong")
            return
        places = ", ".join(place.name for place, _ in self._given.rules) or "no place"
        logger.info("the instructions to the crawl have changed, for %s", places)
        self._count("lswc/control/changes")

    def _set_places(self) -> None:
        self._rules: dict[str, Rule] = {}
        self._divided = {place.server for place, _ in self.control.rules if place.is_prefix}
        quotas = [
            (place, Quota(rule.max_pages or 0, rule.max_bytes or 0))
            for place, rule in self.control.rules
            if rule.max_pages or rule.max_bytes
        ]
        # The narrowest first: a server, then the longer of two domains.
        self._quotas = sorted(quotas, key=lambda pair: (bool(pair[0].domain), -len(pair[0].domain)))

    def _set_halt(self) -> None:
        before, self.halt = self.halt, self.control.rests()
        if self.halt and not before:
            logger.warning("the crawl waits: %s", self.halt)
        elif before and not self.halt:
            logger.info("the crawl goes on")
