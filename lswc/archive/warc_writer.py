"""WARC writer: the records and files of one crawl (ISO 28500:2017), and a CDXJ index beside each.

A record is a member of gzip.
"""

from __future__ import annotations

import os
import re
from base64 import b32encode
from collections.abc import Mapping
from hashlib import sha1
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from isal import igzip

from lswc.archive.cdxj import DOM, entries, index_line, iso_date, number_of, sort
from lswc.archive.http_message import BODY_BYTES, HttpResponse
from lswc.errors import writing
from lswc.frontier.rules.visit import DISCONNECT, Original
from lswc.language.registry import three_letters
from lswc.outcomes import CHANGED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime
    from pathlib import Path

    from lswc.archive.appended_files import Appended, OpenFiles
    from lswc.frontier.rules.visit import Attempt, Exchange

PLACES = 131_072
"""Payloads that are remembered at most; a new one may take the place of any before."""

ROOM = 32_000_000
"""Bytes of the file that says where they are."""

_LONGEST = 4_096  # bytes of an entry; a payload with a longer URL isn't remembered

_PROFILES = "http://netpreserve.org/warc/1.1/revisit/"
IDENTICAL = f"{_PROFILES}identical-payload-digest"
NOT_MODIFIED = f"{_PROFILES}server-not-modified"
"""Profiles of revisit records (ISO 28500:2017 §6.7)."""

AS_STORED = "200"
"""What the index says of a page that hasn't changed: the status of what it refers to."""

_LEVEL = 2  # of ISA-L's four: as small as zlib's 3, at a quarter of the time


class RecordKind(NamedTuple):
    """The WARC-Type of a record, and the Content-Type of its block."""

    type: str
    media_type: str


HEADERS = {
    "languages": "WARC-Identified-Content-Language",
    "mime-detected": "WARC-Identified-Payload-Type",
}
"""What is told of a page in the header of its record, by its name in the index. The former is a
header of Common Crawl's and the IIPC's: codes of ISO 639-3, the largest share first."""

_TYPES = {
    "html": "text/html", "pdf": "application/pdf", "rtf": "application/rtf", "text": "text/plain",
}  # fmt: skip
"""The media types of kinds of pages that have but one."""

_MOST = 3  # languages of a page, as in Common Crawl's index


def about_page(about: Mapping[str, object]) -> dict[str, str]:
    """Return what the index says of a page's type, languages, charset, as Common Crawl's does."""
    found = {}
    if media_type := _TYPES.get(str(about.get("kind"))):
        found["mime-detected"] = media_type
    shares = [share.partition("=")[0] for share in str(about.get("shares") or "").split()]
    languages = shares or [str(code) for code in (about.get("language"),) if code]
    if languages:
        codes = dict.fromkeys(three_letters(code) for code in languages)
        found["languages"] = ",".join(list(codes)[:_MOST])
    if charset := about.get("charset"):
        found["charset"] = str(charset)
    return found


INFO = RecordKind("warcinfo", "application/warc-fields")
METADATA = RecordKind("metadata", "application/warc-fields")
REQUEST = RecordKind("request", "application/http; msgtype=request")
RESPONSE = RecordKind("response", "application/http; msgtype=response")
RENDERED = RecordKind("resource", "text/html; charset=utf-8")
REVISIT = RecordKind("revisit", "application/http; msgtype=response")


_TRANSFERRED = re.compile(rb"^transfer-encoding[ \t]*:", re.IGNORECASE | re.MULTILINE)


def digest_of(data: bytes) -> str:
    """Return a digest as WARC files have it."""
    return b32encode(sha1(data, usedforsecurity=False).digest()).decode()


def payload_digest(head: bytes | bytearray, body: bytes) -> str:
    """Return the digest of a response's payload: its body without a Transfer-Encoding.

    A server may divide the same body into other chunks each time, and a payload is the entity
    body (ISO 28500:2017 §5.9; RFC 9110 §6.4).
    """
    if _TRANSFERRED.search(head):
        body = HttpResponse.of(bytes(head) + body).transferred(len(body) + BODY_BYTES)
    return digest_of(body)


