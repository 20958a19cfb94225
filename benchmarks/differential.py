"""Differences between readers: ``python -m benchmarks.differential FOLDER``.

FOLDER holds a frozen web (``<host>/<path>``), or any pages. Three kinds of files are read twice:

- pages, by lswc and by Chromium (its DOM after parsing, scripts off): links, base URL, charset,
  title, text outside links and menus;
- sitemaps and feeds, also by ultimate-sitemap-parser and feedparser: what they name;
- robots.txt, also by gpyrobotstxt, Google's parser in Python: which of the paths in it may be asked
  for by each robot in it.

What differs is counted by kind; ``--examples N`` prints so many of each. ``docs/lab/reading.md``
says of each kind why. None of the pages is part of the project. The other readers are the extras
``benchmarks`` and ``browser``; of each that is missing one line says so.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import re
import sys
from collections import Counter, defaultdict
from importlib.util import find_spec
from mimetypes import guess_type
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from benchmarks import chromium
from lswc.guest.robots_txt import RobotsRules, can_be_named
from lswc.language.document import Document
from lswc.language.html import parse
from lswc.reading import sitemaps
from lswc.safety.content_types import is_html
from lswc.urls import parse as parse_url

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES = (".html", ".htm", ".xhtml", ".xht", ".php")
LISTINGS = (".xml", ".rss", ".atom", ".rdf")
_LONGEST = 160  # characters of an example
_PROBE = "lswc-probe.html"
_PATHS = re.compile(rb"^\s*(?:dis)?allow\s*:\s*(/\S*)", re.IGNORECASE | re.MULTILINE)
_AGENTS = re.compile(rb"^\s*user-agent\s*:\s*([\w.-]+)", re.IGNORECASE | re.MULTILINE)
_MOST = 200  # paths, and robots, of a robots.txt
_FEED = re.compile(rb"<(?:\w+:)?(?:rss|rdf|feed)[\s>]", re.IGNORECASE)
_SITEMAP = re.compile(rb"<(?:\w+:)?(?:urlset|sitemapindex)[\s>]", re.IGNORECASE)


class Difference(NamedTuple):
    """That two readers see a file otherwise: the kind, and an example."""

    kind: str
    example: str


class Files(NamedTuple):
    """The files of a folder, by what they are."""

    pages: list[Path]
    listings: list[Path]
    robots: list[Path]


def files(folder: Path, every: int) -> Files:
    """Return each ``every``-th page of a folder, and all listings and robots files."""
    found = Files([], [], [])
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.name.lower().removesuffix(".gz")
        if "robots" in name and name.endswith(".txt"):
            found.robots.append(path)
        elif name.endswith(PAGES):
            found.pages.append(path)
        elif name.endswith(LISTINGS):
            found.listings.append(path)
    return found._replace(pages=found.pages[::every])


def contents(path: Path) -> bytes:
    """Return the bytes of a file, unpacked."""
    body = path.read_bytes()
    return gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body


def address(folder: Path, path: Path) -> str:
    """Return the URL under which a file is read."""
    first, *rest = path.relative_to(folder).parts
    host = first if "." in first and rest else "page.example"
    return f"http://{host}/{quote('/'.join(rest if host == first else [first, *rest]))}"


def normal(links: list[str]) -> set[str]:
    """Return addresses as lswc writes them; those of other schemes are left out."""
    urls = (parse_url(link.strip()) for link in links)
    return {url.href for url in urls if url is not None and url.scheme in ("http", "https")}


def page_differences(served: chromium.Served, seen: chromium.Seen | str) -> Iterator[Difference]:
    """Yield how Chromium sees a page otherwise than lswc."""
    content_type = dict(served.headers).get("Content-Type", "")
    ours = is_html(content_type, served.body)
    if isinstance(seen, str):
        yield Difference("page: not shown by Chromium", seen)
        return
    theirs = seen.type in ("text/html", "application/xhtml+xml") or "xml" in seen.type
    if not ours or not theirs:
        if ours != theirs:
            yield Difference("page: HTML for one", f"{content_type}: {seen.type}")
        return
    document = Document(served.body, content_type, served.url)
    page = document.page
    links, others = normal([link.url for link in page.links]), normal(seen.links)
    cut = page.is_cut or page.unread
    for one in sorted(others - links):
        yield Difference(f"link: only Chromium{', of a page that is cut' if cut else ''}", one)
    for one in sorted(links - others):
        yield Difference("link: only lswc", one)
    for mishap in page.mishaps:
        yield Difference("page: an error of lswc", mishap)
    markup = document.utf8 + f'<a href="{_PROBE}">'.encode()
    probed = parse(markup, served.url, document.decoded.encoding).links
    last = probed[-1].url if probed else ""  # after a frameset there is no link
    base = last.removesuffix(_PROBE)
    if not cut and base != last and normal([base]) != normal([seen.base]):
        yield Difference("base", f"{base} {seen.base}")
    yield from _text_differences(document, seen, cut=bool(cut))


def _text_differences(
    document: Document, seen: chromium.Seen, *, cut: bool
) -> Iterator[Difference]:
    page, charset = document.page, document.decoded.encoding.replace("iso8859", "iso-8859")
    if charset != seen.charset.lower() and not document.body.isascii():
        yield Difference(f"charset: {seen.charset.lower()} for Chromium", charset)
    elif " ".join(page.title.split()) != " ".join(seen.title.split())[:1_000]:
        yield Difference("title", f"{page.title!r} {seen.title!r}")
    if charset == seen.charset.lower() and not cut:
        ours, theirs = (Counter(text.split()) for text in (page.content, seen.text))
        if more := theirs - ours:
            yield Difference("text: only Chromium", " ".join(list(more)[:9]))
        if more := ours - theirs:
            yield Difference("text: only lswc", " ".join(list(more)[:9]))


async def compare_pages(folder: Path, paths: list[Path]) -> Iterator[tuple[Path, Difference]]:
    """Return how Chromium sees pages otherwise than lswc."""
    found: list[tuple[Path, Difference]] = []
    waiting = iter(enumerate(paths, 1))

    async def compare(reader: chromium.Reader) -> None:
        for number, path in waiting:
            kind = "text/html" if path.suffix in (".php", ".gz") else guess_type(path.name)[0]
            headers = (("Content-Type", kind or "text/html"),)
            served = chromium.Served(address(folder, path), headers, contents(path))
            seen = await reader.read(served)
            found.extend((path, one) for one in page_differences(served, seen))
            if number % 500 == 0:
                print(f"  {number} of {len(paths)} pages", file=sys.stderr)

    async with chromium.reading() as reader:
        await asyncio.gather(*(compare(reader) for _ in range(chromium.TABS)))
    return iter(found)


def listing_differences(body: bytes, url: str) -> Iterator[Difference]:
    """Yield what another parser finds otherwise in a sitemap or feed."""
    head = body[:4_000]
    if _FEED.search(head):
        kind, theirs = "feed", _of_feed(body)
    elif _SITEMAP.search(head):
        kind, theirs = "sitemap", _of_sitemap(body, url)
    else:
        return
    found = sitemaps.read(body, url)
    ours = normal([page.url for page in found.pages] + list(found.listings))
    for one in sorted(normal(theirs) - ours):
        yield Difference(f"{kind}: only the other", one)
    for one in sorted(ours - normal(theirs)):
        yield Difference(f"{kind}: only lswc", one)


def _of_feed(body: bytes) -> list[str]:
    import feedparser

    return [entry.link for entry in feedparser.parse(body).entries if "link" in entry]


def _of_sitemap(body: bytes, url: str) -> list[str]:
    from usp.objects.sitemap import AbstractIndexSitemap
    from usp.tree import sitemap_from_str

    found = sitemap_from_str(body.decode("utf-8", "replace"))
    if isinstance(found, AbstractIndexSitemap):
        return [one.url for one in found.sub_sitemaps]
    return [page.url for page in found.all_pages()]


def robots_differences(body: bytes) -> Iterator[Difference]:
    """Yield what Google's parser allows otherwise than lswc."""
    from gpyrobotstxt.robots_cc import RobotsMatcher

    paths = [path.decode("latin-1").rstrip("$*") for path in _PATHS.findall(body)[:_MOST]]
    named = [name.decode().rstrip(".") for name in _AGENTS.findall(body)[:_MOST]]
    for agent in dict.fromkeys([*named, "lswc"]):
        if not can_be_named(agent):
            continue
        rules = RobotsRules(body, agent)
        for path in dict.fromkeys([*paths, "/"]):
            url = f"http://page.example{quote(path, safe='/%?=&*$')}"
            try:
                theirs = RobotsMatcher().one_agent_allowed_by_robots(body, agent, url)
            except (TypeError, ValueError, IndexError) as error:  # of a line that it can't read
                yield Difference("robots.txt: an error of Google's parser in Python", repr(error))
                return
            if rules.allows(url) != theirs:
                kind = (
                    "robots.txt: only Google's allows" if theirs else "robots.txt: only lswc allows"
                )
                yield Difference(kind, f"{agent} {path}")


