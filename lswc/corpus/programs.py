"""Programs of a machine that read what no library here does: older files of Office, and scans.

Each is started without a shell, by a fixed list of arguments, once for a document or a page. It
reads its standard input, and is confined as ``lswc.reading.confined_program`` says.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, NamedTuple

from lswc.errors import ConfigError
from lswc.language.charset import decode
from lswc.language.registry import three_letters
from lswc.processes import environment
from lswc.reading.documents.text import DAMAGED, LOCKED, OLDER, Text
from lswc.safety.content_types import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lswc.reading.documents.separate_process import DocumentProcess
    from lswc.reading.documents.text import Most

CATDOC, TESSERACT = "catdoc", "tesseract"
PROGRAMS = (CATDOC, TESSERACT)
"""Names by which a program is chosen: for .doc and .ppt, and for scanned pages."""

SCANS = 100
"""Scanned pages of a document that are read."""

_COMMANDS = {
    Kind.WORD: ("catdoc", "-w", "-s", "cp1252", "-d", "utf-8", "-"),
    Kind.POWERPOINT: ("catppt", "-d", "utf-8", "/dev/stdin"),
}
OLDER_FILE_SECONDS, SECONDS_A_PAGE = 10, 60
"""Seconds of CPU that a program has for an older file, and for a scanned page."""

_PATIENCE = 4  # times as many by the clock
_PAGE = 200_000  # bytes of a page's text
_ENCRYPTED_SLIDES = b"\xdf\xc4\xd1\xf3"  # [MS-PPT] §2.3.2, headerToken
# Word before 97 has text in the charset of its maker's machine ([MS-DOC] §2.5.2, wIdent, nFib).
_BEFORE_97 = re.compile(rb"\xdc\xa5[\x65-\x6c]\x00")
_SECTOR = 64  # bytes: where a stream may begin
# Tesseract takes most lines of Burmese for pictures, unless all are of one column.
_LAYOUT = {"my": ("--psm", "4")}
_TESSDATA = {"zh": "chi_sim+chi_tra"}  # else it has the codes of ISO 639-3


class Reader(NamedTuple):
    """A program for a language: what it reads, and how it is installed, "" if it is there."""

    name: str
    reads: str
    lacks: str


def readers(language: str) -> list[Reader]:
    """Return the programs that read documents in a language, and what this machine lacks."""
    catdoc = "" if all(map(shutil.which, ("catdoc", "catppt"))) else "the package catdoc"
    return [
        Reader(CATDOC, ".doc and .ppt", catdoc),
        Reader(TESSERACT, "scanned pages", _lacking_data(tessdata(language))),
    ]


def tessdata(language: str) -> str:
    """Return what Tesseract calls the data for a language; several are joined by ``+``."""
    return _TESSDATA.get(language, three_letters(language))


def _lacking_data(names: str) -> str:
    there = _data()
    lacking = [name for name in names.split("+") if name not in there]
    if not lacking:
        return ""
    packages = ["tesseract-ocr-" + name.replace("_", "-") for name in lacking]
    return f"the {'package' if len(packages) == 1 else 'packages'} {' and '.join(packages)}"


def _data() -> frozenset[str]:
    """Return the data that Tesseract has; none if it isn't there."""
    program = shutil.which("tesseract")
    if program is None:
        return frozenset()
    command = [program, "--list-langs"]
    told = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return frozenset(told.stdout.splitlines()[1:])


class Programs:
    """Reads documents of a language in a process, and by programs what that can't read.

    ``names`` are of PROGRAMS. Raises ConfigError for one that is unknown, or isn't installed.
    """

    def __init__(self, documents: DocumentProcess, names: Sequence[str], language: str) -> None:
        check(names, language)
        self._documents, self._names = documents, frozenset(names)
        self._data = tessdata(language)
        self._layout = _LAYOUT.get(language, ())

    def read(self, kind: Kind, body: bytes, content_type: str, most: Most) -> Text:
        """Return what a document says. Never fails."""
        found = self._documents.read(kind, body, content_type, most)
        if found.reason == OLDER and CATDOC in self._names:
            return _older(kind, body, most)
        if found.scanned and TESSERACT in self._names:
            scans = {page: self._scan(body, page) for page in found.scanned[:SCANS]}
            again = self._documents.read(kind, body, content_type, most, scans)
            return again._replace(is_cut=again.is_cut or len(found.scanned) > SCANS)
        return found

    def _scan(self, body: bytes, page: int) -> str:
        """Return the text of a page of a PDF that is a picture."""
        picture = self._documents.draw(body, page)
        options = ("-", "-", "-l", self._data, *self._layout, "-c", "preserve_interword_spaces=1")
        return _said(("tesseract", *options), picture, SECONDS_A_PAGE, _PAGE)[0] if picture else ""


def check(names: Sequence[str], language: str) -> None:
    """Raise ConfigError if a program is unknown, or isn't installed."""
    by_name = {one.name: one for one in readers(language)} if names else {}
    for name in names:
        if name not in by_name:
            raise ConfigError(f"there is no program {name!r}: {', '.join(PROGRAMS)}")
        if lacks := by_name[name].lacks:
            raise ConfigError(f"{name} needs {lacks}, as Debian and Ubuntu call it")


def _older(kind: Kind, body: bytes, most: Most) -> Text:
    """Return what a file of Word or PowerPoint says ([MS-DOC], [MS-PPT])."""
    if kind is Kind.POWERPOINT and _ENCRYPTED_SLIDES in body:
        return Text(reason=LOCKED)
    text, errors = _said(_COMMANDS[kind], body, OLDER_FILE_SECONDS, 4 * most.text)
    if kind is Kind.WORD and _is_before_97(body):
        text = decode(text.encode("cp1252", "ignore")).text
    lines = filter(None, map(str.strip, text.replace("\f", "\n").splitlines()))
    found = Text(text="\n".join(lines)).completed(most)
    if found.text:
        return found
    return found._replace(reason=LOCKED if "encrypted" in errors else DAMAGED if errors else "")


def _is_before_97(body: bytes) -> bool:
    return any(found.start() % _SECTOR == 0 for found in _BEFORE_97.finditer(body))


def _said(command: Sequence[str], given: bytes, seconds: int, most: int) -> tuple[str, str]:
    """Return what a program makes of its standard input, and what it says of errors."""
    program = shutil.which(command[0])
    if program is None:
        return "", f"{command[0]} isn't there"
    with TemporaryFile() as source, TemporaryFile() as out, TemporaryFile() as errors:
        source.write(given)
        source.seek(0)
        with subprocess.Popen(
            [
                sys.executable, "-m", "lswc.reading.confined_program", str(seconds), str(most),
                program, *command[1:],
            ],
            stdin=source, stdout=out, stderr=errors, env=environment(), start_new_session=True,
        ) as process:  # fmt: skip
            try:
                process.wait(_PATIENCE * seconds)
            except subprocess.TimeoutExpired:
                process.kill()
        out.seek(0)
        errors.seek(0)
        read = (file.read(most).decode("utf-8", "replace") for file in (out, errors))
        said, wrong = read
        return said, wrong
