"""Letters of PDFs, as lswc reads them: ``python -m benchmarks.pdf_text TEXTS FOLDER``.

TEXTS is a file of JSON lines, compressed or not, each with a ``language`` and a ``text``. Of each
language so many are printed, by Chromium and by LibreOffice, each in another of the fonts that this
machine has for the language. Every second text is held out: ``--held`` measures only those, else
only the others are measured.

*Precision* is the share of the letters read that are in the text, *recall* that of the text's that
are read, both in their order (longest common subsequence). Blanks are no letters, nor is
U+200B; *blanks* are those read where the text has none, and *lost* those that aren't read, to a
hundred letters. LibreOffice is ``soffice``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import shutil
import subprocess
import tempfile
import unicodedata
from collections import defaultdict
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from lswc.reading.documents import read
from lswc.reading.documents.text import Most
from lswc.safety.content_types import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

LANGUAGES = ("th", "km", "my", "lo", "ja", "vi")
LONGEST = 3_000
"""Characters of a text that are printed."""

_BLANKS = re.compile("[\\s\u200b]+")
_OPEN_DOCUMENT = """<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"
 xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
 xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"
 office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.text">
<office:styles><style:default-style style:family="paragraph"><style:text-properties
 style:font-name="{font}" fo:font-family="{font}" style:font-family-complex="{font}"
 style:font-family-asian="{font}" fo:font-size="12pt" style:font-size-complex="12pt"
 style:font-size-asian="12pt" style:language-complex="{language}"/></style:default-style>
</office:styles><office:body><office:text>{paragraphs}</office:text></office:body>
</office:document>"""
_HTML = (
    '<!doctype html><html lang="{language}"><meta charset="utf-8"><title>x</title>'
    '<style>body {{ font: 12pt "{font}" }}</style>{paragraphs}'
)


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


def fonts(language: str) -> list[str]:
    """Return the font families that this machine has for a language."""
    command = [_program("fc-list"), f":lang={language}", "family"]
    listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    found = {line.partition(",")[0] for line in listed.splitlines()}
    return sorted(font for font in found if not font.startswith("DejaVu")) or sorted(found)


def make(file: Path, folder: Path, languages: list[str], number: int) -> None:
    """Print texts: ``<language>-<number>.<maker>.pdf`` beside ``<language>-<number>.txt``."""
    folder.mkdir(parents=True, exist_ok=True)
    sources = []
    for language, place, text in texts(file, languages, number):
        of_language = fonts(language)
        # Two texts that follow each other, one of them held out, have the same font.
        font = of_language[place // 2 % len(of_language)]
        name = folder / f"{language}-{place}"
        name.with_suffix(".txt").write_text(text)
        lines = [escape(line) for line in text.splitlines() if line.strip()]
        html = "".join(f"<p>{line}</p>" for line in lines)
        xml = "".join(f"<text:p>{line}</text:p>" for line in lines)
        page = name.with_suffix(".html")
        page.write_text(_HTML.format(language=language, font=font, paragraphs=html))
        source = name.with_suffix(".fodt")
        source.write_text(_OPEN_DOCUMENT.format(language=language, font=font, paragraphs=xml))
        sources.append(source)
        _by_chromium(page)
    _by_libreoffice(sources, folder)


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise SystemExit(f"{name} isn't installed")
    return found


def _by_chromium(page: Path) -> None:
    subprocess.run(
        [
            _program("chromium"), "--headless", "--no-sandbox", "--disable-gpu",
            "--no-pdf-header-footer",
            f"--print-to-pdf={page.with_suffix('.Chromium.pdf')}", str(page),
        ],
        capture_output=True,
        check=True,
    )  # fmt: skip


def _by_libreoffice(sources: list[Path], folder: Path) -> None:
    with tempfile.TemporaryDirectory() as home:
        profile = f"-env:UserInstallation=file://{home}"
        out = Path(home, "out")
        subprocess.run(
            [
                _program("soffice"), profile, "--headless", "--convert-to", "pdf",
                "--outdir", out, *sources,
            ],
            capture_output=True,
            check=True,
        )  # fmt: skip
        for made in out.glob("*.pdf"):
            shutil.move(made, folder / f"{made.stem}.LibreOffice.pdf")


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
    text, wanted = (_BLANKS.sub(" ", one).strip() for one in (text, wanted))
    met = max(0, common(wanted, text) - same)
    return max(0, text.count(" ") - met), max(0, wanted.count(" ") - met)


def measure(folder: Path, *, held: bool) -> None:
    """Print what is read of the PDFs in a folder, by language and maker."""
    print(f"{'PDFs':>23}  precision  recall  worst  blanks  lost  quality")
    found: dict[tuple[str, str], list[tuple[int, int, int, int, int, float]]] = defaultdict(list)
    for path in sorted(folder.glob("*.pdf")):
        name, maker, _ = path.name.split(".")
        language, _, place = name.partition("-")
        if (int(place) % 2 == 1) is not held:
            continue
        text = (folder / f"{name}.txt").read_text()
        result = read(Kind.PDF, path.read_bytes(), "", Most())
        there, wanted = _letters(result.text), _letters(text)
        same = common(wanted, there)
        sure = result.quality or 0.0
        counts = (same, len(there), len(wanted), *_blanks(result.text, text, same), sure)
        found[language, maker].append(counts)
    for (language, maker), rows in sorted(found.items()):
        same, there, wanted, more, lost = (sum(row[i] for row in rows) for i in range(5))
        worst = min(min(row[0] / (row[1] or 1), row[0] / row[2]) for row in rows)
        quality = min(row[5] for row in rows)
        print(
            f"{language:4}{maker:14}{len(rows):5}{same / (there or 1):11.2%}{same / wanted:8.2%}"
            f"{worst:7.1%}{more / wanted * 100:8.2f}{lost / wanted * 100:6.2f}{quality:9.3f}"
        )


def main() -> None:
    """Print the texts unless that was done, and measure what is read."""
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
