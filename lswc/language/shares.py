"""Shares of a text by language: by its letters where they tell, else by CLD2."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pycld2

from lswc.language import scripts, vietnamese
from lswc.language.font_encodings import is_rakhine, myanmar
from lswc.language.lookalikes import lookalike, with_lookalikes
from lswc.language.neighbours import neighbours
from lswc.language.rarer import rarer
from lswc.language.registry import (
    RENAMED,
    cached_by_languages,
    detectable,
    is_known,
    known,
    language,
    rarer_languages,
)
from lswc.language.scripts import (
    HAN,
    HAN_CHINESE,
    HAN_JAPANESE,
    HANGUL,
    HIRAGANA,
    KATAKANA,
    LATIN,
    MYANMAR,
    NONE,
    VIETNAMESE,
)
from lswc.language.serbo_croatian import ALIKE, IN_CYRILLIC, in_cyrillic, told_apart

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

DENSE = 2.5
"""An ideograph, kana or Hangul syllable says as much as 2.5 letters."""

_LITTLE = 1_000  # letters
_OFTENER, _LACKED = 6.6, 0.82  # Chinese without kana, and for each character without its own
_MOST_LACKED = 40
_LEAST_DOUBT = 0.3
_BURMESE = 0.4  # of what is taken for Rakhine by a few words
_VIETNAMESE_PER_LETTER = 0.13  # of these letters among those of Vietnamese text
_IDEOGRAPHS = (HAN, HAN_JAPANESE, HAN_CHINESE)
_KANA = (HIRAGANA, KATAKANA)
_EAST_ASIAN = (*_IDEOGRAPHS, *_KANA, HANGUL)
_dense = itemgetter(*_EAST_ASIAN)
_IDEOGRAPHIC = re.compile("[\u3041-\u30fa\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9d]")
_SENTENCE_ENDS = tuple(map(ord, "\n。！？"))
# Kana, Hangul, other ideographs, Japanese ones, Chinese ones.
_NUMBER_OF_KINDS = 6
_KINDS = np.zeros(len(scripts.NAMES), np.intp)
_KINDS[[HIRAGANA, KATAKANA, HANGUL, HAN, HAN_JAPANESE, HAN_CHINESE]] = (1, 1, 2, 3, 4, 5)
_WHOLE = 0.95
_LEAST = 0.05  # of the letters in a script that are worth asking CLD2 about
_SAMPLE = 1_000  # characters that CLD2 sees
_LARGE_SAMPLE = 6_000  # where it isn't sure of that
_UNSURE = 0.5
_NEARLY_ALL = 0.7  # of a text whose language may be another's lookalike
_FEW = 60  # characters
_WORD = re.compile(r"[^\W\d_]+")
_PIECES = 3
_TYPICAL_SCORE = 1_000  # CLD2's for text of a language that isn't in the table
_NORMAL = 0.6  # of a language's typical score; text of a related language that CLD2 lacks has less
_NORMAL_SHORT = 500.0  # nor more in a few words, where scores vary
_HALF = 50  # percent of a text
_MOSTLY = 80  # percent of a text that is in one language
_SHARPNESS = 3  # how fast certainty falls below the normal score
_COMMON_ENGLISH = (" the ", " of ", " and ", " to ", " in ", " is ", " for ")
_LONG = 200
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff"
    + "".join(
        f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(1 << 16, 17 << 16, 1 << 16)
    )
    + "]"
)


class Guess(NamedTuple):
    """A language of a text, its share from 0 to 1, and how sure that is, from 0 to 1."""

    language: str
    share: float
    certainty: float


@dataclass(slots=True)
class Measured:
    """What a text is written in.

    ``letters`` counts its letters by class, ``total`` those of all, dense ones more.
    ``shares`` are those of the total, ``certainty`` says how sure each of these languages is.
    ``by_letters`` are those that letters alone show; ``encoding`` is that of Myanmar text.
    ``by_script`` says how many letters of which script a language has. ``doubted`` are languages
    that were taken of too little text: with each another one, and how likely it is that.
    """

    letters: list[int]
    total: float
    shares: dict[str, float] = field(default_factory=dict)
    certainty: dict[str, float] = field(default_factory=dict)
    by_letters: frozenset[str] = frozenset()
    encoding: str = ""
    by_script: dict[str, dict[int, float]] = field(default_factory=dict)
    doubted: dict[str, tuple[str, float]] = field(default_factory=dict)

    def in_other_scripts(self, code: str) -> float:
        """Return the share of letters in scripts that a language isn't written in, if known."""
        own = scripts.scripts_of(language(code).scripts)
        if not own or not self.total:
            return 0.0
        inside = sum(self.letters[kind] for kind in scripts.with_parts(own))
        return 1 - inside / sum(self.letters[1:])

    @property
    def is_latin(self) -> bool:
        """Whether most letters are Latin."""
        return (self.letters[LATIN] + self.letters[VIETNAMESE]) * 2 > sum(self.letters[1:])


