"""Table of rarer languages: ``python -m lswc.lab.methods.rarer FOLDER [FILE]``.

FOLDER is as lookalikes' (lswc.lab.methods.lookalikes): a folder for each sort of text, with
``<code>.txt`` of as many languages as there are; ``lswc.lab.methods.free_texts`` makes it. FILE is
the table, by default the package's.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

from lswc.lab.methods.lookalikes import load, shares
from lswc.language.ngrams import trigram_slots
from lswc.language.rarer import TABLE, UNIT

_TRIGRAMS = 600
_FEWEST = 4_000  # characters of a language
_UNSEEN = 1e-5  # share of a trigram that the table lacks
_HEAVIEST = 255
_TYPICAL = 8_000  # characters of each sort


def weights(texts: list[str]) -> tuple[float, dict[str, str]]:
    """Return the typical mean weight of a language's texts, and its trigrams by weight."""
    often = sorted(shares(texts).items(), key=lambda item: (-item[1][0], item[1][1]))
    by_slot: dict[int, int] = {}
    table: dict[str, str] = {}
    for slot, (share, trigram) in often[:_TRIGRAMS]:
        weight = min(_HEAVIEST, round(math.log(share / _UNSEEN) / UNIT))
        if weight > 0:
            by_slot[slot] = weight
            table[str(weight)] = table.get(str(weight), "") + trigram
    means = []
    for text in texts:
        slots = trigram_slots(f" {' '.join(text.lower().split())[:_TYPICAL]} ").tolist()
        means.append(sum(by_slot.get(slot, 0) for slot in slots) / max(1, len(slots)))
    return round(sum(means) / len(means), 2), table


def main(arguments: list[str]) -> int:
    """Write the table of a folder's texts."""
    if len(arguments) not in (1, 2):
        print("usage: python -m lswc.lab.methods.rarer FOLDER [FILE]", file=sys.stderr)
        return 2
    texts = {code: [*sorts.values()] for code, sorts in load(Path(arguments[0])).items()}
    enough = {code: of for code, of in texts.items() if sum(map(len, of)) >= _FEWEST}
    target = Path(arguments[1]) if len(arguments) == 2 else Path(str(TABLE))
    lines = (
        f"{json.dumps(code)}: {json.dumps(weights(of), ensure_ascii=False, separators=(',', ':'))}"
        for code, of in sorted(enough.items())
    )
    target.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")
    print(f"{len(enough)} languages in {target}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
