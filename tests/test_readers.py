"""The pages for readers: every command in them works, and what troubleshooting quotes is said."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from lswc.cli import program

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "docs" / "tutorial.md",
    *sorted((ROOT / "docs").glob("for-*.md")),
    ROOT / "docs" / "extend.md",
]


SEEN = {
    1: "lswc crawl th",
    2: "lswc crawl kmx --contact me@library.example",
    3: "lswc crawl my --web demo --into crawls/th",
    4: "lswc crawl th --web demo -s LSWC_HASTTE=1",
    5: "lswc crawl th --web demo --into /proc/none",
    6: "lswc crawl th --contact me@library.example --seeds nothere.txt",
    7: "flock crawls/th/frontier.lock lswc crawl th --web demo --into crawls/th",
    8: "lswc control crawls/th stop; lswc crawl th --web demo --into crawls/th",
    15: "lswc crawl th --web demo --pages 5 -s DOWNLOAD_DELAY=0 --into crawls/new",
    19: "rm crawls/th/pages.jsonl; lswc crawl th --web demo --into crawls/th",
    20: "lswc replay crawls/none",
}
"""Commands after which a user sees what an entry of troubleshooting.md quotes, by its number."""


SUBJECTS = [
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in (
        "commands", "operations", "archive", "continuous", "languages", "seeds", "strategies",
        "troubleshooting", "workers",
    )),
]  # fmt: skip
"""Pages whose commands need no order. They are run on a crawl of the demo web."""

NOT_HERE = re.compile(
    r"redis|REDIS|[\[<|]|\.\.\.|\b(?:CRAWL|FILE|FOLDER|URL)\b|>>"  # a pattern, or another's
    r"|watch|replay|lswc demo"  # which don't end, or take long
    r"|web-languages|my-languages|page\.html|lo-th|BROWSER|mail -s|simulate|synthesize"
    r"|--explain|--web$"
    r"|unstop|analyze crawls/th-1"  # of crawls that were stopped, or differ
)
"""What a line has that isn't run: other tests run most of it."""


def run_in(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run a script of a page in a folder, where lswc is installed."""
    programs = folder / ".bin"
    programs.mkdir(exist_ok=True)
    for name, module in (("lswc", "-m lswc"), ("scrapy", "-m scrapy"), ("python", "")):
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable} {module} "$@"\n')
        (programs / name).chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    python = f"{ROOT}:{os.environ.get('PYTHONPATH', '')}"
    return subprocess.run(
        ["/bin/bash", "-c", script.replace("PYTHONPATH=.", f"PYTHONPATH=.:{ROOT}")],
        cwd=folder, env={**os.environ, "PATH": path, "PYTHONPATH": python}, check=False,
        capture_output=True, text=True, timeout=1200,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_works(page: Path, tmp_path: Path) -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5
    done = run_in(tmp_path, "set -eu\nexport PYTHONPATH\n" + "\n".join(blocks))
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_what_troubleshooting_quotes_is_said(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "troubleshooting.md").read_text("utf-8")
    entries = dict(re.findall(r"^### (\d+)\. (.*)$", page, re.MULTILINE))
    assert [int(number) for number in entries] == list(range(1, 21))
    begun = run_in(tmp_path, "lswc crawl th --web demo --pages 5 --into crawls/th")
    assert begun.returncode == 0, begun.stderr
    for number, command in SEEN.items():
        quoted = re.findall(r"`([^`]+)`", entries[str(number)])[0].removesuffix(" ...")
        said = run_in(tmp_path, command)
        pattern = ".*".join(map(re.escape, quoted.split("...")))
        assert re.search(pattern, said.stdout + said.stderr), (command, said.stdout, said.stderr)


def commands_of(page: Path) -> list[str]:
    """Return the commands of lswc's in a page, crawls of the real web as dry runs."""
    text = page.read_text("utf-8")
    code: list[tuple[str, str]] = re.findall(
        r"^(?: {4})?(lswc .*)$|`(lswc [^`\n]+)`", text, re.MULTILINE
    )
    found: list[str] = []
    for line in dict.fromkeys(block or span for block, span in code):
        command = re.split(r" {2,}|#", line)[0].replace("--contact ...", "").strip()
        words = command.split()
        if NOT_HERE.search(command) or len(words) < 3 or words[1] not in program.NAMES:
            continue
        if command.startswith("lswc crawl"):
            command += " --dry-run"
            command += "" if "--contact" in command else " --contact me@library.example"
        if command.startswith("lswc new"):
            command += f" --out new-{len(found)}.toml"
        found.append(command)
    return found


@pytest.mark.slow
def test_the_commands_of_other_pages_work(tmp_path: Path) -> None:
    begun = run_in(
        tmp_path,
        "set -e; lswc crawl th --web demo --pages 40 -s DOWNLOAD_DELAY=0 --into crawls/th\n"
        "lswc trace crawls/th --out traces/ja; cp -r traces/ja traces/ko; lswc new th\n"
        "for other in demo vi th-1 th-2; do cp -r crawls/th crawls/$other; done",
    )
    assert begun.returncode == 0, begun.stderr
    commands = [command for page in SUBJECTS for command in commands_of(page)]
    assert len(commands) > 40
    lines = (f"({command}) || echo FAILED {command!r} >&2\n" for command in commands)
    done = run_in(tmp_path, "".join(lines))
    assert "FAILED" not in done.stderr, done.stderr
