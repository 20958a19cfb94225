"""The answers are those of a look at all hashes that are held."""

from __future__ import annotations

from collections import deque
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lswc.safety.near_duplicates import DISTANCE, Seen

if TYPE_CHECKING:
    from collections.abc import Iterable


def flipped(simhash: int, bits: Iterable[int]) -> int:
    for bit in bits:
        simhash ^= 1 << bit
    return simhash


def is_near_any(simhash: int, held: Iterable[int]) -> bool:
    return any((simhash ^ other).bit_count() <= DISTANCE for other in held)


bases = st.sampled_from([0, 2**64 - 1, 0x0123456789ABCDEF])
near = st.builds(flipped, bases, st.sets(st.integers(0, 63), max_size=4))


def test_three_bits_make_a_near_duplicate_and_four_do_not() -> None:
    seen = Seen(4)
    seen.add(0x0123456789ABCDEF)
    assert seen.holds(0x0123456789ABCDEF ^ 1 << 63 ^ 1 << 40 ^ 1)
    assert not seen.holds(0x0123456789ABCDEF ^ 1 << 63 ^ 1 << 40 ^ 1 << 20 ^ 1)


@given(st.integers(1, 6), st.lists(near, max_size=30))
@example(4, [0, 1 << 63 | 1 << 40 | 1 << 20])  # one quarter is the same, each in its turn
@example(4, [0, 1 << 63 | 1 << 40 | 1 << 2])
@example(4, [0, 1 << 63 | 1 << 30 | 1 << 2])
@example(4, [0, 1 << 47 | 1 << 30 | 1 << 2])
@example(4, [0, 0b1111])
def test_the_latest_are_held_and_no_others(size: int, hashes: list[int]) -> None:
    seen, held = Seen(size), deque[int](maxlen=size)
    for simhash in hashes:
        assert seen.holds(simhash) is is_near_any(simhash, held)
        seen.add(simhash)
        held.append(simhash)


@pytest.mark.parametrize("quarter", range(4))
@pytest.mark.parametrize("size", [200, 1000])
@settings(max_examples=10)
@given(st.integers(0, 2**32))
def test_servers_may_make_as_many_alike_as_they_like(quarter: int, size: int, seed: int) -> None:
    choose = Random(seed)
    others = [16 * other + choose.randrange(16) for other in range(4) if other != quarter]
    shared = choose.choice([0, 0xFFFF]) << 16 * quarter
    hashes = [choose.getrandbits(64) & ~(0xFFFF << 16 * quarter) | shared for _ in range(500)]
    seen = Seen(size)
    for simhash in hashes:
        seen.add(simhash)
    held = hashes[-size:]
    one_more = 16 * quarter + choose.randrange(16)
    for simhash in (hashes[0], hashes[-size:][0], hashes[-150], hashes[-1], shared):
        for bits in (others, [*others, one_more], others[1:]):
            asked = flipped(simhash, bits)
            assert seen.holds(asked) is is_near_any(asked, held)
