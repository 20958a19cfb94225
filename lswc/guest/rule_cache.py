"""What servers say of themselves in a file, such as robots.txt, until it has expired."""

from __future__ import annotations

import re
from collections import OrderedDict
from time import monotonic
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from scrapy.http import Response

REMEMBERED = 10_000_000
"""Bytes of the files of one name, the latest, whose rules are kept: 160 MB of them at most.

Each counts as 1,000 bytes more, so that is 9,000 servers, most files being short.
"""

LIFETIME = 86_400.0
"""Seconds that rules are kept at most (RFC 9309 §2.4)."""

UNWILLING = 600.0
"""Seconds that they are kept at least: many servers say that nothing of theirs may be cached."""

STALE = 3_600.0
"""Seconds that expired rules go on if the server fails to give new ones."""

_OWN = 1_000
_MAX_AGE = re.compile(rb"(?:^|[,\s])max-age\s*=\s*\"?(\d{1,9})", re.IGNORECASE)

Rules = TypeVar("Rules")


class Kept(NamedTuple, Generic[Rules]):
    """Rules, until when they hold (monotonic seconds), and what they take, in bytes."""

    rules: Rules
    until: float
    size: int

    @property
    def is_fresh(self) -> bool:
        """Whether the rules still hold."""
        return monotonic() < self.until


class KeptRules(Generic[Rules]):
    """The rules of the servers that were asked last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Kept[Rules]] = OrderedDict()
        self._held = 0

    def get(self, server: str) -> Kept[Rules] | None:
        """Return a server's rules, expired or not; None if there are none."""
        return self._kept.get(server)

    def keep(self, server: str, rules: Rules, size: int, seconds: float) -> None:
        """Keep a server's rules of so many bytes, for so long."""
        before = self._kept.pop(server, None)
        kept = Kept(rules, monotonic() + seconds, size + _OWN)
        self._kept[server] = kept
        self._held += kept.size - (before.size if before else 0)
        while self._held > REMEMBERED:
            self._held -= self._kept.popitem(last=False)[1].size


def lifetime(response: Response) -> float:
    """Return the seconds that a file's rules hold, by its Cache-Control (RFC 9111 §5.2.2)."""
    said = b", ".join(response.headers.getlist("Cache-Control"))
    age = _MAX_AGE.search(said)
    if b"no-store" in said.lower() or b"no-cache" in said.lower() or (age and int(age[1]) == 0):
        return UNWILLING
    return min(float(age[1]), LIFETIME) if age else LIFETIME
