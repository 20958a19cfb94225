"""Standard files of a process that was started without them (``>&-``), as some services are.

Else the next file that is opened takes their place, and gets what is printed: the frontier, say.
"""

import os
import sys

_MODES = ("r", "w", "w")


def open_missing() -> None:
    """Let the standard files that are closed be those that nobody reads, or that are empty."""
    for number, (name, mode) in enumerate(zip(("stdin", "stdout", "stderr"), _MODES, strict=True)):
        if getattr(sys, name) is not None:
            continue
        opened = os.open(os.devnull, os.O_RDWR)
        os.set_inheritable(opened, opened == number)  # of another number it is no standard file
        setattr(sys, name, os.fdopen(opened, mode, encoding="utf-8"))
