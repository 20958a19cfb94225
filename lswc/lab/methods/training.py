"""N-gram tables from texts: ``python -m lswc.lab.methods.training FOLDER [TABLES]``.

FOLDER holds files named ``<language>.<encoding>.txt``, such as ``my.zawgyi-one.txt`` or
``th.tis-620.txt``, in that encoding. 10 to 50 KB of plain text each are enough. A font's
encoding is named after the font, and its text is what the page holds: UTF-8, or bytes of
Windows-1252. Each file gives one table, which replaces the one of that name.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from lswc.errors import ConfigError, LswcError, writing
from lswc.language.ngrams import (
    TABLES,
    NgramTable,
    byte_trigrams,
    character_ngrams,
    ranked,
)
from lswc.language.registry import is_charset

_TRIGRAMS = 800
_CHARACTERS = 2_000


class TrainingError(ConfigError):
    """A folder without texts, or a file that isn't named as it should be."""


def table(file: Path) -> NgramTable:
    """Make the table of one text. Raises TrainingError."""
    parts = file.name.removesuffix(".txt").split(".")
    if len(parts) != 2 or not all(parts):
        raise TrainingError(f"{file}: name it <language>.<encoding>.txt")
    language, encoding = parts
    try:
        body = file.read_bytes()
    except OSError as error:
        raise TrainingError(f"{file}: {error.strerror}") from error
    if not body.strip():
        raise TrainingError(f"{file}: empty")
    characters = character_ngrams(_text(body, encoding)) if _is_needed(encoding) else Counter()
    return NgramTable(
        language,
        encoding,
        ranked(body),
        byte_trigrams(body)[:_TRIGRAMS],
        dict(characters.most_common(_CHARACTERS)),
    )


def _is_needed(encoding: str) -> bool:
    """Tell whether characters say more than a charset: in Unicode, and in what no codec knows."""
    return encoding == "utf-8" or not is_charset(encoding)


def _text(body: bytes, encoding: str) -> str:
    for codec in (encoding, "utf-8-sig", "cp1252"):
        try:
            return body.decode(codec)
        except (LookupError, UnicodeDecodeError):
            continue
    return body.decode("latin-1")


def train(folder: Path, tables: Path) -> list[str]:
    """Write the tables of all texts of ``folder``; return their names. Raises LswcError."""
    texts = sorted(folder.glob("*.txt"))
    if not texts:
        raise TrainingError(f"{folder}: no files named <language>.<encoding>.txt")
    made = [table(file) for file in texts]
    with writing(tables):
        tables.mkdir(parents=True, exist_ok=True)
        for one in made:
            target = tables / f"{one.language}.{one.encoding}.json"
            line = json.dumps(asdict(one), ensure_ascii=False, separators=(",", ":"))
            target.write_text(line + "\n", encoding="utf-8")
    return [f"{one.language}.{one.encoding}" for one in made]


def main(arguments: list[str]) -> int:
    """Train from the folder named first into the one named second, or into the package."""
    if len(arguments) not in (1, 2):
        print("usage: python -m lswc.lab.methods.training FOLDER [TABLES]", file=sys.stderr)
        return 2
    target = Path(arguments[1]) if len(arguments) == 2 else Path(str(TABLES))
    try:
        names = train(Path(arguments[0]), target)
    except LswcError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"{len(names)} tables in {target}: {' '.join(names)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
