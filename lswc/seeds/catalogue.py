"""Sources of lists by name: where they are to be had, and their licences."""

from __future__ import annotations

from typing import NamedTuple

from lswc.seeds.candidates import SeedError


class Source(NamedTuple):
    """A source of candidates: its ``formats``, ``where`` it is to be had, and its ``licence``.

    ``title`` is what a list calls it. ``speaks`` says that it names the language of its sites.
    """

    title: str
    formats: tuple[str, ...]
    where: str
    licence: str
    speaks: bool


SOURCES = {
    "web-languages": Source(
        "Web Languages Project",
        ("web-languages",),
        "git clone https://github.com/commoncrawl/web-languages",
        "CC0 1.0",
        True,
    ),
    "wikidata": Source(
        "Wikidata, official websites",
        ("json", "sparql", "table"),
        "https://query.wikidata.org, the query in docs/seeds.md",
        "CC0 1.0",
        True,
    ),
    "wikipedia": Source(
        "external links of a Wikipedia",
        ("externallinks",),
        "https://dumps.wikimedia.org/<code>wiki/latest/<code>wiki-latest-externallinks.sql.gz",
        "CC BY-SA 4.0 (texts; addresses are facts)",
        False,
    ),
    "common-crawl": Source(
        "Common Crawl's index",
        ("parquet", "cdx"),
        "https://data.commoncrawl.org/cc-index/table/cc-main/warc/ and https://index.commoncrawl.org",
        "Common Crawl's terms of use",
        True,
    ),
    "certificates": Source(
        "certificate transparency",
        ("certificates",),
        "https://crt.sh/?q=%25.<top-level domain>&output=json, or a log's entries",
        "public logs (RFC 6962)",
        False,
    ),
    "opml": Source(
        "list of feeds",
        ("opml",),
        "the export of a feed reader, or a directory of blogs",
        "its maker's",
        False,
    ),
    "ranks": Source(
        "rank list",
        ("table", "list"),
        "https://tranco-list.eu, https://github.com/zakird/crux-top-lists",
        "each list's own",
        False,
    ),
    "archive": Source(
        "index of a web archive",
        ("cdx", "wacz", "warc"),
        "an archive's CDX server, a WACZ or WARC file",
        "the archive's",
        False,
    ),
    "links": Source(
        "page of links",
        ("links", "html", "list", "table"),
        "any page or text with links that somebody keeps",
        "its maker's",
        False,
    ),
    "nominations": Source(
        "nominations of a crawl",
        ("nominations",),
        "the folder of a crawl: the sites that it found and no list had",
        "yours",
        True,
    ),
}
"""Sources by the name that ``--from`` takes."""


def source_called(name: str) -> Source:
    """Return a source by its name. Raises SeedError."""
    if name not in SOURCES:
        raise SeedError(f"--from {name}: no such source; known: {', '.join(SOURCES)}")
    return SOURCES[name]
