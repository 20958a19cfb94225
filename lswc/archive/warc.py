"""WARC 1.1 files (ISO 28500:2017), one gzip member a record, and a CDXJ index beside each."""

from __future__ import annotations

import json
import zlib
from base64 import b32encode
from collections import OrderedDict
from hashlib import sha1
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

import msgspec
from isal import igzip

from lswc.archive.appended_files import Appended, lines, replace
from lswc.archive.surt_keys import surt_of
from lswc.errors import writing
from lswc.frontier.attempt import Original
from lswc.language.codes import three_letters

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from datetime import datetime
    from pathlib import Path

    from lswc.archive.appended_files import Aside
    from lswc.frontier.attempt import Attempt, Exchange

_PROFILES = "http://netpreserve.org/warc/1.1/revisit/"
IDENTICAL = f"{_PROFILES}identical-payload-digest"
NOT_MODIFIED = f"{_PROFILES}server-not-modified"
"""Profiles of revisit records (ISO 28500:2017 §6.7)."""

DOM = "urn:dom:"
"""Stands before the URL of a page in the record of what a browser showed of it, as Browsertrix
names what it makes of pages: ``urn:text:``, ``urn:view:``."""

REMEMBERED = 65_536
"""Payloads that are remembered, to store the next identical one as a revisit record."""

TAIL = 1_000_000
"""Bytes at the end of a WARC file that a power cut may have spoilt: a start reads them."""

_LEVEL = 2  # of ISA-L's four: as small as zlib's 3, at a quarter of the time


class WarcWriter:
    """Writes the records of one crawl into ``warc/`` in its folder.

    A file is as large as ``limit`` bytes allow, and one page more; every run begins a new one,
    with a ``warcinfo`` record of ``info``. ``committed`` names the files that the frontier knows,
    by their paths in the crawl folder; nothing may lie beyond. Raises LswcError.
    """

    def __init__(
        self,
        folder: Path,
        prefix: str,
        info: Mapping[str, object],
        limit: float,
        committed: Iterable[str],
    ) -> None:
        self._folder = folder / "warc"
        self._prefix, self._info, self._limit = prefix, info, limit
        self._warc: Appended | None = None
        self._cdxj: Appended | None = None
        self._info_id = ""
        self._seen: OrderedDict[str, Original] = OrderedDict()
        self._number = self._recover(committed)

    def _recover(self, committed: Iterable[str]) -> int:
        """Remember what is stored; return the number of the last file."""
        names = [name for name in committed if name.startswith("warc/")]
        found = sorted(self._folder.glob("*-*.cdxj"), key=lambda path: _number(path.name))
        for path in found:
            self._remember(path)
        for path in found[-1:]:
            _sort(path)  # a kill may have left it as it was written
        return max((_number(name) for name in [*names, *(p.name for p in found)]), default=0)

    def _remember(self, path: Path) -> None:
        for url, fields in entries(path):
            if fields["mime"] != "warc/revisit" and not url.startswith(DOM):
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
        told = _told(about)
        date, record = _date(attempt.time), _id()
        shared = {"WARC-Target-URI": attempt.url, "WARC-Warcinfo-ID": f"<urn:{self._info_id}>"}
        response = shared | {
            _HEADERS[name]: value for name, value in told.items() if name in _HEADERS
        }
        member, fields = self._response(attempt, exchange, response, record)
        yield member, fields | told
        concurrent = shared | {"WARC-Concurrent-To": f"<urn:{record}>"}
        yield _member(_REQUEST, date, concurrent, exchange.request), None
        if attempt.rendered is not None:
            html = attempt.rendered.html
            own = concurrent | {"WARC-Target-URI": DOM + attempt.url}
            fields = {"url": DOM + attempt.url, "mime": "text/html", "digest": _digest(html)}
            yield _member(_RENDERED, date, own, html), fields | told
        if about:
            yield _member(_METADATA, date, concurrent, _fields(about)), None

    def _response(
        self, attempt: Attempt, exchange: Exchange, shared: dict[str, str], record: str
    ) -> tuple[bytes, dict[str, str]]:
        date, payload = _date(attempt.time), b"".join(exchange.body)
        digest = _digest(payload)
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

    def close(self, *, whole: bool = True) -> None:
        """Close the open files; the next record begins new ones.

        The index is sorted if all that was written is committed: a sorted one can't be cut.
        """
        for file in self.opened:
            file.close()
        if self._cdxj is not None and whole:
            _sort(self._cdxj.path)
        self._warc = self._cdxj = None


