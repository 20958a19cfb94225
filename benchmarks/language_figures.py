"""Precision and recall of each language at 200 characters: ``lswc/language/described.toml``.

``python -m benchmarks.language_figures LABELLED [FIRST]`` takes lines as ``lswc identify
--evaluate`` does, of these every second one from FIRST (0) on: what was learned from are the
others. It prints ``code = [precision, recall, pieces]`` for each language that has a text. A piece
is right if its own language leads; pages declare nothing.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from html import escape
from typing import TYPE_CHECKING

from lswc.language import Identifier
from lswc.language.registry import code_of, known, language

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE, STEP, MOST = 200, 230, 8
"""Characters of a piece, from one to the next, and pieces of a text."""


def pieces(path: str, first: int) -> Iterator[tuple[str, str]]:
    """Yield the language and text of each piece."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        entries = [json.loads(line) for line in lines][first::2]
    for entry in entries:
        text = entry["text"]
        starts = [at for at in range(0, STEP * MOST, STEP) if at + SIZE <= len(text)]
        yield from ((code_of(entry["language"]), text[at : at + SIZE]) for at in starts)


def main() -> None:
    """Print the figures."""
    right, false, missed = Counter[str](), Counter[str](), Counter[str]()
    identifier, codes = Identifier(language("eo")), set(known())
    for code, text in pieces(sys.argv[1], int(sys.argv[2]) if sys.argv[2:] else 0):
        body = f"<p>{escape(text)}".encode()
        reading = identifier.read(body, "text/html; charset=utf-8", "http://page.invalid/")
        told = reading.identification.language
        if told == code:
            right[code] += 1
            continue
        if told:
            false[told] += 1
        if code in codes:
            missed[code] += 1
    for code in sorted(codes & {*right, *missed}):
        all_told, all_pieces = right[code] + false[code], right[code] + missed[code]
        precision = round(100 * right[code] / all_told) if all_told else 0
        print(f"{code} = [{precision}, {round(100 * right[code] / all_pieces)}, {all_pieces}]")


if __name__ == "__main__":
    main()
