"""Stretches: bytes that are no whole UTF-8, read piece by piece in what explains them best.

Pages are put together of parts, and some come in another charset: a footer in UTF-8 on a page in
GBK, an old include on one in UTF-8. A declared charset is kept unless another one explains the
bytes far better, whatever a few broken ones may say.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import chardet

from lswc.language.encodings import encoding, text_of
from lswc.language.likelihood import ASCII, BROKEN, LANGUAGES, languages_of, nats, of_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_BETWEEN = rb"[\x00-\x7f]{0,200}+"
_ANY = rb"(?:[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3})"
_LATIN = rb"(?:[\xc3-\xc6][\x80-\xbf]|\xe1[\xba\xbb][\x80-\xbf])"
# Three letters of three bytes; four of two in one script: Cyrillic, Greek, Hebrew, Arabic. All
# begin alike, so that a look at two bytes is enough nearly everywhere.
_BEGIN = rb"[\xc3-\xef][\x80-\xbf]"
_OF_THREE = rb"(?<=[\xe0-\xef].)[\x80-\xbf](?:%b[\xe0-\xef][\x80-\xbf]{2}){2,}+" % _BETWEEN
_OF_TWO = b"|".join(
    rb"(?<=%b.)(?:%b%b[\x80-\xbf]){3,}+" % (first, _BETWEEN, first)
    for first in (b"[\xd0-\xd3]", b"[\xce\xcf]", b"[\xd6\xd7]", b"[\xd8-\xdb]")
)
_MORE = rb"(?:%b%b)*+" % (_BETWEEN, _ANY)
_UTF_8 = re.compile(rb"%b(?:%b|%b)%b" % (_BEGIN, _OF_THREE, _OF_TWO, _MORE), re.DOTALL)
# Latin letters begin with what is common in charsets of two bytes.
_IN_LATIN = rb"(?:(?<=[\xc3-\xc6].)|(?<=\xe1[\xba\xbb])[\x80-\xbf])(?:%b%b){2}" % (
    _BETWEEN,
    _LATIN,
)
_UTF_8_OR_LATIN = re.compile(
    rb"%b(?:%b|%b|%b)%b" % (_BEGIN, _OF_THREE, _OF_TWO, _IN_LATIN, _MORE), re.DOTALL
)
_WORD = re.compile(rb"[\x80-\xff][^\x00-\x20<>&]*+")
_WIDE = re.compile(rb"(?:[\xe0-\xef][\x80-\xbf]{2}){8}")
_TWO_THREE = re.compile(rb"[\xc2-\xdf][\x80-\xbf][\xe0-\xef]")
_AFTER = re.compile(
    rb"(?:[\x00-\x7f]|[\xe0-\xef][\x80-\xbf]{2})[\xc2-\xdf][\x80-\xbf][\x80-\xff]\Z"
)
_LONGEST_END = 5
_SAMPLE = 4_000  # bytes of words that are compared
_MOST_JUDGED = 100  # stretches whose likelihood is compared; of others their length tells
_ASCII, _BEYOND_ASCII = bytes(range(0x80)), bytes(range(0x80, 0x100))
_ASCII_END = 0x7F

_PROOF, _PROOF_PER_BYTE = 20.0, 0.3
"""Nats by which another charset has to explain the bytes better than the declared one."""

_LEAD = 6.0  # nats for a stretch in another charset than its page
# Nats a character that a charset's own text has; other text in it has far less.
_TYPICAL = {"shift_jis": -8.3, "euc-jp": -8.3, "gb18030": -8.6, "big5": -8.6, "euc-kr": -7.5}
_TYPICAL_OF_LETTERS = -3.7
_PROVEN = 1.2  # times as unlikely: only a charset's own text is proof against another
_UNLIKELY = 1.4  # times as unlikely: such text is in no charset that is known
_SHORT = 20  # bytes
_SOME = 8  # bytes beyond ASCII; fewer may be broken ones
# Of what only has the bytes of Thai, as Lao in IBM1133, no other charset explains them either.
_THAI = "windows-874"
_RARE = ("iso-", "ibm", "x-", "mac", "viscii", "tcvn")  # if nobody names them
_COMMON = [name for name in LANGUAGES if not name.startswith(_RARE)]
_GUESSED = [charset for charset in LANGUAGES if charset not in ("viscii", "tcvn")]
_WESTERN = "windows-1252"
_OF_WINDOWS = ("windows-1250", _WESTERN, "windows-1254", "windows-1257", "windows-1258")
_IN_LATIN_LETTERS = (
    *_OF_WINDOWS,
    *(f"iso-8859-{part}" for part in (2, 3, 4, 10, 13, 14, 15, 16)),
    "macintosh",
)
_ALONE = re.compile(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])")
_MOSTLY_ALONE = 0.9
_FEW = 0.1  # of the bytes beyond ASCII
_MARGIN = 2.0  # nats by which a rarer charset has to be ahead
_EXAMINED = 8_192  # bytes that the detector sees


class Explained(NamedTuple):
    """A text, the charset that most of it is in, and whether many of its characters are broken."""

    text: str
    charset: str
    is_broken: bool


class _Stretch(NamedTuple):
    body: bytes
    is_utf8: bool


def explained(body: bytes, declared: Sequence[str]) -> Explained:
    """Return the text of bytes of which some aren't ASCII, by the charsets that explain them best.

    ``declared`` are the charsets that the page declares, the first one first.
    """
    others = [name for name in declared if name != "utf-8"]
    plain = body.decode("utf-8", "replace")
    broken, beyond = plain.count("\ufffd"), _beyond(body)
    of_characters = len(plain) - len(plain.encode("ascii", "ignore"))
    is_declared = "utf-8" in declared and broken * 3 < of_characters
    if broken * 20 < beyond or is_declared:
        return Explained(_in_utf8(body, others), "utf-8", broken * 20 >= beyond)
    likely = list(_split(body, _UTF_8))
    rest = [part.body for part in likely if not part.is_utf8]
    legacy = _legacy(_sample(rest), others, b"".join(rest))
    if legacy not in _TYPICAL:
        likely = list(_split(body, _UTF_8_OR_LATIN))
    stretches = list(_judged(likely, legacy))
    if sum(_beyond(part.body) for part in stretches if part.is_utf8) * 2 > beyond:
        return Explained(_in_utf8(body, others), "utf-8", True)
    text = "".join(text_of(part.body, "utf-8" if part.is_utf8 else legacy) for part in stretches)
    return Explained(text, legacy, False)


def _split(body: bytes, utf8: re.Pattern[bytes]) -> Iterator[_Stretch]:
    """Yield what may be UTF-8, as its bytes hardly come in this order by chance, and the rest."""
    start = 0
    for run in utf8.finditer(body):
        first, end = run.span()
        # At either end what is beside it may look like characters of two bytes.
        while first > start and body[first - 1] > _ASCII_END and _TWO_THREE.match(body, first):
            first += 2
        while end - first > _LONGEST_END and _AFTER.search(body, end - _LONGEST_END, end + 1):
            end -= 2
        if first > start:
            yield _Stretch(body[start:first], False)
        yield _Stretch(body[first:end], True)
        start = end
    if start < len(body):
        yield _Stretch(body[start:], False)


def _judged(likely: list[_Stretch], legacy: str) -> Iterator[_Stretch]:
    """Yield stretches, in the page's other charset those that are rather that, one for many."""
    judged, kept = 0, bytearray()
    for stretch in likely:
        is_utf8 = stretch.is_utf8
        if is_utf8 and _WIDE.search(stretch.body) is None:
            judged += 1
            is_utf8 = judged > _MOST_JUDGED or _is_rather_utf8(stretch.body, legacy)
        if not is_utf8:
            kept += stretch.body
            continue
        if kept:
            yield _Stretch(bytes(kept), False)
            kept.clear()
        yield stretch
    if kept:
        yield _Stretch(bytes(kept), False)


