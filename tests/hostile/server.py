"""An HTTP server that misbehaves, and a resolver that leads a crawl's every name to it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from typing import TYPE_CHECKING

from typing_extensions import override

from tests.hostile import cases
from tests.resolvers import OverNames
from tests.scenarios.site import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PORT = "LSWC_TEST_HOSTILE_PORT"


class HostileResolver(OverNames):
    """Resolves by ``cases.ADDRESSES``; what the crawl's own filter passes goes to the server.

    Had a private address passed, the crawl would have a record of it.
    """

    @override
    def addresses(self, name: str) -> Sequence[str]:
        with suppress(ValueError):
            return [str(ip_address(name.strip("[]")))]
        answers = cases.ADDRESSES.get(name)
        if answers is not None:
            return answers.pop(0) if len(answers) > 1 else answers[0]
        return [cases.PUBLIC] if name.endswith((".example", ".farm.co.th")) else []

    @override
    def leads(self, name: str, port: int, address: str) -> int:
        return 1 if (name, port) == ("closed-http.example", 80) else int(os.environ[PORT])


@contextmanager
def serve() -> Iterator[int]:
    """Serve all cases on a free port of 127.0.0.1, in a process of its own; give the port."""
    command = [sys.executable, "-m", "tests.hostile.server"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.kill()


async def _serve() -> None:
    server = await asyncio.start_server(_answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def _head(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """Return a request's head; what speaks TLS to tls-garbage, by its name there, gets garbage."""
    first = await reader.read(4096)
    if first[:1] == b"\x16" and b"tls-garbage" in first:
        writer.write(b"no TLS here, but words\r\n\r\n")
    return first if b"\r\n\r\n" in first else first + await reader.readuntil(b"\r\n\r\n")


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        head = await _head(reader, writer)
        path = head.split(b" ", 2)[1].decode("latin-1")
        fields = head.lower().split(b"\r\nhost: ", 1)
        host = fields[1].split(b"\r\n", 1)[0].decode("latin-1") if len(fields) == 2 else ""
        await cases.answer(host, path, writer)
    except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        pass  # the crawl hung up, or spoke TLS
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


if __name__ == "__main__":
    asyncio.run(_serve())
