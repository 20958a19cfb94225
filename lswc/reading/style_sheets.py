"""Style sheets: the other sheets, images and fonts that CSS names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import tinycss2

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_STYLE = 524_288
"""Characters of a style sheet that are read."""

# The parts of a style sheet that name anything: what lies between two braces. A style sheet of a
# megabyte without them is read in a thousandth of the time that its tokens take.
_PART = re.compile(r"[^{}]+")
_NAMES = re.compile(r"url\(|@import|image-set\(", re.IGNORECASE)
_PARTS = 2_000
_AT_ONCE = 100_000  # characters of a part
_NESTED = 32  # blocks within blocks


def in_css(text: str) -> Iterator[tuple[str, str]]:
    """Yield what CSS names: in ``@import``, ``url()``, ``image-set()``."""
    text = text[:MAX_STYLE]
    if _NAMES.search(text) is None:
        return
    left = _PARTS
    for part in _PART.finditer(text):
        if left and _NAMES.search(part[0]):
            left -= 1
            before = text[max(0, part.start() - 40) : max(0, part.start() - 1)].rstrip().lower()
            is_font = before.endswith("@font-face")
            yield from _of_tokens(_tokens(part[0][:_AT_ONCE]), "font" if is_font else "image")


def _tokens(text: str) -> list[tinycss2.ast.Node]:
    try:
        tokens: list[tinycss2.ast.Node] = tinycss2.parse_component_value_list(text)
    except ValueError:  # a number of thousands of digits
        return []
    return tokens


def _of_tokens(
    tokens: list[tinycss2.ast.Node], kind: str, depth: int = 0, strings: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield what tokens name; ``strings`` says that strings among them are URLs."""
    imports = False
    for token in tokens:
        match token.type:
            case "at-keyword":
                imports = token.lower_value == "import"
            case "url" | "string" if token.type == "url" or imports or strings:
                yield token.value, "style" if imports else kind
                imports = False
            case "function" if depth < _NESTED:
                names = token.lower_name == "url" or token.lower_name.endswith("image-set")
                inside = "style" if imports else kind
                yield from _of_tokens(token.arguments, inside, depth + 1, names)
                imports = False
            case "() block" | "[] block" if depth < _NESTED:
                yield from _of_tokens(token.content, kind, depth + 1)
            case "literal" if token.value == ";":
                imports = False