def _is_rather_utf8(body: bytes, legacy: str) -> bool:
    sample = _sample([body])
    text = text_of(sample, "utf-8")
    return of_text(text, languages_of(text)) > nats(sample, legacy) + _LEAD


def _in_utf8(body: bytes, declared: Sequence[str]) -> str:
    """Return the text of a page in UTF-8, word by word where it isn't that."""
    parts = list(_split(body, _UTF_8))
    others = (part.body for part in parts if not part.is_utf8)
    wrong = [word for other in others for word in _WORD.findall(other) if not _is_utf8(word)]
    sample = _sample(wrong)
    legacy = _legacy(sample, declared, b" ".join(wrong))
    is_legacy = _beyond(sample) >= _SOME and _is_typical(sample, legacy, nats(sample, legacy), 1.2)
    read = {word: _word(word, legacy) for word in wrong[:_MOST_JUDGED] if is_legacy}
    pieces = []
    for part in parts:
        end = 0
        for word in () if part.is_utf8 else _WORD.finditer(part.body):
            if word[0] in read:
                pieces += [part.body[end : word.start()].decode("utf-8", "replace"), read[word[0]]]
                end = word.end()
        pieces.append(part.body[end:].decode("utf-8", "replace"))
    return "".join(pieces)


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def _word(body: bytes, legacy: str) -> str:
    """Return the text of a word on a page in UTF-8 that isn't all that."""
    text = body.decode("utf-8", "replace")
    valid = text.replace("\ufffd", "")
    broken = _beyond(body) - _beyond(valid.encode())
    likely = of_text(valid, languages_of(valid)) + BROKEN * broken
    return text_of(body, legacy) if nats(body, legacy) > likely else text


