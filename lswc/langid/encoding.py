"""Bytes to text: the charset of a page, by what it says and by what it holds."""

from __future__ import annotations

import re
from typing import NamedTuple

import chardet
from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    resolve_encoding,
)

SAMPLE = 8_192
"""Bytes that the charset detector sees, from the first that isn't ASCII on."""

_NON_ASCII = re.compile(rb"[\x80-\xff]")
_LATIN = frozenset({"cp1252", "iso8859-1", "latin-1", "iso8859-15", "ascii"})
_WHATWG_NAMES = {
    "cp874": "windows-874",
    "tis-620": "windows-874",
    "cp932": "shift_jis",
    "euc_jp": "euc-jp",
    "iso2022_jp": "iso-2022-jp",
    "cp949": "euc-kr",
    "big5hkscs": "big5",
    "iso8859-1": "windows-1252",
    "latin-1": "windows-1252",
    "utf-16-le": "utf-16le",
    "utf-16-be": "utf-16be",
    "utf-32-le": "utf-32le",
    "utf-32-be": "utf-32be",
}


class Decoded(NamedTuple):
    """Text, the name of its charset, and how that was found.

    ``how`` is one of bom, escapes, content, header, meta, detector, nothing.
    """

    text: str
    encoding: str
    how: str


def decode(body: bytes, content_type: str | None = None) -> Decoded:
    """Decode a page's bytes. Never fails: what can't be decoded becomes U+FFFD.

    In this order: a byte order mark; the escapes of ISO-2022-JP; valid UTF-8; the HTTP
    header's charset; the page's own (META, XML declaration); a detector. A declaration that
    the bytes contradict is passed over.
    """
    bom, rest = read_bom(body)
    if bom is not None:
        return _decoded(body[len(rest or b"") :] if rest else body, bom, "bom")
    if b"\x1b$" in body[: SAMPLE * 8]:
        return _decoded(body, "iso2022_jp", "escapes")
    first = _NON_ASCII.search(body)
    declared = _declarations(body, content_type)
    if b"\0" in body[:SAMPLE]:
        return _detected(body, 0)
    if first is None:
        codec, how = declared[0] if declared else ("ascii", "nothing")
        return Decoded(body.decode("ascii"), _name(codec), how)
    if (text := _utf8(body)) is not None:
        return Decoded(text, "utf-8", "content")
    for codec, how in declared:
        if codec not in _LATIN and (text := _plausible(body, codec)) is not None:
            return Decoded(text, _name(codec), how)
    return _detected(body, first.start())


def _declarations(body: bytes, content_type: str | None) -> list[tuple[str, str]]:
    header = (
        http_content_type_encoding(content_type.encode("latin-1", "replace").decode("latin-1"))
        if content_type
        else None
    )
    meta = html_body_declared_encoding(body[:4096])
    return [(codec, how) for codec, how in ((header, "header"), (meta, "meta")) if codec]


def _utf8(body: bytes) -> str | None:
    """Return the text if it is UTF-8, but for a character cut at the end."""
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start >= len(body) - 3:
            return body[: error.start].decode("utf-8")
    text = body.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    good = len(body) - len(text)  # at least one byte more than characters each
    return text if broken * 20 < good else None


def _plausible(body: bytes, codec: str) -> str | None:
    try:
        text = body.decode(codec, "replace")
    except (LookupError, UnicodeError):
        return None
    return text if text.count("\ufffd") * 200 <= len(text) else None


def _detected(body: bytes, first: int) -> Decoded:
    start = max(0, first - 64) & ~3
    guess = chardet.detect(body[start : start + SAMPLE])["encoding"] or "windows-1252"
    return _decoded(body, resolve_encoding(guess) or "cp1252", "detector")


def _decoded(body: bytes, codec: str, how: str) -> Decoded:
    try:
        text = body.decode(codec, "replace")
    except (LookupError, UnicodeError):
        text, codec = body.decode("latin-1"), "latin-1"
    return Decoded(text, _name(codec), how)


def _name(codec: str) -> str:
    return _WHATWG_NAMES.get(codec, codec)
