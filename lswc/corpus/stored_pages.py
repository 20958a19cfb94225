"""Stored pages: what a crawl kept, in its WARC files and in those of earlier crawls."""

from __future__ import annotations

import io
from collections import Counter
from contextlib import closing
from typing import IO, TYPE_CHECKING, NamedTuple

from fastwarc import WarcRecordType

from lswc.archive.appended_files import ArchiveError
from lswc.archive.cdxj import DOM, entries, index_of, page_of
from lswc.archive.earlier_crawls import Earlier, Held
from lswc.archive.http_message import BODY_BYTES
from lswc.archive.run_settings import earlier_of, lacking
from lswc.archive.warc_reading import Record, Records
from lswc.archive.warc_writer import NOT_MODIFIED
from lswc.errors import repair
from lswc.outcomes import NEW, RECORDED
from lswc.plurals import numbered
from lswc.progress import Say, silent
from lswc.safety.content_types import Kind
from lswc.urls import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from typing_extensions import Buffer

PAGE_BYTES = 5_000_000
"""Bytes of a page of HTML that are read, and characters of a document's text."""

_BUFFER = 1 << 16
_RENDERED = "text/html; charset=utf-8"
_INDEXED = WarcRecordType.response | WarcRecordType.revisit | WarcRecordType.resource


class Stored(NamedTuple):
    """A page in the archive: ``body`` None if it is a copy of what ``refers_to`` has.

    ``id`` is its record's, ``digest`` that of its payload. The record begins at the byte ``offset``
    of the ``file`` (``<crawl>/warc/<name>``), and has ``length`` bytes there, None if unknown.
    ``change`` says whether the text of a ``visit`` is another than the one before: one of those of
    ``lswc.outcomes``.
    """

    url: str
    date: str
    body: bytes | None
    content_type: str | None
    refers_to: str | None
    encoding: str
    opt_outs: tuple[str, ...] = ()
    kind: Kind = Kind.HTML
    id: str = ""
    digest: str = ""
    file: str = ""
    offset: int = 0
    length: int | None = None
    visit: int = 1
    change: str = NEW


PIECE = 64_000_000
"""Bytes of a WARC file that are read at once: about 5,000 pages."""


class Piece(NamedTuple):
    """A part of a WARC file of a crawl, from the record that begins at a byte to another's."""

    crawl: Path
    name: str
    begin: int
    end: int


def pieces(crawls: Sequence[Path], size: int = PIECE) -> list[Piece]:
    """Return the pieces of a crawl's WARC files, in their order; a page lies in one of them.

    ``crawls`` is its folder, or those of its workers, of which one may have archived nothing.
    Raises ArchiveError if there are no files.
    """
    found = [piece for crawl in crawls for piece in _pieces(crawl, size)]
    if not found:
        said = "it has no WARC files: crawl with LSWC_ARCHIVE=relevant or all first"
        raise lacking(crawls, said)
    return found


def _pieces(crawl: Path, size: int) -> Iterator[Piece]:
    for path in sorted((crawl / "warc").glob("*.warc.gz")):
        length, begin = path.stat().st_size, 0
        for place in _places(path) if length > size else ():
            if place - begin >= size:
                yield Piece(crawl, path.name, begin, place)
                begin = place
        yield Piece(crawl, path.name, begin, length)


def _places(path: Path) -> list[int]:
    """Return where the index of a file says that pages begin, what a browser showed with them."""
    index = index_of(path)
    listed = entries(index) if index.exists() else ()
    return sorted(_place(one) for url, one in listed if not url.startswith(DOM))


def _place(entry: dict[str, str]) -> int:
    place = entry.get("offset", "")
    return int(place) if place.isdecimal() else 0


