"""The default method: scripts first, then CLD2 for Latin script, then the fonts' trigrams.

Measured against eight language detectors, the share of letters was at least as good for
every language with a script of its own, and ten times faster (docs/languages.md).
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import pycld2

from lswc.langid.encoding import canonical
from lswc.langid.fonts import Fonts, myanmar
from lswc.langid.scripts import Letters, characters, count
from lswc.languages import known, language

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from lswc.langid.document import Document
    from lswc.languages import Language

MIN_SHARE = 0.15
"""Share of the text from which on a page is in the target language (docs/languages.md)."""

ENOUGH = 150
"""Letters outside links, menus and footers from which on these alone decide."""

_CONTENT_SHARE = 0.2  # of all letters; then fewer decide alone as well
_EXAMINED = 40_000  # characters
_SAMPLE = 1_500  # characters that CLD2 sees
_GLANCE = 700  # and where the target's script is missing, so only English matters
_FEW = 4  # letters; with fewer a page has no text to go by
_DENSE = 2.5  # an ideograph, kana or Hangul syllable says as much as 2.5 letters
_VIETNAMESE_PER_LETTER = 0.13  # Letters.VIETNAMESE among the letters of Vietnamese text
_SHORT = 10  # characters; in Latin script, fewer can't tell a language
_SURE = 0.9  # confidence in another language that spares a look at fonts
_NORMAL_SCORE = 500.0  # CLD2's for real text is above that, for text in a font below 200
_RENAMED = {"iw": "he", "jw": "jv"}
_COMMON_ENGLISH = (" the ", " of ", " and ", " to ", " in ", " is ", " for ")
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)
LETTER = re.compile(r"[^\W\d_]")
_NEVER = 2.0  # a share that no language reaches
_BY_SCRIPT = {
    "th": (Letters.THAI,),
    "lo": (Letters.LAO,),
    "km": (Letters.KHMER,),
    "ko": (Letters.HANGUL,),
    "my": (Letters.MYANMAR,),
    "vi": (Letters.VIETNAMESE,),
}
_SCRIPTED = frozenset({*_BY_SCRIPT, "ja", "zh"})


class Finding(NamedTuple):
    """A language, how sure, and by what evidence."""

    language: str | None
    confidence: float
    how: str


NOTHING = Finding(None, 0.0, "nothing")


class Weighed(NamedTuple):
    """Letters of the text that decides, and that text; ``own`` if it is without the links'."""

    letters: npt.NDArray[np.intp]
    text: str
    own: bool

    @property
    def is_latin(self) -> bool:
        """Whether most letters are Latin."""
        n = self.letters
        return bool((n[Letters.LATIN] + n[Letters.VIETNAMESE]) * 2 > n[1:].sum())


def weigh(document: Document) -> Weighed:
    """Take a page's own text if there is enough of it, else that of its links as well."""
    page = document.page
    own = f"{page.title}\n{page.content}"[:_EXAMINED]
    content = count(own)
    weight = _weight(content)
    if weight >= ENOUGH:
        return Weighed(content, own, True)
    anchors = count(page.anchors[:_EXAMINED])
    total = weight + _weight(anchors)
    if weight >= _CONTENT_SHARE * total >= _FEW:
        return Weighed(content, own, True)
    text = f"{own}\n{page.anchors}"[:_EXAMINED]
    if total < _FEW:
        text = f"{text}\n{page.hints}"[:_EXAMINED]
        return Weighed(count(text), text, False)
    return Weighed(content + anchors, text, False)


def _weight(counts: npt.NDArray[np.intp]) -> float:
    return float(counts[1:].sum() + counts[Letters.KANA :].sum() * (_DENSE - 1))


