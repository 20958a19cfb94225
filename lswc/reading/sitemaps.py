"""Sitemaps and feeds: files in which a server names its pages.

Sitemaps as in <https://www.sitemaps.org/protocol.html>, also as text, their indexes, and
``xhtml:link hreflang``; RSS, RDF and Atom (RFC 4287), JSON Feed
(<https://www.jsonfeed.org/version/1.1/>). They come from anywhere, so all is bounded,
and no entity is ever replaced. Many are made by hand or by a plug-in that fails: what stands before
the root is left out, and an ampersand that begins no reference is one.
"""

from __future__ import annotations

import codecs
import json
import re
import sys
import zlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from io import BytesIO
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from lxml import etree
from w3lib.encoding import resolve_encoding

from lswc.language.base_url import Base
from lswc.mishaps import ROW, Mishaps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAX_SIZE = 20_000_000
"""Bytes of a listing that are read, once decompressed, and characters of what it names."""

MAX_NAMED = 50_000
"""Pages, and further sitemaps, that a listing may have by the protocol."""

PAGES_AT_ONCE, LISTINGS_AT_ONCE = 10_000, 100
"""Pages, and further sitemaps, that are in a part of a listing: the first one has the newest."""

MAX_OF_ROBOTS = 100
"""Sitemaps that are taken of one robots.txt."""

_MAX_ROWS = 250_000
_MAX_DEPTH = 50  # elements within one another
_LONGEST = 8_000  # characters of an address
_SITEMAP = re.compile(r"[ \t]*site-?map(?:[ \t\xa0]*:[ \t\xa0]*|[ \t\xa0]+)(\S+)", re.IGNORECASE)
_AROUND_ADDRESS = "\"'<>\0, \t\r\n"
_WORD = re.compile(r"[^\s\"<>]+")
_AFTER_TAG = re.compile(
    r"<(?:[\w.-]{1,20}:)?(?:loc|link)\s*>\s*(?:<!\[CDATA\[)?\s*(https?://[^\s<>\]]{1,2083})",
    re.IGNORECASE,
)
_CHANGED = frozenset({"lastmod", "updated", "pubdate", "date"})
_LONGEST_TIME, _DAY, _LONGEST_TAG = 64, 10, 100  # characters
_LARGEST_JSON = 5_000_000  # bytes: it is held whole, and takes ten times as much
_JSON_FEED = "https://jsonfeed.org/version/"
_FEEDS = frozenset({"rss", "rdf", "feed"})
_ROOTS = frozenset({"urlset", "sitemapindex"}) | _FEEDS
_ROOT = re.compile(r"<(?:[\w.-]{1,20}:)?(urlset|sitemapindex|rss|rdf|feed)[\s>]", re.IGNORECASE)
_BEFORE_ROOT = 100_000  # characters
_ROWS = frozenset({"url", "sitemap", "item", "entry"})
_OF_ROWS = _ROOTS | {"channel"}
_AROUND, _CDATA, _END_OF_CDATA = "lswc", "<![CDATA[", "]]>"
_DECLARATION = re.compile(r"<\?xml[\s?][^>]{0,500}>", re.IGNORECASE)
_ENCODING = re.compile(rb"<\?xml[^>]{0,200}encoding\s*=\s*[\"']([\w.:-]{1,40})", re.IGNORECASE)
_REFERENCE = re.compile(
    r"&(?:(amp|lt|gt|quot|apos|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});)?", re.IGNORECASE
)
# What stands for a character until the parser is done: once there was any mistake in a file, it
# drops all references that follow.
_STAND_INS = {"&": "\ue000", "<": "\ue001", ">": "\ue002", '"': "\ue003", "'": "\ue004"}
_STOOD_IN_FOR = {ord(stand_in): char for char, stand_in in _STAND_INS.items()}
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ue000-\ue004\ufffe\uffff]")
_WEB = re.compile(r"https?://", re.IGNORECASE)
_FIRST_LINES = 20
_HREF, _HREFLANG, _ABOUT = "href", "hreflang", "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}about"
_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_WIDE = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_MEMBERS = 1_000  # of a gzip file
_PIECE = 65_536  # bytes


class ListedPage(NamedTuple):
    """A page that a listing names: absolute URL, and the language that it says, a tag or "".

    ``changed`` is when it changed last, as far as that is said.
    """

    url: str
    hreflang: str = ""
    changed: datetime | None = None


