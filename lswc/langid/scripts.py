"""Letters by script: one table over the code points, one count over a text.

Scripts of one language decide alone; Han is told apart by the characters that only the
Japanese or only the Chinese standards have, Burmese from Shan, Mon, Karen and Pa'O by the
letters that only those write.
"""

from __future__ import annotations

import unicodedata
from enum import IntEnum
from functools import cache

import numpy as np
import numpy.typing as npt


class Letters(IntEnum):
    """Classes of letters. NONE is everything else: digits, blanks, punctuation."""

    NONE = 0
    LATIN = 1
    VIETNAMESE = 2
    OTHER = 3
    THAI = 4
    LAO = 5
    KHMER = 6
    MYANMAR = 7
    SHAN = 8
    MON = 9
    KAREN = 10
    PAO = 11
    KANA = 12
    HAN = 13
    HAN_JAPANESE = 14
    HAN_CHINESE = 15
    HANGUL = 16


_VIETNAMESE = "ăđĩũơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ"


def count(text: str) -> npt.NDArray[np.intp]:
    """Return how many letters of each class ``text`` has, indexed by Letters."""
    units = np.frombuffer(text.encode("utf-16-le", "surrogatepass"), np.uint16)
    return np.bincount(_table()[units], minlength=len(Letters))


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
    _han(table)
    return table


_BLOCKS = [
    (0x41, 0x5A, Letters.LATIN),
    (0x61, 0x7A, Letters.LATIN),
    (0xC0, 0xD6, Letters.LATIN),
    (0xD8, 0xF6, Letters.LATIN),
    (0xF8, 0x24F, Letters.LATIN),
    (0x1E00, 0x1EFF, Letters.LATIN),
    (0x0E01, 0x0E3A, Letters.THAI),
    (0x0E40, 0x0E4E, Letters.THAI),
    (0x0E81, 0x0ECD, Letters.LAO),
    (0x0EDC, 0x0EDF, Letters.LAO),
    (0x1780, 0x17DD, Letters.KHMER),
    (0x1000, 0x103F, Letters.MYANMAR),
    (0x1050, 0x1059, Letters.MYANMAR),
    (0x105A, 0x1060, Letters.MON),
    (0x1028, 0x1028, Letters.MON),
    (0x1033, 0x1034, Letters.MON),
    (0x1061, 0x1074, Letters.KAREN),
    (0x1075, 0x108F, Letters.SHAN),
    (0xA9E0, 0xA9FE, Letters.SHAN),
    (0xAA60, 0xAA7A, Letters.SHAN),
    (0xAA7B, 0xAA7B, Letters.PAO),
    (0xAA7C, 0xAA7F, Letters.SHAN),
    (0x3041, 0x3096, Letters.KANA),
    (0x30A1, 0x30FA, Letters.KANA),
    (0xFF66, 0xFF9D, Letters.KANA),
    (0x3400, 0x9FFF, Letters.HAN),
    (0xF900, 0xFAFF, Letters.HAN),
    (0x1100, 0x11FF, Letters.HANGUL),
    (0x3131, 0x318E, Letters.HANGUL),
    (0xAC00, 0xD7A3, Letters.HANGUL),
]


def _han(table: npt.NDArray[np.uint8]) -> None:
    """Mark the characters that JIS X 0208 has and GB 2312 and Big5 lack, and the reverse."""
    japanese, simplified, traditional = map(_repertoire, ("euc_jp", "gb2312", "big5"))
    for characters, letters in (
        (japanese - simplified - traditional, Letters.HAN_JAPANESE),
        ((simplified | traditional) - japanese, Letters.HAN_CHINESE),
    ):
        for character in characters:
            if table[ord(character)] == Letters.HAN:
                table[ord(character)] = letters


def _repertoire(codec: str) -> set[str]:
    pairs = (bytes((lead, trail)) for lead in range(0xA1, 0xFF) for trail in range(0x40, 0xFF))
    return set("".join(pair.decode(codec, "ignore") for pair in pairs))
