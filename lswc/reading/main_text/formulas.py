"""Formulas of a page as TeX, in the marks that MathJax and KaTeX read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

DRAWN = ".katex-html,.MathJax,.MathJax_Preview,.MathJax_Display,.MathJax_SVG"
"""What is drawn of a formula that the page has as MathML or TeX, too."""

_TEX = "annotation[encoding='application/x-tex'],annotation[encoding='TeX']"
_LONGEST = 10_000  # characters of a formula


def tex_of(node: LexborNode) -> str:
    """Return the TeX of a ``math`` element or of a script of MathJax; else its bare letters."""
    said = node.attributes
    if node.tag == "script":
        kind = (said.get("type") or "").lower()
        return _marked(node.text(), "display" in kind) if kind.startswith("math/tex") else ""
    found = node.css_first(_TEX)
    tex = found.text() if found else said.get("alttext") or ""
    return _marked(tex, said.get("display") == "block") if tex.strip() else node.text()[:_LONGEST]


def _marked(tex: str, is_block: bool) -> str:
    tex = " ".join(tex[:_LONGEST].split())
    if not tex:
        return ""
    return rf"\[{tex}\]" if is_block else rf"\({tex}\)"
