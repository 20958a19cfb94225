"""Bosnian, Croatian and Serbian in Latin letters."""

from __future__ import annotations

import pytest

from lswc.language import Identifier
from lswc.language.registry import language
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
