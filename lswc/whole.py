"""Files that appear under their names only when they are whole."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Give a path beside ``path`` to write to; it takes the name when the block ends well.

    If the block raises, what was written is removed and what was at ``path`` stays. Raises OSError.
    """
    beside = path.with_name(f".{path.name}.partial")
    try:
        yield beside
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
