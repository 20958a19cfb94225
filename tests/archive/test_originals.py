"""What is remembered of payloads is true, whatever was forgotten; and it takes no memory."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

from lswc.archive.warc_writer import PLACES, Originals, digest_of
from lswc.frontier.rules.visit import Original

if TYPE_CHECKING:
    from pathlib import Path

DATE = "2026-01-02T03:04:05Z"


def original(number: int) -> Original:
    url = f"http://www.s{number}.example/{'ä' * (number % 50)}"
    return Original(url, DATE, digest_of(str(number).encode()))


def test_the_latest_are_known_and_nothing_wrong_is(tmp_path: Path) -> None:
    """The file is written over many times, and all share few places."""
    known = Originals(tmp_path, places=1_024, room=8_192)
    for number in range(2_000):
        assert known.get(original(number).digest) is None
        known.keep(original(number))
        assert known.get(original(number).digest) == original(number)
    found = [known.get(original(number).digest) for number in range(2_000)]
    assert all(one in (None, original(number)) for number, one in enumerate(found))
    assert sum(one is not None for one in found[-40:]) > 35
    known.clear()
    assert known.get(original(1_999).digest) is None
    known.close()
    assert not list(tmp_path.iterdir())


def test_one_with_a_url_that_is_too_long_is_not_kept(tmp_path: Path) -> None:
    known = Originals(tmp_path)
    known.keep(Original("http://a.example/" + "x" * 5_000, DATE, "A" * 32))
    assert known.get("A" * 32) is None
    known.close()


def test_many_take_no_more_memory_than_few(tmp_path: Path) -> None:
    known = Originals(tmp_path)
    tracemalloc.start()
    for number in range(20_000):
        known.keep(original(number % PLACES))
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    known.close()
    assert grown < 100_000, "20,000 were 8 MB as objects"
