"""A real redis-server of the tests' own, on a free loopback port in a temporary folder."""

from __future__ import annotations

import shutil
import socket
import subprocess
from time import sleep
from typing import TYPE_CHECKING

import pytest
import redis

from tests.ports import free_port
from tests.scenarios.site import BRAKE

if TYPE_CHECKING:
    from pathlib import Path

MISSING = "redis-server is missing: install it with the system's package manager, or `make redis`"


class RedisServer:
    """Starts, kills and restarts one server; its data stay in ``folder``.

    ``program`` is another than the one of the system: an older one, or Valkey's.
    """

    def __init__(self, folder: Path, *options: str, program: str = "redis-server") -> None:
        self._folder = folder
        self._program = program
        self._options = options
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.start()

    def start(self) -> None:
        program = shutil.which(self._program)
        if program is None:
            pytest.skip(MISSING)
        options = ["--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(self._folder)]
        self._process = subprocess.Popen(
            [program, *options, "--save", "", *self._options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._wait()

    def _wait(self) -> None:
        with redis.Redis.from_url(self.url) as client:
            for _ in range(6_000):
                try:
                    client.ping()
                except redis.ConnectionError:
                    if self._process.poll() is not None:
                        break
                    sleep(0.05)
                else:
                    return
        raise RuntimeError(f"redis-server doesn't start: {self._process.args!r}")

    def kill(self) -> None:
        """End the server at once, as a crash would."""
        self._process.kill()
        self._process.wait()

    def missed(self, times: int) -> None:
        """Wait, while the server is down, until somebody has asked for it so many times."""
        with socket.create_server(("127.0.0.1", self.port)) as port:
            port.settimeout(BRAKE)
            for _ in range(times):
                port.accept()[0].close()

    def empty(self) -> None:
        """Forget what other tests left."""
        with redis.Redis(port=self.port) as client:
            client.flushall()

    def stop(self) -> None:
        """End the server in order."""
        self._process.terminate()
        self._process.wait()
