"""Recorded web: archive files, read in place."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from fastwarc import WarcRecordType

from lswc.archive.appended_files import ArchiveError
from lswc.archive.captures import Captures
from lswc.archive.http_message import BODY_BYTES
from lswc.archive.volumes import volumes_of
from lswc.crawl.web.answers import Answer, WebError
from lswc.plurals import numbered
from lswc.urls import parse

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from lswc.archive.captures import Capture
    from lswc.archive.warc_reading import Record
    from lswc.urls import Url

logger = logging.getLogger(__name__)

# Of the connection it was recorded on, not of the response; its length may change with them.
HOP_BY_HOP = {"connection", "content-length", "keep-alive", "transfer-encoding", "upgrade"}


class WarcWeb:
    """The captures in archive files, by URL; of several of one URL the latest.

    http and https are the same. Only the records' places are kept in memory. Raises WebError
    if there is no capture in any of the files, or one can't be read.
    """

    def __init__(self, files: Iterable[Path]) -> None:
        named = list(files)
        self._servers: set[str] = set()
        self._places: dict[str, tuple[str, Capture]] = {}
        try:
            self._captures = Captures([one for file in named for one in volumes_of(file)], 0)
            for record, capture in self._captures:
                url = parse(record.url)
                if url is not None:
                    self._servers.add(url.server)
                    self._keep(_key(url), record, capture)
        except (OSError, ArchiveError) as error:
            raise WebError(f"LSWC_WEB: {error}") from error
        if not self._places:
            raise WebError(f"LSWC_WEB: no HTTP response in {', '.join(map(str, named))}")
        self._warn()

    def _keep(self, key: str, record: Record, capture: Capture) -> None:
        """Keep a capture if it is the latest; a text that was made of a page only for want of one.

        WARC-Dates may be of several precisions.
        """
        is_made = record.type == WarcRecordType.conversion
        date = "" if is_made else record.headers.get("warc-date", "")[:19]
        if key not in self._places or self._places[key][0] <= date:
            self._places[key] = date, capture

    def _warn(self) -> None:
        found = self._captures
        if found.unreadable:
            logger.warning("LSWC_WEB: %s", f"{numbered(found.unreadable, 'record')} can't be read")
        if found.unresolved:
            many = numbered(found.unresolved, "revisit")
            logger.warning("LSWC_WEB: %s of what none of the files has", many)

    def knows(self, server: str) -> bool:
        """Tell whether a response of this server was recorded."""
        return server in self._servers

    def answer(self, server: str, target: str, accepted: str = "") -> Answer:
        """Answer as was recorded, in whatever language; 404 where nothing was."""
        url = parse(f"http://{server}{target}")
        place = self._places.get(_key(url)) if url else None
        response = self._captures.response(place[1], BODY_BYTES) if place else None
        if response is None:
            return Answer(502 if place else 404)
        headers = tuple(
            (_text(name), _text(value))
            for name, value in response.headers
            if _text(name).lower() not in HOP_BY_HOP
        )
        return Answer(response.status or 502, headers, response.transferred(BODY_BYTES))


def _key(url: Url) -> str:
    return url.href.partition("://")[2]


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")
