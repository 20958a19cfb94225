"""Admission of URLs: by the crawl's scope, instructions, quotas, limits, and earlier failures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

from lswc.guest.control.rules_in_force import DROP, LAST
from lswc.outcomes import Outcome
from lswc.safety.server_limits import OF_PAGES, Quotas, Taken, reached
from lswc.urls import parse, site

if TYPE_CHECKING:
    from collections.abc import Callable

    from lswc.frontier import Frontier
    from lswc.frontier.rules.contract import Wanted
    from lswc.frontier.rules.visit import Visit
    from lswc.guest.control import Rule
    from lswc.guest.control_in_effect import ControlInEffect
    from lswc.guest.rests import SecondTries
    from lswc.reading.scope import Scope
    from lswc.safety.server_limits import Limits
    from lswc.urls import Url


class Allowance:
    """Knows which servers and domains have brought all that is taken of them.

    ``quotas`` are the settings'. Instructions for a place (``max_pages``, ``max_bytes``) hold
    instead, be it less or more: of a server, or a name in a registered domain, for each of its
    servers; of a registered domain, or a name above, for each registered domain.
    """

    def __init__(self, quotas: Quotas, control: ControlInEffect) -> None:
        self._quotas = quotas
        self._control = control
        self._full: dict[str, Outcome] = {}

    @property
    def refuses(self) -> bool:
        """Whether a quota was found to be reached."""
        return bool(self._full)

    def refusal(self, url: Url) -> Outcome | None:
        """Return which quota a URL's server or domain was found to have reached."""
        if not self._full:
            return None
        return self._full.get(url.server) or self._full.get(_domain(url))

    def reached(self, url: Url, of_server: Taken, of_domain: Taken) -> Outcome | None:
        """Return which quota a URL's server or domain has reached with this, and remember it."""
        here = self._control.quotas(url)
        quotas = self._quotas if here is None else self._quotas.unless(here)
        reason = reached(quotas, of_server, of_domain)
        if reason is not None:
            is_domain = reason in (Outcome.SITE_PAGES, Outcome.SITE_BYTES)
            self._full[_domain(url) if is_domain else url.server] = reason
        return reason

    def forget(self) -> None:
        """Take it that other quotas hold now."""
        self._full.clear()


def _domain(url: Url) -> str:
    return f"*.{site(url.hostname)}"


def _pause(rule: Rule) -> Outcome | None:
    if rule.generated == LAST:
        return Outcome.GENERATED_LAST
    return Outcome.PAUSED if rule.pause else None


def _refusal(rule: Rule, depth: int) -> Outcome | None:
    """Return why an instruction keeps a URL from being asked for, or followed."""
    if rule.block:
        return Outcome.BLOCKED
    if rule.generated == DROP:
        return Outcome.GENERATED
    return Outcome.DEPTH if rule.max_depth is not None and depth > rule.max_depth else None


@dataclass(frozen=True)
class Reach:
    """Which URLs a crawl may ask for at all, and how much it takes of a server and domain.

    Three scopes say which: ``pages`` for pages, ``requisites`` for what archived pages need, and
    ``files`` for what a page in the browser asks for. Without a scope of their own (None),
    requisites have that of pages. ``unit`` names what a URL's page counts for.
    """

    pages: Scope
    requisites: Scope | None
    files: Scope
    unit: Callable[[Url], str]
    quotas: Quotas


