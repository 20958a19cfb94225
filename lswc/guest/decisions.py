"""Decisions of a guest: what became of asking whether a URL may be asked for now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lswc.outcomes import Outcome
    from lswc.urls import Url


@dataclass(frozen=True, slots=True)
class Group:
    """What shares slots: a name, how many, and the seconds that each rests after a request."""

    name: str
    slots: int
    rest: float


class Headers(Protocol):
    """The headers of an answer."""

    def getlist(self, name: str) -> list[bytes]:
        """Return the values of a header, as they were sent."""


class Answer(Protocol):
    """A server's answer to the request for a file with its rules, after all redirects."""

    @property
    def status(self) -> int:
        """The HTTP status."""

    @property
    def headers(self) -> Headers:
        """The headers."""

    @property
    def body(self) -> bytes:
        """The body, as much of it as counts."""


@dataclass(frozen=True, slots=True)
class Go:
    """It is asked for now: its server and its slots count as taken until it has ended.

    ``rest`` are the seconds that its server is to rest afterwards at least, by the crawl's delay,
    robots.txt and instructions; ``opt_outs`` are what robots.txt says against mining the page. The
    request begins ``at`` that time.
    """

    url: Url
    groups: Sequence[Group] = ()
    rest: float = 0.0
    opt_outs: tuple[str, ...] = ()
    at: float = 0.0


class Wait(NamedTuple):
    """It may be asked for in so many seconds, unless others come before."""

    seconds: float


class Refuse(NamedTuple):
    """It isn't asked for."""

    outcome: Outcome


class Fails(NamedTuple):
    """Its server fails to say what may be asked for: with this answer."""

    answer: Answer


Decision = Go | Wait | Refuse | Fails


class End(NamedTuple):
    """How a request ended.

    ``status`` is that of the answer, 0 if none came; it began after ``latency`` seconds.
    ``retry_after`` is that header's value. ``is_live`` is False for an answer, or a failure, that
    no machine elsewhere has to do with; ``timed_out``: none came in time; ``nameless``: the
    server's name has no address.
    """

    status: int = 0
    latency: float = 0.0
    retry_after: str = ""
    is_live: bool = True
    timed_out: bool = False
    nameless: bool = False
