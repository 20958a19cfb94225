"""Reference pages of docs/ about settings, outcomes and commands, and completions for shells.

``python -m lswc.cli.reference docs`` writes them, and the completions into ``completions``.
"""

from __future__ import annotations

import re
import sys
from argparse import SUPPRESS, ArgumentParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lswc import settings
from lswc.cli import program
from lswc.cli.command import INTERRUPTED, PROGRAM
from lswc.cli.commands.control import VERBS
from lswc.cli.language_facts import docs_page
from lswc.cli.setting_facts import SettingsSection, sections
from lswc.crawl import profiles
from lswc.errors import ConfigError, LswcError
from lswc.language.registry import known
from lswc.outcomes import Outcome

if TYPE_CHECKING:
    from argparse import Action

HEAD = """\
# All settings

Give a setting on the command line (`-s NAME=value`), in a crawl file, in a profile, or in scrapyd's
`setting`. Write lists with commas: `-s LSWC_ALLOWED_DOMAINS=example.th,example.com`. Names with
`LSWC_` are lswc's own. The others are
[Scrapy's](https://docs.scrapy.org/en/latest/topics/settings.html), where lswc has another default.
A wrong name or value is an error before anything is fetched.

This page is made from `lswc/settings.py`.
"""


OUTCOMES_HEAD = """\
# How URLs and links end

The crawl counts how every URL ended. The summary and `lswc frontier` show these words. URLs that
were requested stand under *URLs finished*, the others under *discarded*. Errors of servers are
counted by their number, as `status 404`.

This page is made from `lswc/outcomes.py`.

| word | meaning |
|---|---|
"""


COMMANDS_HEAD = """\
# All commands

`lswc` has these commands in any folder. In the project's folder, `scrapy` has them, too, with the
same options. Only a crawl has another form there: `scrapy crawl lswc -a lang=th`.

This page is made from the code. See also the [settings](settings.md) (`-s`), the
[files of a crawl](archive.md), and the [outcomes](outcomes.md) of URLs.

## Exit codes

| code | meaning |
|---|---|
| 0 | done; a crawl: it ended, or was stopped, in order |
| {failed} | it can't go on: a full disk, no Redis; `check`: something is wrong |
| {mistake} | a mistake in an argument, a setting or a file, or a missing library |
| 3 | a crawl: this machine had no network for too long |
| {interrupted} | stopped by Ctrl-C |

## Options of every command but demo, crawl, completion and settings

| option | meaning |
|---|---|
"""


def page(source: str) -> str:
    """Return docs/settings.md for a settings file."""
    return "\n".join([HEAD, *(_table(section) for section in sections(source))])


def outcomes_page() -> str:
    """Return docs/outcomes.md."""
    return OUTCOMES_HEAD + "".join(f"| `{end}` | {end.sentence} |\n" for end in Outcome)


def _table(section: SettingsSection) -> str:
    rows = "".join(
        f"| `{name}` | {default} | {_linked(meaning)} |\n"
        for name, default, meaning in section.settings
    )
    return f"## {section.title}\n\n| setting | default | meaning |\n|---|---|---|\n{rows}"


def _linked(meaning: str) -> str:
    return re.sub(r"\b((?:lab/)?[a-z-]+)\.md(#[\w-]+)?", r"[\1.md](\1.md\2)", meaning)


def commands_page() -> str:
    """Return docs/commands.md."""
    options = {name: _options(program.parser_of(name)) for name in program.NAMES}
    crawls = ("demo", "crawl", "completion", "settings")
    shared = set.intersection(*(set(options[name]) for name in options if name not in crawls))
    head = COMMANDS_HEAD.format(
        failed=LswcError.exit_code, mistake=ConfigError.exit_code, interrupted=INTERRUPTED
    )
    lines = [head + "".join(row for row in options["check"] if row in shared)]
    for title, commands in program.GROUPS.items():
        lines.append(f"## {title}\n")
        for name, example in commands.items():
            rows = [row for row in options[name] if name in crawls or row not in shared]
            lines.append(_command(name, example, rows))
    return "\n".join(lines)


def _options(parser: ArgumentParser) -> list[str]:
    """Return a row for each argument of a command."""
    actions = (action for action in parser._actions if action.help != SUPPRESS)
    return [f"| `{_spelled(action)}` | {_said(action)} |\n" for action in actions]


def _spelled(action: Action) -> str:
    value = "" if action.nargs == 0 else f" {action.metavar or action.dest.upper()}"
    if not action.option_strings:
        return action.dest
    return ", ".join(action.option_strings) + value


def _said(action: Action) -> str:
    if action.choices and not action.help:
        return ", ".join(map(str, action.choices))
    return (action.help or "").replace("|", "\\|").removesuffix(" and exit")


def _command(name: str, example: str, rows: list[str]) -> str:
    parser = program.parser_of(name)
    usage = f"    {parser.usage}\n\n" if parser.usage else ""
    shown = re.sub("^", "    ", parser.description or "", flags=re.MULTILINE)
    table = "| option | meaning |\n|---|---|\n" + "".join(rows) + "\n" if rows else ""
    return f"### {name}\n\n{usage}{shown}\n\nFor example:\n\n    {example}\n\n{table}"


def pages() -> dict[str, str]:
    """Return every page by the name of its file."""
    source = Path(settings.__file__).read_text(encoding="utf-8")
    return {
        "settings.md": page(source),
        "outcomes.md": outcomes_page(),
        "lab/language-list.md": docs_page(),
        "commands.md": commands_page(),
    }


def completions() -> dict[str, str]:
    """Return what each shell reads to complete the arguments of ``lswc``."""
    import shtab  # not above: it isn't installed where nothing is written anew

    whole = ArgumentParser(prog=PROGRAM)
    commands = whole.add_subparsers()
    for name in program.NAMES:
        own = [program.parser_of(name)]
        meaning = program.meaning_of(name)
        parser = commands.add_parser(name, help=meaning, parents=own, conflict_handler="resolve")
        if name not in program.OWN:
            parser.add_argument("args", nargs=None if name == "control" else "*")
        if name == "control":
            parser.add_argument("verb", nargs="?")
        for action in parser._actions:
            action.choices = action.choices or _choices(name, action, shtab.Required.FILE)
    return {shell: f"{shtab.complete(whole, shell).rstrip()}\n" for shell in program.SHELLS}


def _choices(command: str, action: Action, a_file: list[Any]) -> list[Any] | None:
    """Return the words that an argument may be, as far as they are known."""
    what = f"{command} {action.dest}" if not action.option_strings else action.dest
    if what in ("lang", "new args", "languages args"):
        return list(known())
    if what == "crawl lang":
        return [*known(), *a_file]
    is_ours = what == "profile" and command in ("crawl", "demo")  # others have Scrapy's, a file
    if is_ours or what == "profiles args":
        return profiles.names()
    if what == "settings name":
        return [name for name in vars(settings) if name.isupper()]
    if action.dest == "set" and command in ("crawl", "demo"):
        return [f"{name}=" for name in vars(settings) if name.isupper()]
    if action.dest == "web":
        return ["demo", "changing", *a_file]
    if what == "control verb":
        return list(VERBS)
    is_file = what == f"{command} args" or action.metavar in ("FILE", "FOLDER")
    return a_file if is_file else None


def main() -> None:
    """Write the pages into the folder that is named, and the completions where they lie."""
    for name, text in pages().items():
        (Path(sys.argv[1]) / name).write_text(text, encoding="utf-8")
    for shell, script in completions().items():
        program.completion_file(shell).write_text(script, encoding="utf-8")


if __name__ == "__main__":
    main()
