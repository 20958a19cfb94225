"""Sites that machines wrote: a score of each, with its signs, from the prose of its pages.

CLASSLA-web 2.0 (Ljubešić et al. 2026) found such sites only by looking at the largest domains.
Signs are phrases that generators leave, marks of machine translation, prose that is said over and
over with other names in it, and pages of which each is another one with other words in it. Tables,
lists and short entries don't count: official statistics, results of sports, dictionaries and laws
are alike, too, and people wrote them.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from statistics import mean, pstdev
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lswc.reading.main_text.blocks import LONG, weight
from lswc.safety.near_duplicates import Seen, counted_characters, simhash
from lswc.safety.runs import windows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

LEAST_PAGES = 10
"""Pages with prose from which on a site has a score."""
GENERATED = 0.5
"""Score from which on a site counts as generated."""
PROSE = 300
"""Letters of a page's prose from which on it counts."""

_MOST_PAGES = 300  # of a site, that are counted
_REPEATED = 2  # pages of a site that have a paragraph before it counts no more
_COMPARED = 100  # pages of a site that are compared with each other
_MOST_RUNS = 50_000_000  # of all sites, that are kept: 200 MB
_ONE_IN = 16  # runs that are kept
_LONGEST = 5_000  # characters of a page that are looked at
_LATEST = 20_000  # pages of which a version doesn't count
_LONG, _SHORT = 16, 8  # letters of a run; half as many where each is a syllable
_OTHERS = 5  # pages that are like a page of spun text
_LEAST_SIGN, _MOST_OF_WEAK = 0.1, 0.4  # weak signs alone mark no site
_DENSE = 0x3040  # the first letter of kana, ideographs and Hangul
_PHRASES = re.compile(
    r"as an ai (?:language )?model|as of my last (?:knowledge )?update|my knowledge cutoff|"
    r"i (?:cannot|can't) (?:fulfill|assist with) (?:that|this) request|"
    r"certainly[!,] here(?:'s| is| are)|"
    r"ในฐานะ(?:ที่เป็น)?(?:โมเดล|แบบจำลอง)ภาษา|ฉันเป็น(?:โมเดล|แบบจำลอง)ภาษา|"
    r"ai\s?(?:の)?言語モデルとして|私はaiなので|作为(?:一个|一种)?(?:人工智能|ai)(?:语言)?(?:模型|助手)|"
    r"作為(?:一個|一種)?(?:人工智慧|ai)(?:語言)?(?:模型|助手)|ai\s?언어\s?모델로서|인공지능\s?언어\s?모델로서|"
    r"(?:là|với tư cách là) một mô hình ngôn ngữ|ຂ້ອຍເປັນຮູບແບບພາສາ|"
    r"ក្នុងនាមជាគំរូភាសា|ai ဘာသာစကား မော်ဒယ်",
    re.IGNORECASE,
)


class Verdict(NamedTuple):
    """How likely machines wrote a site, from 0 to 1, and the signs that say so."""

    score: float
    signs: tuple[str, ...]


class Page(NamedTuple):
    """What a page has that tells of its site.

    ``text`` is all that it says, ``prose`` its paragraphs that are text by themselves.
    ``structure`` is the same number for pages that are built alike; None if it isn't known, nor how
    long the page is. ``is_translated`` says that it has a mark of machine translation.
    """

    text: str
    prose: Sequence[str]
    structure: int | None = None
    is_translated: bool = False


def prose_of(paragraphs: Iterable[str]) -> list[str]:
    """Return the paragraphs that are text by themselves."""
    return [one for one in paragraphs if weight(one) >= LONG]


@dataclass(slots=True)
class _Site:
    """What the pages of a site have: letters, structures, and the first of their runs."""

    letters: list[float] = field(default_factory=list)
    paragraphs: Counter[int] = field(default_factory=Counter)
    structures: Counter[int] = field(default_factory=Counter)
    long: list[NDArray[np.uint32]] = field(default_factory=list)
    short: list[NDArray[np.uint32]] = field(default_factory=list)
    phrases: int = 0
    translated: int = 0