class Admission:
    """Says why a leased URL, a link or a redirect is left alone; None if it isn't.

    ``limits`` and ``tries`` know what the crawl met so far, ``control`` what people instruct.
    """

    def __init__(
        self,
        reach: Reach,
        frontier: Frontier,
        control: ControlInEffect,
        limits: Limits,
        tries: SecondTries,
    ) -> None:
        self._reach = reach
        self._frontier = frontier
        self._control = control
        self._allowance = Allowance(reach.quotas, control)
        self._limits = limits
        self._tries = tries

    def forget(self) -> None:
        """Take it that other instructions hold now."""
        self._allowance.forget()

    def of_visit(self, visit: Visit, now: float) -> str | None:
        """Return why a leased URL isn't to be asked for: its scope, too, may be another now."""
        url = self.scope_of(visit, visit.url)
        if isinstance(url, Outcome):
            return url
        away = self._tries.away(visit.lease.server, now)
        rule = self._control.rule(url)
        held = _pause(rule) or self._full(visit, url, rule) or self._missing(visit)
        if self._control.control.blocked_families:
            held = self._blocked_family(visit.lease.server) or held
        return self._refusal_by_place(visit, url, rule) or held or away

    def _blocked_family(self, server: str) -> Outcome | None:
        """Return that a server's site is of a blocked family, if it is."""
        blocked = self._control.control.blocked_families
        is_one = not blocked.isdisjoint(self._frontier.family_of(server))
        return Outcome.BLOCKED if is_one else None

    def repeats(self, url: Url) -> None:
        """Count a page that is a near-duplicate for its family, if its site is unproven."""
        for family in self._frontier.family_of(url.server)[:1]:
            self._limits.repeats(url, family)

    def _missing(self, visit: Visit) -> Outcome | None:
        """Return that what a visit's sitemap or feed names is missing mostly."""
        listing = None if visit.lease.visits else visit.lease.listing
        return self._limits.missing(listing) if listing else None

    def _full(self, visit: Visit, url: Url, rule: Rule) -> Outcome | None:
        """Return which bound on a server's or domain's pages or bytes is reached."""
        lease = visit.lease
        reason = self._allowance.reached(url, lease.of_server, lease.of_domain)
        if lease.visits or (not visit.is_page and lease.is_requisite):
            return None if reason in OF_PAGES else reason
        return reason or self._intolerance(rule, lease.unit)

    def scope_of(self, visit: Visit, address: str) -> Url | Outcome:
        """Return where a visit's URL, or its redirect, leads; or why it may not be asked for.

        What an archived page needs may be on any host.
        """
        if not visit.is_page and self._reach.requisites is not None:
            return self._reach.requisites.check(address, 0)
        has_route = "#" in visit.url
        return self._reach.pages.check(address, visit.lease.depth, routes=has_route)

    def _refusal_by_place(self, visit: Visit, url: Url, rule: Rule) -> Outcome | None:
        """Return why a place is left alone.

        Limits of pages aren't those of what pages need, and of pages that were counted.
        """
        is_page, lease = visit.is_page, visit.lease
        if is_page and not lease.visits:
            return self.of_link(url, lease.depth)
        reason = self._limits.closed(url)
        refused = _refusal(rule, lease.depth if is_page else 0)
        refused = refused or self._excluded(url, is_page=is_page)
        return refused or (None if reason in OF_PAGES else reason)

    def of_file(self, address: str, now: float) -> str | None:
        """Return why nothing is asked for that a page in the browser needs; None if it may be.

        It may be on any host.
        """
        url = self._reach.files.check(address, 0)
        if isinstance(url, Outcome):
            return url
        reason, rule = self._limits.closed(url), self._control.rule(url)
        refused = _refusal(rule, 0) or self._excluded(url, is_page=False) or _pause(rule)
        closed = None if reason in OF_PAGES else reason
        return refused or closed or self._tries.away(url.server, now)

    @property
    def refuses(self) -> bool:
        """Whether anything is left alone now, for which links have to be asked one by one."""
        control = self._control.control
        instructed = bool(control.rules) or control.patterns is not None
        return instructed or self._allowance.refuses or self._limits.refuses

    def of_link(self, url: Url, depth: int) -> Outcome | None:
        """Return why a URL is left alone, whoever links to it; None if it isn't."""
        refused = _refusal(self._control.rule(url), depth) or self._excluded(url)
        return refused or self._closed(url)

    def _excluded(self, url: Url, *, is_page: bool = True) -> Outcome | None:
        """Return that the instructions' patterns leave a URL out, if they do."""
        patterns = self._control.control.patterns
        return None if patterns is None else patterns.refusal(url, is_page=is_page)

    def _closed(self, url: Url) -> Outcome | None:
        return self._allowance.refusal(url) or self._limits.closed(url)

    def pause(self, url: Url) -> Outcome | None:
        """Return that a URL's place is to wait, if it is."""
        return _pause(self._control.rule(url))

    def _intolerance(self, rule: Rule, unit: str) -> Outcome | None:
        """Return that a server gave too many pages, and no relevant one, if that counts."""
        most = rule.tolerate
        if most is None:
            return None
        pages = self._frontier.pages_of(unit)
        return Outcome.NOT_TOLERATED if pages.downloaded > most and not pages.relevant else None

    def is_blocked(self, address: str) -> bool:
        """Tell whether nothing of a URL may be fetched or kept."""
        url = parse(address)
        return url is not None and bool(self._control.rule(url).block)

    def opened(self) -> Wanted:
        """Return what tells by a URL's depth whether scope, instructions and quotas allow it."""
        return partial(self._is_open, cache(self._frontier.taken))

    def _is_open(
        self, taken: Callable[[str], tuple[Taken, Taken]], address: str, depth: int
    ) -> bool:
        url = self._reach.pages.check(address, depth)
        if isinstance(url, Outcome):
            return False
        rule = self._control.rule(url)
        held = _pause(rule) or self._intolerance(rule, self._reach.unit(url))
        refused = _refusal(rule, depth) or self._excluded(url)
        return not (held or refused or self._is_full(taken, url))

    def _is_full(self, taken: Callable[[str], tuple[Taken, Taken]], url: Url) -> bool:
        return bool(
            self._allowance.refusal(url) or self._allowance.reached(url, *taken(url.server))
        )
