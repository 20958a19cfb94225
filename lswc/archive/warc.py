"""WARC 1.1 files (ISO 28500:2017), one gzip member a record, and a CDXJ index beside each."""

from __future__ import annotations

import json
from base64 import b32encode
from collections import OrderedDict
from hashlib import sha1
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

import surt
from fastwarc import WarcRecord, WarcRecordType
from isal import igzip

from lswc.archive.files import Appended, cut
from lswc.errors import writing
from lswc.visit.attempt import Original

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime
    from pathlib import Path

    from lswc.visit.attempt import Attempt, Exchange

_PROFILES = "http://netpreserve.org/warc/1.1/revisit/"
IDENTICAL = f"{_PROFILES}identical-payload-digest"
NOT_MODIFIED = f"{_PROFILES}server-not-modified"
"""Profiles of revisit records (ISO 28500:2017 §6.7)."""

REMEMBERED = 65_536
"""Payloads that are remembered, to store the next identical one as a revisit record."""

_LEVEL = 2  # of ISA-L's four: as small as zlib's 3, at a quarter of the time


class WarcWriter:
    """Writes the records of one crawl into ``warc/`` in its folder.

    A file is as large as ``limit`` bytes allow, and one page more; every run begins a new one,
    with a ``warcinfo`` record of ``info``. ``committed`` has the lengths of the files that were
    open at the last commit, by their paths in the crawl folder. What lies beyond is cut, and
    files begun after it are removed. Raises ArchiveError.
    """

    def __init__(
        self,
        folder: Path,
        prefix: str,
        info: Mapping[str, object],
        limit: float,
        committed: Mapping[str, int],
    ) -> None:
        self._folder = folder / "warc"
        self._prefix, self._info, self._limit = prefix, info, limit
        self._warc: Appended | None = None
        self._cdxj: Appended | None = None
        self._info_id = ""
        self._seen: OrderedDict[str, Original] = OrderedDict()
        self._number = self._recover(folder, committed)

    def _recover(self, folder: Path, committed: Mapping[str, int]) -> int:
        """Cut or remove what isn't committed; return the number of the last file."""
        known = [name for name in committed if name.startswith("warc/")]
        last = max((_number(name) for name in known), default=0)
        with writing(self._folder):
            found = sorted(self._folder.glob("*-*.*"), key=lambda path: _number(path.name))
            for path in found:
                if _number(path.name) > last:
                    path.unlink()
            for name in known:
                cut(folder / name, committed[name])
            for path in found:
                if path.suffix == ".cdxj" and path.exists():
                    self._remember(path)
                    if _number(path.name) == last:
                        _sort(path)
        return last

    def _remember(self, path: Path) -> None:
        for url, fields in entries(path):
            if fields["mime"] != "warc/revisit":
                date = _iso(fields["timestamp"])
                self._keep(Original(url, date, fields["digest"]))

    def _keep(self, kept: Original) -> None:
        self._seen[kept.digest] = kept
        self._seen.move_to_end(kept.digest)
        if len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)

    @property
    def opened(self) -> list[Appended]:
        """The files that are open."""
        return [file for file in (self._warc, self._cdxj) if file is not None]

    def forget(self) -> None:
        """Refer to no payload stored so far."""
        self._seen.clear()

    def write(self, attempts: Iterable[tuple[Attempt, Mapping[str, object]]]) -> None:
        """Append the exchanges of attempts, each with a metadata record if it has fields."""
        exchanges = [(a, a.exchange, about) for a, about in attempts if a.exchange is not None]
        if not exchanges:
            return
        if self._warc is not None and self._warc.end >= self._limit:
            self.close()  # now, because what it holds is committed
        warc, cdxj = self._files(exchanges[0][0].time)
        data, index = bytearray(), bytearray()
        for attempt, exchange, about in exchanges:
            for member, line in self._members(attempt, exchange, about):
                if line:
                    offset = warc.end + len(data)
                    index += _line(attempt, line, len(member), offset, warc.path.name)
                data += member
        warc.append(bytes(data))
        cdxj.append(bytes(index))

    def _files(self, time: datetime) -> tuple[Appended, Appended]:
        if self._warc is None or self._cdxj is None:
            self._number += 1
            name = f"{self._prefix}-{time:%Y%m%d%H%M%S}-{self._number:05}"
            self._warc = Appended(self._folder / f"{name}.warc.gz")
            self._cdxj = Appended(self._folder / f"{name}.cdxj")
            self._info_id = _id()
            headers = {"WARC-Filename": self._warc.path.name}
            block = _fields(self._info)
            self._warc.append(_member(_INFO, _date(time), headers, block, self._info_id))
            self._warc.mark()
        return self._warc, self._cdxj

    def _members(
        self, attempt: Attempt, exchange: Exchange, about: Mapping[str, object]
    ) -> Iterator[tuple[bytes, dict[str, str] | None]]:
        """Yield the gzip members of an exchange, each with its fields in the index, if any."""
        date, record = _date(attempt.time), _id()
        shared = {"WARC-Target-URI": attempt.url, "WARC-Warcinfo-ID": f"<urn:{self._info_id}>"}
        yield self._response(attempt, exchange, shared, record)
        concurrent = shared | {"WARC-Concurrent-To": f"<urn:{record}>"}
        yield _member(_REQUEST, date, concurrent, exchange.request), None
        if about:
            yield _member(_METADATA, date, concurrent, _fields(about)), None

    def _response(
        self, attempt: Attempt, exchange: Exchange, shared: dict[str, str], record: str
    ) -> tuple[bytes, dict[str, str]]:
        date, payload = _date(attempt.time), b"".join(exchange.body)
        digest = b32encode(sha1(payload, usedforsecurity=False).digest()).decode()
        seen = self._seen.get(digest)
        if payload:
            self._keep(seen or Original(attempt.url, date, digest))
        earlier = attempt.unchanged or seen
        if earlier is not None:
            digest = earlier.digest
        headers = shared | {"WARC-Payload-Digest": f"sha1:{digest}"}
        if attempt.ip:
            headers["WARC-IP-Address"] = attempt.ip
        if earlier is None:
            if attempt.truncated:
                headers["WARC-Truncated"] = attempt.truncated
            block, kind, mime = bytes(exchange.head) + payload, _RESPONSE, attempt.mime or "unk"
        else:
            headers |= {
                "WARC-Profile": NOT_MODIFIED if attempt.unchanged else IDENTICAL,
                "WARC-Refers-To-Target-URI": earlier.url,
                "WARC-Refers-To-Date": earlier.date,
            }
            block, kind, mime = bytes(exchange.head), _REVISIT, "warc/revisit"
        fields = {"mime": mime, "digest": digest}
        return _member(kind, date, headers, block, record), fields

    def close(self) -> None:
        """Close the open files and sort the index; the next record begins new ones.

        All that was written must be committed: a sorted index can't be cut.
        """
        for file in self.opened:
            file.close()
        if self._cdxj is not None:
            _sort(self._cdxj.path)
        self._warc = self._cdxj = None


