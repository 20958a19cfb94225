"""A process that reads pages has no network, writes no file, and starts or stops nothing."""

from __future__ import annotations

import os
import platform
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from scrapy.utils.project import get_project_settings

from lswc.crawl.configuration import reader_settings
from lswc.processes import letter
from lswc.reading.confinement import FILES, MEMORY
from lswc.reading.documents.separate_process import DocumentProcess
from lswc.reading.documents.text import Most
from lswc.safety.content_types import Kind
from tests.reading import made

if TYPE_CHECKING:
    from collections.abc import Iterator

HAS_FILTER = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")

REFUSED = {
    "a socket": "import socket; socket.create_connection(('127.0.0.1', {port}))",
    "a socket of IPv6": "import socket; socket.socket(socket.AF_INET6)",
    "a local socket": "import socket; socket.socket(socket.AF_UNIX)",
    "two sockets": "import socket; socket.socketpair()",
    "a new file": "open('new', 'w')",
    "a new file, never over an old one": "open('new', 'x')",
    "more of a file": "open('old', 'a')",
    "a part of a file": "open('old', 'r+')",
    "a file without a name": "import os; os.open('.', os.O_TMPFILE | os.O_RDWR)",
    "a shorter file": "import os; os.truncate('old', 0)",
    "a folder": "import os; os.mkdir('new')",
    "another name": "import os; os.rename('old', 'new')",
    "a second name": "import os; os.link('old', 'new')",
    "a link": "import os; os.symlink('old', 'new')",
    "no file": "import os; os.unlink('old')",
    "other rights": "import os; os.chmod('old', 0o777)",
    "a program": "import subprocess; subprocess.run(['true'])",
    "another program": "import os; os.execv('/bin/true', ['true'])",
    "a second process": "import os; os.fork()",
    "a signal": "import os, signal; os.kill(os.getppid(), 0)",
    "the memory of another": "import os; open(f'/proc/{{os.getppid()}}/mem', 'r+b')",
}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "old").write_text("as it was")
    yield tmp_path
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old").read_text() == "as it was"


def _run(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", f"from lswc.reading.confinement import confine\n{code}"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.skipif(not HAS_FILTER, reason="the system has no filter of calls")
@pytest.mark.parametrize("what", REFUSED)
def test_what_leads_out_is_refused(folder: Path, what: str) -> None:
    done = _run(folder, f"assert confine()\n{REFUSED[what].format(port=9)}")
    assert done.returncode == 1
    assert "PermissionError" in done.stderr.splitlines()[-1]


def test_what_reading_needs_is_left(folder: Path) -> None:
    code = (
        "confine()\nimport threading, pypdfium2, encodings.cp874\n"
        "thread = threading.Thread(target=print, args=[open('old').read()])\n"
        "thread.start(); thread.join()"
    )
    done = _run(folder, code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "as it was\n", "")


def test_memory_and_files_are_bounded(folder: Path) -> None:
    code = (
        "confine()\nimport resource as r\n"
        "print(*(r.getrlimit(n) for n in (r.RLIMIT_AS, r.RLIMIT_NOFILE, r.RLIMIT_FSIZE)))"
    )
    assert _run(folder, code).stdout == f"{(MEMORY,) * 2} {(FILES,) * 2} {(0, 0)}\n"


def test_a_process_that_has_less_keeps_that(folder: Path) -> None:
    code = (
        "import resource as r\n"
        f"r.setrlimit(r.RLIMIT_AS, ({MEMORY // 2},) * 2)\nconfine()\n"
        "print(*r.getrlimit(r.RLIMIT_AS))"
    )
    assert f"{MEMORY // 2} {MEMORY // 2}\n" in _run(folder, f"import lswc\n{code}").stdout


@pytest.mark.skipif(not HAS_FILTER, reason="the system has no filter of calls")
def test_the_process_that_reads_documents_is_confined() -> None:
    with DocumentProcess() as aside:
        assert aside.read(Kind.PDF, made.pdf([["a"]]), "", Most()).text == "a"
        assert aside._process is not None
        assert is_confined(aside._process.pid)


@pytest.mark.skipif(not HAS_FILTER, reason="the system has no filter of calls")
def test_a_reader_is_confined() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        command = [sys.executable, "-m", "lswc.reading.reader_process"]
        with subprocess.Popen(command, stdin=theirs.fileno()) as process:
            ours.sendall(letter((reader_settings("th", get_project_settings()), 1.0)))
            assert ours.recv(100)
            assert is_confined(process.pid)
            process.kill()


def is_confined(process: int) -> bool:
    """Tell whether a process has a filter of its calls, and can't get rid of it."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    status = dict(line.split(":\t", 1) for line in lines)
    return (status["Seccomp"], status["NoNewPrivs"]) == ("2", "1")
