"""Text that only JSON-LD has."""

from __future__ import annotations

import pytest

from lswc.reading.main_text.paragraphs import read

LAO = "ນັກຮຽນໄປໂຮງຮຽນທຸກວັນ ແລະອ່ານໜັງສືໃນຫ້ອງສະໝຸດຂອງເມືອງຫຼວງ ແລະອ່ານໜັງສືໃນຫ້ອງສະໝຸດຂອງເມືອງຫຼວງ"


def texts(script: str, body: str = "<div id=root></div>") -> list[str]:
    page = f"<body>{body}<script type='application/ld+json'>{script}</script></body>"
    return [one.text for one in read(page, "http://a.example/").paragraphs]


@pytest.mark.parametrize(
    "script",
    [
        f'{{"articleBody": "{LAO}"}}',
        f'[{{"@graph": [{{"@type": "NewsArticle", "articleBody": "{LAO}"}}]}}]',
        f'{{"articleBody": "<p>{LAO}<\\/p>"}}',
        f'{{"articleBody": "{LAO}&nbsp;"}}',
    ],
)
def test_it_is_the_text_of_a_page_that_has_none(script: str) -> None:
    assert texts(script) == [LAO]


def test_it_is_left_out_of_a_page_that_has_text() -> None:
    assert texts(f'{{"articleBody": "{LAO} 2"}}', f"<p>{LAO}</p>") == [LAO]


@pytest.mark.parametrize(
    "script",
    [
        "{",
        '{"articleBody": 1}',
        "[" * 100_000 + '"articleBody"',
        f'{{"articleBody": "{LAO * 9_999}"',
    ],
)
def test_what_is_no_json_ld_gives_nothing(script: str) -> None:
    assert texts(script) == []
