# mypy: allow-untyped-calls
# Twisted is typed in part only.
"""Server of the page: files that never change, and what their script asks for as JSON."""

from __future__ import annotations

import json
import logging
import signal
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from scrapy.settings import Settings
from twisted.internet.defer import ensureDeferred
from twisted.internet.error import CannotListenError
from twisted.internet.threads import deferToThread
from twisted.web.resource import Resource
from twisted.web.server import NOT_DONE_YET, Request, Site
from typing_extensions import override

from lswc.errors import ConfigError, LswcError
from lswc.guest.control import change, history
from lswc.monitor.page.access import HEADERS, Guard
from lswc.monitor.page.crawls import Crawls
from lswc.monitor.page.data import PageData
from lswc.monitor.page.search import find
from lswc.monitor.stored import StoredCrawl, stored
from lswc.urls import readable

if TYPE_CHECKING:
    from collections.abc import Callable

LARGEST = 65_536
"""Bytes of a request's body."""

LONGEST = 10_000
"""Characters of what is searched for."""

CHANGES = 100
"""Changes of the history that are shown."""

_TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
          ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}  # fmt: skip

logger = logging.getLogger(__name__)


class Watch:
    """Answers for one crawl."""

    def __init__(self, crawl: StoredCrawl, guard: Guard) -> None:
        self._crawl = crawl
        self._data = PageData(crawl)
        self.guard = guard

    def state(self, request: Request) -> dict[str, Any]:
        """Return all that the page shows; the course only if it isn't known yet."""
        known = _argument(request, b"course")
        return self._data.get(int(known) if known.isdecimal() else -1)

    def found(self, request: Request) -> dict[str, Any]:
        """Return what is known of a server or a URL."""
        return find(self._crawl, _argument(request, b"q")[:LONGEST])

    def changes(self, request: Request) -> dict[str, Any]:
        """Return the changes of the control, the latest first."""
        latest = history(self._crawl.kept)[-CHANGES:][::-1]
        return {"changes": [change._asdict() for change in latest]}

    def say(self, request: Request) -> dict[str, Any]:
        """Change the control as the body of the request says. Raises ConfigError."""
        given = _body(request)
        texts = {name: given.get(name, "") for name in ("key", "place", "why")}
        if not all(isinstance(text, str) for text in texts.values()):
            raise ConfigError("key, place and why must be texts")
        change(
            self._crawl.kept, texts["key"], given.get("value"), texts["place"],
            why=texts["why"], by="watch",
        )  # fmt: skip
        return {"said": True}


class Bounded(Request):
    """A request whose body is kept only if it may change something; at most LARGEST bytes come."""

    guard: Guard

    @override
    def gotLength(self, length: int | None) -> None:
        super().gotLength(0)  # in memory
        self._left = LARGEST
        self._is_kept = self.guard.takes(self.getHeader)
        if length is not None and length > LARGEST:
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


def _argument(request: Request, name: bytes) -> str:
    values: list[bytes] = (request.args or {}).get(name, [b""])
    return values[0].decode("utf-8", "replace")


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


class _Json(_Guarded):
    """Asks in a thread, as a disk or a Redis may keep it waiting."""

    def __init__(self, guard: Guard, ask: Callable[[Request], dict[str, Any]]) -> None:
        super().__init__(guard)
        self._ask = ask

    def begin(self, request: Request) -> int:
        """Ask, and answer later."""
        gone: list[object] = []
        request.notifyFinish().addErrback(gone.append)
        ensureDeferred(self._answer(request, gone))
        return NOT_DONE_YET

    async def _answer(self, request: Request, gone: list[object]) -> None:
        status, answer = 200, dict[str, Any]()
        try:
            answer = await deferToThread(self._ask, request)
        except LswcError as error:
            status, answer = (400 if isinstance(error, ConfigError) else 503), {"error": str(error)}
        except Exception:
            logger.exception("can't answer %s", request.path)
            status, answer = 500, {"error": "an error, which is in the log of `watch`"}
        if not gone:
            request.setResponseCode(status)
            request.setHeader("Content-Type", "application/json")
            text = readable(json.dumps(answer, ensure_ascii=False))
            request.write(text.encode(errors="replace"))
            request.finish()


