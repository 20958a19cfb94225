# mypy: allow-untyped-calls
# Twisted is typed in part only.
"""Server of a web: HTTP/1.1 on loopback, clear and by TLS on one port, by the Host header."""

from __future__ import annotations

import os
from errno import EMFILE, ENFILE
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from twisted.internet.error import CannotListenError
from twisted.internet.protocol import Factory, Protocol, connectionDone
from twisted.protocols.basic import FileSender
from twisted.protocols.tls import TLSMemoryBIOFactory
from twisted.python.failure import Failure
from twisted.web import http
from typing_extensions import override

from lswc.crawl.web.answers import Answer, WebError
from lswc.crawl.web.certificate import ServerContext
from lswc.urls import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from twisted.internet.interfaces import IAddress

    from lswc.crawl.web.answers import Web
    from lswc.crawl.web.shapes import Shape

HANDLE_WAIT = 0.05
"""Seconds until a file is opened again for which this process had no handle left."""

_NO_HANDLES = (EMFILE, ENFILE)

TLS_HANDSHAKE = 0x16  # the first byte of a ClientHello (RFC 8446 §5.1); no HTTP method has it


def listen(reactor: Any, web: Web, port: int = 0) -> int:
    """Serve a web on 127.0.0.1 until the reactor stops; return the port (0: a free one).

    Raises WebError if the port is taken.
    """
    try:
        listening = reactor.listenTCP(port, ServerFactory(reactor, web), interface="127.0.0.1")
    except CannotListenError as error:
        raise WebError(f"can't serve a web at port {port}: {error.socketError}") from error
    reactor.addSystemEventTrigger("before", "shutdown", listening.stopListening)
    return int(listening.getHost().port)


class ServerFactory(Factory):
    """Takes a connection for TLS or for plain HTTP by its first byte."""

    noisy = False

    def __init__(self, reactor: Any, web: Web) -> None:
        self.plain: Any = PageFactory(reactor, web)
        self._tls: Any = None

    @property
    def secure(self) -> Any:
        """The same server behind TLS, its certificate made when first needed."""
        if self._tls is None:
            context: Any = ServerContext()
            self._tls = TLSMemoryBIOFactory(context, False, self.plain)
        return self._tls

    @override
    def buildProtocol(self, addr: IAddress | None) -> Protocol:
        return FirstByte(self, addr)

    @override
    def startFactory(self) -> None:
        self.plain.doStart()

    @override
    def stopFactory(self) -> None:
        self.plain.doStop()


class FirstByte(Protocol):
    """Hands a connection on to the protocol that its first byte asks for."""

    def __init__(self, server: ServerFactory, address: IAddress | None) -> None:
        self._server = server
        self._address = address
        self._inner: Any = None

    @override
    def dataReceived(self, data: bytes) -> None:
        if self._inner is None:
            secure = data[0] == TLS_HANDSHAKE
            factory = self._server.secure if secure else self._server.plain
            self._inner = factory.buildProtocol(self._address)
            self._inner.makeConnection(self.transport)
        self._inner.dataReceived(data)

    @override
    def connectionLost(self, reason: Failure = connectionDone) -> None:
        if self._inner is not None:
            self._inner.connectionLost(reason)


class PageFactory(http.HTTPFactory):
    """Plain HTTP for one web; writes no access log."""

    noisy = False

    def __init__(self, reactor: Any, web: Web) -> None:
        super().__init__(reactor=reactor)
        self.web = web

    @override
    def buildProtocol(self, addr: IAddress | None) -> Any:
        channel = super().buildProtocol(addr)
        if channel is not None:
            channel.requestFactory = PageRequest
        return channel

    @override
    def log(self, request: http.Request) -> None:
        """Say nothing: the crawl keeps its own log."""


