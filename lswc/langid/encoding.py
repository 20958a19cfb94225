"""Bytes to text: the charset of a page, by what it says and by what it holds."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

import chardet
import numpy as np
from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    resolve_encoding,
)

_SAMPLE = 8_192  # bytes that the detector sees, from the first that isn't ASCII on
_NON_ASCII = re.compile(rb"[\x80-\xff]")
_LATIN = frozenset({"cp1252", "iso8859-1", "ascii"})
_UTF_16_32 = frozenset({"utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"})
_WHATWG_NAMES = {
    "cp874": "windows-874",
    "tis-620": "windows-874",
    "iso8859-11": "windows-874",
    "cp932": "shift_jis",
    "euc_jp": "euc-jp",
    "iso2022_jp": "iso-2022-jp",
    "cp949": "euc-kr",
    "big5hkscs": "big5",
    "gbk": "gb18030",
    "gb2312": "gb18030",
    "iso8859-1": "windows-1252",
    "cp1252": "windows-1252",
}


class Decoded(NamedTuple):
    """Text, the name of its charset, and how that was found.

    ``how`` is one of bom, escapes, content, header, meta, detector, nothing. The name is the
    WHATWG Encoding Standard's where it has one.
    """

    text: str
    encoding: str
    how: str


def decode(body: bytes, content_type: str | None = None) -> Decoded:
    """Decode a page's bytes. Never fails: what can't be decoded becomes U+FFFD.

    In this order: a byte order mark; the escapes of ISO-2022-JP; valid UTF-8; the HTTP
    header's charset; the page's own (META, XML declaration); a detector. A declaration that
    the bytes contradict is passed over, and one of Latin-1 never heeded, as Tamura 2007
    §2.2 has it: it is what editors write unasked.
    """
    codec, mark = read_bom(body)
    if codec is not None:
        return _decoded(body[len(mark or b"") :], codec, "bom")
    if b"\x1b$" in body:
        return _decoded(body, "iso2022_kr" if b"\x1b$)C" in body else "iso2022_jp", "escapes")
    if b"\0" in body[:_SAMPLE]:
        return _detected(body, 0)
    first = _NON_ASCII.search(body)
    if first is None:
        return _ascii(body, content_type)
    text = _utf8(body)
    if text is not None:
        return Decoded(text, "utf-8", "content")
    for codec, how in declarations(body, content_type):
        if codec not in _LATIN and (text := _plausible(body, codec)) is not None:
            return Decoded(text, _name(codec), how)
    return _detected(body, first.start())


def declarations(body: bytes, content_type: str | None) -> list[tuple[str, str]]:
    """Return the Python codecs that a page declares, and where: header, meta."""
    header = content_type and content_type.isascii() and http_content_type_encoding(content_type)
    meta = html_body_declared_encoding(body[:4_096])
    return [(codec, how) for codec, how in ((header, "header"), (meta, "meta")) if codec]


def canonical(label: str) -> str:
    """Return the name that Decoded uses for a charset's label."""
    return _name(resolve_encoding(label) or label.lower())


def _ascii(body: bytes, content_type: str | None) -> Decoded:
    text = body.decode("ascii")
    for codec, how in declarations(body, content_type):
        if codec not in _UTF_16_32:
            return Decoded(text, _name(codec), how)
    return Decoded(text, "ascii", "nothing")


def _utf8(body: bytes) -> str | None:
    """Return the text if it is UTF-8, but for a few broken characters and one cut at the end."""
    try:
        return codecs.utf_8_decode(body, "strict", False)[0]
    except UnicodeDecodeError:
        text = body.decode("utf-8", "replace")
    beyond_ascii = int(np.count_nonzero(np.frombuffer(body, np.uint8) > 127))
    return text if text.count("\ufffd") * 20 < beyond_ascii else None


def _plausible(body: bytes, codec: str) -> str | None:
    try:
        text = body.decode(codec, "replace")
    except (LookupError, UnicodeError):
        return None
    return text if text.count("\ufffd") * 200 <= len(text) else None


def _detected(body: bytes, first: int) -> Decoded:
    sample = body[first & ~3 : first + _SAMPLE]
    guess = chardet.detect(sample)["encoding"] or "windows-1252"
    return _decoded(body, resolve_encoding(guess) or guess.lower(), "detector")


def _decoded(body: bytes, codec: str, how: str) -> Decoded:
    try:
        return Decoded(body.decode(codec, "replace"), _name(codec), how)
    except (LookupError, UnicodeError):
        return Decoded(body.decode("cp1252", "replace"), "windows-1252", how)


def _name(codec: str) -> str:
    codec = _WHATWG_NAMES.get(codec, codec)
    try:
        name = codecs.lookup(codec).name
    except LookupError:
        return codec
    return _WHATWG_NAMES.get(name, codec).replace("_", "-").replace("shift-jis", "shift_jis")
