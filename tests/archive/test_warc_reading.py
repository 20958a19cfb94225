"""Every record of a WARC file is read, whatever its shape, and whatever the one before it."""

from __future__ import annotations

import gzip
import random
import struct
import tracemalloc
import zlib
from io import BytesIO

import pytest
from fastwarc import WarcRecordType
from hypothesis import given
from hypothesis import strategies as st

from lswc.archive.http_message import MAX_CODINGS, HttpResponse
from lswc.archive.warc_reading import Record, Records
from tests.archive.wire import CODINGS, chunked, record, response, shapes

BODY = ("<title>ข่าว</title><p>" + "ข่าววันนี้ 1 2 3 " * 40).encode()
SHAPES = shapes(BODY)
URL = "http://a.example/"
MOST = 1_000_000


def read(data: bytes, most: int = MOST) -> tuple[list[Record], int]:
    records = Records(BytesIO(data), WarcRecordType.response, most)
    found = list(records)
    assert records.read == len(found)
    return found, records.unreadable


def numbered(*numbers: int) -> list[bytes]:
    return [record(f"{URL}{number}", response(BODY)) for number in numbers]


@pytest.mark.parametrize("name", SHAPES)
def test_a_body_is_read_in_any_shape(name: str) -> None:
    found = HttpResponse.of(SHAPES[name])
    assert found.content(MOST) == BODY
    assert found.status == 200
    assert found.get("content-type") == "text/html; charset=utf-8"


@pytest.mark.parametrize("name", CODINGS)
def test_a_body_keeps_its_coding_if_asked(name: str) -> None:
    packed = CODINGS[name](BODY)
    block = response(chunked(packed), "Transfer-Encoding: chunked", f"Content-Encoding: {name}")
    assert HttpResponse.of(block).transferred(MOST) == packed


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("share", [0.2, 0.7, 0.95])
def test_a_body_that_was_cut_is_read_as_far_as_it_came(name: str, share: float) -> None:
    block = SHAPES[name]
    head = block.rindex(b"\n\n" if name == "bare line feeds" else b"\r\n\r\n", 0, 260) + 4
    cut = block[: head + int(share * (len(block) - head))]
    found = HttpResponse.of(cut).content(MOST)
    assert BODY.startswith(found) or name in ("unknown", "identity", "a coding that was taken away")


@pytest.mark.parametrize("name", SHAPES)
def test_a_body_is_bounded(name: str) -> None:
    assert HttpResponse.of(SHAPES[name]).content(60) in (BODY[:60], b"")


def test_a_bomb_costs_no_more_than_its_bound() -> None:
    bomb = gzip.compress(gzip.compress(bytes(50_000_000)))
    found = HttpResponse.of(response(bomb, "Content-Encoding: gzip, gzip")).content(1_000)
    assert len(found) <= 1_000
    empty = gzip.compress(b"") * 100_000 + gzip.compress(BODY)
    assert HttpResponse.of(response(empty, "Content-Encoding: gzip")).content(MOST) == b""


@given(st.binary(), st.sampled_from([*CODINGS, "chunked"]), st.integers(1, 9))
def test_any_bytes_give_an_answer(body: bytes, coding: str, most: int) -> None:
    block = response(body, f"Content-Encoding: {coding}", f"Transfer-Encoding: {coding}")
    assert len(HttpResponse.of(block).content(most)) <= most
    HttpResponse.of(body)


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_no_shape_is_the_end_of_a_file(pack: type[bytes]) -> None:
    names = [*SHAPES, *SHAPES]
    random.Random(1).shuffle(names)
    data = [record(f"{URL}{n}", SHAPES[name]) for n, name in enumerate(names)]
    found, unreadable = read(b"".join(map(pack, data)))
    assert [one.url for one in found] == [f"{URL}{n}" for n in range(len(names))]
    assert unreadable == 0
    assert {one.response().content(MOST) for one in found} == {BODY}


def test_a_file_that_is_compressed_as_a_whole() -> None:
    found, unreadable = read(gzip.compress(b"".join(numbered(0, 1, 2))))
    assert ([one.url[-1] for one in found], unreadable) == (["0", "1", "2"], 0)


