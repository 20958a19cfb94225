"""Formats of what people have, recognised by content."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING

from lswc.archive.run_settings import is_new
from lswc.extras import require
from lswc.seeds.candidates import SeedError
from lswc.seeds.formats import (
    external_links,
    json_results,
    markup,
    texts,
    warc_pages,
)
from lswc.seeds.sources import head

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from lswc.seeds.candidates import Asked, Candidate

    Reader = Callable[[Path, Asked], Iterator[Candidate]]


def _later(name: str) -> Reader:
    """Return the reader of a module with libraries that a crawl with its own seeds doesn't need."""

    def read(path: Path, asked: Asked) -> Iterator[Candidate]:
        require("seeds")
        reader: Reader = import_module(f"lswc.seeds.formats.{name}").read
        return reader(path, asked)

    return read


FORMATS: dict[str, Reader] = {
    "list": texts.read_list,
    "table": texts.read,
    "json": json_results.read,
    "parquet": _later("parquet"),
    "externallinks": external_links.read,
    "sitemap": markup.read_sitemap,
    "rdf": markup.read_rdf,
    "warc": warc_pages.read,
    "crawl": _later("earlier_crawl"),
}
"""Name of a format, and what reads it."""

_ROOT = re.compile(rb"<(?:\w+:)?(urlset|sitemapindex|rdf|externalpage|html)\b")
_ROOTS = {
    b"urlset": "sitemap",
    b"sitemapindex": "sitemap",
    b"rdf": "rdf",
    b"externalpage": "rdf",
}


def recognised(path: Path) -> str:
    """Return the name of a file's format. Raises SeedError for none of them."""
    if path.is_dir():
        if (path / "log").is_dir() or is_new(path):
            return "crawl"
        raise SeedError(f"{path} is a folder, and no crawl with a log: name its files")
    start = head(path).removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"WARC/"):
        return "warc"
    if start.startswith((b"{", b"[")):
        return "json"
    if start.startswith(b"<") and b">" in start:
        return _of_markup(path, start)
    if b"`externallinks`" in start:
        return "externallinks"
    return "table" if texts.delimiter_of(start.decode(errors="replace")) else "list"


def _of_markup(path: Path, start: bytes) -> str:
    root = _ROOT.search(start.lower())
    if root is None or root[1] not in _ROOTS:
        raise SeedError(f"{path} is no sitemap and no web directory's RDF: give --format")
    return _ROOTS[root[1]]
