"""Spelling of a script: sequences of letters that it forbids, as a PDF that is misread has them."""

from __future__ import annotations

import re
import unicodedata

from lswc.language.vietnamese import is_syllable

WEIGHT = 3
"""Letters that a forbidden sequence costs: what was misread there, its neighbours, and others that
can't be seen, as a letter in another's place."""

_SCRIPTS = re.compile("[\u01a0-\u01b0\u0300-\u0323\u0900-\u109f\u1780-\u17ff\u1ea0-\u1ef9]")
_THAI, _LAO = "\u0e01-\u0e2e", "\u0e81-\u0eae\u0edc-\u0edf"
_KHMER, _BURMESE = "\u1780-\u17b3", "\u1000-\u102a\u103f\u1050-\u1055\u105a-\u105d\u1061\u1065"
_FORBIDDEN = re.compile(
    "|".join((
        # A mark where no letter is that it could be of.
        r"(?:^|[\s!-~])[\u093a-\u093c\u093e-\u094f]",
        rf"(?<![{_THAI}\u0e31\u0e34-\u0e3a\u0e47-\u0e4e])[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]",
        rf"(?<![{_LAO}\u0eb1\u0eb4-\u0ebd\u0ec8-\u0ecd])[\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd]",
        rf"(?<![{_KHMER}\u17b6-\u17d3\u17dd\u200b-\u200d\u25cc])[\u17b6-\u17d3]",
        r"(?<![\u1000-\u109f\uaa60-\uaa7f\u200b-\u200d\u25cc])[\u102b-\u103e]",
        # A vowel after none.
        rf"(?<![{_THAI}\u0e48-\u0e4b])[\u0e30\u0e32\u0e33](?<!\u0e32\u0e30)",
        rf"(?<![{_LAO}\u0ebb-\u0ebd\u0ec8-\u0ecb])[\u0eb0\u0eb2\u0eb3](?<!\u0eb2\u0eb0)",
        r"(?<![\u0e24\u0e26])\u0e45",
        # One that is written before its letter, and no letter.
        rf"[\u0e40-\u0e44](?![{_THAI}])",
        rf"[\u0ec0-\u0ec4](?![{_LAO}])",
        rf"\u0e31[\u0e48-\u0e4b]?+(?![{_THAI}])",
        rf"\u0eb1[\u0ec8-\u0ecb]?+(?![{_LAO}\u0ebd])",
        # Two of which a letter has one.
        r"[\u0e48-\u0e4b]{2}|[\u0e31\u0e34-\u0e39\u0e47]{2}",
        r"[\u0ec8-\u0ecb]{2}|[\u0eb1\u0eb4-\u0eb9\u0ebb]{2}",
        r"[\u17b6-\u17c5]{2}|([\u102b-\u103e])\1",
        # A letter below another, and no letter; a vowel before its letter, as it is drawn.
        rf"\u17d2(?![{_KHMER}])|\u1039(?![{_BURMESE}])",
        r"(?<![\u1000-\u102a\u103a-\u103f\u1050-\u109f\uaa60-\uaa7f])\u1031",
    )),
    re.MULTILINE,
)  # fmt: skip
_VIETNAMESE = re.compile("[\u01a0\u01a1\u01af\u01b0\u0110\u0111\u1ea0-\u1ef9]")
_WORD = re.compile(r"[^\W\d_]+")
_LEAST = 10  # words with marks
_LONGEST = 7  # letters of a syllable: more are words that lack a blank


def forbidden(text: str) -> int:
    """Return how many sequences of a text the spelling of its script forbids."""
    if not _SCRIPTS.search(text):
        return 0
    return sum(1 for _ in _FORBIDDEN.finditer(text)) + _no_syllables(text)


def _no_syllables(text: str) -> int:
    """Return how many words with marks are none of Vietnamese, if the text is in it."""
    text = unicodedata.normalize("NFC", text.lower())
    if not _VIETNAMESE.search(text):
        return 0
    words = _WORD.findall(text)
    marked = [word for word in words if not word.isascii() and len(word) <= _LONGEST]
    wrong = sum(not is_syllable(word) for word in marked)
    return wrong if len(marked) >= _LEAST and wrong < len(marked) else 0
