"""Archives of others: what is read of them, what is refused, and what is counted."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import struct
from typing import TYPE_CHECKING
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import pytest
from backports import zstd
from fastwarc import Lz4Writer, WarcRecordType
from hypothesis import given
from hypothesis import strategies as st

from lswc.archive import volumes
from lswc.archive.appended_files import ArchiveError
from lswc.archive.captures import Captures
from lswc.archive.http_message import BODY_BYTES
from lswc.archive.volumes import begins_as_archive, volumes_of
from lswc.archive.warc_writer import digest_of
from tests.archive.wire import chunked, record, response

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

URLS = [f"http://www.a.example/{number}" for number in range(5)]
BODIES = {url: f"<p>{url}".encode() * 40 for url in URLS}
RECORDS = [record(url, response(body)) for url, body in BODIES.items()]


def lz4(data: bytes) -> bytes:
    packed = io.BytesIO()
    writer = Lz4Writer(packed)
    writer.write(data)
    writer.close()
    return packed.getvalue()


def with_dictionary() -> bytes:
    """Return records in Zstandard with a dictionary, as the IIPC's .warc.zst has it."""
    trained = zstd.train_dict(RECORDS * 50, 1_000)
    content = trained.dict_content
    frames = [zstd.compress(one, zstd_dict=trained) for one in RECORDS]
    return struct.pack("<II", 0x184D2A5D, len(content)) + content + b"".join(frames)


def arc_line(url: str, length: int, version: int = 1) -> bytes:
    mime = "text/html" if version == 1 else "text/html 200 - - 0 x.arc"
    return f"{url} 192.0.2.1 20050102030405 {mime} {length}\n".encode()


def arc(version: int = 1) -> list[bytes]:
    """Return the records of an ARC file."""
    about = f"{version} 0 A library\nURL IP-address Archive-date Content-type Archive-length\n\n"
    first = b"filedesc://x.arc 0.0.0.0 20050102030405 text/plain %d\n%b" % (
        len(about),
        about.encode(),
    )
    found = [first, b"dns:a.example 192.0.2.1 20050102030405 text/dns 6\nA 1.2.\n"]
    for url, body in BODIES.items():
        block = response(body)
        found.append(arc_line(url, len(block), version) + block + b"\n")
    return found


SHAPES: dict[str, Callable[[], bytes]] = {
    "x.warc": lambda: b"".join(RECORDS),
    "x.warc.gz": lambda: b"".join(map(gzip.compress, RECORDS)),
    "whole.warc.gz": lambda: gzip.compress(b"".join(RECORDS)),
    "x.warc.gz.open": lambda: b"".join(map(gzip.compress, RECORDS)),
    "x.warc.zst": lambda: b"".join(map(zstd.compress, RECORDS)),
    "whole.warc.zst": lambda: zstd.compress(b"".join(RECORDS)),
    "dictionary.warc.zst": with_dictionary,
    "x.warc.lz4": lambda: b"".join(map(lz4, RECORDS)),
    "whole.warc.lz4": lambda: lz4(b"".join(RECORDS)),
    "x.arc": lambda: b"".join(arc()),
    "second.arc": lambda: b"".join(arc(2)),
    "x.arc.gz": lambda: b"".join(map(gzip.compress, arc())),
    "whole.arc.gz": lambda: gzip.compress(b"".join(arc())),
    "bare.arc": lambda: b"".join(arc()[2:]),
}


def taken(path: Path) -> tuple[dict[str, bytes], int]:
    """Return the bodies by URL, and how many records can't be read."""
    captures = Captures(volumes_of(path), BODY_BYTES)
    try:
        found = {}
        for one, capture in captures:
            answer = captures.response(capture, BODY_BYTES)
            assert answer is not None
            assert answer.status == 200
            found[one.url] = answer.content(BODY_BYTES)
        return found, captures.unreadable
    finally:
        captures.close()


