"""Kinds of pages as lswc tells them beside WCXB's labels: ``python -m benchmarks.page_kinds DEV``.

DEV is the part ``dev`` of a clone of github.com/Murrough-Foley/web-content-extraction-benchmark.
Its *collection* is a listing. The weights are from the even half of its pages; the odd one is told.
"""

from __future__ import annotations

import gzip
import sys
from collections import Counter
from pathlib import Path
from typing import get_args
from zlib import crc32

from benchmarks.extraction import wcxb
from lswc.language.charset import decode
from lswc.reading.main_text.page_kinds import PageKind
from lswc.reading.main_text.paragraphs import read

_SAME = {"collection": "listing"}


def main() -> None:
    """Print how many pages of each kind are told as of each."""
    told = Counter[tuple[str, str | None]]()
    for page in wcxb(Path(sys.argv[1])):
        if crc32(page.name.encode()) % 2:
            html = decode(gzip.decompress(Path(page.path).read_bytes()), None).text
            told[_SAME.get(page.group, page.group), read(html, page.url).page_kind] += 1
    kinds = get_args(PageKind)
    for own in kinds:
        row = [told[own, other] for other in kinds]
        print(f"{own:14}", *(f"{number:5}" for number in row), f"{told[own, own] / sum(row):6.2f}")
    right = sum(told[kind, kind] for kind in kinds)
    print(f"{right / told.total():.3f} of {told.total()}")


if __name__ == "__main__":
    main()
