"""A user's own languages, in a folder outside the package."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from lswc.lab.methods.training import train
from lswc.language import Identifier, registry
from lswc.language.ngrams import TableError
from lswc.language.registry import LanguageError, code_of, known, language
from lswc.strategy import Anchor

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Article 1 of the Universal Declaration of Human Rights.
ADLAM = "𞤋𞤲𞥆𞤢𞤥𞤢 𞤢𞤣𞤫𞥅𞤶𞤭 𞤬𞤮𞤬 𞤨𞤮𞤼𞤭, 𞤲𞤣𞤭𞤥𞤯𞤭𞤣𞤭 𞤫 𞤶𞤭𞤦𞤭𞤲𞤢𞤲𞥆𞤣𞤫 𞤼𞤮 𞤦𞤢𞤲𞥆𞤺𞤫 𞤸𞤢𞤳𞥆𞤫𞥅𞤶𞤭"
SORBIAN = (
    "Wšitcy čłowjekojo su wot naroda swobodni a su jenacy po dostojnosći a prawach. Woni su z "
    "rozumom a swědomjom wobdarjeni a maja mjezsobu w duchu bratrowstwa wobchadźeć."
)
POLISH = (
    "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni "
    "obdarzeni rozumem i sumieniem i powinni postępować wobec innych w duchu braterstwa."
)
CZECH = (
    "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv. Jsou nadáni rozumem a "
    "svědomím a mají spolu jednat v duchu bratrství."
)


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Path]:
    """Return a folder for languages, which isn't used any more after the test."""
    yield tmp_path
    registry.use("")


def identified(text: str, code: str) -> str | None:
    return (
        Identifier(language(code))
        .read(text.encode(), None, "http://a.test/")
        .identification.language
    )


@pytest.mark.parametrize(
    ("code", "text", "word"),
    [
        ("nqo", "ߡߐ߱ ߓߍ߯ ߘߊ߲߫ ߘߊ߫ ߤߘߐ߬ߦߊ߬ߣߍ߲ ߡߊ߬", "ߒߞߏ"),
        ("sat", "ᱥᱟᱱᱟᱢ ᱢᱟᱱᱣᱟ ᱜᱮ ᱯᱷᱩᱨᱜᱟᱹᱞ ᱟᱨ ᱢᱟᱱ", "ᱥᱟᱱᱛᱟᱲᱤ"),
        ("zgh", "ⴰⵔ ⴷ ⵜⵜⵍⴰⵍⴰⵏ ⵎⵉⴷⴷⵏ ⴳⴰⵏ ⵉⵍⴻⵍⵍⵉⵜⵏ", "ⵜⴰⵎⴰⵣⵉⵖⵜ"),
    ],
)
def test_a_language_with_a_script_of_its_own_is_told_by_it(code: str, text: str, word: str) -> None:
    assert identified(text, code) == code
    assert identified(text, "th") == code
    assert Identifier(language(code)).anchor(word) is Anchor.TARGET
    assert Identifier(language(code)).anchor("ภาษาไทย") is Anchor.OTHER


def test_a_users_own_script_beyond_the_first_plane(own: Path) -> None:
    assert identified(ADLAM, "th") is None
    (own / "ff.toml").write_text('name = "Fula"\nscripts = ["Adlam"]\n')
    registry.use(str(own))
    assert "ff" in known()
    assert identified(ADLAM, "ff") == "ff"
    assert Identifier(language("ff")).anchor("𞤆𞤵𞤤𞤢𞤪") is Anchor.TARGET


