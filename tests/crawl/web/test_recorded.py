"""WARC files served as they were recorded."""

from __future__ import annotations

import gzip
from contextlib import closing
from http.client import HTTPConnection
from typing import TYPE_CHECKING

import pytest

from lswc.crawl.web import WebError, open_web

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    Serve = Callable[[Path], AbstractContextManager[int]]

OK = "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=tis-620\r\n"


def record(url: str, http: bytes, kind: str = "response") -> bytes:
    """Return a record (ISO 28500) as a gzip member of its own."""
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\n"
        "WARC-Date: 2004-07-20T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
        f"Content-Type: application/http; msgtype={kind}\r\nContent-Length: {len(http)}\r\n\r\n"
    )
    return gzip.compress(head.encode() + http + b"\r\n\r\n")


@pytest.fixture
def warc(tmp_path: Path) -> Path:
    packed = gzip.compress(b"packed")
    gzipped = f"{OK}Content-Encoding: gzip\r\nContent-Length: {len(packed)}\r\n\r\n".encode()
    records = [
        record("http://www.a.th/", b"GET / HTTP/1.0\r\n\r\n", kind="request"),
        record("http://www.a.th/", f"{OK}Content-Length: 3\r\n\r\nold".encode()),
        record("http://www.a.th/", OK.encode() + b"X-Name: \xa1\r\n\r\n\xa1\xa2"),
        record("https://WWW.a.th:443/b?q=%A1", b"HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n"),
        record(
            "http://h:8080/c",
            OK.encode() + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
        ),
        record("http://h:8080/d", gzipped + packed),
        record("dns:www.a.th", b"20040720\nwww.a.th. 60 IN A 203.0.113.1"),
    ]
    (tmp_path / "crawl.warc.gz").write_bytes(b"".join(records))
    return tmp_path / "crawl.warc.gz"


def test_responses_are_served_as_recorded(warc: Path) -> None:
    for web in (open_web(warc), open_web(warc.parent)):
        assert web.knows("www.a.th")
        assert web.knows("h:8080")
        assert not web.knows("h")
        page = web.answer("www.a.th", "/")
        assert (page.status, page.body) == (200, b"\xa1\xa2")
        assert page.headers == (
            ("Content-Type", "text/html; charset=tis-620"),
            ("X-Name", "\udca1"),
        )
        moved = web.answer("www.a.th", "/b?q=%A1")
        assert (moved.status, moved.headers, moved.body) == (302, (("Location", "/"),), b"")
        assert web.answer("www.a.th", "/b").status == 404


def test_chunks_are_joined_and_compressed_bodies_stay_compressed(warc: Path) -> None:
    web = open_web(warc)
    assert web.answer("h:8080", "/c").body == b"abcde"
    page = web.answer("h:8080", "/d")
    assert isinstance(page.body, bytes)
    assert gzip.decompress(page.body) == b"packed"
    assert ("Content-Encoding", "gzip") in page.headers


def test_a_recorded_header_arrives_byte_by_byte(serve: Serve, warc: Path) -> None:
    with serve(warc) as port, closing(HTTPConnection("127.0.0.1", port)) as connection:
        connection.request("GET", "/", headers={"Host": "www.a.th"})
        response = connection.getresponse()
        assert (response.status, response.read()) == (200, b"\xa1\xa2")
        assert response.headers["X-Name"] == "\xa1"  # http.client reads Latin-1
        assert response.headers["Content-Type"] == "text/html; charset=tis-620"


@pytest.mark.parametrize(
    "content", [b"", b"not a warc", gzip.compress(b"neither", mtime=0), b"\x1f\x8b\0"]
)
def test_a_file_without_responses_is_an_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.warc.gz").write_bytes(content)
    with pytest.raises(WebError, match=r"LSWC_WEB: .*x\.warc\.gz"):
        open_web(tmp_path / "x.warc.gz")
