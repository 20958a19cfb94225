"""Traps: URLs without end, told by their shape alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from lswc.outcomes import Outcome


@dataclass(frozen=True, kw_only=True)
class TrapShape:
    """The most that a URL may have of each thing that traps are made of; off at 0.

    ``segments`` of its path, ``repeats`` of one segment in it or of one name in its query,
    ``parameters`` in its query.
    """

    segments: int = 0
    repeats: int = 0
    parameters: int = 0

    def trap(self, path: str, query: str) -> Outcome | None:
        """Return which trap a path and a query without its mark look like, None if none."""
        parts = path[1:].split("/")
        if self.segments and len(parts) > self.segments:
            return Outcome.DEEP_PATH
        if self.repeats and len(parts) > self.repeats and _most(parts) > self.repeats:
            return Outcome.REPEATED_SEGMENT
        if query and self._is_faceted(query.split("&")):
            return Outcome.FACETED_QUERY
        return None

    def _is_faceted(self, parameters: list[str]) -> bool:
        if self.parameters and len(parameters) > self.parameters:
            return True
        if not self.repeats or len(parameters) <= self.repeats:
            return False
        return _most([parameter.partition("=")[0] for parameter in parameters]) > self.repeats


SHAPE = TrapShape(segments=24, repeats=3, parameters=12)
"""The shape that a crawl takes a URL to be a trap by: sites for readers have less of each."""


def _most(parts: list[str]) -> int:
    return max(Counter(parts).values())
