"""A URL or a bare host a line; blank lines and those that begin with # say nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.seeds.candidates import Candidate, written_url
from lswc.seeds.sources import lines, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lswc.seeds.candidates import Asked


def read(path: Path, asked: Asked) -> Iterator[Candidate]:
    """Yield the URLs of a list. Raises SeedError."""
    with opened(path, asked.say) as file:
        for line in lines(file, asked.passed):
            text = line.strip()
            if not text or text.startswith("#"):
                continue
            url = written_url(text)
            if url is None:
                asked.passed["not a URL"] += 1
                asked.wrong(text)
            else:
                yield Candidate(url)
