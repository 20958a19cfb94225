"""URLs that may become seeds, as people's files name them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import can_ada

from lswc.errors import ConfigError
from lswc.progress import Say, silent
from lswc.urls import has_public_suffix, tld

if TYPE_CHECKING:
    from collections.abc import Callable, Container

URL_CHARACTERS = 2_000
"""Characters of the longest URL that is taken."""

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:(?!\d)")
_BARE = re.compile(r"[^\s/?#@:]+\.[^\s/?#@:.]+\.?(?::\d+)?(?:[/?#]\S*)?")


class SeedError(ConfigError):
    """A file that says nothing usable; the message says why."""


class Candidate(NamedTuple):
    """A URL that may become a seed.

    ``text`` is its title and description, "" if unknown. ``language`` is the code that the source
    gives it, None if it says nothing. ``weight`` is the source's evidence for it: how many links or
    pages stand behind it, or one divided by its rank. ``kind`` is one of ``lswc.seeds.kinds``, ""
    if the source doesn't say.
    """

    url: str
    text: str = ""
    language: str | None = None
    weight: float = 1.0
    kind: str = ""


@dataclass
class Asked:
    """What a reader is asked for, and where it counts what it passes over.

    ``tell`` gives the language of a page by its body, Content-Type and URL; None if it is in none
    of ``codes``. ``wrong`` hears the lines that are passed over because they name no URL. With
    ``dialects`` a macrolanguage (ISO 639-3) takes in all that it is made of.
    """

    codes: tuple[str, ...] = ()
    tell: Callable[[bytes, str, str], str | None] = lambda body, header, url: None
    passed: Counter[str] = field(default_factory=Counter)
    wrong: Callable[[str], None] = lambda line: None
    say: Say = silent
    dialects: bool = False


def written_url(text: str, suffixes: Container[str] = ()) -> str | None:
    """Return the URL that a person's text means: a URL, or a bare host with or without a path.

    A bare host must begin with "www." or be a name under a public suffix, or under one of
    ``suffixes``, so that numbers and words aren't taken for one; it is asked by http, from where
    https is a redirect away. None for anything else.
    """
    text = text.strip().strip("<>\"'")
    if _SCHEME.match(text):
        return text
    bare = text.removeprefix("//")
    if not _BARE.fullmatch(bare):
        return None
    try:
        parsed = can_ada.parse(f"http://{bare}")
    except (ValueError, TypeError):  # no URL, or surrogates
        return None
    host = parsed.hostname
    is_host = has_public_suffix(host) or host.startswith("www.") or tld(host) in suffixes
    return f"http://{bare}" if is_host else None