def _legacy(sample: bytes, declared: Sequence[str], body: bytes) -> str:
    """Return the charset that explains a sample of a body best, which isn't UTF-8."""
    first = next(iter(declared), None)
    if first is not None and _is_typical(sample, first, nats(sample, first)):
        return first
    if first is None and _is_western(sample):
        return _WESTERN
    detected = _detected(body)
    scores = {charset: nats(sample, charset) for charset in {*_COMMON, *declared, detected}}
    proof = _PROOF + _PROOF_PER_BYTE * len(sample)
    for place, charset in enumerate(reversed(declared or [detected]), 1):
        scores[charset] += proof * place / max(1, len(declared))
    best = max(sorted(scores), key=scores.__getitem__)
    if best in declared and best != _THAI:
        return best
    doubt = _PROVEN if first else _UNLIKELY
    if len(sample) < _SHORT or _is_typical(sample, best, nats(sample, best), doubt):
        return best
    return first if first and first != _THAI else _WESTERN


def _is_western(sample: bytes) -> bool:
    """Tell whether words are Latin ones that no other charset makes more of than Windows-1252.

    In Latin letters most that are beyond ASCII stand alone between others. Where each means the
    same in all charsets, as those of German do, there is nothing to compare.
    """
    beyond = sample.translate(None, _ASCII)
    if len(_ALONE.findall(sample)) < _MOSTLY_ALONE * len(beyond):
        return False
    if len(beyond.translate(None, _unambiguous())) <= _FEW * len(beyond):
        return True
    most = nats(sample, _WESTERN) + _MARGIN
    return all(nats(sample, charset) <= most for charset in _IN_LATIN_LETTERS)


@cache
def _unambiguous() -> bytes:
    """Return the bytes that are the same letter, or sign of Windows, in all Latin charsets."""

    def is_one(byte: bytes) -> bool:
        letter = text_of(byte, _WESTERN)
        charsets = _IN_LATIN_LETTERS[:-1] if letter.isalpha() else _OF_WINDOWS
        return all(text_of(byte, charset) == letter for charset in charsets)

    return bytes(byte[0] for byte in (_BEYOND_ASCII[n : n + 1] for n in range(128)) if is_one(byte))


def _detected(body: bytes) -> str:
    """Return what the detector says, which knows more languages than there are tables of."""
    first = _WORD.search(body)
    if first is None:
        return _WESTERN
    examined = body[first.start() : first.start() + _EXAMINED]
    found = chardet.detect(examined, include_encodings=_GUESSED)["encoding"]
    charset = encoding(found or "")
    return charset if charset in _GUESSED else _WESTERN


def _is_typical(sample: bytes, charset: str, found: float, doubt: float = 1.0) -> bool:
    """Tell whether a likelihood is that of the charset's own text, or so many times as unlikely.

    Letters of ASCII among them say nothing.
    """
    text = text_of(sample, charset)
    beyond = len(text) - len(text.encode("ascii", "ignore"))
    least = _TYPICAL.get(charset, _TYPICAL_OF_LETTERS) * doubt
    return found > least * beyond + ASCII * (len(text) - beyond)


def _sample(bodies: Iterable[bytes]) -> bytes:
    """Return the first words, each from the sign before its first letter beyond ASCII on.

    Letters are known by what they follow.
    """
    words, size = [], 0
    for body in bodies:
        for word in _WORD.finditer(body):
            words.append(body[max(0, word.start() - 1) : word.end()])
            size += len(words[-1])
            if size > _SAMPLE:
                return b" ".join(words)[:_SAMPLE]
    return b" ".join(words)


def _beyond(body: bytes) -> int:
    """Return how many bytes are beyond ASCII."""
    return len(body) - len(body.translate(None, _BEYOND_ASCII))
