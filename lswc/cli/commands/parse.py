"""``scrapy parse`` as Scrapy has it, for other spiders than lswc's."""

from scrapy.commands.parse import Command as ParseCommand

from lswc.cli.other_spiders import NeedsOtherSpider


class Command(NeedsOtherSpider, ParseCommand):
    """Scrapy's."""
