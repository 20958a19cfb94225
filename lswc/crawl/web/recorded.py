"""Recorded web: WARC files, read in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastwarc import WarcRecordType

from lswc.archive.http_message import LARGEST
from lswc.archive.warc_reading import Records, record_at
from lswc.crawl.web.answers import Answer, WebError
from lswc.urls import parse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lswc.urls import Url

# Of the connection it was recorded on, not of the response; its length may change with them.
HOP_BY_HOP = {"connection", "content-length", "keep-alive", "transfer-encoding", "upgrade"}


class WarcWeb:
    """The HTTP responses of WARC files, by URL; of several of one URL the last.

    http and https are the same. Only the records' places are kept in memory. Raises WebError
    if there is no response in any of the files, or one can't be read.
    """

    def __init__(self, files: list[Path]) -> None:
        self._servers: set[str] = set()
        self._places: dict[str, tuple[Path, int]] = {}
        for file in files:
            for url, offset in _responses(file):
                self._servers.add(url.server)
                self._places[_key(url)] = file, offset
        if not self._places:
            raise WebError(f"LSWC_WEB: no HTTP response in {', '.join(map(str, files))}")

    def knows(self, server: str) -> bool:
        """Tell whether a response of this server was recorded."""
        return server in self._servers

    def answer(self, server: str, target: str, accepted: str = "") -> Answer:
        """Answer as was recorded, in whatever language; 404 where nothing was."""
        url = parse(f"http://{server}{target}")
        place = self._places.get(_key(url)) if url else None
        return _recorded(*place) if place else Answer(404)


def is_warc(file: Path) -> bool:
    """Tell a WARC file by its name."""
    return file.name.endswith((".warc", ".warc.gz"))


def _responses(file: Path) -> Iterator[tuple[Url, int]]:
    try:
        with file.open("rb") as stream:
            for record in Records(stream, WarcRecordType.response, 0):
                url = parse(record.url)
                if url and record.headers.get("content-type", "").startswith("application/http"):
                    yield url, record.place
    except OSError as error:
        raise WebError(f"LSWC_WEB: {file} can't be read as WARC: {error}") from error


def _key(url: Url) -> str:
    return url.href.partition("://")[2]


def _recorded(file: Path, offset: int) -> Answer:
    record = record_at(file, offset, LARGEST)
    if record is None:
        return Answer(502)
    response = record.response()
    headers = tuple(
        (_text(name), _text(value))
        for name, value in response.headers
        if _text(name).lower() not in HOP_BY_HOP
    )
    return Answer(response.status or 502, headers, response.transferred(LARGEST))


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")
