"""Indexes of web archives: CDX, CDXJ, and the pages of a WACZ file.

CDX (https://iipc.github.io/warc-specifications/specifications/cdx-format/cdx-2015/) has a first
line that names its columns by letters; without one, its third column is the URL. CDXJ has a JSON
object after key and time; Common Crawl's names the languages there, as ISO 639-3 codes. WACZ
(https://specs.webrecorder.net/wacz/1.1.1/) lists its pages, and has a CDXJ. A URL has as much
evidence as captures.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
import zlib
from typing import IO, TYPE_CHECKING, Any

from lswc.language.registry import code_of
from lswc.seeds.candidates import Candidate, SeedError
from lswc.seeds.sources import LINE, lines, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lswc.seeds.candidates import Asked

_HEAD = re.compile(r" ?CDX(?: [A-Za-z])+\s*")
_CDXJ = re.compile(r"\S+\s+\d{4,17}\s+\{")
_CDX = re.compile(r"\S+ \d{14} \S+ \S+ \S+ \S+")
_USUAL = ("N", "b", "a", "m", "s")
_HTML = ("text/html", "application/xhtml+xml", "warc/revisit", "unk", "-", "")
_PAGES = re.compile(r"pages/[^/]+\.jsonl")
_INDEX = re.compile(r"indexes/[^/]+\.cdxj?(?:\.gz)?")
_UNREADABLE = (OSError, EOFError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError)


def is_index(start: str) -> bool:
    """Tell whether a text is CDX or CDXJ."""
    first = next((line for line in start.splitlines() if line.strip()), "")
    return any(form.match(first) for form in (_HEAD, _CDXJ, _CDX)) or first.startswith("!meta {")


def is_wacz(path: Path) -> bool:
    """Tell whether a file is a WACZ: a zip archive that describes itself, with pages or indexes."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False
    return "datapackage.json" in names and any(map(_named, names))


def read(path: Path, asked: Asked) -> Iterator[Candidate]:
    """Yield the captures of pages in an index. Raises SeedError."""
    with opened(path, asked.say) as file:
        yield from _captures(lines(file, asked.passed), asked)


def read_wacz(path: Path, asked: Asked) -> Iterator[Candidate]:
    """Yield the pages of a WACZ; of one without a list of pages, its captures. Raises SeedError."""
    asked.say(path.name, 0, 0)
    try:
        with zipfile.ZipFile(path) as archive:
            names = sorted(filter(_named, archive.namelist()))
            listed = [name for name in names if _PAGES.fullmatch(name)]
            for name in listed or names:
                with archive.open(name) as file:
                    found = lines(_unpacked(file, name), asked.passed)
                    yield from _pages(found, asked) if listed else _captures(found, asked)
    except _UNREADABLE as error:
        raise SeedError(f"can't read {path}: {error}") from error


def _named(name: str) -> bool:
    return bool(_PAGES.fullmatch(name) or _INDEX.fullmatch(name))


def _unpacked(file: IO[bytes], name: str) -> IO[bytes]:
    return io.BufferedReader(gzip.GzipFile(fileobj=file), LINE) if name.endswith(".gz") else file


def _pages(texts: Iterator[str], asked: Asked) -> Iterator[Candidate]:
    for text in texts:
        page = _object(text)
        url = page.get("url")
        if isinstance(url, str):
            title = page.get("title")
            yield Candidate(url, title if isinstance(title, str) else "")
        elif text.strip() and "format" not in page:  # its first line says what follows
            asked.passed["row without a URL"] += 1


def _captures(texts: Iterator[str], asked: Asked) -> Iterator[Candidate]:
    letters: tuple[str, ...] = _USUAL
    for text in texts:
        line = text.strip()
        if _HEAD.fullmatch(line):
            letters = tuple(line.split()[1:])
        elif line.startswith("!") or not line:
            continue
        elif (brace := line.find("{")) >= 0 and " " in line[:brace]:
            yield from _capture(_object(line[brace:]), asked)
        else:
            fields = dict(zip(letters, line.split(" "), strict=False))
            names = {"url": "a", "mime": "m", "status": "s"}
            values = {name: fields[key] for name, key in names.items() if key in fields}
            yield from _capture(values, asked)


def _capture(capture: dict[str, Any], asked: Asked) -> Iterator[Candidate]:
    """Yield a capture if it is of a page that was there, or count why it isn't."""
    url = capture.get("url")
    status, mime = str(capture.get("status", "")), str(capture.get("mime", "")).lower()
    if not isinstance(url, str) or not url:
        asked.passed["row without a URL"] += 1
    elif status not in ("200", "-", ""):
        known = status.isdecimal() and len(status) == len("200")
        asked.passed[f"status {status}" if known else "no status"] += 1
    elif mime.partition(";")[0].strip() not in _HTML:
        asked.passed["not HTML"] += 1
    else:
        languages = capture.get("languages")
        first = languages.partition(",")[0] if isinstance(languages, str) else ""
        yield Candidate(url, language=code_of(first) if first else None)


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
