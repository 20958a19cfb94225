"""What a crawl's folder says of how it was run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from lswc.archive.appended_files import ArchiveError
from lswc.archive.run_settings import keep, language_of, settings_of

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


def test_a_folder_says_which_versions_ran_its_crawl(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    for version, before in (
        ("1", None), ("1", None), ("2", ["1"]), ("2", ["1"]), ("3", ["1", "2"]), ("1", ["2", "3"]),
    ):  # fmt: skip
        keep(tmp_path, {"software": version})
        assert settings_of(tmp_path) == {
            "software": version, **({"earlier-software": before} if before else {}),
        }  # fmt: skip
    assert f"{tmp_path} ran with 2 before, and goes on with 3" in caplog.messages
    for broken in ("[]", "{", '{"software": 1}', '{"software": "1", "earlier-software": {}}'):
        (tmp_path / "settings.json").write_text(broken)
        keep(tmp_path, {"software": "1"})
        assert settings_of(tmp_path) == {"software": "1"}
