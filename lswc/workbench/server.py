# mypy: allow-untyped-calls
# Twisted is typed in part only.
"""Server of the workbench: its pages and files, and what their scripts ask for as JSON."""

from __future__ import annotations

import json
import logging
import os
import signal
from functools import partial
from importlib.resources import files
from typing import IO, TYPE_CHECKING, Any

from scrapy.settings import Settings
from twisted.internet.defer import ensureDeferred
from twisted.internet.error import CannotListenError
from twisted.internet.threads import deferToThread
from twisted.protocols.basic import FileSender
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request, Site
from typing_extensions import override

from lswc.errors import ConfigError, LswcError, StorageError
from lswc.monitor.stored import StoredCrawl, stored
from lswc.urls import readable
from lswc.workbench.access import HEADERS, Guard
from lswc.workbench.answers import Elsewhere, File, Menu, Stored, Subject, View
from lswc.workbench.crawls import Crawls
from lswc.workbench.html import filled
from lswc.workbench.routes import (
    CHANGES,
    FILES,
    FOLDER_CHANGES,
    FOLDER_QUESTIONS,
    OF_FOLDER,
    QUESTIONS,
    VIEWS,
)
from lswc.workbench.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

BODY_BYTES = 8_000_000
"""Bytes of a request's body: a hundred thousand seeds."""

_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
          ".svg": "image/svg+xml"}  # fmt: skip

logger = logging.getLogger(__name__)


class Bounded(Request):
    """A request whose body is kept only if it may change something; at most BODY_BYTES come."""

    guard: Guard

    @override
    def gotLength(self, length: int | None) -> None:
        super().gotLength(0)  # in memory
        self._left = BODY_BYTES
        self._is_kept = self.guard.takes(self.getHeader)
        if length is not None and length > BODY_BYTES:
            self._end()

    @override
    def handleContentChunk(self, data: bytes) -> None:
        self._left -= len(data)
        if self._left < 0:
            self._end()
        elif self._is_kept:
            super().handleContentChunk(data)

    def _end(self) -> None:
        """Answer that the body is too large, and end the connection; nothing of it is kept."""
        self._is_kept = False
        channel: Any = self.channel
        if channel is not None and not channel.transport.disconnecting:
            channel.transport.write(
                b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
            channel.loseConnection()


def _given(request: Request) -> dict[str, str]:
    """Return the first value of each argument of an address."""
    arguments: dict[bytes, list[bytes]] = request.args or {}
    return {
        name.decode("utf-8", "replace"): values[0].decode("utf-8", "replace")
        for name, values in arguments.items()
    }


def _body(request: Request) -> dict[str, Any]:
    content: Any = request.content
    try:
        given = json.loads(content.read())
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"the body of a change must be JSON: {error}") from error
    if not isinstance(given, dict):
        raise ConfigError("the body of a change must be an object of JSON")
    return given


class _Guarded(Resource):
    """Answers only to its own names, and says with every answer what a browser may do with it."""

    def __init__(self, guard: Guard) -> None:
        super().__init__()
        self._guard = guard

    @override
    def render(self, request: Any) -> Any:
        for name, value in HEADERS.items():
            request.setHeader(name, value)
        request.responseHeaders.removeHeader("Server")
        if not self._guard.knows(request.getHeader("host")):
            return _plain(request, 421, "this server has another name: use its address")
        return super().render(request)


class _File(_Guarded):
    def __init__(self, guard: Guard, name: str, content: bytes) -> None:
        super().__init__(guard)
        self._type = _TYPES.get(name[name.rfind(".") :], "text/plain; charset=utf-8")
        self._content = content

    def render_GET(self, request: Request) -> bytes:
        request.setHeader("Content-Type", self._type)
        return self._content


class _Asking(_Guarded):
    """Asks in a thread, as a disk or a Redis may keep it waiting. ``ask`` may raise LswcError."""

    def __init__(self, guard: Guard, ask: Callable[[Request], File | Stored | Elsewhere]) -> None:
        super().__init__(guard)
        self._ask = ask

    def begin(self, request: Request) -> int:
        """Ask, and answer later."""
        gone: list[object] = []
        request.notifyFinish().addErrback(gone.append)
        ensureDeferred(self._answer(request, gone))
        return NOT_DONE_YET

    async def _answer(self, request: Request, gone: list[object]) -> None:
        status, content = 200, None
        try:
            answer = await deferToThread(self._ask, request)
            if isinstance(answer, Stored):
                content = await deferToThread(_opened, answer.path)
        except LswcError as error:
            status = 400 if isinstance(error, ConfigError) else 503
            answer = self.mistake(str(error))
        except OSError as error:  # such as of a folder that somebody closes meanwhile
            logger.warning("can't answer %s: %s", request.path, error)
            where = f"{os.fsdecode(error.filename)}: " if error.filename else ""
            status, answer = 503, self.mistake(f"{where}{error.strerror or error}")
        except Exception:
            logger.exception("can't answer %s", request.path)
            status, answer = 500, self.mistake("an error, which is in the log of `watch`")
        if gone:
            if content is not None:
                content.close()
            return
        if isinstance(answer, Elsewhere):
            request.redirect(answer.address.encode())
            request.finish()
            return
        request.setResponseCode(status)
        request.setHeader("Content-Type", answer.type)
        if isinstance(answer, Stored) and content is not None:
            await _send(request, answer, content, gone)
        elif isinstance(answer, File):
            request.write(answer.content)
            request.finish()

    def mistake(self, text: str) -> File:
        """Return what is answered if it can't be asked."""
        return _json({"error": text})


