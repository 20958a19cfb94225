"""Programs of the machine read older files and scanned pages, confined and bounded."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from lswc.corpus import programs
from lswc.corpus.programs import Programs, readers
from lswc.errors import ConfigError
from lswc.reading.documents.separate_process import DocumentProcess
from lswc.reading.documents.text import Most
from lswc.safety.content_types import Kind
from tests.reading import made
from tests.scenarios.site import THAI

if TYPE_CHECKING:
    from pathlib import Path

    from lswc.reading.documents.text import Text

Install = Callable[[str, str], None]
OLDER = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "ก".encode() * 9
PICTURE = b"q 600 0 0 800 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID x EI Q"
HAS_DATA = "if '--list-langs' in sys.argv: sys.exit(print('List:', 'tha', sep='\\n'))\n"


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return what puts a program, of some lines of Python, where programs are."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def put(name: str, code: str) -> None:
        path = tmp_path / name
        path.write_text(f"#!{sys.executable} -S\nimport os, sys\n{code}\n")
        path.chmod(0o755)

    return put


def read(kind: Kind, body: bytes, *names: str, most: Most | None = None) -> Text:
    with DocumentProcess() as documents:
        return Programs(documents, names, "th").read(kind, body, "", most or Most())


def test_an_older_file_is_what_its_program_says(install: Install) -> None:
    install("catdoc", "print(sys.stdin.buffer.read()[8:].decode(), *sys.argv[1:])")
    install("catppt", "print(open(sys.argv[-1], 'rb').read()[8:].decode() + '\\f\\n slide ')")
    assert read(Kind.WORD, OLDER, "catdoc").text == "ก" * 9 + " -w -s cp1252 -d utf-8 -"
    assert read(Kind.POWERPOINT, OLDER, "catdoc").text == "ก" * 9 + "\nslide"
    assert read(Kind.WORD, OLDER).reason == "older format"


@pytest.mark.parametrize(
    ("version", "text", "charset"),
    [(b"\x68\0", THAI.strip(), "cp874"), (b"\xc1\0", "élèves à l'école – «été»", "cp1252")],
)
def test_an_older_file_is_in_the_charset_of_its_machine(
    install: Install, version: bytes, text: str, charset: str
) -> None:
    """Word before 97 has bytes of it; catdoc takes them for Windows-1252's."""
    install("catppt", "")
    install("catdoc", "print(sys.stdin.buffer.read()[600:].decode('cp1252', 'ignore'))")
    head = OLDER[:8].ljust(512, b"\0") + (b"\xdc\xa5" + version).ljust(88, b"\0")
    found = read(Kind.WORD, head + text.encode(charset), "catdoc").text
    assert found.replace("\n", "") == text.replace("\n", "")


