"""Sitemaps and feeds of the demo web: they name pages that no link leads to."""

from __future__ import annotations

import gzip
from datetime import date, timedelta
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lswc.lab.demo.hypertext import DemoPage, DemoSite

LINKED = 40  # pages of a sitemap that links lead to as well
_ITEMS = 4  # and of a feed
_NAMES = {"rss": "/news.rss", "atom": "/news.atom"}
_INDEX = "/maps/index.xml"
_FIRST_DAY = date(2026, 1, 1)
_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
_OF_SITEMAPS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def alternates(features: Iterable[str]) -> str:
    """Return the elements in the head of a page that name its host's feeds."""
    return "".join(
        f'<link rel="alternate" type="application/{kind}+xml" href="{_NAMES[kind]}">'
        for kind in sorted(_NAMES.keys() & set(features))
    )


def robots_lines(site: DemoSite) -> str:
    """Return what a host's robots.txt says of its sitemaps."""
    if "index" not in site.host.features:
        return ""
    return f"Sitemap: http://{site.host.name}{_INDEX}\n"


def day(number: int, page: DemoPage) -> str:
    """Return when a page of a listing was changed: none ever is, but each has its day."""
    return f"{_FIRST_DAY + timedelta(number)}T00:00:00Z"


def files(
    site: DemoSite, new: Sequence[DemoPage] = (), changed: Callable[[int, DemoPage], str] = day
) -> dict[str, bytes]:
    """Return the sitemaps and feeds of a host, by name; ``new`` pages come first in each."""
    host, found = site.host.name, dict[str, bytes]()
    linked = [page for page in site.pages if not page.excluded]
    for kind, pages in site.unlinked.items():
        if kind == "sitemap":
            found["sitemap.xml"] = _sitemap([*new, *linked[:LINKED], *pages], changed)
        elif kind == "index":
            found[_INDEX[1:]] = _index(f"http://{host}/maps/{name}" for name in _PARTS)
            found["maps/linked.xml"] = _sitemap([*new, *linked[:LINKED]], changed)
            found["maps/archive.xml.gz"] = gzip.compress(_sitemap(pages, changed), mtime=0)
        elif kind == "rss":
            found[_NAMES[kind][1:]] = _rss(site.front, [*new, *pages, *linked[1 : _ITEMS + 1]])
        else:
            entries = [*new, *pages, *linked[1 : _ITEMS + 1]]
            found[_NAMES[kind][1:]] = _atom(site.front, entries, changed)
    return found


_PARTS = ("linked.xml", "archive.xml.gz")


def _index(addresses: Iterable[str]) -> bytes:
    listed = "".join(f"<sitemap><loc>{address}</loc></sitemap>\n" for address in addresses)
    return f"{_XML}<sitemapindex {_OF_SITEMAPS}>\n{listed}</sitemapindex>\n".encode()


def _sitemap(pages: Iterable[DemoPage], changed: Callable[[int, DemoPage], str]) -> bytes:
    listed = "".join(
        f"<url><loc>{escape(page.url)}</loc><lastmod>{changed(number, page)}</lastmod></url>\n"
        for number, page in enumerate(pages)
    )
    return f"{_XML}<urlset {_OF_SITEMAPS}>\n{listed}</urlset>\n".encode()


def _rss(front: DemoPage, pages: Iterable[DemoPage]) -> bytes:
    items = "".join(
        f"<item><title>{escape(page.title)}</title><link>{escape(page.url)}</link></item>\n"
        for page in pages
    )
    about = f"<title>{escape(front.title)}</title><link>{front.url}</link>"
    return f'{_XML}<rss version="2.0"><channel>{about}\n{items}</channel></rss>\n'.encode()


def _atom(
    front: DemoPage, pages: Iterable[DemoPage], changed: Callable[[int, DemoPage], str]
) -> bytes:
    entries = "".join(
        f'<entry><title>{escape(page.title)}</title><link href="{escape(page.url)}"/>'
        f"<id>{escape(page.url)}</id><updated>{changed(number, page)}</updated></entry>\n"
        for number, page in enumerate(pages)
    )
    about = f"<title>{escape(front.title)}</title><id>{front.url}</id>"
    return f'{_XML}<feed xmlns="http://www.w3.org/2005/Atom">{about}\n{entries}</feed>\n'.encode()
