"""What a crawl's folder says of how it was run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from lswc.archive.appended_files import ArchiveError
from lswc.archive.run_settings import language_of

if TYPE_CHECKING:
    from pathlib import Path


def crawl_of(folder: Path, tags: str) -> Path:
    (folder / "settings.json").write_text(json.dumps({"language": tags}))
    return folder


def test_of_several_languages_one_has_to_be_named(tmp_path: Path) -> None:
    crawl = crawl_of(tmp_path, "lo,th")
    assert language_of(crawl, "th").tag == "th"
    with pytest.raises(ArchiveError, match="is a crawl of lo,th: say of which language, --lang"):
        language_of(crawl)
    with pytest.raises(ArchiveError, match="is a crawl of lo,th, not of km"):
        language_of(crawl, "km")


def test_the_only_language_needs_no_name(tmp_path: Path) -> None:
    assert language_of(crawl_of(tmp_path, "th")).tag == "th"
    with pytest.raises(ArchiveError, match="none is not a crawl folder: it has no settings"):
        language_of(tmp_path / "none")


@pytest.mark.parametrize("damaged", [b"", b"{", b"[1]", b"\xff"])
def test_settings_that_are_damaged_are_said_to_be(tmp_path: Path, damaged: bytes) -> None:
    (tmp_path / "settings.json").write_bytes(damaged)
    with pytest.raises(ArchiveError, match=r"settings\.json can't be read: the next run"):
        language_of(tmp_path)
