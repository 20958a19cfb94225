"""Crawl file: a crawl as TOML, or the settings.json of one; it gives arguments and settings."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy.settings import default_settings

from lswc import settings as defaults
from lswc.errors import ConfigError
from lswc.language.registry import LanguageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

PRIORITY = 35
"""Above a profile (25) and a spider's settings (30), below the command line (40)."""

FILE_BYTES = 4_000_000
"""Bytes of a crawl file."""


class Key(NamedTuple):
    """A key of the file: the setting that it stands for, or the spider's argument in lower case.

    ``example`` and ``said`` are what a new file says of it.
    """

    stands_for: str
    example: str
    said: str = ""


KEYS = {
    "language": Key("lang", '"{lang}"', 'several are one text: "th,lo"; `lswc languages`'),
    "contact": Key("LSWC_CONTACT", '""'),
    "seeds": Key("seeds", '"my-seeds.txt"', "or URLs; without it seeds/{lang}.txt"),
    "folder": Key("LSWC_CRAWL", '"crawls/{lang}"'),
    "profile": Key("LSWC_PROFILE", '"adaptive"', "`lswc profiles`"),
    "pages": Key("CLOSESPIDER_ITEMCOUNT", "100_000", "stop after about so many"),
    "seconds": Key("CLOSESPIDER_TIMEOUT", "86_400", "stop after so many"),
    "depth": Key("DEPTH_LIMIT", "20", "links from the seeds, at most"),
    "domains": Key("LSWC_ALLOWED_DOMAINS", '["example.co.th"]', "these only"),
    "include": Key("LSWC_INCLUDE", '["path:/news/*"]', "URLs that match one of these only"),
    "exclude": Key("LSWC_EXCLUDE", '["path:/calendar/*", "query~(^|&)sort="]', "and none of these"),
    "archive": Key("LSWC_ARCHIVE", '"relevant"', '"all" pages, or "none"'),
    "operator": Key("LSWC_OPERATOR", '"National Library of Example"', "who runs the crawl"),
    "description": Key("LSWC_DESCRIPTION", '"..."', "what it is for; both are in the WARC files"),
    "web": Key("LSWC_WEB", '"demo"', "a frozen web instead of the real one"),
}
"""Keys of a crawl file, besides the table ``settings``."""

_GIVEN_BY = {key.stands_for: name for name, key in KEYS.items()}


class CrawlFileError(ConfigError):
    """Mistakes in a crawl file, a line each, with the file, the key and what is allowed."""


@dataclass(frozen=True)
class CrawlFile:
    """What a file says: the spider's ``arguments``, and ``settings``. ``path`` is as it was given.

    Paths within are those of where the command runs, as on the command line.
    """

    path: Path
    arguments: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)

    def key_of(self, setting: str) -> str:
        """Return the key that gives a setting, or an argument."""
        key = _GIVEN_BY.get(setting)
        return key if key and self.path.suffix != ".json" else setting

    def located(self, error: ConfigError) -> ConfigError:
        """Return a mistake with its place in this file, if one of its values is what is wrong."""
        said = str(error)
        given = [name for name in self.settings if name in said]
        if "lang" in self.arguments and isinstance(error, LanguageError):
            given = ["lang"]
        elif self.arguments.get("seeds") and self.arguments["seeds"] in said:
            given = ["seeds"]
        if not given:
            return error
        return CrawlFileError(f"{self.path}, {self.key_of(max(given, key=len))}: {said}")


def read(path: Path) -> CrawlFile:
    """Return what a crawl file says. Raises ConfigError, for all its mistakes together."""
    found = CrawlFile(path)
    wrong = list(_fill(found, _loaded(path)))
    if wrong:
        raise CrawlFileError("\n".join(f"{path}, {line}" for line in wrong))
    return found


def _loaded(path: Path) -> Mapping[str, Any]:
    try:
        with path.open("rb") as file:
            text = str(file.read(FILE_BYTES + 1), "utf-8-sig")
    except OSError as error:
        raise ConfigError(f"can't read {path}: {error.strerror}; `lswc new` writes one") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} isn't UTF-8: {error}") from error
    if len(text) > FILE_BYTES:
        raise ConfigError(f"{path} is larger than {FILE_BYTES:,} bytes: name a file of seeds in it")
    try:
        found = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {' '.join(str(error).split())}") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{path} isn't the settings.json of a crawl")
    return _of_earlier(found) if path.suffix == ".json" else found


def _of_earlier(found: dict[str, Any]) -> dict[str, Any]:
    """Return what a crawl was run with, as a crawl file says it."""
    keys = {name: found[name] for name in ("language", "seeds") if found.get(name)}
    return {**keys, "settings": {name: value for name, value in found.items() if name.isupper()}}


