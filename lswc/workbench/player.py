"""Player: ReplayWeb.page shows what crawls archived, in the browser itself, from one served file.

It is a package of npm's, which npm fetches once into the user's cache.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, TYPE_CHECKING, NamedTuple

from lswc.archive.wacz import Hole, lay_out
from lswc.errors import ConfigError, StorageError, writing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lswc.archive.collection import Collection

PACKAGE = "replaywebpage@2.4.6"
FILES = {"/ui.js": "ui.js", "/replay/sw.js": "sw.js"}
"""What of it is served, and where."""

_SECONDS = 300.0
_PIECE = 1 << 20
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})$")


def player() -> Path | None:
    """Return the folder of the player; None without it, and without npm, which fetches it.

    Raises StorageError if npm can't.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lswc" / PACKAGE
    for folder in (Path(sys.prefix) / "replaywebpage" / "package", cache):
        if all((folder / name).is_file() for name in FILES.values()):
            return folder
    npm = shutil.which("npm")
    if npm is None:
        return None
    with writing(cache), TemporaryDirectory() as packs:
        done = subprocess.run(  # noqa: S603
            [npm, "pack", "--silent", "--ignore-scripts", "--pack-destination", packs, PACKAGE],
            capture_output=True, text=True, timeout=_SECONDS, check=False,
        )  # fmt: skip
        packed = next(Path(packs).glob("*.tgz"), None)
        if done.returncode or packed is None:
            lines = done.stderr.strip().splitlines()
            raise StorageError(f"npm can't fetch {PACKAGE}: {lines[-1] if lines else 'no answer'}")
        cache.mkdir(parents=True, exist_ok=True)
        with tarfile.open(packed) as archive:
            for name in FILES.values():
                content = archive.extractfile(f"package/{name}")
                if content is None:
                    raise StorageError(f"{PACKAGE} has no {name} any more")
                (cache / name).write_bytes(content.read())
    return cache


def no_player() -> ConfigError:
    """Return what is shown if nothing can show an archive."""
    return ConfigError(
        "this needs npm, which fetches the player once (Debian: apt install npm); or pywb, in an "
        "environment of its own: pipx install pywb==2.10.0"
    )


class Range(NamedTuple):
    """A part of a file, from a byte to another."""

    begin: int
    end: int


class Served:
    """A WACZ file of crawls that is served, without being written: WARC files stay where they are.

    ``size`` is its length in bytes, ``lacking`` what WARC files lack of their indexes.
    """

    def __init__(self, file: IO[bytes], holes: list[Hole], lacking: tuple[str, ...] = ()) -> None:
        self._file, self._holes, self.lacking = file, holes, lacking
        self.size = file.seek(0, os.SEEK_END)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def asked(self, header: str) -> Range | None:
        """Return which part a Range header asks for (RFC 9110 §14.1.2); None for none of it."""
        found = _RANGE.match(header.strip())
        if found is None or not (found[1] or found[2]):
            return None
        begin = int(found[1]) if found[1] else max(0, self.size - int(found[2]))
        end = min(self.size, int(found[2]) + 1) if found[1] and found[2] else self.size
        return Range(begin, end) if begin < end else None

    def pieces(self, part: Range) -> Iterator[bytes]:
        """Yield what a part holds. Raises OSError."""
        at = part.begin
        while at < part.end:
            hole = next((one for one in self._holes if one.begin <= at < one.end), None)
            following = min((h.begin for h in self._holes if h.begin > at), default=self.size)
            end = min(part.end, at + _PIECE, hole.end if hole else following)
            if hole is None:
                piece = os.pread(self._file.fileno(), end - at, at)
            else:
                with hole.path.open("rb") as file:
                    file.seek(at - hole.begin)
                    piece = file.read(end - at)
            if not piece:
                raise OSError(f"{hole.path if hole else 'the file'} is shorter than it was")
            yield piece
            at += len(piece)


@contextmanager
def served(collection: Collection) -> Iterator[Served]:
    """Lay out a WACZ file of crawls, as long as it is served. Raises LswcError."""
    with TemporaryFile() as file:
        yield Served(file, *lay_out(collection, file))
