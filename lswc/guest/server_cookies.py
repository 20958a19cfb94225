"""Cookies of servers: what each wants to see in every request, the same for all of a crawl."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from lswc.guest.cookies import Jar, Kept

if TYPE_CHECKING:
    from lswc.guest.learned import Key, Learned
    from lswc.urls import Url

TRIES = 3
"""How often a server's wall, doorway or switch is tried in vain, before it is left."""

MOST_KEPT = 10
"""Cookies of a server that are sent with every request, at most."""

_GATES = 10
SUBJECT = "cookies"


class Way(StrEnum):
    """What a server has before its pages: redirects, a form of one button, a choice of language."""

    WALL = "wall"
    DOORWAY = "doorway"
    LANGUAGE = "language"


class ServerCookies:
    """The cookies that servers are sent with every request, learned of visits that got in.

    A doorway's, and a language's, hold at once. A wall's hold once a second URL needed them: those
    that both visits were given, without what names their URLs. No other answer sets any, so
    they don't depend on the order of requests. Methods raise LswcError.

    ``jars`` has what is sent to each server that wants any.
    """

    def __init__(self, learned: Learned) -> None:
        self._learned = learned
        self.jars: dict[str, Jar] = {}
        self._stale = Counter[str]()
        for server in learned.keys(SUBJECT):
            self._heard((server, SUBJECT))
        learned.heard.append(self._heard)

    def _heard(self, key: Key) -> None:
        server, subject = key
        if subject != SUBJECT:
            return
        if kept := self._known(server).get("sent"):
            self.jars[server] = Jar(Kept(*cookie) for cookie in kept)
        else:
            self.jars.pop(server, None)

    def _known(self, server: str) -> dict[str, Any]:
        return self._learned.get(server, SUBJECT) or {}

    def may_try(self, server: str, way: Way) -> bool:
        """Tell whether a way into a server wasn't tried too often in vain."""
        failed: int = self._known(server).get("failed", {}).get(way, 0)
        return failed < TRIES

    def is_shut(self, server: str, gate: str) -> bool:
        """Tell whether redirects to a path, "" for those to themselves, lead back without end."""
        return not self.may_try(server, Way.WALL) and gate in self._known(server).get("shut", ())

    def failed(self, server: str, way: Way, shut: str | None = None) -> None:
        """Count a try that was in vain; ``shut`` is the path of a gate that leads back."""
        known = self._known(server)
        failed = known.get("failed", {})
        known = known | {"failed": failed | {way: failed.get(way, 0) + 1}}
        if shut is not None:
            known["shut"] = sorted({*known.get("shut", ()), shut})
        self._learned.put(server, SUBJECT, known)

    def switch(self, server: str) -> str:
        """Return what begins the links that set a server's language, or its parameter's name."""
        found: str = self._known(server).get("switch", "")
        return found

    def is_gate(self, server: str, path: str) -> bool:
        """Tell whether redirects to a path led back to pages, with cookies."""
        return path in self._known(server).get("gates", ())

    def has_gates(self, server: str) -> bool:
        """Tell whether redirects of a server led back to pages, with cookies."""
        return bool(self._known(server).get("gates"))

    def opened(
        self, url: Url, way: Way, jar: Jar, *, gate: str | None = None, switch: str = ""
    ) -> None:
        """Learn the cookies with which a URL was had.

        ``gate`` is the path that it redirected to, ``switch`` is what set a language.
        """
        known, own = self._known(url.server), _of_server(url, jar)[:MOST_KEPT]
        if gate is not None and len(gates := {*known.get("gates", ()), gate}) <= _GATES:
            known = known | {"gates": sorted(gates)}
        if way is not Way.WALL:
            sent = own
            if switch:
                known = known | {"switch": switch}
        elif known.get("own") or not own:
            sent = []
        elif known.get("sent"):
            self._stale[url.server] += 1
            if self._stale[url.server] >= TRIES:  # each page wants others
                self._learned.put(url.server, SUBJECT, {**known, "sent": [], "own": True})
                return
            names = {name for name, *_ in known["sent"]}
            sent = [cookie for cookie in own if cookie.name in names] or own
        else:
            sent = [cookie for cookie in own if cookie.name in known.get("names", ())]
            known = known | {"names": sorted({cookie.name for cookie in own})}
        self._learned.put(url.server, SUBJECT, {**known, "sent": [*map(list, sent)]})

    def worked(self, server: str) -> None:
        """Take notice that a page came by what its server was sent."""
        if self._stale:
            del self._stale[server]


def _of_server(url: Url, jar: Jar) -> list[Kept]:
    """Return a jar's cookies that go to a URL's server, but for those that name the URL."""
    return [
        cookie
        for cookie in jar.kept()
        if _goes_to(url.hostname, cookie) and not _names(url, cookie.value or "")
    ]


def _goes_to(hostname: str, cookie: Kept) -> bool:
    if cookie.of_host:
        return cookie.domain.removesuffix(".local") == hostname
    return f".{hostname}".endswith(cookie.domain)


def _names(url: Url, value: str) -> bool:
    return len(url.path) > 1 and url.path in unquote(value)
