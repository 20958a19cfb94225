"""XHTML that is served as XML, written as HTML: its parser then sees what an XML parser would.

Mistakes cost it nothing, as they do in an XML parser, which ends at the first.
"""

from __future__ import annotations

import re

_VOID = frozenset(
    b"area base br col embed frame hr img input link meta param source track wbr".split()
)
# A tag that is an element of its own (XML 1.0 §3.1). Bounded: quotes may pair in any way.
_EMPTY_ELEMENT = re.compile(
    rb"<([a-zA-Z][\w:.-]{0,40}+)"
    rb"((?:[^<>\"'/]++|/(?!>)|\"[^\"]{0,2000}+\"|'[^']{0,2000}+'){0,80}+)/>"
)
_PREFIX = re.compile(rb"xmlns:([\w.-]{1,20})\s*=\s*[\"']http://www\.w3\.org/1999/xhtml[\"']")
_CDATA, _END_OF_CDATA = b"<![CDATA[", b"]]>"


def as_html(source: bytes) -> bytes:
    """Return XHTML in UTF-8 as HTML: empty elements are closed, CDATA sections are text."""
    if _CDATA in source:
        source = _without_sections(source)
    if (prefix := _PREFIX.search(source)) is not None:
        source = re.sub(rb"<(/?)%b:(?=[a-zA-Z])" % re.escape(prefix[1]), rb"<\1", source)
    return _EMPTY_ELEMENT.sub(_closed, source)


def _closed(tag: re.Match[bytes]) -> bytes:
    name = tag[1]
    return tag[0] if name in _VOID else b"<%b%b></%b>" % (name, tag[2], name)


def _without_sections(source: bytes) -> bytes:
    first, *others = source.split(_CDATA)
    pieces = [first]
    for other in others:
        inside, _, after = other.partition(_END_OF_CDATA)
        pieces += [inside.replace(b"&", b"&amp;").replace(b"<", b"&lt;"), after]
    return b"".join(pieces)
