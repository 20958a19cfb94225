"""Progress of a long command: lines on a terminal, and elsewhere one now and then."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import datetime
from time import monotonic
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.progress import TaskID

    from lswc.progress import Say

_COLUMNS = (
    SpinnerColumn(),
    TextColumn("{task.description}"),
    BarColumn(),
    TaskProgressColumn(),
    TimeElapsedColumn(),
    TimeRemainingColumn(elapsed_when_finished=True),
)


@contextmanager
def working(lines: int = 1, console: Console | None = None) -> Iterator[Say]:
    """Give what shows progress on the standard error's terminal; the lines go when it ends.

    The ``lines`` latest names are seen; one whose end isn't known goes when the next comes. Print
    nothing before it has ended.
    """
    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield _now_and_then(console)
        return
    tasks: dict[str, TaskID] = {}
    open_ended: set[str] = set()
    # Standard output isn't led through: it may go elsewhere.
    with Progress(*_COLUMNS, console=console, transient=True, redirect_stdout=False) as bar:

        def say(what: str, done: float, total: float) -> None:
            if what not in tasks:
                left = [name for name in tasks if name in open_ended]
                for name in left or list(tasks)[: len(tasks) + 1 - lines]:
                    bar.remove_task(tasks.pop(name))
                tasks[what] = bar.add_task(escape(what), total=None)
            (open_ended.discard if total else open_ended.add)(what)
            bar.update(tasks[what], completed=done, total=total or None)

        yield say


SOON, EVERY = 10.0, 60.0
"""Seconds to the first line where no terminal is; from line to line twice as many, up to EVERY."""


def _now_and_then(console: Console) -> Say:
    """Return what writes a line now and then, whatever is done then."""
    latest, wait = monotonic(), SOON

    def say(what: str, done: float, total: float) -> None:
        nonlocal latest, wait
        if monotonic() - latest < wait:
            return
        latest, wait = monotonic(), min(EVERY, 2 * wait)
        share = f", {done / total:.0%} done" if total else ""
        line = f"{datetime.now():%H:%M:%S} {what}{share}"
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    return say
