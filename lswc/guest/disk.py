"""Room on the disk: the crawl pauses before a full one stops it."""

from __future__ import annotations

import logging
from shutil import disk_usage
from typing import TYPE_CHECKING

from lswc.errors import writing

if TYPE_CHECKING:
    from pathlib import Path

_MB = 1_000_000

logger = logging.getLogger(__name__)


class Disk:
    """The disk that a crawl's folder is on. ``halt`` says why nothing is asked for now, or "".

    ``least`` is the room in bytes that is left alone; any at 0.
    """

    def __init__(self, folder: Path, least: float) -> None:
        self._folder = folder
        self._least = least
        self.halt = ""

    def look(self) -> None:
        """See how much room there is now. Raises StorageError if that can't be seen."""
        if not self._least:
            return
        with writing(self._folder):
            free = disk_usage(self._folder).free
        before = self.halt
        self.halt = ""
        if free < self._least:
            self.halt = (
                f"{free / _MB:,.0f} MB are free on the disk of {self._folder}, fewer than the"
                f" {self._least / _MB:,.0f} MB of LSWC_MIN_DISK"
            )
        if self.halt and not before:
            logger.warning("the crawl waits for room: %s; nothing is lost", self.halt)
        elif before and not self.halt:
            logger.warning("there is room again: the crawl goes on")
