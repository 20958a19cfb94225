"""Near-duplicates: pages that were seen before, or nearly, by simhash.

Charikar 2002; Manku, Jain & Das Sarma, "Detecting Near-Duplicates for Web Crawling", WWW 2007.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

DISTANCE = 3
"""Bits by which the simhashes of near-duplicates differ at most (Manku et al. §3)."""

_RUN = 5  # characters: for that no language needs its words apart
_UNCOUNTED = re.compile(r"[\d\s]")
_NO_LETTER, _UNTOLD = 0xFFFF, 0xFFFE  # in the table: no characters
_BMP = 0x10000
_PICTURES, _PICTURES_END, _IDEOGRAPHS = 0x1F000, 0x1FB00, 0x20000
_BYTE = 0xFF
_PADDING = np.zeros(_RUN, np.uint32)
_PLACES = 17  # bits of a place in the table: half a megabyte
_SHIFT = np.uint32(32 - _PLACES)
_FACTORS = np.array([0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1], np.uint32)


def simhash(text: str) -> int:
    """Return the 64-bit simhash of a text's overlapping runs of five letters, each counted once.

    Case, digits and white space don't count: a date, a price or a counter makes no other text.
    """
    codes = counted_characters(text)
    if len(codes) < _RUN:
        codes = np.append(codes, _PADDING)
    size = len(codes) - _RUN + 1
    runs = codes[:size] * _FACTORS[0]
    for place in range(1, _RUN):
        runs += codes[place : place + size] * _FACTORS[place]
    return _majority(_mixed(_distinct(runs).astype(np.uint64)))


def _distinct(values: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return each value once, in no order.

    Each is written into a table where its upper bits say, and the last one of a place stays. Only
    the few that lost their place to another value are sorted: all of them would take ten times as
    long where AVX-512 stores slowly, as on Zen 4.
    """
    places = (values >> _SHIFT).astype(np.intp)
    numbers = np.arange(len(values), dtype=np.uint32)
    table = np.empty(1 << _PLACES, np.uint32)
    table[places] = numbers
    winners = table.take(places, mode="wrap")
    won = values.take((winners == numbers).nonzero()[0])
    lost = values.take((values.take(winners, mode="wrap") != values).nonzero()[0])
    lost.sort()
    return np.concatenate((won, lost[:1], lost[1:][lost[1:] != lost[:-1]]))


def counted_characters(text: str) -> NDArray[np.uint32]:
    """Return the characters that count, in lower case."""
    units = _units(text)
    # Else some are beyond the table.
    codes = _table().take(units, mode="wrap") if len(units) == len(text) else _beyond(text)
    if not (codes == _UNTOLD).any():
        # Faster than by the array of truths itself.
        counted: NDArray[np.uint16 | np.uint32] = codes.take((codes != _NO_LETTER).nonzero()[0])
        return counted.astype(np.uint32)
    letters = _UNCOUNTED.sub("", text.lower())
    return np.frombuffer(letters.encode("utf-32-le", "replace"), np.uint32)


def _beyond(text: str) -> NDArray[np.uint32]:
    """Return what each character counts as, for text with some beyond the table.

    Most are pictures, or rare ideographs, of which none has a case and none is a digit.
    """
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    plain = (points >= _PICTURES) & (points < _PICTURES_END) | (points >= _IDEOGRAPHS)
    codes = np.where(plain, points, _table().take(points, mode="wrap"))
    codes[(points >= _BMP) & ~plain] = _UNTOLD
    return codes


@cache
def _table() -> NDArray[np.uint16]:
    """Return what each character of the Basic Multilingual Plane counts as.

    It can't tell the one that becomes two, the one that looks at what is beside it, and its own
    signs.
    """
    characters = "".join(map(chr, range(_BMP)))
    codes = _units(characters.replace("İ", "i").lower()).copy()
    codes[[ord("İ"), ord("Σ"), _UNTOLD, _NO_LETTER]] = _UNTOLD
    codes[[found.start() for found in _UNCOUNTED.finditer(characters)]] = _NO_LETTER
    codes[0xD800:0xE000] = ord("?")  # surrogates
    return codes


