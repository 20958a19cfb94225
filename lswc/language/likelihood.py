"""Likelihood of the text that a charset makes of bytes, in the languages that go with it.

Of bytes in another charset it makes rare letters, in an order that no language has. So the
charset explains bytes best whose text is likeliest (a noisy channel, as Kikui 1996, Identifying
the coding system and language of on-line documents on the Internet, has it). Likelihoods are of
letters after letters, by the tables of the languages; markup and blanks count nothing.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lswc.language import scripts
from lswc.language.encodings import text_of
from lswc.language.ngrams import SLOTS, tables
from lswc.language.registry import cached_by_languages
from lswc.language.scripts import (
    HAN,
    HAN_CHINESE,
    HAN_JAPANESE,
    HANGUL,
    HIRAGANA,
    KATAKANA,
    LATIN,
    VIETNAMESE,
    repertoire,
)

_WEST = ("af", "ca", "da", "de", "en", "es", "eu", "fi", "fr", "is", "it", "nl", "no", "pt", "sv")
_MIDDLE = ("cs", "hr", "hu", "pl", "ro", "sk", "sl")
_CYRILLIC = ("bg", "ru", "sr", "uk")
_ARABIC = ("ar", "fa", "ur")
LANGUAGES = {
    "windows-874": ("th",),
    "shift_jis": ("ja",),
    "euc-jp": ("ja",),
    "gb18030": ("zh",),
    "big5": ("zh",),
    "euc-kr": ("ko",),
    "windows-1251": _CYRILLIC,
    "koi8-r": _CYRILLIC,
    "koi8-u": _CYRILLIC,
    "iso-8859-5": _CYRILLIC,
    "ibm866": _CYRILLIC,
    "x-mac-cyrillic": _CYRILLIC,
    "windows-1253": ("el",),
    "iso-8859-7": ("el",),
    "windows-1255": ("he",),
    "iso-8859-8": ("he",),
    "iso-8859-8-i": ("he",),
    "windows-1256": _ARABIC,
    "iso-8859-6": _ARABIC,
    "windows-1258": ("vi",),
    "viscii": ("vi",),
    "tcvn": ("vi",),
    "windows-1250": _MIDDLE,
    "iso-8859-2": _MIDDLE,
    "iso-8859-16": ("ro",),
    "windows-1257": ("et", "lt", "lv"),
    "iso-8859-13": ("et", "lt", "lv"),
    "iso-8859-4": ("et", "lt", "lv"),
    "windows-1254": ("tr", *_WEST),
    "iso-8859-3": ("eo",),
    "iso-8859-10": ("et", "fi", "is", "lt", "lv", "no", "sv"),
    "iso-8859-14": ("cy",),
    "windows-1252": _WEST,
    "iso-8859-15": _WEST,
    "macintosh": _WEST,
}
"""Languages of which there are tables, by the charsets that pages in them come in."""

# What is written in a charset of the scripts beside those letters that the tables have.
_COMMON = {
    "th": "\u0e01-\u0e3a\u0e3f-\u0e5b",
    "ja": "\u3041-\u3096\u30a1-\u30fc\uff9e\uff9f",
    "zh": "",
    "ko": "",
    "el": "\u0384-\u03ce",
    "he": "\u05d0-\u05ea",
    "eo": "ĈĉĜĝĤĥĴĵŜŝŬŭ",
    "vi": "À-ÃÈ-ÊÌÍÒ-ÕÙÚÝà-ãè-êìíò-õùúýĂăĐđĨĩŨũƠơƯưẠ-ỹ",
    **dict.fromkeys(_CYRILLIC, "\u0400-\u045f\u0490\u0491"),
    **dict.fromkeys(_ARABIC, "\u0621-\u063a\u0641-\u0652\u067e\u0686\u0698\u06a9\u06af\u06cc"),
}
_REPERTOIRES = {
    "ja": (("euc_jp", 0xB0, 0xCF),),
    "zh": (("gb2312", 0xB0, 0xD7), ("big5", 0xA4, 0xC6)),
    "ko": (("euc_kr", 0xB0, 0xC8),),
}
_LATIN = "À-ÖØ-öø-ſȘ-ț"
_EAST_ASIAN_SIGNS = (
    "\u00a2-\u00b7\u00d7\u00f7\u2010-\u2312\u2460-\u2670\u3000-\u3020\u30fb"
    "\uff01-\uff5e\uffe0-\uffe5"
)
_SIGNS = "\u00a0«»\u2013-\u2026©®°·§№"

_PAIR = 2  # letters
_HALF_WIDTH = range(0xFF66, 0xFF9E)  # katakana
_LAST_CASED = 0x2000  # beyond, no letters that pages have are large or small
_FOLLOWS, _ALONE = 0.6, 0.3  # weights of a letter after its neighbour, of a letter by itself
_OF_COMMON = 0.09  # of all letters in the script, spread over them
_SIGN = 2e-3
_OTHER = 1e-6  # any other character
ASCII = -3.0
"""Nats of a character of ASCII beside another one."""

BROKEN = -9.0
"""Nats of a broken byte: some stand in any text."""

_UNKNOWN = -5.0
"""Nats of a letter in a script without tables."""

_ASCII_LETTERS = 10
_CAPITAL_WITHIN = -4.0  # nats: a capital after a small letter, beyond ASCII


class _Model(NamedTuple):
    """Shares of letters by code point, and of letters after letters by the hash of both."""

    alone: npt.NDArray[np.float32]
    follows: npt.NDArray[np.float32]


def nats(body: bytes, charset: str) -> float:
    """Return the log-likelihood of the text that a charset makes of some words.

    In the language of those that go with it which it is likeliest in.
    """
    text = text_of(body, charset)
    if charset == "windows-1258":
        text = unicodedata.normalize("NFC", text)
    return of_text(text, LANGUAGES.get(charset) or languages_of(text))


def languages_of(text: str) -> tuple[str, ...]:
    """Return the languages with tables that are written in the script of most letters."""
    counts = scripts.count(text)
    counts[scripts.LATIN] //= _ASCII_LETTERS  # they stand in any text
    counts[0] = 0
    return _by_script().get(int(counts.argmax()), ())


def of_text(text: str, languages: tuple[str, ...]) -> float:
    """Return the log-likelihood of a text in the one of some languages which it is likeliest in."""
    units = _units(text)
    lowered = _lower()[units]
    beyond = units > 0x7F
    first, second = lowered[:-1], lowered[1:]
    near = beyond[1:] | beyond[:-1]
    slots = _hash(first[near], second[near])
    seconds = second[near]
    fixed = float(ASCII * np.count_nonzero(~near))
    is_capital = (units[1:] != second) & beyond[1:] & (units[:-1] == first) & _is_letter()[first]
    broken = int(np.count_nonzero(units == 0xFFFD))
    fixed += _CAPITAL_WITHIN * np.count_nonzero(is_capital) + broken * (BROKEN - np.log(_OTHER))
    models = [_model(code) for code in languages]
    likely = max((_sum(model, slots, seconds) for model in models), default=_UNKNOWN * len(slots))
    return float(fixed + likely)


def _sum(model: _Model, slots: npt.NDArray[np.uint16], letters: npt.NDArray[np.uint16]) -> float:
    shares = model.follows[slots] + model.alone[letters]
    return float(np.log(shares).sum())


def _units(text: str) -> npt.NDArray[np.uint16]:
    return np.frombuffer(f" {text} ".encode("utf-16-le", "replace"), "<u2")


def _hash(first: npt.NDArray[np.uint16], second: npt.NDArray[np.uint16]) -> npt.NDArray[np.uint16]:
    return first * np.uint16(31) + second + np.uint16(20_011)


@cache
def _by_script() -> dict[int, tuple[str, ...]]:
    latin = tuple(dict.fromkeys((*_WEST, *_MIDDLE, "tr", "vi", "lt", "lv", "et")))
    names = {"Thai": ("th",), "Cyrl": _CYRILLIC, "Grek": ("el",), "Hebr": ("he",), "Arab": _ARABIC}
    return {
        **{scripts.NAMES.index(name): codes for name, codes in names.items()},
        **dict.fromkeys((HAN, HAN_JAPANESE, HAN_CHINESE), ("zh", "ja")),
        **dict.fromkeys((HIRAGANA, KATAKANA), ("ja",)),
        HANGUL: ("ko",),
        LATIN: latin,
        VIETNAMESE: ("vi",),
    }


@cache
def _lower() -> npt.NDArray[np.uint16]:
    """Return the small letter of each code unit; each ASCII sign that is no letter is a blank."""
    table = np.arange(SLOTS, dtype=np.uint16)
    for point in range(_LAST_CASED):
        small = chr(point).lower()
        table[point] = ord(small) if len(small) == 1 else point
        if point < 0x80 and not small.isalpha():
            table[point] = ord(" ")
    for point in _HALF_WIDTH:
        table[point] = ord(unicodedata.normalize("NFKC", chr(point)))
    return table


@cache
def _is_letter() -> npt.NDArray[np.bool_]:
    table = np.zeros(SLOTS, np.bool_)
    table[[point for point in range(0x80, _LAST_CASED) if chr(point).isalpha()]] = True
    return table


@cached_by_languages
def _model(code: str) -> _Model:
    counts: dict[str, int] = {}
    for table in tables():
        if table.language == code and table.encoding == "utf-8":
            for ngram, count in table.characters.items():
                if len(ngram) > _PAIR:
                    continue
                small = ngram.lower()
                counts[small] = counts.get(small, 0) + count
    alone = np.full(SLOTS, _OTHER, np.float32)
    for letters, share in ((_common(code), _OF_COMMON), (_signs(code), _SIGN)):
        alone[letters] += share / len(letters) if share == _OF_COMMON else share
    singles = {n: c for n, c in counts.items() if len(n) == 1}
    whole = sum(singles.values())
    for letter, count in singles.items():
        alone[ord(letter)] += _ALONE * count / whole
    alone[:0x80] += np.float32(0.2 / 0x80)
    follows = np.zeros(SLOTS, np.float32)
    pairs = {n: c for n, c in counts.items() if len(n) == 2 and n[0] in singles}
    before = np.array([[ord(n[0]), ord(n[1])] for n in pairs], np.uint16).reshape(-1, 2)
    shares = [min(1.0, count / singles[pair[0]]) for pair, count in pairs.items()]
    lowered = _lower()
    slots = _hash(lowered[before[:, 0]], lowered[before[:, 1]])
    np.add.at(follows, slots, np.float32(_FOLLOWS) * np.array(shares, np.float32))
    return _Model(alone, follows)


def _common(code: str) -> npt.NDArray[np.intp]:
    return _points(_REPERTOIRES.get(code, ()), _COMMON.get(code, _LATIN))


def _signs(code: str) -> npt.NDArray[np.intp]:
    return _points((), _EAST_ASIAN_SIGNS if code in ("ja", "zh", "ko") else _SIGNS)


@cache
def _points(repertoires: tuple[tuple[str, int, int], ...], pattern: str) -> npt.NDArray[np.intp]:
    letters = set(re.findall(f"[{pattern}]", _bmp()) if pattern else ())
    for codec, first, last in repertoires:
        letters |= repertoire(codec, first, last)
    points = np.array([*map(ord, letters)], np.intp)
    return np.array(sorted({*_lower()[points].tolist()}), np.intp)


@cache
def _bmp() -> str:
    return "".join(map(chr, range(0x80, 0xD800))) + "".join(map(chr, range(0xE000, SLOTS)))
