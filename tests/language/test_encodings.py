"""Labels and decoders of the Encoding Standard, each pointer of each index."""

from __future__ import annotations

import endec
import pytest
import webencodings
from webencodings.labels import LABELS

from lswc.language.charset import decode
from lswc.language.encodings import encoding, label_in_header, label_in_page, text_of

STANDARD = sorted(set(LABELS.values()) - {"replacement"})
OF_TWO_BYTES = ("big5", "euc-jp", "euc-kr", "gb18030", "gbk", "shift_jis")
UNICODE = ("utf-8", "utf-16le", "utf-16be", "x-user-defined", "iso-2022-jp")

# How often Python's codec has another character, as the Standard names the code page's.
OTHERS = {"big5": 11, "euc-jp": 7, "gb18030": 20, "koi8-u": 2}


def pointers(name: str) -> list[bytes]:
    """Return the bytes of each pointer of an encoding's indexes."""
    found = [bytes((byte,)) for byte in range(256)]
    if name in OF_TWO_BYTES:
        found += [bytes((lead, trail)) for lead in range(0x81, 0xFF) for trail in range(0x40, 0xFF)]
    if name == "euc-jp":
        found += [
            bytes((0x8F, lead, trail)) for lead in range(0xA1, 0xFF) for trail in range(0xA1, 0xFF)
        ]
    return found


def test_there_are_all_labels() -> None:
    assert len(LABELS) == 228


@pytest.mark.parametrize("label", LABELS)
def test_a_label_is_found_wherever_a_page_has_it(label: str) -> None:
    assert encoding(f" {label.upper()}\n")
    assert label_in_header(f'text/html; charset="{label}"') == label
    for page in (
        f"<meta charset={label}>",
        f"<META CHARSET = '{label}' >",
        f'<meta http-equiv="Content-Type" content="text/html; charset={label}"/>',
        f'<meta content="text/html;charset={label}" http-equiv=content-type>',
        f'<?xml version="1.0" encoding="{label}"?>',
        f"<!-- <meta charset=utf-7> --><meta charset={label}>",
    ):
        assert label_in_page(page.encode()) == label


@pytest.mark.parametrize("name", STANDARD)
def test_each_pointer_is_what_browsers_make_of_it(name: str) -> None:
    for body in pointers(name):
        assert text_of(body, name) == endec.decode(body, name, "replace", bom="ignore")


@pytest.mark.parametrize("name", [name for name in STANDARD if name not in UNICODE])
def test_each_pointer_is_what_python_has_but_for_a_few(name: str) -> None:
    known = webencodings.lookup(name)
    assert known is not None
    others = 0
    for body in pointers(name):
        try:
            text = known.codec_info.decode(body, "strict")[0]
        except UnicodeDecodeError:
            continue
        ours = text_of(body, name)
        others += ours != text and "\ufffd" not in ours
    assert others == OTHERS.get(name, 0)


@pytest.mark.parametrize("codec", ["euc-jp", "iso-2022-jp"])
def test_nec_row_13(codec: str) -> None:
    pair = bytes((0x2D, 0x21))
    body = b"\x1b$B%b\x1b(B" % pair if codec == "iso-2022-jp" else bytes(b | 0x80 for b in pair)
    assert text_of(body, codec) == "①"


@pytest.mark.parametrize(
    "label",
    [
        "",
        " ",
        "x" * 10_000,
        "punycode",
        "idna",
        "utf-7",
        "base64",
        "cp037",
        "ไทย",
        "\0",
        "é",
        "none",
    ],
)
def test_what_is_no_charset_of_pages(label: str) -> None:
    assert encoding(label) is None


@pytest.mark.parametrize("end", ["", '">', "'", " "])
def test_a_label_of_ten_thousand_letters_is_none(end: str) -> None:
    page = f'<meta charset="{"x" * 10_000}{end}<p>a'.encode()
    assert label_in_page(page) is None
    assert decode(page, f"text/html; charset={'x' * 10_000}").encoding == "ascii"


VIETNAMESE = "Học sinh đến trường mỗi ngày và đọc sách trong thư viện của thành phố"


@pytest.mark.parametrize(
    ("label", "body"),
    [
        ("viscii", "H÷c sinh ðªn trß¶ng m²i ngày và ð÷c sách trong thß vi®n cüa thành ph¯"),
        ("x-viet-tcvn5712", "Häc sinh ®Õn tr­êng mçi ngµy vµ ®äc s¸ch trong th­ viÖn cña thµnh phè"),
    ],
)
def test_vietnamese_charsets_that_the_standard_lacks(label: str, body: str) -> None:
    found = decode(body.encode("latin-1"), f"text/html; charset={label}")
    assert (found.text, found.how) == (VIETNAMESE, "header")
