"""Lines of files that candidates are read from."""

from __future__ import annotations

from collections import Counter
from io import BytesIO

from lswc.seeds.sources import LINE, lines


def test_lines_are_read_however_they_are_written() -> None:
    passed: Counter[str] = Counter()
    text = b"\xef\xbb\xbfone\n\xef\xbb\xbftwo\0\r\n\xff\nlast"
    assert list(lines(BytesIO(text), passed)) == ["one\n", "\ufefftwo\r\n", "\ufffd\n", "last"]
    assert not passed


def test_a_line_that_is_too_long_is_passed_over_and_nothing_else() -> None:
    passed: Counter[str] = Counter()
    fits = b"x" * (LINE - 1) + b"\n"
    long = [b"y" * LINE + b"\n", b"z" * (LINE + (1 << 20)) + b"\n", b"w" * (3 << 20) + b"\n"]
    text = b"a\n" + fits + b"b\n" + long[0] + b"c\n" + long[1] + long[2] + b"d\n" + b"v" * LINE
    assert list(lines(BytesIO(text), passed)) == ["a\n", fits.decode(), "b\n", "c\n", "d\n"]
    assert passed == {"line too long": 4}
    assert LINE == 65_536
