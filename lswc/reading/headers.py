"""Headers of a response: what they say of its page, and what it asks robots for in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

Headers = Mapping[str, Sequence[str]]
"""The values of a response's header fields, by their names in lower case."""

MOST = 200
"""Characters of a field that are kept in a record."""


# A name and a colon, which these rules have too.
_AGENT = re.compile(
    r"\s*(?!unavailable_after|max-snippet|max-image-preview|max-video-preview)([a-z0-9_-]+)\s*:"
)


def said(headers: Headers, name: str) -> str:
    """Return a field as one text (RFC 9110 §5.3), cut where it is too long; "" without it."""
    return ", ".join(headers.get(name, ()))[:MOST]


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