Headers = Mapping[str, str | tuple[str, ...]]
"""Headers of a record; those that are there several times have a tuple."""


def packed(
    kind: RecordKind, date: str, headers: Headers, block: bytes, record_id: str = ""
) -> bytes:
    """Return a record (ISO 28500:2017 §4) as a member of gzip; no header has a line break."""
    more = "".join(
        [
            f"{name}: {one}\r\n"
            for name, value in headers.items()
            for one in ((value,) if isinstance(value, str) else value)
        ]
    )
    head = (
        f"WARC/1.1\r\nWARC-Type: {kind.type}\r\nWARC-Date: {date}\r\n"
        f"WARC-Record-ID: <urn:{record_id or new_id()}>\r\n"
        f"Content-Length: {len(block)}\r\nContent-Type: {kind.media_type}\r\n"
        f"{more}WARC-Block-Digest: sha1:{digest_of(block)}\r\n\r\n"
    )
    return igzip.compress(b"".join((head.encode(), block, b"\r\n\r\n")), _LEVEL)


def _sent_by(attempt: Attempt, exchange: Exchange) -> dict[str, str | tuple[str, ...]]:
    """Return by which protocols a response came, as the IIPC's proposals have it."""
    version = exchange.head[:8].decode("latin-1").lower()
    protocols = (version if version in ("http/1.0", "http/1.1") else "", attempt.protocol)
    found: dict[str, str | tuple[str, ...]] = {"WARC-Protocol": (*filter(None, protocols),)}
    if attempt.cipher:
        found["WARC-Cipher-Suite"] = attempt.cipher
    return found


def _lines_of(head: bytes | bytearray) -> tuple[str, ...]:
    return tuple(line.decode("latin-1") for line in bytes(head).splitlines() if line)


def new_id() -> str:
    """Return a WARC-Record-ID, without its brackets."""
    return f"uuid:{uuid4()}"


def warc_fields(values: Mapping[str, object]) -> bytes:
    """Return ``application/warc-fields``; what could end a line is a blank.

    A tuple has a line for each of its values.
    """
    every = (
        (name, one)
        for name, value in values.items()
        for one in (value if isinstance(value, tuple) else (value,))
    )
    lines = (f"{name}: {' '.join(str(value).split())}\r\n" for name, value in every)
    return "".join(lines).encode(errors="replace")


def warc_date(time: datetime) -> str:
    """Return a WARC-Date of a time in UTC, in whole seconds."""
    return time.isoformat(timespec="seconds")[:19] + "Z"  # strftime takes ten times as long


class Originals:
    """Where the latest payloads are stored: 1 MB of memory, the rest in a file without a name.

    A digest has one place in memory, which says where its entry is in the file. The file is
    written from its beginning again once it is full. So whatever is found is compared with the
    digest. Raises StorageError.
    """

    def __init__(self, folder: Path, places: int = PLACES, room: int = ROOM) -> None:
        self._room = room
        with writing(folder):
            self._file = TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115
        self._places = _zeros(places)
        self._end = 0

    def get(self, digest: str) -> Original | None:
        """Return where a payload of this digest is stored; None if that isn't known (any more)."""
        place = self._places[self._number(digest)]
        if not place:
            return None
        entry = os.pread(self._file.fileno(), _LONGEST, place - 1)
        told = entry.partition(b"\n")[0].decode("utf-8", "replace")
        found, *rest = told.split(" ", 4)
        if found != digest or len(rest) < 4:
            return None
        date, record, file, url = rest
        return Original(url, date, digest, id=record, file=file)

    def keep(self, kept: Original) -> None:
        """Remember where a payload is stored."""
        entry = f"{kept.digest} {kept.date} {kept.id} {kept.file} {kept.url}\n".encode()
        if len(entry) > _LONGEST:
            return
        if self._end + len(entry) > self._room:
            self._end = 0
        try:
            os.pwrite(self._file.fileno(), entry, self._end)
        except OSError:  # a full disk, say, which the crawl learns elsewhere
            return
        self._places[self._number(kept.digest)] = self._end + 1
        self._end += len(entry)

    def _number(self, digest: str) -> int:
        return hash(digest) % len(self._places)

    def clear(self) -> None:
        """Forget all."""
        self._places = _zeros(len(self._places))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _zeros(places: int) -> memoryview:
    return memoryview(bytearray(4 * places)).cast("I")


