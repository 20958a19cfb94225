"""The corpus: a page's own text, in the target language, in Unicode, duplicates marked."""

from __future__ import annotations

import gzip
import json
import unicodedata
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.corpus import documents, extraction
from lswc.corpus.documents import Documents
from lswc.corpus.extraction import Extractor
from lswc.corpus.stored_pages import Stored
from lswc.language.registry import language
from lswc.reading.documents import read as read_document
from lswc.reading.documents.separate_process import DocumentProcess
from lswc.reading.main_text.blocks import weight
from lswc.reading.main_text.paragraphs import read
from lswc.safety.content_types import Kind
from tests.language.test_vietnamese_fonts import ABC, VNI
from tests.language.test_vietnamese_fonts import TEXT as VIETNAMESE
from tests.reading import made
from tests.scenarios.site import ENGLISH, SCRAPY, THAI, run

if TYPE_CHECKING:
    from typing import Any

    from tests.scenarios.site import Site

URL = "http://www.one.co.th/"
MENU = "".join(f'<div><a href="{n}.html">หน้าข่าวประจำวันที่ {n}</a></div>' for n in range(30))
ZAWGYI = "ေက်ာင္းသားမ်ားသည္ စာၾကည့္တိုက္တြင္ စာအုပ္မ်ားကို ဖတ္ၾကသည္။ ၿမိဳ႕ထဲတြင္ ေဈးႀကီးတစ္ခု ရွိသည္။"
UNICODE = "ကျောင်းသားများသည်"


def own(html: str) -> list[str]:
    return [block.text for block in read(html, URL).paragraphs]


def cleaned(
    code: str, *bodies: str | bytes, only_language: bool = False, mask: bool = False
) -> list[dict[str, Any] | None]:
    extractor = Extractor(language(code), DocumentProcess())
    found = Documents(language(code).code, only_language, mask)
    pages = [body if isinstance(body, bytes) else body.encode() for body in bodies]
    about = ("2026-01-01T00:00:00Z", "text/html", None, "utf-8")
    rows = [
        found.row(extractor.read(Stored(f"{URL}{number}", about[0], body, *about[1:])))
        for number, body in enumerate(pages)
    ]
    return [None if isinstance(row, str) else row for row in rows]


@pytest.mark.parametrize("text", [THAI * 2, ENGLISH * 2, "これは日本語の文章です。" * 4, ZAWGYI])
def test_text_is_told_from_menus_in_any_script(text: str) -> None:
    html = f"<body>{MENU}<h2>{text[:12]}</h2><p>{text}</p><div>{text}<br><br>{text}</div>{MENU}"
    assert own(html) == [text[:12].strip(), *[text.strip()] * 3]


LONG = (THAI * 2).strip()
LINE = "หน่วยงานของมหาวิทยาลัย"  # short, but long enough to be text beside text


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        pytest.param(f"<p>{LONG}<p>สั้น<p>{LONG}", [LONG, "สั้น", LONG], id="between texts"),
        pytest.param(f"<p>{LONG}<p>สั้น", [LONG], id="after text"),
        pytest.param(f"<p>สั้น<p>{LONG}", [LONG], id="before text"),
        pytest.param(f"<p>{LONG}<p>{LINE}", [LONG, LINE], id="longer, after text"),
        pytest.param(f"<p>{LINE}<p>{LONG}", [LINE, LONG], id="longer, before text"),
        pytest.param(f"<p>{LONG}{MENU}<p>{LINE}{MENU}", [LONG], id="longer, among menus"),
        pytest.param(f"<p>{LONG}<p><a href=x>{LINE}</a><p>{LONG}", [LONG, LONG], id="a link"),
        pytest.param(f"<h2>{LINE}</h2><p>{LONG}", [LINE, LONG], id="a heading"),
        pytest.param(f"<p>{LONG}<h2>{LINE}</h2>", [LONG], id="a heading of nothing"),
        pytest.param(f"<p>{LONG}<p>สั้น<p>สั้น<p>{LONG}", [LONG, "สั้น", "สั้น", LONG], id="two"),
        pytest.param(
            f"<p>{LONG}{'<p>สั้น' * 4}<p>{LONG}", [LONG, *["สั้น"] * 4, LONG], id="many, no links"
        ),
        pytest.param(
            f"{MENU}<p>{LONG}{'<p>สั้น' * 4}<p>{LONG}{MENU}", [LONG, LONG], id="many, among links"
        ),
        pytest.param(f"<p>{LONG}</p>{LINE}", [LONG, LINE], id="outside of any block"),
    ],
)
def test_short_lines_stay_only_among_text(html: str, kept: list[str]) -> None:
    assert own(html) == kept


