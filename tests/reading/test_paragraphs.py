"""Kinds of a page's blocks, and pages that would hold the parser."""

from __future__ import annotations

import pytest

from lswc.reading.main_text.paragraphs import read

URL = "http://a.example/"
LAO = "ນັກຮຽນໄປໂຮງຮຽນທຸກວັນ ແລະອ່ານໜັງສືໃນຫ້ອງສະໝຸດຂອງເມືອງຫຼວງ ແລະອ່ານໜັງສືໃນຫ້ອງສະໝຸດຂອງເມືອງຫຼວງ"
TEXT = f"<p>{LAO}</p>" * 3
SAID = f"<p>{LAO} ຄວາມເຫັນ</p>"
LEADS = f"<p>{LAO} ຂ່າວອື່ນ</p><p><a href=x>ຂ່າວອື່ນຂອງມື້ນີ້</a></p>" * 2


def kinds(html: str) -> list[tuple[str, str]]:
    """Return the kind of each block, and where its text is from."""
    return [(b.kind, b.text.removeprefix(LAO).strip()) for b in read(html, URL).blocks]


@pytest.mark.parametrize(
    ("beside", "kind"),
    [
        (f'<div class="comments-area">{SAID}</div>', "comment"),
        (f'<div id="comments">{SAID}</div>', "comment"),
        (f'<section class="c-comment__list">{SAID}</section>', "comment"),
        (f'<div class="relatedPosts">{LEADS}</div>', "links"),
        (f'<div class="widget sidebar">{LEADS}</div>', "links"),
        (f'<div class="cookie_notice">{SAID}</div>', "notice"),
        (f'<p class="byline">{LAO} ຄວາມເຫັນ</p>', "notice"),
        (f'<div style="color: red; display: none">{SAID}</div>', "notice"),
        (f"<noscript>{SAID}</noscript>", "notice"),
        (f"<figure><figcaption>{LAO} ຄວາມເຫັນ</figcaption></figure>", "caption"),
        (f'<div class="has-comments category-related">{SAID}</div>', "text"),
        (f'<div id="copyright-of-1900">{SAID}</div>', "text"),
        (f'<div class="sidebar">{SAID}</div>', "text"),
    ],
)
def test_what_stands_beside_a_text_is_told_by_its_mark(beside: str, kind: str) -> None:
    found = kinds(f"<main>{TEXT}{beside}</main>")
    assert found[:3] == [("text", "")] * 3
    assert {one for one, _ in found[3:]} == {kind}


def test_a_part_with_most_of_the_text_is_the_text_whatever_its_mark() -> None:
    assert [kind for kind, _ in kinds(f'<p>{LAO}</p><div class="widget">{TEXT}</div>')] == [
        "text"
    ] * 4
    replies = f'<div class="comments">{TEXT * 4}</div>'
    assert [kind for kind, _ in kinds(f"<p>{LAO}</p>{replies}")] == ["text"] * 13


@pytest.mark.parametrize(
    "root",
    [
        '<div class="entry-content">{}</div>',
        '<div itemprop="articleBody">{}</div>',
        "<article>{}</article>",
        '<div role="main">{}</div>',
        '<div id="main-content">{}</div>',
        '<div class="post sidebar-post"><div class="storyBody">{}</div></div>',
    ],
)
def test_the_closest_element_with_the_text_is_its_root(root: str) -> None:
    other = f"<div><p>{LAO} ອື່ນ</p></div>"
    found = kinds(root.format(TEXT) + other)
    assert found == [("text", "")] * 3 + [("notice", "ອື່ນ")]


def test_a_lead_before_the_root_is_text() -> None:
    page = f'<p>ວັນທີ</p><p>{LAO} ນຳ</p><div class="article-body">{TEXT}</div>'
    assert kinds(page) == [("notice", "ວັນທີ"), ("text", "ນຳ"), *[("text", "")] * 3]


def test_several_articles_are_all_the_text() -> None:
    page = f"<article>{TEXT}</article>" * 3
    assert kinds(page) == [("text", "")] * 9


def test_the_title_is_no_text_twice() -> None:
    page = f"<title>ຫົວຂໍ້ - ຂ່າວ</title><h1>ຫົວຂໍ້</h1>{TEXT}<h1>ຕໍ່ໄປ</h1>{TEXT}"
    assert [one for one in kinds(page) if one != ("text", "")] == [
        ("title", "ຫົວຂໍ້"),
        ("heading", "ຕໍ່ໄປ"),
    ]


def test_short_cells_and_code_stay_in_what_has_few_links() -> None:
    rows = "<tr><td>x</td><td>ໜຶ່ງ</td></tr>" * 5
    page = f"<p>{LAO}</p><table>{rows}</table><pre>x = 1</pre><pre>1\n2</pre><h2>x</h2><p>{LAO}</p>"
    found = [kind for kind, _ in kinds(page)]
    assert found == ["text", *["table"] * 5, "code", "notice", "heading", "text"]


