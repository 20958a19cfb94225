"""An answer is read whole and within bounds, whatever pieces it comes in."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.exceptions import DownloadFailedError

from lswc.crawl.transport.answer import (
    CHUNKS,
    Answer,
    Bounds,
    BrokenBodyError,
    CutBodyError,
    HeadersTooLargeError,
    NoAnswerError,
)

BOUNDS = Bounds(heads=1_000, body=20_000)
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
PAGE = OK + b"X: y\r\nContent-Length: 1\r\n\r\n"


def fed(*pieces: bytes, bounds: Bounds = BOUNDS, bare: bool = False) -> Answer:
    answer = Answer(b"", bounds, bare)
    for piece in pieces:
        if not answer.feed(piece):
            break
    return answer


async def body(answer: Answer) -> bytes:
    """Return what came of the body; raises what ended it."""
    await answer.head()
    came = []
    while piece := await answer.piece():
        came.append(piece)
    return b"".join(came)


def read(answer: Answer) -> bytes:
    return asyncio.run(body(answer))


def end(answer: Answer) -> object:
    """Return a whole answer's status, or the error that it ended with."""
    try:
        read(answer)
    except (DownloadFailedError, BrokenBodyError) as error:
        return type(error)
    return answer.status


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (len(PAGE), 200),
        (len(PAGE) - 1, HeadersTooLargeError),
        (0, 200),
        (1, HeadersTooLargeError),
    ],
)
@pytest.mark.parametrize("size", [1, 1_000])
def test_headers_are_bounded(limit: int, expected: object, size: int) -> None:
    pieces = [PAGE[n : n + size] for n in range(0, len(PAGE), size)]
    assert end(fed(*pieces, b"x", bounds=Bounds(heads=limit, body=0))) == expected


def test_informational_answers_count_among_the_headers() -> None:
    again = b"HTTP/1.1 100 Continue\r\n\r\n"
    bounds = Bounds(heads=len(PAGE) + len(again), body=0)
    assert end(fed(again + PAGE + b"x", bounds=bounds)) == 200
    assert end(fed(again, again, PAGE, b"x", bounds=bounds)) is HeadersTooLargeError
    assert end(fed(*[again] * 100)) is HeadersTooLargeError


@pytest.mark.parametrize(("note", "expected"), [(b"", 200), (b";" + b"x" * 500, BrokenBodyError)])
def test_a_body_with_little_in_its_chunks_is_given_up(note: bytes, expected: object) -> None:
    chunk = b"1" + note + b"\r\nx\r\n"
    assert end(fed(CHUNKED, *[chunk] * 100, b"0\r\n\r\n")) == expected


