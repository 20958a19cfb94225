"""WARC records (ISO 28500:2017): each a member of gzip, and what its header says of a page."""

from __future__ import annotations

from base64 import b32encode
from hashlib import sha1
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from isal import igzip

from lswc.language.registry import three_letters

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

_PROFILES = "http://netpreserve.org/warc/1.1/revisit/"
IDENTICAL = f"{_PROFILES}identical-payload-digest"
NOT_MODIFIED = f"{_PROFILES}server-not-modified"
"""Profiles of revisit records (ISO 28500:2017 §6.7)."""

DOM = "urn:dom:"
"""Stands before the URL of a page in the record of what a browser showed of it, as Browsertrix
names what it makes of pages: ``urn:text:``, ``urn:view:``."""

_LEVEL = 2  # of ISA-L's four: as small as zlib's 3, at a quarter of the time


class RecordKind(NamedTuple):
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


def packed(
    kind: RecordKind, date: str, headers: Mapping[str, str], block: bytes, record_id: str = ""
) -> bytes:
    """Return a record (ISO 28500:2017 §4) as a member of gzip; no header has a line break."""
    more = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    head = (
        f"WARC/1.1\r\nWARC-Type: {kind.type}\r\nWARC-Date: {date}\r\n"
        f"WARC-Record-ID: <urn:{record_id or new_id()}>\r\n"
        f"Content-Length: {len(block)}\r\nContent-Type: {kind.media_type}\r\n"
        f"{more}WARC-Block-Digest: sha1:{digest_of(block)}\r\n\r\n"
    )
    return igzip.compress(b"".join((head.encode(), block, b"\r\n\r\n")), _LEVEL)


def digest_of(data: bytes) -> str:
    """Return a digest as WARC files have it: SHA-1 in base 32."""
    return b32encode(sha1(data, usedforsecurity=False).digest()).decode()


def new_id() -> str:
    return f"uuid:{uuid4()}"


def warc_fields(values: Mapping[str, object]) -> bytes:
    """Return ``application/warc-fields``; what could end a line is a blank."""
    lines = (f"{name}: {' '.join(str(value).split())}\r\n" for name, value in values.items())
    return "".join(lines).encode(errors="replace")


def warc_date(time: datetime) -> str:
    return time.isoformat(timespec="seconds")[:19] + "Z"  # strftime takes ten times as long
