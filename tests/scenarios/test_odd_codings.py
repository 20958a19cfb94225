"""Codings that servers name in ways of their own: the page is read, and stored as it came."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from tests.archive.raw import PORT, serving
from tests.archive.wire import chunked
from tests.scenarios.site import SCRAPY, THAI, Site, page, run

if TYPE_CHECKING:
    from pathlib import Path

HOST = "http://www.one.co.th"


def answer(body: bytes, *headers: str) -> bytes:
    lines = ["HTTP/1.1 200 OK", "Content-Type: text/html; charset=utf-8", *headers]
    return "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n" + body


@pytest.mark.parametrize(
    ("headers", "in_chunks"),
    [
        (("Content-Encoding: gzip, identity",), False),
        (("Content-Encoding: identity, gzip",), False),
        (("Content-Encoding: gzip", "Content-Encoding: identity"), False),
        (("Transfer-Encoding: gzip, chunked",), True),
        (("Transfer-Encoding: gzip", "Transfer-Encoding: chunked"), True),
        (("Content-Encoding: gzip", "Transfer-Encoding: gzip, chunked"), True),
    ],
)
def test_a_page_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, headers: tuple[str, ...], in_chunks: bool
) -> None:
    body = page(THAI, "/2").encode()
    for _ in range(sum("gzip" in header for header in headers)):
        body = gzip.compress(body)
    own = headers if in_chunks else (*headers, f"Content-Length: {len(body)}")
    plain = page(THAI * 2).encode()
    answers = {
        "/robots.txt": answer(b"", "Content-Length: 0"),
        "/": answer(chunked(body) if in_chunks else body, *own),
        "/2": answer(plain, f"Content-Length: {len(plain)}"),
    }
    site = Site(tmp_path / "web", tmp_path / "crawl")
    site.add("never.example/", "a web needs a host")
    site.seeds(f"{HOST}/")
    with serving(answers) as server:
        monkeypatch.setenv(PORT, str(server["port"]))
        site.crawl(TWISTED_DNS_RESOLVER="tests.archive.raw.ToRawServer", LSWC_MAX_DUPLICATES=0)
    assert {record["url"]: record["language"] for record in site.records} == {
        f"{HOST}/": "th", f"{HOST}/2": "th",
    }  # fmt: skip
    done = run([*SCRAPY, "corpus", str(site.folder)])
    assert "2 pages with text" in done.stdout
