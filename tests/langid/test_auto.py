"""The default method: which text of a page decides, and like scripts."""

from __future__ import annotations

import pytest

from lswc.langid import Identification, Identifier
from lswc.languages import language
from lswc.strategy import Anchor, PageLanguage

THAI = "นักเรียนไปโรงเรียนทุกวัน และอ่านหนังสือในห้องสมุดของเมืองหลวง ครูสอนภาษาไทยและประวัติศาสตร์ "
ENGLISH = "The students go to school every day and read the books in the library of the town. "
THAI_MENU = "<a href=x>หน้าแรกของเว็บไซต์</a> <a href=y>ติดต่อเรา</a> " * 40
ENGLISH_MENU = "<a href=x>Home page of the site</a> <a href=y>Contact us</a> " * 40


def identify(html: str, code: str = "th") -> Identification:
    identifier = Identifier(language(code))
    return identifier.read(html.encode(), None, "http://a.test/").identification


def test_menus_do_not_decide() -> None:
    assert identify(f"{THAI_MENU}<p>{ENGLISH * 4}").language == "en"
    assert identify(f"{ENGLISH_MENU}<p>{THAI * 4}").language == "th"


@pytest.mark.parametrize("tag", ["nav", "footer", "select", "script", "style"])
def test_neither_do_other_parts_that_are_not_text(tag: str) -> None:
    assert identify(f"<{tag}>{THAI * 20}</{tag}><p>{ENGLISH * 4}").language == "en"
    assert identify(f"<{tag}>{ENGLISH * 20}</{tag}><p>{THAI * 4}").language == "th"


def test_a_page_of_links_is_told_by_its_links() -> None:
    assert identify(f"{THAI_MENU}<p>Copyright 2004").language == "th"
    assert identify(f"{ENGLISH_MENU}<p>สงวนลิขสิทธิ์").language == "en"


@pytest.mark.parametrize(("thai", "expected"), [(1, "en"), (6, "en"), (12, "th"), (20, "th")])
def test_a_bilingual_page_is_in_the_language_that_leads(thai: int, expected: str) -> None:
    found = identify(f"<p>{THAI * thai}</p><p>{ENGLISH * (20 - thai)}")
    assert found.language == expected
    letters = len(THAI) * thai + len(ENGLISH) * (20 - thai)
    assert found.share("th") == pytest.approx(len(THAI) * thai / letters, abs=0.1)
    assert found.share("th") + found.share("en") == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize(
    ("thai", "share", "relevant", "expected"),
    [
        (1, 0.15, "contains", PageLanguage.ENGLISH),
        (6, 0.15, "contains", PageLanguage.TARGET),
        (6, 0.6, "contains", PageLanguage.ENGLISH),
        (6, 0.15, "leads", PageLanguage.ENGLISH),
        (14, 0.15, "leads", PageLanguage.TARGET),
        (14, 0.9, "contains", PageLanguage.TARGET),
    ],
)
def test_what_is_relevant_can_be_chosen(
    thai: int, share: float, relevant: str, expected: PageLanguage
) -> None:
    identifier = Identifier(language("th"), min_share=share, relevant=relevant)
    body = f"<p>{THAI * thai}</p><p>{ENGLISH * (20 - thai)}".encode()
    found = identifier.read(body, None, "http://a.test/").identification
    assert identifier.relevance(found) is expected


def test_english_with_a_thai_charset_is_english() -> None:
    html = f"<meta charset=tis-620><p>{ENGLISH}"
    found = identify(html)
    assert (found.language, found.encoding) == ("en", "windows-874")


@pytest.mark.parametrize(
    ("html", "language", "how"),
    [
        ("<meta charset=tis-620><img src=a>", "th", "declared: charset"),
        ("<meta charset=euc-kr><frameset><frame src=a>", "ko", "declared: charset"),
        ("<html lang=th-TH><img src=a>", "th", "declared: lang"),
        ("<meta charset=utf-8><img src=a>", None, "nothing"),
        ("<html lang=xx-XX><img src=a>", None, "nothing"),
        ("<title>1 - 2</title>", None, "nothing"),
        (f"<meta name=description content='{THAI}'><img src=a>", "th", "letters of th"),
    ],
)
def test_a_page_without_text(html: str, language: str | None, how: str) -> None:
    found = identify(html)
    assert (found.language, found.how) == (language, how)