class WarcWriter:
    """Writes the records of one crawl into ``warc/``, among its files.

    A file is as large as ``limit`` bytes allow, and one page more; every run begins a new one,
    with a ``warcinfo`` record of ``info``. ``committed`` names the files that the frontier knows,
    by their paths in the crawl folder; nothing may lie beyond. Raises LswcError.
    """

    def __init__(
        self,
        files: OpenFiles,
        prefix: str,
        info: Mapping[str, object],
        limit: float,
        committed: Iterable[str],
    ) -> None:
        self._files = files
        self._prefix, self._info, self._limit = prefix, info, limit
        self._warc: Appended | None = None
        self._cdxj: Appended | None = None
        self._name = ""
        self._info_id = ""
        self._file = ""
        self._originals = Originals(files.crawl)
        self._number = self._recover(committed)

    def _recover(self, committed: Iterable[str]) -> int:
        """Remember what is stored; return the number of the last file."""
        names = [name for name in committed if name.startswith("warc/")]
        found = sorted(
            (self._files.crawl / "warc").glob("*-*.cdxj"), key=lambda path: number_of(path.name)
        )
        for path in found:
            self._remember(path)
        for path in found[-1:]:
            sort(path)  # a kill may have left it as it was written
        return max((number_of(name) for name in [*names, *(p.name for p in found)]), default=0)

    def _remember(self, path: Path) -> None:
        for url, fields in entries(path):
            if fields["mime"] != "warc/revisit" and not url.startswith(DOM):
                date = iso_date(fields["timestamp"])
                file = fields["filename"]
                self._originals.keep(Original(url, date, fields["digest"], file=file))

    def forget(self) -> None:
        """Refer to no payload stored so far."""
        self._originals.clear()

    def write(self, attempts: Iterable[tuple[Attempt, Mapping[str, object]]]) -> bytes:
        """Append the exchanges of attempts, each with a metadata record if it has fields.

        Returns what the index says of them.
        """
        exchanges = [(a, a.exchange, about) for a, about in attempts if a.exchange is not None]
        if not exchanges:
            return b""
        if self._warc is not None and self._warc.end >= self._limit:
            self._close_file(whole=True)  # now, because what it holds is committed
        warc, cdxj = self._opened(exchanges[0][0].time)
        data, index = bytearray(), bytearray()
        for attempt, exchange, about in exchanges:
            for member, fields in self._members(attempt, exchange, about):
                if fields:
                    stored = fields | {
                        "status": fields.get("status", str(attempt.status)),
                        "length": str(len(member)),
                        "offset": str(warc.end + len(data)),
                        "filename": warc.path.name,
                    }
                    index += index_line(warc_date(attempt.time), stored)
                data += member
        warc.append(bytes(data))
        cdxj.append(bytes(index))
        return bytes(index)

    def _opened(self, time: datetime) -> tuple[Appended, Appended]:
        if self._warc is None or self._cdxj is None:
            self._number += 1
            name = f"{self._prefix}-{time:%Y%m%d%H%M%S}-{self._number:05}"
            self._name = f"warc/{name}"
            self._warc = self._files.open(f"{self._name}.warc.gz")
            self._file = self._warc.path.name
            self._cdxj = self._files.open(f"{self._name}.cdxj")
            self._info_id = new_id()
            headers = {"WARC-Filename": self._warc.path.name}
            block = warc_fields(self._info)
            self._warc.append(packed(INFO, warc_date(time), headers, block, self._info_id))
            self._warc.mark()
        return self._warc, self._cdxj

    def _members(
        self, attempt: Attempt, exchange: Exchange, about: Mapping[str, object]
    ) -> Iterator[tuple[bytes, dict[str, str] | None]]:
        """Yield the gzip members of an exchange, each with its fields in the index, if any."""
        told = about_page(about)
        date, record = warc_date(attempt.time), new_id()
        shared = {"WARC-Target-URI": attempt.url, "WARC-Warcinfo-ID": f"<urn:{self._info_id}>"}
        response = shared | {
            HEADERS[name]: value for name, value in told.items() if name in HEADERS
        }
        is_changed = about.get("change") == CHANGED
        member, fields = self._response(attempt, exchange, response, record, is_changed)
        yield member, fields | told
        concurrent = shared | {"WARC-Concurrent-To": f"<urn:{record}>"}
        yield packed(REQUEST, date, concurrent, exchange.request), None
        if attempt.rendered is not None:
            html = attempt.rendered.html
            own = concurrent | {"WARC-Target-URI": DOM + attempt.url}
            fields = {"url": DOM + attempt.url, "mime": "text/html", "digest": digest_of(html)}
            yield packed(RENDERED, date, own, html), fields | told
        if about:
            if attempt.unchanged:
                about = {**about, "not-modified": _lines_of(exchange.head)}
            yield packed(METADATA, date, concurrent, warc_fields(about)), None

    def _response(
        self,
        attempt: Attempt,
        exchange: Exchange,
        shared: dict[str, str],
        record: str,
        is_changed: bool,
    ) -> tuple[bytes, dict[str, str]]:
        date, payload = warc_date(attempt.time), b"".join(exchange.body)
        digest = payload_digest(exchange.head, payload)
        # What was cut is the same as nothing: it may go on otherwise, and its page is read here.
        is_whole = attempt.truncated != DISCONNECT
        # A page that has changed may be as it was long ago: its versions are whole each.
        seen = self._originals.get(digest) if is_whole and not is_changed else None
        if seen is None and payload and is_whole:
            held = attempt.held
            seen = held if held is not None and digest in (held.digest, held.entity) else None
            own = Original(attempt.url, date, digest, id=f"<urn:{record}>", file=self._file)
            self._originals.keep(seen or own)
        earlier = attempt.unchanged or seen
        if earlier is not None:
            digest = earlier.digest
        headers: dict[str, str | tuple[str, ...]]
        headers = {**shared, "WARC-Payload-Digest": f"sha1:{digest}"}
        if attempt.ip:
            headers["WARC-IP-Address"] = attempt.ip
        headers |= _sent_by(attempt, exchange)
        if earlier is None:
            if attempt.truncated:
                headers["WARC-Truncated"] = attempt.truncated
            block, kind, mime = bytes(exchange.head) + payload, RESPONSE, attempt.mime or "unk"
        else:
            headers |= {
                "WARC-Profile": NOT_MODIFIED if attempt.unchanged else IDENTICAL,
                "WARC-Refers-To-Target-URI": earlier.url,
                "WARC-Refers-To-Date": earlier.date,
            }
            if earlier.id:
                headers["WARC-Refers-To"] = earlier.id
            if earlier.file:  # another crawl may have a file of the same name
                headers["WARC-Refers-To-Container"] = earlier.file
            # Replay shows nothing but the head of a revisit that has the status 304.
            block = b"" if attempt.unchanged else bytes(exchange.head)
            kind, mime = REVISIT, "warc/revisit"
        fields = {"url": attempt.url, "mime": mime, "digest": digest}
        if attempt.unchanged:
            fields["status"] = AS_STORED
        return packed(kind, date, headers, block, record), fields

    def close(self, *, whole: bool = True) -> None:
        """Close the files; the index is sorted as ``_close_file`` says."""
        self._close_file(whole=whole)
        self._originals.close()

    def _close_file(self, *, whole: bool) -> None:
        """Close the open files; the next record begins new ones.

        The index is sorted if all that was written is committed: a sorted one can't be cut.
        """
        if self._cdxj is not None:
            self._files.close(f"{self._name}.warc.gz")
            self._files.close(f"{self._name}.cdxj")
            if whole:
                sort(self._cdxj.path)
        self._warc = self._cdxj = None
