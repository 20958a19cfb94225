"""Names of languages in URLs and pages: codes, countries, names (``names.toml``)."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

LONGEST_CODE = 3
NOBODY: frozenset[str] = frozenset()


@cache
def codes() -> Mapping[str, frozenset[str]]:
    """Return the languages that a code may stand for, by codes of languages and countries.

    In lower case; languages by their ISO 639 codes.
    """
    table = _table()
    own = {code: [code] for kind in table.values() for code in kind}
    return _inverse(own, table["codes"], table["countries"])


@cache
def names() -> Mapping[str, frozenset[str]]:
    """Return the languages that a name may stand for, by names in lower case.

    Without names of three Latin letters, such as Ewe: they are other words too.
    """
    found = _inverse(_table()["names"])
    return {name: languages for name, languages in found.items() if not _is_short(name)}


@cache
def countries() -> frozenset[str]:
    """Return the codes of countries that stand for a language."""
    return frozenset(code for listed in _table()["countries"].values() for code in listed)


@cache
def _table() -> dict[str, dict[str, list[str]]]:
    text = files("lswc.language").joinpath("names.toml").read_text("utf-8")
    return tomllib.loads(text)


def _inverse(*tables: Mapping[str, list[str]]) -> dict[str, frozenset[str]]:
    languages: dict[str, frozenset[str]] = {}
    for table in tables:
        for language, words in table.items():
            for word in words:
                languages[word] = languages.get(word, NOBODY) | {language}
    return languages


def _is_short(name: str) -> bool:
    return name.isascii() and len(name) <= LONGEST_CODE
