"""Letters of PDFs, as lswc and others read them: ``python -m benchmarks.pdf_text TEXTS FOLDER``.

TEXTS is a file of JSON lines, compressed or not, each with a ``language`` and a ``text``. Of each
language so many are written by each of the writers of ``benchmarks.pdf_writers`` that this machine
has, each text in another of the fonts that it has for the language, without what the font lacks.
Every second text is held out: ``--held`` measures only those, else only the others are measured.

*Precision* is the share of the letters read that are in the text, *recall* that of the text's that
are read, both in their order (longest common subsequence). Blanks are no letters, nor is
U+200B; *blanks* are those read where the text has none, and *lost* those that aren't read, to a
hundred letters. A file is *right* if precision and recall are 97 % or more: so many are for lswc,
and for PDFium, poppler (``pdftotext``) and MuPDF (``mutool``) as they are.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import shutil
import subprocess
import unicodedata
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from fontTools.ttLib import TTFont
from pypdfium2 import PdfDocument

from benchmarks.pdf_writers import WRITERS, Source
from lswc.reading.documents import read
from lswc.reading.documents.text import Most
from lswc.safety.content_types import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LANGUAGES = ("th", "km", "my", "lo", "ja", "vi")
LONGEST = 1_500
"""Characters of a text that are printed."""

RIGHT = 0.97
"""Of precision and recall, from which on a file is right."""

_BLANKS = re.compile("[\\s\u200b]+")


def texts(file: Path, languages: list[str], number: int) -> Iterator[tuple[str, int, str]]:
    """Yield so many texts of each language, with their numbers."""
    taken: dict[str, int] = defaultdict(int)
    with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as lines:
        for line in lines:
            row = json.loads(line)
            language = row["language"]
            if language in languages and taken[language] < number:
                yield language, taken[language], row["text"][:LONGEST]
                taken[language] += 1


def fonts(language: str) -> list[tuple[str, Path]]:
    """Return the families of fonts that this machine has for a language, and their files."""
    command = [_program("fc-list"), f":lang={language}:style=Regular", "file", "family"]
    listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    split = (line.partition(": ") for line in listed.splitlines())
    found = sorted((families.partition(",")[0], Path(file)) for file, _, families in split)
    return [(family, file) for family, file in found if not family.startswith("DejaVu")]


def make(file: Path, folder: Path, languages: list[str], number: int) -> None:
    """Write texts: ``<language>-<number>.<writer>.pdf`` beside ``<language>-<number>.txt``."""
    folder.mkdir(parents=True, exist_ok=True)
    for language, place, whole in texts(file, languages, number):
        of_language = fonts(language)
        step = max(1, 2 * len(of_language) // number)
        # Two texts that follow each other, one of them held out, have the same font.
        family, path = of_language[place // 2 * step % len(of_language)]
        has = TTFont(path, fontNumber=0).getBestCmap()
        text = "".join(sign for sign in whole if ord(sign) in has or sign.isspace())
        name = folder / f"{language}-{place}"
        name.with_suffix(".txt").write_text(text)
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        for maker, write in WRITERS.items():
            out = name.with_suffix(f".{maker}.pdf")
            try:
                write(Source(lines, language, family, path), out)
            except (ImportError, OSError, subprocess.SubprocessError) as error:
                print(f"{out.name}: {error}")


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise SystemExit(f"{name} isn't installed")
    return found


def _by_pdfium(path: Path) -> str:
    with PdfDocument(path) as document:
        return "\n".join(page.get_textpage().get_text_bounded() for page in document)


def _by_poppler(path: Path) -> str:
    return _told(["pdftotext", "-enc", "UTF-8", str(path), "-"])


def _by_mupdf(path: Path) -> str:
    return _told(["mutool", "draw", "-q", "-F", "txt", str(path)])


def _told(command: list[str]) -> str:
    found = subprocess.run([_program(command[0]), *command[1:]], capture_output=True, check=False)
    return found.stdout.decode("utf-8", "replace")


OTHERS: dict[str, Callable[[Path], str]] = {
    "PDFium": _by_pdfium,
    "poppler": _by_poppler,
    "MuPDF": _by_mupdf,
}


def common(one: str, other: str) -> int:
    """Return the length of the longest common subsequence (Hyyrö 2004, bit-parallel)."""
    places: dict[str, int] = defaultdict(int)
    for place, letter in enumerate(one):
        places[letter] |= 1 << place
    every = row = (1 << len(one)) - 1
    for letter in other:
        met = row & places[letter]
        row = (row + met) | (row - met)
    return len(one) - (row & every).bit_count()


def _letters(text: str) -> str:
    return _BLANKS.sub("", unicodedata.normalize("NFC", text))


def _blanks(text: str, wanted: str, same: int) -> tuple[int, int]:
    """Return how many blanks of a text aren't in the other, and the reverse."""
    text, wanted = (
        _BLANKS.sub(" ", unicodedata.normalize("NFC", one)).strip() for one in (text, wanted)
    )
    met = max(0, common(wanted, text) - same)
    return max(0, text.count(" ") - met), max(0, wanted.count(" ") - met)


