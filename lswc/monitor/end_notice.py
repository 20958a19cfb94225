"""End notice: tells a command, or a web address, that a crawl has ended, and what came of it.

``python -m lswc.monitor.end_notice ADDRESS`` sends what it reads to a web address.
"""

from __future__ import annotations

import json
import logging
import os
import shlex
import shutil
import signal
import subprocess
import sys
from asyncio import to_thread
from contextlib import suppress
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

from scrapy import signals
from scrapy.exceptions import NotConfigured

from lswc.crawl.close_reasons import EXIT_CODES
from lswc.crawl.placement import only_for_crawls
from lswc.errors import ConfigError
from lswc.monitor.recorder import Recorder
from lswc.monitor.summary import summary
from lswc.processes import environment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

NOTICE_SECONDS = 30.0
"""For so long it is waited for; then it is killed."""

MAX_SAID = 500
"""Bytes of what it says last of its failure that are logged."""

logger = logging.getLogger(__name__)


def command_of(settings: BaseSettings) -> list[str]:
    """Return the command that LSWC_ON_END stands for; empty if it is. Raises ConfigError."""
    given = str(settings.get("LSWC_ON_END") or "")
    if given.startswith(("http://", "https://")):
        return [sys.executable, "-m", __name__, given]
    try:
        command = shlex.split(given)
    except ValueError as error:
        raise ConfigError(f"LSWC_ON_END: {error}: {given!r}") from error
    if command and shutil.which(command[0]) is None:
        raise ConfigError(
            f"LSWC_ON_END: there is no command {command[0]!r}, nor is it a web address"
        )
    return command


class EndNotice:
    """Runs the command when the crawl has closed, and its summary is written.

    It reads the summary as JSON, with the crawl's ``folder`` and ``exit_code``. Nothing that it
    does, or fails to do, changes the crawl.
    """

    def __init__(self, crawler: Crawler, command: Sequence[str]) -> None:
        self._crawler, self._command = crawler, command
        crawler.signals.connect(self._closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Raise NotConfigured if LSWC_ON_END is empty."""
        only_for_crawls(crawler)
        command = command_of(crawler.settings)
        if not command:
            raise NotConfigured
        return cls(crawler, command)

    async def _closed(self, reason: str) -> None:
        recorder = self._crawler.get_extension(Recorder)
        notice: dict[str, Any] = {"reason": reason, "exit_code": EXIT_CODES.get(reason, 0)}
        if recorder is not None:
            notice["folder"] = str(recorder.folder)
            if recorder.last is not None:
                notice |= summary(recorder.last, reason)
        await to_thread(self._tell, json.dumps(notice, ensure_ascii=False))

    def _tell(self, notice: str) -> None:
        try:
            wrong = run(self._command, notice.encode(errors="replace"))
        except OSError as error:
            wrong = str(error)
        self._crawler.stats.inc_value(f"lswc/monitor/end notice {'failed' if wrong else 'sent'}")
        if wrong:
            logger.error("LSWC_ON_END: no message about the end was sent: %s", wrong)


def run(command: Sequence[str], notice: bytes, seconds: float = NOTICE_SECONDS) -> str:
    """Run a command that reads a text; return what went wrong, "" if nothing. Raises OSError.

    It has ``seconds``, and is killed then with all that it has started in its process group.
    """
    with TemporaryFile() as given, TemporaryFile() as errors:
        given.write(notice)
        given.seek(0)
        process = subprocess.Popen(
            command, stdin=given, stdout=subprocess.DEVNULL, stderr=errors, env=environment(),
            start_new_session=True,
        )  # fmt: skip
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return f"it took more than {seconds:g} seconds"
        errors.seek(max(0, errors.seek(0, os.SEEK_END) - MAX_SAID))
        last = " ".join(errors.read().decode(errors="replace").split())
        return f"exit code {code}: {last}" if code else ""


def main() -> None:
    """Send what is read to the web address that is named, and end with 1 if that fails."""
    body = sys.stdin.buffer.read()
    headers = {"Content-Type": "application/json", "User-Agent": "lswc"}
    try:
        with urlopen(Request(sys.argv[1], body, headers), timeout=NOTICE_SECONDS):
            pass
    except (OSError, ValueError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
