"""The internet as a crawl reaches it: names, ports, the files of servers' rules, and time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from lswc.guest.decisions import Answer, Go, Refuse
    from lswc.urls import Url

ROBOTS = "robots.txt"
"""Name of the file with what may be asked for (RFC 9309)."""

TDMREP = "tdmrep.json"
"""Name of the file with what a server reserves (TDM Reservation Protocol)."""


class ClosingError(Exception):
    """The crawl closes: what waits isn't asked for any more."""


class Internet(Protocol):
    """All that a guest needs of the world. Nobody else gives it time or answers."""

    @property
    def is_frozen(self) -> bool:
        """Whether all names lead to a frozen web on this machine, which needs no sparing."""

    async def address(self, name: str, port: int) -> str:
        """Return the address that a connection to a name tries first, "" if there is none."""

    async def opens(self, url: Url) -> bool:
        """Tell whether a URL's server opens its port; nothing is asked for."""

    async def finds(self, url: Url) -> bool:
        """Tell whether the name of a URL's server has an address now, whatever it had before."""

    async def sign(self, url: Url) -> int | None:
        """Ask for a page, its name looked up anew; return the sign of what comes, as
        ``lswc.guest.likeness`` has it, None if nothing does."""

    def forget(self) -> None:
        """Forget what the network said of names."""

    async def fetch(self, url: Url, file: str, go: Go | None) -> Answer | Refuse:
        """Ask a URL's server for a file with its rules, or return why the crawl refuses to.

        With a ``go`` that is already granted for it. Raises what the network does.
        """

    async def sleep(self, seconds: float) -> None:
        """Let time go by. Raises ClosingError if the crawl closes."""

    def aside(self, size: int) -> AbstractContextManager[None]:
        """Let a page of so many bytes wait without holding up others. Raises ClosingError."""

    def now(self) -> float:
        """Return the seconds of a clock that never goes back."""

    def unix_time(self) -> float:
        """Return the seconds since 1970."""
