"""The one entry point: an Identifier reads pages for one target language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pycld2

from lswc.langid.encoding import decode
from lswc.langid.page import parse
from lswc.langid.scripts import Letters, count
from lswc.strategy import Anchor, PageLanguage

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from lswc.languages import Language

METHODS = ("auto",)
MIN_SHARE = 0.2
EXAMINED = 262_144
"""Bytes of a page that are looked at; the rest can't change what it is written in."""

_DENSE = 2.5  # one ideograph, kana or Hangul syllable says as much as 2.5 letters
_LANGUAGE_OF = {
    Letters.THAI: "th",
    Letters.LAO: "lo",
    Letters.KHMER: "km",
    Letters.MYANMAR: "my",
    Letters.KANA: "ja",
    Letters.HAN: "zh",
    Letters.HANGUL: "ko",
    Letters.VIETNAMESE: "vi",
}
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)


class IdentifierError(ValueError):
    """Unknown method, or a share out of range; the message says what is allowed."""


@dataclass(frozen=True, slots=True)
class Identification:
    """What a page is written in.

    ``language`` is an ISO 639 code, None if it can't be told. ``encoding`` is a WHATWG
    name, or that of a font's encoding such as zawgyi-one. ``confidence`` is from 0 to 1.
    ``how`` says by what evidence.
    """

    language: str | None
    encoding: str
    confidence: float
    how: str


@dataclass(frozen=True, slots=True)
class RawLink:
    """A link as found: absolute URL, its anchor text and that text's language."""

    url: str
    anchor_text: str
    anchor: Anchor
    nofollow: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """All that one parse of a page gives.

    ``robots`` are the tokens of META robots in lower case, ``text_length`` the characters
    of visible text.
    """

    identification: Identification
    title: str
    links: list[RawLink]
    robots: frozenset[str]
    text_length: int


class Identifier:
    """Reads pages for one target language.

    ``min_share`` is the share of the text from which on a page counts as written in the
    target language. Raises IdentifierError.
    """

    def __init__(
        self, target: Language, method: str = "auto", min_share: float = MIN_SHARE
    ) -> None:
        if method not in METHODS:
            raise IdentifierError(f"unknown method {method!r}; known: {', '.join(METHODS)}")
        if not 0 < min_share <= 1:
            raise IdentifierError(f"min_share must be above 0 and at most 1, not {min_share}")
        self.target = target
        self.method = method
        self.min_share = min_share

    def read(self, body: bytes, content_type: str | None, url: str) -> Reading:
        """Read a page: any bytes give an answer, never an exception."""
        text, encoding, _ = decode(body[:EXAMINED], content_type)
        page = parse(text, url)
        language, confidence, how = self._language(f"{page.title} {page.text}")
        hint = Identification(language, encoding, confidence, how)
        links = [
            RawLink(link.url, link.text, self.anchor(link.text, language), link.nofollow)
            for link in page.links
        ]
        return Reading(hint, page.title, links, page.robots, len(page.text))

    def relevance(self, identification: Identification) -> PageLanguage:
        """Return what a strategy sees of a page's language."""
        if identification.language == self.target.code:
            return PageLanguage.TARGET
        if identification.language is None:
            return PageLanguage.UNKNOWN
        return PageLanguage.ENGLISH if identification.language == "en" else PageLanguage.OTHER

    def anchor(self, text: str, hint: str | None = None) -> Anchor:
        """Return the language of an anchor text.

        ``hint`` is the language of the page, for a text that alone can't tell.
        """
        if not text or not any(map(str.isalpha, text)):
            return Anchor.NONE
        language = self._language(text)[0] or hint
        return Anchor.TARGET if language == self.target.code else Anchor.OTHER

    def _language(self, text: str) -> tuple[str | None, float, str]:
        shares = _shares(count(text))
        share = shares.get(self.target.code, 0.0)
        if share >= self.min_share:
            return self.target.code, share, "script"
        best = max(shares, key=lambda code: shares[code], default="")
        if best and shares[best] >= 0.5:
            return best, shares[best], "script"
        return _cld2(text)


def _shares(counts: npt.NDArray[np.intp]) -> dict[str, float]:
    """Return each script language's share of the letters."""
    kana = int(counts[Letters.KANA])
    japanese, chinese = int(counts[Letters.HAN_JAPANESE]), int(counts[Letters.HAN_CHINESE])
    han = int(counts[Letters.HAN]) + japanese + chinese
    shares = {code: float(counts[letters]) for letters, code in _LANGUAGE_OF.items()}
    shares["zh"] = shares["ja"] = 0.0
    shares["ja" if kana * 20 > han or japanese > chinese else "zh"] = (kana + han) * _DENSE
    shares["ko"] *= _DENSE
    shares["vi"] *= 5
    total = sum(shares.values()) + float(counts[Letters.LATIN] + counts[Letters.OTHER])
    return {code: value / total for code, value in shares.items() if value}


def _cld2(text: str) -> tuple[str | None, float, str]:
    sample = _UNPRINTABLE.sub(" ", text[:4096]).encode()
    try:
        reliable, _, ranked = pycld2.detect(sample, bestEffort=True)
    except pycld2.error:
        return None, 0.0, "nothing"
    code = ranked[0][1].partition("-")[0]
    if code == "un":
        return None, 0.0, "nothing"
    return code, ranked[0][2] / 100 * (1 if reliable else 0.5), "cld2"
