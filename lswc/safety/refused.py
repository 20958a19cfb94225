"""The end of a request that a limit of the crawl's refused."""

from __future__ import annotations

from scrapy.exceptions import IgnoreRequest


class Refused(IgnoreRequest):
    """A limit was hit; ``str()`` is the reason that the frontier counts."""