class _Row(NamedTuple):
    """Letters of a file that are right, read and wanted, blanks too many and lost."""

    same: int
    read: int
    wanted: int
    blanks: int
    lost: int
    quality: float
    others: tuple[bool, ...]

    @property
    def is_right(self) -> bool:
        return self.same >= RIGHT * max(self.read, self.wanted)


def _row(path: Path, text: str) -> _Row:
    wanted = _letters(text)
    result = read(Kind.PDF, path.read_bytes(), "", Most())
    there = _letters(result.text)
    same = common(wanted, there)
    others = []
    for other in OTHERS.values():
        theirs = _letters(other(path))
        others.append(common(wanted, theirs) >= RIGHT * max(len(wanted), len(theirs)))
    blanks = _blanks(result.text, text, same)
    quality = result.quality or 0.0
    return _Row(same, len(there), len(wanted), *blanks, quality, tuple(others))


def measure(folder: Path, *, held: bool) -> None:
    """Print what is read of the PDFs in a folder, by language and writer."""
    found: dict[tuple[str, str], list[_Row]] = defaultdict(list)
    for path in sorted(folder.glob("*.pdf")):
        name, maker, _ = path.name.split(".")
        language, _, place = name.partition("-")
        if (int(place) % 2 == 1) is held:
            text = (folder / f"{name}.txt").read_text()
            found[language, maker].append(_row(path, text))
    heads = "".join(f"{other:>9}" for other in OTHERS)
    print(f"{'PDFs right':>27}{heads}  precision  recall  blanks  lost  quality")
    for (language, maker), rows in sorted(found.items()):
        _print(f"{language:4}{maker:13}", rows)
    for language in sorted({language for language, _ in found}):
        rows = [row for (own, _), some in found.items() if own == language for row in some]
        _print(f"{language:17}", rows)
    every = [row for rows in found.values() for row in rows]
    _print(f"{'all':17}", every)
    wrong = [row for row in every if not row.is_right]
    sure = sum(row.quality >= 0.98 for row in wrong)
    print(f"of {len(wrong)} that aren't right {sure} have a quality of 0.98 or more")


def _print(name: str, rows: list[_Row]) -> None:
    same, there, wanted, more, lost = (sum(row[place] for row in rows) for place in range(5))
    right = sum(row.is_right for row in rows)
    others = "".join(f"{sum(row.others[n] for row in rows):9}" for n in range(len(OTHERS)))
    quality = min(row.quality for row in rows)
    print(
        f"{name}{len(rows):5}{right:5}{others}{same / (there or 1):11.2%}{same / wanted:8.2%}"
        f"{more / wanted * 100:8.2f}{lost / wanted * 100:6.2f}{quality:9.3f}"
    )


def main() -> None:
    """Write the texts unless that was done, and measure what is read."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("texts", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--languages", default=",".join(LANGUAGES))
    parser.add_argument("--number", type=int, default=8, help="texts of a language")
    parser.add_argument("--held", action="store_true", help="measure the texts held out")
    options = parser.parse_args()
    if not list(options.folder.glob("*.pdf")):
        make(options.texts, options.folder, options.languages.split(","), options.number)
    measure(options.folder, held=options.held)


if __name__ == "__main__":
    main()
