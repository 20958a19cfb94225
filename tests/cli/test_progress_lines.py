"""Progress is for people who look on."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from lswc.cli.progress_lines import working


def shown(lines: int, *steps: tuple[str, float, float]) -> list[str]:
    """Return the lines that a terminal shows after some steps."""
    out = StringIO()
    console = Console(file=out, force_terminal=True, width=100, color_system=None)
    with working(lines, console) as say:
        for step in steps:
            say(*step)
        out.truncate(0)
        out.seek(0)
        say(*steps[-1])
        # The last frame is drawn when it ends.
    frame = out.getvalue().split("\x1b[2K")
    return [line for piece in frame for line in piece.splitlines() if "0:0" in line]


@pytest.mark.parametrize(
    ("lines", "steps", "expected"),
    [
        (1, [("a.csv", 5, 10)], ["a.csv"]),
        (1, [("a.csv", 10, 10), ("b.csv", 1, 10)], ["b.csv"]),
        (3, [("bfs", 5, 10), ("dfs", 5, 10)], ["bfs", "dfs"]),
        (3, [("compiling", 0, 0), ("bfs", 5, 10), ("dfs", 5, 10)], ["bfs", "dfs"]),
        (2, [("a", 1, 2), ("b", 1, 2), ("c", 1, 2)], ["b", "c"]),
        (1, [("[red]a[/red]", 1, 2)], ["[red]a[/red]"]),
    ],
)
def test_the_latest_steps_are_seen(
    lines: int, steps: list[tuple[str, float, float]], expected: list[str]
) -> None:
    found = shown(lines, *steps)
    assert [line.split()[1] for line in found[-len(expected) :]] == expected
    gone = {name for name, _, _ in steps} - {*expected}
    assert not [line for line in found if line.split()[1] in gone]


def test_nothing_is_written_where_nobody_looks() -> None:
    out = StringIO()
    with working(console=Console(file=out)) as say:
        say("reading", 1, 2)
    assert out.getvalue() == ""
