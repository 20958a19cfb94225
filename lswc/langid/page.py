"""One parse of a page: its text, its links and what it says of itself."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import accumulate
from typing import NamedTuple
from urllib.parse import quote

import ada_url
import numpy as np
import numpy.typing as npt
from selectolax.lexbor import LexborHTMLParser, LexborNode
from w3lib.encoding import resolve_encoding

MAX_LINKS = 3_000
"""Elements of a page looked at for links; a page with more is a trap or a dump."""

_BOILERPLATE = ["script", "style", "select", "a", "nav", "footer"]
_SELECTOR = "a[href],area[href],frame[src],iframe[src],link[href],meta,base[href],title"
_FOLLOWED_RELS = frozenset({"next", "prev", "alternate", "canonical", "index", "contents", "start"})
_PLAIN = re.compile(
    r"(/|\./|(?:\.\./)*)((?:[\w~-](?!\S*/\.)[\w%~/?=&;,+.-]*)?(?:#[\w%~!$&()*+,./:;=?@-]*)?)",
    re.ASCII,
)
_ORIGIN = re.compile(r"https?://[^/?#\\]+", re.IGNORECASE)
_REFRESH = re.compile(r"\s*[\d.]*\s*[;,]?\s*(?:url\s*=\s*)?[\"']?([^\"'>]+)", re.IGNORECASE)

# The parser takes time by the square of the nesting: a page of 50,000 open <div> holds it
# for ten seconds, one of as many attributes for three. Such pages are reduced to links.
_MANY_TAGS = 3_000
_MAX_TAGS = 12_000
_MAX_DEPTH = 200
_TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_NEVER_NESTED = frozenset(
    b"area base br col dd dt frame hr img input li link meta option p path script source style td"
    b" th tr wbr".split()
)
_LONG = 8_000
_LONG_TAG = re.compile(rb"<[a-zA-Z/][^>]{%d}" % _LONG)
_MANY_ATTRIBUTES = 4_000
_MAX_BASE = 8_000  # every link is joined to it
_ANY_TAG = re.compile(rb"</?[a-zA-Z][^>]*>?")
_KEPT_TAG = re.compile(
    rb"</?(?:a|area|frame|iframe|link|meta|base|title|script|style)"
    rb"(?:\s+[\w:-]+(?:\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'<>]+))?){0,20}\s*/?>",
    re.IGNORECASE,
)


class Link(NamedTuple):
    """A link of a page: absolute URL, anchor text, and whether it says nofollow."""

    url: str
    text: str
    nofollow: bool


class Page(NamedTuple):
    """What one parse gives.

    ``content`` is the text outside links, menus and footers, one text node a line;
    ``anchors`` is that of all links, one a line. ``hints`` is text for a page without any:
    alternative texts, descriptions. ``lang`` is what the page declares, in lower case.
    """

    title: str
    content: str
    anchors: str
    hints: str
    lang: str
    links: list[Link]
    robots: frozenset[str]


def parse(source: bytes, url: str, charset: str = "utf-8") -> Page:
    """Parse HTML in UTF-8; ``url`` is the page's own, ``charset`` the one it came in.

    Broken UTF-8 is replaced, never an error.
    """
    tree = LexborHTMLParser(_flattened(source))
    reader = _Reader(url, charset)
    for node in tree.css(_SELECTOR)[:MAX_LINKS]:
        reader.take(node)
    anchors = "\n".join([link.text for link in reader.links])
    root = tree.root
    lang = (root.attributes.get("lang") or "").lower() if root else ""
    tree.strip_tags(_BOILERPLATE)
    body = tree.body or root
    content = body.text(separator="\n", strip=True) if body else ""
    hints = "\n".join(reader.hints)
    return Page(reader.title, content, anchors, hints, lang, reader.links, frozenset(reader.robots))


class _Reader:
    """Collects the links of a page in document order."""

    def __init__(self, url: str, charset: str) -> None:
        self.title = ""
        self.links: list[Link] = []
        self.robots: set[str] = set()
        self.hints: list[str] = []
        self._charset = charset
        self._has_base = False
        self._rebase(url)

    def _rebase(self, url: str) -> None:
        self._base = url
        path = re.split(r"[?#]", url, maxsplit=1)[0]
        origin = _ORIGIN.match(path)
        self._folders = []
        if origin and "/." not in path:
            names = path[origin.end() :].split("/")[1:-1]
            roots = [origin.group() + "/", *(name + "/" for name in names)]
            self._folders = list(accumulate(roots))

    def take(self, node: LexborNode) -> None:
        tag, attributes = node.tag, node.attributes
        if tag == "a":
            href = attributes["href"]
            if href and href[0] != "#":
                nofollow = "rel" in attributes and _is_nofollow(attributes["rel"])
                text = " ".join(node.text().split())
                self.links.append(Link(self._resolve(href), text, nofollow))
        elif tag == "meta":
            self._meta(attributes)
        elif tag == "link":
            self._link(attributes)
        elif tag == "title":
            self.title = self.title or " ".join(node.text().split())
        elif tag == "base":
            self._set_base(attributes["href"])
        else:
            href = attributes.get("href") or attributes.get("src")
            self._add(href, attributes.get("alt"), attributes.get("rel"))

    def _set_base(self, href: str | None) -> None:
        if not self._has_base and href and len(href) <= _MAX_BASE:
            self._has_base = True
            self._rebase(self._resolve(href))

    def _link(self, attributes: dict[str, str | None]) -> None:
        rels = frozenset((attributes.get("rel") or "").lower().split())
        if rels & _FOLLOWED_RELS and "stylesheet" not in rels:
            self._add(attributes["href"], attributes.get("title"), attributes.get("rel"))

    def _meta(self, attributes: dict[str, str | None]) -> None:
        content = attributes.get("content") or ""
        name = (attributes.get("name") or "").lower()
        if name in ("robots", "lswc"):
            self.robots.update(filter(None, content.lower().replace(",", " ").split()))
        elif name in ("description", "keywords"):
            self.hints.append(content)
        elif (attributes.get("http-equiv") or "").lower() == "refresh":
            refresh = _REFRESH.match(content)
            if refresh and not refresh.group(1).strip().isdecimal():
                self._add(refresh.group(1), "", None)

    def _add(self, href: str | None, text: str | None, rel: str | None) -> None:
        if href and href[0] != "#":
            text = " ".join((text or "").split())
            self.links.append(Link(self._resolve(href), text, _is_nofollow(rel)))

    def _resolve(self, href: str) -> str:
        """Resolve against the base URL; the commonest shapes go without the URL parser."""
        if self._folders:
            plain = _PLAIN.fullmatch(href)
            if plain is not None:
                up, rest = plain.groups()
                if up == "/":
                    return self._folders[0] + rest
                higher = len(up) // 3  # ../ is three characters, ./ two
                return self._folders[max(0, len(self._folders) - 1 - higher)] + rest
            if href.startswith(("http://", "https://")) and href.isascii():
                return href
        return self._join(href.strip())

    def _join(self, href: str) -> str:
        path, mark, query = href.partition("?")
        if mark and self._charset != "utf-8" and not query.isascii():
            query = _in_charset(query, self._charset)
        try:
            return ada_url.join_url(self._base, path + mark + query)
        except ValueError:
            return href


def _is_nofollow(rel: str | None) -> bool:
    return rel is not None and "nofollow" in rel.lower().split()


def _in_charset(query: str, charset: str) -> str:
    """Percent-encode a query in the page's charset, as browsers do (WHATWG URL Standard)."""
    safe = "%/?=&;,+.-_~!$'()*:@[]#"
    try:
        return quote(query, safe, resolve_encoding(charset) or charset, "xmlcharrefreplace")
    except (LookupError, UnicodeError):
        return query


