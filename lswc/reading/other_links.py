"""Other links: those that a page gives otherwise than by elements of HTML.

In headers: ``Refresh`` (HTML Standard §4.2.5.3 has it as META) and ``Link`` (RFC 8288). In what its
scripts read: ``data-href``, and a handler that sets the page's location or opens a window.
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

OTHER_LINKS = 200
"""Links that are taken of a page's headers, and as many of what its scripts read."""

_HEADERS = 8_192  # characters of all Link headers
_LINK = re.compile(
    r'<([^<>]{1,2083})>((?:\s*;\s*[\w*-]{1,30}\s*(?:=\s*(?:"[^"]{0,200}"|[^",;<]{0,200}))?)*+)'
)
_PARAMETER = re.compile(r';\s*([\w*-]+)\s*=\s*(?:"([^"]*)"|([^",;<]*))')
_ADDRESS, _HANDLER = b"data-href", b"onclick"
_SMALL = np.uint8(0x20)  # the bit that small letters have; bytes.lower takes ten times as long
_VALUE = re.compile(rb"\s*=\s*(?:\"([^\"]{1,1000})\"|'([^']{1,1000})')")
# A name that is put together isn't known.
_LOCATION = re.compile(
    r"(?:\blocation(?:\.href)?\s*(?:=|\.(?:assign|replace)\s*\()|\bwindow\.open\s*\()"
    r"\s*(?:'([^']+)'|\"([^\"]+)\")(?!\s*\+)"
)
_BEFORE = tuple(bytes((sign,)) for sign in b"\t\n\f\r \"'/")
_NAMED = 10 * OTHER_LINKS  # that are looked at
_NO_ADDRESS = re.compile(r"[\s{}<>]|^(?:#|$|javascript:|\w+$)", re.IGNORECASE)


def of_headers(headers: Mapping[str, Sequence[str]], base: Base) -> Iterator[ParsedLink]:
    """Yield the links that an answer's headers name: relative to its own URL (RFC 8288 §3.2)."""
    for value in headers.get("refresh", ())[:1]:
        if reference := refreshed_to(value):
            yield ParsedLink(base.join(reference), "", False)
    for reference, rel, hreflang in _of_link(headers):
        if is_followed(rel):
            yield ParsedLink(base.join(reference), "", False, language_tag(hreflang))


def canonical_of_headers(headers: Mapping[str, Sequence[str]], base: Base) -> str:
    """Return the URL that an answer's headers say to be its own (RFC 6596 §5), "" for none."""
    found = (to for to, rel, _ in _of_link(headers) if "canonical" in rel.lower().split())
    reference = next(found, None)
    return "" if reference is None else base.join(reference)


def _of_link(headers: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str, str]]:
    """Yield what Link headers name, with rel and hreflang; not what is of other pages."""
    value = ", ".join(headers.get("link", ()))[:_HEADERS]
    for reference, parameters in islice(_LINK.findall(value), OTHER_LINKS):
        named = {
            n.lower(): quoted or plain.strip()
            for n, quoted, plain in _PARAMETER.findall(parameters)
        }
        if "anchor" not in named:
            yield reference.strip(), named.get("rel", ""), named.get("hreflang", "")


def of_scripts(markup: bytes, base: Base, known: Iterable[ParsedLink]) -> list[ParsedLink]:
    """Return the links that only a page's scripts read: those that none of its links leads to."""
    named = dict.fromkeys(islice(_named(markup), _NAMED))
    if not named:
        return []
    had = {link.url.partition("#")[0] for link in known}
    urls = (base.join(text).partition("#")[0] for text in named)
    found = dict.fromkeys(url for url in urls if url not in had)
    return [ParsedLink(url, "", False) for url in islice(found, OTHER_LINKS)]


def _named(markup: bytes) -> Iterator[str]:
    """Yield what scripts read of elements, as far as it is an address.

    Each name is looked for by itself: a pattern of both takes a tenth of a page's time.
    """
    lower = (np.frombuffer(markup, np.uint8) | _SMALL).tobytes()
    for value in _values(markup, lower, _ADDRESS):
        text = _text(value)
        if not _NO_ADDRESS.search(text):
            yield text
    for value in _values(markup, lower, _HANDLER):
        is_one = b"location" in value or b"window.open" in value
        if is_one and (text := handled_location(_text(value))):
            yield text


def handled_location(handler: str) -> str:
    """Return the reference to which a handler of a click leads; "" if to none, or to no address."""
    location = _LOCATION.search(handler)
    text = (location[1] or location[2]) if location else ""
    return "" if _NO_ADDRESS.search(text) else text


def _values(markup: bytes, lower: bytes, name: bytes) -> Iterator[bytes]:
    """Yield the values of an attribute.

    ``lower`` is the page in small letters, but what is no letter may be another sign.
    """
    place = lower.find(name)
    while place >= 0:
        end = place + len(name)
        value = _VALUE.match(markup, end) if markup[place - 1 : place] in _BEFORE else None
        if value is not None:
            yield value[1] or value[2]
            end = value.end()
        place = lower.find(name, end)


def _text(value: bytes) -> str:
    return unescape(value.decode("utf-8", "replace"))