def _fill(file: CrawlFile, found: Mapping[str, Any]) -> Iterator[str]:
    """Take over what a file says; yield what is wrong with it."""
    for name, value in found.items():
        if name == "settings" and isinstance(value, dict):
            yield from _fill_settings(file, value)
        elif name in ("language", "seeds"):
            yield from _fill_argument(file, name, value)
        elif name in KEYS:
            yield from _set(file, KEYS[name].stands_for, value, name)
        elif name.isupper() or isinstance(value, dict):
            yield f"{name}: settings stand below a line [settings]"
        else:
            yield f"{name}: unknown key; {_meant(name, [*KEYS, 'settings'])}"
    if "language" not in found:
        yield 'language: say which, such as language = "th"'


def _fill_settings(file: CrawlFile, table: Mapping[str, Any]) -> Iterator[str]:
    for name, value in table.items():
        if name in file.settings:
            yield f"settings.{name}: {file.key_of(name)} says it already: leave one of them out"
        elif not name.isupper():
            yield f"settings.{name}: {_meant(name.upper(), list(_types()))}"
        else:
            yield from _set(file, name, value, f"settings.{name}")


def _fill_argument(file: CrawlFile, name: str, value: object) -> Iterator[str]:
    if isinstance(value, str) and value:
        file.arguments[KEYS[name].stands_for] = value
    elif isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        separator = "," if name == "language" else " "
        file.arguments[KEYS[name].stands_for] = separator.join(value)
    else:
        yield f"{name}: must be a text or a list of texts, not {_shown(value)}"


def _set(file: CrawlFile, setting: str, value: Any, where: str) -> Iterator[str]:
    default = _types().get(setting, "")
    if _is_nested(value) and not (_is_list(value) and not any(map(_is_nested, value))):
        yield f"{where}: must be a text, a number, true or false, or a list, not {_shown(value)}"
    elif isinstance(default, (list, tuple)) and not isinstance(value, str) and not _is_list(value):
        yield f"{where}: must be a list, not {_shown(value)}"
    elif isinstance(default, str) and (_is_list(value) or isinstance(value, bool)):
        yield f"{where}: must be a text, not {_shown(value)}"
    elif setting in file.settings:
        yield f"{where}: settings say it already: leave one of them out"
    else:
        is_text = isinstance(default, str) and not isinstance(value, str)
        file.settings[setting] = str(value) if is_text else value


def _types() -> dict[str, Any]:
    """Return the default of each setting, which says of what type it is."""
    return {n: v for n, v in (vars(default_settings) | vars(defaults)).items() if n.isupper()}


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _is_nested(value: object) -> bool:
    return not isinstance(value, (str, int, float))


def _meant(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, 1)
    few = len(known) <= len(KEYS) + 1
    known_ones = f"known: {', '.join(known)}" if few else "`lswc settings` names them"
    return f"do you mean {near[0]}?" if near else known_ones


def _shown(value: object) -> str:
    return repr(value)[:80]


HEAD = """\
# A crawl. `lswc crawl {name}` runs it, and goes on with it; with --dry-run it only says what it
# would do. A line that begins with # counts for nothing: it shows what may be said.
"""

_TITLES = {
    "contact": "Who crawls: a page about the crawl, or an e-mail address. Each request has it.",
    "pages": "Its bounds",
    "include": "Which URLs: path:, host:, query: or the whole, with * for anything; ~ for a regex",
    "archive": "What is kept, and in whose name",
}

_SETTINGS = """
# Any other setting: `lswc settings` explains them.
[settings]
"""


def new(name: str, values: Mapping[str, Any], settings: Mapping[str, Any] | None = None) -> str:
    """Return the text of a new crawl file of that name, with comments.

    ``values`` are those of keys, the language among them, and ``settings`` any others. What isn't
    given stands there as a comment.
    """
    import tomlkit  # not above: a crawl only reads

    def line(key: str, value: object) -> str:
        return f"{key} = {tomlkit.item(value).as_string()}"

    lang = values["language"]
    lines = [HEAD.format(name=name)]
    for key, (_, example, said) in KEYS.items():
        if key in _TITLES:
            lines.append(f"\n# {_TITLES[key]}")
        shown = f"# {key} = {example.format(lang=lang)}"
        if key in values:
            shown = line(key, values[key])
        lines.append(f"{shown:36}  # {said.format(lang=lang)}" if said else shown)
    others = [line(key, value) for key, value in (settings or {}).items()]
    return "\n".join([*lines, _SETTINGS + "\n".join(others or ["# DOWNLOAD_DELAY = 2.0"]), ""])
