"""``scrapy crawl``, which finds a user's mistakes before anything is fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.spiderloader import get_spider_loader

from lswc.cli.running import RunsSpider
from lswc.errors import ConfigError

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.settings import Settings


class Command(RunsSpider, CrawlCommand):
    """Runs a spider of the project, by its name."""

    def spider_class(self, settings: Settings, args: list[str]) -> type[Spider] | None:
        if len(args) != 1:
            return None
        loader = get_spider_loader(settings)
        if args[0] not in loader.list():
            known = ", ".join(loader.list())
            raise ConfigError(f"unknown spider {args[0]!r}; known: {known}")
        return loader.load(args[0])