def _units(text: str) -> NDArray[np.uint16]:
    return np.frombuffer(text.encode("utf-16-le", "surrogatepass"), "<u2")


def _mixed(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread values over 64 bits (the finaliser of SplitMix64)."""
    values = (values ^ values >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ values >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return values ^ values >> np.uint64(31)


def _majority(hashes: NDArray[np.uint64]) -> int:
    """Return the 64 bits that most of the hashes have set."""
    # Each sum of a few fits into a byte, which is far faster to add than a number.
    padded = np.zeros(-(-len(hashes) // _BYTE) * _BYTE, np.uint64)
    padded[: len(hashes)] = hashes
    bits = np.unpackbits(padded.view(np.uint8)).reshape(_BYTE, -1)
    sums = np.add.reduce(bits, axis=0, dtype=np.uint8).reshape(-1, 64)
    ones = np.add.reduce(sums, axis=0, dtype=np.uint32)
    return int.from_bytes(np.packbits(ones > len(hashes) // 2).tobytes())


_QUARTER = 16
_VALUE = (1 << _QUARTER) - 1
_ALL = (1 << 64) - 1
_STEPS = range(100)  # in each quarter; 800 take as long as a look at 200,000 hashes


class Seen:
    """The simhashes of the latest pages, at most ``size`` of them: 24 bytes each, and 1 MB.

    Of the four quarters of two hashes within three bits one is the same (Manku, Jain & Das Sarma,
    WWW 2007, §3.1). So every page leads to the one before it with the same first quarter, second
    and so on. Where servers make so many that share one that this is a long way, all hashes are
    looked at. Pages are numbered from 1; there may be 2**32 - 1.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._added = 0
        self._hashes = _zeros(size, np.uint64)
        # By quarter: the latest page with a value, and the one before a page. What was forgotten
        # may still stand there, as numbers that are too low.
        self._chains = [
            (_zeros(1 << _QUARTER, np.uint32), _zeros(size, np.uint32)) for _ in range(4)
        ]

    def holds(self, simhash: int) -> bool:
        """Tell whether a text like this one was added."""
        hashes, size = self._hashes, self._size
        forgotten = self._added - size if self._added > size else 0
        rest = simhash
        for latest, before in self._chains:
            number = latest[rest & _VALUE]
            rest >>= _QUARTER
            for _ in _STEPS:
                if number <= forgotten:
                    break
                place = number % size
                if (hashes[place] ^ simhash).bit_count() <= DISTANCE:
                    return True
                number = before[place]
            else:
                return self._is_near_any(simhash)
        return False

    def _is_near_any(self, simhash: int) -> bool:
        hashes = np.asarray(self._hashes)
        if self._added < self._size:
            hashes = hashes[1 : self._added + 1]
        return bool((np.bitwise_count(hashes ^ np.uint64(simhash)) <= DISTANCE).any())

    def take_back(self, simhash: int) -> None:
        """Forget the latest text with exactly this simhash."""
        number = self._chains[0][0][simhash & _VALUE]
        while number > max(0, self._added - self._size):
            place = number % self._size
            if self._hashes[place] == simhash:
                self._hashes[place] = simhash ^ _ALL  # unlike it in every bit
                return
            number = self._chains[0][1][place]

    def add(self, simhash: int) -> None:
        """Remember a text, in the place of the oldest."""
        self._added = number = self._added + 1
        place = number % self._size
        self._hashes[place] = rest = simhash
        for latest, before in self._chains:
            value = rest & _VALUE
            rest >>= _QUARTER
            before[place] = latest[value]
            latest[value] = number


def _zeros(size: int, kind: type[np.uint32 | np.uint64]) -> memoryview:
    """Return numbers that take memory as they are set, and are Python's when read: that is fast."""
    return np.zeros(size, kind).data
