"""Text that no charset explains: fonts with an encoding of their own, by character n-grams.

Burmese is on the web in Unicode, in Zawgyi-One and its kin (Myanmar code points put to other
use) and in fonts that draw Burmese for ASCII letters (Win Innwa, Win Researcher). Which, and
whether it is Burmese or Shan, Mon, Karen or Pa'O, the likeliest trained table tells. The same
serves any language for which there are tables, Vietnamese in TCVN, VISCII or without its
diacritics among them.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lswc.language.ngrams import SLOTS, Likelihoods, NgramTable, tables, trigram_slots
from lswc.language.registry import cached_by_languages, is_charset

_EXAMINED = 4_000
_SHORTEST = 6  # characters of a line that can tell anything
_MARGIN = 1.5  # nats a character by which a line has to be likelier in the font
_FACE = re.compile(rb"(?:face\s*=\s*|font-family\s*:\s*)[\"']?([^\"'<>;}]{1,80})")
_USUAL = "my.utf-8"
_A_WORD = 8  # characters; fewer without a neighbour's letters are taken for Burmese
_PRIOR = 20.0  # nats by which the page's language is likelier, else Burmese: it decides short texts
_FEW_WORDS = 100  # characters; of more, the likelihoods are sure
_NOT_LATIN = re.compile("[^\x00-\u024f\u2010-\u2122]")
_MYANMAR = re.compile("[\u1000-\u109f]")
_NOT_BURMESE = re.compile("[\u1022\u1028\u1033-\u1035\u105a-\u109f\ua9e0-\uaa7f]")
_NOT_MYANMAR = re.compile("[^\u1000-\u103f\u1050-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f]+")
_NO_WIDTH = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]+")  # where a line may break

WEIGHTS = files(__package__) / "burmese_words.json"
"""What trigrams say for Burmese, and how much a few words must have to be it.

By ``python -m lswc.lab.methods.burmese_words``.
"""

UNIT = 0.25
"""Of those weights."""


class Match(NamedTuple):
    """An encoding, the share of the text that is in it, and how much likelier it is (nats)."""

    encoding: str
    share: float
    margin: float


class Fonts:
    """The fonts of one language on Latin code points; none of them for most languages."""

    def __init__(self, code: str, names: tuple[str, ...]) -> None:
        self._likelihoods = _font_likelihoods(code)
        self._names: dict[str, str] = {}
        for name in names:
            self._names.setdefault(_bare(name), name)

    def __bool__(self) -> bool:
        return self._likelihoods is not None or bool(self._names)

    def match(self, text: str) -> Match | None:
        """Return the likeliest font encoding of a text whose lines are of one encoding each."""
        if self._likelihoods is None:
            return None
        stripped = (line.strip() for line in text[:_EXAMINED].split("\n"))
        lines = [line for line in stripped if len(line) >= _SHORTEST]
        if not lines:
            return None
        starts = np.cumsum([0, *(len(line) + 1 for line in lines[:-1])])
        scores = self._likelihoods.scores(" ".join(lines))
        lengths = np.diff([*starts, scores.shape[1]])
        ahead = np.add.reduceat(scores[2:] - scores[:2].max(axis=0), starts, axis=1) / lengths
        best = int(np.argmax((ahead.clip(0) * lengths).sum(axis=1)))
        own = ahead[best] > _MARGIN
        if not own.any():
            return None
        margin = float((ahead[best] * lengths)[own].sum() / lengths[own].sum())
        return Match(
            self._likelihoods.names[best + 2], float(lengths[own].sum() / lengths.sum()), margin
        )

    def named(self, body: bytes) -> str | None:
        """Return the first of the language's fonts that a page's markup names."""
        lowered = body.lower()
        if self._names and b"font" in lowered:
            for faces in _FACE.findall(lowered):
                for face in faces.decode("latin-1").split(","):
                    name = self._names.get(_bare(face))
                    if name is not None:
                        return name
        return None


def myanmar(text: str, hint: str | None = None) -> tuple[str, str]:
    """Return language and encoding of text in Myanmar script, such as ``my``, ``zawgyi-one``.

    ``hint`` is the language of the page, for a text that alone can't tell.
    """
    likelihoods = _myanmar_likelihoods()
    letters = myanmar_letters(text[:_EXAMINED])
    scores = likelihoods.scores(f" {letters} ").sum(axis=1)
    totals = scores.copy()
    of_page = f"{hint}.utf-8" if f"{hint}.utf-8" in likelihoods.names else None
    others = _NOT_BURMESE.search(letters)
    # Burmese in Unicode has none of the letters that its neighbours added.
    if of_page not in (None, _USUAL) or not others:
        totals[likelihoods.names.index(of_page or _USUAL)] += _PRIOR
    neighbours = [not name.startswith("my.") for name in likelihoods.names]
    if hint in (None, "my") and not others and len(letters) < _A_WORD:
        totals[neighbours] = -np.inf
    best = int(np.argmax(totals))
    if of_page is None and likelihoods.names[best] == _USUAL and not _may_be_burmese(letters):
        best = int(np.argmax(np.where(neighbours, scores, -np.inf)))
    language, _, encoding = likelihoods.names[best].partition(".")
    return language, encoding


def is_rakhine(text: str) -> bool:
    """Tell whether a text is likelier in Rakhine than in Burmese by far, not only less Burmese."""
    likelihoods = _myanmar_likelihoods()
    letters = myanmar_letters(text[:_EXAMINED])
    scores = dict(
        zip(likelihoods.names, likelihoods.scores(f" {letters} ").sum(axis=1).tolist(), strict=True)
    )
    return bool(scores["rki.utf-8"] > scores[_USUAL] + _PRIOR)


def myanmar_letters(text: str) -> str:
    """Return a text's letters in Myanmar script, blanks for all between them."""
    return _NOT_MYANMAR.sub(" ", _NO_WIDTH.sub("", text)).strip()


