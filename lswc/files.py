"""Files that appear under their names only when they are whole."""

from __future__ import annotations

from contextlib import contextmanager
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
def whole_folder(folder: Path) -> Iterator[Path]:
    """Give a folder to write to; all its files go into ``folder`` when the block ends well.

    They replace those of the same names. If the block raises, ``folder`` is as it was; it is made
    if it has to be. Raises OSError.
    """
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with TemporaryDirectory(prefix=_PARTIAL, dir=folder) as name:
            beside = Path(name)
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
