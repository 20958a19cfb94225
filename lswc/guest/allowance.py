"""Allowance of servers and domains: by the settings, and by what people instruct."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.outcomes import Outcome
from lswc.safety.quotas import Quotas, Taken, reached
from lswc.urls import site

if TYPE_CHECKING:
    from lswc.guest.control_in_effect import ControlInEffect
    from lswc.urls import Url


class Allowance:
    """Knows which servers and domains have brought all that is taken of them.

    ``quotas`` are the settings'. Instructions for a place (``max_pages``, ``max_bytes``) hold
    instead, be it less or more: of a server, or a name in a registered domain, for each of its
    servers; of a registered domain, or a name above, for each registered domain.
    """

    def __init__(self, quotas: Quotas, control: ControlInEffect) -> None:
        self._quotas = quotas
        self._control = control
        self._full: dict[str, Outcome] = {}

    @property
    def refuses(self) -> bool:
        """Whether a quota was found to be reached."""
        return bool(self._full)

    def refusal(self, url: Url) -> Outcome | None:
        """Return which quota a URL's server or domain was found to have reached."""
        if not self._full:
            return None
        return self._full.get(url.server) or self._full.get(_domain(url))

    def reached(self, url: Url, of_server: Taken, of_domain: Taken) -> Outcome | None:
        """Return which quota a URL's server or domain has reached with this, and remember it."""
        here = self._control.quotas(url)
        quotas = self._quotas if here is None else self._quotas.unless(here)
        reason = reached(quotas, of_server, of_domain)
        if reason is not None:
            is_domain = reason in (Outcome.SITE_PAGES, Outcome.SITE_BYTES)
            self._full[_domain(url) if is_domain else url.server] = reason
        return reason

    def forget(self) -> None:
        """Take it that other quotas hold now."""
        self._full.clear()


def _domain(url: Url) -> str:
    return f"*.{site(url.hostname)}"
