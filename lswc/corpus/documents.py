"""Clean text of one language, from a crawl's WARC files."""

from __future__ import annotations

import json
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from fastwarc import ArchiveIterator, WarcRecordType
from myanmar.converter import convert

from lswc.archive.appended_files import ArchiveError
from lswc.archive.earlier_crawls import Earlier
from lswc.archive.store import earlier_of, language_of, opt_out_of
from lswc.archive.warc_records import DOM, NOT_MODIFIED
from lswc.corpus.duplicates import Duplicates
from lswc.corpus.paragraphs import Block, Text, paragraphs, read, weight
from lswc.errors import writing
from lswc.files import whole
from lswc.language.charset import decode
from lswc.language.font_encodings import Fonts
from lswc.language.shares import measure
from lswc.language.variants import variants_of
from lswc.outcomes import RECORDED
from lswc.progress import Say, silent
from lswc.reading.documents.separate_process import Aside
from lswc.reading.documents.text import Most
from lswc.safety.content_types import Kind as PageKind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fastwarc import WarcRecord

    from lswc.corpus.paragraphs import Kind
    from lswc.language.registry import Language

PARAGRAPH = pa.struct(
    [("language", pa.string()), ("kind", pa.string()), ("begin", pa.int32()), ("end", pa.int32())]
)
SCHEMA = pa.schema(
    [
        ("url", pa.string()),
        ("kind", pa.string()),
        ("date", pa.string()),
        ("title", pa.string()),
        ("text", pa.string()),
        ("paragraphs", pa.list_(PARAGRAPH)),
        ("left_out", pa.int32()),
        ("encoding", pa.string()),
        ("converted", pa.string()),
        ("duplicate", pa.string()),
        ("duplicate_of", pa.string()),
        ("opt_outs", pa.list_(pa.string())),
        ("licence", pa.string()),
    ]
)
"""One row per page with text in the language; docs/archive.md says what the columns mean."""

ROWS = 1000
"""Rows that are written at once."""

_LONGEST = 5_000_000  # bytes of a page of HTML that are read, and characters of a document's text
_LARGEST = 100_000_000  # bytes of a document
_MOST = 0.5  # of a paragraph's letters
_RENDERED = "text/html; charset=utf-8"
_CONVERTERS = {"zawgyi-one": "zawgyi", "win-researcher": "wininnwa"}


class Stored(NamedTuple):
    """A page in the archive: ``body`` None if it is a copy of what ``refers_to`` has."""

    url: str
    date: str
    body: bytes | None
    content_type: str | None
    refers_to: str | None
    encoding: str
    opt_outs: tuple[str, ...] = ()
    kind: PageKind = PageKind.HTML


class Paragraph(NamedTuple):
    """A paragraph in Unicode; ``converted`` names the encoding that it was written in."""

    text: str
    language: str | None
    converted: str | None
    kind: Kind = "text"


def stored(folder: Path, say: Say = silent) -> Iterator[Stored]:
    """Yield the pages and documents in a crawl's WARC files.

    Those that hadn't changed since come from earlier crawls.
    ``say`` hears of each how much of the files is read. Raises ArchiveError if there are none.
    """
    files = sorted((folder / "warc").glob("*.warc.gz"))
    if not files:
        raise ArchiveError(
            f"{folder} has no WARC files: crawl with LSWC_ARCHIVE=relevant or all first"
        )
    done, total = 0, sum(path.stat().st_size for path in files)
    with closing(Earlier(earlier_of(folder))) as earlier:
        for path in files:
            with path.open("rb") as file:
                records = ArchiveIterator(file, _KINDS, parse_http=True, auto_decode="all")
                for page in _pages(records, earlier):
                    say("corpus", done + file.tell(), total)
                    yield page
                done += file.tell()


_KINDS = (
    WarcRecordType.response
    | WarcRecordType.revisit
    | WarcRecordType.resource
    | WarcRecordType.metadata
)


