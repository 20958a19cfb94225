"""``lswc new LANG``: a crawl file with comments, to be changed and run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from lswc.cli.command import CONTACT, UserCommand, one, option, program
from lswc.errors import ConfigError, writing

if TYPE_CHECKING:
    import argparse

    from lswc.language.registry import Wanted


class Command(UserCommand):
    """Writes a crawl file."""

    usage = "<language> [--out th.toml] [--contact ...]"
    summary = "Write a crawl as a file, with comments, for `lswc crawl FILE`"
    options = (
        CONTACT,
        option("--out", "the file, LANG.toml if not given"),
        option("--outside", "seeds outside the country's own domain, as a list beside it", False),
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        from lswc.crawl.crawl_file import new
        from lswc.crawl.seed_files import hint, list_of
        from lswc.language.registry import wanted

        target = wanted(one(args, "language"))
        path = Path(opts.out or f"{target.name}.toml")
        if path.suffix != ".toml":
            raise ConfigError(f"--out={opts.out}: the name of a crawl file ends with .toml")
        if path.exists():
            raise ConfigError(f"{path} is there already: choose another name with --out")
        beside = _outside(target, path) if opts.outside else ""
        given = {"language": target.tag, "contact": opts.contact, "seeds": beside}
        values = {key: value for key, value in given.items() if value}
        with writing(path):
            path.write_text(new(str(path), values), "utf-8")
        for language in target.languages:
            if not beside and list_of(language) is None:
                print(f"{program()} new: {hint(language.tag)}", file=sys.stderr)
        then = "" if opts.contact else "give it a contact; then: "
        print(f"{path}: {then}lswc crawl {path} --dry-run")


def _outside(target: Wanted, path: Path) -> str:
    """Write a list of the seeds outside the countries' own domains, and return its name.

    Raises ConfigError if there are none, or no seeds at all.
    """
    from lswc.cli.language_facts import facts
    from lswc.crawl.seed_files import hint, list_of, outside

    parts = []
    for language in target.languages:
        found, own = list_of(language), {*language.tlds, *facts(language).country_tlds}
        if found is None:
            raise ConfigError(hint(language.tag))
        parts.append(outside(found, own))
    beside = path.with_name(f"{path.stem}-outside.txt")
    if not any(parts):
        raise ConfigError(f"no seed of {target.tag} is outside the country's own domain")
    if beside.exists():
        raise ConfigError(f"{beside} is there already: choose another name with --out")
    with writing(beside):
        beside.write_text("\n".join(parts), "utf-8")
    return str(beside)
