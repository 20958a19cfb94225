"""File handles of this process, and how many requests a crawl can have under way with them."""

from __future__ import annotations

import resource
from typing import NamedTuple

from lswc.errors import ConfigError

OWN = 30
"""Handles of a crawl's own files, of its readers, and of what it opens for a moment."""

IDLE = 100
"""Connections that are kept open between requests; many systems allow a process 1,024 files."""


class Handles(NamedTuple):
    """URLs under way, up to their commit, and connections kept open between requests, at most.

    So of one request at a time the page is read before the next URL is chosen, whoever reads it.
    """

    requests: int
    idle: int

    @classmethod
    def of(cls, requests: int, serves_web: bool) -> Handles:
        """Share out what this process may have, for so many ``requests`` if they all fit.

        A crawl that ``serves_web`` has the other end of each connection too, and a file. Raises
        ConfigError if there are too few for any request.
        """
        each = 3 if serves_web else 1
        allowed = _raised(OWN + each * (requests + IDLE))
        fit = (allowed - OWN) // (2 * each)
        if fit < 1:
            raise ConfigError(
                f"this process may have {allowed} files open, and needs {OWN + 2 * each}: "
                "allow it more (ulimit -n)"
            )
        return cls(min(fit, requests), min(IDLE, fit))


def _raised(wanted: int) -> int:
    """Return how many handles this process may have, after asking for so many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return wanted
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return soft