REFUSED = """
import errno, socket
def tried(what, *given):
    try:
        what(*given)
    except OSError as error:
        return errno.errorcode[error.errno]
print(tried(open, sys.argv[0] + '.new', 'w'), tried(os.fork), tried(socket.socket),
      tried(os.kill, os.getppid(), 9), sorted(os.environ))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no filter of calls")
def test_a_program_is_confined(install: Install) -> None:
    install("catppt", "")
    install("catdoc", REFUSED)
    said = read(Kind.WORD, OLDER, "catdoc").text
    variables = ["HOME", "LC_ALL", "OMP_THREAD_LIMIT"]
    assert said == f"EPERM EPERM EPERM EPERM {variables}"


@pytest.mark.parametrize(
    "code", ["while True: print('ก' * 999)", "bytearray(2_000_000_000)", "os.abort()"]
)
def test_a_program_is_bounded(install: Install, code: str) -> None:
    install("catppt", "")
    install("catdoc", f"print('ก', flush=True)\n{code}")
    found = read(Kind.WORD, OLDER, "catdoc", most=Most(text=100))
    assert set(found.text) == {"ก", "\n"} - ({"\n"} if len(found.text) == 1 else set())
    assert len(found.text) <= 100


def test_a_program_that_does_not_end_is_ended(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "OLDER_FILE_SECONDS", 1)
    install("catppt", "")
    install("catdoc", "print('ก', flush=True)\nwhile True: pass")
    assert read(Kind.WORD, OLDER, "catdoc").text == "ก"


def test_a_file_with_a_password_says_so(install: Install) -> None:
    install("catppt", "print('noise')")
    install("catdoc", "print('[File is encrypted. Encryption key = 0]', file=sys.stderr)")
    assert read(Kind.WORD, OLDER, "catdoc").reason == "locked"
    slides = OLDER + b"\xdf\xc4\xd1\xf3"
    assert read(Kind.POWERPOINT, slides, "catdoc").reason == "locked"


def test_scanned_pages_are_read_where_they_are(install: Install) -> None:
    picture = "data = sys.stdin.buffer.read(); print('ก ํา', data[:16].split(), sys.argv[1:5])"
    install("tesseract", HAS_DATA + picture)
    scanned = made.pdf([["."], ["ขคง"]], stream=PICTURE)
    alone = read(Kind.PDF, scanned)
    assert (alone.text, alone.scanned) == ("ขคง", (0,))
    found = read(Kind.PDF, scanned, "tesseract")
    first, second = found.text.splitlines()
    size = "[b'P5', b'2500', b'3334', b'255']"
    assert first.endswith(f"{size} ['-', '-', '-l', 'tha']")
    assert second == "ขคง"
    assert read(Kind.PDF, made.pdf([["."]], stream=PICTURE)).reason == "scanned"


@pytest.mark.parametrize(("language", "layout"), [("my", ["--psm", "4"]), ("th", [])])
def test_a_page_of_burmese_is_one_column(
    install: Install, language: str, layout: list[str]
) -> None:
    data = HAS_DATA.replace("'tha'", "'tha', 'mya'")
    install("tesseract", data + "print(sys.argv[5:-2])")
    with DocumentProcess() as documents:
        programs = Programs(documents, ("tesseract",), language)
        found = programs.read(Kind.PDF, made.pdf([["."]], stream=PICTURE), "", Most())
    assert found.text == str(layout)


def test_a_page_with_text_beside_a_picture_is_none_of_a_scan(install: Install) -> None:
    text = b"BT /F 12 Tf 50 700 Td <" + b"0021" * 40 + b"> Tj ET "
    found = read(Kind.PDF, made.pdf([["ก"]], stream=text + PICTURE))
    assert (found.text, found.scanned) == ("ก" * 40, ())


def test_pages_beyond_the_bound_are_left(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "SCANS", 0)
    install("tesseract", HAS_DATA + "print('ก')")
    found = read(Kind.PDF, made.pdf([["."]], stream=PICTURE), "tesseract")
    assert (found.text, found.is_cut, found.reason) == ("", True, "scanned")


def test_programs_that_are_not_there(install: Install) -> None:
    assert [one.lacks for one in readers("th")] == [
        "the package catdoc",
        "the package tesseract-ocr-tha",
    ]
    for name, said in (
        ("catdoc", "catdoc needs the package catdoc"),
        ("tesseract", "tesseract needs the package tesseract-ocr-tha"),
        ("word", "there is no program 'word': catdoc, tesseract"),
    ):
        with pytest.raises(ConfigError, match=said):
            read(Kind.WORD, OLDER, name)
    install("tesseract", HAS_DATA)
    assert not readers("th")[1].lacks
    assert "chi-sim and tesseract-ocr-chi-tra" in readers("zh")[1].lacks


@pytest.mark.skipif(not shutil.which("catdoc", path=os.defpath), reason="catdoc isn't installed")
def test_catdoc_takes_what_it_is_given() -> None:
    assert read(Kind.WORD, OLDER, "catdoc").text == ""
