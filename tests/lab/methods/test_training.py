"""Tables from a folder of texts, and what the n-gram measures make of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lswc.lab.methods.training import TrainingError, main, table, train
from lswc.language.ngrams import Likelihoods, tables

if TYPE_CHECKING:
    from pathlib import Path


def test_the_tables_of_the_package_are_small_and_whole() -> None:
    names = {f"{t.language}.{t.encoding}" for t in tables()}
    assert {"my.utf-8", "my.zawgyi-one", "my.win-researcher", "th.tis-620", "en.utf-8"} <= names
    assert all(t.ranked and t.trigrams for t in tables())


def test_a_folder_of_texts_becomes_tables(tmp_path: Path) -> None:
    (tmp_path / "th.tis-620.txt").write_bytes("ภาษาไทย ภาษา".encode("cp874"))
    (tmp_path / "xx.some-font.txt").write_text("qwfp qwfp arst", "utf-8")
    (tmp_path / "notes.md").write_text("no text to train from", "utf-8")
    assert train(tmp_path, tmp_path / "out") == ["th.tis-620", "xx.some-font"]
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "th.tis-620.json",
        "xx.some-font.json",
    ]


def test_a_font_is_told_by_its_own_table(tmp_path: Path) -> None:
    texts = {"xx.font.txt": "qwfp arst zxcd " * 50, "en.utf-8.txt": "the end of the day " * 50}
    made = {}
    for name, text in texts.items():
        (tmp_path / name).write_text(text, "utf-8")
        made[name] = [table(tmp_path / name)]
    scores = Likelihoods(made).scores("arst qwfp").sum(axis=1)
    assert scores[0] > scores[1]


@pytest.mark.parametrize("name", ["th.txt", "th.tis-620.old.txt", ".utf-8.txt"])
def test_a_text_must_be_named_for_language_and_encoding(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("text", "utf-8")
    with pytest.raises(TrainingError, match=r"name it <language>\.<encoding>\.txt"):
        train(tmp_path, tmp_path)


def test_mistakes_are_one_line_and_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([]) == 2
    assert main([str(tmp_path)]) == 2
    (tmp_path / "th.utf-8.txt").write_text(" ", "utf-8")
    assert main([str(tmp_path), str(tmp_path)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 3
