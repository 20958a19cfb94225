"""Markdown of a corpus's texts: CommonMark with tables of GitHub's and formulas in dollars.

A page's words are words: what in them would be markup has a backslash, so that it is shown as it
was (CommonMark 0.31, §2.4).
"""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    Segment = Mapping[str, Any]

_FORMULA = re.compile(r"\\\((.+?)\\\)|\\\[(.+?)\\\]")
_INLINE = re.compile(
    r"\\(?=[!-/:-@\[-`{-~\n])|[`*~]|(?<![^\W_])_|_(?![^\W_])|<(?=[A-Za-z/!?])|&(?=[#A-Za-z])"
)
_AT_LINE = re.compile(
    r"^(?P<before>\d{1,9}(?=[.)](?:\s|$)))"
    r"|^(?=#{1,6}(?:\s|$)|[-+](?:\s|$)|=+\s*$|[>\[]|[-:|][-:| ]*$)",
    re.MULTILINE,
)
_TAIL = re.compile(r"(?<!\\)(?=#+$)")
_RUN = re.compile("`+")
_CELLS = " | "
_DEEPEST = 6
# In TeX these say the same, and aren't markup to who doesn't read formulas.
_IN_FORMULA = (("<", r"\lt "), (">", r"\gt "), ("](", "]{}("))


def of(row: Mapping[str, Any]) -> str:
    """Return the text of a row of a corpus as Markdown."""
    return "\n\n".join(_blocks(row["text"], row["segments"]))


def _blocks(text: str, segments: Sequence[Segment]) -> Iterator[str]:
    for (_, is_list), group in groupby(_numbered(segments), lambda one: (one[0], _is_item(one[1]))):
        parts = [(one, text[one["start"] : one["end"]]) for _, one in group]
        if parts[0][0]["kind"] == "table":
            yield _table([said for _, said in parts])
        elif is_list:
            yield "\n".join(_item(one, said) for one, said in parts)
        else:
            yield from (_block(one, said) for one, said in parts)


def _numbered(segments: Sequence[Segment]) -> Iterator[tuple[int, Segment]]:
    """Yield each segment with a number that only the rows of one table share, and others 0."""
    number, was_table = 0, False
    for one in segments:
        is_table = one["kind"] == "table"
        number += is_table and (not was_table or one["mark"] == "|")
        was_table = is_table
        yield number if is_table else 0, one


def _is_item(one: Segment) -> bool:
    return one["kind"] == "text" and one["mark"] is not None


def _block(one: Segment, said: str) -> str:
    if one["kind"] == "code":
        fence = "`" * max(3, 1 + max(map(len, _RUN.findall(said)), default=0))
        return f"{fence}\n{said}\n{fence}"
    if one["kind"] == "heading":
        marked = _TAIL.sub(r"\\", escaped(" ".join(said.split())))
        return f"{'#' * min(_DEEPEST, max(1, one['level'] or 1))} {marked}"
    return escaped(said)


def _item(one: Segment, said: str) -> str:
    indent = "    " * (max(1, one["level"] or 1) - 1)
    return f"{indent}{one['mark']} {escaped(' '.join(said.split()))}"


def _table(rows: Sequence[str]) -> str:
    cells = [[escaped(cell).replace("|", r"\|") for cell in row.split(_CELLS)] for row in rows]
    width = max(map(len, cells))
    lines = [[*row, *[""] * (width - len(row))] for row in cells]
    lines.insert(1, ["---"] * width)
    return "\n".join(f"| {' | '.join(' '.join(cell.split()) for cell in row)} |" for row in lines)


def escaped(text: str) -> str:
    """Return text that Markdown shows as it is, its formulas in dollars."""
    pieces, at = [], 0
    formulas = [match for match in _FORMULA.finditer(text) if "$" not in match[0]]
    has_dollars = bool(formulas) or text.count("$") > 1
    for match in formulas:
        pieces += [_plain(text[at : match.start()], has_dollars), _formula(match)]
        at = match.end()
    written = "".join([*pieces, _plain(text[at:], has_dollars)])
    return _AT_LINE.sub(r"\g<before>\\", written).replace("\n", "\\\n")


def _plain(text: str, has_dollars: bool) -> str:
    text = _INLINE.sub(r"\\\g<0>", text)
    if "](" in text:
        text = text.replace("[", r"\[")
    return text.replace("$", r"\$") if has_dollars else text


def _formula(match: re.Match[str]) -> str:
    tex = match[1] or match[2]
    for sign, same in _IN_FORMULA:
        tex = tex.replace(sign, same)
    sign = "$$" if match[2] else "$"
    return f"{sign}{tex.strip()}{sign}"