def _opened(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except OSError as error:
        raise StorageError(f"can't read {path.name}: {error.strerror}") from error


async def _send(request: Any, answer: Stored, content: IO[bytes], gone: list[object]) -> None:
    """Send a file from the disk as fast as the other side takes it, and close it."""
    for name, value in answer.headers.items():
        request.setHeader(name, value)
    request.setHeader("Content-Length", str(os.fstat(content.fileno()).st_size))
    with content:
        try:
            if request.method != b"HEAD":
                await FileSender().beginFileTransfer(content, request)
        except Exception as error:  # FileSender's own, of a connection that is lost
            if not gone:
                logger.warning("%s isn't sent whole: %s", answer.path, error)
        if not gone:
            request.finish()


class _Read(_Asking):
    def render_GET(self, request: Request) -> int:
        return self.begin(request)


class _Page(_Read):
    """A view: its template, filled; a mistake is a page, too. ``menu`` are the pages beside it."""

    def __init__(
        self, guard: Guard, name: str, view: View[Subject], subject: Subject, menu: Menu
    ) -> None:
        super().__init__(guard, self._filled)
        self._name, self._view, self._subject, self._menu = name, view, subject, menu

    def _filled(self, request: Request) -> File | Stored | Elsewhere:
        answer = self._view.answer(self._subject, _given(request))
        if isinstance(answer, (File, Stored, Elsewhere)):
            return answer
        return self._of(self._name or self._menu.first, answer)

    def _of(self, template: str, values: Mapping[str, Any]) -> File:
        shown = {"menu": self._menu, "here": self._name, "title": self._view.title, **values}
        return File(filled(f"{template}.html", shown), "text/html; charset=utf-8")

    @override
    def mistake(self, text: str) -> File:
        return self._of("mistake", {"mistake": text})


class _Nowhere(_Guarded):
    """An address that has no page, with all that is below it."""

    isLeaf = True

    def __init__(self, guard: Guard, menu: Menu, why: str) -> None:
        super().__init__(guard)
        self._shown = {"menu": menu, "here": None, "title": "Nothing here", "mistake": why}

    def render_GET(self, request: Request) -> bytes:
        request.setResponseCode(404)
        request.setHeader("Content-Type", "text/html; charset=utf-8")
        up = "../" * len(request.postpath or [])
        return filled("mistake.html", {**self._shown, "up": up})


class _Pages(Resource):
    """The pages of a crawl, or of a folder of crawls, and what their scripts ask for."""

    def __init__(self, guard: Guard, menu: Menu) -> None:
        super().__init__()
        self._guard, self._menu = guard, menu

    @override
    def getChild(self, path: bytes, request: Request) -> Any:
        name = path.decode("utf-8", "replace")
        return _Nowhere(self._guard, self._menu, f"The workbench has no page {name!r}.")


class _Files(_Read):
    """Files below an address: the rest of it names one."""

    isLeaf = True

    @override
    def mistake(self, text: str) -> File:
        return File(f"{text}\n".encode(errors="replace"), "text/plain; charset=utf-8")


class _Change(_Asking):
    """Takes a change, from who has the token."""

    def render_POST(self, request: Any) -> Any:
        if not self._guard.takes(request.getHeader):
            return _plain(request, 403, "open the address that `watch` printed: it has the token")
        return self.begin(request)


def _json(answer: Mapping[str, Any]) -> File:
    text = readable(json.dumps(answer, ensure_ascii=False))
    return File(text.encode(errors="replace"), "application/json")


def _plain(request: Any, status: int, text: str) -> bytes:
    request.setResponseCode(status)
    request.setHeader("Content-Type", "text/plain; charset=utf-8")
    return text.encode() + b"\n"


class _Folder(_Pages):
    """The pages of a folder of crawls, and below the name of each its own."""

    def __init__(self, crawls: Crawls, guard: Guard) -> None:
        menu = Menu("crawls", _titles(OF_FOLDER), "")
        super().__init__(guard, menu)
        self._crawls = crawls
        _lay_out(self, guard, crawls, menu, OF_FOLDER, FOLDER_QUESTIONS, FOLDER_CHANGES)

    @override
    def getChild(self, path: bytes, request: Request) -> Any:
        name = path.decode("utf-8", "replace")
        if name not in self._crawls.names():
            why = f"This folder has no crawl {name!r}. One that was just started is here soon."
            return _Nowhere(self._guard, self._menu, why)
        try:
            watch = Watch(stored(str(self._crawls.path(name)), "", Settings()))
        except LswcError as error:  # such as a crawl of another version
            return _File(self._guard, f"{name}.txt", f"{name}: {error}\n".encode(errors="replace"))
        page = _crawl(watch, self._guard, name)
        self.putChild(path, page)
        return page


def _crawl(watch: Watch, guard: Guard, of_folder: str) -> Any:
    """Return the pages of one crawl, with what their scripts ask for."""
    menu = Menu("live", _titles(VIEWS), of_folder)
    root: Any = _Pages(guard, menu)
    _lay_out(root, guard, watch, menu, VIEWS, QUESTIONS, CHANGES)
    for name, find in FILES.items():
        root.putChild(name.encode(), _Files(guard, partial(_found, find, watch)))
    return root


def _titles(views: Mapping[str, View[Any]]) -> list[tuple[str, str]]:
    return [(name, view.title) for name, view in views.items() if view.title]


def _lay_out(
    root: Any,
    guard: Guard,
    subject: Subject,
    menu: Menu,
    views: Mapping[str, View[Subject]],
    questions: Mapping[str, Callable[[Subject, Mapping[str, str]], Mapping[str, Any]]],
    changes: Mapping[str, Callable[[Subject, Mapping[str, Any]], Mapping[str, Any] | None]],
) -> None:
    """Put files, pages, questions and changes below an address."""
    for file in files("lswc.workbench").joinpath("static").iterdir():
        root.putChild(file.name.encode(), _File(guard, file.name, file.read_bytes()))
    for name, view in views.items():
        root.putChild(name.encode(), _Page(guard, name, view, subject, menu))
    api: Any = Resource()
    root.putChild(b"api", api)
    for name, question in questions.items():
        api.putChild(name.encode(), _Read(guard, partial(_asked, question, subject)))
    for name, change in changes.items():
        api.putChild(name.encode(), _Change(guard, partial(_changed, change, subject)))


def _asked(
    question: Callable[[Subject, Mapping[str, str]], Mapping[str, Any]],
    subject: Subject,
    request: Request,
) -> File:
    return _json(question(subject, _given(request)))


def _found(find: Callable[[Watch, str], Stored], watch: Watch, request: Request) -> Stored:
    return find(watch, b"/".join(request.postpath or []).decode("utf-8", "replace"))


def _changed(
    change: Callable[[Subject, Mapping[str, Any]], Mapping[str, Any] | None],
    subject: Subject,
    request: Request,
) -> File:
    return _json(change(subject, _body(request)) or {"done": True})


def site(root: Any, guard: Guard) -> Any:
    """Return what answers over HTTP."""
    bounded = type("Request", (Bounded,), {"guard": guard})
    answering: Any = Site(root, requestFactory=bounded)
    answering.noisy, answering.log = False, lambda request: None  # no access log
    return answering


def serve(
    crawl: StoredCrawl | Crawls, host: str, port: int, name: str, ready: Callable[[str], None]
) -> None:
    """Serve a crawl's page, or that of a folder of crawls, until a signal ends the process.

    Raises ConfigError.

    ``name`` is that of a server with TLS before this one, if any. ``ready`` is called with the
    page's address, the token in it.
    """
    from twisted.internet import reactor  # not above: importing it installs one

    guard = Guard(host, name)
    running: Any = reactor
    root: Any = (
        _Folder(crawl, guard) if isinstance(crawl, Crawls) else _crawl(Watch(crawl), guard, "")
    )
    try:
        listening = running.listenTCP(port, site(root, guard), interface=host)
    except CannotListenError as error:
        raise ConfigError(
            f"can't listen to port {port} of {host}: {error.socketError.strerror}; "
            "another watch, or scrapyd, may listen there: choose another with --port, 0 for any"
        ) from error
    named = f"[{host}]" if ":" in host else host
    place = f"https://{name}" if name else f"http://{named}:{listening.getHost().port}"
    ready(f"{place}/#{guard.token}")
    # Twisted hears Ctrl-C where nobody else does: elsewhere it's an error of the page being served.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        running.run()
    finally:
        signal.signal(signal.SIGINT, before)
