"""CDXJ index: a line per record of a WARC file, sorted by the keys of their URLs.

The keys are SURTs, as the library of that name makes them for Wayback machines.
"""

from __future__ import annotations

import re
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from lswc.archive.appended_files import lines, replace
from lswc.errors import writing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

with warnings.catch_warnings():
    # Its patterns aren't raw strings, which Python from 3.12 on says when it compiles them.
    warnings.simplefilter("ignore", SyntaxWarning)
    import surt

DOM = "urn:dom:"
"""Stands before the URL of a page in the record of what a browser showed of it, as Browsertrix
names what it makes of pages: ``urn:text:``, ``urn:view:``."""

# What the library leaves as it is, but for capitals. An escape of an ASCII character isn't.
_KEPT = r"(?:[A-Za-z0-9_~!$'*+,:@-]|%[89A-Fa-f][0-9A-Fa-f])"
_PLAIN = re.compile(
    rf"(?P<origin>https?://[a-z0-9][a-z0-9.-]*(?::[0-9]+)?)(?P<path>(?:/{_KEPT}(?:{_KEPT}|\.)*)*)/?"
)


def surt_of(url: str) -> str:
    """Return the key of a URL: ``th,co,example)/path`` of ``http://www.example.co.th/Path/``.

    The library goes through all parts of a URL by many steps. A plain path needs few of them, and
    a server's part of the key is remembered.
    """
    found = _PLAIN.fullmatch(url)
    if found is None:
        return _key(url)
    return _key_of_server(found["origin"]) + (found["path"].lower() or "/")


@lru_cache(maxsize=4096)
def _key_of_server(origin: str) -> str:
    return _key(f"{origin}/").removesuffix("/")


def _key(url: str) -> str:
    key: str = surt.surt(url)
    return key


def entries(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the URL and the fields of each line of a CDXJ file, its ``timestamp`` among them.

    Lines that are torn or damaged are left out.
    """
    return ((entry["url"], entry) for _, entry in index(path) if entry is not None)


def index(path: Path, until: int | None = None) -> Iterator[tuple[bytes, dict[str, str] | None]]:
    """Yield each line of a CDXJ file, and its fields; None if it is torn or damaged.

    Only of the lines before ``until`` bytes, if it isn't None.
    """
    return ((line, fields_of(line)) for line in lines(path, until))


def fields_of(line: bytes) -> dict[str, str] | None:
    """Return the fields of a line of a CDXJ file; None if it is torn or damaged."""
    try:
        _, timestamp, fields = line.split(b" ", 2)
        found: dict[str, str] = msgspec.json.decode(fields)
        return found | {"url": found["url"], "timestamp": timestamp.decode()}
    except (ValueError, KeyError, TypeError):
        return None


def page_of(entry: Mapping[str, str]) -> str:
    """Return the URL of the page that an index entry belongs to: its own, or a browser's."""
    return entry["url"].removeprefix(DOM)


def index_of(warc: Path) -> Path:
    """Return the path of the index beside a WARC file."""
    return warc.with_name(warc.name.removesuffix(".warc.gz") + ".cdxj")


def latest(crawl: Path) -> list[Path]:
    """Return the index of the WARC file that grew last, if there is one."""
    return sorted((crawl / "warc").glob("*-*.cdxj"), key=lambda path: number_of(path.name))[-1:]


_NO_DIGITS = str.maketrans("", "", "-:TZ")


def iso_date(timestamp: str) -> str:
    """Return the WARC-Date of an index's timestamp, which is 14 digits."""
    day, time = timestamp[:8], timestamp[8:]
    return f"{day[:4]}-{day[4:6]}-{day[6:]}T{time[:2]}:{time[2:4]}:{time[4:]}Z"


def index_line(date: str, fields: Mapping[str, str]) -> bytes:
    """Return the line of a record by its WARC-Date and fields, ``url`` among them."""
    timestamp = date.translate(_NO_DIGITS)
    return f"{surt_of(fields['url'])} {timestamp} ".encode() + msgspec.json.encode(fields) + b"\n"


def sort(path: Path) -> None:
    """Sort a file by lines, byte by byte, as lookups expect it."""
    with writing(path):
        new = path.with_suffix(".new")
        new.write_bytes(b"".join(sorted(lines(path))))
        replace(path, new)


def number_of(name: str) -> int:
    """Return the number in the name of a WARC file or index; 0 if it has none."""
    digits = name.partition(".")[0].rpartition("-")[2]
    return int(digits) if digits.isdecimal() else 0
