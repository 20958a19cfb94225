"""Tables of lookalikes: ``python -m lswc.lab.methods.lookalikes FOLDER [FILE]``.

FOLDER has a folder for each sort of text (laws, messages of programs), with ``<code>.txt`` in UTF-8
of as many languages as there are, 10 to 60 KB each. Languages whose pieces are taken for another
one become its lookalikes, beside the pairs that FILE has already (by default the package's). The
texts of a pair are compared sort by sort: else the sort is learned, not the language.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from lswc.language.lookalikes import TABLES, UNIT
from lswc.language.ngrams import trigram_slots
from lswc.language.registry import code_of, known
from lswc.language.shares import measure

if TYPE_CHECKING:
    from collections.abc import Iterator

_PIECES = ((1_000, 6, 0.15), (200, 12, 0.25))  # characters, how many, the share that is mistaken
_MISTAKEN = 0.3  # of a piece
_LIKELY = 0.45
_TRIGRAMS = 400
_FEWEST = 2  # occurrences in a text
_UNSEEN = 0.5 / 20_000
_HEAVIEST = 10.0  # nats


Texts = dict[str, dict[str, str]]
"""Texts by code of their language, and by sort."""


def load(folder: Path) -> Texts:
    """Read the texts of a folder."""
    texts: Texts = {}
    for file in sorted(folder.glob("*/*.txt")):
        texts.setdefault(file.stem, {})[file.parent.name] = file.read_text("utf-8")
    return texts


def pairs(texts: Texts) -> Iterator[tuple[str, str]]:
    """Yield a language and another whose text is taken for it, for all that are."""
    for code, text in ((code, text) for code, sorts in texts.items() for text in sorts.values()):
        found: Counter[str] = Counter()
        for size, most, least in _PIECES:
            step = max(size, len(text) // most)
            starts = range(0, min(len(text) - size, step * most), step)
            taken = Counter(of for start in starts for of in _taken(text[start : start + size]))
            found.update(of for of, times in taken.items() if times > least * len(starts))
        yield from ((of, code) for of in found if of != code_of(code))


def _taken(piece: str) -> list[str]:
    found = measure(piece)
    return [
        code
        for code, share in found.shares.items()
        if share > _MISTAKEN and found.certainty[code] >= _LIKELY
    ]


def weights(own: dict[str, str], other: dict[str, str]) -> dict[str, str]:
    """Return trigrams by the weight with which they speak for the other texts' language."""
    sorts = own.keys() & other.keys()
    mine = shares([own[sort] for sort in sorts] or list(own.values()))
    theirs = shares([other[sort] for sort in sorts] or list(other.values()))
    leads = {}
    for slot in mine.keys() | theirs.keys():
        often, trigram = mine.get(slot) or (0.0, theirs[slot][1])
        other_often, _ = theirs.get(slot) or (0.0, "")
        lead = math.log((other_often + _UNSEEN) / (often + _UNSEEN))
        leads[trigram] = (abs(lead) * (often + other_often), lead)
    best = sorted(leads, key=lambda trigram: (-leads[trigram][0], trigram))[:_TRIGRAMS]
    table: dict[str, str] = {}
    for trigram in sorted(best):
        lead = max(-_HEAVIEST, min(_HEAVIEST, leads[trigram][1]))
        if weight := round(lead / UNIT):
            table[str(weight)] = table.get(str(weight), "") + trigram
    return table


def shares(texts: list[str]) -> dict[int, tuple[float, str]]:
    """Return how often trigrams are, and the commonest, by their hash: as a text is looked up.

    In small letters, of the BMP; each text counts the same.
    """
    mean: Counter[str] = Counter()
    for text in texts:
        text = f" {' '.join(text.lower().split())} "
        found = Counter(map("".join, zip(text, text[1:], text[2:], strict=False)))
        for trigram, count in found.items():
            if count >= _FEWEST and max(trigram) <= "\uffff":
                mean[trigram] += count / len(text) / len(texts)  # type: ignore[assignment]
    by_slot: dict[int, tuple[float, str]] = {}
    ranked = mean.most_common()
    slots = trigram_slots("".join(trigram for trigram, _ in ranked))[::3].tolist()
    for slot, (trigram, share) in zip(slots, ranked, strict=True):
        before, commonest = by_slot.get(slot, (0.0, trigram))
        by_slot[slot] = (before + share, commonest)
    return by_slot


def main(arguments: list[str]) -> int:
    """Write the tables of a folder's texts."""
    if len(arguments) not in (1, 2):
        print("usage: python -m lswc.lab.methods.lookalikes FOLDER [FILE]", file=sys.stderr)
        return 2
    texts = load(Path(arguments[0]))
    target = Path(arguments[1]) if len(arguments) == 2 else Path(str(TABLES))
    had = json.loads(target.read_text("utf-8")) if target.exists() else {}
    wanted = {*pairs(texts), *((of, code) for of, codes in had.items() for code in codes)}
    tables: dict[str, dict[str, dict[str, str]]] = {}
    for of, code in sorted(wanted):
        if of in texts and code in texts and of in known():
            tables.setdefault(of, {})[code] = weights(texts[of], texts[code])
    lines = (
        f"{json.dumps(of)}: {json.dumps(table, ensure_ascii=False, separators=(',', ':'))}"
        for of, table in tables.items()
    )
    target.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")
    print(f"{sum(map(len, tables.values()))} lookalikes of {len(tables)} languages in {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
