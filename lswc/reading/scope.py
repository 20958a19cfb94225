"""Scope: which links may be followed at all, before any strategy is asked; else the reason."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from lswc.outcomes import Outcome
from lswc.safety import traps
from lswc.safety.address import Networks
from lswc.safety.content_types import by_extension
from lswc.urls import parse

if TYPE_CHECKING:
    from lswc.urls import Url

# A parsed URL may be shorter, without its session or fragment; one beyond ASCII hardly is. Parsing
# any length wouldn't do: of a name of 100,000 Chinese characters it takes three seconds.
_SHRINK = 4


@dataclass(frozen=True)
class Scope:
    """The limits of a crawl: DEPTH_LIMIT, URLLENGTH_LIMIT (off at 0), LSWC_ALLOWED_DOMAINS.

    ``networks`` are those that may be connected to, ``shape`` says what URLs lead into traps.
    Without ``documents`` (LSWC_DOCUMENTS) those are out whose URLs say that they are documents.
    """

    max_depth: int
    max_length: int
    domains: tuple[str, ...] = ()
    networks: Networks = field(default_factory=Networks)
    shape: traps.TrapShape = field(default_factory=traps.TrapShape)
    documents: bool = True

    def check(self, address: str, depth: int) -> Url | Outcome:
        """Return the parsed URL of an absolute address if in scope, else the reason why not."""
        if self._is_long(address):
            return Outcome.URL_TOO_LONG
        url = parse(address)
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
        return self._refusal(url) or self.shape.trap(url.path, url.query) or url

    def _is_long(self, address: str) -> bool:
        longest = self.max_length * (_SHRINK if address.isascii() else 1)
        return 0 < longest < len(address)

    def _refusal(self, url: Url) -> Outcome | None:
        if not self.networks.allows_port(url.port):
            return Outcome.PORT
        # The address of a name is checked when it is connected to, a written one here already.
        if url.hostname[0] == "[" or url.hostname.replace(".", "").isdecimal():
            return self.networks.refusal(url.hostname.strip("[]"), url.port)
        return None

    def _allows(self, hostname: str) -> bool:
        name = hostname
        while name and name not in self._domains:
            name = name.partition(".")[2]
        return bool(name)

    @cached_property
    def _domains(self) -> frozenset[str]:
        return frozenset(self.domains)  # there may be thousands
