"""Progress is for people who look on."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from lswc.cli import progress_lines
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


def test_where_no_terminal_is_a_line_is_written_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, out = [0.0], StringIO()
    monkeypatch.setattr(progress_lines, "monotonic", lambda: now[0])
    with working(console=Console(file=out)) as say:
        for seconds in range(0, 200, 10):
            now[0] = float(seconds)
            say("a [b]", seconds, 400)
        now[0] = 1_000.0
        say("c", 5, 0)
    said = [line.partition(" ")[2] for line in out.getvalue().splitlines()]
    shares = (2, 8, 18, 32, 48)  # after 10, 20, 40, 60 and 60 seconds more
    assert said == [*(f"a [b], {share}% done" for share in shares), "c"]
