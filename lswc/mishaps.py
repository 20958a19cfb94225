"""Mishaps: errors of this program while it reads what a stranger wrote; each costs what it touches.

A link, a row of a sitemap, a requisite that raises an error is left out and counted; the rest of
its page is read.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

LINK, LANGUAGE, TEXT = "link", "language", "text"
REQUISITE, ROW = "requisite", "row of a listing"
"""What an error may cost."""


class Mishaps(Counter[str]):
    """How often what was lost to which error, such as ``link: KeyError in html.py:262``."""

    def take(self, what: str, error: Exception) -> None:
        """Count an error. Raises it again if it says that there is no memory: nothing works then.

        Only the place of the error is kept, not its words, which may be the stranger's.
        """
        if isinstance(error, MemoryError):
            raise error
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = (
            f"{Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}" if place else "?"
        )
        self[f"{what}: {type(error).__name__} in {where}"] += 1


def what_of(mishap: str) -> str:
    """Return what a counted mishap has cost: a word for counts."""
    return mishap.partition(":")[0]