def _pages(records: Iterator[WarcRecord], earlier: Earlier) -> Iterator[Stored]:
    """Join each page with the metadata that follows it."""
    page = None
    for record in records:
        if record.record_type == WarcRecordType.metadata:
            fields = _fields(record.reader.read())
            if page is not None and fields.get("outcome") in RECORDED:
                said = tuple(filter(None, fields.get("opt-out", "").split("; ")))
                yield page._replace(
                    encoding=fields.get("encoding", ""),
                    opt_outs=said,
                    kind=PageKind(fields.get("kind", PageKind.HTML)),
                )
            page = None
        elif record.record_type == WarcRecordType.resource:  # as a browser showed it
            if page is not None and record.headers.get("WARC-Target-URI") == DOM + page.url:
                body = record.reader.read(_LONGEST)
                page = page._replace(body=body, content_type=_RENDERED, refers_to=None)
        else:
            page = _page(record, earlier)


def _page(record: WarcRecord, earlier: Earlier) -> Stored:
    headers = record.headers
    url, refers_to = headers.get("WARC-Target-URI") or "", headers.get("WARC-Refers-To-Target-URI")
    body, content_type = None, record.http_headers.get("Content-Type")
    if record.record_type == WarcRecordType.response:
        body = record.reader.read(_LARGEST)
    elif headers.get("WARC-Profile") == NOT_MODIFIED and (held := earlier.find(url, "all")):
        body, content_type = held.body, held.content_type
    return Stored(url, headers.get("WARC-Date") or "", body, content_type, refers_to, "")


def _fields(block: bytes) -> dict[str, str]:
    lines = (line.partition(": ") for line in block.decode(errors="replace").splitlines())
    return {name: value for name, _, value in lines}


class Cleaner:
    """Turns pages into rows of SCHEMA, in the order of the archive.

    With ``only_language`` the paragraphs in other languages are left out, and code is.
    ``aside`` reads what isn't HTML.
    """

    def __init__(self, target: Language, aside: Aside, only_language: bool = False) -> None:
        self._aside = aside
        self._target = target.code
        self._only_language = only_language
        self._variant = target.variant.tag if target.variant else ""
        self._fonts = Fonts(target.code, target.fonts)
        self._duplicates = Duplicates()
        self._written: set[int] = set()

    def row(self, page: Stored) -> dict[str, Any] | None:
        """Return a page's row; None if it has no paragraph in the language."""
        row = self._revisit(page) if page.body is None else self._read(page, page.body)
        if row is not None:
            self._written.add(hash(page.url))
        return row

    def _revisit(self, page: Stored) -> dict[str, Any] | None:
        if hash(page.refers_to) not in self._written:
            return None
        return _EMPTY | {
            "url": page.url,
            "kind": page.kind,
            "date": page.date,
            "encoding": page.encoding,
            "duplicate": "exact",
            "duplicate_of": page.refers_to,
            "opt_outs": page.opt_outs,
        }

    def _read(self, page: Stored, body: bytes) -> dict[str, Any] | None:
        if page.kind is PageKind.HTML:
            found = read(self._decoded(page, body[:_LONGEST]), page.url)
        else:
            found = self._document(page, body)
        told = [self.paragraph(b.text)._replace(kind=b.kind) for b in paragraphs(found.blocks)]
        wanted = [p for p in told if p.language == self._target and self._may_be_variant(p)]
        if not wanted:
            return None
        kept = wanted if self._only_language else told
        text = "\n".join(p.text for p in kept)
        kind, of = self._duplicates.find(text, page.url) or (None, None)
        title = self.paragraph(found.title)
        return {
            "url": page.url,
            "kind": page.kind,
            "date": page.date,
            "title": title.text if title.language == self._target else found.title,
            "text": text,
            "paragraphs": _places(kept),
            "left_out": len(told) - len(kept),
            "encoding": page.encoding,
            "converted": next((p.converted for p in wanted if p.converted), None),
            "duplicate": kind,
            "duplicate_of": of,
            "opt_outs": page.opt_outs,
            "licence": found.licence,
        }

    def _document(self, page: Stored, body: bytes) -> Text:
        most = Most(text=_LONGEST, size=_LONGEST)
        text = self._aside.read(page.kind, body, page.content_type or "", most)
        lines = filter(None, map(str.strip, text.text.splitlines()))
        return Text(text.title, [Block(line, "text", weight(line), 0.0) for line in lines], None)

    def _may_be_variant(self, paragraph: Paragraph) -> bool:
        """Tell whether nothing says that a paragraph is in another variant than the target's."""
        known = variants_of(self._target) if self._variant else None
        encoding = paragraph.converted or ""
        return known is None or known.of_words(paragraph.text, encoding) in ("", self._variant)

    def _decoded(self, page: Stored, body: bytes) -> str:
        if self._fonts and page.encoding in _CONVERTERS and page.encoding != "zawgyi-one":
            return body.decode("cp1252", "replace")  # as the font wants it read
        return decode(body, page.content_type).text

    def paragraph(self, text: str) -> Paragraph:
        """Tell a paragraph's language, and write it in Unicode if it is in the target's."""
        found = measure(text)
        best = max(found.shares, key=found.shares.__getitem__, default="")
        if best in found.told and found.shares[best] >= _MOST:
            return self._converted(text, best, found.encoding)
        font = self._fonts.match(text) if self._fonts else None
        if font is not None and font.share >= _MOST:
            return self._converted(text, self._target, font.encoding)
        return Paragraph(text, best or None, None)

    def _converted(self, text: str, code: str, encoding: str) -> Paragraph:
        known = _CONVERTERS.get(encoding)
        if known is None or code != self._target:
            return Paragraph(text, code, None)
        return Paragraph(convert(text, known, "unicode"), code, encoding)