class _Beginning(io.RawIOBase):
    """A file that ends before it does, at ``end``."""

    def __init__(self, file: IO[bytes], end: int) -> None:
        self._file, self._end = file, end

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(place, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readinto(self, buffer: Buffer) -> int:
        taken = memoryview(buffer)
        data = self._file.read(max(0, min(len(taken), self._end - self._file.tell())))
        taken[: len(data)] = data
        return len(data)


class StoredPages:
    """Iterates over the pages and documents in pieces of a crawl's WARC files, or in all.

    Those that hadn't changed since come from earlier crawls. ``say`` hears of each how much of the
    pieces is read. ``unreadable`` counts by host the records that are damaged, and the pages that
    are said to be as they were in an earlier crawl, which doesn't hold them any more. Those that
    neither metadata nor the index name have the host "". Raises ArchiveError if there are no
    files, or if the index has records that were neither read nor counted.
    """

    def __init__(
        self, folder: Path, say: Say = silent, only: Sequence[Piece] | None = None
    ) -> None:
        self._folder, self._say = folder, say
        self._pieces = pieces([folder]) if only is None else only
        self.unreadable: Counter[str] = Counter()

    def __iter__(self) -> Iterator[Stored]:
        done, total = 0, sum(one.end - one.begin for one in self._pieces)
        with closing(Earlier(earlier_of(self._folder))) as earlier:
            for one in self._pieces:
                for page, at in self._of_piece(one, earlier):
                    self._say("corpus", done + at - one.begin, total)
                    yield page
                done += one.end - one.begin

    def _of_piece(self, piece: Piece, earlier: Earlier) -> Iterator[tuple[Stored, int]]:
        path = self._folder / "warc" / piece.name
        name = f"{self._folder.resolve().name}/warc/{path.name}"
        index = index_of(path)
        every = [entry for _, entry in entries(index)] if index.exists() else []
        listed = [entry for entry in every if piece.begin <= _place(entry) < piece.end]
        lengths = {entry.get("offset"): entry.get("length") for entry in listed}
        with path.open("rb") as file:
            file.seek(piece.begin)
            part = io.BufferedReader(_Beginning(file, piece.end), _BUFFER)
            records = Records(part, _INDEXED | WarcRecordType.metadata, BODY_BYTES)
            read, damaged = Counter[str](), Counter[str]()

            def counted() -> Iterator[Record]:
                for record in records:
                    if record.type & _INDEXED:
                        read[host_of(record.url.removeprefix(DOM))] += 1
                    yield record

            for page in self._joined(counted(), earlier, damaged):
                length = lengths.get(str(page.offset), "")
                known = int(length) if length and length.isdecimal() else None
                yield page._replace(file=name, length=known), file.tell()
        expected = Counter(host_of(page_of(entry)) for entry in listed)
        self._count_unreadable(records.unreadable, damaged, expected - read - damaged)
        if expected.total() > read.total() + records.unreadable:
            raise ArchiveError(
                f"{path} has {numbered(read.total(), 'record')}, but {expected.total()} in its "
                f"index: {repair(self._folder)} fetches the lost pages again"
            )

    def _count_unreadable(self, number: int, damaged: Counter[str], lost: Counter[str]) -> None:
        """Count so many damaged records of a file by host.

        ``damaged`` are those whose metadata was read, ``lost`` those that the index names besides.
        """
        self.unreadable += damaged
        left = number - damaged.total()
        for host, records in lost.items():
            taken = max(0, min(records, left))
            self.unreadable[host] += taken
            left -= taken
        self.unreadable[""] += max(0, left)

    def _joined(
        self, records: Iterable[Record], earlier: Earlier, damaged: Counter[str]
    ) -> Iterator[Stored]:
        """Join each page with the metadata that follows it, which may be all that is left."""
        page: Stored | None = None
        is_lost = False
        for record in records:
            if record.type == WarcRecordType.metadata:
                fields = _fields(record.block)
                is_kept = fields.get("outcome") in RECORDED
                if is_kept and (page is None or page.url != record.url):
                    damaged[host_of(record.url)] += 1
                elif is_kept and is_lost and _visit(fields) == 1:
                    self.unreadable[host_of(record.url)] += 1
                elif is_kept and page is not None:
                    yield _described(page, fields)
                page = None
            elif record.type == WarcRecordType.resource:  # as a browser showed it
                if page is not None and record.url == DOM + page.url:
                    body, is_lost = record.block[:PAGE_BYTES], False
                    page = page._replace(body=body, content_type=_RENDERED, refers_to=None)
            else:
                page = _page(record, earlier)
                is_lost = page.body is None and _is_unchanged(record)


def host_of(url: str) -> str:
    """Return the host of a stored page."""
    parsed = parse(url)
    return parsed.hostname if parsed else ""


def _is_as_held(record: Record, held: Held) -> bool:
    """Tell whether a revisit is one of what an earlier crawl holds of the same URL."""
    about = record.headers
    is_same = about.get("warc-payload-digest") == f"sha1:{held.original.digest}"
    of_itself = about.get("warc-refers-to-target-uri") == record.url
    return _is_unchanged(record) or (is_same and of_itself)


def _is_unchanged(record: Record) -> bool:
    return record.headers.get("warc-profile") == NOT_MODIFIED


def _page(record: Record, earlier: Earlier) -> Stored:
    response, body = record.response(), None
    if record.type == WarcRecordType.response:
        body = response.content(BODY_BYTES)
    elif (held := earlier.find(record.url)) and _is_as_held(record, held):
        response = held.response
        body = response.content(BODY_BYTES)
    refers_to = record.headers.get("warc-refers-to-target-uri")
    date = record.headers.get("warc-date", "")
    return Stored(
        record.url,
        date,
        body,
        response.get("Content-Type"),
        refers_to,
        "",
        id=record.headers.get("warc-record-id", ""),
        digest=record.headers.get("warc-payload-digest", ""),
        offset=record.place,
    )


def _described(page: Stored, fields: dict[str, str]) -> Stored:
    return page._replace(
        visit=_visit(fields),
        change=fields.get("change", NEW),
        encoding=fields.get("encoding", ""),
        opt_outs=tuple(filter(None, fields.get("opt-out", "").split("; "))),
        kind=Kind(fields.get("kind", Kind.HTML)),
    )


def _visit(fields: dict[str, str]) -> int:
    number = fields.get("visit", "")
    return int(number) if number.isdecimal() else 1


def _fields(block: bytes) -> dict[str, str]:
    lines = (line.partition(": ") for line in block.decode(errors="replace").splitlines())
    return {name: value for name, _, value in lines}
