"""Modules of AMD that a script names: of RequireJS, Dojo and curl. Their names end with no ``.js``.

``define(["app/list", "./item"], ...)``, ``require(["dojo/parser"])``; where folders are, a
configuration says (<https://requirejs.org/docs/api.html>): ``baseUrl``, ``paths``, ``packages``. It
may stand in another script of the page. Each pattern's parts are bounded, so a search takes time by
the length of a script.
"""

from __future__ import annotations

import re
from bisect import bisect
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from lswc.language.base_url import Base

if TYPE_CHECKING:
    from collections.abc import Iterator

_LISTS = 50
"""Calls that are looked at."""

_OWN = 2_000
"""Modules that a built file has inside."""

_MOST_PATHS = 300

_ID = r"[\"']([^\"'\\\s]{1,200})[\"']"
_CALL = re.compile(
    r"(?<![\w$.])(?:define|require|requirejs|curl)\s{0,9}\(\s{0,9}"
    r"(?:[\"'](?P<own>[^\"'\\]{1,200})[\"']\s{0,9},\s{0,9})?\[(?P<names>[^\[\]]{0,8000})\]"
)
# What a built file has: define("name", ...), or Dojo's "name":function(){ define(...
_DEFINED = re.compile(
    rf"(?<![\w$.])define\s{{0,9}}\(\s{{0,9}}{_ID}"
    rf"|{_ID}\s{{0,9}}:\s{{0,9}}function\s{{0,9}}\(\s{{0,9}}\)\s{{0,9}}\{{"
)
_WRAPPED = re.compile(
    rf"(?<![\w$.])define\s{{0,9}}\((?:{_ID}\s{{0,9}},)?\s{{0,9}}function\s{{0,9}}\w*\s{{0,9}}\(\s{{0,9}}require\b"
)
_REQUIRED = re.compile(rf"(?<![\w$.])require\s{{0,9}}\(\s{{0,9}}{_ID}\s{{0,9}}\)")
_LITERAL = re.compile(r"[\"']([\w./@!?=:&,*~ -]{1,300})[\"']")
# One of two that depends on the page's own folder is the first.
_BASE = re.compile(
    r"\bbaseUrl[\"']?\s{0,9}:\s{0,9}(?:[^?{},\n]{1,200}\?\s{0,9})?[\"']([\w./:@-]{1,300})[\"']"
)
_PATHS = re.compile(r"\bpaths[\"']?\s{0,9}:\s{0,9}\{([^{}]{1,8000})\}")
_DEPS = re.compile(r"\bdeps[\"']?\s{0,9}:\s{0,9}\[(?P<names>[^\[\]]{0,2000})\]")
_PACKAGE = re.compile(
    r"name[\"']?\s{0,9}:\s{0,9}[\"']([\w.-]{1,100})[\"']\s{0,9},\s{0,9}"
    r"location[\"']?\s{0,9}:\s{0,9}[\"']([\w./:@-]{1,300})[\"']"
)
_PAIR = re.compile(r"[\"']?([\w./@-]{1,100})[\"']?\s{0,9}:\s{0,9}[\"']([\w./:@-]{1,300})[\"']")
_CONFIGURED = re.compile(
    r"\b(?:require|requirejs|curl)(?:\.config)?\s{0,9}\(\s{0,9}\{"
    r"|\b(?:require|requirejs|curl|dojoConfig|djConfig)\s{0,9}[=:]\s{0,9}\{"
)
_OF_LOADER = frozenset({"require", "exports", "module", "domReady", "dojo/domReady"})
_OF_FILES = ("text", "css", "json", "html", "style")  # plugins whose names are those of files


class Config(NamedTuple):
    """Where modules are: the URL of the folder that names lead from, "" if nobody says; and paths.

    ``packages`` are among the paths. ``shown`` are modules that the page's own elements name.
    """

    base: str = ""
    paths: tuple[tuple[str, str], ...] = ()
    packages: frozenset[str] = frozenset()
    shown: tuple[str, ...] = ()


def names_modules(text: str) -> bool:
    """Tell whether a script may name modules at all."""
    return "define" in text or "require" in text or "curl" in text


