"""Bytes to text: the charset of a page, by what it says and by what it holds."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

import numpy as np
from w3lib.encoding import read_bom

from lswc.language import scripts
from lswc.language.encodings import encoding, label_in_header, label_in_page, text_of
from lswc.language.stretches import explained

_SAMPLE = 8_192  # bytes that are looked at for zeros
_HEAD = 4_096  # bytes within which a page says its charset
_HZ = re.compile(rb"~\{.*?(?:~\}|\Z)|~~|~", re.DOTALL)
_SHIFTED = re.compile(rb"\x0e([\x21-\x7e]*)\x0f?")
_DESIGNATION = re.compile(rb"\x1b\$[)*+][A-Z]")
_WIDE = frozenset(f"utf-{bits}{end}" for bits in (16, 32) for end in ("", "le", "be", "-le", "-be"))
_UNHEEDED = _WIDE | {"windows-1252", "x-user-defined", "iso-2022-kr", "iso-2022-cn", "hz-gb-2312"}
_STRAY = 4  # zero bytes that a page in another charset may hold
_ALL = 0.9  # of all places, in UTF-32
_FEW = 50  # references
_EAST_ASIAN = re.compile("[\u3041-\u30fa\u3400-\u9fff\uac00-\ud7a3]")
_FEWEST = 10
_BEYOND_ASCII = re.compile("[^\x00-\x7f\u3000-\u3040\uff00-\uffef]")
_DOUBLED = re.compile(
    rb"(?:\xc3[\x80-\xbf](?:\xc2|\xc3|\xc5|\xc6|\xcb|\xe2\x80|\xe2\x82|\xe2\x84))"
)
_TWICE = re.compile("[\xc2-\xf4][\x80-\xbf\u0152-\u2122]")
_HALF_HIRAGANA = re.compile(rb"\xe3\??([\x80-\xbf])(?![\x80-\xbf])")  # or a mark in its place
_BYTES = re.compile(
    rb"&#(?:0{0,5}(1(?:2[89]|[3-9]\d)|2(?:[0-4]\d|5[0-5]))|x0{0,5}([89a-f][\da-f]));?",
    re.IGNORECASE,
)
"""References to what may be bytes beyond ASCII."""
# Of Shift_JIS most first bytes are signs that Windows-1252 has beyond Latin-1.
_BEYOND_LATIN_1 = bytes(range(0x80, 0xA0)).decode("cp1252", "ignore")
_RUN = re.compile(f"[\x80-\xff{re.escape(_BEYOND_LATIN_1)}]{{3,}}")
_BEYOND = re.compile("[^\x00-\x7f]")
# Japanese is written in three scripts; Yi is what EUC-JP looks like in UTF-16.
_WITH_HIRAGANA = (scripts.KATAKANA, scripts.HAN, scripts.HAN_JAPANESE, scripts.HAN_CHINESE)
_CYRILLIC = re.compile("[\u0400-\u04ff]")
_C1 = "lswc.controls"
_THAI = re.compile("[\u0e01-\u0e5b]")


class Decoded(NamedTuple):
    """Text, the name of its charset, and how that was found.

    ``how`` is one of bom, escapes, content, header, meta, detector, nothing. The name is the
    WHATWG Encoding Standard's where it has one. ``is_utf8`` says that the bytes as they stand
    are valid UTF-8, but for a character cut at the end.
    """

    text: str
    encoding: str
    how: str
    is_utf8: bool = False


def decode(body: bytes, content_type: str | None = None) -> Decoded:
    """Decode a page's bytes. Never fails: what can't be decoded becomes U+FFFD.

    In this order: a byte order mark; the escapes of ISO-2022; valid UTF-8; the HTTP header's
    charset; the page's own (META, XML declaration); what explains the bytes best. A declared
    charset gives way only to one that explains them far better, and parts of a page may be in
    another. One of Latin-1 is never heeded, as Tamura 2007 §2.2 has it: it is what editors write
    unasked. What labels and bytes mean is the Encoding Standard's.
    """
    codec, mark = read_bom(body)
    if codec is not None:
        return Decoded(body[len(mark or b"") :].decode(codec, "replace"), codec, "bom")
    if b"\x1b" in body and b"\x1b$" in body:  # the first alone is ten times faster
        return _escaped(body)
    wide = _wide(body[:_SAMPLE]) if b"\0" in body[:_SAMPLE] else None
    if wide is not None:
        return Decoded(body.decode(wide, "replace"), wide, "content")
    if body.isascii():
        return _ascii(body, content_type)
    text = _utf8(body)
    if text is not None:
        # Only U+00C0 to U+00FF begin with this byte: no page without has been read twice.
        repaired = _read_twice(text) if b"\xc3" in body and _is_doubled(body, text) else None
        return repaired or Decoded(text, "utf-8", "content", True)
    declared = [
        (name, how) for name, how in declarations(body, content_type) if name not in _UNHEEDED
    ]
    found, charset, is_broken = explained(body, [name for name, _ in declared])
    by = "detector"
    if charset == "utf-8" and not is_broken:
        by = "content"
    how = by if by == "content" else next((how for name, how in declared if name == charset), by)
    return Decoded(found, charset, how)


def declarations(body: bytes, content_type: str | None) -> list[tuple[str, str]]:
    """Return the encodings that a page declares, and where: header, meta."""
    header, meta = label_in_header(content_type or ""), label_in_page(body[:_HEAD])
    declared = ((header, "header"), (meta, "meta"))
    return [(name, how) for label, how in declared if label and (name := encoding(label))]


def canonical(label: str) -> str:
    """Return the name that Decoded uses for a charset's label."""
    return encoding(label) or label.lower()


