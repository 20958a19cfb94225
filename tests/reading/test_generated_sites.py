"""Sites that machines wrote: told from those whose pages are only alike in a few sentences."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from lswc.reading.generated_sites import GENERATED, GeneratedSites, Page, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PAGES = 40


def words(random: Random, number: int) -> str:
    return "".join(chr(random.randrange(0x0E01, 0x0E2F)) for _ in range(5 * number))


def verdict(pages: Iterable[list[str]], *, is_translated: bool = False) -> Verdict | None:
    """Return what is known of a site with pages of these paragraphs."""
    found = GeneratedSites()
    for page in pages:
        found.add("a.example", Page("\n".join(page), page, len(page), is_translated))
    return found.verdict("a.example")


def own(random: Random) -> list[str]:
    """Return paragraphs that are a page's own."""
    return [words(random, random.randrange(20, 90)) for _ in range(random.randrange(3, 9))]


def filled(random: Random) -> Iterator[list[str]]:
    """Yield pages that are one text with other names in it."""
    text = [words(random, 12) for _ in range(30)]
    for _ in range(PAGES):
        names = [words(random, 2) for _ in range(4)]
        yield ["".join(one + random.choice(names) for one in text[i : i + 6]) for i in (0, 6, 12)]


def spun(random: Random) -> Iterator[list[str]]:
    """Yield pages that are one of three texts, with a synonym for half of the words."""
    texts = [
        [[words(random, 1) for _ in range(random.choice((1, 5)))] for _ in range(150)]
        for _ in range(3)
    ]
    for _ in range(PAGES):
        said = [random.choice(one) for one in random.choice(texts)]
        yield ["".join(said[i : i + 50]) for i in (0, 50, 100)]


@pytest.mark.parametrize(
    ("pages", "sign"),
    [(filled, "same sentences"), (spun, "same text in other words")],
)
def test_one_text_with_other_words_in_it_is_of_a_machine(pages: object, sign: str) -> None:
    assert callable(pages)
    found = verdict(pages(Random(1)))
    assert found is not None
    assert found.score >= GENERATED
    assert sign in found.signs


def test_phrases_of_generators_and_translations_are_signs() -> None:
    random = Random(2)
    phrases = verdict(
        [*own(random), "ในฐานะโมเดลภาษา AI"] if n % 9 == 0 else own(random) for n in range(PAGES)
    )
    translated = verdict((own(random) for _ in range(PAGES)), is_translated=True)
    assert phrases is not None
    assert translated is not None
    assert phrases.score >= GENERATED <= translated.score
    assert phrases.signs == ("phrases of generators",)
    assert translated.signs[0] == "machine translation"


def test_texts_of_their_own_and_versions_of_one_are_of_people() -> None:
    random = Random(4)
    found = verdict(own(random) for _ in range(PAGES))
    assert found is not None
    assert found.score < 0.2
    page = own(random)
    assert verdict([[*page[:-1], page[-1] + words(random, 1)] for _ in range(PAGES)]) is None


def test_what_a_site_says_on_every_page_tells_nothing() -> None:
    random = Random(6)
    notices = [words(random, 80) for _ in range(5)]
    found = verdict([*notices, *own(random)] for _ in range(PAGES))
    assert found is not None
    assert found.score < 0.2


def test_pages_alike_in_length_and_structure_alone_mark_no_site() -> None:
    random = Random(7)
    found = verdict([words(random, 60), words(random, 60)] for _ in range(PAGES))
    assert found is not None
    assert found.signs == ("same length", "same structure")
    assert found.score < GENERATED


def test_few_pages_tell_nothing() -> None:
    assert verdict(page for _, page in zip(range(9), filled(Random(5)), strict=False)) is None
