"""Quotas: the most that is taken of a server and of a registered domain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from lswc.outcomes import Outcome


class Taken(NamedTuple):
    """What a server or a registered domain has brought: pages, and bytes received."""

    pages: int = 0
    bytes: int = 0


NOTHING_TAKEN = Taken()


@dataclass(frozen=True)
class Quota:
    """The most that is taken of one server or registered domain; any number at 0."""

    pages: float = 0
    bytes: float = 0

    def or_else(self, other: Quota) -> Quota:
        """Return this one, and the other for what this doesn't bound."""
        return Quota(self.pages or other.pages, self.bytes or other.bytes)

    def at_least(self, other: Quota) -> Quota:
        """Return this one, so large that the other fits into it."""
        return Quota(_most(self.pages, other.pages), _most(self.bytes, other.bytes))


@dataclass(frozen=True)
class Quotas:
    """The quota of each server, and that of each registered domain."""

    server: Quota = Quota()
    domain: Quota = Quota()

    def unless(self, said: Quotas) -> Quotas:
        """Return these quotas but for what is said otherwise.

        One server may bring what is said of its domain; what is said of a server is room enough in
        its domain.
        """
        return Quotas(
            said.server.or_else(said.domain).or_else(self.server),
            said.domain.or_else(self.domain.at_least(said.server)),
        )


def reached(quotas: Quotas, server: Taken, domain: Taken) -> Outcome | None:
    """Return which quota a server has reached, itself or with its domain; None if none."""
    for taken, quota, pages, size in (
        (server, quotas.server, Outcome.SERVER_PAGES, Outcome.SERVER_BYTES),
        (domain, quotas.domain, Outcome.SITE_PAGES, Outcome.SITE_BYTES),
    ):
        if 0 < quota.pages <= taken.pages:
            return pages
        if 0 < quota.bytes <= taken.bytes:
            return size
    return None


def _most(bound: float, other: float) -> float:
    return max(bound, other) if bound else 0
