"""Browser that shows pages to the crawl: in processes of its own, started when one is asked."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import tempfile
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, NamedTuple, cast

import msgspec

from lswc.errors import ConfigError
from lswc.outcomes import Outcome
from lswc.processes import MAX_ANSWER, Letters, in_time, letter, started
from lswc.reading.browser.messages import (
    LOADING,
    TOO_LARGE,
    TOO_LONG,
    Answered,
    Settings,
    Shell,
    Shown,
    Started,
    Wanted,
)

if TYPE_CHECKING:
    import socket
    from collections.abc import Awaitable, Callable

    Fetch = Callable[[Wanted, bytes], Awaitable[tuple[Answered, bytes]]]

_START_SECONDS = 60
_ERRORS, _LAST = "errors", 500  # bytes of the last line
_REMOVALS, _LAST_WORDS = 10, 0.02  # times, and seconds between them
_SLACK = 60  # seconds that a page may take beyond its own: the browser's bounds come first

logger = logging.getLogger(__name__)
_ENDED = Started("its process ended")
_said = msgspec.msgpack.Decoder(Started | Wanted | Shown)


class Unshown(Exception):
    """A page can't be shown: ``outcome`` says why."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


class Seen(NamedTuple):
    """A page as the browser shows it: its HTML in UTF-8, and what the browser says of it."""

    html: bytes
    shown: Shown


def check(settings: Settings) -> None:
    """Start the browser and end it. Raises ConfigError if it doesn't start."""
    if settings.sandbox and os.geteuid() == 0:
        raise ConfigError(
            "Chromium has no sandbox when root starts it: run the crawl as another user, or do "
            "without, LSWC_BROWSER_SANDBOX=0 (docs/browser.md)"
        )
    try:
        process = _Process()
    except OSError as error:
        raise ConfigError(f"can't start the browser's process: {error}") from error
    try:
        process.socket.settimeout(_START_SECONDS)
        process.socket.sendall(letter(settings))
        started = _first(process.socket)
        if started == _ENDED and process.last_error:
            started = Started(process.last_error)
    except OSError as error:
        started = Started(f"{error}")
    finally:
        process.end()
    if started.why_not:
        hint = ": without its sandbox it may, LSWC_BROWSER_SANDBOX=0 (docs/browser.md)"
        raise ConfigError(
            f"Chromium doesn't start: {started.why_not}{hint if settings.sandbox else ''}"
        )


def _first(socket: socket.socket) -> Started:
    letters = Letters(MAX_ANSWER)
    while piece := socket.recv(1 << 16):
        for said, _ in letters.add(piece):
            return cast("Started", _said.decode(said))
    return _ENDED


class _Process:
    """The process with the browser, and the folder that both write to."""

    def __init__(self) -> None:
        """Start it. Raises OSError."""
        self.folder = Path(tempfile.mkdtemp(prefix="lswc-browser-"))
        folder = str(self.folder)
        # Its driver speaks of pages that ended while it worked on them: that is no user's matter.
        with (self.folder / _ERRORS).open("wb") as errors:
            self._process, self.socket = started(
                "lswc.reading.browser.process", folder, errors=errors, TMPDIR=folder
            )

    @property
    def last_error(self) -> str:
        """The last line that it wrote to its standard error; "" if there is none."""
        try:
            with (self.folder / _ERRORS).open("rb") as errors:
                errors.seek(max(0, errors.seek(0, os.SEEK_END) - _LAST))
                lines = errors.read().decode("utf-8", "replace").splitlines()
        except OSError:
            return ""
        return lines[-1].strip() if lines else ""

    def end(self) -> None:
        """End it, the browser, and what that wrote."""
        from lswc.reading.browser.children import (
            end_children,  # not above: of a group of requirements
        )

        end_children(self._process.pid)
        self._process.kill()
        self._process.wait()
        self.socket.close()
        for _ in range(_REMOVALS):  # what was just ended may still write its last
            shutil.rmtree(self.folder, ignore_errors=True)
            if not self.folder.exists():
                break
            sleep(_LAST_WORDS)


