"""``scrapy runspider``: a spider of a file, of lswc's kind or of another."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands.runspider import Command as RunSpiderCommand
from scrapy.utils.spider import iter_spider_classes

from lswc.cli.running import RunsSpider
from lswc.errors import ConfigError

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.settings import Settings


class Command(RunsSpider, RunSpiderCommand):
    """Runs the spider of a file, as Scrapy does: the last one, if there are several."""

    def spider_class(self, settings: Settings, args: list[str]) -> type[Spider] | None:
        if len(args) != 1:
            return None
        path = Path(args[0]).resolve()
        if not path.is_file() or path.suffix not in (".py", ".pyw"):
            raise ConfigError(f"{args[0]} isn't a file with a spider, such as my_spider.py")
        sys.path.insert(0, str(path.parent))
        try:
            spiders = list(iter_spider_classes(import_module(path.stem)))
        except Exception as error:  # whatever a user's own file raises
            raise ConfigError(f"{args[0]}: {type(error).__name__}: {error}") from error
        finally:
            sys.path.remove(str(path.parent))
        if not spiders:
            raise ConfigError(f"{args[0]} has no spider: a subclass of scrapy.Spider with a name")
        return spiders[-1]