@pytest.mark.parametrize(("linked", "kept"), [(0, True), (3, True), (5, False), (10, False)])
def test_a_block_with_many_links_is_a_menu(linked: int, kept: bool) -> None:
    html = f"<p><a href=x>{THAI * linked}</a>{THAI * (10 - linked)}"
    assert bool(own(html)) is kept


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("ก" * 60, 60),
        ("กา กี่", 5),
        ("東京", 5),
        ("東京ab", 7),
        ("한글", 5),
        ("a1 b2, c", 3),
        ("", 0),
    ],
)
def test_letters_are_weighed(text: str, letters: float) -> None:
    assert weight(text) == letters


@pytest.mark.parametrize(("characters", "kept"), [(23, False), (24, True)])
def test_ideographs_are_text_sooner(characters: int, kept: bool) -> None:
    assert bool(own(f"<p>{'日本語' * 8}"[: 3 + characters])) is kept


def test_what_is_not_for_reading_is_left_out() -> None:
    hidden = "".join(
        f"<{tag}>{THAI * 2}</{tag.split()[0]}>"
        for tag in ("script", "style", "nav", "footer", "aside", "button", "div hidden")
    )
    assert own(f"<body>{hidden}<p>{THAI * 2}</p>") == [(THAI * 2).strip()]


def test_a_page_that_is_served_as_xhtml_is_read_as_it() -> None:
    html = f'<html><title/><body><p><a href="x" id="a"/>{LONG}</p><p>{LONG}</p></body></html>'
    extractor = Extractor(language("th"), DocumentProcess())
    for content_type, paragraphs in (("application/xhtml+xml", 2), ("text/html", 0)):
        page = Stored(URL, "", html.encode(), content_type, None, "utf-8")
        assert len(extractor.read(page).paragraphs) == paragraphs


FIELDS = "".join(f"<label>{THAI}</label><input name=x{n}>" for n in range(4))


@pytest.mark.parametrize(
    ("html", "kept"),
    [
        pytest.param(f"<form>{MENU}<p>{LONG}<p>{LINE}</form>", [LONG, LINE], id="in a form"),
        pytest.param(f"<p>{LONG}<form>{LINE}<input></form>", [LONG], id="a search box"),
        pytest.param(f"<p>{LONG}<form>{FIELDS}</form>", [LONG], id="a form to fill"),
        pytest.param(
            f"<form><p>{LONG}<div role=search>{LINE}</div></form>", [LONG], id="a box in a form"
        ),
        pytest.param(
            f"<form><form></form><aside><p>{LONG}</aside></form>", [LONG], id="an aside in a form"
        ),
        pytest.param(f"<p>{LONG}<aside><p>{THAI * 3}</aside>", [LONG], id="an aside beside text"),
        pytest.param(
            f"<p>{LONG}<aside><p>{THAI * 7}</aside>", [LONG, (THAI * 7).strip()], id="text aside"
        ),
        pytest.param(f"<aside>{MENU}</aside><p>{LONG}", [LONG], id="an aside of links"),
        pytest.param(
            f"<div aria-hidden=true>{MENU}<p>{LONG}</p>{LINE}</div>", [LONG, LINE], id="hidden"
        ),
        pytest.param(
            f"<p>{LONG}<i aria-hidden=true>home</i>{LONG}", [LONG + LONG], id="a sign"
        ),
        pytest.param(
            f"<p>{LONG}<i aria-hidden=true><a href=x>{LONG}</a></i>{LONG}<p>{LINE}",
            [LONG + LONG, LINE],
            id="a hidden link",
        ),
        pytest.param(
            f"<p>{LINE}<i aria-hidden=true>{LONG}</i>", [LINE + LONG], id="hidden text in a line"
        ),
        pytest.param(
            f"<div>{LONG}<span aria-hidden=true>x<div>{LINE}</div></span></div>",
            [f"{LONG}x", LINE],
            id="a block in a hidden part of a line",
        ),
        pytest.param(
            f"<div>{LINE}<span aria-hidden=true>x<div>{LINE}</div></span></div><p>{LONG}",
            [f"{LINE}x", LINE, LONG],
            id="a block in a hidden part of a short line",
        ),
        pytest.param(
            f"<div> <span aria-hidden=true><div>{LINE}</div>{LINE}</span> </div><p>{LONG}",
            [LONG], id="hidden blocks",
        ),
        pytest.param(
            f"<div><template shadowrootmode=open><p>{LONG}</template></div>", [LONG],
            id="a shadow root",
        ),
        pytest.param(
            f"<a href=x><h2>{LINE}</h2><p>{LONG + LONG}</p></a><a href=y><p>{LONG + LONG}</p></a>",
            [LONG + LONG, LONG + LONG],
            id="a page of articles' beginnings, each in its link",
        ),
        pytest.param(
            f"<p>{LONG}<p>{LONG}<a href=x><p>{LONG + LONG}</p></a>", [LONG, LONG],
            id="another article's beginning",
        ),
        pytest.param(
            f"<p>{LONG}<a href=x><div>{LONG}</div></a>", [LONG], id="a headline in a link"
        ),
        pytest.param(
            f"<div><p>Cookies?</p><button>Yes</button></div><main hidden><p>{LONG}</main>", [LONG],
            id="text that a wall hides",
        ),
        pytest.param(
            f"<p>{LONG}<p>{LONG}<div hidden><p>{LONG}</div><p hidden>{LONG}", [LONG, LONG],
            id="text that is hidden beside other",
        ),
        pytest.param(f"<a name=top><p>{LINE}<p>{LONG}</a>", [LINE, LONG], id="an open anchor"),
    ],
)  # fmt: skip
def test_what_is_in_forms_and_asides_is_judged_by_what_it_says(html: str, kept: list[str]) -> None:
    assert own(f"<body>{html}") == kept


