"""Characters of a text as a reader sees them: one form for each letter, and nothing unseen."""

from __future__ import annotations

import re
from functools import partial
from unicodedata import normalize

BREAK = "\0"
"""A line end that a page asks for by ``<br>``: no parser of HTML gives this character."""

# Scripts that put no blanks between words; Hangul isn't among them.
_UNSPACED = (
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\u2e80-\u2fff\u3000-\u30ff\u3190-\u31ff"
    "\u3400-\u9fff\ua9e0-\ua9ff\uaa60-\uaa7f\uf900-\ufaff\ufe30-\ufe4f\uff01-\uff9f"
    "\U00020000-\U000323af"
)
# A blank follows a sign of repetition and the end of a sentence in these scripts.
_BEFORE_BLANK = "\u0e2f\u0e46\u0eaf\u0ec6\u104a\u104b\u17d4-\u17da"
_LINE_END = re.compile(
    f"(?<=[{_UNSPACED}])(?<![{_BEFORE_BLANK}])[ \t\r\f]*+\n[ \t\r\f\n]*+(?=[{_UNSPACED}])"
)

_UNSEEN = re.compile(
    "[\0-\x08\x0b-\x1f\x7f-\x9f\xad\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0001]"
)
_BIDI = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u061b\u061d-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_AM = re.compile("\u0e4d([\u0e48-\u0e4b]?)\u0e32")
_LAO_AM = re.compile("\u0ecd([\u0ec8-\u0ecb]?)\u0eb2")


def _bytes_of(encoding: str) -> dict[int, int]:
    """Return which byte each character is in an encoding of one byte; C1 where it has none."""
    table = {byte: byte for byte in range(0x80, 0x100 if encoding == "latin-1" else 0xA1)}
    for byte in range(0x80, 0x100):
        sign = bytes((byte,)).decode(encoding, "ignore")
        table |= {ord(sign): byte} if sign else {}
    return table


_TABLES = [_bytes_of(name) for name in ("latin-1", "cp1252", "cp874")]
_FEWEST = 4  # letters in a row that are two or more bytes each: by chance no text has them


def _runs(table: dict[int, int]) -> re.Pattern[str]:
    def signs(first: int, last: int) -> str:
        return (
            "[" + "".join(re.escape(chr(s)) for s, b in table.items() if first <= b <= last) + "]"
        )

    more = signs(0x80, 0xBF)
    letter = (
        f"{signs(0xC3, 0xDF)}{more}|{signs(0xE0, 0xEF)}{more}{{2}}|{signs(0xF0, 0xF4)}{more}{{3}}"
    )
    return re.compile(f"(?:(?:{letter})[\x20-\x7e\n]{{0,3}}){{{_FEWEST},}}")


_RUNS = [(_runs(table), table) for table in _TABLES]


# What a letter's first byte is read as; in cp874 it is one of these Thai signs.
_LEADS = re.compile("[\xc3-\xf4\u0e23-\u0e54]")


def repaired(text: str) -> str:
    """Return a text with UTF-8 read right that was read in an encoding of one byte.

    Only where several letters follow each other that are UTF-8 without a fault.
    """
    if not _LEADS.search(text):
        return text
    for runs, table in _RUNS:
        text = runs.sub(partial(_decoded, table), text)
    return text


def _decoded(table: dict[int, int], match: re.Match[str]) -> str:
    run = match[0]
    try:
        return bytes(table.get(ord(sign), ord(sign)) for sign in run).decode()
    except (UnicodeDecodeError, ValueError):
        return run


def exact(text: str) -> str:
    """Return a text in NFC (UAX 15), without controls, soft hyphens and stray bidi marks.

    Marks of direction stay where letters are written from right to left. A nikhahit and the sara
    aa after it are sara am, in Thai and in Lao, as they are typed on every keyboard today.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _UNSEEN.sub("", text)
    if not _RIGHT_TO_LEFT.search(text):
        text = _BIDI.sub("", text)
    text = _LAO_AM.sub("\\1\u0eb3", _AM.sub("\\1\u0e33", text))
    return normalize("NFC", text)


def lines(written: str) -> str:
    """Return text of a page's source in the lines that it is shown in.

    A source's line end is a blank, but between letters of scripts that have none between words
    (CSS Text 3, §4.1.3).
    """
    if "\n" in written:
        written = _LINE_END.sub("", written)
    return "\n".join(filter(None, (" ".join(one.split()) for one in written.split(BREAK))))
