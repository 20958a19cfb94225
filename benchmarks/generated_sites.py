"""Sites of people and of machines: ``python -m benchmarks.generated_sites WEB``.

WEB is a frozen web (``<host>/<path>``). Each language of a host is a site of people. Sites of
machines are made of their paragraphs: one text with other names in it, words with synonyms,
translations with a mark. So are tables, results, entries and laws, which people write and which
are alike, too.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path
from random import Random
from statistics import median
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from lswc.language.charset import decode
from lswc.language.shares import measure
from lswc.reading.generated_sites import GENERATED, GeneratedSites, Page, Verdict
from lswc.reading.main_text.blocks import LONG, weight
from lswc.reading.main_text.paragraphs import read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MOST = 2_500
"""Pages of a host that are read, of which a site has up to OF_SITE."""
OF_SITE = 400
LEAST_PARAGRAPHS = 400
"""Paragraphs of a language from which on sites are made of it, MADE in each way."""
MADE = 3
UNSPACED = frozenset({"th", "ja", "zh", "km", "lo", "my"})


class Piece(NamedTuple):
    """A paragraph, its kind, and the mark of what it begins."""

    text: str
    kind: str = "text"
    mark: str | None = None


def sites(web: Path) -> dict[tuple[str, str], list[list[Piece]]]:
    """Return the pages of each language of each host."""
    found: defaultdict[tuple[str, str], list[list[Piece]]] = defaultdict(list)
    for host in sorted(web.iterdir()):
        paths = sorted(
            (path for path in host.rglob("*") if path.is_file() and path.suffix in (".html", "")),
            key=lambda path: crc32(str(path).encode()),
        )
        for path in paths[:MOST]:
            text = read(decode(path.read_bytes(), None).text, f"http://{path.relative_to(web)}")
            page = [Piece(one.text, one.kind, one.mark) for one in text.paragraphs]
            shares = measure(" ".join(one.text for one in page)[:3_000]).shares
            own = found[host.name, max(shares, key=shares.__getitem__, default="")]
            if page and len(own) < OF_SITE:
                own.append(page)
    return found


def judged(pages: Sequence[Sequence[Piece]], translated: str | None = None) -> Verdict | None:
    """Return what a corpus says of a site with these pages."""
    found = GeneratedSites()
    for page in pages:
        own = [one.text for one in page if one.kind == "text" and one.mark is None]
        prose = [one for one in own if weight(one) >= LONG]
        kinds = hash(tuple(one.kind for one in page))
        found.add("a.example", Page("\n".join(own), prose, kinds, translated is not None))
    return found.verdict("a.example")


class Maker:
    """Makes pages of a language's paragraphs."""

    def __init__(self, language: str, paragraphs: Sequence[str], random: Random) -> None:
        self.paragraphs, self._random = paragraphs, random
        self._blank = "" if language in UNSPACED else " "
        self.names = [self._one()[:12].replace(" ", "") for _ in range(60)]

    def _one(self) -> str:
        return self._random.choice(self.paragraphs)

    def _units(self, text: str) -> list[str]:
        return text.split() if self._blank else re.findall(r".{1,4}", text, re.DOTALL)

    def own(self, extra: str = "") -> list[list[Piece]]:
        """Return pages of paragraphs that people wrote; with something more on one of sixteen."""
        pages = [[Piece(self._one()) for _ in range(5)] for _ in range(100)]
        for page in pages[::16] if extra else ():
            page.append(Piece(extra))
        return pages

    def filled(self, share: float) -> list[list[Piece]]:
        """Return one text with names in a share of its places."""
        texts = [self._units(self._one()) for _ in range(7)]
        places = [{i for i in range(len(t)) if self._random.random() < share} for t in texts]
        pages = []
        for _ in range(60):
            names = self._random.sample(self.names, 4)
            pages.append(
                [
                    Piece(
                        self._blank.join(names[i % 4] if i in own else u for i, u in enumerate(t))
                    )
                    for t, own in zip(texts, places, strict=True)
                ]
            )
        return pages

    def spun(self, share: float, synonyms: int) -> list[list[Piece]]:
        """Return three texts, in which a share of the words has so many synonyms."""
        choices = [
            [
                [[u, *self._others(share, synonyms)] for u in self._units(self._one())]
                for _ in "123456"
            ]
            for _ in range(3)
        ]
        return [
            [
                Piece(self._blank.join(map(self._random.choice, text)))
                for text in self._random.choice(choices)
            ]
            for _ in range(80)
        ]

    def _others(self, share: float, number: int) -> list[str]:
        if self._random.random() >= share:
            return []
        return [self._random.choice(self._units(self._one())) for _ in range(number)]

    def rows(self, kind: str, form: str) -> list[list[Piece]]:
        """Return pages of thirty short rows, with a paragraph of their own."""
        pick = self._random
        return [
            [
                *(
                    Piece(
                        form.format(pick.choice(self.names), pick.randrange(99), self._one()[:60]),
                        kind,
                    )
                    for _ in range(30)
                ),
                Piece(self._one()),
            ]
            for _ in range(60)
        ]

    def laws(self) -> list[list[Piece]]:
        """Return pages of articles, of which two of five begin alike."""
        forms = [self._one()[:120] for _ in range(4)]
        return [
            [
                Piece(
                    (self._random.choice(forms) if self._random.random() < 0.4 else "")
                    + self._one()
                )
                for _ in range(12)
            ]
            for _ in range(60)
        ]


