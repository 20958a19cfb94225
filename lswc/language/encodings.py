"""Encodings of the web: their labels, and text from bytes, as browsers have both.

The WHATWG Encoding Standard names 228 labels of 39 encodings and says what each byte means, a
broken one too. Labels come from webencodings, decoders from encoding_rs, which is Firefox's. What
else a page may declare are codecs of Python, and two charsets of Vietnamese that neither has.
"""

from __future__ import annotations

import codecs
import encodings
import re
import unicodedata
from encodings.aliases import aliases
from functools import cache
from pkgutil import iter_modules

import endec
from webencodings.labels import LABELS

_BLANK = "\t\n\f\r "
_VISCII = (
    "ẠẮẰẶẤẦẨẬẼẸẾỀỂỄỆỐỒỔỖỘỢỚỜỞỊỎỌỈỦŨỤỲÕắằặấầẩậẽẹếềểễệốồổỗỠƠộờởịỰỨỪỬơớƯÀÁÂÃẢĂẳẵÈÉÊẺÌÍĨỳĐứÒÓÔạỷừửÙÚỹỵÝỡư"
    "àáâãảăữẫèéêẻìíĩỉđựòóôõỏọụùúũủýợỮ"
)
_TCVN = (
    "ÀẢÃÁẠẶẬÈẺẼÉẸỆÌỈĨÍỊÒỎÕÓỌỘỜỞỠỚỢÙỦŨ\xa0ĂÂÊÔƠƯĐăâêôơưđẰ\u0300\u0309\u0303\u0301\u0323àảãáạẲằẳẵắẴẮẦẨẪẤỀặ"
    "ầẩẫấậèỂẻẽéẹềểễếệìỉỄẾỒĩíịòỔỏõóọồổỗốộờởỡớợùỖủũúụừửữứựỳỷỹýỵỐ"
)
_BEYOND = range(0x80, 0x100)
_VIETNAMESE = {
    name: dict(zip((*controls, *_BEYOND), letters, strict=True))
    for name, controls, letters in (
        ("viscii", (2, 5, 6, 20, 25, 30), f"ẲẴẪỶỸỴ{_VISCII}"),
        ("tcvn", (1, 2, 4, 5, 6, *range(17, 24)), f"ÚỤỪỬỮỨỰỲỶỸÝỴ{_TCVN}"),
    )
}
"""VISCII after RFC 1456, and TCVN 5712, which the fonts of the ABC set have in small letters."""

_MEANT = {
    "csviscii": "viscii",
    **dict.fromkeys(("x-viet-tcvn5712", "tcvn-5712", "tcvn5712", "tcvn5712-1", "tcvn3"), "tcvn"),
    "gbk": "gb18030",  # they have one decoder
    # Python's names of what the Standard calls otherwise
    "cp949": "euc-kr",
    "cp932": "shift_jis",
    "big5hkscs": "big5",
    "cp874": "windows-874",
    "mac-cyrillic": "x-mac-cyrillic",
    "mac-roman": "macintosh",
}
# Codecs for names and programs, not for pages; decoding punycode takes the square of its length.
_FOREIGN = {"idna", "punycode", "raw_unicode_escape", "undefined", "unicode_escape", "utf_7"}
_OF_PYTHON = {*(module.name for module in iter_modules(encodings.__path__)), *aliases} - _FOREIGN
_MARKUP = '<a href="x">\'=/;&#0-9'
_LONGEST = 40  # letters of a label
_REPLACED = "replacement"  # those that browsers don't read, since they hide markup
_TAG = re.compile(rb"<(?:meta[\s/]|\?xml\s)[^>]{0,2000}", re.IGNORECASE)
_UNREAD = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_CHARSET = re.compile(
    rb"(?:charset|encoding)[\s]*+=[\s]*+[\"']?[\s]*+([^\s\"'<>;/]{1,40})(?![^\s\"'<>;/])",
    re.IGNORECASE,
)


def encoding(label: str) -> str | None:
    """Return the encoding that a label means; None if there is none such.

    It is the Standard's name (Encoding Standard §4.2), else that of a codec of Python's.
    """
    label = label.strip(_BLANK).lower() if len(label) <= 2 * _LONGEST else ""
    return _encoding(label) if label and label.isascii() else None


def _encoding(label: str) -> str | None:
    name = LABELS.get(label, label)
    if name == _REPLACED:
        name = label
    name = _MEANT.get(name, name)
    if name in LABELS or name in _VIETNAMESE:
        return name
    # Python keeps each name that it doesn't know for good.
    if encodings.normalize_encoding(name).lower() not in _OF_PYTHON:
        return None
    return _codec(name)


@cache
def _codec(name: str) -> str | None:
    """Return the name of a codec of Python's that makes text of bytes, and ASCII of ASCII."""
    try:
        codec = codecs.lookup(name)
        is_readable = _MARKUP.encode("ascii").decode(name) == _MARKUP
    except (LookupError, UnicodeError):
        return codec.name if name.startswith(("utf_", "utf-")) else None
    own = codec.name.replace("_", "-")
    label = LABELS.get(own, own)
    return _MEANT.get(label, label) if is_readable else None


def text_of(body: bytes, name: str) -> str:
    """Return the text of bytes in an encoding; what is broken is U+FFFD (Encoding Standard §4.1).

    Raises LookupError for a name that ``encoding`` doesn't give.
    """
    if name in _VIETNAMESE:
        text = body.decode("latin-1").translate(_VIETNAMESE[name])
        return unicodedata.normalize("NFC", text)
    if name in LABELS and LABELS[name] != _REPLACED:
        return endec.decode(body, name, "replace", bom="ignore")
    return body.decode(name, "replace")


def label_in_header(content_type: str) -> str | None:
    """Return the label that Content-Type names (RFC 9110 §8.3.1)."""
    return _label(content_type.encode("latin-1", "ignore"))


def label_in_page(start: bytes) -> str | None:
    """Return the first label that a META or an XML declaration names, if there is such a charset.

    More lenient than HTML Standard §13.2.3.2: in whatever order, and as whatever META.
    """
    if b"<!--" in start:
        start = _UNREAD.sub(b" ", start)
    labels = (_label(tag[0]) for tag in _TAG.finditer(start))
    return next((label for label in labels if label and encoding(label)), None)


def _label(text: bytes) -> str | None:
    found = _CHARSET.search(text)
    return found[1].decode("ascii", "ignore") if found else None
