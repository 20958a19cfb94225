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

MAX_LINE = 8 * 2083 - 1
"""Characters of a line that are read, as Google's parser does."""

_LINE = re.compile(
    r"(?:(?P<agent>user[- ]?agent)|(?P<allow>allow)|(?P<disallow>d[aislow]+)"
    r"|(?P<delay>crawl[- ]delay))"
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

    def allows(self, url: str) -> bool:
        """Tell whether a URL may be asked for.

        It is compared percent-encoded (RFC 9309 §2.2.2): what isn't ASCII in it matches nothing.
        """
        return bool(self._rules.can_fetch(url.encode("ascii", "replace").decode(), "*"))


def _group(text: str, product: str) -> _Group:
    """Return what is said to a robot, or to all if no group names it."""
    own, shared, is_named = _Group(), _Group(), False
    heads: list[_Group] = []  # of the rules that follow
    delayed: list[_Group] = []  # of a Crawl-delay, which ends no group but is of those just named
    in_head = after_delay = False
    for raw in text.removeprefix("\ufeff").splitlines():
        line = _LINE.match(raw[:MAX_LINE].partition("#")[0].strip())
        if line is None:
            continue  # closes no group (RFC 9309 §2.2.4)
        value = line["value"].strip()
        if line["agent"]:
            if not in_head:
                heads, in_head = [], True
            if after_delay:
                delayed, after_delay = [], False
            group = _named(value, product, own, shared)
            is_named = is_named or group is own
            heads += [group] if group else []
            delayed += [group] if group else []
        elif line["delay"]:
            after_delay = True
            for group in delayed:
                group.delay = _seconds(value)
        else:
            in_head, after_delay = False, True
            for group in heads:
                _add(group, "Allow" if line["allow"] else "Disallow", value)
    return own if is_named else shared


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


NOTHING_ALLOWED = RobotsRules(b"User-agent: *\nDisallow: /", "")
"""The rules of a server that can't say them (RFC 9309 §2.3.1.4)."""