@given(st.text())
def test_any_text_gives_an_answer(text: str) -> None:
    read(text, URL)


def test_nested_thousands_deep() -> None:
    assert own("<div>" * 20_000 + THAI * 2) in ([(THAI * 2).strip()], [])


CODE = "if (x) {\n\treturn;   // a\n\n    y();\n}"
MIXED = f"<title>ข่าว</title><p>{THAI * 2}<p>เช่น:<pre>\n{CODE}\n</pre><p>{ENGLISH * 2}<p>{THAI * 2}"


def told(row: dict[str, Any] | None) -> list[tuple[str | None, str, str]]:
    """Return language, kind and text of each paragraph of a row."""
    assert row is not None
    text = row["text"]
    return [(p["language"], p["kind"], text[p["start"] : p["end"]]) for p in row["segments"]]


def test_all_paragraphs_stay_in_order_each_with_its_language() -> None:
    (row,) = cleaned("th", MIXED)
    assert row is not None
    texts = [LONG, "เช่น:", CODE, (ENGLISH * 2).strip(), LONG]
    assert [(kind, text) for _, kind, text in told(row)] == [
        ("code" if text.startswith("if") else "text", text) for text in texts
    ]
    assert [code for code, kind, _ in told(row) if kind == "text"] == ["tha", "tha", "eng", "tha"]
    assert row["text"] == "\n".join(texts)
    assert row["title"] == "ข่าว"
    assert row["left_out"] == 0
    assert cleaned("th", f"<p>{ENGLISH * 2}</p>") == [None]


def test_only_paragraphs_in_the_language_are_kept_if_asked() -> None:
    (row,) = cleaned("th", MIXED, only_language=True)
    assert told(row) == [("tha", "text", one) for one in (LONG, "เช่น:", LONG)]
    assert row is not None
    assert row["left_out"] == 2
    assert cleaned("th", f"<p>{ENGLISH * 2}</p>", only_language=True) == [None]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<pre>a  b\n  c\n\n\td</pre>", "a  b\n  c\n\n\td"),
        ("<pre>\r\n\r\na \r\nb\r\n</pre>", "a\nb"),
        ("<pre><code><span>a</span> <b>b</b>\n  c</code></pre>", "a b\n  c"),
        ("<pre><div>a</div><div>  b</div></pre>", "a\n  b"),
        ("<pre>a<br>  b<br><br>c</pre>", "a\n  b\n\nc"),
        ("<listing>a\n  b</listing>", "a\n  b"),
        ("<xmp>a\n  <b></xmp>", "a\n  <b>"),
    ],
)
def test_preformatted_text_keeps_its_lines(markup: str, text: str) -> None:
    assert own(f"<p>{LONG}</p>{markup}") == [LONG, text]


