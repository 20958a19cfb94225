"""Visits of leases, as the tests end them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lswc.frontier.rules.visit import Visit

if TYPE_CHECKING:
    from lswc.frontier.rules.visit import Lease


def ended(lease: Lease, outcome: str = "html", **brought: Any) -> Visit:
    """Return the visit of a lease that ended so, and what it brought."""
    return Visit(lease, outcome=outcome, **brought)
