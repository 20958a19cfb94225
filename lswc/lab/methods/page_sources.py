"""Pages to identify: files, folders, URLs, archive files; of archives only HTML."""

from __future__ import annotations

import gzip
import logging
import zlib
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.request import Request, urlopen

from fastwarc import WarcRecordType

from lswc.archive.appended_files import ArchiveError
from lswc.archive.captures import Captures
from lswc.archive.volumes import begins_as_archive, is_archive, volumes_of
from lswc.errors import ConfigError
from lswc.plurals import numbered
from lswc.safety.content_types import Kind, by_extension

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lswc.archive.warc_reading import Record

logger = logging.getLogger(__name__)

_MOST = 10_000_000  # bytes of one page
_SECONDS = 30
_HTML = {".html", ".htm", ".xhtml", ".shtml", ".php", ".txt", ".xml"}
_NO_PAGES = (None, Kind.CSV)  # which is data in a folder


class SourceError(ConfigError):
    """A file, folder or URL that can't be read; the message says why."""


class Source(NamedTuple):
    """A page's bytes, its Content-Type if any, and its URL or path."""

    body: bytes
    content_type: str | None
    url: str


def pages(name: str, user_agent: str) -> Iterator[Source]:
    """Yield the pages that a file, folder, URL or archive file holds. Raises SourceError."""
    if name.lower().startswith(("http://", "https://")):
        yield _fetched(name, user_agent)
        return
    path = Path(name)
    if not path.exists():
        raise SourceError(f"{name}: no such file or folder")
    files = sorted(filter(_is_page, path.rglob("*"))) if path.is_dir() else [path]
    is_empty = True
    for file in files:
        for source in _of_file(file):
            is_empty = False
            yield source
    if is_empty:
        raise SourceError(f"{name}: no page, neither in a file nor in a WARC record")


def _is_page(file: Path) -> bool:
    """Tell whether a file is HTML, a document or an archive by its name."""
    plain = Path(file.name.removesuffix(".gz"))
    is_page = plain.suffix.lower() in _HTML or by_extension(plain.name) not in _NO_PAGES
    return (is_page or is_archive(file)) and file.is_file()


def _of_file(file: Path) -> Iterator[Source]:
    try:
        if is_archive(file) or begins_as_archive(file):
            yield from _of_archive(file)
        else:
            with gzip.open(file) if file.suffix == ".gz" else file.open("rb") as stream:
                yield Source(stream.read(_MOST), None, file.as_posix())
    except (OSError, EOFError, zlib.error) as error:
        raise SourceError(f"{file}: {error}") from error
    except ArchiveError as error:
        raise SourceError(str(error)) from error


def _of_archive(file: Path) -> Iterator[Source]:
    with closing(Captures(volumes_of(file), _MOST)) as captures:
        for record, capture in captures:
            response = captures.response(capture, _MOST) if capture.payload else record.response()
            content_type = response.get("Content-Type") if response is not None else None
            if response is not None and _is_text(content_type, record):
                yield Source(response.content(_MOST), content_type, record.url)
    if captures.unreadable and captures.read:
        many = numbered(captures.unreadable, "record")
        logger.warning("%s: %s can't be read", file, many)
    if captures.unresolved:
        many = numbered(captures.unresolved, "revisit")
        logger.warning("%s: %s of what it doesn't hold", file, many)
    if captures.unreadable and not captures.read:
        raise SourceError(f"{file}: no record of a response that can be read")


def _is_text(content_type: str | None, record: Record) -> bool:
    """Tell whether a record is of a page, or of a page's text."""
    if record.type == WarcRecordType.conversion:
        return (content_type or "").lower().startswith("text/plain")
    return not content_type or "html" in content_type.lower()


def _fetched(url: str, user_agent: str) -> Source:
    request = Request(url, headers={"User-Agent": user_agent})  # http or https only
    try:
        with urlopen(request, timeout=_SECONDS) as response:
            return Source(response.read(_MOST), response.headers["Content-Type"], response.url)
    except (OSError, ValueError) as error:
        raise SourceError(f"{url}: {error}") from error
