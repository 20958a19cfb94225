"""The pages for readers: every command in them works, in their order, in an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "docs" / "tutorial.md",
    *sorted((ROOT / "docs").glob("for-*.md")),
    ROOT / "docs" / "extend.md",
]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_works(page: Path, tmp_path: Path) -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5
    programs = tmp_path / ".bin"
    programs.mkdir()
    for name, module in (("lswc", "-m lswc"), ("scrapy", "-m scrapy"), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable} {module} "$@"\n')
        (programs / name).chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    python = f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"
    script = "set -eu\nexport PYTHONPATH\n" + "\n".join(blocks)
    done = subprocess.run(
        ["/bin/bash", "-c", script.replace("PYTHONPATH=.", f"PYTHONPATH=.:{ROOT}")],
        cwd=tmp_path, env={**os.environ, "PATH": path, "PYTHONPATH": python}, check=False,
        capture_output=True, text=True, timeout=1200,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "Traceback" not in done.stderr