def _may_be_burmese(letters: str) -> bool:
    """Tell whether a few words have as much of Burmese as its words have.

    Rakhine shares most of them, and is known by a few endings.
    """
    if len(letters) > _FEW_WORDS:
        return True
    weights, least = _burmese_words()
    return int(weights[np.unique(trigram_slots(f" {letters} "))].sum()) >= least


@cache
def _burmese_words() -> tuple[npt.NDArray[np.int8], int]:
    """Return the weight of each trigram's hash, and the least sum of Burmese."""
    table = json.loads(WEIGHTS.read_text("utf-8"))
    weights = np.zeros(SLOTS, np.int8)
    for weight, trigrams in table["weights"].items():
        weights[trigram_slots(trigrams)[::3]] = int(weight)
    return weights, int(table["least"])


@cached_by_languages
def _font_likelihoods(code: str) -> Likelihoods | None:
    """Return those of the rest, of English, and of each font of a language; None without any."""
    fonts = (t for t in tables() if t.language == code and not is_charset(t.encoding))
    own = [table for table in fonts if _is_latin(table)]
    if not own:
        return None
    unicode = (t for t in tables() if t.language != code and t.encoding == "utf-8")
    others = [table for table in unicode if _is_latin(table)]
    english = [table for table in others if table.language == "en"]
    groups = {"": others, "en": english} | {table.encoding: [table] for table in own}
    return Likelihoods(groups)


@cached_by_languages
def _myanmar_likelihoods() -> Likelihoods:
    groups = {f"{t.language}.{t.encoding}": [t] for t in tables() if _is_myanmar(t)}
    return Likelihoods(groups)


def _is_myanmar(table: NgramTable) -> bool:
    return _share(table, _MYANMAR) > 0.5


def _is_latin(table: NgramTable) -> bool:
    return bool(table.characters) and _share(table, _NOT_LATIN) < 0.1


def _share(table: NgramTable, pattern: re.Pattern[str]) -> float:
    hits = sum(n for ngram, n in table.characters.items() if pattern.search(ngram))
    return hits / max(1, sum(table.characters.values()))


def _bare(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.lower())
