"""Sites that machines wrote: a score of each, with its signs, from the texts that it has.

CLASSLA-web 2.0 (Ljubešić et al. 2026) found such sites only by looking at the largest domains.
Signs are phrases that generators leave, marks of machine translation, and prose that is said over
and over with other names in it. Tables, lists and short entries don't count: official statistics,
results of sports, dictionaries and laws are alike, too, and people wrote them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from statistics import mean, pstdev
from typing import TYPE_CHECKING, Any, NamedTuple

from lswc.corpus.minhash import runs
from lswc.reading.main_text.blocks import LONG, weight
from lswc.safety.near_duplicates import Seen, simhash
from lswc.urls import site

if TYPE_CHECKING:
    from collections.abc import Mapping

LEAST_PAGES = 10
"""Pages with prose from which on a site has a score."""
GENERATED = 0.5
"""Score from which on a site counts as generated."""

_PROSE = 300  # letters of a page's prose, in paragraphs that are text by themselves
_MOST_PAGES = 300  # of a site, that are looked at
_MOST_RUNS = 5_000_000  # of all sites, that are remembered: some 500 MB
_ONE_IN = 16  # runs that are looked at
_BEFORE = 2  # pages of the site that had a run before
_LONGEST = 20_000  # characters of a text in which phrases are looked for
_LATEST = 20_000  # pages of which a version doesn't count
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


@dataclass(slots=True)
class _Site:
    """What the pages of a site have: shares and sizes of each."""

    repeated: list[float] = field(default_factory=list)
    letters: list[float] = field(default_factory=list)
    structures: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))
    phrases: int = 0
    translated: int = 0


class GeneratedSites:
    """Judges sites, which are registered domains, by the rows of a corpus as they come."""

    def __init__(self) -> None:
        self._sites: dict[str, _Site] = {}
        self._runs: dict[int, int] = {}
        self._seen = Seen(_LATEST)
        self._verdicts: dict[str, Verdict | None] = {}

    def add(self, host: str, row: Mapping[str, Any]) -> None:
        """Take notice of a row with text."""
        home = site(host)
        found = self._sites.setdefault(home, _Site())
        if len(found.letters) >= _MOST_PAGES:
            return
        prose = [
            row["text"][one["start"] : one["end"]]
            for one in row["segments"]
            if one["kind"] == "text" and one["mark"] is None
        ]
        prose = [text for text in prose if weight(text) >= LONG]
        said = "\n".join(prose)
        letters = weight(said)
        if letters < _PROSE:
            return
        if self._seen.holds(value := simhash(said)):
            return  # a version of another page
        self._seen.add(value)
        found.letters.append(letters)
        found.structures[hash(tuple(one["kind"] for one in row["segments"]))] += 1
        found.phrases += _PHRASES.search(row["text"], 0, _LONGEST) is not None
        found.translated += row["machine_translated"] is not None
        found.repeated.append(self._repeated(home, said, row["language_script"]))

    def _repeated(self, home: str, said: str, script: str | None) -> float:
        """Return the share of a page's runs that pages of its site had, and count them."""
        own = hash(home)
        sample = {hash((own, run)) for run in runs(said, script).tolist() if run % _ONE_IN == 0}
        before = sum(self._runs.get(run, 0) >= _BEFORE for run in sample)
        if len(self._runs) < _MOST_RUNS:
            for run in sample:
                self._runs[run] = self._runs.get(run, 0) + 1
        return before / (len(sample) or 1)

    def verdict(self, host: str) -> Verdict | None:
        """Return what is known of the site of a host, when all rows are added.

        None if it has too few pages.
        """
        home = site(host)
        if home not in self._verdicts:
            self._verdicts[home] = self._judged(home)
        return self._verdicts[home]

    def generated(self) -> dict[str, Verdict]:
        """Return the sites that count as generated, those with most pages first."""
        by_pages = sorted(self._sites, key=lambda home: -len(self._sites[home].letters))
        told = ((home, self.verdict(home)) for home in by_pages)
        return {home: one for home, one in told if one is not None and one.score >= GENERATED}

    def _judged(self, home: str) -> Verdict | None:
        found = self._sites.get(home)
        if found is None or len(found.letters) < LEAST_PAGES:
            return None
        pages = len(found.letters)
        later = found.repeated[LEAST_PAGES // 2 :]
        spread = pstdev(found.letters) / mean(found.letters)
        signs = {
            "phrases of generators": _ramp((found.phrases - 1) / pages, 0.01, 0.05) * 0.9,
            "machine translation": _ramp(found.translated / pages, 0.2, 0.6) * 0.9,
            "same sentences": _ramp(mean(later), 0.3, 0.7) * 0.8,
            "same length": _ramp(0.4 - spread, 0.0, 0.3) * 0.2,
            "same structure": _ramp(max(found.structures.values()) / pages, 0.4, 0.9) * 0.2,
        }
        rest = 1.0
        for strength in signs.values():
            rest *= 1 - strength
        return Verdict(round(1 - rest, 3), tuple(name for name, one in signs.items() if one > 0.1))


def _ramp(value: float, least: float, most: float) -> float:
    """Return 0 at the least and below, 1 at the most and above."""
    return min(1.0, max(0.0, (value - least) / (most - least)))
