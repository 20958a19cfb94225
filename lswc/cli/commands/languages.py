"""``lswc languages``: the languages that can be collected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from lswc.cli.command import UserCommand
from lswc.cli.tables import lines_table, table, terminal

if TYPE_CHECKING:
    import argparse


class Command(UserCommand):
    """Lists the languages, or says all of one."""

    usage = "[name or code]"
    summary = (
        "List the languages: names, scripts, seeds, how well they are recognised; or one of them"
    )
    details = (
        "Lists all languages, or those whose names contain a word. For one language, by its code or"
        " name, it shows all facts, and what to do if something is missing."
        " docs/lab/language-list.md has the list"
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        from lswc.cli.language_facts import HEADS, every, facts, lines, row
        from lswc.language.registry import is_known, known, language

        text = " ".join(args).strip().lower()
        if is_known(text):
            terminal(100).print(lines_table("", lines(facts(language(text)))))
            return
        found = [one for one in every() if text in f"{one.language.name}\n{one.own_name}".lower()]
        if not found:
            raise UsageError(
                f"no language of {len(known())} is called {text!r}; docs/languages.md says how to"
                " crawl in one that lswc doesn't know",
                print_help=False,
            )
        if len(found) == 1:
            terminal(100).print(lines_table("", lines(found[0])))
        else:
            terminal(160).print(table("", HEADS, map(row, found)))
