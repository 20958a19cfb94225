"""A page's way through the code stays one that a newcomer can follow."""

from __future__ import annotations

from benchmarks.page_way import median, moves, ways

FILES, MOVES = 67, 300
"""At most, from a page's lease to its record. What is looked at for every page or link, though it
changes rarely, is better kept where it changes; what is one thing is better one file. To see what
was added: ``python -m benchmarks.page_way --calls``."""


def test_a_page_passes_few_files_and_moves_little_between_them() -> None:
    way = median(ways())
    assert {"crawl/scheduler.py", "reading/page.py", "archive/archive.py"} <= {f for f, _ in way}
    assert len({file for file, _ in way}) <= FILES
    assert moves(way) <= MOVES
