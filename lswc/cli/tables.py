"""Tables for the terminal."""

from __future__ import annotations

import re
import sys
from itertools import islice
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lswc.urls import readable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# What moves the cursor, turns the direction of writing, or can't be written.
_CONTROL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def terminal(width: int | None = None) -> Console:
    """Return the standard output; ``width`` is that of a file, which has none of its own."""
    return Console(file=sys.stdout, width=None if sys.stdout.isatty() else width)


def plain(grid: Table) -> str:
    """Return a table as a file has it."""
    console = Console(width=100, color_system=None, force_terminal=False)
    with console.capture() as written:
        console.print(grid)
    return "\n".join(line.rstrip() for line in written.get().splitlines())


def table(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """Return a table; numbers are set to the right, with thousands apart."""
    grid = Table(title=_plain(title), box=box.SIMPLE)
    for number, head in enumerate(heads):
        grid.add_column(head, justify="right" if number else "left")
    for row in rows:
        grid.add_row(*(_cell(value) for value in row))
    return grid


ROWS_OF_A_GROUP = 8
"""Rows of a group that a summary shows; files have them all."""


def counted(
    title: str, groups: Mapping[str, Mapping[str, object]], longest: int | None = ROWS_OF_A_GROUP
) -> Table:
    """Return a table of named counts in named groups: the first of each, or all if None."""
    grid = Table(title=_plain(title), box=box.SIMPLE, show_header=False)
    grid.add_column()
    grid.add_column()
    grid.add_column(justify="right")
    for group, counts in groups.items():
        for row, (name, count) in enumerate(islice(counts.items(), longest)):
            grid.add_row("" if row else group, _plain(name), _cell(count))
        if longest is not None and len(counts) > longest:
            grid.add_row("", f"and {len(counts) - longest} more", "")
        if counts:
            grid.add_section()
    return grid


def lines_table(title: str, lines: Mapping[str, str]) -> Table:
    """Return a table of named lines; the names stay on one line each."""
    grid = Table(title=_plain(title), title_justify="left", box=None, show_header=False)
    grid.add_column(no_wrap=True, style="bold")
    grid.add_column()
    for name, line in lines.items():
        grid.add_row(_plain(name), _plain(line))
    return grid


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else _plain(str(value))


def _plain(text: str) -> str:
    # Names, titles and reasons come from the web: nothing in them is markup, nor for the terminal.
    return escape(harmless(text))


def harmless(text: str) -> str:
    """Return a text of a stranger's as a terminal may show it, with hosts in their own script."""
    return _CONTROL.sub("\ufffd", readable(text))