@pytest.mark.parametrize("name", SHAPES)
def test_records_are_read_however_they_are_packed(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(SHAPES[name]())
    assert taken(path) == (BODIES, 0)


@pytest.mark.parametrize("name", SHAPES)
@given(share=st.floats(0.05, 0.99))
def test_what_is_cut_is_counted_and_never_made_up(
    tmp_path_factory: pytest.TempPathFactory, name: str, share: float
) -> None:
    data = SHAPES[name]()
    path = tmp_path_factory.getbasetemp() / f"cut-{name}"
    path.write_bytes(data[: int(share * len(data))])
    try:
        found, unreadable = taken(path)
    except ArchiveError:
        return  # not even the first record is there
    assert found == {url: BODIES[url] for url in URLS[: len(found)]}
    if not unreadable:  # it was cut between two records
        ends = {data.find(b"http://www.a.example/%d" % number) for number in range(5)}
        assert ".gz" in name or ".zst" in name or ".lz4" in name or -1 not in ends


@pytest.mark.parametrize("name", ["x.warc.gz", "whole.warc.gz", "x.arc.gz"])
@given(share=st.floats(0.2, 0.99))
def test_what_is_damaged_is_counted(
    tmp_path_factory: pytest.TempPathFactory, name: str, share: float
) -> None:
    data = bytearray(SHAPES[name]())
    data[int(share * len(data))] ^= 0x55
    path = tmp_path_factory.getbasetemp() / f"damaged-{name}"
    path.write_bytes(data)
    try:
        captures = Captures(volumes_of(path), BODY_BYTES)
    except ArchiveError:
        return
    found = [one.url for one, _ in captures]
    captures.close()
    assert captures.unreadable or found == URLS


@pytest.mark.parametrize("damage", ["cut in its middle", "wrong checksum"])
def test_of_a_file_whose_first_member_is_damaged_the_rest_is_read(
    tmp_path: Path, damage: str
) -> None:
    data = SHAPES["x.warc.gz"]()
    first = data.index(b"\x1f\x8b\x08", 1)
    half = data[: first // 2] if damage == "cut in its middle" else data[: first - 5] + b"\0" * 5
    (path := tmp_path / "x.warc.gz").write_bytes(half + data)
    found, unreadable = taken(path)
    assert found.keys() == set(URLS)
    assert unreadable >= 1


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(path := tmp_path / "x.warc.gz")
    with pytest.raises(ArchiveError, match="not a file"):
        volumes_of(path)
    with pytest.raises(ArchiveError, match="not a file"):
        begins_as_archive(path)


@pytest.mark.parametrize("compression", [ZIP_STORED, ZIP_DEFLATED])
def test_the_files_in_a_wacz_are_read_whatever_its_index_says(
    tmp_path: Path, compression: int
) -> None:
    path = tmp_path / "x.wacz"
    with ZipFile(path, "w", compression) as archive:
        archive.writestr("indexes/index.cdxj", 'a 2026 {"offset": "7", "filename": "gone"}\n')
        archive.writestr("archive/one.warc.gz", b"".join(map(gzip.compress, RECORDS[:2])))
        archive.writestr("archive/two.warc", b"".join(RECORDS[2:4]))
        archive.writestr("archive/three.warc.zst", zstd.compress(RECORDS[4]))
        archive.writestr("pages/pages.jsonl", '{"format": "json-pages-1.0"}\n')
    assert taken(path) == (BODIES, 0) or compression == ZIP_DEFLATED
    assert taken(path)[0].keys() >= {*URLS[:4]}


@pytest.mark.parametrize(
    ("manifest", "lost"),
    [
        ('{"resources": [{"path": "archive/one.warc.gz"}, {"path": "archive/gone.warc.gz"},'
         ' {"path": "archive/gone too.warc.gz"}, {"path": "pages/gone.jsonl"}]}', 2),
        ('{"resources": [{}, 1]}', 0), ("[", 0), ("[" * 100_000, 0), ("\ud800", 0), ("3", 0),
    ],
)  # fmt: skip
def test_files_that_a_wacz_says_it_has_and_lacks_are_counted(
    tmp_path: Path, manifest: str, lost: int
) -> None:
    path = tmp_path / "x.wacz"
    with ZipFile(path, "w", ZIP_STORED) as archive:
        archive.writestr("datapackage.json", manifest.encode(errors="surrogatepass"))
        archive.writestr("archive/one.warc.gz", b"".join(map(gzip.compress, RECORDS[:2])))
        archive.writestr("archive/two.warc.gz", gzip.compress(RECORDS[2]))
    found, unreadable = taken(path)
    assert found.keys() == {*URLS[:3]}
    assert unreadable == lost


REFUSED = {
    "x.cdx": b" CDX N b a m s k r M S V g\ncom,a)/ 20140103 http://a/ text/html 200 X - - 1 2 x",
    "x.cdxj": b'com,a)/ 20140103030321 {"url": "http://a/"}\n',
    "x.cdx.gz": gzip.compress(b"com,a)/ 20140103030321 http://a/ text/html 200 X - - 1 2 x\n"),
    "x.idx": b"com,example)/ 20140127171200\tzipnum\t0\t275\t1\n",
    "x.warc.bz2": bz2.compress(RECORDS[0]),
    "x.warc": b"<!doctype html><p>no archive",
    "empty.warc.gz": b"",
    "x.wacz": b"PK\x03\x04 and no more",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_archive_is_refused_by_its_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(REFUSED[name])
    with pytest.raises(ArchiveError, match=str(path)):
        volumes_of(path)


def test_a_zip_without_archives_is_refused(tmp_path: Path) -> None:
    for name in ("a.txt", "archive/inner.wacz"):
        with ZipFile(tmp_path / "x.wacz", "w") as archive:
            archive.writestr(name, b"x")
        with pytest.raises(ArchiveError, match=r"without WARC files|within another"):
            volumes_of(tmp_path / "x.wacz")


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress, lz4])
def test_a_bomb_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(volumes, "ROOM", 10_000)
    monkeypatch.setattr(volumes, "TIMES", 2)
    path = tmp_path / "x.warc.gz"
    path.write_bytes(pack(RECORDS[0] * 500))
    with pytest.raises(ArchiveError, match="a bomb"):
        volumes_of(path)


def test_a_revisit_is_a_page_wherever_its_payload_is(tmp_path: Path) -> None:
    body, digest = b"<p>one", f"sha1:{digest_of(b'<p>one')}"
    of = {"WARC_Payload_Digest": digest}
    refers = {"WARC_Refers_To_Target_URI": URLS[0]}
    head = response(b"", "X-Own: 1")
    one = [
        record(URLS[1], b"", "revisit", **of),  # its payload comes later
        record(URLS[0], response(chunked(body), "Transfer-Encoding: chunked"), **of),
        record(URLS[2], head, "revisit", **of),
    ]
    two = [
        record(URLS[3], b"HTTP/1.1 304 Not Modified\r\n\r\n", "revisit", **refers),
        record(URLS[4], b"", "revisit", WARC_Payload_Digest="sha1:OTHER"),
        record("urn:dom:x", b"<p>", "resource"),
        record("", response(body)),
    ]
    paths = [tmp_path / "one.warc", tmp_path / "two.warc"]
    for path, written in zip(paths, (one, two), strict=True):
        path.write_bytes(b"".join(written))
    captures = Captures([volume for path in paths for volume in volumes_of(path)], BODY_BYTES)
    found = {}
    for read, capture in captures:
        answer = captures.response(capture, BODY_BYTES)
        assert answer is not None
        found[read.url] = answer.status, answer.content(BODY_BYTES), answer.get("X-Own")
    assert found == {
        URLS[0]: (200, body, None), URLS[1]: (200, body, None),
        URLS[2]: (200, body, "1"), URLS[3]: (200, body, None),
    }  # fmt: skip
    assert (captures.read, captures.unresolved, captures.unreadable) == (5, 1, 1)


def test_an_arc_record_of_a_wrong_length_ends_there(tmp_path: Path) -> None:
    first, dns, *pages = arc()
    wrong = pages[1].replace(
        arc_line(URLS[1], len(response(BODIES[URLS[1]]))), arc_line(URLS[1], 9)
    )
    path = tmp_path / "x.arc"
    path.write_bytes(b"".join([first, dns, pages[0], wrong, *pages[2:]]))
    found, unreadable = taken(path)
    assert found.keys() == {*URLS} - {URLS[1]}
    assert unreadable == 1
    (volume,) = volumes_of(path)
    with volume.opened() as file:
        kinds = [int(one.type) for one in volume.records(file, WarcRecordType.any_type, 0)]
    assert sorted(kinds) == sorted(
        map(int, [WarcRecordType.warcinfo, WarcRecordType.resource, *[WarcRecordType.response] * 4])
    )
