"""Scrapy in a process whose clock on the wall is set by a file: seconds that it is ahead."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

_FILE = Path(os.environ["TEST_CLOCK"])
_time = time.time


def _jumping() -> float:
    return _time() + float(_FILE.read_text())


if __name__ == "__main__":
    time.time = _jumping  # before anybody imports it
    from scrapy.cmdline import execute

    sys.argv[0] = "scrapy"
    execute()