def _places(kept: list[Paragraph]) -> list[dict[str, Any]]:
    """Return the language and kind of each paragraph, and where it is in the text."""
    places, begin = [], 0
    for one in kept:
        end = begin + len(one.text)
        places.append({"language": one.language, "kind": one.kind, "begin": begin, "end": end})
        begin = end + 1
    return places


_EMPTY: dict[str, Any] = dict.fromkeys(SCHEMA.names) | {
    "text": "",
    "paragraphs": [],
    "left_out": 0,
}


class Written(NamedTuple):
    """How many pages are in a corpus, and how many aren't because they asked for that."""

    rows: int
    opted_out: int


def write(
    crawl: Path,
    out: Path,
    only_language: bool = False,
    say: Say = silent,
    lang: str = "",
) -> Written:
    """Write ``corpus.jsonl.zst`` and ``corpus.parquet`` of a crawl.

    ``lang`` is the language's tag, if the crawl has several.
    They are there when they are whole. Raises ArchiveError if the folder isn't a crawl with WARC
    files, LswcError if ``out`` can't be written.
    """
    target = language_of(crawl, lang)
    skips = opt_out_of(crawl) != "record"
    opted_out: set[str] = set()

    def kept(cleaner: Cleaner) -> Iterator[dict[str, Any]]:
        for page in stored(crawl, say):
            # Its copies are the same text.
            if skips and (page.opt_outs or page.refers_to in opted_out):
                opted_out.add(page.url)
            elif row := cleaner.row(page):
                yield row

    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
        with (
            whole(out / "corpus.jsonl.zst") as lines,
            whole(out / "corpus.parquet") as table,
            Aside() as aside,
        ):
            rows = _write(kept(Cleaner(target, aside, only_language)), lines, table)
    return Written(rows, len(opted_out))


def _write(rows: Iterator[dict[str, Any]], lines: Path, table: Path) -> int:
    number = 0
    with ExitStack() as stack:
        plain = stack.enter_context(pa.CompressedOutputStream(str(lines), "zstd"))
        tables = stack.enter_context(pq.ParquetWriter(table, SCHEMA, compression="zstd"))
        waiting: list[dict[str, Any]] = []
        for row in rows:
            plain.write((json.dumps(row, ensure_ascii=False) + "\n").encode("utf-8", "replace"))
            waiting.append(row)
            number += 1
            if len(waiting) >= ROWS:
                tables.write_table(pa.Table.from_pylist(waiting, SCHEMA))
                waiting = []
        if waiting or not number:
            tables.write_table(pa.Table.from_pylist(waiting, SCHEMA))
    return number
