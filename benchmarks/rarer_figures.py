"""Figures of rarer languages, how well they are told: ``python -m benchmarks.rarer_figures HELD``.

HELD is the held-out half of ``lswc.lab.methods.free_texts``. Prints a row of
docs/lab/rarer-languages.md for each language of lswc/language/rarer.toml: precision and recall in
%, of pieces of 200 characters of all languages in HELD, at most 30 of each sort of text. Told is
what leads a page of the piece that declares nothing. To choose languages, have all in rarer.toml
that have text enough, and keep those with 90 % and more of both.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from html import escape
from pathlib import Path

from lswc.language import Identifier
from lswc.language.registry import language, rarer_languages

SIZE, MOST = 200, 30


def pieces(file: Path) -> list[str]:
    """Return pieces of a text whose lines are put together by chance."""
    lines = file.read_text("utf-8").split("\n")
    random.Random(1).shuffle(lines)
    text = "\n".join(lines)
    return [text[start : start + SIZE] for start in range(0, len(text) - SIZE, SIZE)][:MOST]


def main(arguments: list[str]) -> int:
    """Print the rows."""
    if len(arguments) != 1:
        print("usage: python -m benchmarks.rarer_figures HELD", file=sys.stderr)
        return 2
    identifier = Identifier(language("th"))
    right, asked, told = Counter[str](), Counter[str](), Counter[str | None]()
    for file in sorted(Path(arguments[0]).glob("*/*.txt")):
        for piece in pieces(file):
            page = f"<p>{escape(piece)}".encode()
            found = identifier.read(page, "text/html", "http://host.test/").identification.language
            asked[file.stem] += 1
            told[found] += 1
            right[file.stem] += found == file.stem
    for code, name in rarer_languages().items():
        precision = 100 * right[code] // max(1, told[code])
        recall = 100 * right[code] // max(1, asked[code])
        print(f"| `{code}` | {name} | {precision} | {recall} | {asked[code]} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
