"""Nothing that others wrote is in the project, and what derives from their facts is named."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from typing import TYPE_CHECKING

import pytest

from tests.scenarios.site import ROOT

if TYPE_CHECKING:
    from pathlib import Path

CODE = {".css", ".html", ".js", ".lua", ".py", ".sh", ".toml", ".yaml", ".yml"}
BINARY = {".gz", ".png"}
LONGEST = 240
"""Characters of a line that somebody wrote; a minified one has thousands."""

OTHERS = re.compile(
    r"copyright\s+(?:\(c\)|©)|\(c\)\s+copyright|@(?:license|preserve)\b|/\*!"
    r"|licen[cs]ed\s+under|SPDX-License-Identifier\s*:|permission\s+is\s+hereby\s+granted"
    r"|GNU\s+(?:affero\s+|lesser\s+)?general\s+public|mozilla\s+public\s+licen[cs]e",
    re.IGNORECASE,
)
"""What stands above the code of others, or above their text."""

LICENCES = {"LICENSE", "NOTICE", "lswc/NOTICE"}
"""Our own licence, and what is said of others."""


@cache
def tracked() -> list[Path]:
    """Return the files that git keeps, those of a commit to come included."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=False, capture_output=True)
    if listed.returncode:
        pytest.skip("not a checkout of the repository")
    files = (ROOT / name for name in listed.stdout.decode().split("\0") if name)
    return [file for file in files if file.is_file() and file.suffix not in BINARY]


def test_no_code_is_minified() -> None:
    long = [
        f"{file.relative_to(ROOT)}:{number}"
        for file in tracked()
        if file.suffix in CODE
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1)
        if len(line) > LONGEST
    ]
    assert long == []


def test_nobody_else_has_a_copyright_here() -> None:
    found = [
        f"{file.relative_to(ROOT)}: {match[0]}"
        for file in tracked()
        if str(file.relative_to(ROOT)) not in LICENCES
        for match in OTHERS.finditer(file.read_text("utf-8"))
    ]
    assert found == []


def test_every_source_of_the_seed_lists_is_named() -> None:
    notice = (ROOT / "NOTICE").read_text("utf-8")
    heads = re.findall(
        r"^# [^·\n]+ · ([^·\n]+) · \d{4}",
        "".join(file.read_text("utf-8") for file in (ROOT / "seeds").glob("*.txt")),
        re.MULTILINE,
    )
    sources = {re.split(r",| \d| in a stored", head)[0] for head in heads}
    assert len(sources) > 5
    assert {source for source in sources if source not in notice} == set()
