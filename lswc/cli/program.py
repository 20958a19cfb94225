"""``lswc``: what ``scrapy`` has in this project, as a command that works anywhere.

``lswc crawl th`` is ``scrapy crawl lswc -a lang=th``; the other commands are called the same.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from scrapy.cmdline import execute
from scrapy.exceptions import UsageError
from scrapy.utils.project import ENVVAR, get_project_settings
from typing_extensions import override

from lswc import __version__
from lswc.cli.command import CONTACT, PROGRAM
from lswc.cli.running import DETAILS, DRY_RUN, JSON, TRUST
from lswc.cli.setting_facts import explained
from lswc.errors import ConfigError, LswcError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from scrapy.commands import ScrapyCommand

GROUPS = {
    "Crawl": {
        "demo": "lswc demo",
        "crawl": "lswc crawl th --contact https://library.example/crawl",
        "contact-page": "lswc contact-page --lang th --out bot.html --contact me@library.example",
        "new": "lswc new th",
        "seeds": "lswc seeds --lang cy --from web-languages web-languages",
    },
    "Look at a crawl, and use it": {
        "watch": "lswc watch crawls/th",
        "frontier": "lswc frontier crawls/th",
        "why": "lswc why crawls/th http://www.example.co.th/",
        "check": "lswc check crawls/th",
        "workers": "lswc workers redis://10.0.0.5:6379/0",
        "control": "lswc control crawls/th block example.co.th --why 'their mail of 3 May'",
        "analyze": "lswc analyze crawls/th --out report",
        "corpus": "lswc corpus crawls/th",
        "replay": "lswc replay crawls/th",
        "wacz": "lswc wacz crawls/th",
        "index": "lswc index crawls/th",
    },
    "Try strategies beforehand": {
        "trace": "lswc trace crawls/th --out traces/th",
        "synthesize": "lswc synthesize --scale 0.1 --out webs/thai",
        "simulate": "lswc simulate --trace traces/th --strategy all --out results",
    },
    "Languages": {
        "languages": "lswc languages",
        "identify": "lswc identify --lang th page.html",
        "learn-language": "lswc learn-language my-languages",
        "learn-order": "lswc learn-order traces/ja traces/ko crawls/vi --out order.toml",
    },
    "More": {
        "profiles": "lswc profiles adaptive",
        "settings": "lswc settings DOWNLOAD_DELAY",
        "completion": "lswc completion bash >> ~/.bashrc",
    },
}
"""All commands, each with an example."""

NAMES = tuple(name for group in GROUPS.values() for name in group)

OWN = {
    "demo": "Crawl a demo web on this machine for Thai, or go on with it, and print the result",
    "crawl": "Crawl the web of one language",
    "settings": "List the settings, or explain one of them",
    "completion": "Print a script for your shell that completes lswc's arguments",
}
"""What the commands do that ``scrapy`` hasn't, or calls otherwise."""

SHELLS = ("bash", "zsh", "tcsh", "fish")
"""Shells whose completion is shipped: ``lswc.cli.reference`` makes it."""


def completion_file(shell: str) -> Path:
    """Return the file that a shell reads to complete arguments."""
    return Path(__file__).with_name("completions") / shell


_DEMO = Path("crawls/demo")
"""Folder of the demo crawl."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit: with its exit code, or with 2 for a mistake in the arguments."""
    # A project of the user's own, named by the environment, may build on lswc's settings.
    os.environ.setdefault(ENVVAR, "lswc.settings")
    given = list(sys.argv[1:] if arguments is None else arguments)
    sys.argv[0] = PROGRAM  # which may be the path of a module
    if not given or given[0] in ("-h", "--help"):
        print(overview())
        sys.exit(0)
    if given[0] == "--version":
        print(f"lswc {__version__}")
        sys.exit(0)
    try:
        sys.exit(_run(given[0], given[1:]))
    except LswcError as error:
        print(f"lswc: error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)


def overview() -> str:
    """Return the help of ``lswc``: its commands in groups, each with an example."""
    lines = ["usage: lswc <command> [options]", "", "Collects the web of one language.", ""]
    for title, commands in GROUPS.items():
        lines.append(f"{title}:")
        for name, example in commands.items():
            lines += [f"  {name:15} {meaning_of(name)}", f"  {'':15} $ {example}"]
        lines.append("")
    lines.append("lswc <command> --help says more.")
    return "\n".join(lines)


def meaning_of(name: str) -> str:
    """Say in one line what a command does."""
    return OWN[name] if name in OWN else _command(name).short_desc()


def _run(name: str, given: list[str]) -> int:
    if name not in NAMES:
        near = get_close_matches(name, NAMES, 1)
        meant = f"do you mean {near[0]!r}?" if near else f"known: {', '.join(NAMES)}"
        raise ConfigError(f"unknown command {name!r}; {meant}")
    parser = parser_of(name)
    if name == "settings":
        print(explained(parser.parse_args(given).name))
        return 0
    if name == "completion":
        print(completion_file(parser.parse_args(given).shell).read_text("utf-8"), end="")
        return 0
    if name in OWN:
        return _crawl(_crawl_options(parser, given), demo=name == "demo")
    command = _command(name)
    options, rest = parser.parse_known_args(given)
    try:
        command.process_options(rest, options)
        command.run(rest, options)
    except UsageError as error:
        parser.error(str(error))
    return command.exitcode


def _command(name: str) -> ScrapyCommand:
    """Return a command of ``scrapy``."""
    ours = list(entry_points(group="scrapy.commands", name=name))
    module = "lswc.cli.check" if name == "check" else f"lswc.cli.commands.{name}"
    found = ours[0].load() if ours else import_module(module).Command
    command: ScrapyCommand = found()
    command.settings = get_project_settings()
    return command


def parser_of(name: str) -> ArgumentParser:
    """Return the parser of a command's arguments."""
    parser = _Parser(
        prog=f"lswc {name}",
        description=meaning_of(name) if name in OWN else _command(name).long_desc(),
        epilog=f"For example: {_example(name)}",
        formatter_class=RawDescriptionHelpFormatter,
        conflict_handler="resolve",
        allow_abbrev=False,
    )
    if name == "completion":
        parser.add_argument("shell", choices=SHELLS)
    elif name == "settings":
        parser.add_argument("name", nargs="?", default="", help="the setting, or a part of it")
    elif name in OWN:
        _add_crawl_options(parser, demo=name == "demo")
    else:
        command = _command(name)
        parser.usage = f"lswc {name} {command.syntax()}"
        command.add_options(parser)
    return parser


class _Parser(ArgumentParser):
    """Says what is wrong in one line."""

    @override
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message}\n")


