"""Processes that the browser is made of."""

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
    """Return the bytes that this process and all that it has started have for themselves."""
    total, own = 0, psutil.Process()
    with suppress(psutil.Error):
        for each in (own, *own.children(recursive=True)):
            with suppress(psutil.Error):
                held = each.memory_info()
                total += held.rss - getattr(held, "shared", 0)
    return total


def cpu() -> float:
    """Return the seconds of processor that this process and all that it has started have used."""
    total, own = 0.0, psutil.Process()
    with suppress(psutil.Error):
        for each in (own, *own.children(recursive=True)):
            with suppress(psutil.Error):
                used = each.cpu_times()
                total += used.user + used.system
    return total
