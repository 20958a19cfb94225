"""Processes of lswc that lswc starts."""

from __future__ import annotations

import os
import sys


def environment() -> dict[str, str]:
    """Return this process's environment, in which another finds lswc where this one has it.

    scrapyd has the project in an egg that only its own process knows.
    """
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
