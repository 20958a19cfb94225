"""A served web for the tests of this folder."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Serve = Callable[[Path], AbstractContextManager[int]]


@pytest.fixture(scope="session")
def serve() -> Serve:
    """Serve a web by ``python -m lswc.web`` for as long as the context lasts; give its port."""

    @contextmanager
    def serving(web: Path) -> Iterator[int]:
        command = [sys.executable, "-W", "error", "-m", "lswc.web", str(web), "--port", "0"]
        with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            try:
                found = re.search(r":(\d+)/", server.stdout.readline())
                assert found
                yield int(found[1])
            finally:
                server.terminate()

    return serving
