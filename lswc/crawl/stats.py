"""Statistics of Scrapy, without what each look-up of a method costs there."""

from scrapy.statscollectors import MemoryStatsCollector


class DirectStats(MemoryStatsCollector):
    """Scrapy's, that doesn't look whether a method is called with a spider, which is deprecated.

    To look a method up took several times as long there as to count.
    """

    __getattribute__ = object.__getattribute__
