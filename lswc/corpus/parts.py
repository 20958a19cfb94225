"""Parts of a corpus: what the pages in each piece of an archive say, made on all cores.

``python -m lswc.corpus.parts``, its standard input a socket: the letter is a piece to read, the
answers say how far it is. A part stays until the corpus is written, so that the same command goes
on after Ctrl-C.
"""

from __future__ import annotations

import io
import os
import socket
from collections import Counter
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from struct import Struct
from threading import Event
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa

from lswc import __version__
from lswc.archive.appended_files import ArchiveError
from lswc.archive.run_settings import SETTINGS
from lswc.corpus.extraction import Extracted, Extractor
from lswc.corpus.stored_pages import Piece, StoredPages, pieces
from lswc.corpus.versions import Versions, learned
from lswc.errors import ConfigError, LswcError, StorageError, writing
from lswc.files import whole
from lswc.language import registry
from lswc.processes import MAX_LETTER, Letters, letter, started
from lswc.progress import Say, silent
from lswc.reading.documents.separate_process import DocumentProcess

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from subprocess import Popen

PARTS = "parts"
"""The folder in a corpus's that holds the parts while it is being written."""

_SMALL = 20_000_000  # bytes of an archive that are read before other processes have started
_RECEIVED = 1 << 16
_NOW_AND_THEN = 0.5  # seconds between two looks at how far they are
_EVERY = 1_000_000  # bytes of an archive
_ERRORS: dict[str, type[LswcError]] = {
    one.__name__: one for one in (ArchiveError, ConfigError, StorageError)
}


class Part(msgspec.Struct, frozen=True):
    """A piece of an archive, and the file for what its pages say.

    ``language`` is the tag of the corpus's, ``own_languages`` LSWC_LANGUAGES. ``programs`` are of
    ``lswc.corpus.programs.PROGRAMS``.
    """

    crawl: str
    name: str
    begin: int
    end: int
    path: str
    language: str
    own_languages: str = ""
    programs: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Bytes of the archive that it is of."""
        return self.end - self.begin


class _Answer(msgspec.Struct, frozen=True):
    """How many bytes are read; or that all are, or what went wrong."""

    done: int = 0
    is_whole: bool = False
    error: str = ""
    said: str = ""


_part = msgspec.msgpack.Decoder(Part)
_answer = msgspec.msgpack.Decoder(_Answer)
_extracted = msgspec.json.Decoder(Extracted)


class _Counts(msgspec.Struct, frozen=True):
    """The end of a part: records that can't be read, by host, and the most visits of a page.

    It stands in a frame that readers of Zstandard pass over (RFC 8878 §3.1.2), its length at last:
    so it is read without what is before it.
    """

    unreadable: dict[str, int]
    visits: int


_counts = msgspec.json.Decoder(_Counts)
_SKIPPED, _LENGTH = b"\x50\x2a\x4d\x18", Struct("<I")


def parts_of(
    crawls: Sequence[Path], language: str, folder: Path, programs: Sequence[str] = ()
) -> list[Part]:
    """Return the parts of a corpus of crawls in their order; their files are in a folder.

    A file's name is made of all that its content depends on. Raises ArchiveError.
    """
    own = registry.own_folder()
    chosen = tuple(sorted(set(programs)))
    found = []
    for piece in pieces(crawls):
        about = (
            __version__, language, str(own), str(piece.crawl.resolve()), piece.name,
            str(piece.begin), str(piece.end), (piece.crawl / SETTINGS).read_text("utf-8"), *chosen,
        )  # fmt: skip
        key = blake2b("\n".join(about).encode(), digest_size=12).hexdigest()
        path = folder / f"{key}.jsonl.zst"
        place = (str(piece.crawl), piece.name, piece.begin, piece.end)
        found.append(Part(*place, str(path), language, str(own or ""), chosen))
    return found


def make(part: Part, say: Say = silent) -> None:
    """Write a part. Raises ArchiveError, and LswcError if it can't be written."""
    registry.use(part.own_languages)
    crawl = Path(part.crawl)
    pages = StoredPages(crawl, say, [Piece(crawl, part.name, part.begin, part.end)])
    with (
        writing(part.path),
        DocumentProcess() as documents,
        whole(Path(part.path)) as path,
        pa.CompressedOutputStream(str(path), "zstd") as file,
    ):
        extractor = Extractor(registry.language(part.language), documents, part.programs)
        visits = 1
        for page in pages:
            visits = max(visits, page.visit)
            file.write(msgspec.json.encode(extractor.read(page)) + b"\n")
        file.close()
        counts = msgspec.json.encode(_Counts(pages.unreadable, visits))
        with path.open("ab") as end:
            end.write(_SKIPPED + _LENGTH.pack(len(counts) + _LENGTH.size))
            end.write(counts + _LENGTH.pack(len(counts)))


