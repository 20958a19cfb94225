"""What others' tools read in a crawl folder."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from io import BytesIO
from typing import IO, TYPE_CHECKING, NamedTuple

from warcio.archiveiterator import ArchiveIterator

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
    """Fail the test unless ``warcio check`` passes every file."""
    files = sorted((folder / "warc").glob("*.warc.gz"))
    command = [sys.executable, "-m", "warcio.cli", "check", "-v", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "digest pass" in done.stdout


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
