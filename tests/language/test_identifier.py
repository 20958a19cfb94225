"""From bytes to language, encoding, links and anchors."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lswc.language import Identification, Identifier, IdentifierError
from lswc.language.document import Document, Finding
from lswc.language.html import Bounds
from lswc.language.methods import Method
from lswc.language.registry import Language, known, language, wanted
from lswc.strategy import Anchor, PageLanguage

THAI = "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ"
TEXTS = {
    "th": THAI,
    "lo": "ມະນຸດເກີດມາມີສິດເສລີພາບ ແລະ ສະເໝີໜ້າກັນໃນທາງກຽດຕິສັກ",
    "km": "មនុស្សទាំងអស់កើតមកមានសេរីភាព និងសមភាពក្នុងផ្នែកសេចក្ដីថ្លៃថ្នូរ",
    "my": "လူတိုင်းသည် တူညီ လွတ်လပ်သော ဂုဏ်သိက္ခာဖြင့် လည်းကောင်း မွေးဖွားလာသူများ ဖြစ်သည်။",
    "vi": "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi",
    "ja": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
    "ko": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다",
    "zh": "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。",
    "en": "All human beings are born free and equal in dignity and rights and should act well",
    "de": "Alle Menschen sind frei und gleich an Würde und Rechten geboren und mit Vernunft begabt",
}


@pytest.mark.parametrize("target", ["th", "vi", "ja", "zh", "en"])
@pytest.mark.parametrize("code", TEXTS)
def test_a_language_is_known_whatever_the_target(code: str, target: str) -> None:
    identifier = Identifier(language(target))
    body = f"<title>x</title><p>{TEXTS[code]}".encode()
    identification = identifier.read(body, None, "http://a.test/").identification
    assert (identification.language, identification.encoding) == (
        code,
        "ascii" if code == "en" else "utf-8",
    )
    expected = PageLanguage.ENGLISH if code == "en" else PageLanguage.OTHER
    assert identifier.relevance(identification) == (
        PageLanguage.TARGET if code == target else expected
    )


@pytest.mark.parametrize("code", TEXTS)
def test_a_page_in_any_of_several_languages_is_relevant(code: str) -> None:
    several = Identifier(wanted("lo,my,th"))
    one = Identifier(language("th"))
    body = f"<title>x</title><p>{TEXTS[code]}<a href=/a>{TEXTS[code]}</a>".encode()
    reading = several.read(body, None, "http://a.test/")
    found = reading.identification
    assert found == one.read(body, None, "http://a.test/").identification
    if code in ("lo", "my", "th"):
        assert several.relevance(found) == PageLanguage.TARGET
        assert several.relevant_for(found) == [code]
        assert reading.anchors[0] == Anchor.TARGET
    else:
        assert several.relevance(found) == one.relevance(found)
        assert several.relevant_for(found) == []
        assert reading.anchors[0] == Anchor.OTHER


def test_a_page_may_be_relevant_for_several_languages() -> None:
    several = Identifier(wanted("th,lo"))
    body = f"<p>{TEXTS['th']}<p>{TEXTS['lo']}".encode()
    found = several.read(body, None, "http://a.test/").identification
    assert several.relevant_for(found) == ["lo", "th"]


def test_a_variant_may_be_one_of_several() -> None:
    several = Identifier(wanted("th,zh-Hant"))

    def seen(text: str) -> PageLanguage:
        body = f"<title>x</title><p>{text * 4}".encode()
        return several.relevance(several.read(body, None, "http://a.test/").identification)

    assert (
        seen("我們的圖書館歡迎您,請點選這裡閱讀更多關於歷史與藝術的書籍與資料。")
        == PageLanguage.TARGET
    )
    assert (
        seen("我们的图书馆欢迎您,请点击这里阅读更多关于历史与艺术的书籍与资料。")
        == PageLanguage.OTHER
    )
    assert seen(THAI) == PageLanguage.TARGET


def test_other_methods_tell_one_language() -> None:
    with pytest.raises(
        IdentifierError, match="method cld2 finds one language only: lo,th need auto"
    ):
        Identifier(wanted("th,lo"), "cld2")


def test_no_text_no_language() -> None:
    identifier = Identifier(language("th"))
    identification = identifier.read(b"<img src=a.png>", None, "http://a.test/").identification
    assert identification.language is None
    assert identifier.relevance(identification) == PageLanguage.UNKNOWN


@pytest.mark.parametrize(
    ("text", "expected"),
    [(THAI, Anchor.TARGET), ("Home page", Anchor.OTHER), ("", Anchor.NONE), ("123", Anchor.NONE)],
)
def test_anchor(text: str, expected: Anchor) -> None:
    assert Identifier(language("th")).anchor(text) == expected


def test_links_come_with_what_the_page_says_of_their_language() -> None:
    body = "<link rel=alternate hreflang=th href=/th><a href=x hreflang=my lang=en>Burmese</a>"
    links = Identifier(language("th")).read(body.encode(), None, "http://a.test/").links
    assert [(link.url, link.hreflang, link.lang) for link in links] == [
        ("http://a.test/th", "th", ""),
        ("http://a.test/x", "my", "en"),
    ]


@pytest.mark.parametrize(("size", "is_cut"), [(2_000, False), (2_001, False), (5_000, True)])
def test_how_much_of_a_page_is_looked_at(size: int, is_cut: bool) -> None:
    link = b"<a href=x>"
    body = THAI.encode().ljust(size - len(link)) + link
    identifier = Identifier(language("th"), bounds=Bounds(size=2_000))
    reading = identifier.read(body, None, "http://a.test/")
    assert (reading.is_cut, len(reading.links)) == (is_cut, not is_cut)


def test_links_titles_and_robots() -> None:
    page = f"""<title> {THAI}
        </title><meta name=ROBOTS content="NoIndex, nofollow"><base href=/folder/>
        <a href=../up>{THAI}</a><a href="x.html" rel="nofollow noopener">Hello</a>
        <area href="//b.test/"><iframe src="?q=1"></iframe><a href="#top">top</a>
        <meta http-equiv=refresh content="5; url=next">"""
    reading = Identifier(language("th")).read(page.encode(), None, "http://a.test/b/c")
    links = zip(reading.links, reading.anchors, strict=True)
    assert [(link.url, anchor, link.nofollow) for link, anchor in links] == [
        ("http://a.test/up", Anchor.TARGET, False),
        ("http://a.test/folder/x.html", Anchor.OTHER, True),
        ("http://b.test/", Anchor.NONE, False),
        ("http://a.test/folder/?q=1", Anchor.NONE, False),
        ("http://a.test/folder/next", Anchor.NONE, False),
    ]
    assert reading.title == THAI
    assert reading.robots == {"noindex", "nofollow"}


def test_frames_are_links() -> None:
    body = b"<html><frameset><frame src=menu><frame src=main.html></frameset>"
    reading = Identifier(language("th")).read(body, "text/html", "http://a.test")
    assert [link.url for link in reading.links] == ["http://a.test/menu", "http://a.test/main.html"]


def test_a_method_must_be_known() -> None:
    with pytest.raises(IdentifierError, match="unknown method 'guess'; known: auto"):
        Identifier(language("th"), "guess")


@pytest.mark.parametrize("share", [0, -1, 1.1, float("nan")])
def test_a_share_must_be_one(share: float) -> None:
    with pytest.raises(IdentifierError, match="min_share"):
        Identifier(language("th"), min_share=share)


@settings(deadline=None)
@given(st.binary(), st.none() | st.text(), st.sampled_from(known()))
def test_any_bytes_give_an_answer(body: bytes, content_type: str | None, code: str) -> None:
    identifier = Identifier(language(code))
    identification = identifier.read(body, content_type, "http://a.test/").identification
    assert isinstance(identification, Identification)
    assert 0 <= identification.confidence <= 1


def always_thai(document: Document, target: Language) -> tuple[Finding, str]:
    """A method of a user's own."""
    return Finding("th", 1.0, "mine"), document.decoded.encoding


MINE = Method(always_thai)


def test_a_method_of_a_users_own_is_named_by_its_module() -> None:
    named = Identifier(language("th"), f"{__name__}:MINE")
    assert named.read(b"<p>plain English", None, "http://a.example/").identification.how == "mine"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("none:METHOD", "method 'none:METHOD': No module named 'none'"),
        (f"{__name__}:NONE", "has no attribute 'NONE'"),
        (f"{__name__}:THAI", "is no lswc.language.methods.Method"),
        (":MINE", "method ':MINE': Empty module name"),
    ],
)
def test_a_method_that_is_not_there_is_a_line(name: str, line: str) -> None:
    with pytest.raises(IdentifierError, match=line):
        Identifier(language("th"), name)
