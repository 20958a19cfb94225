"""A scheduler that makes a crawl's order certain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.crawler.scheduler import TierScheduler

if TYPE_CHECKING:
    from lswc.visit.visit import Visit


class OneAtATime(TierScheduler):
    """Leases a URL when the one before is finished, not as soon as it is downloaded.

    CONCURRENT_REQUESTS=1 bounds downloads: the next one starts while a page is still being
    read, so without its links, and not on the page's server.
    """

    def _next_visit(self, now: float) -> Visit | None:
        if self._running.visits:
            self._wake_later(now)  # what was put off is asked for again
            return None
        return super()._next_visit(now)