def entries(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the URL and the fields of each line of a CDXJ file, its ``timestamp`` among them."""
    with path.open("rb") as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                return  # torn by a kill
            _, timestamp, fields = line.split(b" ", 2)
            found = json.loads(fields)
            yield found["url"], found | {"timestamp": timestamp.decode()}


class _Kind(NamedTuple):
    type: WarcRecordType
    media_type: str


_INFO = _Kind(WarcRecordType.warcinfo, "application/warc-fields")
_METADATA = _Kind(WarcRecordType.metadata, "application/warc-fields")
_REQUEST = _Kind(WarcRecordType.request, "application/http; msgtype=request")
_RESPONSE = _Kind(WarcRecordType.response, "application/http; msgtype=response")
_REVISIT = _Kind(WarcRecordType.revisit, "application/http; msgtype=response")


def _member(
    kind: _Kind, date: str, headers: Mapping[str, str], block: bytes, record_id: str = ""
) -> bytes:
    record = WarcRecord()
    record.init_headers(kind.type, record_urn=(record_id or _id()).encode())
    record.headers["WARC-Date"] = date
    record.headers["Content-Type"] = kind.media_type
    for name, value in headers.items():
        record.headers[name] = value
    record.set_bytes_content(block)
    plain = BytesIO()
    record.write(plain, checksum_data=True)
    return igzip.compress(plain.getbuffer(), _LEVEL)


def _id() -> str:
    return f"uuid:{uuid4()}"


def _fields(values: Mapping[str, object]) -> bytes:
    """Return ``application/warc-fields``; what could end a line is a blank."""
    lines = (f"{name}: {' '.join(str(value).split())}\r\n" for name, value in values.items())
    return "".join(lines).encode(errors="replace")


def _date(time: datetime) -> str:
    return f"{time:%Y-%m-%dT%H:%M:%SZ}"


def _iso(timestamp: str) -> str:
    day, time = timestamp[:8], timestamp[8:]
    return f"{day[:4]}-{day[4:6]}-{day[6:]}T{time[:2]}:{time[2:4]}:{time[4:]}Z"


def _line(
    attempt: Attempt, fields: Mapping[str, str], length: int, offset: int, filename: str
) -> bytes:
    found = {
        "url": attempt.url,
        **fields,
        "status": str(attempt.status),
        "length": str(length),
        "offset": str(offset),
        "filename": filename,
    }
    key = surt.surt(attempt.url)
    return f"{key} {attempt.time:%Y%m%d%H%M%S} {json.dumps(found)}\n".encode()


def _sort(path: Path) -> None:
    """Sort a file by lines, byte by byte, as lookups expect it."""
    with writing(path):
        lines = sorted(path.read_bytes().splitlines(keepends=True))
        new = path.with_suffix(".new")
        new.write_bytes(b"".join(lines))
        new.replace(path)


def _number(name: str) -> int:
    digits = name.partition(".")[0].rpartition("-")[2]
    return int(digits) if digits.isdecimal() else 0
