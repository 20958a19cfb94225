"""What earlier crawls hold of a URL."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from lswc.archive import warc_writer
from lswc.archive.appended_files import ArchiveError, OpenFiles
from lswc.archive.cdxj import entries
from lswc.archive.collection import collected
from lswc.archive.earlier_crawls import Earlier, Held
from lswc.archive.warc_writer import WarcWriter, digest_of
from lswc.frontier.rules.visit import Attempt, Exchange, Rendered
from tests.archive.wire import chunked

if TYPE_CHECKING:
    from pathlib import Path

URL = "http://a.example/"
DAY = datetime(2026, 9, 1, 8, tzinfo=UTC)
HEAD = b'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: "1"\r\n\r\n'


def response(body: bytes, url: str = URL, status: int = 200, truncated: str = "") -> Attempt:
    """Return a response as it came."""
    exchange = Exchange(b"GET / HTTP/1.1\r\n\r\n", bytearray(HEAD), [body])
    return Attempt(url, DAY, status, "text/html", exchange=exchange, truncated=truncated)


def crawl(folder: Path, *attempts: Attempt) -> Path:
    """Store what a crawl fetched."""
    folder.mkdir()
    writer = WarcWriter(OpenFiles(folder), "th", {}, 10**9, {})
    writer.write([(attempt, {}) for attempt in attempts])
    writer.close()
    return folder


def find(crawls: list[Path], url: str) -> Held | None:
    with closing(Earlier(crawls)) as earlier:
        return earlier.find(url)


def test_a_stored_page_is_found_with_its_validators(tmp_path: Path) -> None:
    page = response(b"page")
    page.rendered = Rendered(b"what a browser made of it", URL, ())
    held = find([crawl(tmp_path / "one", page)], URL)
    assert held is not None
    assert held.original[:3] == (URL, "2026-09-01T08:00:00Z", held.original.digest)
    assert held.original.id.startswith("<urn:uuid:")
    assert held.original.file.endswith("-00001.warc.gz")
    assert len(held.original.digest) == 32
    assert held.response.headers == ((b"Content-Type", b"text/html"), (b"ETag", b'"1"'))
    assert held.response.get("Content-Type") == "text/html"
    assert held.response.payload == b"page"


@pytest.mark.parametrize(
    ("attempt", "url"),
    [
        (response(b"page"), "https://a.example/"),  # its twin has validators of its own
        (response(b"page"), "http://a.example/other"),
        (response(b"page", status=404), URL),
        (response(b"pa", truncated="disconnect"), URL),
    ],
)
def test_nothing_else_is(tmp_path: Path, attempt: Attempt, url: str) -> None:
    assert find([crawl(tmp_path / "one", attempt)], url) is None


def test_the_latest_counts(tmp_path: Path) -> None:
    first = crawl(tmp_path / "first", response(b"old"), response(b"only", f"{URL}only"))
    newer = response(b"newer")
    newer.time += timedelta(seconds=1)
    second = crawl(tmp_path / "second", response(b"new"), newer)
    found = [find([second, first], url) for url in (URL, f"{URL}only")]
    assert [held and held.response.payload for held in found] == [b"newer", b"only"]


def in_chunks(size: int) -> Attempt:
    """Return a response in chunks of a size."""
    attempt = response(chunked(b"a page that is longer than a chunk", size))
    assert attempt.exchange is not None
    attempt.exchange.head[-2:] = b"Transfer-Encoding: chunked\r\n\r\n"
    return attempt


def test_a_digest_of_chunks_is_that_of_their_payload_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warc_writer, "payload_digest", lambda _, body: digest_of(body))
    older = crawl(tmp_path / "older", in_chunks(7))  # as before, and as warcio makes them still
    monkeypatch.undo()
    held = find([older], URL)
    assert held is not None
    again = in_chunks(9)
    again.held = held.sent()
    newer = crawl(tmp_path / "newer", again)
    (digest,) = (fields["digest"] for _, fields in entries(next((older / "warc").glob("*.cdxj"))))
    (fields,) = (fields for _, fields in entries(next((newer / "warc").glob("*.cdxj"))))
    assert (fields["mime"], fields["digest"]) == ("warc/revisit", digest)


def test_a_killed_crawl_is_read_as_far_as_it_came(tmp_path: Path) -> None:
    killed = crawl(tmp_path / "one", response(b"page"))
    (index,) = (killed / "warc").glob("*.cdxj")
    with index.open("ab") as file:
        file.write(b'example,a)/torn 20260901080000 {"url": "http://a.ex')
    held = find([killed], URL)
    assert held is not None
    assert held.response.payload == b"page"


def test_an_archive_that_is_gone_or_damaged_holds_nothing(tmp_path: Path) -> None:
    folder = crawl(tmp_path / "one", response(b"page"))
    with closing(Earlier([folder])) as earlier:
        (warc,) = (folder / "warc").glob("*.warc.gz")
        warc.write_bytes(b"\x1f\x8b no gzip" * 100)
        assert earlier.find(URL) is None
        warc.unlink()
        assert earlier.find(URL) is None


def test_a_folder_without_an_archive(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="holds no archive"):
        Earlier([tmp_path])
    folder = crawl(tmp_path / "one", response(b"page"))
    (index,) = (folder / "warc").glob("*.cdxj")
    index.write_bytes(b"no index\n")
    with pytest.raises(ArchiveError, match=r"can't read .*cdxj"):
        Earlier([folder])


def test_a_warc_file_that_is_gone_is_named(tmp_path: Path) -> None:
    folder = crawl(tmp_path / "one", response(b"x"))
    assert collected([folder]).gone == ()
    (warc,) = folder.glob("warc/*.warc.gz")
    warc.unlink()
    (said,) = collected([folder]).gone
    assert said.startswith(f"{warc} isn't there")
