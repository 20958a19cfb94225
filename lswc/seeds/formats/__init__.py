"""Formats of what people have, recognised by content."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING

from lswc.archive.run_settings import is_new
from lswc.archive.volumes import is_archive
from lswc.extras import require
from lswc.seeds.candidates import SeedError
from lswc.seeds.formats import (
    capture_index,
    certificates,
    external_links,
    json_results,
    links,
    markup,
    texts,
    warc_pages,
    web_languages,
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
    "opml": markup.read_opml,
    "sparql": markup.read_sparql,
    "links": links.read,
    "html": links.read_html,
    "web-languages": web_languages.read,
    "certificates": certificates.read,
    "cdx": capture_index.read,
    "wacz": capture_index.read_wacz,
    "warc": warc_pages.read,
    "crawl": _later("earlier_crawl"),
    "nominations": _later("nominations"),
}
"""Name of a format, and what reads it."""

_ROOT = re.compile(
    rb"<(?:\w+:)?(urlset|sitemapindex|rdf|externalpage|opml|sparql"
    rb"|!doctype html|html|body|h\d|ul|p)\b"
)
_ROOTS = {
    b"urlset": "sitemap",
    b"sitemapindex": "sitemap",
    b"rdf": "rdf",
    b"externalpage": "rdf",
    b"opml": "opml",
    b"sparql": "sparql",
}
_MAGIC = {b"PAR1": "parquet", b"WARC/": "warc", b"filedesc://": "warc"}
_NO_PAGE = (b"<?xml", b"<feed", b"<rss")


def recognised(path: Path) -> str:
    """Return the name of a file's format. Raises SeedError for none of them."""
    if path.is_dir():
        return _of_folder(path)
    if capture_index.is_wacz(path):
        return "wacz"
    if is_archive(path):
        return "warc"
    start = head(path).removeprefix(b"\xef\xbb\xbf").lstrip()
    for magic, name in _MAGIC.items():
        if start.startswith(magic):
            return name
    text = start.decode(errors="replace")
    if start.startswith((b"{", b"[{", b"[\n", b"[ ", b"[\r", b"[]")):
        return "certificates" if certificates.are_certificates(text) else "json"
    if text.startswith("<") and ">" in text and not links.is_autolink(text):
        return _of_markup(path, start)
    if b"`externallinks`" in start:
        return "externallinks"
    return _of_text(text)


def _of_folder(path: Path) -> str:
    if (path / "log").is_dir() or is_new(path):
        return "crawl"
    if web_languages.is_checkout(path):
        return "web-languages"
    raise SeedError(
        f"{path} is a folder, and neither a crawl with a log nor a checkout of the Web Languages"
        " Project: name its files"
    )


def _of_text(text: str) -> str:
    if text.startswith(web_languages.TITLE):
        return "web-languages"
    if capture_index.is_index(text):
        return "cdx"
    if text.startswith("?"):  # variables of a query
        return "table"
    if certificates.are_certificates(text):
        return "certificates"
    if links.is_prose(text):
        return "links"
    return "table" if texts.delimiter_of(text) else "list"


def _of_markup(path: Path, start: bytes) -> str:
    root = _ROOT.search(start.lower())
    if root is not None and root[1] in _ROOTS:
        return _ROOTS[root[1]]
    if root is None or (start.lower().startswith(_NO_PAGE) and b"<html" not in start.lower()):
        raise SeedError(f"{path} is XML of an unknown kind: give --format")
    is_page = re.search(rb"<!doctype html|<html|<body", start.lower()) is not None
    return "html" if is_page or not links.has_markdown(start.decode(errors="replace")) else "links"
