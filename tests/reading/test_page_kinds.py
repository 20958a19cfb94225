"""Kinds of pages: what markup says that a page is, in whatever language."""

from __future__ import annotations

import pytest

from lswc.reading.main_text.paragraphs import read

TEXT = "ร้านนี้ขายงานฝีมือของชาวบ้านจากทุกภาคของประเทศไทยมานานกว่ายี่สิบปี และส่งของถึงบ้านทั่วโลก "
GOODS = "".join(
    f"<div class=product-card><h3><a href=/g{i}>ตะกร้าหวายสานใบที่ {i}</a></h3><b>{i}90 บาท</b></div>"
    for i in range(1, 15)
)
POSTS = "".join(
    f"<div class='comment reply'><b>คุณ {i}</b><p>{TEXT}</p><a href=/q>ตอบ</a></div>"
    for i in range(7)
)
LINKED = (
    '<script type="application/ld+json">{"@context": "https://schema.org", "@type": "%s"}</script>'
)


@pytest.mark.parametrize(
    ("kind", "url", "page"),
    [
        ("article", "/news/2026/ngan", f"<div class=entry-content>{TEXT * 5}</div>"),
        ("forum", "/webboard/viewtopic?t=5", POSTS),
        ("listing", "/category/basket", GOODS),
        ("documentation", "/docs/install", f"<p>{TEXT * 2}<pre>pip install x</pre><p>{TEXT}"),
        ("product", "/product/5", f"{LINKED % 'Product'}<p>{TEXT}<b class=price>90 บาท</b>"),
        ("service", "/services/repair", f"<div class=hero>{TEXT}</div><a class=cta>โทร</a>"),
    ],
)  # fmt: skip
def test_a_page_is_of_the_kind_that_its_signs_say(kind: str, url: str, page: str) -> None:
    assert read(f"<body>{page}</body>", f"http://a.example{url}").page_kind == kind


def test_a_listing_has_its_cards_beside_more_of_other_text_than_other_pages() -> None:
    page = f"<body><div class=product-card>{GOODS}</div><p>{TEXT * 4}</p></body>"
    unnamed = page.replace("product-card", "x").replace(" บาท", "")

    def text(page: str, url: str) -> str:
        return "\n".join(block.text for block in read(page, url).paragraphs)

    assert "ตะกร้าหวายสานใบที่ 3" in text(page, "http://a.example/category/basket")
    assert "ตะกร้าหวายสานใบที่ 3" not in text(unnamed, "http://a.example/x")


def test_hostile_types_and_classes_say_little() -> None:
    page = f"""{LINKED % ("x" * 300_000)}<body class="{"cart " * 9_000}" itemtype><p>{TEXT * 3}"""
    assert read(page, "http://a.example/product/" + "/" * 9_000).page_kind == "product"