def _ascii(body: bytes, content_type: str | None) -> Decoded:
    text = body.decode("ascii")
    if "~" in text and "~{" in text and (chinese := _hz(body)) is not None:
        return Decoded(chinese, "hz-gb-2312", "escapes")
    if "&#" in text and (referred := _bytes_as_references(body)) is not None:
        return referred
    for name, how in declarations(body, content_type):
        if name not in _WIDE:
            return Decoded(text, name, how, True)
    return Decoded(text, "ascii", "nothing", True)


def _bytes_as_references(body: bytes) -> Decoded | None:
    """Return the text if its bytes, not its characters, are references: ``&#224;&#184;``.

    Letters of Latin-1 that are written so are no UTF-8, and no detector is sure of them.
    """
    if len(_BYTES.findall(body[: _SAMPLE * 4])) < _FEW:
        return None
    given = _BYTES.sub(lambda found: bytes((int(found[1] or int(found[2], 16)),)), body)
    found = decode(given)
    if found.how == "content" or _is_sure(found.text):
        return Decoded(found.text, f"{found.encoding} (references)", found.how)
    return None


def _escaped(body: bytes) -> Decoded:
    """Decode ISO-2022: Korean (RFC 1557), Chinese (RFC 1922) or Japanese (RFC 1468).

    Browsers read the last one alone, as the others hide markup from what looks for it.
    """
    if b"\x1b$)A" in body:
        return Decoded(_iso_2022_cn(body), "iso-2022-cn", "escapes")
    name = "iso-2022-kr" if b"\x1b$)C" in body else "iso-2022-jp"
    return Decoded(text_of(body, name), name, "escapes")


def _iso_2022_cn(body: bytes) -> str:
    """Decode ISO-2022-CN as far as it is GB 2312; no codec has the planes of CNS 11643."""
    shifted = _SHIFTED.sub(lambda part: bytes(byte | 0x80 for byte in part[1]), body)
    return _DESIGNATION.sub(b"", shifted).decode("gb2312", "replace")


def _hz(body: bytes) -> str | None:
    """Return the text if it is in HZ (RFC 1843), Chinese in seven bits."""
    # Outside Chinese a tilde should be doubled; those of URLs never are.
    doubled = _HZ.sub(lambda match: b"~~" if match[0] == b"~" else match[0], body)
    text = doubled.decode("hz", "replace")
    return text if len(_EAST_ASIAN.findall(text)) >= _FEWEST else None


def _wide(sample: bytes) -> str | None:
    """Return UTF-16 or UTF-32 by where the zero bytes of its ASCII characters are."""
    zeros = np.flatnonzero(np.frombuffer(sample, np.uint8) == 0)
    first, second, third, fourth = np.bincount(zeros % 4, minlength=4).tolist()
    if min(first, second, third, fourth) * 8 > len(sample):  # holes in a file
        return None
    if min(third, fourth) > _ALL * len(sample) / 4:
        return "utf-32-le"
    if min(first, second) > _ALL * len(sample) / 4:
        return "utf-32-be"
    if len(zeros) < _STRAY or (len(zeros) * 100 < len(sample) and _is_utf8(sample)):
        return None
    if second + fourth > 10 * (first + third):
        return "utf-16-le"
    if first + third > 10 * (second + fourth):
        return "utf-16-be"
    return next(
        (codec for codec in ("utf-16-le", "utf-16-be") if _is_one_script(sample, codec)), None
    )


