"""RTF (Rich Text Format 1.9.1), by striprtf."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from lswc.reading.documents.text import DAMAGED, Reference, Text

if TYPE_CHECKING:
    from lswc.reading.documents.text import Most

MAX_SIZE = 1_000_000
"""Bytes that are read, pictures left out: each takes 1 to 2 µs."""

FONTS = 500
"""Fonts of a document whose charset counts."""

_PICTURE = re.compile(rb"[0-9a-fA-F\r\n]{200,}+")
# The library looks for the end of each font, and of each field, through all that follows. So it
# gets a table of fonts that is whole; and a line end, which says nothing in RTF, ends its search.
_TABLE, _TABLE_OF_COLOURS = b"\\fonttbl", b"\\colortbl"
_FONT = re.compile(rb"\\f(\d{1,5})(?:\\(?!f\d)|[^\\;{}]){0,200}?\\fcharset(\d{1,3})")
_BEGINS = re.compile(rb"(?=\{\\field|HYPERLINK)")
_LINK = re.compile(rb"HYPERLINK\s{1,9}\"([^\"\\{}\r\n]{1,2000})\"")
_TITLE = re.compile(rb"\{\\title ([^{}]{1,2000})\}")
_HIDDEN = re.compile(rb"\\(?:deleted|v)(?![a-z0-9-])")
_TOKEN = re.compile(
    rb"(?P<open>\{)|(?P<close>\})|\\(?P<word>[a-z]{1,40})(?P<value>-?\d{1,10})? ?"
    rb"|(?P<text>\\'..|\\.|[^\\{}]++|\\)",
    re.DOTALL,
)
_HIDES = frozenset({b"deleted", b"v"})
_SHOWN = frozenset({b"u", b"tab", b"line", b"par", b"cell", b"row"})
_HEAD = b"{\\rtf1\\ansi "


def read(body: bytes, most: Most) -> Text:
    """Return what a document says; nothing if it is broken."""
    from striprtf.striprtf import rtf_to_text  # not above: most crawls' readers never need it

    plain = _PICTURE.sub(b"", body)
    is_cut = len(plain) > MAX_SIZE
    plain = plain[:MAX_SIZE]
    if _HIDDEN.search(plain):
        plain = _shown(plain)
    targets = [Reference(one.decode("latin-1")) for one in _LINK.findall(plain)]
    try:
        text = rtf_to_text(_harmless(plain).decode("latin-1"), errors="replace")
        title = _TITLE.search(plain)
        titled = _HEAD + title[1] + b"}" if title else b""
        name = rtf_to_text(titled.decode("latin-1"), errors="replace")
    except (ValueError, TypeError, LookupError, OverflowError):
        links = tuple(targets[: most.links])
        return Text(references=links, is_cut=is_cut, reason=DAMAGED)
    return Text(
        title=_joined(name),
        text="\n".join(filter(None, map(str.strip, _joined(text).splitlines()))),
        references=tuple(targets[: most.links]),
        unread=max(0, len(targets) - most.links),
        is_cut=is_cut,
    ).completed(most)


def _shown(plain: bytes) -> bytes:
    """Return a document without what was deleted while changes were tracked, or is hidden."""
    out: list[bytes] = []
    hidden: list[frozenset[bytes]] = [frozenset()]  # by what, in each group that is open
    for token in _TOKEN.finditer(plain):
        word = token["word"]
        if token["open"]:
            hidden.append(hidden[-1])
        elif token["close"]:
            hidden[1:] = hidden[1:-1]
        elif word in _HIDES:
            is_off = token["value"] == b"0"
            hidden[-1] = hidden[-1] - {word} if is_off else hidden[-1] | {word}
            continue
        elif word == b"plain":
            hidden[-1] = frozenset()
        if not (hidden[-1] and (token["text"] or word in _SHOWN)):
            out.append(token[0])
    return b"".join(out)


def _harmless(plain: bytes) -> bytes:
    """Return a document that says the same, and holds no pattern of the library's."""
    fonts = (b"{\\f%b\\fcharset%b x;}" % found.groups() for found in _FONT.finditer(plain))
    table = b"{%b%b}" % (_TABLE, b"".join(islice(fonts, FONTS)))
    return b"{" + table + _BEGINS.sub(b"\n", plain[1:].replace(_TABLE, _TABLE_OF_COLOURS))


def _joined(text: str) -> str:
    """Return a text whose halves of letters beyond U+FFFF are joined, if they are pairs."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