def configured(text: str, config: Config, page: Base) -> Config:
    """Return the configuration of a page once a script, or an attribute, was read.

    ``baseUrl`` is relative to the page.
    """
    if "paths" not in text and "baseUrl" not in text and "packages" not in text:
        return config
    begins = _CONFIGURED.search(text)  # a loader itself has folders, too, which are nobody's
    if begins is None:
        return config
    said = _BASE.search(text, begins.start())
    packages = dict(islice(_PACKAGE.findall(text, begins.start()), 50))
    paths = dict(config.paths)
    for one in islice(_PATHS.finditer(text, begins.start()), 5):
        paths |= dict(islice(_PAIR.findall(one[1]), 200))
    paths |= packages
    base = page.join(said[1].rstrip("/") + "/") if said else config.base or page.join(".")
    kept = tuple(islice(paths.items(), _MOST_PATHS))
    return Config(base, kept, config.packages | packages.keys(), config.shown)


def main_of(name: str, page: Base) -> tuple[Config, str]:
    """Return what ``data-main`` says: a file, and that names lead from its folder."""
    url = page.join(name if name.endswith(".js") else f"{name}.js")
    return Config(Base(url).join(".")), url


def named(text: str, own: Base, config: Config) -> Iterator[str]:
    """Yield the URLs of the modules that a script names.

    ``own`` is what its relative names lead from, ``config`` that of its page, with what the script
    says itself.
    """
    defined = [
        (found.start(), found[1] or found[2]) for found in islice(_DEFINED.finditer(text), _OWN)
    ]
    inside = _Inside([place for place, _ in defined], [name for _, name in defined])
    calls = islice(chain(_CALL.finditer(text), _DEPS.finditer(text)), _LISTS)
    names = (name for call in calls for name in _of_call(call, inside, bool(config.base)))
    wrapped = _REQUIRED.finditer(text) if _WRAPPED.search(text) else ()
    named = chain(
        names, (inside.whole(one[1], one.start()) for one in islice(wrapped, 10 * _LISTS))
    )
    own_names = inside.own
    every = chain.from_iterable(map(_with_plugin, named))
    files = dict.fromkeys(filter(None, map(_file, (n for n in every if n not in own_names))))
    for file in files:
        yield placed(file, own, config)
    if _CONFIGURED.search(text):
        for name in config.shown:
            yield placed(f"{name}.js", own, config)
    if config.paths and _PATHS.search(text):
        folders = {file.partition("/")[0] for file in files}
        for name, path in config.paths:
            if f"{name}.js" in files or name in folders or name in config.packages:
                continue
            if "/" in path:
                yield placed(f"{name}.js", own, config)


class _Inside(NamedTuple):
    """The modules that a script has inside, by where each begins."""

    places: list[int]
    names: list[str]

    @property
    def own(self) -> set[str]:
        return set(self.names)

    def whole(self, name: str, place: int) -> str:
        """Return a name that stands at a place: relative to the module inside, if it is."""
        before = bisect(self.places, place) - 1
        if name[:1] != "." or before < 0:
            return name
        parts = self.names[before].split("/")[:-1]
        for part in name.split("/"):
            if part == ".." and parts:
                parts.pop()
            elif part not in (".", ".."):
                parts.append(part)
        return "/".join(parts)


def _of_call(call: re.Match[str], inside: _Inside, is_told: bool) -> Iterator[str]:
    """Yield the modules that a call names.

    What a library needs, such as "jquery", whoever uses it knows: only a configuration says where.
    """
    for name in _LITERAL.findall(call["names"]):
        if is_told or "/" in name or not call[0].startswith("define"):
            yield inside.whole(name, call.start())


def _with_plugin(name: str) -> tuple[str, ...]:
    """Return a module's name, and the plugin that loads it: ``text!list.html`` needs ``text``."""
    plugin, mark, _ = name.partition("!")
    return (name, plugin) if mark else (name,)


def _file(name: str) -> str | None:
    """Return the file of a module's name; None for a loader's own, or what isn't known."""
    plugin, mark, rest = name.partition("!")
    if mark and plugin.rpartition("/")[2] in _OF_FILES:
        return rest.partition("!")[0] or None
    name = plugin if mark else name
    if name in _OF_LOADER or name.endswith(("/", ".")) or " " in name or not name.strip("./"):
        return None
    return name if name.endswith((".js", ".json", ".css", ".html")) or "?" in name else f"{name}.js"


def placed(file: str, own: Base, config: Config) -> str:
    """Return the URL of a file where the configuration says that it, or its package, is."""
    if file.startswith(("./", "../")):
        return own.join(file)
    base = Base(config.base) if config.base else own
    paths = dict(config.paths)
    stem = file.removesuffix(".js")
    if stem in paths:
        path = paths[stem]
        return base.join(path if path.endswith(".js") else f"{path}.js")
    first, slash, rest = file.partition("/")
    if slash and first in paths:
        file = f"{paths[first].rstrip('/')}/{rest}"
    return base.join(file)