@pytest.mark.parametrize("form", ["&#{};", "&#x{:X};"])
def test_numeric_references(form: str) -> None:
    html = "".join(form.format(ord(character)) for character in THAI)
    assert identify(f"<title>{html}</title><p>{html}").language == "th"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "東京都千代田区霞が関 国土交通省 経済産業省 総務省統計局 図書館総覧 気象庁発表",
            "ja",
        ),
        ("平成二十年度国会図書館所蔵資料目録 経済学部教授 県立図書館 関東地方気象台 発売中", "ja"),
        ("中华人民共和国国务院办公厅关于印发通知的说明 北京图书馆馆藏目录 经济发展计划", "zh"),
        ("中華民國行政院研究發展考核委員會 臺灣大學圖書館 這個們您 經濟部說明", "zh"),
        (
            "大韓民國 國會圖書館의 資料는 一般에게 公開된다 憲法 第一條 大韓은 民主共和國이다",
            "ko",
        ),
        ("こんにちは、今日は良い天気です", "ja"),
        ("唔該你哋幫我睇吓呢啲嘢喺邊度買㗎", "zh"),
    ],
)
def test_ideographs(text: str, expected: str) -> None:
    for target in ("zh", "ja", "ko", "th"):
        assert identify(f"<p>{text}", target).language == expected


@pytest.mark.parametrize(("code", "other"), [("zh", "ja"), ("ja", "zh")])
def test_the_page_tells_ideographs_that_could_be_either(code: str, other: str) -> None:
    identifier = Identifier(language(code))
    for text in ("大学", "東京", "電話", "北海道大学"):
        assert identifier.anchor(text, code) is Anchor.TARGET
        assert identifier.anchor(text, other) is Anchor.OTHER
    assert identifier.anchor("お問い合わせ", code) is (
        Anchor.TARGET if code == "ja" else Anchor.OTHER
    )


@pytest.mark.parametrize("code", ["th", "lo"])
def test_lao_is_not_thai(code: str) -> None:
    texts = {"th": THAI, "lo": "ນັກຮຽນໄປໂຮງຮຽນທຸກມື້ ແລະອ່ານປຶ້ມໃນຫໍສະໝຸດຂອງເມືອງ"}
    for name, text in texts.items():
        assert identify(f"<p>{text}", code).language == name


def test_vietnamese_and_its_neighbours_in_latin_script() -> None:
    vietnamese = "Học sinh đến trường mỗi ngày và đọc sách trong thư viện của thành phố"
    yoruba = "Gbogbo ènìyàn ni a bí ní òmìnira; iyì àti ẹ̀tọ́ kọ̀ọ̀kan sì dọ́gba pẹ̀lú ọkàn wọn"
    romanian = "Elevii merg la școală în fiecare zi și citesc cărți în biblioteca orașului frumos"
    assert identify(f"<p>{vietnamese}", "vi").language == "vi"
    assert identify(f"<p>{yoruba}", "vi").language != "vi"
    assert identify(f"<p>{romanian}", "vi").language == "ro"


def test_a_target_without_a_file_of_its_own() -> None:
    indonesian = "Para siswa pergi ke sekolah setiap hari dan membaca buku di perpustakaan kota"
    identifier = Identifier(language("id"))
    body = f"<p>{indonesian}".encode()
    found = identifier.read(body, None, "http://a.test/").identification
    assert identifier.relevance(found) is PageLanguage.TARGET
    assert identifier.anchor("perpustakaan kota Jakarta dan sekolah") is Anchor.TARGET
    assert identifier.anchor("Berita", "id") is Anchor.TARGET
    assert identifier.anchor("Berita") is Anchor.OTHER


def test_english_as_the_target() -> None:
    identifier = Identifier(language("en"))
    found = identifier.read(f"<p>{ENGLISH * 3}".encode(), None, "http://a.test/").identification
    assert identifier.relevance(found) is PageLanguage.TARGET


LAO = "ນັກຮຽນໄປໂຮງຮຽນທຸກວັນ ແລະອ່ານໜັງສືໃນຫ້ອງສະໝຸດຂອງເມືອງຫຼວງ "


@pytest.mark.parametrize(("lao", "expected"), [(1, "en"), (4, "en"), (6, "lo"), (9, "lo")])
def test_letters_count_and_not_bytes(lao: int, expected: str) -> None:
    found = identify(f"<p>{LAO * lao}</p><p>{ENGLISH * (10 - lao)}")
    assert found.language == expected, "CLD2 counts bytes, three to a letter"
    letters = len(LAO) * lao + len(ENGLISH) * (10 - lao)
    assert found.share("lo") == pytest.approx(len(LAO) * lao / letters, abs=0.1)
