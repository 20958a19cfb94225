"""WARC writer: the files of one crawl (ISO 28500:2017), and a CDXJ index beside each."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from lswc.archive.appended_files import Appended
from lswc.archive.cdxj import entries, index_line, iso_date, number_of, sort
from lswc.archive.warc_records import (
    DOM,
    HEADERS,
    IDENTICAL,
    INFO,
    METADATA,
    NOT_MODIFIED,
    RENDERED,
    REQUEST,
    RESPONSE,
    REVISIT,
    about_page,
    digest_of,
    new_id,
    packed,
    warc_date,
    warc_fields,
)
from lswc.frontier.visit import Original

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime
    from pathlib import Path

    from lswc.frontier.visit import Attempt, Exchange

REMEMBERED = 65_536
"""Payloads that are remembered, to store the next identical one as a revisit record."""


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
        found = sorted(self._folder.glob("*-*.cdxj"), key=lambda path: number_of(path.name))
        for path in found:
            self._remember(path)
        for path in found[-1:]:
            sort(path)  # a kill may have left it as it was written
        return max((number_of(name) for name in [*names, *(p.name for p in found)]), default=0)

    def _remember(self, path: Path) -> None:
        for url, fields in entries(path):
            if fields["mime"] != "warc/revisit" and not url.startswith(DOM):
                date = iso_date(fields["timestamp"])
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
                    index += index_line(attempt, line, len(member), offset, warc.path.name)
                data += member
        warc.append(bytes(data))
        cdxj.append(bytes(index))

    def _files(self, time: datetime) -> tuple[Appended, Appended]:
        if self._warc is None or self._cdxj is None:
            self._number += 1
            name = f"{self._prefix}-{time:%Y%m%d%H%M%S}-{self._number:05}"
            self._warc = Appended(self._folder / f"{name}.warc.gz")
            self._cdxj = Appended(self._folder / f"{name}.cdxj")
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
        member, fields = self._response(attempt, exchange, response, record)
        yield member, fields | told
        concurrent = shared | {"WARC-Concurrent-To": f"<urn:{record}>"}
        yield packed(REQUEST, date, concurrent, exchange.request), None
        if attempt.rendered is not None:
            html = attempt.rendered.html
            own = concurrent | {"WARC-Target-URI": DOM + attempt.url}
            fields = {"url": DOM + attempt.url, "mime": "text/html", "digest": digest_of(html)}
            yield packed(RENDERED, date, own, html), fields | told
        if about:
            yield packed(METADATA, date, concurrent, warc_fields(about)), None

    def _response(
        self, attempt: Attempt, exchange: Exchange, shared: dict[str, str], record: str
    ) -> tuple[bytes, dict[str, str]]:
        date, payload = warc_date(attempt.time), b"".join(exchange.body)
        digest = digest_of(payload)
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
            block, kind, mime = bytes(exchange.head) + payload, RESPONSE, attempt.mime or "unk"
        else:
            headers |= {
                "WARC-Profile": NOT_MODIFIED if attempt.unchanged else IDENTICAL,
                "WARC-Refers-To-Target-URI": earlier.url,
                "WARC-Refers-To-Date": earlier.date,
            }
            block, kind, mime = bytes(exchange.head), REVISIT, "warc/revisit"
        fields = {"mime": mime, "digest": digest}
        return packed(kind, date, headers, block, record), fields

    def close(self, *, whole: bool = True) -> None:
        """Close the open files; the next record begins new ones.

        The index is sorted if all that was written is committed: a sorted one can't be cut.
        """
        for file in self.opened:
            file.close()
        if self._cdxj is not None and whole:
            sort(self._cdxj.path)
        self._warc = self._cdxj = None
