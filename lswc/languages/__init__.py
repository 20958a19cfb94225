"""The languages lswc can collect: one TOML file each, and whatever else the detector knows."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import pycld2

from lswc.errors import ConfigError

_RENAMED = {"iw": "he", "jw": "jv"}  # CLD2 keeps codes that ISO 639 withdrew
_JOKES = frozenset({"tlh", "zzp"})  # Klingon and Pig Latin


class LanguageError(ConfigError):
    """No such language; the message lists the known ones."""


@dataclass(frozen=True, slots=True)
class Language:
    """A language to collect.

    ``code`` is ISO 639. ``scripts`` are Unicode script names, ``charsets`` WHATWG or IANA
    names of charsets that are used for this language alone, ``tlds`` top-level domains in
    their ASCII form, ``fonts`` names of fonts with an encoding of their own, ``tags`` the BCP 47
    tags to ask servers by, if the code isn't the only one. The last five may be empty.
    """

    code: str
    name: str
    scripts: tuple[str, ...] = ()
    charsets: tuple[str, ...] = ()
    tlds: tuple[str, ...] = ()
    fonts: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def accepted(self) -> str:
        """What to ask servers for in Accept-Language (RFC 9110 §12.5.4): this, else anything."""
        return ", ".join([*(self.tags or (self.code,)), "*;q=0.5"])


def language(code: str) -> Language:
    """Return the language of an ISO 639 code such as ``th``. Raises LanguageError."""
    languages = _languages()
    if code not in languages:
        raise LanguageError(f"unknown language {code!r}; known: {', '.join(languages)}")
    return languages[code]


def known() -> tuple[str, ...]:
    """Return the codes of all languages, sorted."""
    return tuple(_languages())


@cache
def _languages() -> dict[str, Language]:
    languages = {code: Language(code, name) for name, code in _detectable()}
    for file in files(__name__).iterdir():
        if file.name.endswith(".toml"):
            entry = _read(file.name.removesuffix(".toml"), file.read_text("utf-8"))
            languages[entry.code] = entry
    return dict(sorted(languages.items()))


def _read(code: str, text: str) -> Language:
    fields = tomllib.loads(text)
    lists = {key: tuple(value) for key, value in fields.items() if isinstance(value, list)}
    return Language(code, fields["name"], **lists)


def _detectable() -> list[tuple[str, str]]:
    """Return name and code of the languages CLD2 detects; its entries with a hyphen are scripts."""
    detected = {name.upper() for name in pycld2.DETECTED_LANGUAGES}
    return [
        (name.replace("_", " ").title(), _RENAMED.get(code, code))
        for name, code in pycld2.LANGUAGES
        if name.upper() in detected and code.isalpha() and code not in _JOKES
    ]
