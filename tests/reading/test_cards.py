"""Cards: what parts made alike say is a page's text where it has little of any other."""

from __future__ import annotations

import pytest

from lswc.reading.main_text.paragraphs import read

GOODS = ["ผ้าไหมทอมือจากสุรินทร์", "ตะกร้าหวายสานจากพัทลุง", "เครื่องปั้นดินเผาด่านเกวียน", "ร่มกระดาษสาจากบ่อสร้าง",
         "กล่องไม้แกะสลักจากแพร่"]  # fmt: skip
MENU = "<ul>" + "".join(f"<li><a href=/{i}>เมนู {i}</a></li>" for i in range(9)) + "</ul>"
TEXT = "ร้านนี้ขายงานฝีมือของชาวบ้านจากทุกภาคของประเทศไทยมานานกว่ายี่สิบปี และส่งของถึงบ้านทั่วโลก "


def price(goods: str) -> str:
    return f"{len(goods)}0 บาท"


def shop(goods: list[str], *, mark: str = "goods", before: str = "") -> list[str]:
    """Return the text of a page with a card for each of the goods."""
    cards = "".join(
        f"<div class=card><h3><a href=/g{i}>{one}</a></h3><div>{price(one)}</div></div>"
        for i, one in enumerate(goods)
    )
    page = f"<body>{MENU}{before}<div class={mark}>{cards}</div>{MENU}</body>"
    return [block.text for block in read(page, "http://a.example/").paragraphs]


def test_the_cards_of_a_page_that_says_nothing_else_are_its_text() -> None:
    assert shop(GOODS) == [text for one in GOODS for text in (one, price(one))]


@pytest.mark.parametrize(
    "other",
    [
        {"before": f"<p>{TEXT * 4}</p>"},
        {"before": f"<p>{TEXT}</p>", "mark": "related-posts"},
        {"mark": "cookie-consent"},
        {"mark": "'x' style='visibility:hidden'"},
    ],
)
def test_cards_beside_a_text_are_left_out(other: dict[str, str]) -> None:
    assert not set(GOODS) & set(shop(GOODS, **other))


@pytest.mark.parametrize(
    "goods",
    [GOODS[:3], [GOODS[0]] * 5, ["ผ้า", "หวาย", "ดิน", "ร่ม", "ไม้"]],
    ids=["three", "one thing five times", "words of a menu"],
)
def test_fewer_or_the_same_again_or_words_of_a_menu_are_no_cards(goods: list[str]) -> None:
    assert shop(goods) == []


def test_cards_in_a_part_that_is_marked_as_links_stay_where_there_is_nothing_else() -> None:
    assert shop(GOODS, mark="product-slider") == shop(GOODS)


def test_a_short_text_stays_before_its_cards() -> None:
    assert shop(GOODS, before=f"<p>{TEXT}</p>")[0] == TEXT.strip()


def test_cards_are_found_nine_hundred_elements_deep() -> None:
    page = "<div>" * 900 + "".join(f"<li><a href=x>{GOODS[0]} {i}</a></li>" for i in range(9_000))
    assert len(read(page, "http://a.example/").paragraphs) == 9_000