def test_headings_stay_with_what_follows_them() -> None:
    page = f"<h2>ໜຶ່ງ</h2><p>{LAO}</p><h2><a href='#x'>ສອງ</a></h2><p>{LAO}</p><h2>ສາມ</h2>"
    assert [kind for kind, _ in kinds(page)] == ["heading", "text", "heading", "text", "notice"]


@pytest.mark.parametrize(
    "hostile",
    [
        "<div>" * 100_000,
        "<p x='>' " + " ".join(f"a{n}" for n in range(100_000)) + ">",
        "<i aria-hidden=true>" * 2_900 + "text " * 80_000,
        "<aside>" * 2_900 + "text <br>" * 40_000,
        "<div>" * 990 + "<p>text" * 20_000,
        "<a href=x>" * 900 + "<p>text" * 20_000,
        "".join(f"<p class='b{n} related-{n} x-{n}-y_{n}' id=q{n}x>text" for n in range(20_000)),
    ],
)
@pytest.mark.usefixtures("brake")
def test_a_hostile_page_does_not_hold_the_parser(hostile: str) -> None:
    found = read(f"<title>t</title><p>text of the page</p>{hostile}", "http://a.example/")
    assert (found.title, found.blocks[0].text[:16]) == ("t", "text of the page")


@pytest.mark.parametrize(
    "how",
    [
        "style='visibility: hidden'",
        "style='position:absolute;left:-9999px'",
        "style='top:-999em; position: fixed'",
        "style='color:red;FONT-SIZE:0px'",
        "style='opacity:0.0 !important'",
        "style='text-indent:-9999px'",
        "style='clip: rect(0, 0, 0, 0)'",
        "class='d-none'",
        "class='x sr-only'",
        "class='hidden'",
        "class='screen-reader-text'",
        "class='visually-hidden'",
    ],
)
@pytest.mark.parametrize("tag", ["div", "p", "span"])
def test_what_is_shown_to_nobody_is_left_out(how: str, tag: str) -> None:
    page = f"<main>{TEXT}<{tag} {how}>{LAO} ຄວາມເຫັນ</{tag}>{TEXT}</main>"
    assert kinds(page) == [*[("text", "")] * 3, ("notice", "ຄວາມເຫັນ"), *[("text", "")] * 3]
    within = f"<main><p>{LAO} <b {how}>{LAO}</b></p></main>"
    assert [text for _, text in kinds(within)] == [""]


@pytest.mark.parametrize(
    "how",
    [
        "class='d-none d-md-block'",
        "class='invisible lg:visible'",
        "class='hidden lg:flex'",
        "style='opacity:0.5'",
        "style='font-size:0.9em'",
        "style='left:-10px;position:relative'",
    ],
)
def test_what_is_shown_to_some_stays(how: str) -> None:
    assert kinds(f"<main>{TEXT}<div {how}><p>{LAO} ອື່ນ</p></div></main>")[3] == ("text", "ອື່ນ")


def test_a_page_that_is_hidden_until_a_script_has_run_is_its_text() -> None:
    page = f"<p>ໜຶ່ງ</p><div style='opacity:0'>{TEXT}</div>"
    assert [one for one in kinds(page) if one[0] == "text"] == [("text", "")] * 3


@pytest.mark.parametrize("mark", ["comment", "notice", "reply", "widget", "post-comment"])
def test_many_small_parts_beside_nothing_are_the_text(mark: str) -> None:
    posts = "".join(f"<div class='{mark}'><p>{LAO} {n}</p></div>" for n in range(9))
    assert kinds(posts) == [("text", str(n)) for n in range(9)]
    assert [kind for kind, _ in kinds(f"<p>{LAO} ນຳ</p>{posts}")] == ["text"] * 10
    assert kinds(TEXT + posts)[:3] == [("text", "")] * 3


def test_comments_beside_an_article_stay_comments() -> None:
    posts = "".join(f"<div class='comment'><p>{LAO} {n}</p></div>" for n in range(5))
    found = kinds(f"<article>{TEXT}</article>{posts}")
    assert [kind for kind, _ in found] == ["text"] * 3 + ["comment"] * 5


def test_a_copy_for_other_screens_is_there_once() -> None:
    both = f"<h2>ໜຶ່ງ</h2><p>{LAO} 1</p><p>{LAO} 2</p>"
    page = f"<div class=desktop>{both}</div><div class=mobile>{both}</div><p>{LAO} 3</p>"
    assert [kind for kind, _ in kinds(page)] == [
        "heading", "text", "text", "repeated", "repeated", "repeated", "text",
    ]  # fmt: skip


