"""robots.txt (RFC 9309): what it says to one robot.

The file is reduced to that before it is parsed: parsers copy each rule for each robot that is
named before it, and try each pattern on each URL, so half a megabyte of either holds a crawl for
minutes. Where parsers differ, this is as Google's, whose test cases are public.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import isfinite

from protego import Protego

MAX_SIZE = 512_000
"""Bytes that are read (RFC 9309 §2.5)."""

MAX_PATTERNS = 1_000
"""Rules with * or $ in them; a server that has more for one robot allows it nothing."""

MAX_USAGES = 50
"""Content-Usage lines that count, the last ones."""

MAX_LINE = 8 * 2083 - 1
"""Characters of a line that are read, as Google's parser does."""

_LINE = re.compile(
    r"(?:(?P<agent>user[- ]?agent)|(?P<allow>allow)|(?P<disallow>d[aislow]+)"
    r"|(?P<delay>crawl[- ]delay)|(?P<usage>content-usage))"
    r"(?:\s*:\s*|\s+)(?P<value>.*)",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[A-Za-z_-]+")


@dataclass
class _Group:
    """The rules of all groups for one robot."""

    rules: list[str] = field(default_factory=list)
    patterns: int = 0
    delay: float = 0.0
    usages: list[tuple[str, str]] = field(default_factory=list)


class RobotsRules:
    """What a robots.txt says to one robot.

    ``agent`` is the robot's product token (RFC 9309 §2.2.1), or begins with it. ``size`` is what
    its rules take, in bytes.
    """

    def __init__(self, body: bytes, agent: str) -> None:
        group = _group(body[:MAX_SIZE].decode("utf-8", "replace"), agent.partition("/")[0].strip())
        if group.patterns > MAX_PATTERNS:
            group.rules = ["Disallow: /"]
        text = "\n".join(["User-agent: *", *group.rules])
        self.size = len(text)
        self.crawl_delay = group.delay
        self._rules = Protego.parse(text)
        self._usages = [
            (PathPattern(path), preferences)
            for path, preferences in sorted(group.usages, key=_length, reverse=True)
        ]

    def allows(self, url: str) -> bool:
        """Tell whether a URL may be asked for.

        It is compared percent-encoded (RFC 9309 §2.2.2): what isn't ASCII in it matches nothing.
        """
        return bool(self._rules.can_fetch(url.encode("ascii", "replace").decode(), "*"))

    def content_usage(self, url: str) -> str:
        """Return the preferences for a URL's content, those of the longest path that matches it;
        "" if there are none (draft-ietf-aipref-attach §6)."""
        found = (preferences for path, preferences in self._usages if path.matches(url))
        return next(found, "")


class PathPattern:
    """A path as rules name it: the beginning of paths, with * and $ (RFC 9309 §2.2.3)."""

    def __init__(self, path: str) -> None:
        self._rules = Protego.parse(f"User-agent: *\nDisallow: {path}")

    def matches(self, url: str) -> bool:
        """Tell whether the path and query of a URL are meant."""
        return not self._rules.can_fetch(url, "*")


def _length(usage: tuple[str, str]) -> int:
    return len(usage[0])


def _group(text: str, product: str) -> _Group:
    """Return the group of a robot, or that of all if none names it."""
    groups = _Groups(product)
    for raw in text.removeprefix("\ufeff").splitlines():
        line = _LINE.match(raw[:MAX_LINE].partition("#")[0].strip())
        if line is not None:  # else it closes no group (RFC 9309 §2.2.4)
            groups.take(line, line["value"].strip())
    return groups.own if groups.is_named else groups.shared


class _Groups:
    """The groups of a robots.txt, for one robot and for all.

    ``heads`` are those of the rules that follow. A Crawl-delay ends no group, but is of those
    named since the last one only: ``delayed``.
    """

    def __init__(self, product: str) -> None:
        self.own, self.shared, self.is_named = _Group(), _Group(), False
        self._product = product
        self._heads: list[_Group] = []
        self._delayed: list[_Group] = []
        self._in_head = self._after_delay = False

    def take(self, line: re.Match[str], value: str) -> None:
        """Take a line that is none of an unknown kind."""
        if line["agent"]:
            self._name(value)
            return
        self._after_delay = True
        if line["delay"]:
            for group in self._delayed:
                group.delay = _seconds(value)
            return
        self._in_head = False
        for group in self._heads:
            if line["usage"]:
                group.usages = [*group.usages, _usage(value)][-MAX_USAGES:]
            else:
                _add(group, "Allow" if line["allow"] else "Disallow", value)

    def _name(self, value: str) -> None:
        if not self._in_head:
            self._heads, self._in_head = [], True
        if self._after_delay:
            self._delayed, self._after_delay = [], False
        group = _named(value, self._product, self.own, self.shared)
        if group is not None:
            self.is_named = self.is_named or group is self.own
            self._heads.append(group)
            self._delayed.append(group)


def _usage(value: str) -> tuple[str, str]:
    """Return the path and the preferences of a Content-Usage line."""
    path, _, preferences = value.partition(" ") if value[:1] == "/" else ("/", "", value)
    return path, preferences.strip()


def _named(value: str, product: str, own: _Group, shared: _Group) -> _Group | None:
    if value[:1] == "*":
        return shared
    token = _TOKEN.match(value)
    return own if token and token[0].lower() == product.lower() else None


def _add(group: _Group, verb: str, value: str) -> None:
    if value[:1] in ("/", "*"):
        group.rules.append(f"{verb}: {value}")
        group.patterns += "*" in value or "$" in value


def _seconds(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        return 0.0
    return seconds if isfinite(seconds) and seconds > 0 else 0.0


def is_product_token(agent: str) -> bool:
    """Tell whether a robots.txt can name a robot so (RFC 9309 §2.2.1)."""
    return _TOKEN.fullmatch(agent) is not None
