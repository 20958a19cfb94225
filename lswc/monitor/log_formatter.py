"""Log formatter: what Scrapy logs of every page is made only if it is shown.

A formatter may return None (Scrapy's documentation of LOG_FORMATTER); its types don't say so.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from scrapy.logformatter import LogFormatter

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response
    from scrapy.logformatter import LogFormatterResult
    from twisted.python.failure import Failure

_engine = logging.getLogger("scrapy.core.engine")
_scraper = logging.getLogger("scrapy.core.scraper")


class ShownFormatter(LogFormatter):
    """Scrapy's, without the lines for DEBUG where that isn't logged."""

    def crawled(  # type: ignore[override]
        self, request: Request, response: Response, spider: Spider
    ) -> LogFormatterResult | None:
        """Return the line of a page that came, if it is shown."""
        if not _engine.isEnabledFor(logging.DEBUG):
            return None
        return super().crawled(request, response, spider)

    def scraped(  # type: ignore[override]
        self, item: Any, response: Response | Failure | None, spider: Spider
    ) -> LogFormatterResult | None:
        """Return the line of an item, if it is shown."""
        if not _scraper.isEnabledFor(logging.DEBUG):
            return None
        return super().scraped(item, response, spider)
