"""A scheduler that makes a crawl's order certain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.crawler.scheduler import TierScheduler

if TYPE_CHECKING:
    from scrapy import Request


class OneAtATime(TierScheduler):
    """Leases a URL when the one before is finished, not as soon as it is downloaded.

    CONCURRENT_REQUESTS=1 bounds downloads: the next one starts while a page is still being
    read, so without its links, and not on the page's server.
    """

    def next_request(self) -> Request | None:
        return None if self._running.visits else super().next_request()