def test_a_table_s_row_is_a_line() -> None:
    table = "<tr><th>ແຂວງ<th>ຄົນ<tr><td>ຊຽງ<br>ໃໝ່<td>1,789<tr><td>ພູ<td>418<tr><td>ໜຶ່ງ"
    page = f"<p>{LAO}</p><table>{table}</table><p>{LAO}</p>"
    found = [(b.kind, b.text) for b in read(page, URL).blocks][1:-1]
    rows = ["ແຂວງ | ຄົນ", "ຊຽງ ໃໝ່ | 1,789", "ພູ | 418", "ໜຶ່ງ"]
    assert found == [("table", row) for row in rows]


def test_a_long_table_is_read_whole() -> None:
    rows = "".join(f"<tr><td>ແຂວງ<td>{n}" for n in range(10_000))
    page = f"<article><p>{LAO}</p><table>{rows}</table><p>{LAO}</p></article>"
    found = read(page, URL).paragraphs
    assert [one.text for one in found[1:-1]] == [f"ແຂວງ | {n}" for n in range(10_000)]


@pytest.mark.parametrize(
    ("around", "times", "is_aside", "is_linked"),
    [
        ("{}", 4, False, False),
        ("<a href=x><div>{}</div></a>", 4, True, False),
        ("<a href=x><div>{}</div></a>", 1, False, True),
        ("<a href=x><div><h2>{}</h2></div></a>", 4, False, True),
        ("<a href=x>{}</a>", 4, False, True),
    ],
)
def test_long_text_with_a_link_around_its_block_is_an_articles_first_lines(
    around: str, times: int, is_aside: bool, is_linked: bool
) -> None:
    text = LAO * times if times > 1 else LAO[:60]
    html = f"<main>{TEXT}{around.format(text)}</main>"
    (found,) = (one for one in read(html, URL).blocks if one.text == text)
    assert (found.is_aside, found.linked > 0) == (is_aside, is_linked)


POST = "<p>{0} says at some length what this program does when it is asked to, and asks why.</p>"


def test_every_post_of_a_forum_is_its_text_also_beside_a_long_one() -> None:
    posts = "".join(
        f"<div itemprop='comment' class='post'>{POST.format(name) * times}</div>"
        for name, times in (("Somsak", 12), ("Malee", 1), ("Lek", 2))
    )
    page = f"<meta name=generator content='Discourse 3'><body>{posts}</body>"
    told = [block.text for block in read(page, "https://a.example/1").paragraphs]
    assert {text.split()[0] for text in told} == {"Somsak", "Malee", "Lek"}


def test_a_box_that_asks_for_consent_is_no_text_though_it_is_the_longest() -> None:
    box = "<div id=onetrust-consent-sdk>" + POST.format("Nobody") * 9 + "</div>"
    told = read(f"<body>{box}<div>{POST.format('Malee')}</div></body>", "https://a.example/1")
    assert [block.text.split()[0] for block in told.paragraphs] == ["Malee"]


def test_what_a_firm_does_stands_in_many_parts_and_in_links() -> None:
    offers = [f"{name} {'is what we do for you every day of the year ' * 4}" for name in "ABCD"]
    parts = "".join(f"<article class=rich-text><p>{one}</p></article>" for one in offers[:1])
    parts += "".join(f"<a href=/{one[0]}><div><p>{one}</p></div></a>" for one in offers[1:])
    page = f"<body class=x><div class=' hero cta'>{parts}</div></body>"
    told = read(page, "https://a.example/services/tax")
    assert told.page_kind == "service"
    assert {block.text[0] for block in told.paragraphs} >= set("ABCD")


def test_the_headlines_of_a_listing_are_its_text() -> None:
    head = "Something happened in the capital today, and nobody knows why {}"
    links = "".join(f"<li><p><a href=/{n}>{head.format(n)}</a></p></li>" for n in range(20))
    page = f"<body class='pagination load-more'><main><ul>{links}</ul></main></body>"
    told = read(page, "https://a.example/category/news")
    assert told.page_kind == "listing"
    assert len(told.paragraphs) == 20


def test_nested_ruby_has_its_base_once() -> None:
    ruby = "<ruby>漢<ruby>字<rt>じ</rt></ruby><rt>かん<ruby>x<rt>y</rt></ruby></rt></ruby>"
    (told,) = read(f"<p>{LAO}{ruby}です</p>", URL).paragraphs
    assert told.text.endswith("漢字です")


def test_a_table_of_ten_thousand_rows_keeps_them() -> None:
    cell = "ชื่อของจังหวัดนี้และอำเภอนี้"
    rows = "".join(f"<tr><td>{cell} {n}<td>{n}" for n in range(10_000))
    told = read(f"<p>{TEXT}</p><table>{rows}</table>", URL).paragraphs
    assert sum(block.kind == "table" for block in told) == 10_000


def test_long_json_ld_is_passed_over() -> None:
    said = '{"articleBody": "' + "ก" * 5_000_000 + '"}'
    script = f"<script type='application/ld+json'>{said}</script>"
    assert read(f"<body>{script}</body>", URL).paragraphs == []
    (told,) = read(f"{script}<p>{LAO}</p>", URL).paragraphs
    assert told.text == LAO
