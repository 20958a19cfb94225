"""WACZ 1.1.1 file of a crawl's archive: <https://specs.webrecorder.net/wacz/1.1.1/>."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from hashlib import sha256
from os import SEEK_CUR
from typing import IO, TYPE_CHECKING, NamedTuple
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from lswc.archive.collection import Indexes, collected
from lswc.archive.run_settings import lacking, settings_of, settings_of_all
from lswc.archive.wacz_pages import Pages
from lswc.archive.wacz_signing import SOFTWARE
from lswc.archive.zipnum import ZipNum
from lswc.errors import writing
from lswc.files import whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from lswc.archive.collection import Collection
    from lswc.archive.wacz_pages import Texts
    from lswc.archive.wacz_signing import SigningKey

VERSION = "1.1.1"
_PIECE = 1 << 20
# A field that says nothing. How long the fields before a file are some readers only look up where
# the directory has one, as ReplayWeb.page does; and those of a file that may be long are longer.
_NOTHING = b"\xfe\xca\x00\x00"
_BEFORE = (1980, 1, 1, 0, 0, 0)  # the same for all files: what they hold has dates of its own


class Written(NamedTuple):
    """What is in a WACZ file: WARC files, captures in their index, and pages to begin with.

    ``gone`` says what isn't, though crawls visited it again, or have it in an index.
    """

    files: int
    captures: int
    pages: int
    gone: tuple[str, ...]


def write(
    crawls: Sequence[Path],
    out: Path,
    say: Callable[[str, int, int], None] = lambda *_: None,
    texts: Texts | None = None,
    key: SigningKey | None = None,
) -> Written:
    """Write the WARC files of crawls, their index and pages to ``out``, all of it or nothing.

    ``crawls`` are folders of crawls of one language, or of their workers; those that they visited
    again come with them. Of the pages those are named that are archived and in the language.
    ``say`` hears of the files: what, how many are done, of how many. With ``texts`` pages have
    those, to be searched; with a ``key`` the file is signed. Raises LswcError.
    """
    collection = collected(crawls)
    names = collection.warcs()
    warcs = list(names)
    if not warcs:
        raise lacking(crawls, "it has no WARC files: there is nothing to pack")
    about = settings_of_all(crawls)
    with writing(out), whole(out) as beside, ZipFile(beside, "w") as archive:
        packed = _Packed(archive)
        for number, warc in enumerate(warcs):
            say("WARC files", number, len(warcs))
            packed.add(f"archive/{names[warc]}", _pieces(warc), ZIP_STORED)
        say("index", 0, 0)
        indexes = Indexes(names)
        captures, pages = _add_lists(packed, collection, indexes, texts)
        packed.finish(about, key)
    return Written(len(warcs), captures, pages, (*collection.gone, *indexes.told))


class Hole(NamedTuple):
    """What a WACZ file that was laid out leaves out: from a byte to another, a file's content."""

    begin: int
    end: int
    path: Path


def lay_out(collection: Collection, out: IO[bytes]) -> tuple[list[Hole], tuple[str, ...]]:
    """Write what a WACZ file of crawls has besides WARC files, to be served with these.

    There the file has holes, which take no room on a disk; WARC files that nobody reads aren't
    read, and no digest of theirs is told. Returns those, and what the indexes have that the files
    haven't. Raises LswcError.
    """
    names = collection.warcs()
    if not names:
        raise lacking(collection.crawls, "it has no WARC files: there is nothing to show")
    with ZipFile(out, "w") as archive:
        packed = _Packed(archive)
        holes = [packed.leave_out(f"archive/{name}", warc) for warc, name in names.items()]
        indexes = Indexes(names)
        _add_lists(packed, collection, indexes, None)
        packed.finish(settings_of(collection.crawls[0]), None)
    return holes, indexes.told


def _add_lists(
    packed: _Packed, collection: Collection, indexes: Indexes, texts: Texts | None
) -> tuple[int, int]:
    """Add the index and the pages; return how many captures and pages there are."""
    index = ZipNum(indexes.all())
    packed.add(f"indexes/{ZipNum.NAME}", index, ZIP_STORED)
    packed.add("indexes/index.idx", index.blocks())
    with Pages(collection.crawls, indexes, texts) as pages:
        packed.add("pages/pages.jsonl", pages.lines())
        return index.lines - indexes.spelled, pages.number


class _Packed:
    """A WACZ file that grows; it knows the digests of what is in it."""

    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive
        self._resources: list[dict[str, object]] = []

    def add(self, path: str, pieces: Iterable[bytes], compression: int = ZIP_DEFLATED) -> int:
        """Add a file; return how many pieces it had."""
        info = ZipInfo(path, _BEFORE)
        info.compress_type = compression
        info.extra = _NOTHING
        digest, size, number = sha256(), 0, 0
        with self._archive.open(info, "w", force_zip64=True) as file:
            for piece in pieces:
                file.write(piece)
                digest.update(piece)
                size += len(piece)
                number += 1
        hashed = f"sha256:{digest.hexdigest()}"
        name = path.rpartition("/")[2]
        self._resources.append({"name": name, "path": path, "hash": hashed, "bytes": size})
        return number

    def leave_out(self, path: str, file: Path) -> Hole:
        """Leave a hole where a file's content belongs, as it is; return where that is."""
        size = file.stat().st_size
        info = ZipInfo(path, _BEFORE)
        info.file_size = info.compress_size = size
        info.CRC = 0  # of what isn't read
        info.extra = _NOTHING
        out, archive = self._archive.fp, self._archive
        if out is None:
            raise ValueError("the file is closed")
        out.seek(archive.start_dir)
        info.header_offset = archive.start_dir
        out.write(info.FileHeader(zip64=True))
        begin = out.tell()
        archive.start_dir = out.seek(size, SEEK_CUR)
        archive.filelist.append(info)
        archive.NameToInfo[path] = info
        name = path.rpartition("/")[2]
        self._resources.append({"name": name, "path": path, "hash": "", "bytes": size})
        return Hole(begin, begin + size, file)

    def finish(self, about: dict[str, object], key: SigningKey | None) -> None:
        """Add what says what is in the file, and the digest of that, signed if there is a key."""
        package = {
            "profile": "data-package",
            "wacz_version": VERSION,
            "software": SOFTWARE,
            "created": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
            "title": f"Web pages, language {about.get('language')}",
            "description": about.get("LSWC_DESCRIPTION") or "",
            "resources": list(self._resources),
        }
        text = json.dumps(package, ensure_ascii=False, indent=1).encode()
        self.add("datapackage.json", [text])
        hashed = str(self._resources[-1]["hash"])
        digest: dict[str, object] = {"path": "datapackage.json", "hash": hashed}
        if key is not None:
            digest["signedData"] = key.sign(hashed)
        self.add("datapackage-digest.json", [json.dumps(digest).encode()])


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece
