"""Modules of AMD that a script names: those of RequireJS and Dojo, whose names end with no ``.js``.

``define(["app/list", "./item"], ...)``, ``require(["dojo/parser"])``; where folders are, a
configuration says (<https://requirejs.org/docs/api.html>): ``baseUrl``, ``paths``, ``packages``.
Each pattern's parts are bounded, so a search takes time by the length of a script.
"""

from __future__ import annotations

import re
from itertools import chain, islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LISTS = 50
"""Calls that are looked at: a built file has the modules of its own inside."""

_CALL = re.compile(
    r"(?<![\w$.])(?:define|require|requirejs|curl)\s{0,9}\(\s{0,9}"
    r"(?:[\"'](?P<own>[^\"'\\]{1,200})[\"']\s{0,9},\s{0,9})?\[(?P<names>[^\[\]]{0,8000})\]"
)
_LITERAL = re.compile(r"[\"']([\w./@!?=:&,*~ -]{1,300})[\"']")
_BASE = re.compile(r"\bbaseUrl[\"']?\s{0,9}:\s{0,9}[\"']([\w./:@-]{1,300})[\"']")
_PATHS = re.compile(r"\bpaths[\"']?\s{0,9}:\s{0,9}\{([^{}]{1,8000})\}")
_PACKAGE = re.compile(
    r"name[\"']?\s{0,9}:\s{0,9}[\"']([\w.-]{1,100})[\"']\s{0,9},\s{0,9}"
    r"location[\"']?\s{0,9}:\s{0,9}[\"']([\w./:@-]{1,300})[\"']"
)
_PAIR = re.compile(r"[\"']?([\w./@-]{1,100})[\"']?\s{0,9}:\s{0,9}[\"']([\w./:@-]{1,300})[\"']")
_OF_LOADER = frozenset({"require", "exports", "module", "domReady", "dojo/domReady"})
_OF_FILES = ("text", "css", "json", "html", "style")  # plugins whose names are those of files


def named(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the modules that a script names as files, and whether each is relative to the script.

    Else to its page.
    """
    base = _BASE.search(text)
    prefix = base[1].rstrip("/") + "/" if base else ""
    paths = _paths(text)
    calls = list(islice(_CALL.finditer(text), _LISTS))
    own = {call["own"] for call in calls}
    is_told = bool(base or paths)
    files = dict.fromkeys(chain.from_iterable(_files(call, own, is_told) for call in calls))
    folders = {file.partition("/")[0] for file in files}
    rest = (path for name, path in paths.items() if name not in folders and "/" in path)
    mapped = [_mapped(file, paths) for file in files]
    mapped += (path if path.endswith(".js") else f"{path}.js" for path in rest)
    for file in dict.fromkeys(mapped):
        yield _placed(file, prefix)


def _files(call: re.Match[str], own: set[str], is_told: bool) -> Iterator[str]:
    """Yield the files of the modules that a call names, but for those that are in the script.

    What a library needs, such as "jquery", whoever uses it knows: only a configuration says where.
    """
    for name in _LITERAL.findall(call["names"]):
        file = _file(name)
        if file is None or name in own:
            continue
        if is_told or "/" in file or not call[0].startswith("define"):
            yield file


def _paths(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for said in islice(_PATHS.finditer(text), 5):
        found |= dict(islice(_PAIR.findall(said[1]), 200))
    packages = islice(_PACKAGE.findall(text), 50)
    return found | dict(packages)


def _file(name: str) -> str | None:
    """Return the file of a module's name; None for a loader's own, or what isn't known."""
    plugin, mark, rest = name.partition("!")
    if mark and plugin.rpartition("/")[2] in _OF_FILES:
        return rest.partition("!")[0] or None
    name = plugin if mark else name
    if name in _OF_LOADER or name.endswith(("/", ".")) or " " in name or not name.strip("./"):
        return None
    return name if name.endswith((".js", ".json", ".css", ".html")) or "?" in name else f"{name}.js"


def _mapped(file: str, paths: dict[str, str]) -> str:
    """Return a file where the configuration says that it, or its package, is."""
    stem = file.removesuffix(".js")
    if stem in paths:
        path = paths[stem]
        return path if path.endswith(".js") else f"{path}.js"
    first, slash, rest = file.partition("/")
    return f"{paths[first].rstrip('/')}/{rest}" if slash and first in paths else file


def _placed(file: str, prefix: str) -> tuple[str, bool]:
    """Return a file below its folder, and whether that is relative to the script."""
    if file.startswith(("/", "http:", "https:", "//")):
        return file, False
    if file.startswith(".") and not prefix:
        return file, True
    return f"{prefix}{file}", not prefix