def read(part: Part, unreadable: Counter[str]) -> Iterator[Extracted]:
    """Yield what the pages of a part say, and count the records that can't be read by host."""
    with pa.CompressedInputStream(part.path, "zstd") as file:
        yield from map(_extracted.decode, io.BufferedReader(file, 1 << 20))
    unreadable.update(_counts_of(part).unreadable)


def versions_of(every: Sequence[Part], choice: str) -> Versions:
    """Return which versions of the pages of parts are taken, by one of VERSIONS."""
    if all(_counts_of(part).visits == 1 for part in every):
        return Versions(choice)
    known = Counter[str]()  # they are counted where they are read for good

    def read_all() -> Iterator[Extracted]:
        return (one for part in every for one in read(part, known))

    return learned(read_all(), read_all(), choice)


def _counts_of(part: Part) -> _Counts:
    with Path(part.path).open("rb") as file:
        file.seek(-_LENGTH.size, os.SEEK_END)
        (length,) = _LENGTH.unpack(file.read())
        file.seek(-_LENGTH.size - length, os.SEEK_END)
        return _counts.decode(file.read(length))


def make_all(parts: Sequence[Part], say: Say) -> None:
    """Write the parts that aren't there yet, on all cores.

    Raises ArchiveError, and LswcError if one can't be written.
    """
    at = {part.path: part.size for part in parts if Path(part.path).exists()}
    left = [part for part in parts if part.path not in at]
    total = sum(part.size for part in parts)

    def now(part: Part) -> Say:
        def says(_: str, done: float, __: float) -> None:
            at[part.path] = int(done)
            say("corpus", sum(at.values()), total)

        return says

    if len(left) < 2 or sum(part.size for part in left) < _SMALL:
        for part in left:
            make(part, now(part))
        return
    stopped = Event()
    running: set[Popen[bytes]] = set()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        tasks = [pool.submit(_made_aside, part, at, running, stopped) for part in left]
        try:
            waiting = set(tasks)
            while waiting:
                ended, waiting = wait(waiting, _NOW_AND_THEN, FIRST_EXCEPTION)
                say("corpus", sum(list(at.values())), total)
                for task in ended:
                    task.result()
        finally:
            stopped.set()
            for task in tasks:
                task.cancel()
            for process in list(running):
                process.kill()


def _made_aside(part: Part, at: dict[str, int], running: set[Popen[bytes]], stopped: Event) -> None:
    """Have a process write a part, and keep how far it is. Raises LswcError."""
    process, ours = started("lswc.corpus.parts")
    running.add(process)
    try:
        with ours:
            if stopped.is_set():
                return
            ours.sendall(letter(part))
            letters = Letters(MAX_LETTER)
            while piece := ours.recv(_RECEIVED):
                for packed, _ in letters.add(piece):
                    answer = _answer.decode(packed)
                    if answer.error:
                        raise _ERRORS.get(answer.error, LswcError)(answer.said)
                    if answer.is_whole:
                        at[part.path] = part.size
                        return
                    at[part.path] = answer.done
        raise StorageError(f"a process that read {part.name} ended: the same command goes on")
    finally:
        process.kill()
        process.wait()
        running.discard(process)


def main() -> None:
    """Write the part that the socket asks for."""
    # Who asked may be gone.
    with socket.socket(fileno=0) as other, suppress(ConnectionError):
        letters = Letters(MAX_LETTER)
        while piece := other.recv(_RECEIVED):
            for packed, _ in letters.add(piece):
                other.sendall(letter(_made(_part.decode(packed), other)))


def _made(part: Part, other: socket.socket) -> _Answer:
    said = 0

    def say(_: str, done: float, __: float) -> None:
        nonlocal said
        if done - said >= _EVERY:
            said = int(done)
            other.sendall(letter(_Answer(said)))

    try:
        make(part, say)
    except LswcError as error:
        if isinstance(error.__cause__, ConnectionError):
            raise error.__cause__ from None
        return _Answer(error=type(error).__name__, said=str(error))
    return _Answer(is_whole=True)


if __name__ == "__main__":
    main()
