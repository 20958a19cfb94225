"""What is HTML, by what its server says and by its first bytes."""

from __future__ import annotations

import re

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
    if has_other_signature(body) or body.startswith(_GZIP):
        return False
    return _essence(content_type) in _HTML or (
        _essence(content_type) in _UNTOLD and _MARKUP.search(body[:1445]) is not None
    )


def _essence(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def may_be_html(content_type: str) -> bool:
    """Tell whether a Content-Type says HTML, or says nothing."""
    return _essence(content_type) in _HTML | _UNTOLD


def has_other_signature(body: bytes) -> bool:
    """Tell whether bytes begin as another format does; gzip's own signature isn't asked."""
    return _BINARY.match(body) is not None