def test_line_numbers_are_no_text() -> None:
    assert own(f"<p>{LONG}</p><pre>1\n2\n3</pre><pre>x = 1</pre><p>{LONG}") == [LONG, "x = 1", LONG]


def test_preformatted_text_is_text_only_beside_text() -> None:
    assert own(f"<pre>x = 1</pre>{MENU}<p>{LONG}") == [LONG]
    assert own(f"<pre>{LONG}\n{LONG}</pre>") == [f"{LONG}\n{LONG}"]


LAO = "ນັກຮຽນໄປໂຮງຮຽນທຸກວັນ ແລະອ່ານໜັງສືໃນຫ້ອງສະໝຸດຂອງເມືອງຫຼວງ "


@pytest.mark.parametrize(("lao", "expected"), [(3, "eng"), (6, "lao"), (7, "lao")])
def test_most_of_a_paragraph_decides(lao: int, expected: str) -> None:
    (row,) = cleaned("th", f"<p>{THAI * 2}</p><p>{LAO * lao}{ENGLISH * (10 - lao)}</p>")
    assert [code for code, _, _ in told(row)] == ["tha", expected]


def test_zawgyi_becomes_unicode_and_is_flagged() -> None:
    (row,) = cleaned("my", f"<meta charset=utf-8><title>{ZAWGYI}</title><p>{ZAWGYI}</p>")
    assert row is not None
    assert row["converted"] == "zawgyi-one"
    assert row["text"].startswith(UNICODE)
    assert row["title"].startswith(UNICODE)


@pytest.mark.parametrize(("written", "font"), [(ABC, "tcvn"), (VNI.encode("cp1252"), "vni")])
@pytest.mark.parametrize("charset", ["utf-8", "windows-1252", "windows-1258", ""])
def test_vietnamese_in_fonts_of_its_own_becomes_unicode(
    written: bytes, font: str, charset: str
) -> None:
    body = written * 3
    if charset == "utf-8":
        body = body.decode("cp1252").encode()
    html = f"<meta charset={charset}><p>".encode() + body
    word = made.docx(made.paragraph(body.decode("utf-8" if charset == "utf-8" else "cp1252")))
    with DocumentProcess() as aside:
        for page, kind in ((html, Kind.HTML), (word, Kind.WORD)):
            stored = Stored(URL, "", page, "text/html", None, "utf-8")._replace(kind=kind)
            (paragraph,) = Extractor(language("vi"), aside).read(stored).paragraphs
            assert (paragraph.text, paragraph.converted) == (VIETNAMESE * 3, font)
            assert (paragraph.language, paragraph.is_wanted) == ("vi", True)


def test_a_page_is_decoded_as_its_font_wants() -> None:
    """Letters and marks of Windows-1258 can't be told apart any more once they are joined."""
    right = "Ủy ban nhân dân tỉnh quyết định về việc phê duyệt kế hoạch sử dụng đất năm nay. " * 3
    in_1258 = b"".join(_in_1258(sign) for sign in right)
    extractor = Extractor(language("vi"), DocumentProcess())
    for body, shown in ((VNI.encode("cp1252") * 3, VNI * 3), (in_1258, None)):
        page = Stored(URL, "", b"<meta charset=windows-1258><p>" + body, "text/html", None, "")
        text = extractor._decoded(page, page.body or b"")
        if shown:
            assert text.endswith(shown)
        else:
            assert unicodedata.normalize("NFC", text).endswith(right)


def _in_1258(sign: str) -> bytes:
    """Return a letter, and its tone after it, in Windows-1258."""
    try:
        return sign.encode("cp1258")
    except UnicodeEncodeError:
        apart = unicodedata.normalize("NFD", sign)
        tone = next(mark for mark in apart[1:] if mark in "\u0300\u0301\u0303\u0309\u0323")
        letter = unicodedata.normalize("NFC", apart.replace(tone, ""))
        return (letter + tone).encode("cp1258")


def test_vietnamese_that_no_one_can_read_is_not_wanted() -> None:
    assert cleaned("vi", f"<meta charset=utf-8><p>{ABC.decode('mac_roman') * 3}") == [None]


@pytest.mark.parametrize(
    ("code", "zawgyi", "in_unicode"), [("my", 1, 1), ("my-Qaag", 1, 0), ("my-Mymr", 0, 1)]
)
def test_how_burmese_was_written_tells_its_variant(
    code: str, zawgyi: bool, in_unicode: bool
) -> None:
    more = " စာကြည့်တိုက်တွင် စာအုပ်များကို ဖတ်ကြသည်။ မြို့ထဲတွင် ဈေးကြီးတစ်ခု ရှိသည်။"
    for text, is_kept in ((ZAWGYI, zawgyi), (UNICODE + more, in_unicode)):
        (row,) = cleaned(code, f"<meta charset=utf-8><p>{text}</p>")
        assert (row is not None) == bool(is_kept)


