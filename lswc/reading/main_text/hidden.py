"""Elements that a page hides from all who see it, told from their style and class."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_NOTHING = r"0*\.?0*(?:px|r?em|ex|pt|ch|v[wh]|%)?\s*(?:;|!|$)"
_STYLE = re.compile(
    rf"visibility\s*:\s*(?:hidden|collapse)|(?<![\w-])opacity\s*:\s*{_NOTHING}"
    rf"|(?<![\w-])font-size\s*:\s*{_NOTHING}|(?<![\w-])text-indent\s*:\s*-\d{{3,}}"
    r"|(?<![\w-])clip\s*:\s*rect\(\s*[01](?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?[\s,]+[01](?:px)?"
    r"|clip-path\s*:\s*inset\(\s*(?:50|100)%",
    re.IGNORECASE,
)
_PLACED = re.compile(r"position\s*:\s*(?:absolute|fixed)", re.IGNORECASE)
_AWAY = re.compile(r"(?<![\w-])(?:left|top|right|bottom|margin-left)\s*:\s*-\d{3,}", re.IGNORECASE)
# As Bootstrap, Tailwind, Foundation, WordPress, Drupal and HTML5 Boilerplate name them.
_CLASSES = (
    "d-none", "hidden", "hide", "is-hidden", "u-hidden", "invisible", "visually-hidden",
    "visuallyhidden", "sr-only", "screen-reader-text", "screen-reader-only", "show-for-sr",
    "element-invisible", "assistive-text", "display-none",
)  # fmt: skip
_SELECTOR = ",".join(("[style]", *(f"[class~={name}]" for name in _CLASSES)))
# Hidden on some screens, shown on others: "d-none d-md-block", "hidden lg:flex".
_SHOWN = re.compile(
    r"(?:^|\s)(?:d-(?:sm|md|lg|xl|xxl|print)-(?!none)|(?:\w+:)+(?!hidden|invisible))"
)
_NAMES = frozenset(_CLASSES)
_LONGEST = 1_000  # characters of a style or a class that are looked at


def hidden_in(tree: LexborHTMLParser) -> set[int]:
    """Return the ``mem_id`` of each element that is hidden by other means than ``display``."""
    return {node.mem_id for node in tree.css(_SELECTOR) if _is_hidden(node)}


def _is_hidden(node: LexborNode) -> bool:
    if node.tag in ("html", "body"):
        return False  # it is hidden until a script has run
    style = (node.attributes.get("style") or "")[:_LONGEST]
    if _STYLE.search(style) or (_PLACED.search(style) and _AWAY.search(style)):
        return True
    names = (node.attributes.get("class") or "")[:_LONGEST]
    return not _NAMES.isdisjoint(names.split()) and not _SHOWN.search(names)
