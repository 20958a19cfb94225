"""Letters by script: one table over the code points, one count over a text."""

from __future__ import annotations

import unicodedata
from functools import cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from fontTools.unicodedata import Scripts, script_code

NAMES = ("", "Viet", "Jpan", "Hanz", *sorted(set(Scripts.VALUES) - {"Zyyy", "Zinh", "Zzzz"}))
"""Classes of letters: the scripts of Unicode by their ISO 15924 codes, and within them three.

``Viet`` are the letters that, of all languages in Latin script, nearly only Vietnamese writes;
``Jpan`` the ideographs of JIS X 0208 that GB 2312 and Big5 lack, or its common ones that are not
common in these; ``Hanz`` the same the other way round. Each standard has its common ones apart:
level 1. The first, nameless, is everything else: digits, blanks, punctuation.
"""

NONE, VIETNAMESE, HAN_JAPANESE, HAN_CHINESE = range(4)
LATIN, HAN, HANGUL, MYANMAR = map(NAMES.index, ("Latn", "Hani", "Hang", "Mymr"))
HIRAGANA, KATAKANA = map(NAMES.index, ("Hira", "Kana"))

_PARTS = {LATIN: (VIETNAMESE,), HAN: (HAN_JAPANESE, HAN_CHINESE)}

_VIETNAMESE = "ảẻỉỏủỷơưấầẩẫậắằẳẵặếềểễệốồổỗộớờởỡợứừửữự"
_SIZE = 0x110000
_BMP, _BMP_BYTES = 0x10000, 2
_DENSE = 0x20000  # from here on nearly all are ideographs, and categories take long to look up


@cache
def scripts_of(names: tuple[str, ...]) -> frozenset[int]:
    """Return the classes of letters of scripts by their Unicode names."""
    return frozenset(NAMES.index(script_code(name)) for name in names)


@cache
def with_parts(of: frozenset[int]) -> frozenset[int]:
    """Return classes of letters with those within them."""
    return of.union(*(_PARTS.get(script, ()) for script in of))


def count(text: str) -> npt.NDArray[np.intp]:
    """Return how many letters of each class ``text`` has, indexed as NAMES is."""
    return np.bincount(classes(text), minlength=len(NAMES))


def leading(text: str) -> int:
    """Return the class of most letters of a text, whole scripts alone; Latin if it has none."""
    counts = count(text)
    counts[NONE] = 0
    for script, parts in _PARTS.items():
        counts[script] += counts[list(parts)].sum()
        counts[list(parts)] = 0
    return int(counts.argmax()) if counts.any() else LATIN


def classes(text: str) -> npt.NDArray[np.uint8]:
    """Return the class of each character of ``text``."""
    return classes_of(points(text))


def classes_of(points: npt.NDArray[np.uint16 | np.uint32]) -> npt.NDArray[np.uint8]:
    """Return the class of each code point."""
    table = _table()
    if points.itemsize == _BMP_BYTES:
        # All of them are in this part; then no index need be checked, which takes half of the time.
        found: npt.NDArray[np.uint8] = table[:_BMP].take(points, mode="wrap")
        return found
    return table[points]


def points(text: str) -> npt.NDArray[np.uint16 | np.uint32]:
    """Return the code points of ``text``."""
    units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), "<u2")
    if len(units) == len(text):  # all in the Basic Multilingual Plane
        return units
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")


@cache
def characters(*of: int) -> str:
    """Return all characters of some classes."""
    points = np.flatnonzero(np.isin(_table(), of))
    return "".join(map(chr, points))


@cache
def _table() -> npt.NDArray[np.uint8]:
    table = np.zeros(_SIZE, np.uint8)
    for (first, end), name in zip(pairwise([*Scripts.RANGES, _SIZE]), Scripts.VALUES, strict=True):
        if name in NAMES:
            table[first:end] = NAMES.index(name)
    # Vowel signs are letters too; digits and punctuation aren't.
    points = np.flatnonzero(table[:_DENSE])
    kinds = map(unicodedata.category, map(chr, points.tolist()))
    table[points[[kind[0] not in "LM" for kind in kinds]]] = NONE
    for character in _VIETNAMESE + _VIETNAMESE.upper():
        table[ord(character)] = VIETNAMESE
    japanese, chinese = repertoire("euc_jp"), repertoire("gb2312") | repertoire("big5")
    common_japanese = repertoire("euc_jp", 0xB0, 0xCF)
    common_chinese = repertoire("gb2312", 0xB0, 0xD7) | repertoire("big5", 0xA4, 0xC6)
    _mark(table, (japanese - chinese) | (common_japanese - common_chinese), HAN_JAPANESE)
    _mark(table, (chinese - japanese) | (common_chinese - common_japanese), HAN_CHINESE)
    return table


def _mark(table: npt.NDArray[np.uint8], characters: set[str], kind: int) -> None:
    points = np.fromiter(map(ord, characters), np.intp)
    table[points[table[points] == HAN]] = kind


def repertoire(codec: str, first: int = 0xA1, last: int = 0xFE) -> set[str]:
    """Return the characters that a charset of one or two bytes a character has beyond ASCII.

    Of two bytes, the first is from ``first`` to ``last``.
    """
    # A line each, so that half of a pair takes nothing of the next one.
    pairs = np.full((last + 1 - first, 0xFF - 0x40, 3), ord("\n"), np.uint8)
    pairs[:, :, 0] = np.arange(first, last + 1)[:, None]
    pairs[:, :, 1] = np.arange(0x40, 0xFF)
    return {letter for letter in pairs.tobytes().decode(codec, "ignore") if letter >= "\x80"}