def shares(counts: npt.NDArray[np.intp]) -> dict[str, float]:
    """Return the share of the text that is in each language known by its letters.

    Burmese stands for all languages in its script.
    """
    n = counts.tolist()
    kana, hangul = n[Letters.KANA], n[Letters.HANGUL]
    japanese, chinese = n[Letters.HAN_JAPANESE], n[Letters.HAN_CHINESE]
    han = n[Letters.HAN] + japanese + chinese
    latin = n[Letters.LATIN] + n[Letters.VIETNAMESE]
    amounts = {code: float(n[letters]) for code, (letters,) in _BY_SCRIPT.items()}
    amounts["vi"] = min(latin, amounts["vi"] / _VIETNAMESE_PER_LETTER)
    amounts["ko"] *= _DENSE
    of_han = _language_of_han(kana, hangul, han, japanese - chinese)
    amounts[of_han] = amounts.get(of_han, 0.0) + (kana + han) * _DENSE
    total = sum(n[1:]) + (kana + han + hangul) * (_DENSE - 1)
    return {code: amount / total for code, amount in amounts.items() if amount}


def _language_of_han(kana: int, hangul: int, han: int, japanese: int) -> str:
    """Return the language of ideographs: kana or Hangul among them tell, else their repertoire.

    ``japanese`` is by how many those that only Japanese standards have lead.
    """
    if kana * 20 > han:
        return "ja"
    if hangul * 10 > han:
        return "ko"
    return "ja" if japanese > 0 else "zh"


class Auto:
    """The default method for one target language."""

    def __init__(self, target: Language, min_share: float) -> None:
        self._target = target.code
        self._min_share = min_share
        self._fonts = Fonts(target.code, target.fonts)
        self._anchor = _ANCHORS.get(target.code, _any_anchor)

    def identify(self, document: Document) -> tuple[Finding, str]:
        """Return what a page is written in, and the encoding. Any bytes give an answer."""
        weighed = weigh(document)
        finding, encoding = self._by_letters(weighed), document.decoded.encoding
        if finding.how == "letters of my":
            code, name = myanmar(weighed.text)
            how = f"Myanmar n-grams: {code}, {name}"
            return finding._replace(language=code, how=how), encoding if name == "utf-8" else name
        other = finding.language != self._target and finding.confidence < _SURE
        if other and self._fonts and weighed.is_latin:
            in_font = self._by_font(document, finding)
            if in_font is not None:
                return in_font
        if finding.language is None:
            finding = declared(document)
        return finding, encoding

    def _by_letters(self, weighed: Weighed) -> Finding:
        if int(weighed.letters[1:].sum()) < _FEW:
            return NOTHING
        by_letters = shares(weighed.letters)
        share = by_letters.pop(self._target, 0.0)
        if share >= self._min_share:
            return Finding(self._target, min(1.0, share), f"letters of {self._target}")
        best = max(by_letters, key=by_letters.__getitem__, default="")
        if best and by_letters[best] > 0.4:
            return Finding(best, min(1.0, by_letters[best]), f"letters of {best}")
        # A script of its own has been counted; CLD2 counts bytes, three to a letter there.
        if self._target in _SCRIPTED:
            return detect(weighed.text, self._target, _NEVER, _GLANCE)
        return detect(weighed.text, self._target, self._min_share)

    def _by_font(self, document: Document, finding: Finding) -> tuple[Finding, str] | None:
        page = document.as_windows_1252()
        text = page.content if len(page.content) >= ENOUGH else f"{page.content}\n{page.anchors}"
        match, name = self._fonts.match(text), self._fonts.named(document.body)
        if match is not None and match.share >= self._min_share:
            how = f"font n-grams: {match.encoding}" + (f", font {name}" if name else "")
            confidence = min(1.0, match.share)
            encoding = match.encoding if match.encoding != "unmarked" else document.decoded.encoding
            return Finding(self._target, confidence, how), encoding
        if name is not None and finding.confidence < 0.5 and len(text) >= ENOUGH:
            return Finding(self._target, 0.5, f"font {name}"), name.lower().replace(" ", "-")
        return None

    def anchor(self, text: str, page: Finding) -> bool:
        """Tell whether an anchor text is in the target language, in the light of its page's."""
        if self._anchor(text, page.language, self._target):
            return True
        return page.how.startswith("font") and self._fonts.match(text) is not None


