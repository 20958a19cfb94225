"""Texts with URLs or hosts: one a line, or a column of CSV, rank lists, query results.

Rank lists are Tranco's (``1,example.com``, no head), CrUX's (``origin,rank``), Majestic's and the
like. A head names the columns; without one, the cells tell which is which.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

from lswc.crawl.seed_files import NOTE
from lswc.language.names import NOBODY, names
from lswc.language.registry import code_of
from lswc.seeds.candidates import Candidate, SeedError, written_url
from lswc.seeds.kinds import of_heading
from lswc.seeds.sources import head, lines, opened

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from lswc.seeds.candidates import Asked

DELIMITERS = "\t,;|"
"""What may stand between two cells."""

_TEXT = 4096
"""Characters of a title or description that are kept."""
_SAMPLE = 50

_URLS = (
    "url", "uri", "origin", "website", "officialwebsite", "homepage", "seed", "domain", "host",
    "hostname", "site", "link", "address", "p856",
)  # fmt: skip
_RANKS = ("rank", "globalrank", "position", "popularityrank")
_COUNTS = ("pages", "count", "links", "sitelinks", "weight")
_LANGUAGES = (
    "language", "lang", "languages", "contentlanguages", "languagecode", "langcode",
    "languagelabel", "langlabel",
)  # fmt: skip
_TEXTS = ("title", "description", "itemlabel", "itemdescription", "label", "name", "text")
_TYPED = re.compile(r"(?:@[A-Za-z-]{1,20}|\^\^\S{1,200})$")  # of a literal in SPARQL's TSV
_TAG = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]+)*")
_NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,6})?")
# What a query's rows are about: never the site itself.
_ENTITY = re.compile(r"<?https?://(?:www\.)?wikidata\.org/(?:entity|prop|wiki)/")


@dataclass(frozen=True)
class Columns:
    """Which cells of a row say what; None or empty if none does. ``has_head``: the first row."""

    url: int
    rank: int | None = None
    count: int | None = None
    language: int | None = None
    texts: tuple[int, ...] = ()
    has_head: bool = False


def read_list(path: Path, asked: Asked) -> Iterator[Candidate]:
    """Yield the URLs of a list, with the kinds that its comments name, as shipped lists have them.

    A comment is a line that begins with #, or what follows a URL behind one. Raises SeedError for
    what can't be read.
    """
    kind = ""
    with opened(path, asked.say) as file:
        for line in map(str.strip, lines(file, asked.passed)):
            if line.startswith("#"):
                kind = of_heading(line.partition("·")[0])
            elif line:
                if url := written_url(NOTE.sub("", line)):
                    yield Candidate(url, kind=kind)
                else:
                    asked.passed["not a URL"] += 1
                    asked.wrong(line)


def read(path: Path, asked: Asked) -> Iterator[Candidate]:
    """Yield the URLs of a table in text. Raises SeedError if it has no column of URLs."""
    delimiter = delimiter_of(head(path).decode(errors="replace")) or ","
    with opened(path, asked.say) as file:
        yield from candidates(
            path, _rows(lines(file, asked.passed), delimiter, asked.passed), asked
        )


def delimiter_of(text: str) -> str:
    """Return what stands between the cells of a table, "" if the text isn't one."""
    found = [line for line in text.splitlines()[:_SAMPLE] if line.strip() and line[0] != "#"]
    having = {mark: sum(mark in line for line in found) for mark in DELIMITERS}
    best = max(having, key=having.__getitem__)
    return best if having[best] * 2 >= max(len(found), 1) else ""


def candidates(path: Path, rows: Iterable[Sequence[str]], asked: Asked) -> Iterator[Candidate]:
    """Yield the URLs of a file's rows, the first of which may be the head. Raises SeedError."""
    rows = iter(rows)
    sample = list(islice(rows, _SAMPLE))
    columns = columns_of(sample)
    if columns is None:
        raise SeedError(f"{path} has no column of URLs or hosts")
    for row in chain(sample[1:] if columns.has_head else sample, rows):
        if any(row):
            yield from _candidate(row, columns, asked)


def columns_of(rows: Sequence[Sequence[str]]) -> Columns | None:
    """Tell the columns by their head, or else by what is in them; None if none has URLs."""
    if not rows:
        return None
    heads = [re.sub(r"[^a-z0-9]", "", name.lower()) for name in rows[0]]
    has_head = not any(_is_url(cell) for cell in rows[0])
    url = _first(heads, _URLS) if has_head else None
    if url is None:
        url = _likely(rows)
    if url is None:
        return None
    if not has_head or not {*heads} & {*_URLS, *_RANKS, *_TEXTS, *_LANGUAGES}:
        ranks = [i for i in range(len(rows[0])) if i != url and _rises(rows, i)]
        texts = tuple(i for i in range(len(rows[0])) if i not in (url, *ranks))
        return Columns(url, ranks[0] if ranks else None, texts=texts)
    texts = tuple(i for i, name in enumerate(heads) if name in _TEXTS and i != url)
    rank, count, code = (_first(heads, known) for known in (_RANKS, _COUNTS, _LANGUAGES))
    return Columns(url, rank, count, code, texts, has_head=True)


def _first(names: Sequence[str], known: Sequence[str]) -> int | None:
    """Return the column with the first of the known names."""
    return next((names.index(name) for name in known if name in names), None)


def _likely(rows: Sequence[Sequence[str]]) -> int | None:
    """Return the column with the most URLs."""
    width = max(map(len, rows))
    having = [sum(_is_url(row[i]) for row in rows if i < len(row)) for i in range(width)]
    return having.index(max(having)) if any(having) else None


def _is_url(cell: str) -> bool:
    return written_url(cell) is not None and not _ENTITY.match(cell.strip())


def _rises(rows: Sequence[Sequence[str]], at: int) -> bool:
    """Tell whether a column is a rank: whole numbers from 1 on that never fall."""
    cells = [row[at].strip() if at < len(row) else "" for row in rows]
    if not all(cell.isascii() and cell.isdigit() and len(cell) < 13 for cell in cells):
        return False
    numbers = list(map(int, cells))
    return numbers[0] > 0 and numbers == sorted(numbers)


def _candidate(row: Sequence[str], columns: Columns, asked: Asked) -> Iterator[Candidate]:
    cell = _cell(row, columns.url)
    url = written_url(cell)
    if url is None or _ENTITY.match(url):
        asked.passed["not a URL" if cell else "row without a URL"] += 1
        asked.wrong(", ".join(row))
        return
    text = " ".join(filter(None, (_cell(row, i) for i in columns.texts)))[:_TEXT]
    yield Candidate(url, text, _language(_cell(row, columns.language)), _weight(row, columns))


def _cell(row: Sequence[str], at: int | None) -> str:
    return row[at].strip() if at is not None and at < len(row) else ""


def _weight(row: Sequence[str], columns: Columns) -> float:
    """Return a row's evidence: its count, or one divided by its rank."""
    rank, count = _cell(row, columns.rank), _cell(row, columns.count)
    if _NUMBER.fullmatch(rank) and float(rank) > 0:
        return 1 / float(rank)
    return float(count) if _NUMBER.fullmatch(count) else 1.0


def _language(cell: str) -> str | None:
    """Return the code of the first language that a cell names, by its tag or by its name.

    None for what is neither.
    """
    cell = _TYPED.sub("", cell)
    tag = re.split(r"[,; ]", cell, maxsplit=1)[0]
    if _TAG.fullmatch(tag):
        return None if tag.lower() == "und" else code_of(tag)
    named = names().get(cell.casefold(), NOBODY)
    return min(named) if len(named) == 1 else None


def _rows(texts: Iterator[str], delimiter: str, passed: Counter[str]) -> Iterator[Sequence[str]]:
    rows = csv.reader(texts, delimiter=delimiter)
    while True:
        try:
            yield next(rows)
        except StopIteration:
            return
        except csv.Error:  # a quote that never ends, or the like: the next line is a row again
            passed["damaged row"] += 1
