"""File systems of a test's own, which do to a crawl what a machine's do: root may mount them."""

from __future__ import annotations

import os
import subprocess
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def _run(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"this machine mounts nothing: {done.stderr.strip()}")


@contextmanager
def mounted(folder: Path, *options: str | Path) -> Iterator[Path]:
    """Mount a file system on a folder."""
    if os.getuid():
        pytest.skip("only root may mount a file system")
    folder.mkdir()
    with ExitStack() as stack:
        _run("mount", *options, folder)
        stack.callback(_run, "umount", "--lazy", folder)
        yield folder


@contextmanager
def on_a_disk(folder: Path) -> Iterator[Path]:
    """Mount a disk of 60 MB, which ``fail`` lets fail."""
    image = folder.with_suffix(".img")
    with image.open("wb") as file:
        file.truncate(60_000_000)
    _run("mkfs.ext4", "-q", "-F", image)
    with mounted(folder, "-o", "loop,errors=remount-ro", image) as disk:
        yield disk


def fail(disk: Path) -> None:
    """Let a disk be only read from now on, as the kernel does after an error of it."""
    _run("mount", "-o", "remount,abort", disk)
