"""Lock of a crawl folder: one process may have it."""

from __future__ import annotations

import fcntl
from typing import TYPE_CHECKING

from lswc.errors import writing
from lswc.frontier.rules.contract import FrontierError

if TYPE_CHECKING:
    from pathlib import Path
    from typing import IO


def lock(folder: Path) -> IO[str]:
    """Lock a crawl folder until the file is closed. Raises LswcError if it is locked."""
    path = folder / "frontier.lock"
    with writing(path):
        file = path.open("a")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.close()
        raise FrontierError(
            f"another process crawls into {folder}: wait for it, or choose another folder with "
            "LSWC_CRAWL"
        ) from error
    return file