def _example(name: str) -> str:
    return next(group[name] for group in GROUPS.values() if name in group)


def _add_crawl_options(parser: ArgumentParser, *, demo: bool) -> None:
    add = parser.add_argument
    if not demo:
        add("lang", help="the language, an ISO 639 code; several: th,lo; or a crawl file: th.toml")
        add(CONTACT.name, help=CONTACT.given["help"])
        add(
            "--seeds",
            metavar="FILE",
            help="a list of seeds, one URL in a line, instead of lswc's own",
        )
        add("--web", metavar="FOLDER", help="a frozen web, instead of the real one (LSWC_WEB)")
        add("--into", metavar="FOLDER", help="the crawl's folder (crawls/LANG if not given)")
        add("--trust", action="store_true", help=TRUST)
    else:
        add("--fresh", action="store_true", help="delete crawls/demo, and begin again")
    add("--profile", metavar="NAME", help="the strategy, with its settings (LSWC_PROFILE)")
    pages = "stop after about so many pages (CLOSESPIDER_ITEMCOUNT)"
    add("--pages", metavar="N", type=_positive, help=pages)
    add("-s", "--set", metavar="NAME=VALUE", action="append", default=[], help="any setting")
    add("-L", "--loglevel", metavar="LEVEL", help="DEBUG also shows Scrapy's own lines")
    add("--details", action="store_true", help=DETAILS)
    add("--json", action="store_true", help=JSON)
    add("--dry-run", action="store_true", help=DRY_RUN)
    add("--logfile", metavar="FILE", help="where the log goes, instead of the terminal")


def _positive(given: str) -> int:
    """Return a whole number of at least 1. Raises ArgumentTypeError."""
    if not (given.isdecimal() and int(given)):
        raise ArgumentTypeError(f"{given!r} isn't a whole number of at least 1")
    return int(given)


def _crawl_options(parser: ArgumentParser, given: list[str]) -> Namespace:
    """Return the options of a crawl; the parser ends the program for those that are none."""
    options, rest = parser.parse_known_args(given)
    if rest:
        several = "; several languages are one word: th,lo" if rest[0].isalpha() else ""
        parser.error(f"unrecognized arguments: {' '.join(rest)}{several}")
    for setting in options.set:
        if not setting.partition("=")[1]:
            parser.error(f"-s {setting}: a setting is given as NAME=VALUE")
    return options


_SETTINGS = {
    "contact": "LSWC_CONTACT",
    "web": "LSWC_WEB",
    "into": "LSWC_CRAWL",
    "profile": "LSWC_PROFILE",
    "pages": "CLOSESPIDER_ITEMCOUNT",
}
"""The settings that an option of ``lswc crawl`` stands for."""


def crawl_arguments(options: Namespace) -> list[str]:
    """Return the arguments of ``scrapy`` for those of ``lswc crawl``."""
    is_file = options.lang.endswith((".toml", ".json"))
    what = ["--file", options.lang] if is_file else ["-a", f"lang={options.lang}"]
    arguments = ["crawl", "lswc", *what]
    if options.seeds:
        arguments += ["-a", f"seeds={options.seeds}"]
    given = {name: getattr(options, name) for name in _SETTINGS}
    settings = [f"{_SETTINGS[name]}={value}" for name, value in given.items() if value is not None]
    for setting in [*settings, *options.set]:
        arguments += ["-s", setting]
    for name in ("loglevel", "logfile"):
        if getattr(options, name):
            arguments += [f"--{name}", getattr(options, name)]
    flags = ("details", "json", "dry_run", "trust", "fresh", "demo")
    given_flags = [name for name in flags if getattr(options, name, False)]
    return [*arguments, *(f"--{name.replace('_', '-')}" for name in given_flags)]


def _crawl(options: Namespace, *, demo: bool) -> int:
    options.demo = demo
    if demo:
        options.lang, options.web, options.into = "th", "demo", str(_DEMO)
        options.contact = options.seeds = None
        if options.fresh and any(given.startswith("LSWC_CRAWL=") for given in options.set):
            raise ConfigError(f"--fresh deletes what {_DEMO} holds: leave it out, or LSWC_CRAWL")
        options.fresh &= not options.dry_run
        options.set = ["DOWNLOAD_DELAY=0", *options.set]  # nobody is disturbed
    execute(["lswc", *crawl_arguments(options)])
    return 0
