"""Headers of a response: what they say of its page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Headers = Mapping[str, Sequence[str]]
"""The values of a response's header fields, by their names in lower case."""

MOST = 200
"""Characters of a field that are kept in a record."""


def said(headers: Headers, name: str) -> str:
    """Return a field as one text (RFC 9110 §5.3), cut where it is too long; "" without it."""
    return ", ".join(headers.get(name, ()))[:MOST]
