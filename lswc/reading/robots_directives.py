"""Robots directives: what a page asks robots for in its headers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# A name and a colon, which these rules have too.
_AGENT = re.compile(
    r"\s*(?!unavailable_after|max-snippet|max-image-preview|max-video-preview)([a-z0-9_-]+)\s*:"
)


def robots_words(headers: Iterable[str]) -> frozenset[str]:
    """Return what X-Robots-Tag headers say to all robots or to this one, in lower case.

    A robot's name counts for all that follows in its header.
    """
    told: set[str] = set()
    for header in headers:
        agent = ""
        for part in header.lower().split(","):
            named = _AGENT.match(part)
            agent = named[1] if named else agent
            if agent in ("", "lswc"):
                told.add(part[named.end() if named else 0 :].strip())
    return frozenset(told)
