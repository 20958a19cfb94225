"""Paragraphs seen: by a worker, and over a restart."""

from __future__ import annotations

import os
from contextlib import closing
from errno import ENOSPC
from random import Random
from typing import TYPE_CHECKING

import pytest

from lswc.errors import StorageError
from lswc.frontier.store.seen_paragraphs import BITS, FILE, HASHES, SeenParagraphs, places

if TYPE_CHECKING:
    from pathlib import Path


def drawn(number: int, seed: int) -> list[int]:
    draw = Random(seed)
    return [draw.getrandbits(64) - 2**63 for _ in range(number)]


SOME = [0, *drawn(5, 1)]


def test_a_paragraph_is_new_once_and_once_on_a_page(tmp_path: Path) -> None:
    with closing(SeenParagraphs(tmp_path)) as seen:
        assert seen.add([*SOME, SOME[0]]) == [True] * len(SOME) + [False]
        assert seen.add([*SOME, 2**50]) == [False] * len(SOME) + [True]
        assert seen.add([]) == []


def test_a_restart_forgets_nothing(tmp_path: Path) -> None:
    with closing(SeenParagraphs(tmp_path)) as seen:
        seen.add(SOME)
    with closing(SeenParagraphs(tmp_path)) as seen:
        assert not any(seen.add(SOME))


def test_the_file_has_its_room_at_once(tmp_path: Path) -> None:
    """Else a full disk would end the process later, at any write."""
    with closing(SeenParagraphs(tmp_path)):
        found = (tmp_path / FILE).stat()
    assert found.st_size == BITS // 8
    assert found.st_blocks * 512 >= BITS // 8


def test_a_full_disk_is_said_before_the_crawl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: int) -> None:
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(StorageError, match="No space left"):
        SeenParagraphs(tmp_path)


def test_a_folder_that_cant_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / FILE).mkdir()
    with pytest.raises(StorageError, match="can't write"):
        SeenParagraphs(tmp_path)


@pytest.mark.parametrize("paragraph", SOME)
def test_every_place_is_a_bit_of_the_filter(paragraph: int) -> None:
    found = list(places(paragraph))
    assert len(found) == HASHES
    assert all(0 <= place < BITS for place in found)