def test_unicode_burmese_stays_as_it_is() -> None:
    text = UNICODE + " စာကြည့်တိုက်တွင် စာအုပ်များကို ဖတ်ကြသည်။ မြို့ထဲတွင် ဈေးကြီးတစ်ခု ရှိသည်။"
    (row,) = cleaned("my", f"<p>{text}</p>")
    assert row is not None
    assert row["converted"] is None
    assert row["text"] == text


def test_tis_620_becomes_utf_8() -> None:
    (row,) = cleaned("th", f"<p>{THAI * 2}</p>".encode("tis-620"))
    assert row is not None
    assert row["text"] == (THAI * 2).strip()


@pytest.mark.parametrize(
    ("markup", "licence"),
    [
        ('<a rel="nofollow license" href="/terms">', "http://www.one.co.th/terms"),
        ('<link rel=license href="https://l.example/">', "https://l.example/"),
        ('<footer><a href="https://creativecommons.org/licenses/by/4.0/">CC</a></footer>',
         "https://creativecommons.org/licenses/by/4.0/"),
        ('<a href="https://example.org/creativecommons">', None),
    ],
)  # fmt: skip
def test_licence_that_the_page_states(markup: str, licence: str | None) -> None:
    found = read(f"<p>{THAI}</p>{markup}", URL).licence
    assert (found and found.url) == licence


@pytest.mark.parametrize(("longest", "is_cut"), [(60_000, False), (1_000, True)])
@pytest.mark.parametrize("kind", [Kind.HTML, Kind.PDF])
def test_a_row_says_that_more_was_there(
    monkeypatch: pytest.MonkeyPatch, kind: Kind, longest: int, is_cut: bool
) -> None:
    monkeypatch.setattr(extraction, "PAGE_BYTES", longest)
    aside = Mock(read=read_document)
    lines = [[THAI[:120].replace("\n", " ").strip()]] * 20
    body = made.pdf(lines) if kind is Kind.PDF else f"<p>{THAI * 5}".encode()
    content_type = "application/pdf" if kind is Kind.PDF else "text/html; charset=utf-8"
    stored = Stored(URL, "2026-01-01T00:00:00Z", body, content_type, None, "utf-8", kind=kind)
    assert Extractor(language("th"), aside).read(stored).is_cut is is_cut


NOTICE = "เว็บไซต์นี้ใช้คุกกี้เพื่อให้ท่านได้รับประสบการณ์ที่ดีที่สุด และเพื่อวิเคราะห์การใช้งานของท่าน"


def test_what_a_site_repeats_is_left_out_once_it_is_known() -> None:
    pages = [f"<p>{LONG} {chr(0x0E01 + n) * 40}<p>{NOTICE}" for n in range(20)]
    rows = cleaned("th", *pages, *pages[:1] * 9)
    assert all(row is not None for row in rows)
    has = [row is not None and NOTICE in row["text"] for row in rows]
    assert has[:20] == [True] * 5 + [False] * 15
    assert all(row is not None and LONG in row["text"] for row in rows)


def test_letters_are_counted_and_those_that_a_site_repeats_besides() -> None:
    own = weight(NOTICE)
    extractor, found = Extractor(language("th"), DocumentProcess()), Documents("th")
    for number in range(7):
        body = f"<p>{LONG} {chr(0x0E01 + number) * 40}<p>{NOTICE}".encode()
        about = ("2026-01-01T00:00:00Z", body, "text/html", None, "utf-8")
        row = found.row(extractor.read(Stored(f"{URL}{number}", *about)))
    assert isinstance(row, dict)
    assert row["file"] is row["offset"] is row["length"] is row["digest"] is None
    assert found.letters["repeated"] == 2 * round(own)
    kept = 7 * weight(f"{LONG} {'ก' * 40}") + 5 * own
    assert found.letters["text"] == pytest.approx(kept, abs=14)