class Listing(NamedTuple):
    """What a part of a sitemap or a feed names: pages, and further sitemaps; each once.

    ``has_more`` says that there is another part. ``mishaps`` are errors of ours that cost a row
    each (lswc.mishaps).
    """

    pages: tuple[ListedPage, ...] = ()
    listings: tuple[str, ...] = ()
    is_feed: bool = False
    has_more: bool = False
    mishaps: tuple[tuple[str, int], ...] = ()


@dataclass(slots=True)
class _Row:
    """An entry of a listing: of a page or of a sitemap, by the name of its element.

    ``named`` are references with their languages; ``instead`` is the one that counts if there is
    none of these.
    """

    kind: str
    named: list[tuple[str, str]] = field(default_factory=list)
    instead: str = ""
    changed: str = ""

    def take(self, name: str, element: etree._Element) -> None:
        """Take an element that the row has."""
        if name == "loc":
            self.named.append(("".join(map(str, element.itertext())), ""))
        elif name in _CHANGED:
            self.changed = self.changed or element.text or ""
        elif name == "link":
            self._link(element)
        elif name == "id" or (name == "guid" and _is_link(element)):
            self._or(element.text or "")

    def _link(self, element: etree._Element) -> None:
        """Take a link: RSS has it as text, Atom and XHTML as an attribute."""
        text, href = (element.text or "").strip(), element.get(_HREF) or ""
        rel = (element.get("rel") or "alternate").strip().lower()
        if self.kind == "item":
            if text:
                self.named.append((text, ""))
            elif rel == "alternate":
                self.instead = href or self.instead
        elif rel == "alternate":
            self.named.append((href, (element.get(_HREFLANG) or "")[:_LONGEST_TAG]))

    def _or(self, reference: str) -> None:
        if not self.instead and _WEB.match(reference.strip()):
            self.instead = reference


def _is_link(guid: etree._Element) -> bool:
    """Tell whether what identifies an item of RSS leads to it, too."""
    return (guid.get("isPermaLink") or "true").strip().lower() == "true"


def of_robots(body: bytes, url: str) -> tuple[str, ...]:
    """Return the addresses in the Sitemap lines of a robots.txt, whose URL is given.

    Lines end as its other lines do, a CR alone too.
    """
    base = Base(url)
    matches = map(_SITEMAP.match, _decoded(body).splitlines())
    found = (match[1].strip(_AROUND_ADDRESS) for match in matches if match)
    return tuple(dict.fromkeys(base.join(one) for one in found if len(one) <= _LONGEST))[
        :MAX_OF_ROBOTS
    ]


def read(body: bytes, url: str, part: int = 0) -> Listing:
    """Return what a part of a sitemap or feed names; of one that is broken, as far as it goes.

    What all parts name is in the listing's order, or the newest first if that are many.
    """
    found = _Found(Base(url))
    text = _decoded(_unpacked(_unpacked(body)))  # some servers pack what is packed
    for row in islice(_rows(text, found), _MAX_ROWS):
        try:
            found.add(row)
        except Exception as error:  # of ours: it costs this row
            found.mishaps.take(ROW, error)
        if found.is_full:
            break
    pages, more_pages = _part(found.pages.values(), part, PAGES_AT_ONCE)
    listings, more_listings = _part(found.listings.values(), part, LISTINGS_AT_ONCE)
    return Listing(
        pages,
        tuple(listing.url for listing in listings),
        found.is_feed,
        more_pages or more_listings,
        tuple(found.mishaps.items()),
    )


class _Found:
    """What a listing names, by absolute URL."""

    def __init__(self, base: Base) -> None:
        self.base = base
        self._host = base.join("/").partition("://")[2].removeprefix("www.") or "//"
        self.pages: dict[str, ListedPage] = {}
        self.listings: dict[str, ListedPage] = {}
        self.is_feed = self.is_full = False
        self.mishaps = Mishaps()
        self._left = MAX_SIZE

    def _absolute(self, address: str) -> str:
        """Return the URL of an address, which may begin with the listing's host, without scheme."""
        has_host = address.removeprefix("www.").startswith(self._host)
        return self.base.join(f"//{address}" if has_host else address)

    def add(self, row: _Row) -> None:
        """Take a row. What is named again keeps what was said of it first."""
        changed = _time(row.changed)
        into = self.listings if row.kind == "sitemap" else self.pages
        for reference, hreflang in row.named or [(row.instead, "")]:
            # No address has this reference in it: it was escaped twice.
            address = reference.translate(_STOOD_IN_FOR).replace("&amp;", "&")
            address = address.strip(_AROUND_ADDRESS)
            if not address or len(address) > _LONGEST:
                continue
            url = self._absolute(address)
            if url in into:
                continue
            self._left -= len(url)
            if len(into) >= MAX_NAMED or self._left < 0:
                self.is_full = True
                return
            into[url] = ListedPage(url, hreflang, changed)


