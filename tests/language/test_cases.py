"""Pages of all kinds, clean and not: the share that is told right, and none told as a target."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from lswc.lab.methods.evaluation import Labelled, load
from lswc.language import Identifier
from lswc.language.registry import language
from lswc.strategy import PageLanguage
from tests.language.labelled_pages import LONG, PARAGRAPHS, SHORT, TARGETS, long_text, made

if TYPE_CHECKING:
    from pathlib import Path

LEAST = {
    "clean": 1.0,
    "short": 0.98,
    "stub": 0.97,
    "shell": 1.0,
    "described": 0.97,
    "mixed": 0.95,
    "decomposed": 1.0,
    "garbled": 0.97,
    "legacy": 0.97,
}
"""What is told of each kind today, rounded down: less is a step back."""


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[Labelled]:
    file: Path = tmp_path_factory.mktemp("cases") / "pages.jsonl"
    file.write_text("".join(json.dumps(page) + "\n" for page in made()), "utf-8")
    return load(file)[0]


def test_there_are_enough_of_each_kind(cases: list[Labelled]) -> None:
    kinds = Counter(case.kind for case in cases)
    assert sum(kinds.values()) >= 600
    assert set(kinds) == set(LEAST)
    assert min(kinds.values()) >= 40
    assert made() == made()


@pytest.mark.parametrize("code", PARAGRAPHS)
def test_a_clean_page_is_as_long_as_most_measures_of_languages_have_it(code: str) -> None:
    size = len(long_text(code, random.Random(1)).encode())
    assert 0.7 * LONG < size < 1.5 * LONG
    assert min(map(len, PARAGRAPHS[code])) > 0.8 * SHORT


@pytest.mark.parametrize("kind", LEAST)
def test_pages_as_they_are(kind: str, cases: list[Labelled]) -> None:
    identifiers = {
        code: Identifier(language(code)) for code in {c.language for c in cases} - {"und"}
    }
    wrong = []
    for case in cases:
        if case.kind == kind:
            target = "th" if case.language == "und" else case.language
            reading = identifiers[target].read(case.body, case.content_type, case.url)
            told = reading.identification
            if (told.language or "und") != case.language:
                wrong.append((case.language, told, case.body[:80]))
    total = sum(case.kind == kind for case in cases)
    assert len(wrong) <= (1 - LEAST[kind]) * total, wrong


@pytest.mark.parametrize("target", TARGETS)
def test_no_page_in_another_language_is_relevant(target: str) -> None:
    identifier = Identifier(language(target))

    def relevance(page: str) -> PageLanguage:
        reading = identifier.read(page.encode(), None, "http://page.invalid/")
        return identifier.relevance(reading.identification)

    assert relevance(long_text(target, random.Random(2))) == PageLanguage.TARGET
    for code in set(PARAGRAPHS) - {target}:
        short = (f"<p>{text[:SHORT]}" for text in PARAGRAPHS[code])
        for page in (long_text(code, random.Random(2)), *PARAGRAPHS[code], *short):
            assert relevance(page) != PageLanguage.TARGET, (code, page)