def entries(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the URL and the fields of each line of a CDXJ file, its ``timestamp`` among them.

    Lines that are torn or damaged are left out.
    """
    return ((entry["url"], entry) for _, entry in index(path) if entry is not None)


def index(path: Path, until: int | None = None) -> Iterator[tuple[bytes, dict[str, str] | None]]:
    """Yield each line of a CDXJ file, and its fields; None if it is torn or damaged.

    Only of the lines before ``until`` bytes, if it isn't None.
    """
    return ((line, _entry(line)) for line in lines(path, until))


def _entry(line: bytes) -> dict[str, str] | None:
    try:
        _, timestamp, fields = line.split(b" ", 2)
        found: dict[str, str] = json.loads(fields)
        return found | {"url": found["url"], "timestamp": timestamp.decode()}
    except (ValueError, KeyError, TypeError):
        return None


def is_whole(warc: Path, entry: Mapping[str, str]) -> bool:
    """Tell whether a WARC file holds the record that an index entry leads to, undamaged."""
    try:
        with warc.open("rb") as file:
            file.seek(int(entry["offset"]))
            data = file.read(int(entry["length"]))
        member = zlib.decompressobj(31)
        record = member.decompress(data)
    except (OSError, ValueError, KeyError, zlib.error):
        return False
    return member.eof and f"\r\nWARC-Target-URI: {entry['url']}\r\n".encode() in record[:65_536]


def latest(crawl: Path) -> list[Path]:
    """Return the index of the WARC file that grew last, if there is one."""
    return sorted((crawl / "warc").glob("*-*.cdxj"), key=lambda path: _number(path.name))[-1:]


def damaged(warc: Path, cdxj: Path) -> int:
    """Return how many records of the last megabyte of a WARC file aren't whole."""
    size = warc.stat().st_size if warc.exists() else 0
    found = (entry for _, entry in index(cdxj) if entry is not None)
    near = (entry for entry in found if size - TAIL < int(entry["offset"]) < size)
    return sum(not is_whole(warc, entry) for entry in near)


class _Span(NamedTuple):
    """An exchange in a WARC file: the bytes of its records, and its line in the index."""

    begin: int
    end: int
    line: bytes
    entry: dict[str, str]


def take_out(crawl: Path, urls: Collection[str], aside: Aside) -> None:
    """Keep the records about URLs, and torn ones, aside. Raises LswcError."""
    for warc in sorted((crawl / "warc").glob("*.warc.gz")):
        cdxj = index_of(warc)
        if cdxj.exists():
            _take_out(warc, cdxj, urls, aside)
        else:
            aside.move(warc)
    for cdxj in (crawl / "warc").glob("*.cdxj"):
        if not cdxj.with_suffix(".warc.gz").exists():
            aside.move(cdxj)


def index_of(warc: Path) -> Path:
    """Return the path of the index beside a WARC file."""
    return warc.with_name(warc.name.removesuffix(".warc.gz") + ".cdxj")


def _take_out(warc: Path, cdxj: Path, urls: Collection[str], aside: Aside) -> None:
    with writing(warc):
        found = list(index(cdxj))
        spans = _spans(warc, [(line, entry) for line, entry in found if entry is not None])
        begin = spans[0].begin if spans else _exchange_end(warc, 0)
        kept = [span for span in spans if page_of(span.entry) not in urls and span.end]
        written, at = [], begin
        for span in kept:
            written.append(_moved(span, at))
            at += span.end - span.begin
        if at == warc.stat().st_size and len(kept) == len(found):
            return
        _copy(warc, [(0, begin), *((span.begin, span.end) for span in kept)], aside)
        new = cdxj.with_suffix(".new")
        new.write_bytes(b"".join(sorted(written)))
        aside.keep(cdxj.name, cdxj.read_bytes())
        replace(cdxj, new)


def _spans(warc: Path, found: list[tuple[bytes, dict[str, str]]]) -> list[_Span]:
    """Return the exchanges of a file in their order; ``end`` is 0 if one isn't whole."""
    size = warc.stat().st_size
    found.sort(key=lambda pair: int(pair[1]["offset"]))
    begins = [int(entry["offset"]) for _, entry in found]
    spans = []
    for (line, entry), begin, following in zip(found, begins, [*begins[1:], size], strict=True):
        if begin + int(entry["length"]) > size:
            end = 0
        elif following < size:
            end = following
        else:  # the last that is whole: nothing says where its other records end
            end = _exchange_end(warc, begin)
        spans.append(_Span(begin, end, line, entry))
    return spans


def _exchange_end(warc: Path, begin: int) -> int:
    """Return where the records end that belong to the one which begins at ``begin``.

    0 if even that one is torn. Those of an exchange follow its response.
    """
    with warc.open("rb") as file:
        file.seek(begin)
        data = file.read()
    at = 0
    while at < len(data):
        member = zlib.decompressobj(31)
        try:
            record = member.decompress(data[at:])
        except zlib.error:
            break
        if not member.eof or (at and b"\r\nWARC-Concurrent-To: " not in record[:65_536]):
            break
        at = len(data) - len(member.unused_data)
    return begin + at if at else 0


def page_of(entry: Mapping[str, str]) -> str:
    """Return the URL of the page that an index entry belongs to: its own, or a browser's."""
    return entry["url"].removeprefix(DOM)


def _moved(span: _Span, offset: int) -> bytes:
    """Return the index line of an exchange that is now elsewhere in its file."""
    key, timestamp, _ = span.line.split(b" ", 2)
    fields = {name: value for name, value in span.entry.items() if name != "timestamp"}
    return b" ".join(
        (key, timestamp, json.dumps(fields | {"offset": str(offset)}).encode() + b"\n")
    )


def _copy(warc: Path, kept: list[tuple[int, int]], aside: Aside) -> None:
    """Write a WARC file anew with parts of it; keep the others aside."""
    new = warc.with_name(warc.name + ".new")
    with warc.open("rb") as old, new.open("wb") as file, aside.new(warc.name).open("wb") as out:
        at = 0
        for begin, end in [*kept, (size := warc.stat().st_size, size)]:
            out.write(old.read(begin - at))
            file.write(old.read(end - begin))
            at = end
    replace(warc, new)


class _Kind(NamedTuple):
    type: str
    media_type: str


_HEADERS = {
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


def _told(about: Mapping[str, object]) -> dict[str, str]:
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


_INFO = _Kind("warcinfo", "application/warc-fields")
_METADATA = _Kind("metadata", "application/warc-fields")
_REQUEST = _Kind("request", "application/http; msgtype=request")
_RESPONSE = _Kind("response", "application/http; msgtype=response")
_RENDERED = _Kind("resource", "text/html; charset=utf-8")
_REVISIT = _Kind("revisit", "application/http; msgtype=response")


def _member(
    kind: _Kind, date: str, headers: Mapping[str, str], block: bytes, record_id: str = ""
) -> bytes:
    """Return a record (ISO 28500:2017 §4) as a member of gzip; no header has a line break."""
    more = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    head = (
        f"WARC/1.1\r\nWARC-Type: {kind.type}\r\nWARC-Date: {date}\r\n"
        f"WARC-Record-ID: <urn:{record_id or _id()}>\r\n"
        f"Content-Length: {len(block)}\r\nContent-Type: {kind.media_type}\r\n"
        f"{more}WARC-Block-Digest: sha1:{_digest(block)}\r\n\r\n"
    )
    return igzip.compress(b"".join((head.encode(), block, b"\r\n\r\n")), _LEVEL)


def _digest(data: bytes) -> str:
    """Return a digest as WARC files have it: SHA-1 in base 32."""
    return b32encode(sha1(data, usedforsecurity=False).digest()).decode()


def _id() -> str:
    return f"uuid:{uuid4()}"


def _fields(values: Mapping[str, object]) -> bytes:
    """Return ``application/warc-fields``; what could end a line is a blank."""
    lines = (f"{name}: {' '.join(str(value).split())}\r\n" for name, value in values.items())
    return "".join(lines).encode(errors="replace")


_NO_DIGITS = str.maketrans("", "", "-:TZ")


def _date(time: datetime) -> str:
    return time.isoformat(timespec="seconds")[:19] + "Z"  # strftime takes ten times as long


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
    timestamp = _date(attempt.time).translate(_NO_DIGITS)
    return f"{surt_of(found['url'])} {timestamp} ".encode() + msgspec.json.encode(found) + b"\n"


def _sort(path: Path) -> None:
    """Sort a file by lines, byte by byte, as lookups expect it."""
    with writing(path):
        new = path.with_suffix(".new")
        new.write_bytes(b"".join(sorted(lines(path))))
        replace(path, new)


def _number(name: str) -> int:
    digits = name.partition(".")[0].rpartition("-")[2]
    return int(digits) if digits.isdecimal() else 0
