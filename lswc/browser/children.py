"""The processes that the browser is made of."""

from __future__ import annotations

from contextlib import suppress

import psutil


def end_children(parent: int | None = None) -> None:
    """End all processes that this one has started, and theirs; or those of another, and that."""
    with suppress(psutil.Error):
        process = psutil.Process(parent)
        children = process.children(recursive=True)
        for each in children if parent is None else [process, *children]:
            with suppress(psutil.Error):
                each.kill()


def memory() -> int:
    """Return the bytes that all processes which this one has started have for themselves."""
    total = 0
    with suppress(psutil.Error):
        for child in psutil.Process().children(recursive=True):
            with suppress(psutil.Error):
                held = child.memory_info()
                total += held.rss - getattr(held, "shared", 0)
    return total
