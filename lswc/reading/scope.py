"""Scope: which links may be followed at all, before any strategy is asked; else the reason.

Out of scope are also traps: URLs without end, told by their shape alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from lswc.outcomes import Outcome
from lswc.safety.address import Networks
from lswc.safety.content_types import by_extension
from lswc.urls import parse, parse_served

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lswc.safety.url_patterns import UrlPatterns
    from lswc.urls import Url

# A parsed URL may be shorter, without its session or fragment; one beyond ASCII hardly is. Parsing
# any length wouldn't do: of a name of 100,000 Chinese characters it takes three seconds.
_SHRINK = 4


@dataclass(frozen=True, kw_only=True)
class TrapShape:
    """The most that a URL may have of each thing that traps are made of; off at 0.

    ``segments`` of its path, ``repeats`` of one segment in it or of one name in its query,
    ``parameters`` in its query.
    """

    segments: int = 0
    repeats: int = 0
    parameters: int = 0

    def trap(self, path: str, query: str) -> Outcome | None:
        """Return which trap a path and a query without its mark look like, None if none."""
        parts = path[1:].split("/")
        if self.segments and len(parts) > self.segments:
            return Outcome.DEEP_PATH
        if self.repeats and _is_repeated(parts, self.repeats):
            return Outcome.REPEATED_SEGMENT
        if query and self._is_faceted(query.split("&")):
            return Outcome.FACETED_QUERY
        return None

    def _is_faceted(self, parameters: list[str]) -> bool:
        if self.parameters and len(parameters) > self.parameters:
            return True
        if not self.repeats or len(parameters) <= self.repeats:
            return False
        return _is_repeated([one.partition("=")[0] for one in parameters], self.repeats)


SHAPE = TrapShape(segments=24, repeats=3, parameters=12)
"""The shape that a crawl takes a URL to be a trap by: sites for readers have less of each."""


def _is_repeated(parts: list[str], most: int) -> bool:
    """Tell whether one part is there more often than so; few addresses have to be counted."""
    return len(parts) - len({*parts}) >= most and max(Counter(parts).values()) > most


@dataclass(frozen=True)
class Scope:
    """The limits of a crawl: DEPTH_LIMIT, URLLENGTH_LIMIT (off at 0), LSWC_ALLOWED_DOMAINS.

    ``networks`` are those that may be connected to, ``shape`` says what URLs lead into traps,
    ``patterns`` are LSWC_INCLUDE and LSWC_EXCLUDE.
    Without ``documents`` (LSWC_DOCUMENTS) those are out whose URLs say that they are documents.
    """

    max_depth: int
    max_length: int
    domains: tuple[str, ...] = ()
    networks: Networks = field(default_factory=Networks)
    shape: TrapShape = field(default_factory=TrapShape)
    documents: bool = True
    patterns: UrlPatterns | None = None

    def check(self, address: str, depth: int, *, routes: bool = False) -> Url | Outcome:
        """Return the parsed URL of an absolute address if in scope, else the reason why not.

        Without ``routes`` it has none: they are known of pages only that a browser shows.
        """
        if self._is_long(address):
            return Outcome.URL_TOO_LONG
        return self._judged(parse(address) if routes else parse_served(address), depth)

    def check_all(self, addresses: Sequence[str], depth: int) -> list[Url | Outcome]:
        """Return of each address, all of this depth, what ``check`` says."""
        return [self.check(address, depth) for address in addresses]

    def _judged(self, url: Url | None, depth: int) -> Url | Outcome:
        if url is None or not url.server:
            # A scheme such as javascript: or mailto: has no server.
            return Outcome.INVALID_URL if url is None else Outcome.SCHEME
        if url.scheme not in ("http", "https"):
            return Outcome.SCHEME
        if self.max_length and len(url.href) > self.max_length:
            return Outcome.URL_TOO_LONG
        if self.max_depth and depth > self.max_depth:
            return Outcome.DEPTH
        if self.domains and not self._allows(url.hostname):
            return Outcome.DOMAIN_NOT_ALLOWED
        if not self.documents and by_extension(url.path):
            return Outcome.DOCUMENT_LEFT
        if self.patterns is not None and (reason := self.patterns.refusal(url)) is not None:
            return reason
        return self._refusal(url.hostname, url.port) or self.shape.trap(url.path, url.query) or url

    def _is_long(self, address: str) -> bool:
        longest = self.max_length * (_SHRINK if address.isascii() else 1)
        return 0 < longest < len(address)

    def _refusal(self, hostname: str, port: int) -> Outcome | None:
        if self.networks.ports and port not in self.networks.ports:
            return Outcome.PORT
        # The address of a name is checked when it is connected to, a written one here already.
        if hostname[0] == "[" or hostname.replace(".", "").isdecimal():
            return self.networks.refusal(hostname.strip("[]"), port)
        return None

    def _allows(self, hostname: str) -> bool:
        name = hostname
        while name and name not in self._domains:
            name = name.partition(".")[2]
        return bool(name)

    @cached_property
    def _domains(self) -> frozenset[str]:
        return frozenset(self.domains)  # there may be thousands
