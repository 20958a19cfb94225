"""Letters by script: one table over the code points, one count over a text."""

from __future__ import annotations

import unicodedata
from enum import IntEnum
from functools import cache

import numpy as np
import numpy.typing as npt


class Letters(IntEnum):
    """Classes of letters. NONE is everything else: digits, blanks, punctuation.

    VIETNAMESE are the letters that, of all languages in Latin script, nearly only Vietnamese
    writes; HAN_JAPANESE the ideographs of JIS X 0208 that GB 2312 and Big5 lack, HAN_CHINESE
    those of GB 2312 or Big5 that JIS X 0208 lacks.
    """

    NONE = 0
    LATIN = 1
    VIETNAMESE = 2
    OTHER = 3
    THAI = 4
    LAO = 5
    KHMER = 6
    MYANMAR = 7
    KANA = 8
    HAN = 9
    HAN_JAPANESE = 10
    HAN_CHINESE = 11
    HANGUL = 12


_VIETNAMESE = "ảẻỉỏủỷơưấầẩẫậắằẳẵặếềểễệốồổỗộớờởỡợứừửữự"
_BLOCKS = [
    (0x0041, 0x005A, Letters.LATIN),
    (0x0061, 0x007A, Letters.LATIN),
    (0x00C0, 0x00D6, Letters.LATIN),
    (0x00D8, 0x00F6, Letters.LATIN),
    (0x00F8, 0x024F, Letters.LATIN),
    (0x1E00, 0x1EFF, Letters.LATIN),
    (0x0E01, 0x0E3A, Letters.THAI),
    (0x0E40, 0x0E4E, Letters.THAI),
    (0x0E81, 0x0ECD, Letters.LAO),
    (0x0EDC, 0x0EDF, Letters.LAO),
    (0x1780, 0x17DD, Letters.KHMER),
    (0x1000, 0x103F, Letters.MYANMAR),
    (0x1050, 0x108F, Letters.MYANMAR),
    (0xA9E0, 0xA9FE, Letters.MYANMAR),
    (0xAA60, 0xAA7F, Letters.MYANMAR),
    (0x3041, 0x3096, Letters.KANA),
    (0x30A1, 0x30FA, Letters.KANA),
    (0xFF66, 0xFF9D, Letters.KANA),
    (0x3400, 0x9FFF, Letters.HAN),
    (0xF900, 0xFAFF, Letters.HAN),
    (0x1100, 0x11FF, Letters.HANGUL),
    (0x3131, 0x318E, Letters.HANGUL),
    (0xAC00, 0xD7A3, Letters.HANGUL),
]


def count(text: str) -> npt.NDArray[np.intp]:
    """Return how many letters of each class ``text`` has, indexed by Letters."""
    units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), "<u2")
    return np.bincount(_table()[units], minlength=len(Letters))


@cache
def characters(*classes: Letters) -> str:
    """Return all characters of some classes."""
    return "".join(map(chr, np.flatnonzero(np.isin(_table(), classes))))


@cache
def _table() -> npt.NDArray[np.uint8]:
    table = np.zeros(65_536, np.uint8)
    for code in range(65_536):
        if unicodedata.category(chr(code))[0] == "L":
            table[code] = Letters.OTHER
    for first, last, letters in _BLOCKS:
        table[first : last + 1] = letters
    for character in _VIETNAMESE + _VIETNAMESE.upper():
        table[ord(character)] = Letters.VIETNAMESE
    japanese, simplified, traditional = map(_repertoire, ("euc_jp", "gb2312", "big5"))
    _mark(table, japanese - simplified - traditional, Letters.HAN_JAPANESE)
    _mark(table, (simplified | traditional) - japanese, Letters.HAN_CHINESE)
    return table


def _mark(table: npt.NDArray[np.uint8], characters: set[str], letters: Letters) -> None:
    for character in characters:
        if table[ord(character)] == Letters.HAN:
            table[ord(character)] = letters


def _repertoire(codec: str) -> set[str]:
    pairs = (bytes((lead, trail)) for lead in range(0xA1, 0xFF) for trail in range(0x40, 0xFF))
    return set("".join(pair.decode(codec, "ignore") for pair in pairs))
