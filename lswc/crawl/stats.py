"""Statistics of Scrapy, without what each look-up of a method costs there."""

from pprint import pformat

from scrapy.statscollectors import MemoryStatsCollector


class DirectStats(MemoryStatsCollector):
    """Scrapy's, that doesn't look whether a method is called with a spider, which is deprecated.

    To look a method up took several times as long there as to count.
    """

    __getattribute__ = object.__getattribute__

    def __str__(self) -> str:
        """Return the counts as a log has them: LogParser takes an apostrophe for a name's end."""
        return pformat({_plain(name): _plain(value) for name, value in self._stats.items()})


def _plain(value: object) -> object:
    return value.replace("'", "’") if isinstance(value, str) else value
