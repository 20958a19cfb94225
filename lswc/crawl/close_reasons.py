"""Close reasons of a crawl, and what its process then says by its exit code."""

from __future__ import annotations

CANNOT_WRITE = "can't write"
"""The crawl's state can't be written."""

LOST_STORE = "lost store"
"""Redis can't be reached any more, or has lost the crawl."""

NO_PROXY = "no proxy"
"""The proxy wants a login that it isn't given."""

UNEXPECTED = "unexpected error"
"""Something failed that nobody expected: a bug of lswc's, or of what it is built on."""

STUCK = "stuck"
"""Nothing ended for long, though URLs were due."""

OFFLINE_TOO_LONG = "offline too long"
"""This machine was off the network for LSWC_MAX_OFFLINE seconds."""

TOLD = "told to stop"
"""control.toml says stop."""

PAGES = "closespider_itemcount"
"""It has as many pages as it was to have: the name is Scrapy's."""

_SAID = {
    "shutdown": "stopped by its user",
    PAGES: "as many pages as were asked for",
    "closespider_timeout": "the time that was given is over",
}


def in_words(reason: str) -> str:
    """Return a closing reason in words."""
    return _SAID.get(reason, reason)


NOT_CLOSED = "lswc/not closed"
"""Counts what couldn't be closed in order, in the stats: the exit code is 1 then, too."""

EXIT_CODES = {
    CANNOT_WRITE: 1,
    LOST_STORE: 1,
    NO_PROXY: 1,
    UNEXPECTED: 1,
    STUCK: 1,
    OFFLINE_TOO_LONG: 3,
}
"""Of other reasons it is 0, and of a user's mistake 2."""
