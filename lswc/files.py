"""Files that appear under their names only when they are whole."""

from __future__ import annotations

import fcntl
import os
import shutil
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_PARTIAL = ".partial-"


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Give a path beside ``path`` to write to; it takes the name when the block ends well.

    If the block raises, what was written is removed and what was at ``path`` stays. Raises OSError.
    """
    beside = path.with_name(f"{_PARTIAL}{path.name}")
    try:
        yield beside
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


@contextmanager
def partial_folder(folder: Path) -> Iterator[Path]:
    """Give a folder in ``folder`` for what isn't whole; it goes when the block ends.

    What killed processes left of theirs goes before; one that lives has a lock on its own. Raises
    OSError.
    """
    with ExitStack() as stack:
        with _locked(folder):  # so nobody finds one that has no lock yet
            for left in folder.glob(f"{_PARTIAL}*/"):
                _remove_left(left)
            name = stack.enter_context(TemporaryDirectory(prefix=_PARTIAL, dir=folder))
            stack.enter_context(_locked(Path(name)))
        yield Path(name)


@contextmanager
def _locked(folder: Path, how: int = fcntl.LOCK_EX) -> Iterator[None]:
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, how)
        yield
    finally:
        os.close(handle)


def _remove_left(folder: Path) -> None:
    try:
        with _locked(folder, fcntl.LOCK_EX | fcntl.LOCK_NB):
            shutil.rmtree(folder)
    except BlockingIOError:
        return  # its process lives


@contextmanager
def whole_folder(folder: Path) -> Iterator[Path]:
    """Give a folder to write to; all its files go into ``folder`` when the block ends well.

    They replace those of the same names. If the block raises, ``folder`` is as it was; it is made
    if it has to be. Raises OSError.
    """
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with partial_folder(folder) as beside:
            yield beside
            for path in [path for path in beside.rglob("*") if path.is_file()]:
                target = folder / path.relative_to(beside)
                target.parent.mkdir(parents=True, exist_ok=True)
                path.replace(target)
    except BaseException:
        if is_new:
            folder.rmdir()
        raise


def is_partial(path: Path) -> bool:
    """Tell whether a file or folder is what a killed process left of one that isn't whole."""
    return path.name.startswith(_PARTIAL)
