"""Rules in force: pure, and asked for each URL."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, time
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple
from zoneinfo import ZoneInfo

from lswc.guest.control.places import ControlError, Place
from lswc.safety.url_patterns import url_patterns

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from lswc.safety.url_patterns import UrlPatterns
    from lswc.urls import Url

__all__ = [
    "DROP",
    "GENERATED",
    "KEEP",
    "KEYS",
    "LAST",
    "Control",
    "ControlError",
    "Hours",
    "Rule",
    "lifts",
]


class Hours(NamedTuple):
    """The hours of a day in which a crawl may fetch; over midnight if they end before they begin.

    ``zone`` is a name of the IANA's time zones.
    """

    begin: time
    end: time
    zone: str = "UTC"

    def hold(self, now: datetime) -> bool:
        """Tell whether a moment (with its time zone) is one of them."""
        local = now.astimezone(ZoneInfo(self.zone)).time()
        if self.begin <= self.end:
            return self.begin <= local < self.end
        return local >= self.begin or local < self.end

    def __str__(self) -> str:
        return f"{self.begin:%H:%M}-{self.end:%H:%M} {self.zone}"


KEEP, LAST, DROP = GENERATED = "keep", "last", "drop"
"""What becomes of a site that machines wrote: it is as any other, its URLs wait until no others are
left, or nothing of it is fetched any more."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What holds in a place; None for what isn't given there.

    ``block``: nothing of it is fetched, and nothing more is stored. ``block_family``: nothing is
    fetched of the unproven sites that it introduced, itself or by others. ``pause``: its URLs wait.
    ``delay``: seconds that a server rests at least. ``max_pages`` and ``max_bytes``: what is taken
    in all. ``max_depth``: links from the seeds. ``tolerate``: pages of a server that aren't
    relevant, before any is. ``priority``: its URLs come before all others, of the largest first.
    ``generated``: what becomes of a site that machines wrote, one of GENERATED.
    """

    block: bool | None = None
    block_family: bool | None = None
    pause: bool | None = None
    delay: float | None = None
    max_pages: int | None = None
    max_bytes: int | None = None
    max_depth: int | None = None
    tolerate: int | None = None
    priority: int | None = None
    generated: str | None = None
    why: str = ""

    @property
    def given(self) -> dict[str, Any]:
        """What it gives, by name: all but why."""
        return {name: value for name in KEYS if (value := getattr(self, name)) is not None}


KEYS = tuple(part.name for part in fields(Rule) if part.name != "why")
"""What can be given for a place."""

_NOTHING = Rule()


@dataclass(frozen=True)
class Control:
    """All instructions to a crawl.

    ``requests``: at a time, of each worker; None if there is no bound. ``include`` and ``exclude``
    are patterns of URLs. ``rules`` holds places and the rule of each.
    """

    pause: bool = False
    stop: bool = False
    requests: int | None = None
    hours: Hours | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    why: str = ""
    rules: Sequence[tuple[Place, Rule]] = ()
    _domains: dict[str, Rule] = field(init=False, repr=False, compare=False)
    _servers: dict[str, list[tuple[str, Rule]]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        domains = {place.domain: rule for place, rule in self.rules if place.domain}
        servers: dict[str, list[tuple[str, Rule]]] = {}
        for place, rule in sorted(self.rules, key=lambda pair: -len(pair[0].start)):
            if place.server:
                servers.setdefault(place.server, []).append((place.start, rule))
        object.__setattr__(self, "_domains", domains)
        object.__setattr__(self, "_servers", servers)

    @cached_property
    def patterns(self) -> UrlPatterns | None:
        """The patterns, ready to be matched. Raises ConfigError for a wrong one."""
        return url_patterns(self.include, self.exclude)

    @cached_property
    def blocked_families(self) -> frozenset[str]:
        """The sites whose families are blocked."""
        return frozenset(name for name, rule in self._domains.items() if rule.block_family)

    def at(self, url: Url) -> Rule:
        """Return what holds for a URL: of each thing what its narrowest place says."""
        found = list(self._found(url))
        if len(found) < 2:
            return found[0] if found else _NOTHING
        merged = found.pop()
        for rule in reversed(found):
            merged = replace(merged, **rule.given, why=rule.why)
        return merged

    def _found(self, url: Url) -> Iterator[Rule]:
        """Yield the rules of the places that hold a URL, the narrowest first."""
        if url.server in self._servers:
            path = f"{url.path}?{url.query}" if url.query else url.path
            for start, rule in self._servers[url.server]:
                if path.startswith(start):
                    yield rule
        if self._domains:
            name = url.hostname
            while name:
                if name in self._domains:
                    yield self._domains[name]
                name = name.partition(".")[2]

    def judged(self, sites: Collection[str], becomes: str, *, is_last: bool) -> Control:
        """Return these instructions where so many sites turned out to be written by machines.

        What people instruct for a site goes before. ``is_last`` says that no other URLs are left.
        """
        rules = {site: (Place(site, domain=site), Rule(generated=becomes)) for site in sites}
        for place, rule in self.rules:
            given = rule.generated or (becomes if place.domain in sites else None)
            rules[place.name] = place, replace(rule, generated=given)
        if is_last:
            rules = {
                name: (place, replace(rule, generated=KEEP) if rule.generated == LAST else rule)
                for name, (place, rule) in rules.items()
            }
        return replace(self, rules=tuple(rules.values()))

    def rests(self, now: datetime | None = None) -> str:
        """Say why the whole crawl fetches nothing now; "" if it may."""
        if self.pause:
            return "paused"
        if self.hours is not None and not self.hours.hold(now or datetime.now(UTC)):
            return f"outside its hours, {self.hours}"
        return ""

    def __bool__(self) -> bool:
        return self != _SILENT


_SILENT = Control()
_QUOTAS = ("max_pages", "max_bytes")


def lifts(before: Control, after: Control) -> bool:
    """Tell whether URLs that were refused, or had to wait, may not have to any more."""
    if (before.include, before.exclude) != (after.include, after.exclude):
        return True
    more = {(given, permits) for given, permits in _permits(after) if permits}
    less = {(given, permits) for given, permits in _permits(before) if not permits}
    return not (more <= _permits(before) and less <= _permits(after))


def _permits(control: Control) -> set[tuple[tuple[str, str, object], bool]]:
    """Return what is given for each place that keeps URLs back, and whether that may permit more.

    ``block = false`` does; a quota may be more than the settings say, and less.
    """
    return {
        ((place.name, name, value), permits)
        for place, rule in control.rules
        for name in (
            "block",
            "block_family",
            "pause",
            "max_depth",
            *_QUOTAS,
            "tolerate",
            "generated",
        )
        if (value := getattr(rule, name)) is not None
        for permits in ((True, False) if name in _QUOTAS else (value in (False, KEEP),))
    }