class PageRequest(http.Request):
    """One request for a page."""

    _waiting: Any = None

    @override
    def process(self) -> None:
        if self.method not in (b"GET", b"HEAD"):
            self._refuse(405, ("Allow", "GET, HEAD"))
            return
        server, target = self._asked()
        web = self.channel.factory.web
        if server is None or not web.knows(server):
            self._refuse(400)
            return
        accepted = self.requestHeaders.getRawHeaders("accept-language", [])
        try:
            answer = web.answer(server, target, ",".join(accepted))
        except OSError as error:
            if error.errno not in _NO_HANDLES:
                raise
            self._later(HANDLE_WAIT, self.process)
            return
        if answer.delay:
            self._later(answer.delay, self._send, answer)
        else:
            self._send(answer)

    def _later(self, seconds: float, *call: Any) -> None:
        self._waiting = self.channel.factory.reactor.callLater(seconds, *call)

    @override
    def connectionLost(self, reason: Failure) -> None:
        if self._waiting is not None and self._waiting.active():
            self._waiting.cancel()
        super().connectionLost(reason)

    def _asked(self) -> tuple[str | None, str]:
        """Return the server asked for, None if it isn't known, and path plus query."""
        hosts = self.requestHeaders.getRawHeaders("host", [])
        target = self.uri.decode("latin-1")
        if not target.startswith("/"):  # the absolute form counts before Host (RFC 9112 §3.2.2)
            url = parse(target)
            rest = target.partition("://")[2].partition("/")[2]
            return (url.server if url else None), f"/{rest}"
        if len(hosts) != 1 or set(hosts[0]) & set("/?#@\\"):
            return None, target
        url = parse(f"http://{hosts[0]}/")
        return (url.server.removesuffix(":443") if url else None), target

    def _refuse(self, status: int, *headers: tuple[str, str]) -> None:
        plain = ("Content-Type", "text/plain")
        self._send(Answer(status, (plain, *headers), http.RESPONSES[status] + b"\n"))

    def _send(self, answer: Answer) -> None:
        file: BinaryIO | None = None
        if isinstance(answer.body, Path):
            try:
                file = answer.body.open("rb")
            except OSError as error:
                if error.errno in _NO_HANDLES:
                    self._later(HANDLE_WAIT, self._send, answer)
                    return
                answer = Answer(403)
        self.setResponseCode(answer.status)
        for name, value in answer.headers:
            self.responseHeaders.addRawHeader(*_raw(name, value))
        if not self.responseHeaders.hasHeader("Date"):
            self.setHeader("Date", http.datetimeToString())
        if file is not None:
            self._send_file(file, answer.shape)
            return
        if self._has(dict(answer.headers)):
            self.setResponseCode(304)
            self.responseHeaders.removeHeader("Content-Type")
            self.write(b"")
            self.finish()
            return
        body = answer.body if isinstance(answer.body, bytes) else b""
        self.setHeader("Content-Length", str(len(body)))
        self.write(body)
        self.finish()

    def _has(self, headers: dict[str, str]) -> bool:
        """Tell whether the client holds the page as it is (RFC 9110 §13.2.2)."""
        if self.code != http.OK:
            return False
        wanted = self.getHeader("if-none-match")
        if wanted is not None:
            return headers.get("ETag") in [tag.strip() for tag in wanted.split(",")]
        since, modified = self.getHeader("if-modified-since"), headers.get("Last-Modified")
        if since is None or modified is None:
            return False
        try:
            then, asked = (http.stringToDatetime(date.encode()) for date in (modified, since))
        except ValueError:  # a date that is none isn't heeded
            return False
        return bool(then <= asked)

    def _send_file(self, file: BinaryIO, shape: Shape | None) -> None:
        stat = os.fstat(file.fileno())
        self.setHeader("Content-Length", str(stat.st_size))
        if self.setLastModified(stat.st_mtime) is http.CACHED or self.method == b"HEAD":
            file.close()
            self.write(b"")
            self.finish()
        elif shape is not None:
            self._send_shaped(file, shape)
        else:
            sending = FileSender().beginFileTransfer(file, self)
            sending.addBoth(self._sent, file)

    def _send_shaped(self, file: BinaryIO, shape: Shape) -> None:
        with file:
            body = file.read()
        self.responseHeaders.removeHeader("Content-Length")
        named = self.responseHeaders.getAllRawHeaders()
        headers = [(name, value) for name, values in named for value in values]
        headers.append((b"Last-Modified", http.datetimeToString(self.lastModified)))
        self.startedWriting = 1  # else Twisted would write a head, too
        self.channel.write(shape.written(headers, body))
        if shape.closes:
            self.channel.persistent = False
        self.finish()

    def _sent(self, result: object, file: BinaryIO) -> None:
        file.close()
        if not isinstance(result, Failure):  # the client may have gone
            self.finish()


def _raw(*texts: str) -> Iterator[bytes]:
    return (text.encode("utf-8", "surrogateescape") for text in texts)