class Browser:
    """Shows pages one by one, in a process that is started for the first, and after each failure.

    ``render`` lets one page wait for another. Close it.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._turn = asyncio.Lock()
        self._window: _Window | None = None

    async def render(self, shell: Shell, body: bytes, fetch: Fetch) -> Seen:
        """Show a page, for which ``fetch`` gets what it asks for. Raises Unshown."""
        async with self._turn:
            try:
                if self._window is None or not self._window.is_alive:
                    self._end()
                    self._window = await _Window.opened(self._settings)
                return await self._window.render(shell, body, fetch)
            except BaseException:
                self._end()
                raise

    def close(self) -> None:
        """End the browser."""
        self._end()

    def _end(self) -> None:
        if self._window is not None:
            self._window.end()
            self._window = None


class _Window(asyncio.Protocol):
    """The crawl's end of the process with the browser."""

    is_alive = True
    _transport: asyncio.Transport | None = None

    def __init__(self, settings: Settings) -> None:
        """Start the process. Raises OSError."""
        self._process = _Process()
        self._letters = Letters(MAX_ANSWER)
        self._seconds = LOADING * settings.seconds + _SLACK
        self._fetch: Fetch | None = None
        self._fetching: set[asyncio.Task[None]] = set()
        self._shown: asyncio.Future[Seen | None] = asyncio.get_running_loop().create_future()

    @classmethod
    async def opened(cls, settings: Settings) -> _Window:
        """Return one whose browser runs. Raises Unshown."""
        try:
            window = cls(settings)
        except OSError as error:
            raise Unshown(Outcome.BROWSER_DIED) from error
        loop = asyncio.get_running_loop()
        await loop.create_unix_connection(lambda: window, sock=window._process.socket)
        window._send(settings)
        return window

    async def render(self, shell: Shell, body: bytes, fetch: Fetch) -> Seen:
        """Show a page. Raises Unshown."""
        self._shown, self._fetch = asyncio.get_running_loop().create_future(), fetch
        self._send(shell, body)
        has_come = await in_time(self._shown, self._seconds)
        self._fetch = None
        if not has_come:
            raise Unshown(Outcome.RENDERING_TOO_LONG)
        seen = self._shown.result()
        if seen is None:
            logger.debug("the browser's process ended: %s", self._process.last_error)
            raise Unshown(Outcome.BROWSER_DIED)
        if seen.shown.problem:
            raise Unshown(_PROBLEMS.get(seen.shown.problem, Outcome.BROWSER_DIED))
        return seen

    def _send(self, said: Settings | Shell | Answered, with_it: bytes = b"") -> None:
        if self._transport is not None and self.is_alive:
            self._transport.write(letter(said, with_it))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        try:
            for content, with_it in self._letters.add(data):
                self._take(_said.decode(content), with_it)
        except ValueError:  # more than an answer, or none
            self.connection_lost(None)

    def _take(self, said: Started | Wanted | Shown, with_it: bytes) -> None:
        if isinstance(said, Wanted):
            if self._fetch is not None:
                task = asyncio.ensure_future(self._answer(said, with_it, self._fetch))
                self._fetching.add(task)
                task.add_done_callback(self._fetching.discard)
        elif isinstance(said, Shown):
            if not self._shown.done():
                self._shown.set_result(Seen(with_it, said))
        elif said.why_not:
            logger.warning("the browser doesn't start: %s", said.why_not)

    async def _answer(self, wanted: Wanted, posted: bytes, fetch: Fetch) -> None:
        self._send(*await fetch(wanted, posted))

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_alive = False
        if not self._shown.done():
            self._shown.set_result(None)

    def end(self) -> None:
        """End the process and the browser, whatever they do."""
        self.is_alive = False
        if self._transport is not None:
            self._transport.abort()
        self._process.end()


_PROBLEMS = {TOO_LONG: Outcome.RENDERING_TOO_LONG, TOO_LARGE: Outcome.RENDERED_TOO_LARGE}
