"""What isn't HTML is dropped as soon as that is known."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import StopDownload

from lswc.scheduler import LEASE

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Headers

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_UNTOLD = frozenset({"", "unknown/unknown", "application/unknown", "*/*"})
_MARKUP = re.compile(
    rb"<(?:!doctype html|!--|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|"
    rb"meta|frameset|center|link|base|ul)[\s>]",
    re.IGNORECASE,
)
# The signatures of the WHATWG MIME Sniffing Standard §6 and §7, and of programs.
_BINARY = re.compile(
    rb"%PDF-|%!PS-Adobe-|PK\x03\x04|Rar!\x1a\x07|7z\xbc\xaf\x27\x1c|\x89PNG\r\n\x1a\n|GIF8[79]a"
    rb"|\xff\xd8\xff|RIFF....(?:WEBPVP|AVI |WAVE)|....ftyp|\x1a\x45\xdf\xa3|OggS\0|ID3|FORM....AIFF"
    rb"|MThd\0\0\0\x06|\.snd|FLV\x01|wOF[F2]|OTTO\0|\0\x01\0\0\0|\x7fELF|MZ[\x00-\xff]{4}\0"
    rb"|\0\0[\x01\x02]\0|\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    re.DOTALL,
)
_GZIP = b"\x1f\x8b\x08"


def is_html(content_type: str, body: bytes) -> bool:
    """Tell whether a response may be HTML, by its header and the bytes it begins with.

    A type that says HTML is believed unless the bytes are another format's; without a type the
    bytes alone decide.
    """
    if _BINARY.match(body) or body.startswith(_GZIP):
        return False
    kind = _essence(content_type)
    return kind in _HTML or (kind in _UNTOLD and _MARKUP.search(body[:1445]) is not None)


def _essence(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


class ContentExtension:
    """Stops downloads of what isn't HTML, by its header or by its first bytes.

    Status and headers still count: a redirect is followed, an error is counted as one.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        extension = cls()
        crawler.signals.connect(extension.headers_received, signals.headers_received)
        crawler.signals.connect(extension.bytes_received, signals.bytes_received)
        return extension

    def headers_received(self, headers: Headers, request: Request) -> None:
        """Raise StopDownload if the headers of a page say that it is none."""
        kind = _essence((headers.get("Content-Type") or b"").decode("latin-1"))
        if LEASE in request.meta and kind not in _HTML | _UNTOLD:
            raise StopDownload(fail=False)

    def bytes_received(self, data: bytes, request: Request) -> None:
        """Raise StopDownload if a page's first bytes are another format's.

        A body may be compressed here, so gzip's own signature says nothing.
        """
        if LEASE not in request.meta or request.meta.get(_SEEN):
            return
        request.meta[_SEEN] = True
        if _BINARY.match(data):
            raise StopDownload(fail=False)


_SEEN = "lswc_bytes_seen"
