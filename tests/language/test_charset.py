"""Bytes to text: what a page says of its charset, and what it holds."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lswc.lab.methods import papers
from lswc.language.charset import Decoded, decode
from lswc.language.document import Document
from lswc.language.registry import language

THAI = "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม " * 3
JAPANESE = (
    "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。" * 5
)
KOREAN = "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. " * 5
SIMPLIFIED = "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心" * 5
TRADITIONAL = (
    "人人生而自由,在尊嚴和權利上一律平等。他們賦有理性和良心,並應以兄弟關係的精神相對待。" * 5
)

CODECS = [
    (THAI, "cp874", "windows-874"),
    (THAI, "tis-620", "windows-874"),
    (JAPANESE, "euc-jp", "euc-jp"),
    (JAPANESE, "shift_jis", "shift_jis"),
    (JAPANESE, "iso-2022-jp", "iso-2022-jp"),
    (KOREAN, "euc-kr", "euc-kr"),
    (SIMPLIFIED, "gb18030", "gb18030"),
    (TRADITIONAL, "big5", "big5"),
]
UNICODE = ["utf-8", "utf-8-sig", "utf-16", "utf-32"]


SENTENCES = {
    "th": "นักเรียนไปโรงเรียนทุกวัน และอ่านหนังสือในห้องสมุดของเมืองหลวง ครูสอนประวัติศาสตร์ ",
    "ja": "生徒たちは毎日学校へ行き、町の図書館で本を読みます。先生は日本語と歴史を教えています。",
    "ko": "학생들은 매일 학교에 가서 도시의 도서관에서 책을 읽습니다. 선생님은 역사를 가르칩니다.",
    "zh": "学生们每天去学校，在城市的图书馆里读书。老师教中文和历史。",
    "vi": "Học sinh đến trường mỗi ngày và đọc sách trong thư viện của thành phố. ",
}


@pytest.mark.parametrize(("text", "codec", "name"), CODECS)
def test_charsets_are_told_without_a_declaration(text: str, codec: str, name: str) -> None:
    decoded = decode(f"<p>{text}".encode(codec))
    assert (decoded.text, decoded.encoding) == (f"<p>{text}", name)


@pytest.mark.parametrize("codec", [*UNICODE, "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", [THAI, JAPANESE, "Plain English text in a page. " * 5])
def test_unicode_in_all_its_forms(text: str, codec: str) -> None:
    assert decode(f"<p>{text}</p>".encode(codec)).text == f"<p>{text}</p>"


@pytest.mark.parametrize(("text", "codec", "name"), CODECS)
@pytest.mark.parametrize("lie", ["utf-8", "iso-8859-1", "big5", "x-unheard-of", "utf-16"])
def test_a_false_declaration_changes_nothing(text: str, codec: str, name: str, lie: str) -> None:
    page = f'<meta charset="{lie}"><p>{text}'
    if lie != codec:
        assert decode(page.encode(codec), f"text/html; charset={lie}").text == page


@pytest.mark.parametrize("label", ["x-sjis", "ms_kanji", "Shift_JIS", "windows-31j"])
def test_labels_of_the_encoding_standard(label: str) -> None:
    body = f'<meta http-equiv=content-type content="text/html; charset={label}">仮名漢字'
    decoded = decode(body.encode("cp932"))
    assert (decoded.text, decoded.encoding, decoded.how) == (body, "shift_jis", "meta")


def test_the_header_goes_before_the_page() -> None:
    body = "<meta charset=shift_jis>แ".encode("cp874")
    decoded = decode(body, "text/html; charset=TIS-620")
    assert (decoded.encoding, decoded.how) == ("windows-874", "header")


TCVN = "H«m nay trêi m­a lín nªn chóng t«i kh«ng ®i häc ®­îc, c¸c b¹n còng ë nhµ ®äc s¸ch"
# "Pupils go to school every day and read books", in Lao, twice.
IBM1133 = (
    bytes.fromhex("adcaa1bbccadd4afd2bba4bbccadacc7a1b4c6d620d1b7c0bad5c1adafc5d6b4d3adb9da") * 2
)


@pytest.mark.parametrize("body", [TCVN.encode("cp1252"), IBM1133], ids=["TCVN", "IBM1133"])
@pytest.mark.parametrize("charset", ["", "; charset=windows-874"])
def test_what_only_has_the_bytes_of_thai_is_not_read_as_thai(body: bytes, charset: str) -> None:
    assert decode(body, f"text/html{charset}").encoding != "windows-874"


@pytest.mark.parametrize("text", ["ที่อยู่", "กรมการขนส่ง", "ซื้อ iPhone 9 ที่ Bangkok", "ๆฯ", "ก"])
def test_few_words_of_thai_are_what_they_are_declared(text: str) -> None:
    decoded = decode(text.encode("cp874"), "text/html; charset=windows-874")
    assert (decoded.text, decoded.encoding) == (text, "windows-874")


EAST_ASIAN = ["euc-kr", "euc-jp", "shift_jis", "gbk", "big5", "windows-874"]


@pytest.mark.parametrize("charset", EAST_ASIAN)
@pytest.mark.parametrize(
    ("text", "codec"),
    [
        (KOREAN[:40], "euc-kr"),
        (SENTENCES["ja"], "euc-jp"),
        (SENTENCES["ja"], "shift_jis"),
        (SENTENCES["zh"], "gb18030"),
        (TRADITIONAL[:43], "big5"),
        (THAI[:60], "cp874"),
    ],
)
def test_a_sentence_is_read_whatever_it_is_declared(text: str, codec: str, charset: str) -> None:
    if (codec, charset) == ("euc-jp", "gbk"):
        pytest.skip("both have kana at the same place")
    assert decode(text.encode(codec), f"text/html; charset={charset}").text == text


@pytest.mark.parametrize(("text", "codec", "name"), [*CODECS, (KOREAN, "johab", "johab")])
def test_a_sentence_is_what_it_is_declared(text: str, codec: str, name: str) -> None:
    decoded = decode(text[:60].encode(codec), f"text/html; charset={codec}")
    assert (decoded.text, decoded.encoding) == (text[:60], name)


@pytest.mark.parametrize("charset", ["gbk", "big5"])
def test_ideographs_within_latin_words_are_another_charset(charset: str) -> None:
    body = SENTENCES["vi"][:60].encode("cp1258", "ignore")
    assert decode(body, f"text/html; charset={charset}").encoding.startswith("windows-125")


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("東京都庁公式案内 交通情報 観光案内", "euc-jp"),
        ("北京大学新闻网 学校要闻", "gb18030"),
        ("ローカル サーバー", "euc-jp"),
        ("ﾎｰﾑﾍﾟｰｼﾞ 更新情報", "shift_jis"),
        ("ﾒﾆｭｰ ﾘﾝｸ ﾌﾟﾛﾌｨｰﾙ", "shift_jis"),
        ("國立臺灣大學圖書館", "gb18030"),
        ("龔鵬程教授訪問", "big5"),
        ("대한민국 大韓民國 헌법", "euc-kr"),
    ],
)
def test_a_few_ideographs_are_what_they_are_declared(text: str, codec: str) -> None:
    decoded = decode(text.encode(codec), f"text/html; charset={codec}")
    assert (decoded.text, decoded.encoding) == (text, codec)


def test_utf8_with_a_broken_character_stays_utf8() -> None:
    body = THAI.encode()[:200] + b"\xe0\xb8" + THAI.encode()
    assert decode(body).encoding == "utf-8"


@pytest.mark.parametrize("given", ["meta", "header"])
@pytest.mark.parametrize("text", [THAI, JAPANESE, KOREAN, SENTENCES["vi"] * 5])
def test_utf8_with_many_broken_characters_is_what_it_is_declared(text: str, given: str) -> None:
    """Fewer than a third are lost, and a detector would take it for some charset of letters."""
    whole = bytearray(text.encode())
    beyond = [place for place, byte in enumerate(whole) if byte > 0x7F]
    for place in beyond[::20]:
        whole[place] ^= 0x40  # so what follows is broken, too
    page, header = bytes(whole), None
    if given == "meta":
        page = b"<meta charset=utf-8>" + page
    else:
        header = "text/html; charset=UTF-8"
    decoded = decode(page, header)
    assert (decoded.encoding, decoded.how) == ("utf-8", given)
    assert decoded.text.count("\ufffd") > len(text) / 50


def test_utf8_cut_within_a_character_stays_utf8() -> None:
    assert decode(THAI.encode()[:-2]).text == THAI[: len(decode(THAI.encode()[:-2]).text)]


@settings(deadline=None)
@given(st.binary(), st.none() | st.text() | st.sampled_from(["text/html; charset=utf-16"]))
def test_any_bytes_become_text(body: bytes, content_type: str | None) -> None:
    decoded = decode(body, content_type)
    assert isinstance(decoded.text, str)
    assert decoded.encoding


@pytest.mark.parametrize(
    ("text", "codec"),
    [(JAPANESE, "euc-jp"), (JAPANESE, "shift_jis"), (KOREAN, "euc-kr"), (SIMPLIFIED, "gb18030")],
)
def test_short_text_cut_within_a_character(text: str, codec: str) -> None:
    decoded = decode(text.encode(codec)[:141])
    assert decoded.encoding == codec
    assert decoded.text.startswith(text[:60])


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_nearly_without_ascii(codec: str) -> None:
    assert decode(f"{SIMPLIFIED.replace(',', '，')}\n".encode(codec)).encoding == codec


def test_hz() -> None:
    decoded = decode(b"<p>" + SIMPLIFIED.encode("hz") + b"<a href='/~me/'>")
    assert decoded.text == f"<p>{SIMPLIFIED}<a href='/~me/'>"
    assert decode(b"<a href='/~me/'>~{").encoding == "ascii"


@pytest.mark.parametrize("place", [10, 11, 200])
def test_stray_zero_bytes_change_nothing(place: int) -> None:
    body = THAI.encode("cp874")
    assert decode(body[:place] + b"\0" + body[place:]).encoding == "windows-874"


@pytest.mark.parametrize("label", ["punycode", "idna", "unicode_escape", "Raw-Unicode-Escape"])
def test_codecs_that_are_none_of_pages_are_not_heeded(label: str) -> None:
    body = b"\xff" * 3 + b"-" + b"a" * 2_000
    for header, page in (
        (f"text/html; charset={label}", body),
        (None, f"<meta charset={label}>".encode() + body),
        (None, f"<?xml encoding='{label}'?>".encode() + body),
    ):
        assert decode(page, header).how == "detector"


def test_labels_that_nobody_knows_are_not_kept() -> None:
    asked: list[str] = []

    def search(name: str) -> None:
        """Note what Python is asked for: it keeps each name, known or not."""
        asked.append(name)

    codecs.register(search)
    for number in range(20):
        for label in (f"x-nobody-{number}", f"nobody_{number}"):
            assert decode(f"<meta charset='{label}1'>a".encode(), f"text/html; charset={label}2")
            page = f"<meta http-equiv=content-type content='text/html;charset={label}3'>".encode()
            assert decode(page).encoding == "ascii"
            assert papers.tamura2007(Document(page, None, "http://a.test/"), language("th"))
    codecs.unregister(search)
    assert not [name for name in asked if "nobody" in name]


@pytest.mark.usefixtures("brake")
def test_blanks_without_end_are_read_once() -> None:
    # Twice as many would take four times as long, if any place were tried again.
    blanks = " " * 500_000
    assert decode(b"a", f"text/html; charset={blanks}").encoding == "ascii"
    page = f"<meta charset={blanks}><p>ก".encode()
    assert papers.tamura2007(Document(page, None, "http://a.test/"), language("th"))


TEXTS = {
    "cp874": "นักเรียนไปโรงเรียนทุกวัน และอ่านหนังสือในห้องสมุดของเมืองหลวง",
    "gb18030": "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心",
    "euc_jp": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利について平等である",
    "cp949": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다",
    "cp1251": "Все люди рождаются свободными и равными в своем достоинстве и правах",
}


@pytest.mark.parametrize("declared", ["windows-1251", "iso-8859-2", "windows-1253", "koi8-r"])
@pytest.mark.parametrize("codec", ["cp874", "gb18030", "euc_jp", "cp949"])
def test_a_charset_of_letters_is_checked_like_any_other(codec: str, declared: str) -> None:
    body = f"<meta charset={declared}><p>".encode() + (TEXTS[codec] * 4).encode(codec)
    assert TEXTS[codec] in decode(body).text


@pytest.mark.parametrize(
    ("codec", "text"),
    [
        ("cp1251", TEXTS["cp1251"]),
        ("koi8-r", "Все люди: СССР, НАТО; рождаются свободными © 1999"),
        ("iso-8859-2", "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti"),
        ("cp1253", "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι"),
        ("cp1256", "يولد جميع الناس أحراراً متساوين في الكرامة والحقوق"),
        ("cp1255", "כל בני האדם נולדו בני חורין ושווים בערכם"),
    ],
)
def test_and_heeded_where_it_is_right(codec: str, text: str) -> None:
    found = decode(f"<meta charset={codec}><p>".encode() + text.encode(codec))
    assert (found.how, text in found.text) == ("meta", True)


@pytest.mark.parametrize(
    ("codec", "text"), [*TEXTS.items(), *(("utf-8", text) for text in TEXTS.values())]
)
def test_what_was_read_twice_is_read_once(codec: str, text: str) -> None:
    found = decode(f"<p>{(text.encode(codec) * 3).decode('latin-1')}".encode())
    assert text in found.text
    assert found.encoding.endswith(" (double)")


@pytest.mark.parametrize("codec", ["cp932", "euc_jp", "utf-8"])
def test_japanese_read_as_windows_1252_is_read_once(codec: str) -> None:
    text = "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。"
    wrong = (text * 3).encode(codec).decode("cp1252", "ignore")  # five bytes have no sign there
    kept = (text * 3).encode(codec).decode("latin-1")
    for page in (wrong, kept):
        found = decode(f"<p>{page}".encode())
        assert found.encoding.endswith(" (double)")
        assert "であり" in found.text


@pytest.mark.parametrize(
    "text",
    [
        "“Yes”, she said — ‘no’… “ˆ‡‰”™ €5–€7 “…” ‘…’",
        "L’été à Paris : où êtes-vous ? Ça va très bien, «déjà vu» — naïve façade, cœur",
        "Größe, Straße, Übermut, Äpfel, ÄÖÜ äöü ß",
        "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm",
        "São Paulo, ação, coração, não, informações © 2020 Ã",
        "½ ° ± § ¶ © ® ×",
    ],
)
def test_what_was_read_once_stays(text: str) -> None:
    assert decode(text.encode()) == (text, "utf-8", "content", True)


@pytest.mark.parametrize("code", ["th", "ja", "ko", "zh", "vi"])
@pytest.mark.parametrize("lost", ["\ufffd", "?"])
def test_what_was_read_twice_and_lost_bytes_is_read_once(code: str, lost: str) -> None:
    text = SENTENCES[code] * 3
    garbled = text.encode().decode("cp1252", "replace").replace("\ufffd", lost)
    found = decode(f"<p>{garbled}".encode())
    assert found.encoding == "utf-8 (double)"
    assert len(set(found.text) & set(text)) > 0.5 * len(set(text))


@pytest.mark.parametrize(
    ("code", "codec"),
    [("th", "utf-8"), ("th", "cp874"), ("ja", "cp932"), ("ko", "euc-kr"), ("zh", "gb18030"),
     ("vi", "utf-8")],
)  # fmt: skip
@pytest.mark.parametrize("reference", ["&#{};", "&#0{};", "&#x{:x};", "&#X{:X};"])
def test_bytes_that_are_written_as_references(code: str, codec: str, reference: str) -> None:
    text = SENTENCES[code] * 3
    given = "".join(chr(b) if b < 128 else reference.format(b) for b in text.encode(codec))
    found = decode(f"<p>{given}".encode())
    assert found.text == f"<p>{text}"
    assert found.encoding.endswith(" (references)")


@pytest.mark.parametrize(
    "text",
    ["Où était l'élève à l'école, là où ça a été déjà créé ? ", "Über Öl für grüß Gott, äußern ",
     "Ελλάδα και πόλη ", "Học sinh đến trường mỗi ngày ", SENTENCES["th"]],
)  # fmt: skip
def test_letters_that_are_written_as_references_stay(text: str) -> None:
    given = "".join(letter if letter.isascii() else f"&#{ord(letter)};" for letter in text * 9)
    assert decode(given.encode()) == Decoded(given, "ascii", "nothing", True)


@pytest.mark.parametrize("page", [b"\0" * 1070 + b"<p>a page", b"<p>a page" + b"\0" * 1070])
def test_holes_in_a_file_are_no_utf_32(page: bytes) -> None:
    assert decode(page).encoding == "ascii"


def test_utf_16_without_a_mark_or_an_ascii_character() -> None:
    text = "လူတိုင်းသည် တူညီ လွတ်လပ်သော ဂုဏ်သိက္ခာဖြင့် လည်းကောင်း မွေးဖွားလာသူများ ဖြစ်သည်။" * 3
    for codec in ("utf-16-le", "utf-16-be"):
        found = decode(text.encode(codec))
        assert (found.text, found.encoding) == (text, codec)


def test_iso_2022_cn() -> None:
    body = b"\x1b$)A<p>\x0e%b\x0f ok" % bytes(b & 0x7F for b in "人人生而自由".encode("gb2312"))
    assert decode(body)[:2] == ("<p>人人生而自由 ok", "iso-2022-cn")
