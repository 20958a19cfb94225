"""Vietnamese in fonts that draw it for other letters: TCVN3 (ABC), VNI for Windows, VISCII.

Files name the letters of Windows-1252, or Windows-1258, whose code points such a font has others
for. Which font it was, the syllables tell: of text that is put into Unicode by the right table
most words are syllables, by another table few.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from lswc.language.encodings import text_of
from lswc.language.vietnamese import is_syllable

_CHARSETS = ("tcvn", "viscii")
_VNI = "vni"
_EXAMINED = 4_000  # characters
_LONGEST = 7  # letters of a syllable
_LEAST, _AHEAD = 0.7, 0.3  # of the words, and of them more than without a table
_MARKED = 0.2
_FEW, _GARBLED = 5, 0.3  # words with marks, and the share of them that are syllables
_CAPITALS = 0.7  # of a line's letters in ASCII
_WORD = re.compile(r"[^\W\d_]+")
_ANY_MARK = re.compile("[\x80-\uffff]")
# VNI for Windows: a letter, and a sign for its marks; some letters have both in one.
_SINGLE = dict(zip("ñÑöÖôÔæÆóÓòÒîÎ", "đĐưƯơƠỉỈĩĨịỊỵỴ", strict=True))
_GRAVE, _ACUTE, _HOOK, _TILDE, _DOT = "\u0300\u0301\u0309\u0303\u0323"
_CIRCUMFLEX, _BREVE = "\u0302\u0306"
_SIGNS = dict(zip(
    "øùûõïâàáåãäêèéúüë",
    [_GRAVE, _ACUTE, _HOOK, _TILDE, _DOT,
     *(_CIRCUMFLEX + tone for tone in ("", _GRAVE, _ACUTE, _HOOK, _TILDE, _DOT)),
     *(_BREVE + tone for tone in ("", _GRAVE, _ACUTE, _HOOK, _TILDE, _DOT))],
    strict=True,
))  # fmt: skip
_OF_VNI = re.compile("([aeouyAEOUYöÖôÔ])([øùûõïâàáåãäêèéúüëØÙÛÕÏÂÀÁÅÃÄÊÈÉÚÜË])|[ñÑöÖôÔæÆóÓòÒîÎ]")


def font_of(text: str, likely: str = "") -> str:
    """Return what a Vietnamese text is written in: tcvn, viscii or vni; "" if in Unicode.

    ``likely`` is what is beside it, for a text of too few words.
    """
    sample = text[:_EXAMINED]
    if not _ANY_MARK.search(sample):
        return ""
    own, _ = _syllables(sample)
    if own > 1 - _AHEAD:
        return ""
    shares = {name: _syllables(in_unicode(sample, name)) for name in (*_CHARSETS, _VNI)}
    best = max(shares, key=shares.__getitem__)
    share, marked = shares[best]
    if share >= max(_LEAST, own + _AHEAD) and marked >= _MARKED:
        return best
    return likely if likely and shares[likely][0] > own else ""


def in_unicode(text: str, font: str) -> str:
    """Return a text that is written in a font; what isn't a letter of it stays."""
    if font == _VNI:
        return unicodedata.normalize("NFC", _OF_VNI.sub(_letter, text.translate(_western())))
    written = _apart(text).translate(_table(font))
    lines = unicodedata.normalize("NFC", written).split("\n")
    return "\n".join(map(_capitalized, lines)) if font == "tcvn" else "\n".join(lines)


def is_garbled(text: str) -> bool:
    """Tell whether a text that seems Vietnamese has words with marks that hardly can be."""
    words = _WORD.findall(unicodedata.normalize("NFC", text[:_EXAMINED].lower()))
    marked = [word for word in words if not word.isascii()]
    right = sum(len(word) <= _LONGEST and is_syllable(word) for word in marked)
    return len(marked) >= _FEW and right < _GARBLED * len(marked)


def _syllables(text: str) -> tuple[float, float]:
    """Return the shares of a text's words that are syllables, and that are such with a mark.

    The latter is 0 if they are too few.
    """
    words = _WORD.findall(unicodedata.normalize("NFC", text.lower()))
    right = [word for word in words if len(word) <= _LONGEST and is_syllable(word)]
    marked = [word for word in right if not word.isascii()]
    number = len(words) or 1
    is_enough = sum(len(word) > 1 for word in marked) > 1
    return len(right) / number, len(marked) / number if is_enough else 0.0


def _letter(found: re.Match[str]) -> str:
    if not found[1]:
        return _SINGLE[found[0]]
    return _SINGLE.get(found[1], found[1]) + _SIGNS[found[2].lower()]


@cache
def _table(font: str) -> dict[int, str]:
    """Return the letters of a font by what Windows-1252, Latin-1 and Windows-1258 have there."""
    return {sign: text_of(bytes((code,)), font) for sign, code in _bytes().items()}


@cache
def _western() -> dict[int, str]:
    """Return what Windows-1252 has for what Windows-1258 has there."""
    return {sign: bytes((code,)).decode("cp1252", "ignore") for sign, code in _bytes().items()}


@cache
def _bytes() -> dict[int, int]:
    found = {}
    for code in range(0x80, 0x100):
        for charset in ("cp1258", "latin-1", "cp1252"):
            if sign := bytes((code,)).decode(charset, "ignore"):
                found[ord(sign)] = code
    return found


def _apart(text: str) -> str:
    """Return a text with the marks of Windows-1258 apart, as its bytes have them."""
    known = _bytes()
    return "".join(
        sign if sign < "\x80" or ord(sign) in known else _with_mark(sign, known) for sign in text
    )


def _with_mark(sign: str, known: dict[int, int]) -> str:
    apart = unicodedata.normalize("NFD", sign)
    base = unicodedata.normalize("NFC", apart[:-1])
    return base + apart[-1] if ord(apart[-1]) in known and len(base) == 1 else sign


def _capitalized(line: str) -> str:
    """Return a line with capitals where its font has them: ABC's tables have no others."""
    plain = [sign for sign in line if sign.isascii() and sign.isalpha()]
    if len(plain) > 1 and sum(map(str.isupper, plain)) > _CAPITALS * len(plain):
        return line.upper()
    return _WORD.sub(_as_a_word, line)


def _as_a_word(word: re.Match[str]) -> str:
    plain = [sign for sign in word[0] if sign.isascii()]
    return word[0].upper() if len(plain) > 1 and all(map(str.isupper, plain)) else word[0]
