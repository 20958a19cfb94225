"""Crawls of a web on loopback, each in a process of its own."""

from __future__ import annotations

import subprocess
from time import monotonic, sleep
from typing import TYPE_CHECKING, Protocol

from tests.scenarios.site import BRAKE, ROOT, Site, environment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Served(Protocol):
    """A web that is served."""

    @property
    def environment(self) -> dict[str, str]:
        """What says to a crawl's process where it is."""


class RunningCrawl:
    """A crawl that is started, and perhaps again; ``log`` is what its latest process says."""

    def __init__(
        self, web: Served, folder: Path, seeds: tuple[str, ...], settings: dict[str, object]
    ) -> None:
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None
        self._environment = web.environment
        self._log = folder.with_suffix(".log")
        self._settings = {
            "LSWC_WEB": "",
            "LSWC_TRY_AGAIN": "1,1,1,1,1,1",
            "LSWC_CONTACT": "https://library.example/",
            "LSWC_MAX_PER_ADDRESS": 0,
            "LSWC_BACKOFF": 0.2,
            "DNSCACHE_ENABLED": False,
            **settings,
        }
        (folder.parent / "seeds.txt").write_text("\n".join(seeds), "utf-8")

    def start(self, **settings: object) -> None:
        site = Site(self.folder.parent, self.folder)
        given = self._settings | settings
        with self._log.open("w") as log:
            self.process = subprocess.Popen(
                site.command("-a", f"seeds={self.folder.parent / 'seeds.txt'}", **given),
                cwd=ROOT,
                env={**environment(), **self._environment},
                stderr=log,
                stdout=subprocess.DEVNULL,
            )

    def wait_until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds while it runs, or is to be started."""
        until = monotonic() + BRAKE
        while not holds():
            assert self.process is None or self.process.poll() is None, self.log
            assert monotonic() < until, self.log
            sleep(0.02)

    def finish(self) -> int:
        """Wait for the end; return the exit code."""
        assert self.process is not None
        return self.process.wait(timeout=BRAKE)

    def kill(self) -> None:
        """End it at once, as a machine that is cut off from power."""
        if self.process is not None:
            self.process.kill()

    @property
    def log(self) -> str:
        """What the latest process has said so far."""
        return self._log.read_text("utf-8")

    def close(self) -> None:
        self.kill()
        if self.process is not None:
            self.process.wait()