def _part(named: Iterable[ListedPage], part: int, size: int) -> tuple[tuple[ListedPage, ...], bool]:
    """Return a part of what is named, and whether another follows."""
    ordered = list(named)
    if len(ordered) > size:
        dated = [one for one in ordered if one.changed]
        dated.sort(key=attrgetter("changed"), reverse=True)
        ordered = [*dated, *(one for one in ordered if not one.changed)]
    end = (part + 1) * size
    return tuple(ordered[end - size : end]), len(ordered) > end


def _time(text: str) -> datetime | None:
    """Return a time as sitemaps (W3C Datetime), Atom (RFC 3339) and RSS (RFC 822) write it.

    Of a day alone its end: the page may have changed as late as that.
    """
    text = text.strip()[:_LONGEST_TIME]
    if not text:
        return None
    try:
        is_iso = text[:4].isdecimal()
        time = datetime.fromisoformat(text) if is_iso else parsedate_to_datetime(text)
        time = time if time.tzinfo else time.replace(tzinfo=UTC)
        return time + timedelta(days=is_iso and len(text) == _DAY)
    except (ValueError, OverflowError):
        return None


def _unpacked(body: bytes) -> bytes:
    """Return what gzip packed, as much as MAX_SIZE allows and as far as it isn't broken."""
    if not body.startswith(b"\x1f\x8b"):
        return body[:MAX_SIZE]
    unpacked = bytearray()
    for _ in range(_MEMBERS):
        member = zlib.decompressobj(31)
        try:
            for start in range(0, len(body), _PIECE):
                piece = body[start : start + _PIECE]
                unpacked += member.decompress(piece, MAX_SIZE - len(unpacked))
                if member.eof or len(unpacked) >= MAX_SIZE:
                    body = member.unused_data + body[start + _PIECE :]
                    break
        except zlib.error:
            break
        if not member.eof or not body.startswith(b"\x1f\x8b"):
            break
    return bytes(unpacked)


def _decoded(body: bytes) -> str:
    """Return a file's text, by its byte order mark, by its XML declaration, or as UTF-8."""
    return body.decode(_encoding(body), "replace").lstrip("\ufeff")


def _encoding(body: bytes) -> str:
    if (wide := _WIDE.get(body[:2])) is not None:
        return wide
    if body[:8].count(0) > 2:  # letters of ASCII, without a mark
        return "utf-16-be" if body[:1] == b"\0" else "utf-16-le"
    declared = None if body.startswith(codecs.BOM_UTF8) else _ENCODING.search(body[:1_000])
    known = resolve_encoding(declared[1].decode("ascii")) if declared else None
    return known if known and not known.startswith("utf-16") else "utf-8"


def _rows(text: str, found: _Found) -> Iterator[_Row]:
    """Yield the rows of a listing, in its order."""
    start = text[:_BEFORE_ROOT].lstrip("\ufeff \t\r\n")[:1]
    if start == "{":
        found.is_feed = True
        if len(text) <= _LARGEST_JSON:
            yield from _of_json(text)
    elif start != "<" and any(
        words and _WEB.match(words[0])
        for words in map(_WORD.findall, text[:_BEFORE_ROOT].splitlines()[:_FIRST_LINES])
    ):
        words = (word[0] for word in _WORD.finditer(text))
        yield from (_Row("url", [(word, "")]) for word in words if _WEB.match(word))
    else:
        yield from _of_xml(text, found)


def _of_json(text: str) -> Iterator[_Row]:
    """Yield what a JSON Feed names; any other JSON names nothing."""
    try:
        feed = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return
    if not isinstance(feed, dict) or not _text(feed, "version").startswith(_JSON_FEED):
        return
    items = feed.get("items")
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict):
            address, identity = _text(item, "url"), _text(item, "id")
            language = _text(item, "language")[:_LONGEST_TAG]
            changed = _text(item, "date_modified") or _text(item, "date_published")
            instead = identity if _WEB.match(identity) else ""
            yield _Row("item", [(address, language)] if address else [], instead, changed)


