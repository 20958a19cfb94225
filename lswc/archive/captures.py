"""Captures: what volumes hold of URLs; a revisit is one of what it refers to."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fastwarc import WarcRecordType

from lswc.archive.http_message import HttpResponse
from lswc.urls import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lswc.archive.volumes import Volume
    from lswc.archive.warc_reading import Record

_KINDS = (
    WarcRecordType.response
    | WarcRecordType.resource
    | WarcRecordType.conversion
    | WarcRecordType.revisit
)


class Capture(NamedTuple):
    """Where a capture lies: its record, and the one that has its payload, if another has.

    A place is the number of a volume, and where a record begins there.
    """

    place: tuple[int, int]
    payload: tuple[int, int] | None


class Captures:
    """Iterates over the captures in volumes: of responses, resources and conversions of web pages.

    A revisit is a capture with the payload of what it refers to: by its digest, or by URL. Those
    that come before that one come last; those of which none of the volumes has the payload are
    ``unresolved``. ``most`` bytes of each record are read. ``read`` and ``unreadable`` count
    records. Raises OSError.
    """

    def __init__(self, volumes: list[Volume], most: int) -> None:
        self._volumes, self._most = volumes, most
        self._payloads: dict[int, tuple[int, int]] = {}
        self.read = self.unreadable = self.unresolved = 0

    def __iter__(self) -> Iterator[tuple[Record, Capture]]:
        waiting: list[tuple[int, int]] = []
        for number, volume in enumerate(self._volumes):
            with volume.opened() as file:
                records = volume.records(file, _KINDS, self._most)
                for record in records:
                    if not _is_of_web(record):
                        self.unreadable += not record.url  # all of these have one (ISO 28500)
                        continue
                    self.read += 1
                    place = number, record.place
                    if record.type != WarcRecordType.revisit:
                        self._keep(record, place)
                        yield record, Capture(place, None)
                    elif payload := self._payload(record):
                        yield record, Capture(place, payload)
                    else:
                        waiting.append(place)
                self.unreadable += records.unreadable
        for place in waiting:
            late = self._volumes[place[0]].at(place[1], self._most)
            found = self._payload(late) if late else None
            if late is None or found is None:
                self.unresolved += 1
            else:
                yield late, Capture(place, found)
        self._payloads.clear()

    def _keep(self, record: Record, place: tuple[int, int]) -> None:
        for name in _names(record.headers.get("warc-payload-digest"), record.url):
            self._payloads[name] = place

    def _payload(self, record: Record) -> tuple[int, int] | None:
        refers_to = record.headers.get("warc-refers-to-target-uri", "").strip("<>") or record.url
        names = _names(record.headers.get("warc-payload-digest"), refers_to)
        return next((self._payloads[name] for name in names if name in self._payloads), None)

    def response(self, capture: Capture, most: int) -> HttpResponse | None:
        """Return a capture's response, with ``most`` bytes of its body; None if it can't be read.

        That of a revisit has the head that came then, if it has one and it isn't that of a 304.
        """
        record = self._at(capture.place, most)
        if record is None or capture.payload is None:
            return record.response() if record else None
        payload = self._at(capture.payload, most)
        if payload is None:
            return None
        own, stored = record.response(), payload.response()
        if own.status in (0, 304):
            return stored
        headers = (*_without_transfer(own), *_transfer_of(stored))
        return HttpResponse(own.status, headers, stored.payload)

    def _at(self, place: tuple[int, int], most: int) -> Record | None:
        return self._volumes[place[0]].at(place[1], most)

    def close(self) -> None:
        """Close the volumes."""
        for volume in self._volumes:
            volume.close()


_TRANSFER = b"transfer-encoding"


def _without_transfer(response: HttpResponse) -> Iterable[tuple[bytes, bytes]]:
    return ((n, value) for n, value in response.headers if n.lower() != _TRANSFER)


def _transfer_of(response: HttpResponse) -> Iterable[tuple[bytes, bytes]]:
    return ((n, value) for n, value in response.headers if n.lower() == _TRANSFER)


def _names(digest: str | None, url: str) -> Iterator[int]:
    """Yield what a payload is known by: its digest, then its URL."""
    if digest:
        yield hash(digest.lower())
    yield hash(("url", fingerprint(url)))


def _is_of_web(record: Record) -> bool:
    """Tell whether a record is of a URL of the web, and holds HTTP if it should."""
    if not record.url.lower().startswith(("http:", "https:")):
        return False
    if record.type != WarcRecordType.response:
        return True
    return record.headers.get("content-type", "").lower().startswith("application/http")