def weight(letters: list[int]) -> float:
    """Return how much so many letters say, by class."""
    dense = sum(_dense(letters))
    return float(sum(letters) - letters[NONE] + dense * (DENSE - 1))


def measure(text: str, hint: str | None = None, han: str | None = None) -> Measured:
    """Tell the languages of a text and their shares.

    ``hint`` is what the page says: for ideographs that could be Chinese or Japanese, and languages
    that are nearly the same. ``han`` is the language of all ideographs if there are any: a page in
    a Japanese charset can hold no others.
    """
    points = scripts.points(text)
    classes = scripts.classes_of(points)
    counted = np.bincount(classes, minlength=len(scripts.NAMES))
    counts: list[int] = counted.tolist()
    found = Measured(counts, weight(counts))
    if not found.total:
        return found
    present = {script: counts[script] for script in counted.nonzero()[0].tolist()}
    amounts = _east_asian(points, classes, counts, hint)
    found.doubted |= _doubt_of_han(amounts, counts, hint)
    if han in amounts and "zh" in amounts and han != "zh":
        amounts[str(han)] += amounts.pop("zh")
    alone = _scripts().alone
    for script, count in present.items():
        if script in alone:
            code = alone[script]
            amounts[code] = amounts.get(code, 0.0) + count
            found.by_script.setdefault(code, {})[script] = float(count)
    if counts[MYANMAR]:
        _part_myanmar(text, found, amounts)
    _part_lookalikes(text, amounts)
    latin = float(counts[LATIN] + counts[VIETNAMESE])
    if counts[VIETNAMESE]:
        enough = counts[VIETNAMESE] / _VIETNAMESE_PER_LETTER
        # In a few words these letters are more or less by chance.
        spelt = vietnamese.share(text) * latin if latin < _LITTLE else 0.0
        amounts["vi"] = min(latin, max(enough, spelt))
    found.certainty, found.by_letters = dict.fromkeys(amounts, 1.0), frozenset(amounts)
    undecided = _undecided(present, amounts.get("vi", 0.0))
    for script, guess, amount in _others(text, points, classes, undecided, hint):
        amounts[guess.language] = amounts.get(guess.language, 0.0) + guess.share * amount
        found.by_script.setdefault(guess.language, {})[script] = guess.share * amount
        found.certainty.setdefault(guess.language, guess.certainty)
    found.shares = {code: amount / found.total for code, amount in amounts.items() if amount}
    return found


def _part_lookalikes(text: str, amounts: dict[str, float]) -> None:
    for code in with_lookalikes().intersection(amounts):
        if other := lookalike(code, _sample(text)):
            amount = amounts.pop(code)
            if is_known(other):
                amounts[other] = amount


def _part_myanmar(text: str, found: Measured, amounts: dict[str, float]) -> None:
    letters = found.letters[MYANMAR]
    code, found.encoding = myanmar(text)
    amounts[code] = amounts.get(code, 0.0) + letters
    found.by_script[code] = {MYANMAR: float(letters)}
    if code == "rki" and letters < _LITTLE and not is_rakhine(text):
        found.doubted[code] = ("my", _BURMESE)


def _undecided(present: dict[int, int], in_vietnamese: float) -> dict[int, tuple[float, bool]]:
    """Return the letters of each script that many languages have, if they are worth a guess.

    With them, whether nearly all of the text is in it.
    """
    decided = _scripts().decided
    amounts = {script: float(n) for script, n in present.items() if script not in decided}
    if VIETNAMESE in present or LATIN in amounts:
        latin = present.get(LATIN, 0) + present.get(VIETNAMESE, 0)
        amounts[LATIN] = float(latin) - in_vietnamese
    total = sum(present.values()) - present.get(NONE, 0)
    least = max(1.0, _LEAST * total)
    return {
        s: (amount, amount > _WHOLE * total) for s, amount in amounts.items() if amount >= least
    }


