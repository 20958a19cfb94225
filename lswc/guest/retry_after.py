"""Retry-After: when an overloaded server wants to be asked again (RFC 9110 §10.2.3)."""

from __future__ import annotations

from email.utils import parsedate_to_datetime

OVERLOADED = (429, 503)
"""Statuses by which a server says that it is asked for too much, or too often."""


def seconds(value: str, now: float) -> float | None:
    """Return the seconds that a header asks for, as a number or a date; None if it doesn't.

    ``now`` is Unix time.
    """
    value = value.strip()
    if value.isascii() and value.isdecimal():
        return float(value[:12])
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except (ValueError, OverflowError, TypeError):
        return None