@pytest.mark.parametrize(("number", "expected"), [(CHUNKS - 1, 200), (CHUNKS + 9, BrokenBodyError)])
def test_a_body_in_too_many_chunks_is_given_up(number: int, expected: object) -> None:
    chunks = b"1\r\nx\r\n" * (number // 2)
    end_of_them = b"1\r\nx\r\n" * (number % 2) + b"0\r\n\r\n"
    answer = fed(CHUNKED, chunks, chunks, end_of_them, bounds=Bounds(heads=0, body=0))
    assert end(answer) == expected


ODD = {
    "a line without a colon": (OK + b"not a header\r\nContent-Length: 1\r\n\r\nx", 200),
    "a folded line": (OK + b"X: a\r\n  b: c\r\nContent-Length: 1\r\n\r\nx", 200),
    "a folded first line": (OK + b" x\r\nContent-Length: 1\r\n\r\nx", 200),
    "line feeds only": (b"HTTP/1.1 200 OK\nContent-Length: 1\n\nx", 200),
    "no reason": (b"HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx", 200),
    "a length twice": (OK + b"Content-Length: 1\r\nX: y\r\ncontent-length:1\r\n\r\nx", 200),
    "a length twice in one": (OK + b"Content-Length: 1, 1\r\n\r\nx", 200),
    "two lengths": (OK + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nx", DownloadFailedError),
    "a negative length": (OK + b"Content-Length: -1\r\n\r\nx", DownloadFailedError),
    "a blank before the colon": (OK + b"Content-Length : 1\r\n\r\nx", 200),
    "a length and chunks": (
        OK + b"Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", 200
    ),
    "blanks after a chunk's size": (CHUNKED + b"1 \r\nx\r\n0\r\n\r\n", 200),
    "a chunk's extension": (CHUNKED + b"1;a=b\r\nx\r\n0\r\n\r\n", 200),
    "trailers": (CHUNKED + b"1\r\nx\r\n0\r\nX-Late: 1\r\n\r\n", 200),
    "no chunk's size": (CHUNKED + b"zz\r\nx", BrokenBodyError),
    "control characters": (OK + b"X: a\x01b\xff\r\nContent-Length: 1\r\n\r\nx", 200),
    "an unknown version": (b"HTTP/1.7 200 OK\r\nContent-Length: 1\r\n\r\nx", 200),
    "an early hint": (b"HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n" + PAGE + b"x", 200),
    "a status of two digits": (b"HTTP/1.1 99 Low\r\n\r\n", DownloadFailedError),
    "a status of many digits": (b"HTTP/1.1 2000 High\r\n\r\n", DownloadFailedError),
    "no HTTP": (b"\x00\xff" * 200 + b"\r\n\r\n", DownloadFailedError),
    "no HTTP, without an end": (b"<html>", DownloadFailedError),
}  # fmt: skip


@pytest.mark.parametrize("case", ODD)
@pytest.mark.parametrize("size", [1, 10_000])
def test_odd_answers_are_read_as_browsers_read_them(case: str, size: int) -> None:
    sent, expected = ODD[case]
    answer = fed(*(sent[n : n + size] for n in range(0, len(sent), size)))
    assert end(answer) == expected
    if expected == 200:
        assert (b"x-late", b"1") not in [(name.lower(), value) for name, value in answer.headers]


def test_headers_are_as_they_were_sent() -> None:
    answer = fed(OK + b"B: 1\r\nset-Cookie: a\r\nSet-cookie: b\r\nX:  a\r\n\tb\r\nE:\r\n\r\n")
    assert answer.headers == [
        (b"B", b"1"), (b"set-Cookie", b"a"), (b"Set-cookie", b"b"), (b"X", b"a b"), (b"E", b""),
    ]  # fmt: skip
    assert (answer.status, answer.version, answer.length) == (200, "1.1", None)


@pytest.mark.parametrize(
    ("head", "bare"),
    [
        (b"HTTP/1.1 204 None\r\nContent-Length: 5\r\n\r\n", False),
        (b"HTTP/1.1 304 As before\r\nContent-Length: 5\r\n\r\n", False),
        (OK + b"Content-Length: 5\r\n\r\n", True),
        (OK + b"\r\n", True),
        (b"HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n", False),
    ],
)
def test_some_answers_have_no_body(head: bytes, bare: bool) -> None:
    answer = fed(head, bare=bare)
    assert answer.is_whole
    assert read(answer) == b""


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        (PAGE + b"x", True),
        (OK + b"Connection: close\r\nContent-Length: 1\r\n\r\nx", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", False),
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", True),
        (CHUNKED + b"0\r\n\r\n", True),
        (PAGE + b"xHTTP/1.1 200 Another's\r\n\r\n", False),
        (PAGE + b"x ", False),
        (CHUNKED + b"0\r\n\r\n!", False),
    ],
)
def test_a_connection_is_kept_if_nothing_else_came(sent: bytes, kept: bool) -> None:
    answer = fed(sent)
    assert answer.is_whole
    assert answer.keeps_alive is kept


@pytest.mark.parametrize(
    ("sent", "error", "expected"),
    [
        (b"", None, NoAnswerError),
        (b"", ConnectionResetError(), NoAnswerError),
        (b"HTTP/1.1 2", None, DownloadFailedError),
        (b"HTTP/1.1 103 Early\r\n\r\n", None, DownloadFailedError),
        (PAGE, None, CutBodyError),
        (CHUNKED + b"9\r\nx", None, CutBodyError),
        (CHUNKED + b"1\r\nx\r\n", None, CutBodyError),
        (OK + b"\r\nx", None, 200),
        (OK + b"\r\nx", ConnectionResetError(), CutBodyError),
        (PAGE + b"x", ConnectionResetError(), 200),
    ],
)
def test_the_end_of_a_connection_ends_the_answer(
    sent: bytes, error: Exception | None, expected: object
) -> None:
    answer = fed(sent)
    answer.end(error)
    assert end(answer) == expected
    assert not answer.keeps_alive


def test_what_came_of_a_broken_body_is_read() -> None:
    answer = fed(CHUNKED + b"3\r\nabc\r\n3\r\nd")
    answer.end(None)

    async def first() -> bytes:
        came = await answer.piece()
        with pytest.raises(BrokenBodyError):
            await answer.piece()
        return came

    assert asyncio.run(first()) == b"abcd"


@given(
    content=st.binary(max_size=60),
    chunked=st.booleans(),
    after=st.sampled_from([b"", b"\r\n", b"more", b"0\r\n\r\n"]),
    cuts=st.sets(st.integers(1, 200)),
    step=st.integers(1, 20),
)
def test_pieces_of_any_size_make_the_same_answer(
    content: bytes, chunked: bool, after: bytes, cuts: set[int], step: int
) -> None:
    if chunked:
        parts = [content[n : n + step] for n in range(0, len(content), step)]
        framed = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
        head = CHUNKED
    else:
        framed, head = content, OK + b"Content-Length: %d\r\n\r\n" % len(content)
    sent = head + framed + after
    answer = fed(*(sent[a:b] for a, b in pairwise([0, *sorted(cuts & {*range(len(sent))}), None])))
    assert answer.is_whole
    assert read(answer) == content
    assert bytes(answer.exchange.head) == head
    assert b"".join(answer.exchange.body) == framed


def test_an_answer_is_waited_for() -> None:
    async def come() -> bytes:
        answer = Answer(b"", BOUNDS)
        reading = asyncio.create_task(body(answer))
        for piece in (PAGE[:9], PAGE[9:], b"x"):
            await asyncio.sleep(0)
            assert not reading.done()
            answer.feed(piece)
        return await reading

    assert asyncio.run(come()) == b"x"
