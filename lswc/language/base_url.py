"""Base URL: what the links of a page are relative to."""

from __future__ import annotations

import codecs
import re
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING
from urllib.parse import quote_from_bytes

import can_ada
from w3lib.encoding import resolve_encoding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_PLAIN = re.compile(
    r"(/|\./|(?:\.\./)*)((?:[\w~-](?!\S*/\.)[\w%~/?=&;,+.-]*)?(?:#[\w%~!$&()*+,./:;=?@-]*)?)",
    re.ASCII,
)
_LONGEST = 300  # characters of a reference that is taken apart by a pattern
_TO_THE_ROOT = 1 << 30  # folders
# Names that could be numbers are left out: 0x7f.1 is 127.0.0.1.
_CANONICAL = re.compile(
    r"https?://(?:(?!xn--)[a-z0-9-]+\.)+[a-z]{2,}(?:/[\w~+-]*(?:\.[\w~+-]+)*)+(?:\?[\w~%/=&;,+.-]*)?",
    re.ASCII,
)
_END_OF_PATH = re.compile(r"[?#]")
_WITH_HOST = ("http://", "https://")
_ORIGIN = re.compile(r"https?://[^/]+")
# WHATWG URL Standard §4.4, steps 1-3
_AROUND = "".join(map(chr, range(0x21)))
_WITHIN = dict.fromkeys(map(ord, "\t\n\r"))
_BEYOND_ASCII = re.compile(r"[^\0-\x7f]+")
_AS_IT_IS = "".join(map(chr, range(0x21, 0x7F))).translate(dict.fromkeys(map(ord, "\"#<>'")))
_SURROGATE = re.compile("[\ud800-\udfff]")  # UTF-8 can't carry them
_UNENCODABLE = "lswc.query"


class Base:
    """A page's own URL or that of its BASE.

    ``charset`` is what the page is written in, and so the queries of its links.
    """

    def __init__(self, url: str, charset: str = "utf-8") -> None:
        self._charset = charset
        self._encode = _encoder(charset)
        self._written = url
        if _CANONICAL.fullmatch(url) is None:
            url = self._url.href if self._url else ""
        path = _END_OF_PATH.split(url, maxsplit=1)[0]
        origin = _ORIGIN.match(path)
        self._folders: list[str] = []
        if origin:
            names = path[origin.end() :].split("/")[1:-1]
            roots = [origin.group() + "/", *(name + "/" for name in names)]
            self._folders = list(accumulate(roots))

    @cached_property
    def _url(self) -> can_ada.URL | None:
        # Most pages need none: their own URL is canonical, and their links are plain.
        return _parsed(self._written)

    def rebased(self, href: str) -> Base:
        """Return what a BASE with this ``href`` makes of it (HTML Standard §4.2.3)."""
        url = _parsed(self.join(href))
        if url is None or url.protocol in ("data:", "javascript:"):
            return self
        return Base(url.href, self._charset)

    def join(self, href: str) -> str:
        """Resolve as the WHATWG URL Standard does; what is no URL is returned as it is.

        The commonest shapes go without the URL parser, so the result isn't always canonical.
        """
        if self._folders and href:
            if href.startswith(_WITH_HOST) and href.isascii():
                return href
            plain = _plain(href) if len(href) <= _LONGEST else None
            if plain is not None:
                higher, rest = plain
                return self._folders[max(0, len(self._folders) - 1 - higher)] + rest
        return self._join(href)

    def join_all(self, hrefs: Iterable[str]) -> list[str]:
        """Resolve each of these."""
        join = self.join
        return (
            [
                href if href.startswith(_WITH_HOST) and href.isascii() else join(href)
                for href in hrefs
            ]
            if self._folders
            else list(map(join, hrefs))
        )

    def _join(self, href: str) -> str:
        path, mark, query = href.partition("?")
        if mark and self._encode is not None and not query.isascii():
            query = _BEYOND_ASCII.sub(self._encode, query.strip(_AROUND).translate(_WITHIN))
        if self._url is None:
            return href
        try:
            return (self._url + _SURROGATE.sub("\ufffd", path + mark + query)).href
        except ValueError:
            return href


@lru_cache(maxsize=8_192)
def _plain(href: str) -> tuple[int, str] | None:
    """Return how many folders higher a plain reference leads, and what follows; else None."""
    plain = _PLAIN.fullmatch(href)
    if plain is None or href[0] == "#":
        return None
    up, rest = plain.groups()
    # ../ is three characters, ./ two
    return (_TO_THE_ROOT if up == "/" else len(up) // 3), rest


def _parsed(url: str) -> can_ada.URL | None:
    """Take an absolute URL apart by the WHATWG URL Standard; None if it isn't a valid one."""
    try:
        return can_ada.parse(_SURROGATE.sub("\ufffd", url))
    except ValueError:
        return None


def _encoder(charset: str) -> Callable[[re.Match[str]], str] | None:
    """Return what percent-encodes text in a charset (WHATWG URL §1.3), None for UTF-8."""
    if charset.startswith("utf-"):
        return None  # queries of UTF-16 pages are UTF-8 too (Encoding Standard §4.3)
    try:
        codec = codecs.lookup(resolve_encoding(charset) or charset)
    except LookupError:
        return None

    def encode(text: re.Match[str]) -> str:
        return quote_from_bytes(codec.encode(text[0], _UNENCODABLE)[0], _AS_IT_IS)

    return encode


def _as_reference(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    return "".join(f"%26%23{ord(character)}%3B" for character in characters), error.end


codecs.register_error(_UNENCODABLE, _as_reference)
