"""Text that a page has only in its JSON-LD (schema.org ``articleBody``): scripts show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from selectolax.lexbor import LexborHTMLParser

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def _plain(text: str) -> str:
    """Return a text without the tags and references that some sites leave in it."""
    if "<" not in text and "&" not in text:
        return text
    root = LexborHTMLParser(text.replace("\n", "<br>")).body
    return root.text(separator="\n") if root else ""
