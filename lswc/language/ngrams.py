"""Tables of n-grams, one per language and encoding, as ``lswc.lab.methods.training`` makes them.

A table serves three measures: Cavnar & Trenkle's ranks of byte n-grams, the matching rate of
byte trigrams (Mon 2010's G2LI), and likelihoods of single characters, pairs and triples, which
tell apart encodings, and languages of one script.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from lswc.errors import ConfigError
from lswc.language.registry import cached_by_languages, own_folder

if TYPE_CHECKING:
    from collections.abc import Iterable
    from importlib.resources.abc import Traversable

TABLES = files(__package__).joinpath("tables")
"""Folder of the tables: ``<language>.<encoding>.json``."""

RANKED = 400
"""Byte n-grams in a Cavnar & Trenkle profile, as in their TextCat."""

_WORDS = re.compile(rb"[^\x00-\x20!-@\[-`{-\x7f]+")
_BEYOND_BMP = re.compile("[\U00010000-\U0010ffff]")
SLOTS = 65_536
"""Hashes of n-grams."""

_KNOWN = 0.98
_UNKNOWN = 0.02 / 5_000  # the rest, spread over the n-grams that a text might hold


@dataclass(frozen=True, slots=True)
class NgramTable:
    """N-grams of one language in one encoding.

    ``ranked`` are byte n-grams of 1 to 5, most frequent first, ``trigrams`` byte trigrams,
    ``characters`` counts of
    n-grams of 1 to 3 characters; bytes are written as Latin-1 characters.
    """

    language: str
    encoding: str
    ranked: list[str]
    trigrams: list[str]
    characters: dict[str, int]


class TableError(ConfigError):
    """A file of a user's that is no table of n-grams."""


@cached_by_languages
def tables() -> tuple[NgramTable, ...]:
    """Return all tables, the user's own among them, sorted by language and encoding.

    Of a language of ours that is the user's neighbour, both are there. Raises TableError for a file
    of the user's that is none.
    """
    own = own_folder()
    files: list[Traversable] = list(TABLES.iterdir())
    if own is not None and (own / "tables").is_dir():
        codes = {file.stem for file in own.glob("*.toml")}
        files = [file for file in files if file.name.partition(".")[0] not in codes]
        files += (own / "tables").iterdir()
    named = [file for file in files if file.name.endswith(".json")]
    return tuple(_table(file) for file in sorted(named, key=lambda file: file.name))


def _table(file: Traversable) -> NgramTable:
    try:
        return NgramTable(**json.loads(file.read_text("utf-8")))
    except (ValueError, TypeError) as error:
        raise TableError(f"{file}: no table of n-grams: {error}") from error


def byte_ngrams(text: bytes) -> Counter[bytes]:
    """Count the n-grams of 1 to 5 bytes of each word, ``_`` for the blanks around it.

    Cavnar & Trenkle 1994 §3: digits and punctuation are left out.
    """
    counts: Counter[bytes] = Counter()
    for word in _WORDS.findall(text):
        padded = b"_" + word + b"_"
        for size in range(1, 6):
            counts.update(padded[i : i + size] for i in range(len(padded) - size + 1))
    counts.pop(b"_", None)
    return counts


def ranked(text: bytes) -> list[str]:
    """Return a text's RANKED most frequent byte n-grams in order, ties by the n-gram itself."""
    counts = byte_ngrams(text)
    order = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [ngram.decode("latin-1") for ngram, _ in order[:RANKED]]


def byte_trigrams(text: bytes) -> list[str]:
    """Return a text's distinct byte trigrams, blanks run together, most frequent first."""
    words = b" ".join(text.split()).decode("latin-1")
    return [trigram for trigram, _ in Counter(map("".join, _triples(words))).most_common()]


def character_ngrams(text: str) -> Counter[str]:
    """Count a text's n-grams of 1 to 3 characters of the BMP, blanks run together."""
    text = " ".join(_BEYOND_BMP.sub(" ", text).split())
    pairs = map("".join, pairwise(text))
    return Counter(text) + Counter(pairs) + Counter(map("".join, _triples(text)))


def _triples(text: str) -> Iterable[tuple[str, str, str]]:
    return zip(text, text[1:], text[2:], strict=False)


def _slots(text: str) -> list[npt.NDArray[np.uint16]]:
    """Return hashes of the n-grams of 1, 2 and 3 characters that begin at each character.

    The last two characters of ``text`` begin none. Vectorised, so collisions are accepted.
    """
    units = np.frombuffer(text.encode("utf-16-le", "replace"), "<u2")
    first, second, third = units[:-2], units[1:-1], units[2:]
    pairs = first * np.uint16(31) + second + np.uint16(20_011)
    return [first, pairs, pairs * np.uint16(31) + third + np.uint16(40_009)]


def trigram_slots(text: str) -> npt.NDArray[np.uint16]:
    """Return a hash, below SLOTS, of the three characters from each on, but for the last two."""
    return _slots(text)[2]


def _spread(ngrams: dict[str, int], size: int) -> npt.NDArray[np.float64]:
    """Return the counts of n-grams of one size by their hash."""
    padded = "".join(ngram.ljust(3) for ngram in ngrams) + "  "
    slots = _slots(padded)[size - 1][::3]
    spread = np.zeros(SLOTS)
    np.add.at(spread, slots, list(ngrams.values()))
    return spread


def typical(members: list[NgramTable]) -> float:
    """Return the log-likelihood a character that text of a language's tables has itself.

    The mean over the n-grams that were counted; those that a table left out are unknown to it.
    """
    counts = Counter[str]()
    for table in members:
        counts.update(table.characters)
    whole = sum(count for ngram, count in counts.items() if len(ngram) == 1)
    likely = 0.0
    for size in (1, 2, 3):
        shares = [count / whole for ngram, count in counts.items() if len(ngram) == size]
        likely += sum(share * math.log(_KNOWN * share + _UNKNOWN) for share in shares)
        likely += (1 - sum(shares)) * math.log(_UNKNOWN)
    return likely


class Likelihoods:
    """Log-likelihoods of a text's character n-grams in several tables.

    Tables are grouped under names of the caller's; an n-gram that a group lacks counts the
    same for all.
    """

    def __init__(self, groups: dict[str, list[NgramTable]]) -> None:
        self.names = tuple(groups)
        self._logs = np.zeros((len(groups), SLOTS), np.float32)
        for row, members in enumerate(groups.values()):
            counts = np.zeros(SLOTS)
            total = 0
            for table in members:
                for size in (1, 2, 3):
                    ngrams = {n: c for n, c in table.characters.items() if len(n) == size}
                    counts += _spread(ngrams, size)
                    total += sum(ngrams.values()) if size == 1 else 0
            self._logs[row] = np.log(_KNOWN * counts / max(1, total) + _UNKNOWN)

    def scores(self, text: str) -> npt.NDArray[np.float32]:
        """Return the log-likelihood at each character of ``text``: groups x characters."""
        one, two, three = _slots(text + "  ")
        scores: npt.NDArray[np.float32] = (
            self._logs[:, one] + self._logs[:, two] + self._logs[:, three]
        )
        return scores
