"""How many requests a crawl can have under way with the file handles that it may have."""

from __future__ import annotations

import resource
from sys import maxsize
from typing import NamedTuple

from lswc.errors import ConfigError

OWN = 30
"""Handles of a crawl's own files, and of what it opens for a moment."""

IDLE = 100
"""Connections that are kept open between requests; many systems allow a process 1,024 files."""


class Handles(NamedTuple):
    """Requests under way, and connections kept open between requests, at most.

    The former is no limit where CONCURRENT_REQUESTS is the lower one.
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
        return cls(fit if fit < requests else maxsize, min(IDLE, fit))


def _raised(wanted: int) -> int:
    """Return how many handles this process may have, after asking for so many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return wanted
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return soft
