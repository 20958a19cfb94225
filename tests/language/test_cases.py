"""Real pages that are no clean text: the share that is told right, by kind."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from lswc.lab.methods.evaluation import Labelled, load
from lswc.language import Identifier
from lswc.language.registry import language

CASES = Path(__file__).with_name("cases.jsonl.gz")
LEAST = {
    "stub": 0.97,
    "shell": 1.0,
    "described": 0.95,
    "mixed": 0.95,
    "decomposed": 1.0,
    "garbled": 0.95,
    "legacy": 0.95,
}
"""What is told of each kind today, rounded down: less is a step back."""


@pytest.fixture(scope="module")
def cases() -> list[Labelled]:
    return load(CASES)


def test_there_are_enough_of_each_kind(cases: list[Labelled]) -> None:
    kinds = Counter(case.kind for case in cases)
    assert sum(kinds.values()) >= 400
    assert set(kinds) == set(LEAST)
    assert min(kinds.values()) >= 40


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
