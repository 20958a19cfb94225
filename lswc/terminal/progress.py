"""What a long command does, as it does it: lines on a terminal, nothing anywhere else."""

from __future__ import annotations

from contextlib import contextmanager
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
    from collections.abc import Callable, Iterator

    from rich.progress import TaskID

    Say = Callable[[str, float, float], None]
    """Hears what is done: its name, how much of it, and of how much (0: not known)."""

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

    The ``lines`` latest names are seen. Print nothing before it has ended.
    """
    console = console or Console(stderr=True)
    if not console.is_terminal:
        yield lambda what, done, total: None
        return
    tasks: dict[str, TaskID] = {}
    # Standard output isn't led through: it may go elsewhere.
    with Progress(*_COLUMNS, console=console, transient=True, redirect_stdout=False) as bar:

        def say(what: str, done: float, total: float) -> None:
            if what not in tasks:
                while len(tasks) >= lines:
                    bar.remove_task(tasks.pop(next(iter(tasks))))
                tasks[what] = bar.add_task(escape(what), total=None)
            bar.update(tasks[what], completed=done, total=total or None)

        yield say
