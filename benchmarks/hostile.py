"""A crawl of the hostile web of tests/hostile: every case, what is expected, what was seen.

python -m benchmarks.hostile

Prints a table in Markdown; cases of one kind that ended alike share a row. Ends with exit code 1
if any didn't end as expected.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tests.hostile.crawl import checks, crawl

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.hostile.crawl import Check

WIDTH = 110
"""Characters of a row."""


def main() -> None:
    """Crawl and print."""
    with TemporaryDirectory() as folder:
        ended = crawl(Path(folder))
    seen = list(checks(ended))
    held = sum(check.holds for check in seen)
    print("| case | expected | seen |\n|---|---|---|")
    for row in rows(seen):
        print(f"| {' | '.join(row)} |")
    print(f"\n{held} of {len(seen)} cases as expected, in {ended.seconds:.0f} s")
    sys.exit(held < len(seen))


def rows(seen: Iterable[Check]) -> Iterator[tuple[str, str, str]]:
    """Yield cells; the number of cases that share a row is in the last."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for check in seen:
        alike.setdefault((check.kind, check.expected, check.seen), []).append(short(check.case))
    for (kind, expected, end), names in alike.items():
        room = WIDTH - len(f"| {kind}:  | {expected} | {end} x9 |")
        for line in packed(names, room):
            count = f" x{len(line)}" if len(line) > 1 else ""
            yield f"{kind}: {', '.join(line)}", expected, end + count


def packed(names: Iterable[str], width: int) -> Iterator[list[str]]:
    """Yield the names in lines no longer than the width."""
    line: list[str] = []
    for name in names:
        if line and len(", ".join([*line, name])) > width:
            yield line
            line = []
        line.append(name)
    yield line


def short(case: str) -> str:
    """Return a case's name without what all have."""
    place = case.removeprefix("http://").removeprefix("good-0.example").removesuffix("/secret")
    return place.removesuffix("/").removesuffix(".example")


if __name__ == "__main__":
    main()