def detect(text: str, target: str, min_share: float, size: int = _SAMPLE) -> Finding:
    """Take plain English prose for English, and ask CLD2 about anything else."""
    sample = " ".join(text[: size * 4].split())[:size]
    if target != "en" and _is_english(sample):
        return Finding("en", 0.9, "common words")
    return cld2(sample, target, min_share)


def cld2(text: str, target: str = "", min_share: float = 1.0) -> Finding:
    """Ask CLD2. The target needs only its share, any other language has to lead."""
    sample = _UNPRINTABLE.sub(" ", text)
    try:
        reliable, _, ranked = pycld2.detect(sample.encode(), bestEffort=len(sample) > 200)
    except pycld2.error:
        return NOTHING
    others: list[Finding] = []
    for place, (_, name, percent, score) in enumerate(ranked):
        code = name.partition("-")[0]
        code = _RENAMED.get(code, code)
        certainty = min(1.0, score / _NORMAL_SCORE) * (1.0 if reliable and not place else 0.5)
        leads = place == 0 or reliable or percent > 50
        if code == target and leads and percent >= min_share * 100:
            return Finding(code, percent / 100 * certainty, "cld2")
        if code not in (target, "un"):
            others.append(Finding(code, percent / 100 * certainty, "cld2"))
    return others[0] if others else NOTHING


def _is_english(text: str) -> bool:
    """Tell plain English prose, where one word in six is among the seven commonest."""
    if (
        len(text) < 200
        or " the " not in text
        or len(text.encode("utf-8", "replace")) > len(text) * 1.03
    ):
        return False
    return sum(map(text.count, _COMMON_ENGLISH)) > 0.08 * text.count(" ")


def declared(document: Document) -> Finding:
    """Take the word of a page without text: its charset if one language's, else its ``lang``."""
    _, encoding, how, _ = document.decoded
    if how in ("header", "meta") and encoding in _languages_by_charset():
        return Finding(_languages_by_charset()[encoding], 0.4, f"charset {encoding}")
    code = document.page.lang.partition("-")[0]
    if code in known():
        return Finding(code, 0.3, "lang attribute")
    return NOTHING


@cache
def _languages_by_charset() -> dict[str, str]:
    return {canonical(charset): code for code in known() for charset in language(code).charsets}


@cache
def _pattern(*classes: Letters) -> re.Pattern[str]:
    return re.compile(f"[{re.escape(characters(*classes))}]")


def _script_anchor(text: str, hint: str | None, target: str) -> bool:
    return not text.isascii() and _pattern(*_BY_SCRIPT[target]).search(text) is not None


def _burmese_anchor(text: str, hint: str | None, target: str) -> bool:
    if not _script_anchor(text, hint, target):
        return False
    return hint == "my" or myanmar(text)[0] == "my"


def _han_anchor(text: str, hint: str | None, target: str) -> bool:
    """Kana and Hangul decide; then the characters of one standard alone; then the page."""
    if text.isascii():
        return False
    n = count(text).tolist()
    japanese, chinese = n[Letters.HAN_JAPANESE], n[Letters.HAN_CHINESE]
    if not n[Letters.HAN] + japanese + chinese + n[Letters.KANA]:
        return False
    if japanese == chinese and not n[Letters.KANA] + n[Letters.HANGUL] and hint in ("ja", "zh"):
        return hint == target
    return max(found := shares(count(text)), key=found.__getitem__) == target


def _vietnamese_anchor(text: str, hint: str | None, target: str) -> bool:
    if text.isascii():
        return False
    return _script_anchor(text, hint, target) or _any_anchor(text, hint, target)


def _any_anchor(text: str, hint: str | None, target: str) -> bool:
    if len(text) < _SHORT:
        return hint == target
    return detect(text, target, 0.5).language == target


_ANCHORS = dict.fromkeys(("th", "lo", "km", "ko"), _script_anchor) | {
    "my": _burmese_anchor,
    "ja": _han_anchor,
    "zh": _han_anchor,
    "vi": _vietnamese_anchor,
}
