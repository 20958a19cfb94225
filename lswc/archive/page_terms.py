"""Terms of a text: what an index finds its words by, in scripts with blanks and without.

Scripts without blanks between words are cut into pairs of letters, as CJK analysers do (Lucene's
CJKAnalyzer). Words of other scripts are terms as they stand. Letters are compared in Unicode's
Normalization Form KC (UAX #15), without case.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import NamedTuple

import numpy as np

_BLANKLESS = (
    "\u0e01-\u0eff"  # Thai, Lao
    "\u0f00-\u0fff"  # Tibetan
    "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f"  # Burmese and its neighbours
    "\u1780-\u17ff"  # Khmer
    "\u1950-\u19df\u1a20-\u1aaf\uaa80-\uaadf"  # Tai
    "\u1b00-\u1b7f\ua980-\ua9df"  # Balinese, Javanese
    "\u3005\u3006\u3041-\u312f\u31a0-\u31bf\u31f0-\u31ff"  # kana, Bopomofo
    "\ua000-\ua4cf"  # Yi
    "\uac00-\ud7a3"  # Korean has blanks, but hangs endings on its words
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # ideographs
)
_FIRST_BLANKLESS = _BLANKLESS[0]
_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")
# Some pages have them between words or letters; nobody types them.

_LONGEST = 40  # letters of a word
_BLANK, _HALF = ord(" "), np.uint64(32)
_EXACT = 2  # letters in a row that one term says
_MOST = 64  # terms that an index is asked for at once; the text itself is compared with all

OWN = "\ue000"
"""What a term begins with that isn't of a text: a private character, which no word has."""


def normal(text: str) -> str:
    """Return a text as it is compared."""
    return unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold()


@cache
def _pieces() -> re.Pattern[str]:
    """Return what finds words, and runs of letters of scripts without blanks."""
    marks = "".join(c for c in map(chr, range(0x300, 0x10000)) if unicodedata.category(c)[0] == "M")
    word = rf"[^\W_{_BLANKLESS}]+"
    rest = re.sub(f"[{_BLANKLESS}]", "", marks)
    return re.compile(rf"[{_BLANKLESS}]+|{word}(?:[{rest}]+(?:{word})?)*")


@cache
def _blankless() -> re.Pattern[str]:
    return re.compile(f"[{_BLANKLESS}]")


def _is_run(piece: str) -> bool:
    return piece >= _FIRST_BLANKLESS and _blankless().match(piece) is not None


def pieces(text: str) -> list[str]:
    """Return the words and runs of a text that is ``normal``, in their order."""
    return _pieces().findall(text)


def terms(text: str) -> str:
    """Return the terms of a text, with blanks between: no term has one, nor ASCII's other marks."""
    runs: list[str] = []
    found: list[str] = []
    for piece in set(pieces(normal(text))):
        (runs if _is_run(piece) else found).append(piece)
    return f"{' '.join(piece[:_LONGEST] for piece in found)} {_letters(' '.join(runs))}"


def _letters(runs: str) -> str:
    """Return each letter of runs, and each pair of letters, once: Python alone takes much longer.

    The array has letters, and in its upper half those before them.
    """
    points = np.frombuffer(runs.encode("utf-32-le"), np.uint32)
    if not len(points):
        return ""
    pairs = points.astype(np.uint64)
    pairs[1:] |= pairs[:-1] << _HALF
    in_run = points != _BLANK
    in_run[1:] &= points[:-1] != _BLANK
    in_run[0] = False
    both = np.unique(pairs[in_run])
    each = np.unique(points)
    laid_out = np.full(2 * len(each) + 3 * len(both), _BLANK, np.uint32)
    laid_out[: 2 * len(each) : 2] = each
    laid_out[2 * len(each) :: 3] = both >> _HALF
    laid_out[2 * len(each) + 1 :: 3] = both & np.uint64(0xFFFF_FFFF)
    return laid_out.tobytes().decode("utf-32-le")


def own(kind: str, value: str) -> str:
    """Return a term that isn't of a text, such as that of a page's language."""
    known = value.encode("utf-8", "replace").decode()
    plain = "".join(c if c.isalnum() or not c.isascii() else f"{OWN}{ord(c):x}" for c in known)
    return f"{OWN}{kind}{plain}"


def compared(title: str, text: str) -> str:
    """Return a page's title and text as ``Words`` compare them: no phrase is of both."""
    return "  ".join(" ".join(pieces(normal(part))) for part in (title, text))


class Words(NamedTuple):
    """What is looked for: the ``terms`` that a page must have, and ``patterns`` to be found in it.

    ``is_given`` says that there is a letter or digit in it.
    """

    terms: list[str]
    patterns: list[re.Pattern[str]]
    is_given: bool

    def are_in(self, title: str, text: str) -> bool:
        """Tell whether a page that has the terms has all that is looked for."""
        if not self.patterns:
            return True
        content = compared(title, text)
        return all(pattern.search(content) for pattern in self.patterns)


def words(asked: str) -> Words:
    """Return what somebody looks for: all words of a text, and what is in quotes as a phrase.

    Nothing else in it has a meaning.
    """
    found: dict[str, None] = {}
    phrases: list[list[str]] = []
    for number, part in enumerate(normal(asked).replace("“", '"').replace("”", '"').split('"')):
        for phrase in [part] if number % 2 else part.split():
            there = pieces(phrase)
            for piece in there:
                found |= dict.fromkeys(_sought(piece))
            phrases += [there] if there else []
    are_all = len(found) > _MOST
    looked_at = [one for one in phrases if are_all or len(one) > 1 or _needs_look(one[0])]
    return Words(list(found)[:_MOST], list(map(_pattern, looked_at)), bool(found))


def _sought(piece: str) -> list[str]:
    if not _is_run(piece):
        return [piece[:_LONGEST]]
    return [piece] if len(piece) == 1 else list(map(str.__add__, piece, piece[1:]))


def _needs_look(piece: str) -> bool:
    return len(piece) > (_EXACT if _is_run(piece) else _LONGEST)


def _pattern(phrase: list[str]) -> re.Pattern[str]:
    """Return what a phrase is found by: words are whole, a run may be a part of another."""
    begin = "" if _is_run(phrase[0]) else r"(?<!\S)"
    end = "" if _is_run(phrase[-1]) else r"(?!\S)"
    return re.compile(begin + re.escape(" ".join(phrase)) + end)
