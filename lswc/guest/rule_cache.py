"""Cache of servers' rules: each holds for as long as the server says, within bounds."""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from lswc.guest.internet import Answer

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

_OWN = 1_000
_MAX_AGE = re.compile(rb"(?:^|[,\s])max-age\s*=\s*\"?(\d{1,9})", re.IGNORECASE)


class _Sized(Protocol):
    size: int


Rules = TypeVar("Rules", bound=_Sized)


class _Entry(Generic[Rules]):
    """Rules, until when they hold, and until when if none has gone by them yet."""

    __slots__ = ("rules", "size", "until", "until_used")

    def __init__(self, rules: Rules, now: float, lifetime: float) -> None:
        self.rules = rules
        self.size = rules.size + _OWN
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


def lifetime(answer: Answer) -> float:
    """Return the seconds that a file's rules hold, by its Cache-Control (RFC 9111 §5.2.2)."""
    value = b", ".join(answer.headers.getlist("Cache-Control"))
    age = _MAX_AGE.search(value)
    if b"no-store" in value.lower() or b"no-cache" in value.lower() or (age and int(age[1]) == 0):
        return UNWILLING
    return min(float(age[1]), LIFETIME) if age else LIFETIME
