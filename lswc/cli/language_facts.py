"""Facts of each language, for people: names, scripts, seeds, how it is identified, and how well."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from lswc.corpus.programs import readers
from lswc.crawl.seed_files import addresses, list_of
from lswc.language import registry
from lswc.language.registry import detectable, known, language

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lswc.language.registry import Language

BY_LETTERS, BY_TABLE, BY_CLD2 = "letters", "n-grams", "CLD2"
"""How a language is identified: its letters are its own, or a table of lswc's, or CLD2 does it."""

_OWN_LETTERS = frozenset({"ja", "ko", "zh", "vi"})  # beside those whose script is theirs alone
_SHARED_TABLES = "Myanmar"  # its languages have one script, and a table each
_CC_TLDS = {"GB": "uk"}


class Measured(NamedTuple):
    """Precision and recall in %, and of how many pieces of 200 characters."""

    precision: int
    recall: int
    pieces: int


@dataclass(frozen=True)
class LanguageFacts:
    """What is known of a language.

    ``own_name`` is its name in itself, "" if unknown; ``seeds`` counts those of its list, and
    ``list_name`` is that; ``told_by`` is one of BY_LETTERS, BY_TABLE, BY_CLD2.
    """

    language: Language
    own_name: str
    scripts: tuple[str, ...]
    countries: tuple[str, ...]
    seeds: int
    list_name: str
    told_by: str
    measured: Measured | None

    @property
    def tlds(self) -> tuple[str, ...]:
        """The top-level domains that a crawl takes for the language's own."""
        return self.language.tlds

    @property
    def country_tlds(self) -> tuple[str, ...]:
        """Those of its countries."""
        return tuple(_CC_TLDS.get(code, code.lower()) for code in self.countries)


def every() -> list[LanguageFacts]:
    """Return what is known of each language, by code."""
    return [facts(language(code)) for code in known()]


def facts(of: Language) -> LanguageFacts:
    """Return what is known of one language. Raises ConfigError for a list that can't be read."""
    described = _described().get(of.code, {})
    scripts = of.scripts or tuple(described.get("scripts", ()))
    found, measured = list_of(of), described.get("measured")
    return LanguageFacts(
        language=of,
        own_name=described.get("own", ""),
        scripts=scripts,
        countries=tuple(described.get("countries", ())),
        seeds=len(addresses(found)) if found is not None else 0,
        list_name=f"seeds/{found.name}" if found is not None else "",
        told_by=_told_by(of),
        measured=Measured(*measured) if measured and not _is_own(of) else None,
    )


def _told_by(of: Language) -> str:
    has_script = any(_owners().get(script) == [of.code] for script in of.scripts)
    if has_script or (of.code in _OWN_LETTERS and not _is_own(of)):
        return BY_LETTERS
    if _SHARED_TABLES in of.scripts or _is_own(of) or of.code not in detectable():
        return BY_TABLE
    return BY_CLD2


def _is_own(of: Language) -> bool:
    """Tell whether a language is the user's."""
    own = registry.own_folder()
    return own is not None and (own / f"{of.code}.toml").exists()


@registry.cached_by_languages
def _owners() -> dict[str, list[str]]:
    """Return the languages that are written in each script."""
    owners: dict[str, list[str]] = {}
    for code in known():
        described = _described().get(code, {}).get("scripts", ())
        for script in {*language(code).scripts, *described}:
            owners.setdefault(script, []).append(code)
    return owners


@cache
def _described() -> Mapping[str, dict[str, Any]]:
    text = files("lswc.language").joinpath("described.toml").read_text("utf-8")
    return tomllib.loads(text)


def lines(of: LanguageFacts) -> dict[str, str]:
    """Return all that is known of a language, and what to do where something lacks."""
    code, measured = of.language.tag, of.measured
    well = (
        f"precision {measured.precision} %, recall {measured.recall} %, of {measured.pieces} pieces"
        if measured
        else "not measured: `lswc identify --evaluate` does it on texts of yours"
    )
    lists = f"{of.seeds:,}, {of.list_name}" if of.seeds else "none: " + _FIRST.format(code=code)
    return {
        "code": code,
        "name": of.language.name + (f", {of.own_name}" if of.own_name else ""),
        "variants": ", ".join(v.tag for v in of.language.variants) or "none",
        "scripts": ", ".join(of.scripts) or "not known: name them in a <code>.toml of yours",
        "identified by": _HOW[of.told_by],
        "200 characters": well,
        "seeds": lists,
        "domains": ", ".join(f".{name}" for name in of.tlds) or _NO_TLDS,
        "countries": ", ".join(
            f"{country} (.{name})"
            for country, name in zip(of.countries, of.country_tlds, strict=True)
        )
        or "not known",
        **{
            one.reads: f"{one.name} needs {one.lacks}"
            if one.lacks
            else f"`lswc corpus --program {one.name}`"
            for one in readers(of.language.code)
        },
    }


_FIRST = (
    "git clone https://github.com/commoncrawl/web-languages && "
    "lswc seeds --lang {code} --from web-languages web-languages"
)
_HOW = {
    BY_LETTERS: "its letters, which are its own",
    BY_TABLE: "n-grams of its letters; `lswc learn-language` makes a table of a text of yours",
    BY_CLD2: "CLD2; `lswc learn-language` makes a table of a text of yours, if that isn't enough",
}
_NO_TLDS = "none that is its own: links are judged without"

DOCS_HEAD = """\
# All languages

`lswc languages` prints this table. `lswc languages cy` shows one language, and what to do if
something is missing. See [languages](../languages.md) and [seeds](../seeds.md).

*Told by* is how lswc recognises the language: by letters that only it has, by n-grams (a table of
lswc's), or by CLD2. P and R are precision and recall in %. They were measured on pieces of 200
characters of the Universal Declaration of Human Rights: every second text, from which nothing was
learned. The number of pieces is in brackets. With few pieces, a figure says little. *Countries* are
ISO 3166 codes of up to four in which the language is official, or a twentieth of the people speak
it (CLDR). *Domains* are those that a crawl takes for the language's own.

This page is made from the code, by `python -m lswc.cli.reference docs`.

| code | name | in itself | scripts | seeds | identified by | P, R | domains | countries |
|---|---|---|---|---|---|---|---|---|
"""


def docs_page() -> str:
    """Return docs/lab/language-list.md."""
    return DOCS_HEAD + "".join(f"| {' | '.join(row(one))} |\n" for one in every())


def row(of: LanguageFacts) -> tuple[str, ...]:
    """Return a language's row in the table of all."""
    measured = of.measured
    return (
        of.language.code,
        of.language.name,
        of.own_name,
        ", ".join(of.scripts),
        f"{of.seeds}" if of.seeds else "",
        of.told_by,
        f"{measured.precision}, {measured.recall} ({measured.pieces})" if measured else "",
        " ".join(f".{name}" for name in of.tlds[:3]),
        " ".join(of.countries[:4]),
    )


HEADS = (
    "code",
    "name",
    "in itself",
    "scripts",
    "seeds",
    "identified by",
    "P, R",
    "domains",
    "countries",
)
"""Heads of the table of all languages."""
