"""``scrapy contact-page --lang th --out bot.html``: the page about the crawler."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from lswc.cli.command import UserCommand
from lswc.cli.contact_page import contact_page
from lswc.errors import writing

if TYPE_CHECKING:
    import argparse


class Command(UserCommand):
    """Writes the page that LSWC_CONTACT should show."""

    def syntax(self) -> str:
        return "--lang <code> --out <file> -s LSWC_CONTACT=<URL or e-mail address>"

    def short_desc(self) -> str:
        return "Write the page about your crawler: who crawls, why, and how to stop it"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--lang", default="en", help="the crawl's language, besides English")
        parser.add_argument("--out", help="file to write")

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if args or not opts.out:
            raise UsageError("say where to write the page: --out bot.html", print_help=False)
        from lswc.crawl.checked_settings import contact
        from lswc.language.registry import language

        settings, out = self.settings or Settings(), Path(opts.out)
        page = contact_page(
            language(opts.lang).code, contact(settings), settings.get("ROBOTSTXT_USER_AGENT")
        )
        with writing(out):
            out.write_text(page, "utf-8")
        print(f"{out}: put it where LSWC_CONTACT points")
