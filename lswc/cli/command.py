"""Commands that lswc adds to those of ``scrapy``: what they have in common."""

from __future__ import annotations

import signal
import sys
from abc import abstractmethod
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError
from scrapy.settings import Settings

from lswc.errors import ConfigError, LswcError, of_file
from lswc.extras import require

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 and the number of SIGINT, as shells have it."""

PROGRAM = "lswc"
"""The command that ``lswc.cli.program`` is."""


def program() -> str:
    """Return what the user called: "lswc" or "scrapy"."""
    return PROGRAM if sys.argv[0] == PROGRAM else "scrapy"


class Option(NamedTuple):
    """What argparse is to know of an option."""

    name: str
    given: Mapping[str, Any]


def option(name: str, meaning: str, default: Any = "", **more: Any) -> Option:
    """Return an option whose values are of its default's type.

    False: a flag. A list: it may be given again. A type: None if it isn't given.
    """
    kind: dict[str, Any] = {"type": type(default), "default": default}
    if default is False:
        kind = {"action": "store_true"}
    elif isinstance(default, list):
        kind = {"action": "append", "default": default}
    elif isinstance(default, type):
        kind = {"type": default}
    return Option(name, {"help": meaning, **kind, **more})


KEY = option("--key", "LSWC_REDIS_KEY, if Redis has many crawls")
"""Option of commands that name a crawl's folder or its Redis."""

CONTACT = option("--contact", "who crawls: a page about it, or an e-mail address (LSWC_CONTACT)")
"""Option of commands that ask servers, or tell who does."""


def one(args: list[str], what: str) -> str:
    """Return the one argument that there should be. Raises UsageError."""
    if len(args) != 1:
        raise UsageError(f"name one {what}", print_help=False)
    return args[0]


def named(args: list[str]) -> list[str]:
    """Return the folders, or the Redis, of a crawl. Raises UsageError."""
    if not args:
        raise UsageError("name crawl folders, or one Redis", print_help=False)
    return args


def folders(args: list[str]) -> list[Path]:
    """Return the folders of a crawl, one or those of its workers. Raises UsageError."""
    if not args:
        raise UsageError("name a crawl folder, or those of its workers", print_help=False)
    return [Path(name) for name in args]


class UserCommand(ScrapyCommand):
    """A command that crawls nothing; what lswc raises on purpose is one line and an exit code.

    So is Ctrl-C. Scrapy imports all commands for any of them: so each imports what it works with
    when it runs.
    """

    requires_project = True
    requires_crawler_process = False
    requires: ClassVar[tuple[str, ...]] = ()
    """What it can't work without: a group of lswc.extras, and its libraries, if not all."""
    usage: ClassVar[str] = ""
    """What stands behind the command's name."""
    summary: ClassVar[str]
    """What it does, in a line."""
    details: ClassVar[str] = ""
    """What its help says instead, if that is more."""
    options: ClassVar[Sequence[Option]] = ()
    """Its own options."""

    def syntax(self) -> str:
        return self.usage

    def short_desc(self) -> str:
        return self.summary

    def long_desc(self) -> str:
        return self.details or self.summary

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        for name, given in self.options:
            parser.add_argument(name, **given)

    def folders(self, args: list[str], key: str) -> list[Path]:
        """Return the folders of a crawl that are named, or the workers' of a Redis.

        It prints those that aren't on this machine. Raises UsageError, LswcError.
        """
        from lswc.monitor.stored import folders_of

        found, elsewhere = folders_of(named(args), key, self.project_settings)
        for name in elsewhere:
            print(f"without {name}: its folder isn't on this machine", file=sys.stderr)
        return found

    @property
    def project_settings(self) -> Settings:
        """The settings that the command was given."""
        return self.settings or Settings()

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        from lswc.language import registry

        name = type(self).__module__.rpartition(".")[2].replace("_", "-")
        try:
            registry.use(self.project_settings.get("LSWC_LANGUAGES", ""))
            _check(args)
            if self.settings is not None and getattr(opts, "contact", None):
                self.settings.set("LSWC_CONTACT", opts.contact, priority="cmdline")
            if self.requires:
                require(*self.requires)
            with _interruptible():
                self.answer(args, opts)
        except LswcError as error:
            self._fail(name, error)
        except OSError as error:  # such as of a folder of another user's
            self._fail(name, of_file(error))
        except KeyboardInterrupt:
            print(f"{program()} {name}: stopped by Ctrl-C", file=sys.stderr)
            self.exitcode = INTERRUPTED

    def _fail(self, name: str, error: LswcError) -> None:
        print(f"{program()} {name}: error: {error}", file=sys.stderr)
        self.exitcode = error.exit_code

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
        # An object that is half made complains when it goes, to a user who asked for an end.
        sys.unraisablehook = lambda _: None
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
