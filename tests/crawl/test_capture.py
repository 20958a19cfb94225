"""The archive holds what was on the wire, byte for byte."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from tests.archive.raw import HOST, PORT, serving
from tests.archive.reading import blocks, check, records
from tests.scenarios.site import THAI, Site, page

if TYPE_CHECKING:
    from pathlib import Path

HTML = page(THAI).encode()
ZIPPED = gzip.compress(HTML)
OTHER = gzip.compress(HTML + b"0")


def sized(body: bytes, *headers: bytes) -> bytes:
    lines = [b"HTTP/1.1 200 OK", *headers, b"content-LENGTH: %d" % len(body), b"", body]
    return b"\r\n".join(lines)


def chunked(body: bytes, size: int) -> bytes:
    pieces = [body[i : i + size] for i in range(0, len(body), size)]
    return b"".join(b"%X;note=1\r\n%s\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"


TYPE = b"CONTENT-type: text/html"
HEAD = b"HTTP/1.1 200 OK\r\nSERVER: b\r\nserver: a\r\nX-Z: 1\r\nTransfer-Encoding: chunked\r\n"
ANSWERS = {
    "/robots.txt": sized(b"User-agent: *\nDisallow: /private\n", b"Content-Type: text/plain"),
    "/": sized(
        page(
            THAI, "/zip", "/chunks", "/zipped-chunks", "/odd", "/early", "/close", "/gone",
            "/none", "/more", "/empty", "/private", "/broken",
        ).encode(),
        TYPE, b"Zebra: z", b"aardvark: a", b"SET-cookie: a=1", b"Set-Cookie: b=2",
    ),
    "/zip": sized(ZIPPED, TYPE, b"Content-Encoding: gzip"),
    "/chunks": HEAD + TYPE + b"\r\n\r\n" + chunked(HTML + b"1", 100),
    "/zipped-chunks": HEAD + TYPE + b"\r\nContent-Encoding: gzip\r\n\r\n" + chunked(OTHER, 64),
    "/odd": b"HTTP/1.1 200 Fine, thank you\nnot a header\nContent-Type:text/html\nX: a\n b\n"
    b"Content-Length: %d\n\n%s" % (len(HTML) + 1, HTML + b"2"),
    "/early": b"HTTP/1.1 103 Early Hints\r\nLink: </s.css>\r\n\r\n" + sized(HTML + b"3", TYPE),
    "/close": b"HTTP/1.0 200 OK\r\n" + TYPE + b"\r\n\r\n" + HTML + b"4",
    "/gone": b"HTTP/1.1 410 Vanished\r\nContent-Length: 3\r\n\r\nbye",
    "/none": b"HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n",
    "/more": sized(HTML + b"5", TYPE) + b"what follows the body is not the response's",
    "/empty": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 0\r\n\r\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("capture")
    return Site(folder / "web", folder / "crawl")


@pytest.fixture(scope="module")
def asked(site: Site) -> dict[str, bytes]:
    """What was sent for each path, once the site is crawled."""
    site.add("never.example/", "a web needs a host")
    site.seeds(f"http://{HOST}/")
    with serving(ANSWERS) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv(PORT, str(server["port"]))
        site.crawl(
            TWISTED_DNS_RESOLVER="tests.archive.raw.ToRawServer", LSWC_ARCHIVE="all", RETRY_TIMES=1
        )
        return {path: sent for path, sent in server.items() if path in ANSWERS}


def test_wire_bytes_are_stored(site: Site, asked: dict[str, bytes]) -> None:
    assert len(asked) == len(ANSWERS)
    stored = blocks(site.folder)
    expected = {f"http://{HOST}{path}": answer for path, answer in ANSWERS.items()}
    expected[f"http://{HOST}/early"] = sized(HTML + b"3", TYPE)
    expected[f"http://{HOST}/more"] = sized(HTML + b"5", TYPE)
    assert stored == expected
    check(site.folder)


def test_requests_are_stored_as_sent(site: Site, asked: dict[str, bytes]) -> None:
    requests = {r.url: r for r in records(site.folder) if r.type == "request"}
    assert len(requests) == len(ANSWERS)
    for path, sent in asked.items():
        lines = sent.decode().rstrip("\r\n").split("\r\n")
        read = requests[f"http://{HOST}{path}"]
        assert read.status == lines[0].partition(" ")[2]
        assert [f"{name}: {value}" for name, value in read.http] == lines[1:]


def test_others_read_the_pages(site: Site, asked: dict[str, bytes]) -> None:
    assert asked
    read = {r.url: r for r in records(site.folder) if r.type == "response"}
    assert read[f"http://{HOST}/zip"].content == HTML
    assert read[f"http://{HOST}/zipped-chunks"].content == HTML + b"0"
    assert read[f"http://{HOST}/chunks"].content == HTML + b"1"
    assert read[f"http://{HOST}/odd"].status == "200 Fine, thank you"
    names = [name for name, _ in read[f"http://{HOST}/"].http]
    assert names == [
        "CONTENT-type", "Zebra", "aardvark", "SET-cookie", "Set-Cookie", "content-LENGTH",
    ]  # fmt: skip


def test_a_proxy_is_asked_for_whole_urls(tmp_path: Path) -> None:
    site = Site(tmp_path / "web", tmp_path / "crawl")
    site.add("never.example/", "a web needs a host")
    site.seeds(f"http://{HOST}/")
    answers = {
        f"http://{HOST}/robots.txt": sized(b"", b"Content-Type: text/plain"),
        f"http://{HOST}/": sized(HTML, TYPE),
    }
    with serving(answers) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv(PORT, str(server["port"]))
        patch.setenv("http_proxy", "http://me:secret@proxy.example:3128")
        site.crawl(TWISTED_DNS_RESOLVER="tests.archive.raw.ToRawServer", HTTPPROXY_ENABLED=True)
        asked = server[f"http://{HOST}/"]
    assert asked.startswith(f"GET http://{HOST}/ HTTP/1.1\r\nHost: {HOST}\r\n".encode())
    assert b"\r\nProxy-Authorization: Basic bWU6c2VjcmV0\r\n" in asked
    assert site.urls == [f"http://{HOST}/"]
