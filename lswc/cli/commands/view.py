"""``scrapy view`` as Scrapy has it, for other spiders than lswc's."""

from scrapy.commands.view import Command as ViewCommand

from lswc.cli.other_spiders import NeedsOtherSpider


class Command(NeedsOtherSpider, ViewCommand):
    """Scrapy's."""
