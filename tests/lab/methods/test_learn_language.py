"""``scrapy learn-language``: a user's own language in one folder."""

from __future__ import annotations

import argparse
import re
from importlib import import_module
from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings

from lswc.language import Identifier, registry
from lswc.language.ngrams import tables
from lswc.language.registry import language
from tests.language.test_lookalikes import ASTURIAN
from tests.language.test_own_languages import CZECH, POLISH, SORBIAN

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "texts").mkdir()
    (tmp_path / "hsb.toml").write_text('name = "Upper Sorbian"\nscripts = ["Latin"]\n')
    yield tmp_path
    registry.use("")


def learn(*arguments: str) -> int:
    command = import_module("lswc.lab.commands.learn_language").Command()
    command.settings = Settings()
    command.run(list(arguments), argparse.Namespace())
    return int(command.exitcode)


def test_a_language_is_learned_and_measured(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for code, text in (("hsb", SORBIAN), ("pl", POLISH), ("cs", CZECH)):
        lines = "\n".join(f"{text} {number}" for number in range(20))
        (own / "texts" / f"{code}.utf-8.txt").write_text(lines, encoding="utf-8")
    assert learn(str(own)) == 0
    out = capsys.readouterr().out
    assert "hsb pages    precision 100.0%  recall 100.0%  of" in out
    assert str(own / "tables") in out
    registry.use(str(own))
    identifier = Identifier(language("hsb"))
    for code, text in (("hsb", SORBIAN), ("pl", POLISH), ("cs", CZECH)):
        reading = identifier.read(text.encode(), None, "http://a.test/")
        assert reading.identification.language == code


def test_a_neighbours_text_needs_no_toml(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for code, text in (("hsb", SORBIAN), ("xx", ASTURIAN)):
        lines = "\n".join(f"{text} {number}" for number in range(20))
        (own / "texts" / f"{code}.utf-8.txt").write_text(lines, encoding="utf-8")
    assert learn(str(own)) == 0
    assert "no text of a neighbour" not in capsys.readouterr().out
    registry.use(str(own))
    assert not registry.is_known("xx")
    identifier = Identifier(language("hsb"))
    for text, is_sorbian in ((SORBIAN, True), (ASTURIAN, False)):
        reading = identifier.read(text.encode(), None, "http://a.test/")
        assert (reading.identification.language == "hsb") is is_sorbian
        assert reading.identification.share("hsb") == is_sorbian


def test_what_it_takes_for_the_language_is_said(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own_text = [f"{SORBIAN} {SORBIAN} {number}" for number in range(10)]
    others = [f"{ASTURIAN} {ASTURIAN}"] * 4 + own_text[:1]  # the last of five is held out
    for code, text in (("hsb", own_text), ("dsb", others), ("xx", others[:1])):
        (own / "texts" / f"{code}.utf-8.txt").write_text("\n".join(text), encoding="utf-8")
    assert learn(str(own)) == 0
    assert "hsb takes text of dsb (1 pieces)" in capsys.readouterr().out


def test_it_says_what_it_was_not_measured_on(own: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = "\n".join(f"{SORBIAN} {number}" for number in range(20))
    (own / "texts" / "hsb.utf-8.txt").write_text(lines, encoding="utf-8")
    assert learn(str(own)) == 0
    out = capsys.readouterr().out
    said = next(line for line in out.splitlines() if "was measured on no text of" in line)
    assert {"cs", "sk", "pl"} & set(re.findall(r"\b[a-z]{2}\b", said.partition(":")[0]))
    assert "th" not in re.findall(r"\b[a-z]{2}\b", said.partition(":")[0])


def test_it_says_plainly_that_a_language_is_told_too_badly(
    own: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {"qaa": [SORBIAN] * 30, "xx": [ASTURIAN, SORBIAN] * 15}
    for code, text in texts.items():
        lines = "\n".join(f"{line} {number}" for number, line in enumerate(text * 2))
        (own / "texts" / f"{code}.utf-8.txt").write_text(lines, encoding="utf-8")
    assert learn(str(own)) == 0
    assert "hsb isn't known well enough: of pages" in capsys.readouterr().out


def test_text_of_a_neighbour_that_is_known_is_learned_as_well(own: Path) -> None:
    for code, text in (("hsb", SORBIAN), ("pl", POLISH)):
        lines = "\n".join(f"{text} {number}" for number in range(20))
        (own / "texts" / f"{code}.utf-8.txt").write_text(lines, encoding="utf-8")
    assert learn(str(own)) == 0
    registry.use(str(own))
    assert [table.encoding for table in tables() if table.language == "pl"].count("utf-8") == 2


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("texts/hsb.txt", "x", "name it <language>.<encoding>.txt"),
        ("texts/hsb.utf-8.txt", "", "empty"),
        ("other.md", "x", "no files named <language>.<encoding>.txt"),
        ("hsb.toml", "scripts = []", "a name is needed"),
    ],
)
def test_mistakes_are_one_line(
    own: Path, name: str, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (own / name).write_text(text)
    assert learn(str(own)) == 2
    err = capsys.readouterr().err
    assert err.startswith("scrapy learn-language: error: ")
    assert message in err
    assert err.count("\n") == 1