def _others(
    text: str,
    points: npt.NDArray[np.uint16 | np.uint32],
    classes: npt.NDArray[np.uint8],
    undecided: dict[int, tuple[float, bool]],
    hint: str | None,
) -> Iterator[tuple[int, Guess, float]]:
    """Ask CLD2 about each script that many languages have; yield it, guesses, its letters."""
    for script, (amount, is_whole) in undecided.items():
        # A text that is nearly all in one script needn't be copied.
        of_script = text if is_whole else _only(points, classes, script)
        for guess in guesses(of_script, script, hint):
            yield script, guess, amount


def _only(
    points: npt.NDArray[np.uint16 | np.uint32], classes: npt.NDArray[np.uint8], script: int
) -> str:
    keep = (classes == NONE) | (classes == script)
    if script == LATIN:
        keep |= classes == VIETNAMESE
    codec = "utf-16-le" if points.itemsize == 2 else "utf-32-le"
    return str(points[keep].tobytes(), codec, "replace")


def _east_asian(
    points: npt.NDArray[np.uint16 | np.uint32],
    classes: npt.NDArray[np.uint8],
    counts: list[int],
    hint: str | None,
) -> dict[str, float]:
    """Return the amounts of Chinese, Japanese and Korean, sentence by sentence."""
    kana = counts[HIRAGANA] + counts[KATAKANA]
    han = sum(counts[kind] for kind in _IDEOGRAPHS)
    hangul = counts[HANGUL]
    if not kana and not han:
        return {"ko": hangul * DENSE} if hangul else {}
    if not kana and not hangul:
        ahead = counts[HAN_JAPANESE] - counts[HAN_CHINESE]
        return {_of_han(ahead, hint): han * DENSE}
    return _by_sentence(points, classes, hint)


def _doubt_of_han(
    amounts: dict[str, float], counts: list[int], hint: str | None
) -> dict[str, tuple[str, float]]:
    """Return how likely ideographs that both standards have, without any others, are Japanese.

    Few Japanese texts have no kana; few Chinese ones have no character that JIS X 0208 lacks, or
    has only among its rare ones.
    """
    if hint in ("ja", "zh") or set(amounts) != {"zh"} or counts[HAN_CHINESE]:
        return {}
    chinese = _OFTENER * _LACKED ** min(counts[HAN], _MOST_LACKED)
    return {"zh": ("ja", max(_LEAST_DOUBT, 1 / (1 + chinese)))}


def of_ideographs(text: str, hint: str | None) -> str | None:
    """Return the language of a few words with ideographs, kana or Hangul; None if there are none.

    Kana and Hangul decide; then the characters of one standard alone; then the hint.
    """
    if _IDEOGRAPHIC.search(text) is None:
        return None
    counts = scripts.count(text).tolist()
    kana, hangul = counts[HIRAGANA] + counts[KATAKANA], counts[HANGUL]
    han = sum(counts[kind] for kind in _IDEOGRAPHS)
    if kana * 20 > han:
        return "ko" if hangul > kana + han else "ja"
    if hangul * 10 > han:
        return "ko"
    return _of_han(counts[HAN_JAPANESE] - counts[HAN_CHINESE], hint) if han else None