def damages() -> dict[str, bytes]:
    """Return a record that is damaged in all ways, compressed."""
    whole = record(f"{URL}2", response(random.Random(2).randbytes(4_000)))
    packed = gzip.compress(whole)
    half = len(packed) // 2
    return {
        "flipped": packed[:half] + bytes([packed[half] ^ 0xFF]) + packed[half + 1 :],
        "its sum": packed[:-8] + b"\0\0\0\0" + packed[-4:],
        "its beginning": b"\0" * 10 + packed[10:],
        "cut": packed[:half],
        "no record": gzip.compress(whole.replace(b"WARC/1.1", b"WXRC/1.1")),
        "its length": gzip.compress(whole.replace(b"Content-Length: 4", b"Content-Length: -4")),
        "nothing": random.Random(3).randbytes(1_000),
    }


@pytest.mark.parametrize("damage", damages())
@pytest.mark.parametrize("at", [0, 1, 2, 4])
def test_a_damaged_record_is_counted_and_the_others_are_read(damage: str, at: int) -> None:
    members = [gzip.compress(one) for one in numbered(0, 1, 3, 4)]
    members.insert(at, damages()[damage])
    found, unreadable = read(b"".join(members))
    assert [one.url[-1] for one in found if one.url != f"{URL}2"] == ["0", "1", "3", "4"]
    assert unreadable == 1 or (damage in ("nothing", "its beginning") and at == 4)


def test_every_other_record_is_damaged() -> None:
    bad = damages()["its sum"]
    data = b"".join(gzip.compress(one) + bad for one in numbered(0, 1, 3))
    found, unreadable = read(data)
    assert ([one.url[-1] for one in found], unreadable) == (["0", "1", "3"], 3)


def test_a_page_that_holds_a_record_is_a_page() -> None:
    forged = gzip.compress(numbered(9)[0])
    stored = record(URL, response(forged + b"\r\n\r\n" + numbered(8)[0]))
    for data in (stored, gzip.compress(stored, 0)):
        found, unreadable = read(data)
        assert ([one.url for one in found], unreadable) == ([URL], 0)


@pytest.mark.parametrize(
    "data", [b"", b"no WARC file", gzip.compress(b"no WARC file", mtime=0)], ids=len
)
def test_a_file_without_records(data: bytes) -> None:
    assert read(data) == ([], int(bool(data)))


def test_what_a_bomb_holds_is_no_record_and_it_is_never_held_whole() -> None:
    """Where the record after it is damaged, its end is looked for."""
    forged = gzip.compress(numbered(9)[0])
    bomb = record(f"{URL}0", response(bytes(40_000_000) + forged))
    at = bomb.index(forged)
    zeros, plain = (zlib.compressobj(level, zlib.DEFLATED, -15) for level in (9, 0))
    packed = zeros.compress(bomb[:at]) + zeros.flush(zlib.Z_FULL_FLUSH)
    packed += plain.compress(bomb[at:]) + plain.flush()
    assert forged in packed
    end = struct.pack("<LL", zlib.crc32(bomb), len(bomb))
    data = gzip.compress(b"")[:10] + packed + end + damages()["nothing"]
    tracemalloc.start()
    found, unreadable = read(data + gzip.compress(numbered(1)[0]), 100)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert ([one.url[-1] for one in found], unreadable) == (["0", "1"], 1)
    assert peak < 20_000_000


def test_no_more_codings_are_taken_off_than_a_server_has_use_for() -> None:
    packed = BODY
    for _ in range(MAX_CODINGS):
        packed = gzip.compress(packed)
    named = ", ".join(["gzip"] * MAX_CODINGS)
    block = response(packed, f"Content-Encoding: {named}")
    assert MAX_CODINGS == 4
    assert HttpResponse.of(block).content(MOST) == BODY
    once_more = response(gzip.compress(packed), f"Content-Encoding: {named}, gzip")
    assert HttpResponse.of(once_more).content(MOST) == gzip.compress(BODY)
