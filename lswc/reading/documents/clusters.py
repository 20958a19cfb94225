"""Clusters of Khmer and Burmese: what is written as it is drawn comes into Unicode's order.

A vowel and a letter below may be drawn before the letter that they are of; a vowel of two parts may
be drawn as two (The Unicode Standard §16.3 Myanmar, §16.4 Khmer; Unicode Technical Note 11).
"""

from __future__ import annotations

import re

_MARKED = re.compile("[\u1000-\u109f\u1780-\u17ff]")
_KHMER, _COENG = "[\u1780-\u17b3\u25cc]", "\u17d2[\u1780-\u17a2]"
_BURMESE = "[\u1000-\u102a\u103f\u104e\u1050-\u1055\u105a-\u105d\u1061\u1065\u1066\u106e-\u1081]"
_NO_LETTER = "[\\s!-/:-@\u17d4-\u17da\u104a-\u104f]"
# Where a sign stands only if it is written before its letter, as it is drawn; and only if after it.
_DRAWN = re.compile(
    f"(?:^|{_NO_LETTER})(?:[\u17c1-\u17c3\u1031\u103c]|\u17d2\u179a)"
    "|[\u17b7\u17b9-\u17c0\u17c4-\u17cb][\u17c1-\u17c3]"
    "|[\u102b-\u1030\u1032\u1036-\u1038\u103a][\u1031\u103c]",
    re.MULTILINE,
)
_LOGICAL = re.compile(
    f"[\u17c1-\u17c3\u1031](?=$|{_NO_LETTER})|{_COENG}[\u17c1-\u17c3]|[\u17c1-\u17c3][\u17c6-\u17cb]"
    "|[\u103b-\u103e]\u1031|\u1031[\u102b\u102c]",
    re.MULTILINE,
)
_DRAWN_KHMER = re.compile(
    f"([\u17c1-\u17c3]?)(\u17d2\u179a)?({_KHMER})((?:\u17d2[\u1780-\u1799\u179b-\u17a2])*)"
)
_DRAWN_BURMESE = re.compile(
    f"(\u1031?)(\u103c?)({_BURMESE})((?:\u1039[\u1000-\u1021]|[\u103b\u103d\u103e])*)(?!\u1039)"
)
# What is below a letter is two code points and one glyph: what is drawn over it is of both.
_BROKEN = re.compile("(\u17d2)([\u17b6-\u17d1]+)([\u1780-\u17a2])")
# Second parts of vowels, as the fonts Khmer OS call them.
_OF_KHMER_OS = re.compile("(?<=\u17c1)([\u17c9\u17ca]?)([\uf152\uf153\uf155])")
_VOWELS = {"\uf152": "\u17c4", "\uf153": "\u17c5", "\uf155": "\u17be"}
_SIGN_OF_KHMER = re.compile(f"{_COENG}|[\u17b6-\u17cb\u17cd\u17d0]")
_SIGNS_OF_KHMER = re.compile(f"(?:{_SIGN_OF_KHMER.pattern}){{2,}}")
_STACKED_NOTHING = re.compile("\u1039(?![\u1000-\u102a\u103f\u1050-\u1081])")
_SIGNS_OF_BURMESE = re.compile("[\u102b-\u1032\u1036-\u1038\u103b-\u103e]{2,}")
_RANKS = {
    sign: rank
    for rank, signs in enumerate((
        "\u103b", "\u103c", "\u103d", "\u103e", "\u1031", "\u102d\u102e\u1032", "\u102f\u1030",
        "\u102b\u102c", "\u1036", "\u1037", "\u1038",
    ))
    for sign in signs
}  # fmt: skip
# A vowel of two parts, of which the first is E, by what is the second or is called the whole.
_E = "\u17c1"
_WHOLE = {one: one for one in "\u17be\u17bf\u17c0\u17c4\u17c5"}
_WHOLE |= {"\u17b6": "\u17c4", "\u17b8": "\u17be"}


def in_order(text: str) -> str:
    """Return a text with the letters and marks of each cluster in Unicode's order, each once.

    Burmese in the code points of Zawgyi has an order of its own, and keeps it.
    """
    if _MARKED.search(text) is None:
        return text
    # The killer of vowels, which is the most frequent sign, is U+1039 in Zawgyi.
    is_burmese = text.count("\u1039") <= text.count("\u103a")
    if len(_DRAWN.findall(text)) > len(_LOGICAL.findall(text)):
        text = _DRAWN_KHMER.sub(r"\3\2\4\1", text)
        text = _DRAWN_BURMESE.sub(r"\3\2\4\1", text) if is_burmese else text
    text = _BROKEN.sub(r"\1\3\2", _OF_KHMER_OS.sub(_vowel, text))
    text = _SIGNS_OF_KHMER.sub(_khmer, text)
    if not is_burmese:
        return text
    return _SIGNS_OF_BURMESE.sub(_burmese, _STACKED_NOTHING.sub("", text))


def _vowel(found: re.Match[str]) -> str:
    return found[1] + _VOWELS[found[2]]


def _burmese(found: re.Match[str]) -> str:
    return "".join(sorted(dict.fromkeys(found[0]), key=_RANKS.__getitem__))


def _khmer(found: re.Match[str]) -> str:
    signs = sorted(dict.fromkeys(_SIGN_OF_KHMER.findall(found[0])), key=_rank)
    if _E in signs and (second := next((one for one in signs if one in _WHOLE), "")):
        signs.remove(_E)
        signs[signs.index(second)] = _WHOLE[second]
    return "".join(signs)


def _rank(sign: str) -> int:
    """Return the place of a sign in a cluster of Khmer: below, shifters of registers, vowels."""
    if sign.startswith("\u17d2"):
        return 1 if sign.endswith("\u179a") else 0
    return 2 if sign in "\u17c9\u17ca" else 3 if sign <= "\u17c5" else 4