def ways(maker: Maker) -> Iterator[tuple[str, Callable[[], Verdict | None]]]:
    """Yield the names of what is made, and what judges it."""
    phrase = "As an AI language model, ในฐานะโมเดลภาษา AI, 作为一个AI语言模型"
    yield "machines: filled, 5 %", lambda: judged(maker.filled(0.05))
    yield "machines: filled, 12 %", lambda: judged(maker.filled(0.12))
    yield "machines: spun, 1/4 of 2", lambda: judged(maker.spun(0.25, 2))
    yield "machines: spun, 1/2 of 4", lambda: judged(maker.spun(0.5, 4))
    yield "machines: phrases in 1/16", lambda: judged(maker.own(phrase))
    yield "machines: translated", lambda: judged(maker.own(), "google")
    yield "people: at random", lambda: judged(maker.own())
    yield "people: tables", lambda: judged(maker.rows("table", "{} | {}"))
    yield "people: results", lambda: judged(maker.rows("text", "{0} {1}-1 {0}"))
    yield "people: dictionaries", lambda: judged(maker.rows("text", "{0}: {2}"))
    yield "people: laws", lambda: judged(maker.laws())


def main() -> None:
    """Print the sites of people with the highest scores, and what share of each kind is marked."""
    paragraphs: defaultdict[str, list[str]] = defaultdict(list)
    told = []
    for (host, language), pages in sites(Path(sys.argv[1])).items():
        if verdict := judged(pages):
            told.append((verdict.score, host, language, verdict.signs))
            every = (one for page in pages for one in page if one.kind == "text")
            paragraphs[language] += [one.text for one in every if 80 < len(one.text) < 600]
    print(f"{len(told)} sites of people, {sum(one[0] >= GENERATED for one in told)} marked")
    for one in sorted(told, reverse=True)[:8]:
        print(*one)
    scores: defaultdict[str, list[float]] = defaultdict(list)
    for language, every in paragraphs.items():
        if len(own := list(dict.fromkeys(every))) >= LEAST_PARAGRAPHS:
            for number in range(MADE):
                for name, judge in ways(Maker(language, own, Random(number))):
                    verdict = judge()
                    scores[name].append(verdict.score if verdict else 0.0)
    for name, found in scores.items():
        marked = sum(one >= GENERATED for one in found) / len(found)
        print(f"{name:28} {len(found):4} sites {marked:5.0%} marked, median {median(found):.2f}")


if __name__ == "__main__":
    main()
