"""Record of a crawl: ``pages.jsonl``, a line of JSON per page, and the closed parts before it.

``pages.jsonl`` grows. Once it is long enough it is renamed to ``pages-00001.jsonl``, and so on; a
closed part is compressed to ``pages-00001.jsonl.gz`` when the frontier that knows it is durable. A
kill at any moment leaves each line in one file, once: both are renames of a whole file. In between
a part may be compressed under its old name; its first bytes say so, as they do to ``zcat -f``.

A part's name is without ``.gz``, and its length is that of its lines, in bytes.
"""

from __future__ import annotations

import gzip
import json
import logging
import os
import re
import zlib
from shutil import copyfile, copyfileobj
from threading import Thread
from typing import IO, TYPE_CHECKING, Any

from lswc.archive.appended_files import replace, sync_folder
from lswc.errors import writing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from pathlib import Path

    from lswc.archive.appended_files import Aside, OpenFiles

PAGES = "pages.jsonl"
"""Name of the file in the crawl folder that grows."""

_SHORTEST, _LONGEST = 1_000, 4_000_000_000
# Bytes that a part may be closed at: gzip says the length of its content modulo 2**32 (RFC 1952).

_PART = re.compile(r"pages-(\d+)\.jsonl(?:\.gz)?")
_GZIP = b"\x1f\x8b"
_DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error)
_PIECE = 1_000_000
_LEVEL = 6

logger = logging.getLogger(__name__)


def part_size(warc: float) -> float:
    """Return the bytes at which a part is closed, if WARC files are closed at so many."""
    return min(max(warc / 4, _SHORTEST), _LONGEST)


def files(crawl: Path) -> list[Path]:
    """Return the files that are there, the one that grows among them."""
    found = [path for path in crawl.glob("pages*") if _PART.fullmatch(path.name)]
    return [*found, *crawl.glob(PAGES)]


def closed(crawl: Path) -> list[str]:
    """Return the names of the closed parts, oldest first."""
    names = {_name(path) for path in files(crawl)} - {PAGES}
    return sorted(names, key=_number)


def _number(name: str) -> int:
    found = _PART.fullmatch(name)
    return int(found[1]) if found else 0


def _open(crawl: Path, name: str) -> IO[bytes]:
    """Open a part as it is stored. Raises FileNotFoundError."""
    packed, plain = crawl / f"{name}.gz", crawl / name
    for path in (packed, plain):
        try:
            return path.open("rb")
        except FileNotFoundError:
            continue
    return packed.open("rb")  # it may have been compressed just now


def _is_packed(file: IO[bytes]) -> bool:
    """Tell whether a file is compressed; leaves it at its beginning."""
    begins = file.read(len(_GZIP))
    file.seek(0)
    return begins == _GZIP


