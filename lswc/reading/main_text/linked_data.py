"""JSON-LD of a page: text that only scripts show (schema.org ``articleBody``), and its licence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from selectolax.lexbor import LexborHTMLParser

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LONGEST = 1_000_000  # characters of a script that are looked at
_MOST = 10_000  # values in all
SCRIPTS = 20
"""Scripts of a page that are looked at."""


def article_of(scripts: Iterable[str]) -> str:
    """Return the longest ``articleBody`` in JSON-LD, without tags; "" if there is none."""
    return max(map(_body, scripts), key=len, default="")


def _body(script: str) -> str:
    if "articleBody" not in script or len(script) > _LONGEST:
        return ""
    try:
        waiting: list[Any] = [msgspec.json.decode(script)]
    except (msgspec.DecodeError, RecursionError):
        return ""
    best, seen = "", 0
    while waiting and seen < _MOST:
        seen += 1
        value = waiting.pop()
        if isinstance(value, dict):
            text = value.get("articleBody")
            if isinstance(text, str) and len(text) > len(best):
                best = text
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return _plain(best)


_PARTS = ("@graph", "mainEntity", "mainEntityOfPage")
_NO_PAGE = frozenset({"ImageObject", "Photograph", "VideoObject", "AudioObject", "MediaObject"})


def licences_of(scripts: Iterable[str]) -> list[str]:
    """Return the ``license`` of what JSON-LD says that a page is, but not of pictures in it."""
    return [one for script in scripts for one in _licences(script)]


def _licences(script: str) -> Iterator[str]:
    if '"license"' not in script or len(script) > _LONGEST:
        return
    try:
        waiting: list[Any] = [msgspec.json.decode(script)]
    except (msgspec.DecodeError, RecursionError):
        return
    for _ in range(_MOST):
        if not waiting:
            return
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, dict) and not _is_media(value.get("@type")):
            waiting.extend(value[part] for part in _PARTS if part in value)
            said = value.get("license")
            said = (said.get("@id") or said.get("url")) if isinstance(said, dict) else said
            if isinstance(said, str):
                yield said


def _is_media(types: object) -> bool:
    named = types if isinstance(types, list) else [types]
    return any(isinstance(one, str) and one in _NO_PAGE for one in named)


def _plain(text: str) -> str:
    """Return a text without the tags and references that some sites leave in it."""
    if "<" not in text and "&" not in text:
        return text
    root = LexborHTMLParser(text.replace("\n", "<br>")).body
    return root.text(separator="\n") if root else ""