def _flattened(source: bytes) -> bytes:
    """Return the page, cut where it has too many tags, and without those that nest too deep."""
    characters = np.frombuffer(source, np.uint8)
    starts = np.flatnonzero(characters == ord("<"))
    if len(starts) > _MAX_TAGS:
        source = source[: starts[_MAX_TAGS]]
    if (
        (len(starts) > _MANY_TAGS and _is_deep(source))
        or _most_between(starts, characters == ord("=")) > _MANY_ATTRIBUTES
        or (np.diff(starts, append=len(source)).max(initial=0) > _LONG and _LONG_TAG.search(source))
    ):
        return _ANY_TAG.sub(lambda tag: tag[0] if _KEPT_TAG.fullmatch(tag[0]) else b"\n", source)
    return source


def _most_between(starts: npt.NDArray[np.intp], are_signs: npt.NDArray[np.bool_]) -> int:
    """Return the most equals signs from one tag's start to the next."""
    if np.count_nonzero(are_signs) <= _MANY_ATTRIBUTES:
        return 0
    return int(np.bincount(np.searchsorted(starts, np.flatnonzero(are_signs))).max())


def _is_deep(source: bytes) -> bool:
    """Tell whether elements may be nested too deep, counting each name for itself."""
    depths: dict[bytes, int] = defaultdict(int)
    total = 0
    for slash, name in _TAG.findall(source):
        if name in _NEVER_NESTED:
            continue
        if not slash:
            depths[name] += 1
            total += 1
            if total > _MAX_DEPTH:
                return True
        elif depths[name]:
            depths[name] -= 1
            total -= 1
    return False
