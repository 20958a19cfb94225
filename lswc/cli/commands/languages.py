"""``lswc languages``: the languages that can be collected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from lswc.cli.command import UserCommand
from lswc.cli.tables import lines_table, terminal

if TYPE_CHECKING:
    import argparse

    from lswc.language.registry import Language


class Command(UserCommand):
    """Lists the languages: by name or code, if some are asked for."""

    usage = "[name or code]"
    summary = "List the languages: their codes, their variants, and whether seeds are shipped"

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        from lswc.language.registry import known, language

        text = " ".join(args).lower()
        every = [language(code) for code in known()]
        found = [one for one in every if text in (one.code, "") or text in one.name.lower()]
        if not found:
            raise UsageError(f"no language of {len(every)} is called {text!r}", print_help=False)
        terminal(100).print(lines_table("", {one.code: _said(one) for one in found}))


def _said(one: Language) -> str:
    from lswc.crawl.seed_files import has_seeds

    parts = [one.name, *(variant.tag for variant in one.variants)]
    return ", ".join(parts) + ("; seeds are shipped" if has_seeds(one.code) else "")