def test_a_users_own_language_in_a_script_of_many(own: Path) -> None:
    texts = own / "texts"
    texts.mkdir()
    (texts / "hsb.utf-8.txt").write_text(SORBIAN, encoding="utf-8")
    (own / "hsb.toml").write_text('name = "Upper Sorbian"\nscripts = ["Latin"]\n')
    train(texts, own / "tables")
    registry.use(str(own))
    assert identified(SORBIAN, "hsb") == "hsb"
    assert identified(POLISH, "hsb") == "pl"
    assert identified(CZECH, "hsb") == "cs"
    found = Identifier(language("hsb")).read(
        f"<p>{SORBIAN}<p>{POLISH}".encode(), None, "http://a.test/"
    )
    assert found.identification.share("hsb") == pytest.approx(0.5, abs=0.1)
    assert found.identification.share("pl") == pytest.approx(0.5, abs=0.1)


def test_nothing_of_it_is_left_afterwards(own: Path) -> None:
    (own / "ff.toml").write_text('name = "Fula"\nscripts = ["Adlam"]\n')
    registry.use(str(own))
    registry.use("")
    assert "ff" not in known()
    assert identified(ADLAM, "th") is None


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("ff.toml", "name = ", r"ff\.toml: Invalid value"),
        ("ff.toml", "scripts = ['Adlam']", r"ff\.toml: a name is needed"),
        ("ff.toml", "name = 'Fula'\nscript = ['Adlam']", r"unknown entry 'script'; known: name,"),
        ("ff.toml", "name = 'Fula'\nscripts = 'Adlam'", "scripts must be a list"),
        ("ff.toml", "name = 'Fula'\nscripts = ['Adlan']", "'Adlan' is no Unicode script"),
        ("ff.toml", "name = 'Fula'\ntlds = ['.ff']", "'.ff' is no top-level domain"),
        ("ff.toml", "name = 'Fula'\nquotas = 5", r"quotas are a section: \[quotas\]"),
        ("ff.toml", "name = 'Fula'\n[quotas]\npages = 5", "unknown quota 'pages'; known: server_p"),
        ("ff.toml", "name = 'Fula'\n[quotas]\nserver_pages = -1", "must be a whole number, 0 for"),
        ("fula.toml", "name = 'Fula'", "name it <code>.toml"),
        ("ff.txt", "", "no <code>.toml in"),
    ],
)
def test_a_mistake_is_one_clear_line(own: Path, name: str, text: str, message: str) -> None:
    (own / name).write_text(text)
    with pytest.raises(LanguageError, match=message) as caught:
        registry.use(str(own))
    assert "\n" not in str(caught.value)
    assert "ff" not in known()


def test_a_folder_that_is_missing(own: Path) -> None:
    with pytest.raises(LanguageError, match=r"LSWC_LANGUAGES: no such folder: .*gone"):
        registry.use(str(own / "gone"))


def test_a_table_that_is_none(own: Path) -> None:
    (own / "ff.toml").write_text('name = "Fula"\nscripts = ["Adlam"]\n')
    (own / "tables").mkdir()
    (own / "tables" / "ff.utf-8.json").write_text(json.dumps({"language": "ff"}))
    registry.use(str(own))
    with pytest.raises(TableError, match=r"ff\.utf-8\.json: no table of n-grams"):
        Identifier(language("ff"))


def test_an_anchor_text_in_a_script_of_many_languages_is_told(own: Path) -> None:
    saraiki = "ساری دنیا دے انسان آزاد تے برابر ڄمدن اتے اوہ عزت تے حقوق دے لحاظ نال برابر ہن "
    (own / "texts").mkdir()
    (own / "skr.toml").write_text('name = "Saraiki"\nscripts = ["Arabic"]\n')
    (own / "texts" / "skr.utf-8.txt").write_text(saraiki * 20, "utf-8")
    train(own / "texts", own / "tables")
    registry.use(str(own))
    assert Identifier(language("skr")).anchor(saraiki) is Anchor.TARGET


def test_an_own_language_within_a_known_one_is_itself(own: Path) -> None:
    assert code_of("mai") == "bh"
    (own / "mai.toml").write_text('name = "Maithili"\nscripts = ["Devanagari"]\n')
    registry.use(str(own))
    assert code_of("mai-IN") == "mai"
