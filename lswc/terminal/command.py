"""What the commands of ``scrapy`` that lswc adds have in common."""

from __future__ import annotations

import sys
from abc import abstractmethod
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand

from lswc.errors import LswcError

if TYPE_CHECKING:
    import argparse


class UserCommand(ScrapyCommand):
    """A command that crawls nothing; what lswc raises on purpose is one line and an exit code.

    Scrapy imports all commands for any of them: so each imports what it works with when it runs.
    """

    requires_project = True
    requires_crawler_process = False

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from lswc import languages

        try:
            languages.use(self.settings.get("LSWC_LANGUAGES", "") if self.settings else "")
            self.answer(args, opts)
        except LswcError as error:
            name = type(self).__module__.rpartition(".")[2]
            print(f"scrapy {name}: error: {error}", file=sys.stderr)
            self.exitcode = error.exit_code

    @abstractmethod
    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do what was asked for, and print the result.

        Raises UsageError for arguments that say nothing to do, and LswcError with a message for
        the user; any other exception is a bug, and shows itself.
        """