def _is_one_script(sample: bytes, codec: str) -> bool:
    """Tell whether a charset makes of nearly all bytes letters of one script, besides ASCII."""
    text = sample[: len(sample) // 2 * 2].decode(codec, "replace")
    letters = scripts.count(text)
    letters[scripts.HIRAGANA] += letters[list(_WITH_HIRAGANA)].sum()
    letters[list(_WITH_HIRAGANA)] = 0
    ascii_letters, letters[scripts.LATIN] = letters[scripts.LATIN], 0
    total = letters[1:].sum() + ascii_letters
    return bool(letters[1:].max() + ascii_letters > 0.9 * total > 0.5 * len(text))


def _is_utf8(sample: bytes) -> bool:
    text = sample.decode("utf-8", "replace")
    return text.count("\ufffd") * 20 < len(text) - len(_in_ascii(text)) or text.isascii()


def _utf8(body: bytes) -> str | None:
    """Return the text if it is UTF-8; a character that is cut at the end doesn't count."""
    try:
        text = codecs.utf_8_decode(body, "strict", False)[0]
    except UnicodeDecodeError:
        return None
    return None if text.isascii() else text


def _is_doubled(body: bytes, text: str) -> bool:
    """Tell whether so many characters come in such pairs as text that was read twice has.

    Each of its characters became two or three; of other text a few are side by side by chance.
    """
    doubled = len(_DOUBLED.findall(body))
    return doubled > 0 and doubled * 10 >= len(text) - len(_in_ascii(text))


def _read_twice(text: str) -> Decoded | None:
    """Return the text of a page whose bytes were once taken for Windows-1252, if that is so.

    What remains then is UTF-8 read as such, or Thai, Chinese, Japanese, Korean or Cyrillic.
    """
    sample = text[: _SAMPLE * 8]
    beyond = len(sample) - len(_in_ascii(sample))
    runs = sum(map(len, _RUN.findall(sample)))
    if 2 * len(_TWICE.findall(sample)) < 0.4 * beyond and runs < 0.6 * beyond:
        return None
    body = _as_windows_1252(text)
    if body is None:
        return None
    # Five bytes have no sign in Windows-1252; editors drop them, as the second of most hiragana.
    inner = _HALF_HIRAGANA.sub(b"\xe3\x81\\1", body).decode("utf-8", "replace")
    lost, kept = inner.count("\ufffd"), len(_BEYOND.findall(inner))
    if lost * 4 < kept or (lost * 2 < kept and _is_sure(inner.replace("\ufffd", ""))):
        return Decoded(inner, "utf-8 (double)", "content")
    if runs < 0.6 * beyond:
        return None
    inner, charset, _ = explained(body, ())
    return Decoded(inner, f"{charset} (double)", "detector") if _is_sure(inner) else None


def _in_ascii(text: str) -> bytes:
    return text.encode("ascii", "ignore")


def _as_windows_1252(text: str) -> bytes | None:
    """Return the bytes that were read as Windows-1252 or Latin-1; None for what they can't give."""
    body = text.encode("cp1252", _C1)
    lost = body.count(b"?") - text.count("?") - text.count("\ufffd")
    return body if lost <= len(text) // 100 else None


def _is_sure(text: str) -> bool:
    """Tell whether nearly all characters beyond ASCII are Thai, East Asian or Cyrillic."""
    sample = text[: _SAMPLE * 4]
    beyond = len(_BEYOND_ASCII.findall(sample))
    known = max(len(kind.findall(sample)) for kind in (_THAI, _EAST_ASIAN, _CYRILLIC))
    return known >= _FEWEST and known > 0.85 * beyond


def _control(error: UnicodeError) -> tuple[bytes, int]:
    """Encode the controls that Windows-1252 has no signs for as Latin-1 does, the rest as ``?``."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    wrong = error.object[error.start : error.end]
    return bytes(ord(sign) if ord(sign) < 0x100 else 0x3F for sign in wrong), error.end


codecs.register_error(_C1, _control)
