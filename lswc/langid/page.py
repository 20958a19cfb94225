"""One parse of a page: its text, its links and what it says of itself."""

from __future__ import annotations

import re
from typing import NamedTuple

import ada_url
from selectolax.lexbor import LexborHTMLParser, LexborNode

_INVISIBLE = ["script", "style", "template", "textarea"]
_SELECTOR = "a[href], area[href], frame[src], iframe[src], link[href], meta, base[href], title"
_FOLLOWED_RELS = frozenset({"next", "prev", "alternate", "canonical", "index", "contents", "start"})
_ABSOLUTE = re.compile(r"https?://", re.IGNORECASE)
_PLAIN = re.compile(r"[\w%~-][\w%~/?=&;,+-]*(?:\.[\w%~/?=&;,+-]+)*", re.ASCII)
_REFRESH = re.compile(r"\s*[\d.]*\s*[;,]?\s*(?:url\s*=\s*)?[\"']?([^\"'>]+)", re.IGNORECASE)


class Link(NamedTuple):
    """A link of a page: absolute URL, anchor text, and whether it says nofollow."""

    url: str
    text: str
    nofollow: bool


class Page(NamedTuple):
    """What one parse gives. ``text`` is the visible text, that of the links included."""

    title: str
    text: str
    links: list[Link]
    robots: frozenset[str]


def parse(source: str | bytes, url: str) -> Page:
    """Parse HTML, as text or as UTF-8 bytes; ``url`` is the page's own."""
    tree = LexborHTMLParser(source)
    tree.strip_tags(_INVISIBLE)
    reader = _Reader(url)
    for node in tree.css(_SELECTOR):
        reader.take(node)
    root = tree.body or tree.root
    text = root.text(separator=" ") if root else ""
    return Page(reader.title, text, reader.links, frozenset(reader.robots))


class _Reader:
    """Collects the links of a page in document order."""

    def __init__(self, url: str) -> None:
        self.title = ""
        self.links: list[Link] = []
        self.robots: set[str] = set()
        self._has_base = False
        self._rebase(url)

    def _rebase(self, url: str) -> None:
        self._base = url
        origin = re.match(r"https?://[^/?#]*", url)
        self._origin = origin.group() if origin else ""
        path = re.split(r"[?#]", url, maxsplit=1)[0]
        self._folder = path[: path.rfind("/") + 1] if path.count("/") > 2 else path + "/"

    def take(self, node: LexborNode) -> None:
        tag, attributes = node.tag, node.attributes
        if tag == "a":
            self._add(attributes["href"], node.text(), attributes.get("rel"))
        elif tag == "area":
            self._add(attributes["href"], attributes.get("alt") or "", attributes.get("rel"))
        elif tag in ("frame", "iframe"):
            self._add(attributes["src"], "", None)
        elif tag == "link":
            self._link(attributes)
        elif tag == "meta":
            self._meta(attributes)
        elif tag == "base" and not self._has_base:
            self._has_base = True
            self._rebase(self._resolve(attributes["href"] or ""))
        elif tag == "title" and not self.title:
            self.title = " ".join(node.text().split())

    def _link(self, attributes: dict[str, str | None]) -> None:
        rels = frozenset((attributes.get("rel") or "").lower().split())
        if rels & _FOLLOWED_RELS and "stylesheet" not in rels:
            self._add(attributes["href"], attributes.get("title") or "", attributes.get("rel"))

    def _meta(self, attributes: dict[str, str | None]) -> None:
        content = attributes.get("content") or ""
        if (attributes.get("name") or "").lower() == "robots":
            self.robots.update(
                token.strip() for token in content.lower().split(",") if token.strip()
            )
        elif (attributes.get("http-equiv") or "").lower() == "refresh":
            refresh = _REFRESH.match(content)
            if refresh and not refresh.group(1).strip().isdecimal():
                self._add(refresh.group(1).strip(), "", None)

    def _add(self, href: str | None, text: str, rel: str | None) -> None:
        if href and not href.startswith("#"):
            nofollow = rel is not None and "nofollow" in rel.lower().split()
            self.links.append(Link(self._resolve(href), " ".join(text.split()), nofollow))

    def _resolve(self, href: str) -> str:
        """Resolve against the base URL; the shapes that need no parser go without."""
        if _ABSOLUTE.match(href):
            return href
        if _PLAIN.fullmatch(href):
            return self._folder + href
        href = href.strip()
        try:
            return ada_url.join_url(self._base, href)
        except ValueError:
            return href
