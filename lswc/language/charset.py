"""Bytes to text: the charset of a page, by what it says and by what it holds."""

from __future__ import annotations

import codecs
import encodings
import re
from encodings.aliases import aliases
from functools import cache
from itertools import pairwise
from pkgutil import iter_modules
from typing import TYPE_CHECKING, NamedTuple

import chardet
import numpy as np
from w3lib.encoding import (
    DEFAULT_ENCODING_TRANSLATION,
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    resolve_encoding,
)

from lswc.language import scripts

if TYPE_CHECKING:
    from collections.abc import Mapping

_SAMPLE = 8_192  # bytes that the detector sees, from the first that isn't ASCII on
_HZ = re.compile(rb"~\{.*?(?:~\}|\Z)|~~|~", re.DOTALL)
_SHIFTED = re.compile(rb"\x0e([\x21-\x7e]*)\x0f?")
_DESIGNATION = re.compile(rb"\x1b\$[)*+][A-Z]")
_NON_ASCII = re.compile(rb"[\x80-\xff]")
_UTF_16_32 = frozenset({"utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"})
_UNHEEDED = _UTF_16_32 | {"cp1252", "iso8859-1", "ascii"}
_LABEL = re.compile(r"((?:charset|encoding)\s*+=\s*+[\"']?\s*+)([\w-]+)", re.IGNORECASE)
# Codecs for names and programs, not for pages; decoding punycode takes the square of its length.
_FOREIGN = {"idna", "punycode", "raw_unicode_escape", "undefined", "unicode_escape"}
_LABELS = {
    *(module.name for module in iter_modules(encodings.__path__)),
    *aliases,
    *DEFAULT_ENCODING_TRANSLATION,
} - _FOREIGN
_STRAY = 4  # zero bytes that a page in another charset may hold
_ALL = 0.9  # of all places, in UTF-32
_FEW = 50  # letters; fewer needn't hold what is expected
_EAST_ASIAN = re.compile("[\u3041-\u30fa\u3400-\u9fff\uac00-\ud7a3]")
_KANA = re.compile("[\u3041-\u30fa]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_CHINESE = re.compile("[的是我在有這这會会國国個个們们為为說说時时]")
_EXPECTED = {
    **dict.fromkeys(("euc_jp", "cp932"), _KANA),
    **dict.fromkeys(("cp949", "johab"), _HANGUL),
    **dict.fromkeys(("gb18030", "big5hkscs"), _CHINESE),
}
"""What makes up at least 2 % of the text of each East Asian charset."""

# First and second bytes of the characters that a charset puts first, since they are common.
_FIRST = {
    "gb18030": ((0xA4, 0xA5, *range(0xB0, 0xD8)), range(0xA1, 0xFF)),
    "big5hkscs": (range(0xA4, 0xC7), range(0x40, 0xFF)),
    "euc_jp": ((0xA4, 0xA5, *range(0xB0, 0xD0)), range(0xA1, 0xFF)),
    "cp932": ((0x82, 0x83, *range(0x88, 0x98)), range(0x40, 0xFD)),
    "cp949": (range(0xB0, 0xC9), range(0xA1, 0xFF)),
}
# Their least share of the letters of a text. GB 18030 has traditional characters last.
_LEAST = {"gb18030": 0.6, "big5hkscs": 0.6, "euc_jp": 0.8, "cp932": 0.8, "cp949": 0.8}
_LETTERS_BEYOND = re.compile("[^\x00-\xbf\u2010-\u2bff\u3000-\u3040\u30fb\u30fc\uff00-\uffef]")
_SOME = 6  # letters
_LOOKED_AT = 1_000  # characters, from the first such letter on
_HALF_WIDTH = re.compile("[\uff66-\uff9f]")
_IDEOGRAPH_IN_A_WORD = re.compile("(?<=[A-Za-z])[\u3400-\u9fff]{1,2}(?=[A-Za-z])")
_COMMON_HANGUL = re.compile("[이다는에의가을하고지로은도를한]")  # a quarter of Korean text
_USUAL = {_KANA: 0.4, _HANGUL: 0.95, _CHINESE: 0.06}
_SHORT = 400  # bytes; of more, the detector is sure
_FEWEST = 10
_BEYOND_ASCII = re.compile("[^\x00-\x7f\u3000-\u3040\uff00-\uffef]")

# Of two letters side by side in a right charset few are a small one before a capital, or none.
_PAIR = re.compile("[^\x00-\x7f]{2,}")
_MOST_ODD = 0.15
_LETTERS = 2_000
_PUNCTUATION = frozenset("«»„“”‘’–—…№°§©®™·•\u00a0،؛؟")
# Charsets of letters: of any bytes they make some text.
_BY_LETTERS = re.compile(r"cp125[0-7]|cp8(?:5[0-8]|6[0-9])|iso8859-?\d+|koi8.*|mac.*")
# Thai signs above and below follow a consonant, or each other; a vowel before one precedes it.
_ABOVE = "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
_IN_PLACE = re.compile(f"(?<=[\u0e01-\u0e2e{_ABOVE}])[{_ABOVE}]|[\u0e40-\u0e44](?=[\u0e01-\u0e2e])")
_WITH_A_PLACE = re.compile(f"[{_ABOVE}\u0e40-\u0e44]")
_IN_A_WORD = re.compile(r"(?<=[A-Za-z])[\u0e01-\u0e4e]{1,2}(?=[A-Za-z])")
_OFTEN = re.compile("[\u0e40-\u0e4e]")  # a sixth of Thai letters
_MANY = 40  # letters, one of which is sure to be such a one
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

_WHATWG_NAMES = {
    "cp874": "windows-874",
    "tis-620": "windows-874",
    "iso8859-11": "windows-874",
    "cp932": "shift_jis",
    "euc_jp": "euc-jp",
    "iso2022_jp": "iso-2022-jp",
    "cp949": "euc-kr",
    "big5hkscs": "big5",
    "gbk": "gb18030",
    "gb2312": "gb18030",
    "iso8859-1": "windows-1252",
    **{f"cp125{number}": f"windows-125{number}" for number in range(9)},
}


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

    In this order: a byte order mark; the escapes of ISO-2022-JP; valid UTF-8; the HTTP
    header's charset; the page's own (META, XML declaration); a detector. A declaration that
    the bytes contradict is passed over (UTF-8, if a third of what is beyond ASCII is wrong), and
    one of Latin-1 never heeded, as Tamura 2007 §2.2 has it: it is what editors write unasked.
    """
    codec, mark = read_bom(body)
    if codec is not None:
        return _decoded(body[len(mark or b"") :], codec, "bom")
    if b"\x1b" in body and b"\x1b$" in body:  # the first alone is ten times faster
        return _escaped(body)
    wide = _wide(body[:_SAMPLE]) if b"\0" in body[:_SAMPLE] else None
    if wide is not None:
        return _decoded(body, wide, "content")
    if body.isascii():
        return _ascii(body, content_type)
    text, is_valid = _utf8(body)
    if text is not None:
        # Only U+00C0 to U+00FF begin with this byte: no page without has been read twice.
        repaired = _read_twice(text) if b"\xc3" in body and _is_doubled(body, text) else None
        return repaired or Decoded(text, "utf-8", "content", is_valid)
    for codec, how in declarations(body, content_type):
        if codec not in _UNHEEDED and (plausible := _plausible(body, codec)) is not None:
            return Decoded(plausible, _name(codec), how)
    return _detected(body)


def declarations(body: bytes, content_type: str | None) -> list[tuple[str, str]]:
    """Return the Python codecs that a page declares, and where: header, meta."""
    given = content_type if content_type and content_type.isascii() else ""
    header = http_content_type_encoding(_known_labels(given))
    meta = html_body_declared_encoding(_known_labels(body[:4_096].decode("latin-1")))
    return [(codec, how) for codec, how in ((header, "header"), (meta, "meta")) if codec]


def is_known(label: str) -> bool:
    """Tell whether a label may be looked up: Python keeps each that it doesn't know for good."""
    return encodings.normalize_encoding(label).lower() in _LABELS


def _known_labels(text: str) -> str:
    return _LABEL.sub(lambda match: match[0] if is_known(match[2]) else match[1], text)


def canonical(label: str) -> str:
    """Return the name that Decoded uses for a charset's label."""
    return _name(resolve_encoding(label) or label.lower())


def _ascii(body: bytes, content_type: str | None) -> Decoded:
    text = body.decode("ascii")
    if "~" in text and "~{" in text and (chinese := _hz(body)) is not None:
        return Decoded(chinese, "hz-gb-2312", "escapes")
    if "&#" in text and (referred := _bytes_as_references(body)) is not None:
        return referred
    for codec, how in declarations(body, content_type):
        if codec not in _UTF_16_32:
            return Decoded(text, _name(codec), how, True)
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
    """Decode ISO-2022: Korean (RFC 1557), Chinese (RFC 1922) or Japanese (RFC 1468)."""
    if b"\x1b$)A" in body:
        return Decoded(_iso_2022_cn(body), "iso-2022-cn", "escapes")
    return _decoded(body, "iso2022_kr" if b"\x1b$)C" in body else "iso2022_jp", "escapes")


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
    return sample.isascii() or _utf8(sample)[0] is not None


def _utf8(body: bytes) -> tuple[str | None, bool]:
    """Return the text if it is UTF-8, and whether without a broken character.

    A few may be broken; one cut at the end isn't counted.
    """
    try:
        text = codecs.utf_8_decode(body, "strict", False)[0]
    except UnicodeDecodeError:
        text = body.decode("utf-8", "replace")
        beyond_ascii = int(np.count_nonzero(np.frombuffer(body, np.uint8) > 127))
        return (text if text.count("\ufffd") * 20 < beyond_ascii else None), False
    return (None if text.isascii() else text), True


def _plausible(body: bytes, codec: str) -> str | None:
    """Return the text if the charset can be the right one.

    Bytes of one East Asian charset nearly always are valid in another; so its text must have
    what all text of its language has.
    """
    try:
        text = body.decode(codec, "replace")
    except (LookupError, UnicodeError):
        return None
    wrong = text.count("\ufffd")
    if codec == "utf-8" and wrong * 3 < len(_BEYOND.findall(text)):
        return text  # of text in another charset hardly a third is right by chance
    if wrong * 200 > len(text) or not _reads(text, codec):
        return None
    expected = _EXPECTED.get(codec)
    if codec in ("cp874", "big5hkscs") and (_is_japanese(body) or _is_korean(body)):
        return None
    if expected is None:
        return text
    sample = text[: _SAMPLE * 4]
    if not _is_usual(sample, codec) or _is_thai(body):
        return None
    if codec == "cp932" and _HALF_WIDTH.search(sample) and _is_chinese(body, sample):
        return None
    letters = len(_EAST_ASIAN.findall(sample))
    if letters < _FEW:
        return None if expected.search(sample) is None and _is_korean(body) else text
    return text if len(expected.findall(sample)) * 50 >= letters else None


def _is_usual(text: str, codec: str) -> bool:
    """Tell whether a text in an East Asian charset has the characters that are common in such text.

    Bytes of another make rare ones, or stand within Latin words.
    """
    first = _LETTERS_BEYOND.search(text)
    text = text[first.start() :][:_LOOKED_AT] if first else ""
    letters = len(_LETTERS_BEYOND.findall(text))
    if 2 * len(_IDEOGRAPH_IN_A_WORD.findall(text)) > letters:
        return False
    if codec not in _LEAST or letters < _SOME:
        return True
    return len(_common(codec).findall(text)) >= _LEAST[codec] * letters


@cache
def _common(codec: str) -> re.Pattern[str]:
    """Return the characters that are common in a charset; in GB 18030 also traditional ones."""
    found = set[str]()
    for of in (codec, "big5hkscs") if codec == "gb18030" else (codec,):
        firsts, seconds = _FIRST[of]
        pairs = (bytes((first, second)) for first in firsts for second in seconds)
        found.update(pair.decode(of, "ignore") for pair in pairs)
    characters = "".join(text for text in found if len(text) == 1 and not text.isascii())
    return re.compile(f"[{characters}]")


def _is_japanese(body: bytes) -> bool:
    """Tell whether bytes are Japanese in EUC-JP: a third of it is kana."""
    text = _tail(body[: _SAMPLE * 4], "euc_jp")
    letters, kana = len(_LETTERS_BEYOND.findall(text)), len(_KANA.findall(text))
    return kana >= _SOME and kana * 3 > letters


def _is_chinese(body: bytes, text: str) -> bool:
    """Tell whether what would be katakana of half width in a text is Chinese."""
    half = len(_HALF_WIDTH.findall(text))
    charsets = {codec: _EXPECTED[codec] for codec in ("gb18030", "big5hkscs")}
    return half > len(_EAST_ASIAN.findall(text)) and _likeliest(body, charsets) is not None


def _is_thai(body: bytes) -> bool:
    """Tell whether bytes are Thai: each sign beside a consonant, as in no other charset's text."""
    text = _tail(body[: _SAMPLE * 4], "cp874")
    signs = len(_WITH_A_PLACE.findall(text))
    return (
        signs >= _SOME and signs == len(_IN_PLACE.findall(text)) and _OFTEN.search(text) is not None
    )


def _is_korean(body: bytes) -> bool:
    """Tell whether a short text is Hangul in EUC-KR, with as many common syllables as Korean has.

    In another East Asian charset it is ideographs, as a few right words may be; or it is Thai.
    """
    text = _tail(body[: _SAMPLE * 4], "cp949")
    letters, common = len(_EAST_ASIAN.findall(text)), len(_COMMON_HANGUL.findall(text))
    return common >= _FEWEST // 4 and common * 8 > letters and len(_HANGUL.findall(text)) == letters


def _reads(text: str, codec: str) -> bool:
    """Tell whether a text beyond ASCII reads like words, if its charset is one of letters.

    Of any bytes such a charset makes some text: letters among signs, capitals after small ones.
    """
    if codec == "cp874":
        return _reads_thai(text)
    if _BY_LETTERS.fullmatch(codec) is None:
        return True
    pairs = odd = 0
    for run in _PAIR.findall(text[: _SAMPLE * 4]):
        for first, second in pairwise(run):
            if first in _PUNCTUATION or second in _PUNCTUATION:
                continue
            pairs += 1
            is_word = first.isalpha() and second.isalpha()
            odd += not is_word or (first.islower() and second.isupper())
        if pairs > _LETTERS:
            break
    return odd <= _MOST_ODD * pairs or pairs < _FEWEST


def _reads_thai(text: str) -> bool:
    """Tell whether nearly all signs that Thai writes beside a consonant are beside one.

    In Vietnamese of TCVN few are, and its letters stand within Latin words. Lao of IBM1133 has
    none of the commonest signs.
    """
    sample = text[: _SAMPLE * 4]
    within = len(_IN_A_WORD.findall(sample))
    signs = len(_WITH_A_PLACE.findall(sample))
    odd = signs - len(_IN_PLACE.findall(sample)) + within
    if odd > max(1.0, _MOST_ODD * (signs + within)):
        return False
    return _OFTEN.search(sample) is not None or len(_THAI.findall(sample)) < _MANY


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
    found = _detected(body)
    if not _is_sure(found.text):
        return None
    return Decoded(found.text, f"{found.encoding} (double)", "detector")


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
    told = max(len(kind.findall(sample)) for kind in (_THAI, _EAST_ASIAN, _CYRILLIC))
    return told >= _FEWEST and told > 0.85 * beyond


def _control(error: UnicodeError) -> tuple[bytes, int]:
    """Encode the controls that Windows-1252 has no signs for as Latin-1 does, the rest as ``?``."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    wrong = error.object[error.start : error.end]
    return bytes(ord(sign) if ord(sign) < 0x100 else 0x3F for sign in wrong), error.end


codecs.register_error(_C1, _control)


def _detected(body: bytes) -> Decoded:
    first = _NON_ASCII.search(body)
    start = first.start() if first else 0
    sample = body[start : start + _SAMPLE]
    guess = chardet.detect(sample)["encoding"] or "windows-1252"
    codec = resolve_encoding(guess) or guess.lower()
    if codec in _UTF_16_32 or b"\0" in sample:
        codec = _likeliest(body[:_SAMPLE], {"utf-16-le": None, "utf-16-be": None}) or codec
    elif len(sample) < _SHORT and codec != "cp874" and codec not in _EXPECTED:
        codec = _likeliest(body, _EXPECTED) or codec
    if codec == "cp874" and not _reads_thai(body.decode(codec, "replace")):
        codec = "cp1252"
    return _decoded(body, codec, "detector")


def _likeliest(sample: bytes, charsets: Mapping[str, re.Pattern[str] | None]) -> str | None:
    """Return the charset of a text in East Asian characters, its first perhaps cut.

    Each charset has its pattern, or any of them may hold. None if no charset gives such text.
    """
    scores = {}
    for codec, pattern in charsets.items():
        text = max((_tail(sample[cut:], codec) for cut in (0, 1)), key=len)
        letters, beyond = len(_EAST_ASIAN.findall(text)), len(_BEYOND_ASCII.findall(text))
        if letters >= _FEWEST and letters > 0.6 * beyond:
            patterns = (pattern,) if pattern else tuple(_USUAL)
            scores[codec] = max(len(p.findall(text)) / letters / _USUAL[p] for p in patterns)
    best = max(scores, key=scores.__getitem__, default=None)
    return best if best is not None and scores[best] > 0.5 else None


def _tail(body: bytes, codec: str) -> str:
    """Decode all but the last bytes, where a character may be cut; empty if that fails."""
    for end in (len(body), len(body) - 1):
        try:
            return body[:end].decode(codec)
        except UnicodeError:
            continue
    return ""


def _decoded(body: bytes, codec: str, how: str) -> Decoded:
    try:
        return Decoded(body.decode(codec, "replace"), _name(codec), how)
    except (LookupError, UnicodeError):
        return Decoded(body.decode("cp1252", "replace"), "windows-1252", how)


def _name(codec: str) -> str:
    codec = _WHATWG_NAMES.get(codec, codec)
    try:
        name = codecs.lookup(codec).name
    except LookupError:
        return codec
    return _WHATWG_NAMES.get(name, codec).replace("_", "-").replace("shift-jis", "shift_jis")