class _Read(_Json):
    def render_GET(self, request: Request) -> int:
        return self.begin(request)


class _Change(_Json):
    """Takes a change, from who has the token."""

    def render_POST(self, request: Any) -> Any:
        if not self._guard.takes(request.getHeader):
            return _plain(request, 403, "open the address that `watch` printed: it has the token")
        return self.begin(request)


def _plain(request: Any, status: int, text: str) -> bytes:
    request.setResponseCode(status)
    request.setHeader("Content-Type", "text/plain; charset=utf-8")
    return text.encode() + b"\n"


class _Folder(Resource):
    """The page of a folder of crawls, and below the name of each its own."""

    def __init__(self, crawls: Crawls, guard: Guard) -> None:
        super().__init__()
        self._crawls, self._guard = crawls, guard
        _put_files(self, guard, "crawls.html")
        api: Any = Resource()
        self.putChild(b"api", api)
        api.putChild(b"crawls", _Read(guard, self._listed))
        api.putChild(b"start", _Change(guard, partial(self._told, crawls.start)))
        api.putChild(b"stop", _Change(guard, partial(self._told, crawls.stop)))

    @override
    def getChild(self, path: bytes, request: Request) -> Any:
        name = path.decode("utf-8", "replace")
        if name not in self._crawls.names():
            return super().getChild(path, request)
        try:
            watch = Watch(stored(str(self._crawls.path(name)), "", Settings()), self._guard)
        except LswcError as error:  # such as a crawl of another version
            return _File(self._guard, f"{name}.txt", f"{name}: {error}\n".encode(errors="replace"))
        page = _page(watch)
        self.putChild(path, page)
        return page

    def _listed(self, request: Request) -> dict[str, Any]:
        return {"name": str(self._crawls.folder), "crawls": self._crawls.listed()}

    def _told(self, tell: Callable[[str], None], request: Request) -> dict[str, Any]:
        tell(str(_body(request).get("name", "")))
        return {"said": True}


def _put_files(root: Any, guard: Guard, first: str) -> None:
    for file in files("lswc.monitor.page").joinpath("static").iterdir():
        name = b"" if file.name == first else file.name.encode()
        root.putChild(name, _File(guard, file.name, file.read_bytes()))


def _page(watch: Watch) -> Any:
    """Return the page of one crawl, with what its script asks for."""
    root: Any = Resource()
    _put_files(root, watch.guard, "index.html")
    api: Any = Resource()
    root.putChild(b"api", api)
    api.putChild(b"state", _Read(watch.guard, watch.state))
    api.putChild(b"find", _Read(watch.guard, watch.found))
    api.putChild(b"changes", _Read(watch.guard, watch.changes))
    api.putChild(b"say", _Change(watch.guard, watch.say))
    return root


def site(root: Any, guard: Guard) -> Any:
    """Return what answers over HTTP."""
    bounded = type("Request", (Bounded,), {"guard": guard})
    answering: Any = Site(root, requestFactory=bounded)
    answering.noisy, answering.log = False, lambda request: None  # no access log
    return answering


def serve(
    crawl: StoredCrawl | Crawls, host: str, port: int, name: str, ready: Callable[[str], None]
) -> None:
    """Serve a crawl's page, or that of a folder of crawls, until the process is told to end.

    Raises ConfigError.

    ``name`` is that of a server with TLS before this one, if any. ``ready`` is called with the
    page's address, the token in it.
    """
    from twisted.internet import reactor  # not above: importing it installs one

    guard = Guard(host, name)
    running: Any = reactor
    root: Any = _Folder(crawl, guard) if isinstance(crawl, Crawls) else _page(Watch(crawl, guard))
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
