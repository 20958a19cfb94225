"""Counters of a server or directory, and the status that follows from them."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from lswc.strategy.facts import Status

NEVER = 2**31 - 1
"""Tolerance of strategies that declare no server irrelevant."""


class Unit(Enum):
    """What Na and Nr are counted for."""

    SERVER = "server"
    DIRECTORY = "directory"


class Pages(NamedTuple):
    """Na and Nr: downloaded pages, and those of them that are relevant."""

    downloaded: int = 0
    relevant: int = 0


NO_PAGES = Pages()


def status(downloaded: int, relevant: int, tolerated: int) -> Status:
    """Return the status of a unit with Na = ``downloaded`` and Nr = ``relevant`` pages.

    Irrelevant when more than ``tolerated`` pages were downloaded and none was relevant:
    Tamura 2007 §4.1 with T = tolerated, Somboonviwat 2006 §5 with S = tolerated + 1.
    """
    if relevant > 0:
        return Status.RELEVANT
    if downloaded > tolerated:
        return Status.IRRELEVANT
    if downloaded == 0:
        return Status.UNVISITED
    return Status.UNDECIDED
