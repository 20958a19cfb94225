"""``scrapy fetch`` as Scrapy has it, for other spiders than lswc's."""

from scrapy.commands.fetch import Command as FetchCommand

from lswc.cli.other_spiders import NeedsOtherSpider


class Command(NeedsOtherSpider, FetchCommand):
    """Scrapy's."""
