"""Other links: those that a page gives otherwise than by elements of HTML.

In headers: ``Refresh`` (HTML Standard §4.2.5.3 has it as META) and ``Link`` (RFC 8288). In what its
scripts read: ``data-href``, and a handler that sets the page's location.
"""

from __future__ import annotations

import re
from html import unescape
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from lswc.language.html import ParsedLink, is_followed, language_tag, refreshed_to

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lswc.language.base_url import Base

MOST = 200
"""Links that are taken of a page's headers, and as many of what its scripts read."""

_HEADERS = 8_192  # characters of all Link headers
_LINK = re.compile(
    r'<([^<>]{1,2083})>((?:\s*;\s*[\w*-]{1,30}\s*(?:=\s*(?:"[^"]{0,200}"|[^",;<]{0,200}))?)*+)'
)
_PARAMETER = re.compile(r';\s*([\w*-]+)\s*=\s*(?:"([^"]*)"|([^",;<]*))')
# What begins with any letter takes a pattern far longer to find than it takes to look for each.
_ATTRIBUTES = (b"data-href", b"onclick", b"onmousedown")
_SMALL = np.uint8(0x20)  # the bit that small letters have; bytes.lower takes ten times as long
_VALUE = re.compile(rb"\s*=\s*(?:\"([^\"]{1,1000})\"|'([^']{1,1000})')")
# A name that is put together isn't known.
_LOCATION = re.compile(
    r"\blocation(?:\.href)?\s*(?:=|\.(?:assign|replace)\s*\()\s*(?:'([^']+)'|\"([^\"]+)\")(?!\s*\+)"
)
_NO_ADDRESS = re.compile(r"[\s{}<>]|^(?:#|$|javascript:|\w+$)", re.IGNORECASE)


def of_headers(headers: Mapping[str, Sequence[str]], base: Base) -> Iterator[ParsedLink]:
    """Yield the links that an answer's headers name: relative to its own URL (RFC 8288 §3.2)."""
    for value in headers.get("refresh", ())[:1]:
        if reference := refreshed_to(value):
            yield ParsedLink(base.join(reference), "", False)
    value = ", ".join(headers.get("link", ()))[:_HEADERS]
    for reference, parameters in islice(_LINK.findall(value), MOST):
        named = {
            n.lower(): quoted or plain.strip()
            for n, quoted, plain in _PARAMETER.findall(parameters)
        }
        if is_followed(named.get("rel", "")) and "anchor" not in named:
            yield ParsedLink(
                base.join(reference.strip()), "", False, language_tag(named.get("hreflang", ""))
            )


def of_scripts(markup: bytes, base: Base, known: Iterable[str]) -> list[ParsedLink]:
    """Return the links that only a page's scripts read: those that none of its links leads to."""
    places = sorted(_places(markup))
    if not places:
        return []
    had = {url.partition("#")[0] for url in known}
    found: dict[str, ParsedLink] = {}
    for end, is_handler in places:
        value = _VALUE.match(markup, end)
        if value is None:
            continue
        text = unescape((value[1] or value[2]).decode("utf-8", "replace"))
        if is_handler:
            location = _LOCATION.search(text)
            text = (location[1] or location[2]) if location else ""
        if _NO_ADDRESS.search(text):
            continue
        url = base.join(text).partition("#")[0]
        if url not in had:
            found.setdefault(url, ParsedLink(url, "", False))
        if len(found) >= MOST:
            break
    return list(found.values())


def _places(markup: bytes) -> Iterator[tuple[int, bool]]:
    """Yield where the names of attributes end that scripts read, and whether each is a handler."""
    lowered = (np.frombuffer(markup, np.uint8) | _SMALL).tobytes()
    for name in _ATTRIBUTES:
        is_handler = name.startswith(b"on")
        place = lowered.find(name)
        while place >= 0:
            end = place + len(name)
            if not is_handler or markup[place - 1 : place].isspace():
                yield end, is_handler
            place = lowered.find(name, end)
