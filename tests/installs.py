"""Fresh installs by pip, uv and pipx, each followed by a crawl and a corpus.

``python -m tests.installs pip uv pipx`` makes an environment for each in a folder of its own, and
prints each command with its exit code. uv and pipx are taken from an environment of their own. It
needs the index of packages, and some minutes: no test runs it.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tests.project import copy_project

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass
class Fresh:
    """A folder with the project's source, and nothing else installed."""

    folder: Path

    @property
    def source(self) -> Path:
        """The folder that is installed from."""
        return self.folder / "source"

    def run(self, *command: str | Path, refused: bool = False) -> str:
        """Run a command, and print it with its exit code; end if that isn't what it should be."""
        place = self.folder / "work"
        place.mkdir(exist_ok=True)
        home = str(self.folder / "home")
        tools = {
            "HOME": home, "UV_TOOL_DIR": f"{home}/uv", "UV_TOOL_BIN_DIR": f"{home}/bin",
            "PIPX_HOME": f"{home}/pipx", "PIPX_BIN_DIR": f"{home}/bin",
            "PATH": f"{home}/bin:{os.environ['PATH']}",
        }  # fmt: skip
        environment = {
            k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")
        }
        done = subprocess.run(
            [str(part) for part in command], cwd=place, env={**environment, **tools}, text=True,
            capture_output=True, check=False,
        )  # fmt: skip
        shown = " ".join(str(part).replace(str(self.folder), "...") for part in command)
        print(f"{done.returncode}  {shown}", flush=True)
        if done.returncode != (2 if refused else 0):
            sys.exit(done.stdout[-2_000:] + done.stderr[-4_000:])
        return done.stdout + done.stderr

    def crawl(self, lswc: str | Path) -> str:
        """Crawl, and be refused a corpus for want of its libraries; return the advice."""
        self.run(lswc, "--version")
        self.run(lswc, "demo", "--pages", "100")
        said = self.run(lswc, "corpus", "crawls/demo", refused=True)
        advice = said.strip().splitlines()[-1].partition(": this needs ")[2].partition(": ")[2]
        print(f"   it advises: {advice.replace(str(self.folder), '...')}")
        assert advice
        assert " lswc[" not in advice
        return advice

    def follow(self, advice: str, tools: Path, lswc: str | Path) -> None:
        """Do as one is advised, and make the corpus."""
        program, *arguments = shlex.split(advice)
        self.run(tools / program, *arguments)
        self.run(lswc, "corpus", "crawls/demo")


def by_pip(fresh: Fresh, tools: Path) -> None:
    """Install into an environment of one's own."""
    own = fresh.folder / "own"
    venv.create(own, with_pip=True)
    fresh.run(own / "bin/pip", "install", "--quiet", fresh.source)
    fresh.follow(fresh.crawl(own / "bin/lswc"), own / "bin", own / "bin/lswc")


def by_uv(fresh: Fresh, tools: Path) -> None:
    """Install as a tool of uv's."""
    fresh.run(tools / "uv", "tool", "install", "--quiet", "--python", sys.executable, fresh.source)
    lswc = fresh.folder / "home/bin/lswc"
    fresh.follow(fresh.crawl(lswc), tools, lswc)


def by_pipx(fresh: Fresh, tools: Path) -> None:
    """Install as a tool of pipx's."""
    fresh.run(tools / "pipx", "install", "--quiet", "--python", sys.executable, fresh.source)
    lswc = fresh.folder / "home/bin/lswc"
    fresh.follow(fresh.crawl(lswc), tools, lswc)


KINDS = {"pip": by_pip, "uv": by_uv, "pipx": by_pipx}


def main(kinds: Sequence[str]) -> None:
    """Install by each kind that is named."""
    for kind in kinds or KINDS:
        with TemporaryDirectory() as folder:
            fresh = Fresh(Path(folder))
            copy_project(fresh.source)
            tools = fresh.folder / "tools"
            if kind != "pip":
                venv.create(tools, with_pip=True)
                fresh.run(tools / "bin/pip", "install", "--quiet", kind)
            print(f"-- {kind}")
            KINDS[kind](fresh, tools / "bin")
            shutil.rmtree(fresh.folder / "home", ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1:])
