"""Sites that machines wrote: told from those whose pages are only alike in their tables."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from lswc.corpus.generated_sites import GENERATED, GeneratedSites, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

PAGES = 40


def words(random: Random, number: int) -> str:
    return "".join(chr(random.randrange(0x0E01, 0x0E2F)) for _ in range(5 * number))


def verdict(
    pages: Iterable[list[str]], kind: str = "text", translated: str | None = None
) -> Verdict | None:
    """Return what is known of a site with pages of these paragraphs."""
    found = GeneratedSites()
    for page in pages:
        segments, text = [], ""
        for one in page:
            segments.append(
                {"start": len(text), "end": len(text) + len(one), "kind": kind, "mark": None}
            )
            text += one + "\n"
        row: dict[str, Any] = {"text": text[:-1], "segments": segments, "language_script": "Thai"}
        found.add("www.a.example", row | {"machine_translated": translated})
    return found.verdict("b.a.example")


def own(random: Random) -> list[str]:
    """Return paragraphs that are a page's own."""
    return [words(random, random.randrange(20, 90)) for _ in range(random.randrange(3, 9))]


def filled(random: Random) -> Iterable[list[str]]:
    """Yield pages that are one text with other names in it."""
    text = [words(random, 12) for _ in range(30)]
    for _ in range(PAGES):
        names = [words(random, 2) for _ in range(4)]
        yield ["".join(one + random.choice(names) for one in text[i : i + 6]) for i in (0, 6, 12)]


def test_one_text_with_other_names_in_it_is_of_a_machine() -> None:
    found = verdict(filled(Random(1)))
    assert found is not None
    assert found.score >= GENERATED
    assert "same sentences" in found.signs


def test_phrases_of_generators_and_translations_are_signs() -> None:
    random = Random(2)
    phrases = verdict(
        [*own(random), "ในฐานะโมเดลภาษา AI"] if n % 9 == 0 else own(random) for n in range(PAGES)
    )
    translated = verdict((own(random) for _ in range(PAGES)), translated="google")
    assert phrases is not None
    assert translated is not None
    assert phrases.score >= GENERATED <= translated.score
    assert phrases.signs == ("phrases of generators",)
    assert translated.signs[0] == "machine translation"


@pytest.mark.parametrize("kind", ["table", "code"])
def test_tables_that_are_alike_tell_nothing(kind: str) -> None:
    assert verdict(filled(Random(3)), kind) is None


def test_texts_of_their_own_and_versions_of_one_are_of_people() -> None:
    random = Random(4)
    found = verdict(own(random) for _ in range(PAGES))
    assert found is not None
    assert found.score < 0.2
    page = own(random)
    assert verdict([[*page[:-1], page[-1] + words(random, 1)] for _ in range(PAGES)]) is None


def test_few_pages_tell_nothing() -> None:
    assert verdict(page for _, page in zip(range(9), filled(Random(5)), strict=False)) is None
