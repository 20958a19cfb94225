"""``scrapy shell``, which also shows how lswc reads a page: ``read(response, "th")``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.commands.shell import Command as ShellCommand

from lswc.cli.other_spiders import NeedsOtherSpider
from lswc.cli.tables import harmless
from lswc.errors import LswcError

if TYPE_CHECKING:
    import argparse

    from scrapy.http import Response

    from lswc.crawl.shown_page import ShownPage


class Command(NeedsOtherSpider, ShellCommand):
    """Scrapy's, with one more thing in it."""

    _is_asked = False

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        self._is_asked = not opts.code
        super().run(args, opts)

    def update_vars(self, vars: dict[str, Any]) -> None:  # noqa: A002  # Scrapy's name
        vars["read"] = self._read
        if self._is_asked:
            print("[s]   read(response, 'th')       Show how lswc reads it: language, links, tiers")

    def _read(self, response: Response, lang: str) -> object:
        """Return how lswc reads a page in a crawl for a language, or what is wrong in a line."""
        from lswc.crawl.shown_page import read

        if self.settings is None:
            return None
        try:
            return _Shown(read(response, lang, self.settings))
        except LswcError as error:
            return f"error: {error}"


class _Shown:
    """A page that has been read: its lines are its text, ``reading`` and ``links`` its parts."""

    def __init__(self, page: ShownPage) -> None:
        self._page = page
        self.reading, self.links = page.reading, page.links

    def __repr__(self) -> str:
        return "\n".join(map(harmless, self._page.lines()))