def test_a_row_says_what_its_languages_are() -> None:
    (row,) = cleaned("th", f"<p>{THAI * 8}</p><p>{ENGLISH * 2}</p>")
    assert row is not None
    assert (row["language"], row["language_script"]) == ("tha", "Thai")
    thai, english = weight(THAI * 8), weight(ENGLISH * 2)
    assert row["target_share"] == pytest.approx(thai / (thai + english))
    assert [one["language"] for one in row["top_langs"]] == ["tha", "eng"]
    assert sum(one["share"] for one in row["top_langs"]) == pytest.approx(1)
    assert 0.9 < row["language_score"] <= 1


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("ກຂຄ ab", "Laoo"),
        ("漢字かな", "Jpan"),
        ("汉字 a", "Hani"),
        ("한글漢", "Hang"),
        ("1, 2", None),
    ],
)
def test_the_script_is_that_of_most_letters(text: str, script: str | None) -> None:
    assert documents.script_of(text * 9) == script


def test_latin_terms_are_no_script_of_a_language_without_them() -> None:
    terms = "configuration administrator กขค "
    assert documents.script_of(terms) == "Latn"
    assert documents.script_of(terms, ["Thai"]) == "Thai"
    assert documents.script_of(terms, ["Laoo"]) == "Latn"
    chinese = "这个文件说明怎样设置服务器和用户的权限以及如何保存日志。"
    (row,) = cleaned("zh", f"<p>{chinese * 2} {'server configuration ' * 5}</p>")
    assert row is not None
    assert documents.script_of(row["text"]) == "Latn"
    assert row["language_script"] == "Hani"


def test_corpus_of_a_crawl(site: Site) -> None:
    site.seeds(URL)
    site.add("www.one.co.th/", f"<p>{THAI * 3}</p><a href=a>a</a><a href=b>b</a><a href=e>e</a>")
    for name in ("a", "b"):
        site.add(f"www.one.co.th/{name}", f"<html><p>{THAI * 2}ก</p><p>{ENGLISH}</p></html>")
    site.add("www.one.co.th/e", f"<html><p>{ENGLISH * 9}</p></html>")
    site.crawl(LSWC_ARCHIVE="all", CONCURRENT_REQUESTS=1)
    done = run([*SCRAPY, "corpus", str(site.folder)])
    assert done.returncode == 0, done.stderr
    shard = site.folder / "corpus" / "corpus-00000"
    rows = pq.read_table(f"{shard}.parquet").to_pylist()
    with pa.CompressedInputStream(f"{shard}.jsonl.zst", "zstd") as file:
        lines = [json.loads(line) for line in file.read().splitlines()]
    for line, row in zip(lines, rows, strict=True):
        assert line == row | {"date": f"{row['date']:%Y-%m-%dT%H:%M:%S}Z"}
    assert [row["url"] for row in rows] == [URL, f"{URL}a", f"{URL}b"]
    for row in rows:
        with (site.folder.parent / row["file"]).open("rb") as warc:
            warc.seek(row["offset"])
            stored = gzip.decompress(warc.read(row["length"])).decode()
        assert f"WARC-Target-URI: {row['url']}\r\n" in stored
        assert f"WARC-Record-ID: {row['id']}\r\n" in stored
        assert f"WARC-Payload-Digest: {row['digest']}\r\n" in stored
    assert rows[1]["text"] == f"{THAI * 2}ก\n{ENGLISH.strip()}"
    assert (rows[2]["duplicate"], rows[2]["duplicate_of"]) == ("exact", f"{URL}a")
    assert "1 exact duplicate among them\n1 page left out: they have no paragraph" in done.stdout
    (line,) = (line.split() for line in done.stdout.splitlines() if "www.one.co.th" in line)
    assert line == ["www.one.co.th", "4", "3", "1", "1", "0"]


def test_a_folder_that_is_no_crawl(site: Site) -> None:
    done = run([*SCRAPY, "corpus", str(site.folder)])
    assert done.returncode == 2
    assert "is not a crawl folder" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("mask", [False, True])
def test_a_row_says_where_personal_data_is_and_may_mask_it(mask: bool) -> None:
    page = (
        f"<title>โทร 081-234-5678</title><p>{THAI}<p>{THAI} โทร 081-234-5678 หรือ a@b.co.th {THAI}"
    )
    [row] = cleaned("th", page, mask=mask)
    assert row is not None
    found = [row["text"][one["start"] : one["end"]] for one in row["personal_data"]]
    assert found == (["[phone]", "[email]"] if mask else ["081-234-5678", "a@b.co.th"])
    assert row["title"] == f"โทร {found[0]}"
    assert row["segments"][-1]["end"] == len(row["text"])