def _by_sentence(
    points: npt.NDArray[np.uint16 | np.uint32], classes: npt.NDArray[np.uint8], hint: str | None
) -> dict[str, float]:
    ends = np.zeros(len(points), np.bool_)
    for end in _SENTENCE_ENDS:
        ends |= points == end
    starts = np.concatenate([[0], np.flatnonzero(ends)])
    # Counts of each class of letters in each sentence, in one go.
    numbers = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(points)))
    kinds = _KINDS.take(classes, mode="wrap")
    counts = np.bincount(
        numbers * _NUMBER_OF_KINDS + kinds, minlength=len(starts) * _NUMBER_OF_KINDS
    )
    _, kana, hangul, other, japanese, chinese = counts.reshape(-1, _NUMBER_OF_KINDS).T
    han = other + japanese + chinese
    ideographs = kana + han
    is_ja = (kana * 20 > han) & (kana > 0) & ((kana > 1) | (han < 8))
    is_ko = ~is_ja & (hangul * 10 > han)
    is_zh = ~is_ja & ~is_ko & (chinese > japanese)
    is_ja |= ~is_ko & (japanese > chinese)
    amounts = {
        code: float(ideographs[mask].sum())
        for code, mask in (("ja", is_ja), ("zh", is_zh), ("ko", is_ko))
    }
    open_ = float(ideographs[~(is_ja | is_ko | is_zh)].sum())
    leading = max(amounts, key=amounts.__getitem__)
    if not amounts[leading] or (hint in amounts and amounts[str(hint)] * 2 > amounts[leading]):
        leading = hint if hint in amounts else "zh"
    amounts[str(leading)] += open_
    amounts["ko"] += float(hangul.sum())
    return {code: amount * DENSE for code, amount in amounts.items() if amount}


def _of_han(japanese: int, hint: str | None) -> str:
    """Return the language of ideographs alone: by their repertoire, else as hinted.

    ``japanese`` is by how many those that only Japanese standards have lead.
    """
    if japanese:
        return "ja" if japanese > 0 else "zh"
    return "ja" if hint == "ja" else "zh"


def guesses(text: str, script: int = LATIN, hint: str | None = None) -> list[Guess]:
    """Tell the languages of a text in one script: a user's own by n-grams, the rest by CLD2.

    ``hint`` is what the page says, for languages that are nearly the same.
    """
    sample = _sample(text)
    if script == LATIN and all(map(_is_english, sample.split("\n"))):
        return [Guess("en", 1.0, 1.0)]
    own = neighbours(script)
    if own is None:
        found = cld2(sample)
        if len(text) > 2 * _SAMPLE and not (found and found[0].certainty > _UNSURE):
            sample = _sample(text, _LARGE_SAMPLE)
            found = cld2(sample)
        found = [_unless_lookalike(guess, sample) for guess in found]
        if not (found and found[0].certainty > _UNSURE) and (code := rarer(sample)):
            return [Guess(code, 1.0, 1.0)]
        return _south_slavic(found, script, text, hint)
    shares, rest = own.lines(text)
    left = 1.0 - sum(shares.values())
    mine = [Guess(code, share, 1.0) for code, share in shares.items()]
    sample = _sample(rest)
    others = (_unless_lookalike(guess, sample) for guess in cld2(sample))
    return mine + [guess._replace(share=guess.share * left) for guess in others]


def _south_slavic(found: list[Guess], script: int, text: str, hint: str | None) -> list[Guess]:
    """Return guesses with the languages kept apart that CLD2 takes one for another: one of them."""
    alike = ALIKE if script == LATIN else IN_CYRILLIC
    those = [guess for guess in found if guess.language in alike]
    if not those:
        return found
    first = those[0].language
    code = told_apart(first, text, hint) if script == LATIN else in_cyrillic(first, text)
    certainty = min(1.0, sum(guess.certainty for guess in those))
    one = Guess(code, sum(guess.share for guess in those), certainty)
    others = [guess for guess in found if guess.language not in alike]
    return sorted([one, *others], key=lambda guess: -guess.share)


def _unless_lookalike(guess: Guess, sample: str) -> Guess:
    """Return a guess, or that of the language that is mistaken for it: none if that isn't known."""
    is_whole = guess.share >= _NEARLY_ALL and guess.certainty >= _UNSURE
    other = lookalike(guess.language, sample) if is_whole else None
    if other is None:
        return guess
    if other in rarer_languages():  # or in one beside it
        other = rarer(sample) or other
    return guess._replace(language=other) if is_known(other) else guess._replace(certainty=0.0)


def cld2(sample: str) -> list[Guess]:
    """Ask CLD2; its shares are of the bytes."""
    try:
        reliable, _, ranked = _detect(sample)
    except pycld2.error:
        return []
    known, found = detectable(), []
    # What it leaves out of a text that it is sure of are short words and names.
    # A single word may be a name.
    is_word = len(sample) < _FEW and len(_WORD.findall(sample)) < 2
    is_long = len(sample) > _LONG
    # It isn't sure of a text whose Latin words were left out, though it finds no other language.
    is_sure = reliable or (is_long and ranked[0][2] >= _HALF and not ranked[1][3])
    whole = sum(percent for _, _, percent, _ in ranked) if reliable else 100
    for place, (_, name, percent, score) in enumerate(ranked):
        code = name.partition("-")[0]
        code = RENAMED.get(code, code)
        is_first = is_sure and not place and not is_word
        certainty = _certainty(code, score, is_long) * (1.0 if is_first else 0.5)
        if code in known:
            found.append(Guess(code, percent / max(1, whole), certainty))
    return found


