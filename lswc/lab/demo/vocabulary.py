"""Words and sentences of the demo web's languages, and Burmese in Zawgyi's code points."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random


@dataclass(frozen=True)
class Vocabulary:
    """A language's words; ``parts`` are lists by name, and a part may name others in braces."""

    home: str
    next: str
    previous: str
    end: str
    parts: Mapping[str, list[str]]

    def pick(self, part: str, random: Random) -> str:
        """Return one of the part's lines, the parts it names filled in."""
        line = random.choice(self.parts[part])
        while "{" in line:
            line = re.sub(r"\{(\w+)\}", lambda name: random.choice(self.parts[name[1]]), line)
        return line

    def sentence(self, random: Random) -> str:
        """Return a sentence."""
        text = self.pick("patterns", random) + self.end
        return text[0].upper() + text[1:]


def _read() -> dict[str, Vocabulary]:
    text = (files(__package__) / "words.toml").read_text("utf-8")
    return {code: _vocabulary(words) for code, words in tomllib.loads(text).items()}


def _vocabulary(words: Mapping[str, Any]) -> Vocabulary:
    parts = {name: lines for name, lines in words.items() if isinstance(lines, list)}
    return Vocabulary(**{name: words[name] for name in words.keys() - parts}, parts=parts)


VOCABULARIES = _read()
"""By language code."""

# Zawgyi puts the vowel sign e and medial ra before their consonant, and kinzi after it.
SYLLABLE = re.compile("(င်္)?([က-ဪဿ])(ျ?)(ြ?)(ွ?)(ှ?)(ေ?)")
KINZI = "\u1064"
ZAWGYI = str.maketrans({"ျ": "\u103a", "ြ": "\u103b", "ွ": "\u103c", "ှ": "\u103d", "်": "\u1039"})


def zawgyi(text: str) -> str:
    """Rewrite Unicode Burmese in Zawgyi's code points; no stacked consonants but kinzi."""
    return SYLLABLE.sub(_reordered, text.replace("ါ်", "\u105a")).translate(ZAWGYI)


def _reordered(syllable: re.Match[str]) -> str:
    kinzi, consonant, ya, ra, wa, ha, e = syllable.groups()
    return f"{e}{ra}{consonant}{KINZI if kinzi else ''}{ya}{wa}{ha}"