def missing() -> list[str]:
    """Return the other readers that aren't installed, a line each."""
    lines = []
    if chromium.executable() is None:
        lines.append("Chromium is missing: pages aren't compared (apt-get install chromium)")
    elif find_spec("playwright") is None:
        lines.append("playwright is missing: pages aren't compared (pip install '.[browser]')")
    for module, what in (
        ("usp", "sitemaps"),
        ("feedparser", "feeds"),
        ("gpyrobotstxt", "robots.txt"),
    ):
        if find_spec(module) is None:
            lines.append(
                f"{module} is missing: {what} aren't compared (pip install '.[benchmarks]')"
            )
    return lines


def main() -> None:
    """Print what differs, by kind."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=1, help="read each so-many-th page")
    parser.add_argument("--examples", type=int, default=2, help="print so many of each kind")
    given = parser.parse_args()
    found, absent = files(given.folder, given.every), missing()
    for line in absent:
        print(line)
    differences: list[tuple[Path, Difference]] = []
    without = " ".join(line.partition(" ")[0] for line in absent)
    if "Chromium" not in without and "playwright" not in without:
        differences += asyncio.run(compare_pages(given.folder, found.pages))
        print(f"{len(found.pages):,} pages")
    if not {"usp", "feedparser"} & set(without.split()):
        for path in found.listings:
            url = address(given.folder, path)
            differences += [(path, one) for one in listing_differences(contents(path), url)]
        print(f"{len(found.listings):,} listings")
    if "gpyrobotstxt" not in without:
        for path in found.robots:
            differences += [(path, one) for one in robots_differences(contents(path))]
        print(f"{len(found.robots):,} robots.txt")
    _print(given.folder, differences, given.examples)


def _print(folder: Path, differences: list[tuple[Path, Difference]], examples: int) -> None:
    by_kind: dict[str, list[tuple[Path, Difference]]] = defaultdict(list)
    for path, one in differences:
        by_kind[one.kind].append((path, one))
    print(f"{'differences':>11} {'files':>7}  kind")
    for kind, all_of in sorted(by_kind.items(), key=lambda item: -len(item[1])):
        of_files = {path for path, _ in all_of}
        print(f"{len(all_of):>11,} {len(of_files):>7,}  {kind}")
        shown = dict(reversed(all_of))
        for path, one in list(shown.items())[-examples:] if examples else []:
            print(f"{'':>21}{path.relative_to(folder)}: {one.example[:_LONGEST]}")


if __name__ == "__main__":
    main()
