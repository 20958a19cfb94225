"""Commands of ``scrapy`` and ``lswc`` in processes forked from one with everything imported.

Most of a small crawl's time is the import of its libraries and the making of its tables. So the
tests' crawls are forked from a process that has done that, and are otherwise what
``python -m scrapy`` or ``-m lswc`` is: processes of their own, with their own arguments,
environment, folder, output and end. A test that signals its crawl, or limits it, starts it the
plain way.

Run as a module it is that process: a request is a line of JSON on its standard input.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).parents[1]

SERVING = ("lswc.crawl.web.__main__", "lswc.crawl.web.loopback_server")
"""What imports Twisted's reactor, of which each process installs its own."""


def run(
    arguments: Sequence[str], cwd: Path, environment: Mapping[str, str], program: str = "scrapy"
) -> subprocess.CompletedProcess[str]:
    """Run ``python -m`` the program with these arguments to its end."""
    with tempfile.TemporaryDirectory() as folder:
        out, error = Path(folder, "out"), Path(folder, "error")
        asked = {
            "arguments": list(arguments), "cwd": str(cwd), "environment": dict(environment),
            "out": str(out), "error": str(error), "program": program,
        }  # fmt: skip
        code = _ask(asked)
        return subprocess.CompletedProcess(
            list(arguments), code, *(path.read_text("utf-8") for path in (out, error))
        )


def _ask(asked: dict[str, Any]) -> int:
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(asked) + "\n")
    server.stdin.flush()
    return int(server.stdout.readline())


@cache
def _server() -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "error::DeprecationWarning:lswc", "-m", "tests.forks"]
    # A library's threads would not outlive a fork.
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    server = subprocess.Popen(
        command, cwd=ROOT, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    atexit.register(server.communicate)  # it ends with its input
    return server


def _serve() -> dict[str, Any] | None:
    """Fork for each request; returns it in the child, and None once there are no more."""
    for line in sys.stdin:
        asked: dict[str, Any] = json.loads(line)
        child = os.fork()
        if not child:
            return asked
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    return None


def _become(asked: dict[str, Any]) -> None:
    """Let this process be as the one that was asked for."""
    for path, number in ((os.devnull, 0), (asked["out"], 1), (asked["error"], 2)):
        opened = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(asked["cwd"])
    sys.path.insert(0, asked["cwd"])  # as python -m does
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv = [asked["program"], *asked["arguments"]]


def _import_everything() -> None:
    import scrapy.commands
    from scrapy.utils.misc import load_object
    from scrapy.utils.project import get_project_settings

    import lswc.archive
    import lswc.cli.commands
    import lswc.crawl

    for package in (lswc.archive, lswc.cli.commands, lswc.crawl, scrapy.commands):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.startswith(SERVING):
                importlib.import_module(module.name)
    settings = get_project_settings()
    for kind in ("EXTENSIONS", "DOWNLOADER_MIDDLEWARES", "SPIDER_MIDDLEWARES"):
        for component in settings.getwithbase(kind):
            load_object(component)


def _make_tables() -> None:
    """Have what a crawl makes once in its process: tables, patterns, models."""
    from scrapy.utils.project import get_project_settings

    from lswc.crawl.configuration import reader_settings
    from lswc.strategy import strategy
    from lswc.urls import parse
    from tests.scenarios.site import THAI, page

    for name in ("adaptive", "bfs"):  # most crawls go by one of them
        strategy(name)

    reader = reader_settings("th", get_project_settings()).reader()
    reader.identifier.load()
    url = parse("http://www.read.co.th/")
    assert url is not None
    assert reader.read(page(THAI, "/").encode(), {}, url, 0) is not None


class End:
    """The end of a process without taking apart, object by object, what it was forked with."""

    code = 1  # of an exception that nobody catches

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        given = error.code if isinstance(error, SystemExit) else error
        if given is None or isinstance(given, int):
            self.code = given or 0

    def leave(self) -> None:
        """End at once, with the exit code that the interpreter would give."""
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(self.code)


def main() -> None:
    """Serve until the input ends."""
    from scrapy.cmdline import execute

    from lswc.__main__ import main as lswc

    _import_everything()
    _make_tables()
    assert "twisted.internet.reactor" not in sys.modules, "each process installs its own"
    gc.freeze()
    asked = _serve()
    if asked is not None:
        _become(asked)
        end = End()
        atexit.register(end.leave)
        with end:
            lswc() if asked["program"] == "lswc" else execute()


if __name__ == "__main__":
    main()