def _text(found: dict[str, Any], name: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else ""


def _of_xml(text: str, found: _Found) -> Iterator[_Row]:
    """Yield what XML names. Elements are forgotten as they end: none of it is held."""
    root = _ROOT.search(preface := _without_comments(text[:_BEFORE_ROOT]))
    if root is None:
        return
    found.is_feed = root[1].lower() in _FEEDS
    yielded = 0
    events = etree.iterparse(
        BytesIO(_mended(preface[root.start() :] + text[_BEFORE_ROOT:])), ("start", "end"),
        resolve_entities=False, load_dtd=False, no_network=True,
        recover=True, huge_tree=False, remove_comments=True, remove_pis=True, encoding="utf-8",
    )  # fmt: skip
    rows = _XmlRows(found)
    try:
        for event, element in events:
            for row in rows.begin(element) if event == "start" else rows.end(element):
                yielded += bool(row.named or row.instead)
                yield row
            if rows.is_deep:
                break
    except etree.LxmlError:
        pass
    left = [*rows.left()]
    yield from left
    if not yielded and not any(row.named for row in left):  # so broken that no row is in another
        kind = "sitemap" if root[1].lower() == "sitemapindex" else "url"
        for match in _AFTER_TAG.finditer(text):
            yield _Row(kind, [(match[1], "")])


class _XmlRows:
    """Makes rows of elements as they begin and end."""

    def __init__(self, found: _Found) -> None:
        self._found = found
        self._names: list[str] = []
        self._row: _Row | None = None

    @property
    def is_deep(self) -> bool:
        """Whether elements are nested deeper than any listing's."""
        return len(self._names) > _MAX_DEPTH

    def begin(self, element: etree._Element) -> Iterator[_Row]:
        """Take an element that begins; yield the row that it ends, as that wasn't closed."""
        name, parent = _local(element.tag), self._names[-1] if self._names else ""
        if parent == _AROUND and (base := element.get(_BASE)):
            self._found.base = self._found.base.rebased(base)
        if name in _ROWS and (parent in _OF_ROWS or parent == name):
            yield from self.left()
            self._row = _Row(name, instead=element.get(_ABOUT) or "")
        self._names.append(name)

    def end(self, element: etree._Element) -> Iterator[_Row]:
        """Take a whole element; yield its row, if it is one."""
        name = self._names.pop()
        parent = self._names[-1] if self._names else ""
        if self._row is not None and parent == self._row.kind:
            self._row.take(name, element)
        elif self._row is not None and name == self._row.kind:
            yield from self.left()
        elif name == "loc" and parent in _ROOTS:
            loose = _Row("sitemap" if parent == "sitemapindex" else "url")
            loose.take(name, element)
            yield loose
        if parent in _OF_ROWS or parent in _ROWS or parent == _AROUND:
            _forget(element)

    def left(self) -> Iterator[_Row]:
        """Yield the row that hasn't ended, if there is one."""
        if self._row is not None:
            yield self._row
        self._row = None


def _forget(element: etree._Element) -> None:
    element.clear()
    while element.getprevious() is not None:
        del element.getparent()[0]


def _without_comments(text: str) -> str:
    """Return what stands around comments: a root may be in one."""
    kept, rest = [], text
    while True:
        before, begin, rest = rest.partition("<!--")
        kept.append(before)
        _, end, after = rest.partition("-->")
        if not begin or not end:
            return "".join(kept) + begin + rest
        rest = after


def _mended(text: str) -> bytes:
    """Return XML as its parser reads it, in UTF-8, within an element.

    What stands after its last tag may be half of an address, as the file was cut there.
    """
    text = _NO_XML.sub("", _DECLARATION.sub("", text[: text.rfind(">") + 1]))
    first, *others = text.split(_CDATA)
    mended = [_REFERENCE.sub(_character, first)]
    for other in others:
        inside, end, after = other.partition(_END_OF_CDATA)
        mended += [_CDATA, inside, end, _REFERENCE.sub(_character, after)]
    return f"<{_AROUND}>{''.join(mended)}</{_AROUND}>".encode()


def _character(reference: re.Match[str]) -> str:
    """Return what stands in for a reference, or for an ampersand that begins none."""
    name = (reference[1] or "amp").lower()
    if name[0] != "#":
        return _STAND_INS[_NAMED[name]]
    number = int(name[2:], 16) if name[1] == "x" else int(name[1:])
    char = chr(number) if number <= sys.maxunicode else ""
    return _STAND_INS.get(char) or _NO_XML.sub("", char)


def _local(tag: object) -> str:
    """Return an element's name without its namespace, or a prefix that isn't declared."""
    return re.split("[}:]", tag)[-1].lower() if isinstance(tag, str) else ""
