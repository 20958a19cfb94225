"""Sitemaps and feeds: files in which a server names its pages.

Sitemaps as in <https://www.sitemaps.org/protocol.html>, also as text, their indexes, and
``xhtml:link hreflang``; RSS, RDF and Atom (RFC 4287), JSON Feed
(<https://www.jsonfeed.org/version/1.1/>). They come from anywhere, so all is bounded,
and no entity is ever replaced.
"""

from __future__ import annotations

import json
import re
import zlib
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from lxml import etree

from lswc.language.base_url import Base

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_SIZE = 20_000_000
"""Bytes of a listing that are read, once decompressed."""

MAX_PAGES = 10_000
"""Pages that are taken of one listing."""

MAX_LISTINGS = 100
"""Further sitemaps that are taken of one index, or of one robots.txt."""

_MAX_REFERENCES = 50_000
_MAX_DEPTH = 50  # elements within one another
_LONGEST = 8_000  # characters of an address
_SITEMAP = re.compile(rb"^[ \t]*sitemap[ \t]*:[ \t]*(\S+)", re.IGNORECASE | re.MULTILINE)
_CHANGED = frozenset({"lastmod", "updated", "pubdate", "date"})
_LONGEST_TIME, _DAY, _LONGEST_TAG = 64, 10, 100  # characters
_FEED = re.compile(rb"<(?:\w{1,20}:)?(?:rss|rdf|feed)[\s>]", re.IGNORECASE)
_HEAD = 4_000  # bytes in which a feed says that it is one
_LARGEST_JSON = 5_000_000  # bytes: it is held whole, and takes ten times as much
_JSON_FEED = "https://jsonfeed.org/version/"
_ROOTS = frozenset({"urlset", "sitemapindex", "rss", "rdf", "feed"})


class ListedPage(NamedTuple):
    """A page that a listing names: absolute URL, and the language that it says, a tag or "".

    ``changed`` is when it changed last, as far as that is said.
    """

    url: str
    hreflang: str = ""
    changed: datetime | None = None


class Listing(NamedTuple):
    """What a sitemap or a feed names: pages, and further sitemaps; each once."""

    pages: tuple[ListedPage, ...] = ()
    listings: tuple[str, ...] = ()
    is_feed: bool = False


class _Named(NamedTuple):
    """A reference that is a page's; or a listing's, or only when the page before it changed."""

    reference: str = ""
    hreflang: str = ""
    is_listing: bool = False
    changed: str = ""


def of_robots(body: bytes, url: str) -> tuple[str, ...]:
    """Return the addresses in the Sitemap lines of a robots.txt, whose URL is given."""
    base = Base(url)
    found = (match[1].decode("utf-8", "replace") for match in _SITEMAP.finditer(body))
    return tuple(dict.fromkeys(base.join(one) for one in found if len(one) <= _LONGEST))[
        :MAX_LISTINGS
    ]


def read(body: bytes, url: str) -> Listing:
    """Return what a sitemap or feed names; of one that is broken, as far as it goes."""
    body = _unpacked(body)
    pages: dict[str, ListedPage] = {}
    listings: dict[str, None] = {}
    base = Base(url)
    absolute = ""
    for named in islice(_references(body), _MAX_REFERENCES):
        if named.changed and absolute in pages:
            pages[absolute] = pages[absolute]._replace(changed=_time(named.changed))
        address = named.reference.strip()
        if not address or len(address) > _LONGEST:
            continue
        absolute = base.join(address)
        if not named.is_listing and len(pages) < MAX_PAGES:
            pages.setdefault(absolute, ListedPage(absolute, named.hreflang))
        elif named.is_listing and len(listings) < MAX_LISTINGS:
            listings.setdefault(absolute)
        else:
            break
    is_feed = _FEED.search(body[:_HEAD]) is not None or _start(body).startswith(b"{")
    return Listing(tuple(pages.values()), tuple(listings), is_feed)


def _time(text: str) -> datetime | None:
    """Return a time as sitemaps (W3C Datetime), Atom (RFC 3339) and RSS (RFC 822) write it.

    Of a day alone its end: the page may have changed as late as that.
    """
    text = text.strip()[:_LONGEST_TIME]
    try:
        time = parsedate_to_datetime(text) if "," in text else datetime.fromisoformat(text)
        time = time if time.tzinfo else time.replace(tzinfo=UTC)
        return time + timedelta(days=len(text) == _DAY)
    except (ValueError, OverflowError):
        return None


def _unpacked(body: bytes) -> bytes:
    """Return what gzip packed, as much as MAX_SIZE allows and as far as it isn't broken."""
    if not body.startswith(b"\x1f\x8b"):
        return body[:MAX_SIZE]
    try:
        return zlib.decompressobj(31).decompress(body, MAX_SIZE)
    except zlib.error:
        return b""


def _references(body: bytes) -> Iterator[_Named]:
    """Yield what a listing names, in its order."""
    start = _start(body)
    if start.startswith((b"http://", b"https://")):
        lines = body.decode("utf-8", "replace").splitlines()
        yield from (_Named(line) for line in lines if line.startswith("http"))
    elif start.startswith((b"<", b"\xff\xfe", b"\xfe\xff")):
        yield from _of_xml(body)
    elif start.startswith(b"{") and len(body) <= _LARGEST_JSON:
        yield from _of_json(body)


def _start(body: bytes) -> bytes:
    return body[:1_000].lstrip(b"\xef\xbb\xbf \t\r\n")


def _of_json(body: bytes) -> Iterator[_Named]:
    """Yield what a JSON Feed names; any other JSON names nothing."""
    try:
        feed = json.loads(body.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return
    if not isinstance(feed, dict) or not _text(feed, "version").startswith(_JSON_FEED):
        return
    items = feed.get("items")
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict):
            yield _Named(_text(item, "url"), _text(item, "language")[:_LONGEST_TAG])
            yield _Named(changed=_text(item, "date_modified") or _text(item, "date_published"))


def _text(found: dict[str, Any], name: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else ""


def _of_xml(body: bytes) -> Iterator[_Named]:
    """Yield what XML names. Elements are forgotten as they end: none of it is held."""
    events = etree.iterparse(
        BytesIO(body), ("start", "end"), resolve_entities=False, load_dtd=False, no_network=True,
        recover=True, huge_tree=False, remove_comments=True, remove_pis=True,
    )  # fmt: skip
    names: list[str] = []
    try:
        for event, element in events:
            name = _local(element.tag)
            if event == "start":
                names.append(name)
                if len(names) > _MAX_DEPTH or names[0] not in _ROOTS:
                    return
                continue
            names.pop()
            parent = names[-1] if names else ""
            yield from _of_element(name, parent, element)
            if parent in _ROOTS | {"url", "sitemap", "item", "entry", "channel"}:
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
    except etree.LxmlError:
        return


def _local(tag: object) -> str:
    return tag.rpartition("}")[2].lower() if isinstance(tag, str) else ""


def _of_element(name: str, parent: str, element: etree._Element) -> Iterator[_Named]:
    text = element.text or ""
    if name == "loc" and parent in ("url", "sitemap"):
        yield _Named(text, is_listing=parent == "sitemap")
    elif name in _CHANGED and parent in ("url", "entry", "item"):
        yield _Named(changed=text)
    elif name == "link" and parent == "item":
        yield _Named(text)
    elif name == "link" and parent in ("url", "entry"):
        rel = element.get("rel") or "alternate"
        if rel == "alternate":
            yield _Named(element.get("href") or "", (element.get("hreflang") or "")[:_LONGEST_TAG])
