"""Random lives of workers that share a crawl: kills, joins, lost disks, a Redis that forgets.

``python -m benchmarks.lives [--minutes 10] [--first SEED] [--revisits]`` from the project's folder.
The tests live some hundred lives that are the same each time; these are others, one after another,
from ``--first`` on, a random number by default. Each that loses a URL, fetches one twice or doesn't
end is printed with its seed: make it an ``@example`` of tests/frontier/exchange/test_machine.py.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
from pathlib import Path
from random import randrange
from time import monotonic
from traceback import extract_tb
from unittest.mock import patch

from lswc.frontier.exchange import joining
from tests.frontier.exchange.test_machine import AGAIN, LONG, ONCE, lived


def main() -> None:
    """Live for some minutes, and print what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--first", type=int, default=randrange(2**32))
    parser.add_argument("--revisits", action="store_true", help="pages are visited again")
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)
    until, seed, bad = monotonic() + 60 * given.minutes, given.first, 0
    with patch.object(joining, "SEEN_ALIVE", 0.0):
        while monotonic() < until:
            with tempfile.TemporaryDirectory() as folder:
                try:
                    lived(seed, Path(folder), LONG, AGAIN if given.revisits else ONCE)
                except AssertionError as error:
                    bad += 1
                    where = extract_tb(error.__traceback__)[-1]
                    print(f"seed {seed}: {where.line}", flush=True)
            seed += 1
    print(f"{seed - given.first:,} lives from seed {given.first} on, {bad} of them went wrong")


if __name__ == "__main__":
    main()
