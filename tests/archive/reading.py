"""What others' tools read in a crawl folder."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from base64 import b32encode
from hashlib import sha1
from io import BytesIO
from typing import IO, TYPE_CHECKING, NamedTuple

from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import ChunkedDataReader

from lswc.archive.cdxj import entries

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Read(NamedTuple):
    """A WARC record: ``block`` as stored, ``content`` as a browser sees it."""

    type: str
    url: str
    headers: dict[str, str]
    status: str
    http: list[tuple[str, str]]
    content: bytes


def _read(file: IO[bytes]) -> Iterator[Read]:
    for record in ArchiveIterator(file):
        headers = dict(record.rec_headers.headers)
        http = record.http_headers
        yield Read(
            record.rec_type,
            headers.get("WARC-Target-URI", ""),
            headers,
            http.statusline if http else "",
            http.headers if http else [],
            record.content_stream().read(),
        )


def records(folder: Path) -> list[Read]:
    """Return the records of a crawl's WARC files as warcio reads them."""
    found: list[Read] = []
    for path in sorted((folder / "warc").glob("*.warc.gz")):
        with path.open("rb") as file:
            found += _read(file)
    return found


def member(folder: Path, fields: dict[str, str]) -> Read:
    """Return the one record that an index entry leads to."""
    with (folder / "warc" / fields["filename"]).open("rb") as file:
        file.seek(int(fields["offset"]))
        (only,) = _read(BytesIO(file.read(int(fields["length"]))))
    return only


def check(folder: Path) -> None:
    """Fail the test unless ``warcio check`` passes every file.

    It takes a payload digest for that of the chunks: in chunks it is to be that of what they hold.
    """
    files = sorted((folder / "warc").glob("*.warc.gz"))
    command = [sys.executable, "-m", "warcio.cli", "check", "-v", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    failed = [line for line in done.stdout.splitlines() if "digest failed" in line]
    assert all("payload digest failed" in line for line in failed), done.stdout + done.stderr
    assert len(failed) <= sum(map(_in_chunks, files)), done.stdout + done.stderr
    assert "digest pass" in done.stdout


def _in_chunks(path: Path) -> int:
    """Return how many records of a file are in chunks; each has the digest of what they hold."""
    found = 0
    with path.open("rb") as file:
        for record in ArchiveIterator(file):
            http = record.http_headers if record.rec_type == "response" else None
            if http is not None and http.get_header("Transfer-Encoding") == "chunked":
                reader = ChunkedDataReader(record.raw_stream)
                body = b"".join(iter(lambda: reader.read(), b""))  # noqa: B023
                digest = b32encode(sha1(body, usedforsecurity=False).digest()).decode()
                assert record.rec_headers.get_header("WARC-Payload-Digest") == f"sha1:{digest}"
                found += 1
    return found


def blocks(folder: Path) -> dict[str, bytes]:
    """Return the block of every response and revisit record by URL, with FastWARC."""
    from fastwarc import ArchiveIterator as Fast
    from fastwarc import WarcRecordType

    kinds = WarcRecordType.response | WarcRecordType.revisit
    found: dict[str, bytes] = {}
    for path in sorted((folder / "warc").glob("*.warc.gz")):
        with path.open("rb") as file:
            for record in Fast(file, record_types=kinds, parse_http=False):
                found[record.headers["WARC-Target-URI"]] = record.reader.read()
    return found


def index(folder: Path) -> dict[str, dict[str, str]]:
    """Return the fields of the CDXJ lines by URL; fails if a file isn't sorted."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted((folder / "warc").glob("*.cdxj")):
        lines = path.read_bytes().splitlines()
        assert lines == sorted(lines)
        found |= dict(entries(path))
    return found


def pages(folder: Path) -> list[str]:
    """Return the URLs in the record of pages."""
    return [json.loads(line)["url"] for line in as_zcat_reads(folder)]


def as_zcat_reads(folder: Path) -> list[bytes]:
    """Return the lines that ``zcat -f pages*.jsonl*`` prints: the record of pages."""
    found = sorted(folder.glob("pages*.jsonl*"), key=lambda path: path.name)
    data = [path.read_bytes() for path in found]
    unpacked = [gzip.decompress(some) if some[:2] == b"\x1f\x8b" else some for some in data]
    return b"".join(unpacked).splitlines(keepends=True)
