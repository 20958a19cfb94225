"""Commands that lswc adds to those of ``scrapy``: what they have in common."""

from __future__ import annotations

import signal
import sys
from abc import abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from scrapy.commands import ScrapyCommand

from lswc.errors import ConfigError, LswcError
from lswc.extras import require

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 and the number of SIGINT, as shells have it."""

PROGRAM = "lswc"
"""The command that ``lswc.cli.program`` is."""


def program() -> str:
    """Return what the user called: "lswc" or "scrapy"."""
    return PROGRAM if sys.argv[0] == PROGRAM else "scrapy"


class UserCommand(ScrapyCommand):
    """A command that crawls nothing; what lswc raises on purpose is one line and an exit code.

    So is Ctrl-C. Scrapy imports all commands for any of them: so each imports what it works with
    when it runs.
    """

    requires_project = True
    requires_crawler_process = False
    requires: ClassVar[tuple[str, ...]] = ()
    """What it can't work without: a group of lswc.extras, and its libraries, if not all."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from lswc.language import registry

        name = type(self).__module__.rpartition(".")[2].replace("_", "-")
        try:
            registry.use(self.settings.get("LSWC_LANGUAGES", "") if self.settings else "")
            _check(args)
            if self.requires:
                require(*self.requires)
            with _interruptible():
                self.answer(args, opts)
        except LswcError as error:
            print(f"{program()} {name}: error: {error}", file=sys.stderr)
            self.exitcode = error.exit_code
        except KeyboardInterrupt:
            print(f"{program()} {name}: stopped by Ctrl-C", file=sys.stderr)
            self.exitcode = INTERRUPTED

    @abstractmethod
    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do what was asked for, and print the result.

        Raises UsageError for arguments that say nothing to do, and LswcError with a message for
        the user; any other exception is a bug, and shows itself.
        """


def _check(args: list[str]) -> None:
    """Raise ConfigError for an option that there isn't: Scrapy leaves it among the arguments."""
    unknown = next((arg for arg in args if arg.startswith("--")), None)
    if unknown is not None:
        raise ConfigError(f"unknown option {unknown}: --help names those there are")


@contextmanager
def _interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt for SIGINT, whatever a library makes of it on the way."""
    heard = False

    def hear(number: int, frame: object) -> None:
        nonlocal heard
        heard = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, hear)
    try:
        yield
    except Exception as error:
        if heard:
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.signal(signal.SIGINT, before)
