"""``lswc profiles``: the profiles of settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.cli.command import UserCommand, one
from lswc.cli.tables import lines_table, terminal

if TYPE_CHECKING:
    import argparse


class Command(UserCommand):
    """Lists the profiles, or what one of them sets."""

    usage = "[name]"
    summary = "List the profiles, or show all settings of one"

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        from lswc.crawl.profiles import module, names

        if args:
            found = vars(module(one(args, "profile")))
            lines = {name: str(value) for name, value in found.items() if name.isupper()}
        else:
            lines = {name: " ".join((module(name).__doc__ or "").split()) for name in names()}
        terminal(100).print(lines_table("", lines))
