"""What a new crawl with a learned order begins with: LSWC_EXPERIENCE."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lswc.errors import ConfigError
from lswc.strategy.prior import Between, Prior, shipped
from tests.crawl.running import SetUp

if TYPE_CHECKING:
    from pathlib import Path

OTHER = 77
"""A cell that lswc's own table doesn't have."""


def begun(folder: Path, **given: object) -> dict[int, int]:
    """Return the pages by cell that a crawl in a folder began with."""
    there = {"LSWC_STRATEGY": "adaptive", "LSWC_FRONTIER": "sqlite", **given}
    there["LSWC_EXPERIENCE"] = str(given.get("LSWC_EXPERIENCE", ""))
    with SetUp(folder, **there) as crawl:
        order = crawl.parts.frontier.order
        return {
            cell: order.before(cell) for cell in [OTHER, *shipped().cells] if order.before(cell)
        }


def table(folder: Path) -> Path:
    path = folder / "order.toml"
    path.write_text(Prior(5, {OTHER: Between(5, 0.5, 0.2)}).dump(), "utf-8")
    return path


def test_with_what_lswc_comes_with(tmp_path: Path) -> None:
    known = shipped().experience.cells
    assert begun(tmp_path) == {cell: pages.downloaded for cell, pages in known.items()}


def test_or_with_nothing(tmp_path: Path) -> None:
    assert not begun(tmp_path, LSWC_EXPERIENCE="none")


def test_or_with_a_table_of_the_users(tmp_path: Path) -> None:
    assert begun(tmp_path, LSWC_EXPERIENCE=table(tmp_path)) == {OTHER: 5}


def test_a_crawl_goes_on_with_what_it_began_with(tmp_path: Path) -> None:
    before = begun(tmp_path, LSWC_EXPERIENCE=table(tmp_path))
    assert begun(tmp_path) == before == {OTHER: 5}


def test_what_an_earlier_crawl_learned_stands_instead(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    assert begun(tmp_path / "one")
    assert not begun(tmp_path, LSWC_EXPERIENCE=tmp_path / "one" / "crawl"), "it had no pages"


def test_what_counts_text_begins_with_nothing(tmp_path: Path) -> None:
    assert not begun(tmp_path, LSWC_STRATEGY="adaptive", LSWC_VALUE="text")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("none.toml", None, "can't be read"),
        ("odd.toml", b"\xff\xfe", "can't be read"),
        ("empty.toml", b"", "no table of lswc learn-order"),
        ("old.toml", b'cells_of = "other"\nwebs = 2', "another version"),
    ],
)
def test_a_table_of_no_use_is_refused(
    tmp_path: Path, name: str, content: bytes | None, said: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigError, match=said) as caught:
        begun(tmp_path, LSWC_EXPERIENCE=tmp_path / name)
    assert f"LSWC_EXPERIENCE={tmp_path / name}" in str(caught.value)


def test_a_table_of_pages_is_refused_where_text_counts(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="it counts pages"):
        begun(tmp_path, LSWC_VALUE="text", LSWC_EXPERIENCE=table(tmp_path))
