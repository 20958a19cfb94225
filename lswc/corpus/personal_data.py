"""Personal data in texts: addresses of mail, telephone numbers, numbers of identity cards.

Numbers are checked: those of telephones by libphonenumber's plans of the language's countries,
those of identity cards by their dates and check digits. One check digit is right by chance once in
ten, so a number that has no more must be written as on the card, or stand behind its name.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from phonenumbers import SUPPORTED_REGIONS, PhoneNumberMatcher
from stdnum import ean
from stdnum.cn import ric
from stdnum.exceptions import ValidationError
from stdnum.jp import in_ as my_number
from stdnum.kr import rrn
from stdnum.th import pin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from lswc.language.registry import Language

PersonalKind: TypeAlias = Literal["email", "phone", "identity"]


class Personal(NamedTuple):
    """Where in a text personal data is, in characters, and of what kind."""

    start: int
    end: int
    kind: PersonalKind


# Letters of other scripts stand beside numbers without a blank.
_AROUND = r"(?<![0-9A-Za-z./-]){}(?![0-9A-Za-z/-]|\.\d)"
_BEHIND = r"(?:{})[^\d\n]{{0,30}}?(?P<number>{})(?!\d)"


class _Card(NamedTuple):
    """How numbers of identity cards are written in a language.

    ``is_right`` checks the digits. A match in ``written`` is sure as it is; one in ``bare`` behind
    one of the ``names``.
    """

    names: str
    written: str
    bare: str
    is_right: Callable[[str], bool]

    def patterns(self) -> list[re.Pattern[str]]:
        """Return what finds such numbers, as the group ``number``."""
        alone = _AROUND.format(f"(?P<number>{self.written})")
        behind = _BEHIND.format(self.names, self.bare)
        return [re.compile(one, re.IGNORECASE) for one in (alone, behind)]


def _is_korean(number: str) -> bool:
    """Tell whether a number has a birthday: since October 2020 its end is random."""
    try:
        rrn.get_birth_date(rrn.compact(number), allow_future=False)
    except ValidationError:
        return False
    return True


def _is_thai(number: str) -> bool:
    return pin.is_valid(number) and ("-" in number or " " in number or not ean.is_valid(number))


def _is_any(number: str) -> bool:
    return True


_CARDS = {
    "th": _Card(
        r"ประชาชน|ประจำตัว|ปชช",
        r"[1-8](?P<by>[- ])\d{4}(?P=by)\d{5}(?P=by)\d{2}(?P=by)\d",
        r"[1-8]\d{12}",
        _is_thai,
    ),
    "ja": _Card(
        r"マイナンバー|個人番号",
        r"(?!)",
        r"\d{4}(?P<by>[- ]?)\d{4}(?P=by)\d{4}",
        my_number.is_valid,
    ),
    "ko": _Card(r"주민|등록번호", r"\d{6}-[1-8]\d{6}", r"\d{6}[1-8]\d{6}", _is_korean),
    "zh": _Card(r"", r"[1-9]\d{16}[\dXx]", r"(?!)", ric.is_valid),
    "vi": _Card(
        r"CCCD|CMND|CMT|căn cước|chứng minh|định danh",
        r"(?!)",
        r"0\d{2}[0-3]\d{8}|\d{9}",
        _is_any,
    ),
    "lo": _Card(r"ບັດປະຈໍາຕົວ|ບັດປະຈຳຕົວ", r"(?!)", r"\d[\d -]{6,14}\d", _is_any),
    "km": _Card(r"អត្តសញ្ញាណ", r"(?!)", r"\d{9}(?:\(\d\d\))?", _is_any),
    "my": _Card(
        r"", r"(?:1[0-4]|[1-9])/[က-အa-zA-Z]{3,9}\s?\([က-အ\u102b-\u103ea-zA-Z]{1,8}\)\s?\d{6}",
        r"(?!)", _is_any,
    ),
}  # fmt: skip
"""By languages. Lao, Khmer and Vietnamese numbers have no check digit."""

_MAIL = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w@])", re.ASCII
)
_MAY_BE_NUMBER = re.compile(r"(?:\d[\s().-]{0,3}){7}")
_MAY_HOLD = re.compile(r"[@\d]")
_FEWEST = 6  # digits
_LONGEST = 20_000  # characters of a paragraph that are looked at


class PersonalData:
    """Finds personal data in texts of a language; telephones of its countries, by their domains."""

    def __init__(self, target: Language) -> None:
        regions = [one.upper() for one in target.tlds if one.upper() in SUPPORTED_REGIONS]
        self._regions: list[str | None] = [*regions] or [None]
        card = _CARDS.get(target.code)
        self._is_right = card.is_right if card else _is_any
        self._cards = card.patterns() if card else []

    def find(self, text: str) -> tuple[Personal, ...]:
        """Return what there is in a text, in its order; none lies in another."""
        text = text[:_LONGEST]
        if not _MAY_HOLD.search(text):
            return ()
        found: list[Personal] = []
        for one in self._all(text):
            if all(one.end <= other.start or one.start >= other.end for other in found):
                found.append(one)
        return tuple(sorted(found))

    def _all(self, text: str) -> Iterator[Personal]:
        for match in _MAIL.finditer(text):
            yield Personal(*match.span(), "email")
        digits = _western(text)
        if sum(map(str.isdigit, digits)) < _FEWEST:
            return
        for pattern in self._cards:
            for match in pattern.finditer(digits):
                if self._is_right(match["number"]):
                    yield Personal(*match.span("number"), "identity")
        if _MAY_BE_NUMBER.search(digits):
            for region in self._regions:
                for call in PhoneNumberMatcher(digits, region):
                    yield Personal(call.start, call.end, "phone")


def _western(text: str) -> str:
    """Return a text, as long as it was, with digits of all scripts in ASCII."""
    if text.isascii():
        return text
    return "".join(
        str(unicodedata.decimal(sign)) if sign.isdecimal() and sign > "\x7f" else sign
        for sign in text
    )


def masked(text: str, found: Iterable[Personal]) -> tuple[str, tuple[Personal, ...]]:
    """Return a text with the kind of personal data in its place, and where that is then."""
    pieces, places = [], []
    at = length = 0
    for one in found:
        said = f"[{one.kind}]"
        pieces += [text[at : one.start], said]
        length += one.start - at + len(said)
        places.append(Personal(length - len(said), length, one.kind))
        at = one.end
    return "".join([*pieces, text[at:]]), tuple(places)
