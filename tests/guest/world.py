"""A world for a guest: its time goes by as a test wants, and its servers say what a test wants."""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import SimpleNamespace
from typing import TYPE_CHECKING

from scrapy.http import Response

from lswc.frontier.store.frontier import Frontier
from lswc.guest.admission import Reach
from lswc.guest.control import InFolder
from lswc.guest.control_in_effect import ControlInEffect
from lswc.guest.decisions import End, Go, Wait
from lswc.guest.guest import Guest, Stores
from lswc.guest.internet import ROBOTS
from lswc.guest.network import Network
from lswc.guest.politeness import Politeness
from lswc.guest.rests import FILE, Backoff
from lswc.guest.slots import OwnSlots
from lswc.reading.scope import Scope
from lswc.safety.server_limits import Limits, Quotas
from lswc.strategy import strategy
from lswc.urls import Url, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import Any

    from lswc.guest.decisions import Decision, Refuse

BEGIN = 1_800_000_000.0
"""Unix time at which a world begins."""

_START = 1_000.0

POLITE = Politeness(
    delay=1.0,
    delay_factor=5.0,
    backoff=60.0,
    timeout=60.0,
    longest_crawl_delay=300.0,
    per_address=0,
    per_domain=0,
    robot="lswc",
    try_again=(),
    least_disk=0.0,
)


def url_of(address: str) -> Url:
    found = parse(address)
    assert found is not None
    return found


class World:
    """Time, names and servers. An answer to the request for a server's rules takes a second.

    ``files`` holds those answers by server and name of the file; all others are empty robots.txt.
    ``addresses`` are those of names; all others lead to one. ``found`` are the names that a look-up
    of their own finds. ``signs`` gives that of a page that is ``asked`` for once more.
    """

    is_frozen = False

    def __init__(self) -> None:
        self.time = _START
        self.files: dict[tuple[str, str], Response | Refuse | Exception] = {}
        self.addresses: dict[str, str] = {}
        self.found: set[str] = set()
        self.signs: Callable[[Url], int | None] = lambda url: None
        self.asked: list[str] = []
        self.forgot = 0
        self.fetched: list[tuple[str, str]] = []
        self.guest: Any = None

    def now(self) -> float:
        return self.time

    def unix_time(self) -> float:
        return BEGIN + self.time - _START

    async def sleep(self, seconds: float) -> None:
        self.time += seconds

    def aside(self, size: int) -> AbstractContextManager[None]:
        return nullcontext()

    async def address(self, name: str, port: int) -> str:
        await asyncio.sleep(0)  # as a look-up does: others may ask meanwhile
        return self.addresses.get(name, "192.0.2.1")

    async def opens(self, url: Url) -> bool:
        return False

    async def finds(self, url: Url) -> bool:
        return url.hostname in self.found

    async def sign(self, url: Url) -> int | None:
        self.asked.append(url.href)
        await asyncio.sleep(0)
        return self.signs(url)

    def forget(self) -> None:
        self.forgot += 1

    async def fetch(self, url: Url, file: str, go: Go | None) -> Response | Refuse:
        go = go or await self.guest.may(url, url.href, ROBOTS)
        assert isinstance(go, Go)
        self.fetched.append((url.server, file))
        self.time += 1.0
        answer = self.files.get((url.server, file), Response("http://rules.example/"))
        failed = isinstance(answer, Exception)
        end = End(is_live=False) if failed else End(200, is_live=False)
        self.guest.ended(go, end)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def says(self, server: str, text: str, status: int = 200, file: str = ROBOTS) -> None:
        """Let a server answer so for a file with its rules."""
        self.files[server, file] = Response("http://x.example/", status, body=text.encode())


class Hosted:
    """A guest in a world, without the machinery of a crawl."""

    def __init__(self, folder: Path, politeness: Politeness = POLITE) -> None:
        folder.mkdir(exist_ok=True)
        backoff = Backoff(folder / FILE, politeness.backoff)
        self.world = World()
        self.where = InFolder(folder)
        self.limits = Limits()
        self.frontier = Frontier(":memory:", strategy("bfs"), {"language": "th"})
        control = ControlInEffect(self.where, lambda _: None)
        scope = Scope(0, 0)
        self.guest = Guest(
            politeness,
            Reach(scope, None, scope, lambda url: url.server, Quotas()),
            Stores(folder, self.frontier, OwnSlots(self.world.now), control, backoff),
            self.limits,
            self.world,
            Network(self.world, (), 0.0, lambda *_: None, lambda _: None, lambda: None),
        )
        self.world.guest = self.guest

    def close(self) -> None:
        self.guest.close()
        self.frontier.close()

    async def may(self, address: str) -> Decision:
        """Ask for a URL."""
        return await self.guest.may(url_of(address), address)

    async def go(self, address: str) -> Go:
        """Ask for a URL as soon as that may be; robots.txt is asked for before."""
        for _ in range(4):
            decision = await self.may(address)
            if isinstance(decision, Go):
                return decision
            assert isinstance(decision, Wait)
            self.world.time += decision.seconds
        raise AssertionError(f"it never goes: {decision}")

    async def reserved(self, address: str) -> tuple[str, ...]:
        """Return what a page's server reserves."""
        visit: Any = SimpleNamespace(since=0.0, rest=0.0)
        return await self.guest.reserved(visit, url_of(address), 1_000)

    async def rest(self, address: str, end: End) -> float:
        """Ask for a URL, let the request end so, and return the rest of its server."""
        go = await self.go(address)
        rest = self.guest.ended(go, end)
        assert await self.may(address) == Wait(rest)
        return rest


@contextmanager
def hosted(folder: Path, politeness: Politeness = POLITE) -> Iterator[Hosted]:
    found = Hosted(folder, politeness)
    try:
        yield found
    finally:
        found.close()