SCORES = files(__package__) / "cld2_scores.json"
"""The typical score of a language's text, by ``python -m lswc.lab.methods.cld2_scores``."""


@cache
def _typical_scores() -> dict[str, int]:
    scores: dict[str, int] = json.loads(SCORES.read_text("utf-8"))
    return scores


def _certainty(code: str, score: float, is_long: bool) -> float:
    """Return how sure a language is by CLD2's score, 0 to 1: a multiple of what a byte says.

    It is as high for one's own language as the table has it, for a neighbour's far lower.
    """
    normal = _NORMAL * _typical_scores().get(code, _TYPICAL_SCORE)
    if not is_long:
        return min(1.0, score / min(normal, _NORMAL_SHORT))
    return min(1.0, score / normal) ** _SHARPNESS


def _detect(sample: str) -> tuple[bool, int, tuple[tuple[str, str, int, float], ...]]:
    """Have CLD2 read a text; of what it refuses, controls and noncharacters, hardly any has some.

    Raises pycld2.error.
    """
    is_long = len(sample) > _LONG
    found: tuple[bool, int, tuple[tuple[str, str, int, float], ...]]
    try:
        found = pycld2.detect(sample.encode("utf-8", "replace"), bestEffort=is_long)
    except pycld2.error:
        printable = _UNPRINTABLE.sub(" ", sample).encode("utf-8", "replace")
        found = pycld2.detect(printable, bestEffort=is_long)
    return found


def score_of(text: str, code: str) -> float:
    """Return CLD2's score of a text that it tells to be in a language; 0 if it tells another."""
    try:
        _, _, ((_, name, percent, score), *_) = _detect(_sample(text))
    except pycld2.error:
        return 0.0
    base = name.partition("-")[0]
    return score if RENAMED.get(base, base) == code and percent >= _MOSTLY else 0.0


def _sample(text: str, most: int = _SAMPLE) -> str:
    """Return a text whose blanks are run together, three pieces of it if it is long."""
    if len(text) <= 2 * most:
        return " ".join(text.split())[:most]
    size = most // _PIECES
    far = (len(text) - 2 * size) // (_PIECES - 1)
    cuts = (" ".join(text[far * n : far * n + 2 * size].split())[:size] for n in range(_PIECES))
    return "\n".join(cuts)


def _is_english(text: str) -> bool:
    """Tell plain English prose, where one word in six is among the seven commonest."""
    if (
        len(text) < 200
        or " the " not in text
        or len(text.encode("utf-8", "replace")) > len(text) * 1.03
    ):
        return False
    return sum(map(text.count, _COMMON_ENGLISH)) > 0.08 * text.count(" ")


# Scripts in which more languages are written than the files of languages name.
_MANY = frozenset(
    scripts.NAMES.index(name) for name in ("Arab", "Beng", "Cyrl", "Deva", "Ethi", "Hebr", "Latn")
)


def letters_of(code: str) -> list[int]:
    """Return the classes of letters that alone tell a language; empty if none do."""
    if code == "ko":
        return [HANGUL]
    return [script for script, of in _scripts().alone.items() if of == code]


class _Scripts(NamedTuple):
    """The languages that scripts of their own tell, and the classes CLD2 isn't asked about."""

    alone: dict[int, str]
    decided: frozenset[int]


@cached_by_languages
def _scripts() -> _Scripts:
    users: dict[int, list[str]] = {}
    for code in known():
        for script in scripts.scripts_of(language(code).scripts):
            users.setdefault(script, []).append(code)
    shared = {*_MANY, *_EAST_ASIAN, MYANMAR}
    alone = {
        script: codes[0]
        for script, codes in users.items()
        if len(codes) == 1 and script not in shared
    }
    return _Scripts(alone, frozenset({NONE, VIETNAMESE, MYANMAR, *_EAST_ASIAN, *alone}))