def _opened(crawl: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield the parts, oldest first, as they are stored; the one that grows is the last.

    None is passed over or met twice if a crawl closes and compresses parts meanwhile.
    """
    done = 0
    while True:
        later = [name for name in closed(crawl) if _number(name) > done]
        if later:
            yield later[0], _open(crawl, later[0])
            done = _number(later[0])
            continue
        try:
            growing = (crawl / PAGES).open("rb")
        except FileNotFoundError:
            growing = None
        if any(_number(name) > done for name in closed(crawl)):
            if growing is not None:
                growing.close()
            continue  # it became a part before it was opened
        if growing is not None:
            yield PAGES, growing
        return


def lines(crawl: Path, committed: Mapping[str, int] | None = None) -> Iterator[bytes]:
    """Yield the lines of all parts in their order; b"" for the rest of a part that is damaged.

    Only those that are ``committed``, if that isn't None: lengths by name. Raises OSError.
    """
    until = None if committed is None else known(crawl, committed)
    for name, file in _opened(crawl):
        with file:
            yield from _lines(file, None if until is None else until.get(name, 0))


def _lines(stored: IO[bytes], until: int | None = None, after: int = 0) -> Iterator[bytes]:
    with gzip.open(stored) if _is_packed(stored) else stored as file:
        try:
            at = file.seek(after)
            for line in file:
                if until is not None and at >= until:
                    return
                yield line
                at += len(line)
        except _DAMAGED:
            yield b""


def of_file(path: Path) -> Iterator[bytes]:
    """Yield the lines of one of ``files``; b"" for the rest of it if it is damaged."""
    with path.open("rb") as file:
        yield from _lines(file)


def is_packed(path: Path) -> bool:
    """Tell whether one of ``files`` is compressed."""
    with path.open("rb") as file:
        return _is_packed(file)


def lengths(crawl: Path) -> dict[str, int]:
    """Return the length of each part that is there, by name; of none if none is."""
    names = closed(crawl)
    found = {}
    for name in names:
        with _open(crawl, name) as file:
            found[name] = _length(file)
    try:
        found[PAGES] = (crawl / PAGES).stat().st_size
    except (FileNotFoundError, NotADirectoryError):  # or what was named is a file
        if names:
            found[PAGES] = 0  # a kill came before the next was begun
    return found


def _length(file: IO[bytes]) -> int:
    if not _is_packed(file):
        return file.seek(0, os.SEEK_END)
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 4))
    return int.from_bytes(file.read(4), "little")


def known(crawl: Path, committed: Mapping[str, int]) -> dict[str, int]:
    """Return how much of each part is ``committed``, by the names that the parts have now.

    What was closed since the last commit was committed as the file that grows.
    """
    there = lengths(crawl)
    found = {name: length for name, length in committed.items() if _PART.fullmatch(name)}
    left = committed.get(PAGES, 0)
    for name, length in there.items():
        if name not in found and name != PAGES:
            found[name] = min(length, left)
            left -= found[name]
    if there or left:
        found[PAGES] = left
    return found


def gone(crawl: Path, committed: Mapping[str, int]) -> list[str]:
    """Return the names of the parts that are committed, and aren't there."""
    there = set(map(_name, files(crawl)))
    return sorted(name for name, n in known(crawl, committed).items() if n and name not in there)


def beyond(crawl: Path, committed: Mapping[str, int]) -> Iterator[bytes]:
    """Yield the lines that aren't ``committed``."""
    until = known(crawl, committed)
    for name, length in lengths(crawl).items():
        if length > until.get(name, 0):
            with _open(crawl, name) as file:
                yield from _lines(file, after=until.get(name, 0))


def cut(crawl: Path, committed: Mapping[str, int], aside: Aside) -> int:
    """Keep aside what isn't ``committed``; return its bytes. Raises LswcError.

    Of a compressed part a copy is kept: it may be damaged.
    """
    until = known(crawl, committed)
    beyond = 0
    for path in files(crawl):
        length = until.get(_name(path), 0)
        if not is_packed(path):
            beyond += aside.cut(path, length)
        elif (more := lengths(crawl)[_name(path)] - length) > 0:
            beyond += more
            with writing(path), path.open("rb") as file:
                copyfile(path, aside.new(path.name))
                rewrite(path, _lines(file, length))
    return beyond


def rewrite(path: Path, content: Iterable[bytes]) -> None:
    """Put lines in the place of those of one of ``files``, compressed if it is. Raises OSError."""
    new = _beside(path)
    with gzip.open(new, "wb", _LEVEL) if is_packed(path) else new.open("wb") as file:
        file.writelines(content)
    replace(path, new)


def pack(part: Path) -> None:
    """Compress a closed part. Raises OSError; the part is as it was then."""
    packed = part.with_name(f"{part.name}.gz")
    if packed.exists() or part.stat().st_size >= 2**32:
        return  # someone unpacked it; or it was closed when there was no limit
    if not is_packed(part):
        new = _beside(part)
        try:
            with part.open("rb") as plain, gzip.open(new, "wb", _LEVEL) as file:
                copyfileobj(plain, file, _PIECE)
            replace(part, new)
        except OSError:
            new.unlink(missing_ok=True)  # the disk may be full
            raise
    part.rename(packed)
    sync_folder(part.parent)


def _beside(path: Path) -> Path:
    """Return where a file is written that replaces another: no pattern for the record fits it."""
    return path.with_name(f"{path.name.partition('.')[0]}.new")


def _name(path: Path) -> str:
    return path.name.removesuffix(".gz")


def pages(
    crawl: Path, committed: Mapping[str, int] | None = None
) -> Iterator[dict[str, Any] | None]:
    """Yield the record of each page of a crawl; None for a line that is torn or damaged.

    Only of the lines that are ``committed``, if that isn't None: lengths by name.
    """
    return map(parsed, lines(crawl, committed))


def records(crawl: Path) -> Iterator[dict[str, Any]]:
    """Yield the record of each page of a crawl, but for lines that are torn or damaged."""
    return (record for record in pages(crawl) if record is not None)


def parsed(line: bytes) -> dict[str, Any] | None:
    """Return the record that a line holds; None if it is torn or damaged."""
    try:
        found = json.loads(line) if line.endswith(b"\n") else None
    except ValueError:
        return None
    return found if isinstance(found, dict) and "url" in found else None


def torn(crawl: Path) -> dict[str, int]:
    """Return how many lines are torn or damaged in each file that isn't compressed, by name."""
    plain = [path for path in files(crawl) if not is_packed(path)]
    return {path.name: sum(parsed(line) is None for line in of_file(path)) for path in plain}


def take_out(crawl: Path, urls: Collection[str], aside: Aside) -> None:
    """Keep the lines about URLs, and torn ones, aside. Raises LswcError."""
    for path in files(crawl):
        with writing(path):
            _take_out(path, urls, aside)


def _take_out(path: Path, urls: Collection[str], aside: Aside) -> None:
    def stays(line: bytes) -> bool:
        record = parsed(line)
        return record is not None and record["url"] not in urls

    out = [line for line in of_file(path) if not stays(line)]
    if not out:
        return
    aside.keep(path.name.removesuffix(".gz"), b"".join(out))
    if b"" in out:  # what can't be unpacked is kept as it is
        copyfile(path, aside.new(path.name))
    rewrite(path, filter(stays, of_file(path)))


class Parts:
    """Appends to ``pages.jsonl`` among a crawl's files, and closes it once it has ``limit`` bytes.

    Never at 0. ``growing`` is that file, ``length_closed`` the bytes of those before it.
    ``committed`` has the lengths of the parts at the frontier's last commit; nothing may lie
    beyond. Raises LswcError.
    """

    def __init__(self, files: OpenFiles, limit: float, committed: Iterable[str]) -> None:
        self._files = files
        self._crawl = crawl = files.crawl
        self._limit = limit
        self._latest = max(map(_number, [*closed(crawl), *committed]), default=0)
        self.growing = files.open(PAGES)
        self.length_closed = sum(lengths(crawl).values()) - self.growing.end
        self._to_pack = bool(closed(crawl))  # a kill may have left some
        self._packing: Thread | None = None

    def turn(self) -> dict[str, int]:
        """Close ``pages.jsonl`` if it is long enough, and begin another.

        What it holds is committed, durably. Returns the length of the part that was closed, by its
        name. Raises LswcError.
        """
        if not 0 < self._limit <= self.growing.end:
            return {}
        self._files.close(PAGES)
        self._latest += 1
        part = self._crawl / f"pages-{self._latest:05}.jsonl"
        with writing(part):
            self.growing.path.rename(part)
            sync_folder(self._crawl)
        length = self.growing.end
        self.length_closed += length
        self.growing = self._files.open(PAGES)
        self._to_pack = True
        return {part.name: length}

    def pack(self) -> None:
        """Begin to compress the closed parts, in a thread. What they hold is committed, durably.

        A part that can't be compressed stays as it is until the next is closed.
        """
        if self._to_pack and not (self._packing and self._packing.is_alive()):
            self._to_pack = False
            self._packing = Thread(target=self._pack, name="pages", daemon=True)
            self._packing.start()

    def _pack(self) -> None:
        for name in closed(self._crawl):
            part = self._crawl / name
            try:
                if part.exists():
                    pack(part)
            except OSError as error:
                logger.warning("can't compress %s: %s; it stays as it is", part, error)

    def close(self) -> None:
        """Close the file, once no part is being compressed any more. Raises LswcError."""
        if self._packing is not None:
            self._packing.join()
        self._files.close(PAGES)
