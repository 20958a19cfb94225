"""Web Languages Project of Common Crawl (https://github.com/commoncrawl/web-languages), CC0.

A checkout has a page in Markdown for each language, in folders such as ``living``: its name, its
code of ISO 639-3, and links below headings, written by its speakers.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import TYPE_CHECKING

from lswc.language.names import names
from lswc.language.registry import code_of, is_known, is_within_another, language
from lswc.seeds.candidates import SeedError
from lswc.seeds.formats import links
from lswc.seeds.sources import lines, opened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from lswc.seeds.candidates import Asked, Candidate

TITLE = "# Web Language"
"""How each page begins."""

_TITLE = re.compile(r"#\s*Web Languages?:\s*(.+)")
_CODE = re.compile(r"ISO[ -]?639-([123])(?:/[BT])?\s+code:\s*`?([A-Za-z]{2,3})\b", re.IGNORECASE)
_NAMES = re.compile(r"Additional names:\s*(.*)", re.IGNORECASE)
_ITEM = re.compile(r"[-*+]\s+(\S.*)")
_QUALIFIED = re.compile(r"\s*\([^()]*\)\s*$")
_PAGES = "*/*.md"
_MOST = 100_000  # lines before a page's code


@dataclass(frozen=True)
class _Page:
    """A page of the project: its code in ISO 639-3, "" if it has none, and names in lower case."""

    path: Path
    code: str
    names: frozenset[str]


def is_checkout(folder: Path) -> bool:
    """Tell whether a folder is a checkout of the project, or one of its folders of pages."""
    some = islice((path for pattern in ("*.md", _PAGES) for path in folder.glob(pattern)), 20)
    return any(_begins(path) for path in some)


def read(folder: Path, asked: Asked) -> Iterator[Candidate]:
    """Yield the links of the pages of the languages, or those of one page. Raises SeedError.

    A language's pages are those of its codes; without any, those of its names.
    """
    if folder.is_file():
        page = _page(folder)
        yield from _links(page, code_of(page.code) if page.code else None, asked)
        return
    pages = _pages(folder, asked)
    found = {code: _of_language(code, pages, dialects=asked.dialects) for code in asked.codes}
    if not any(found.values()):
        wanted = ", ".join(f"{language(code).name} ({code})" for code in asked.codes)
        raise SeedError(f"{folder} has no page for {wanted}")
    for code, of_language in found.items():
        if not of_language:
            asked.passed[f"no page for {code}"] += 1
        twins = len(of_language) - len({page.code for page in of_language})
        if twins:
            asked.passed["page with the code of another"] += twins
        for page in of_language:
            yield from _links(page, code, asked)


def _begins(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(200).decode(errors="replace").lstrip("\ufeff").startswith(TITLE)
    except OSError:
        return False


def _pages(folder: Path, asked: Asked) -> list[_Page]:
    paths = sorted(path for pattern in ("*.md", _PAGES) for path in folder.glob(pattern))
    paths = [path for path in paths if path.name.lower() != "readme.md" and path.is_file()]
    pages = []
    for done, path in enumerate(paths):
        if done % 100 == 0:
            asked.say("pages", done, len(paths))
        if _begins(path):
            pages.append(_page(path))
    if not pages:
        raise SeedError(
            f"{folder} is no checkout of the Web Languages Project: it has no page of a language"
        )
    return pages


def _page(path: Path) -> _Page:
    """Read what a page says of itself. Raises SeedError."""
    code, called = "", set[str]()
    in_names = False
    with opened(path) as file:
        for line in islice(lines(file, Counter()), _MOST):
            text = line.strip()
            if title := _TITLE.match(text):
                called |= {title[1], _QUALIFIED.sub("", title[1])}
            elif match := _NAMES.match(text.strip("# ")):
                in_names = True
                called |= set(map(str.strip, match[1].split(",")))
            elif in_names and (item := _ITEM.fullmatch(text)):
                called |= set(map(str.strip, item[1].split(",")))
            elif text and text != "-":
                in_names = False
            if match := _CODE.search(text):
                code = match[2].lower()
                if match[1] == "3":  # else it may come in another line
                    break
    return _Page(path, code, frozenset(name.casefold() for name in called if name))


def _of_language(code: str, pages: list[_Page], *, dialects: bool) -> list[_Page]:
    """Return a language's pages: by code, its macrolanguage's parts if asked; else by name."""
    base = language(code).code
    parts = _macrolanguages().get(base, ()) if dialects else ()
    wanted = {part for part in parts if not _is_another(part, base)}
    by_code = [page for page in pages if page.code and _is(page.code, base, wanted)]
    if by_code:
        return by_code
    called = {name for name, of in names().items() if base in of} | {language(base).name}
    spelt = {name.casefold() for name in called}
    return [page for page in pages if page.names & spelt]


def _is(code: str, base: str, parts: set[str]) -> bool:
    return code in parts or (code_of(code) == base and not is_within_another(code))


def _is_another(part: str, base: str) -> bool:
    """Tell whether a macrolanguage's part is a language of its own here: Indonesian of Malay."""
    return code_of(part) != base and is_known(code_of(part))


def _links(page: _Page, code: str | None, asked: Asked) -> Iterator[Candidate]:
    with opened(page.path, asked.say) as file:
        yield from links.of_lines(lines(file, asked.passed), asked, code)


@cache
def _macrolanguages() -> Mapping[str, list[str]]:
    text = files("lswc.seeds").joinpath("macrolanguages.toml").read_text("utf-8")
    return tomllib.loads(text)
