"""Bosnian, Croatian and Serbian in Latin letters."""

from __future__ import annotations

import pytest

from lswc.language import Identifier
from lswc.language.registry import language
from lswc.language.serbo_croatian import told_apart
from lswc.strategy import Anchor, PageLanguage

# The Universal Declaration of Human Rights, articles 1, 2 and 3.
SERBIAN = (
    "Sva ljudska bića rađaju se slobodna i jednaka u dostojanstvu i pravima. Ona su obdarena "
    "razumom i svešću i treba jedni prema drugima da postupaju u duhu bratstva. Svakom pripadaju "
    "sva prava i slobode proglašene u ovoj Deklaraciji bez ikakvih razlika u pogledu rase, boje, "
    "pola, jezika, veroispovesti, političkog ili drugog mišljenja, nacionalnog ili društvenog "
    "porekla, imovine, rođenja ili drugih okolnosti. Svako ima pravo na život i bezbednost."
)
CROATIAN = (
    "Sva ljudska bića rađaju se slobodna i jednaka u dostojanstvu i pravima. Ona su obdarena "
    "razumom i sviješću i trebaju jedna prema drugima postupati u duhu bratstva. Svakome su "
    "dostupna sva prava i slobode navedene u ovoj Deklaraciji bez razlike bilo koje vrste, kao što "
    "su rasa, boja, spol, jezik, vjera, političko ili drugo mišljenje, nacionalno ili društveno "
    "porijeklo, imovina, rođenje ili drugi pravni položaj. Svatko ima pravo na život i slobodu."
)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (SERBIAN, {"sr"}),
        (CROATIAN, {"bs", "hr"}),
        (f"<html lang=hr>{CROATIAN}", {"hr"}),
        (f"<html lang=bs>{CROATIAN}", {"bs"}),
        (f"<html lang=sr>{CROATIAN}", {"sr"}),  # it is written so in some places
        (f"<html lang=en>{SERBIAN}", {"sr"}),
    ],
)
def test_the_page_says_which_or_else_how_it_writes_jat(html: str, expected: set[str]) -> None:
    reading = Identifier(language("sr-Latn")).read(html.encode(), None, "http://a.test/")
    assert reading.identification.language in expected


def test_a_crawl_for_serbian_in_latin_letters() -> None:
    latin, cyrillic = Identifier(language("sr-Latn")), Identifier(language("sr-Cyrl"))
    page = latin.read(SERBIAN.encode(), None, "http://a.test/").identification
    assert page.variant == "sr-Latn"
    assert latin.relevance(page) is PageLanguage.TARGET
    assert cyrillic.relevance(page) is PageLanguage.OTHER
    assert latin.anchor("Sva ljudska bića rađaju se slobodna", "sr") is Anchor.TARGET
    assert cyrillic.anchor("Sva ljudska bića rađaju se slobodna", "sr") is Anchor.OTHER
    assert latin.anchor("Сва људска бића рађају се слободна", "sr") is Anchor.OTHER


MACEDONIAN = (
    "Сите човечки суштества се раѓаат слободни и еднакви по достоинство и права. Тие се обдарени "
    "со разум и совест и треба да се однесуваат еден кон друг во духот на општо човечката "
    "припадност."
)
IN_CYRILLIC = (
    "Сва људска бића рађају се слободна и једнака у достојанству и правима. Она су обдарена "
    "разумом и свешћу и треба једни према другима да поступају у духу братства."
)


@pytest.mark.parametrize(("text", "code"), [(MACEDONIAN, "mk"), (IN_CYRILLIC, "sr")])
@pytest.mark.parametrize("times", [1, 6])
def test_macedonian_is_no_serbian(text: str, code: str, times: int) -> None:
    identifier = Identifier(language("sr"))
    found = identifier.read((text * times).encode(), None, "http://a.test/").identification
    assert found.language == code
    assert (identifier.relevance(found) is PageLanguage.TARGET) is (code == "sr")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Nije bilo dovoljno vremena za promene na ovom mestu", "sr"),
        ("Vreme je lepo, a deca uvek idu posle škole", "sr"),
        ("Vrijeme je lijepo, a djeca uvijek idu poslije škole", "hr"),
        ("Sustav nije pronašao točnu datoteku", "hr"),
        ("Podaci o osobi", "hr"),
    ],
)
def test_a_few_words_in_latin_letters(text: str, expected: str) -> None:
    assert told_apart("hr", text, None) == expected
