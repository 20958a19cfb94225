"""Large pages: what of one is read, so that none holds the parser and few lose a link.

What no reader sees leaves first: long scripts and styles, comments, images in attributes, the
shapes of graphics. What is still beyond the bounds is reduced to its text and links.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

TIMES_A_PAGE = 8
"""Times the bound of a page's size that are looked at of its bytes."""

KEPT = 2_000
"""Bytes of a script or style that stay in a large page: they may tell what the page is."""

_BALLAST = re.compile(rb"<!--|<(script|style)(?=[\s/>])[^<>]*+>", re.IGNORECASE)
_ENDS = {
    b"script": re.compile(rb"</script(?=[\s/>])", re.IGNORECASE),
    b"style": re.compile(rb"</style(?=[\s/>])", re.IGNORECASE),
}
_BASE64 = re.compile(rb";base64,[A-Za-z0-9+/=%]{200,}+")
_SHAPES = re.compile(
    rb"</?(?:path|polygon|polyline|rect|circle|ellipse|line|stop)(?=[\s/>])[^<>]*+>"
)
# Bytes of these may be halves of letters: UTF-16, ISO-2022.
_OTHER_BYTES = re.compile(rb"[\x00\x1b]")
_SAMPLE = 1_000
_NO_LINK = re.compile(
    rb"<(?!/?(?:a|area|base|frame|iframe|img|link|meta|title)[\s/>])[/!?a-z][^<>]*+>?",
    re.IGNORECASE,
)
# What may be open where the rest begins, and would swallow its text or links.
_MAY_BE_OPEN = (
    "script", "style", "textarea", "title", "noscript", "select", "template", "svg", "math", "nav",
    "footer", "a",
)  # fmt: skip
_CLOSED = b"".join(f"</{name}>".encode() for name in _MAY_BE_OPEN)
_HREF = re.compile(rb"<(?:a|area)\s[^<>]{0,300}?\bhref\s*=\s*[\"']?[^#\"'\s<>]", re.IGNORECASE)


class Reduced(NamedTuple):
    """What is read of a page's bytes; ``lost`` is the number of links in the others, about.

    ``is_cut`` says that there are others.
    """

    body: bytes
    lost: int = 0
    is_cut: bool = False


def reduced(body: bytes, size: int) -> Reduced:
    """Return of a page's bytes what is read: as they are, up to ``size``, else as much as counts.

    At most twice the size. The text's charset is unknown here: a page whose bytes may be halves of
    letters is cut.
    """
    if len(body) <= size:
        return Reduced(body)
    if _OTHER_BYTES.search(body, 0, _SAMPLE) or b"\x1b$" in body:
        return _cut(body[:size], body)
    light = without_ballast(body[: TIMES_A_PAGE * size])
    if len(light) > size:
        end = light.rfind(b"<", 0, size)
        end = end if end > 0 else size
        light = light[:end] + text_and_links(light[end:])
    read = light[: 2 * size]
    if len(read) < len(light) or len(body) > TIMES_A_PAGE * size:
        return _cut(read, light + body[TIMES_A_PAGE * size :])
    return Reduced(read)


def _cut(read: bytes, whole: bytes) -> Reduced:
    return Reduced(read, links_lost(whole, read), is_cut=True)


def links_lost(source: bytes, bounded: bytes) -> int:
    """Return how many links of a page aren't in what is read of it, about."""
    return max(0, len(_HREF.findall(source)) - len(_HREF.findall(bounded)))


def without_ballast(source: bytes) -> bytes:
    """Return a page without what takes its room, and nobody reads."""
    pieces: list[bytes] = []
    place = 0
    while (found := _BALLAST.search(source, place)) is not None:
        if found[1] is None:
            end = source.find(b"-->", found.start() + 2)
            kept, following = found.start(), end + len(b"-->")
        else:
            closing = _ENDS[found[1].lower()].search(source, found.end())
            end = closing.start() if closing else -1
            kept, following = min(end, found.end() + KEPT), end
        if end < 0:
            break
        pieces.append(source[place:kept])
        place = following
    source = b"".join([*pieces, source[place:]])
    if b";base64," in source:
        source = _BASE64.sub(b";base64,", source)
    return _SHAPES.sub(b"", source) if b"<svg" in source else source


def text_and_links(source: bytes) -> bytes:
    """Return a part of a page as its text and links, wherever it was cut off."""
    return _CLOSED + _NO_LINK.sub(b"\n", source)


def within_tags(source: bytes, most: int) -> bytes:
    """Return a page with so many tags, and as many of links in the text that follows them."""
    light = without_ballast(source)
    starts = _starts(light)
    if len(starts) > most:
        end = int(starts[most])
        light = light[:end] + text_and_links(light[end:])
        starts = _starts(light)
    return light[: starts[2 * most]] if len(starts) > 2 * most else light


def _starts(source: bytes) -> npt.NDArray[np.intp]:
    return np.flatnonzero(np.frombuffer(source, np.uint8) == ord("<"))