class GeneratedSites:
    """Judges sites, which are registered domains, by their pages as they come."""

    def __init__(self) -> None:
        self._sites: dict[str, _Site] = {}
        self._runs = 0
        self._seen = Seen(_LATEST)

    def add(self, site: str, page: Page) -> int:
        """Take notice of a site's page; return how many of its pages count by now."""
        found = self._sites.setdefault(site, _Site())
        if len(found.letters) >= _MOST_PAGES:
            return len(found.letters)
        own = [one for one in page.prose if found.paragraphs[hash(one)] < _REPEATED]
        found.paragraphs.update({hash(one) for one in own})
        prose, letters = "\n".join(own)[:_LONGEST], sum(map(weight, own))
        if letters < PROSE:
            return len(found.letters)
        if self._seen.holds(value := simhash(prose)):
            return len(found.letters)  # a version of another page
        self._seen.add(value)
        found.letters.append(letters)
        if page.structure is not None:
            found.structures[page.structure] += 1
        found.phrases += _PHRASES.search(page.text, 0, _LONGEST) is not None
        found.translated += page.is_translated
        if len(found.long) < _COMPARED and self._runs < _MOST_RUNS:
            signs = counted_characters(prose)
            is_dense = 2 * int((signs >= _DENSE).sum()) > len(signs)
            found.long.append(_sketch(signs, _LONG >> is_dense))
            found.short.append(_sketch(signs, _SHORT >> is_dense))
            self._runs += len(found.long[-1]) + len(found.short[-1])
        return len(found.letters)

    def pages(self, site: str) -> int:
        """Return how many pages of a site count."""
        return len(self._sites[site].letters) if site in self._sites else 0

    def verdict(self, site: str) -> Verdict | None:
        """Return what is known of a site by now; None if it has too few pages."""
        found = self._sites.get(site)
        if found is None or len(found.letters) < LEAST_PAGES:
            return None
        pages = len(found.letters)
        strong = {
            "phrases of generators": _ramp((found.phrases - 1) / pages, 0.01, 0.05) * 0.9,
            "machine translation": _ramp(found.translated / pages, 0.2, 0.6) * 0.9,
            "same sentences": _ramp(_said_before(found.long), 0.3, 0.7) * 0.8,
            "same text in other words": _ramp(_alike(found.short), 0.25, 0.4) * 0.8,
        }
        weak = _weak(found) if found.structures else {}
        sure, more = _together(strong), _together(weak)
        score = 1 - (1 - sure) * (1 - more) if sure > _LEAST_SIGN else min(more, _MOST_OF_WEAK)
        signs = {**strong, **weak}
        return Verdict(
            round(score, 3), tuple(name for name, one in signs.items() if one > _LEAST_SIGN)
        )

    def verdicts(self) -> dict[str, Verdict]:
        """Return what is known of all sites with enough pages, those with most pages first."""
        by_pages = sorted(self._sites, key=lambda home: -len(self._sites[home].letters))
        told = ((home, self.verdict(home)) for home in by_pages)
        return {home: one for home, one in told if one is not None}


def _weak(found: _Site) -> dict[str, float]:
    """Return the signs that people's sites have, too."""
    spread = pstdev(found.letters) / mean(found.letters)
    alike = max(found.structures.values()) / len(found.letters)
    return {
        "same length": _ramp(0.4 - spread, 0.0, 0.3) * 0.15,
        "same structure": _ramp(alike, 0.4, 0.9) * 0.15,
    }


def _sketch(letters: NDArray[np.uint32], length: int) -> NDArray[np.uint32]:
    """Return one in _ONE_IN of a text's runs, those with the smallest hashes (Broder 1997)."""
    found = np.unique(windows(letters.astype(np.uint64), length) >> np.uint64(32))
    return found[found < 2**32 // _ONE_IN].astype(np.uint32)


def _said_before(sketches: list[NDArray[np.uint32]]) -> float:
    """Return the share of a page's runs that two other pages have, on the mean."""
    runs, number = np.unique(np.concatenate(sketches), return_counts=True)
    often = runs[number > 2]
    return mean(float(np.isin(one, often).mean()) for one in sketches if len(one))


def _alike(sketches: list[NDArray[np.uint32]]) -> float:
    """Return the share of a page's runs that each of _OTHERS pages has, in the median page.

    Those most like it are taken. People write a page twice, in two versions; spun text is like
    many.
    """
    runs, places = np.unique(np.concatenate(sketches), return_inverse=True)
    has = np.zeros((len(sketches), len(runs)), np.float32)
    has[np.repeat(np.arange(len(sketches)), [len(one) for one in sketches]), places] = 1
    common = has @ has.T
    np.fill_diagonal(common, 0)
    others = np.sort(common, axis=1)[:, -_OTHERS]
    return float(np.median(others / np.maximum(has.sum(axis=1), 1)))


def _together(signs: Mapping[str, float]) -> float:
    rest = 1.0
    for strength in signs.values():
        rest *= 1 - strength
    return 1 - rest


def _ramp(value: float, least: float, most: float) -> float:
    """Return 0 at the least and below, 1 at the most and above."""
    return min(1.0, max(0.0, (value - least) / (most - least)))
