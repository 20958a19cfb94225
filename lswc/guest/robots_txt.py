"""robots.txt (RFC 9309): what it says to one robot.

The file is reduced to that before it is parsed: parsers copy each rule for each robot that is
named before it, and try each pattern on each URL, so half a megabyte of either holds a crawl for
minutes. Where parsers differ, this is as Google's, whose test cases are public.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from dataclasses import dataclass, field
from importlib.resources import files
from math import inf, isfinite
from typing import TYPE_CHECKING

from protego import Protego

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_SIZE = 512_000
"""Bytes that are read (RFC 9309 §2.5)."""

MAX_PATTERNS = 1_000
"""Rules with * or $ in them; a server that has more for one robot allows it nothing."""

MAX_CRAWLER_RULES = 1_000
"""Rules for one AI crawler that are read, the first ones."""

MAX_USAGES = 50
"""Content-Usage lines that count, the last ones; as many of Content-Signal."""

MAX_LINE = 8 * 2083 - 1
"""Characters of a line that are read, as Google's parser does."""

_LINE = re.compile(
    r"(?:(?P<agent>user[- ]?agent)|(?P<allow>allow)|(?P<disallow>d[aislow]+)"
    r"|(?P<delay>crawl[- ]delay)|(?P<usage>content-usage)|(?P<signal>content-signal))"
    r"(?:\s*:\s*|\s+)(?P<value>.*)",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[A-Za-z_-]+")
_NAME = re.compile(r"[!$%&'+.^_`|~0-9A-Za-z-]+")  # a token of RFC 9110 §5.6.2, but for * and #
_BETWEEN = re.compile(r"[\s,]+")
_WIDE = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}

AI_CRAWLERS = {
    name.lower(): name
    for name in tomllib.loads(files("lswc.guest").joinpath("ai_crawlers.toml").read_text("utf-8"))
}
"""Crawlers that collect what models are trained on, by their names in lower case."""


@dataclass
class _Group:
    """The rules of all groups for one robot, ``most`` of them.

    ``signals`` are its Content-Signal lines.
    """

    most: float = inf
    rules: list[str] = field(default_factory=list)
    patterns: int = 0
    delay: float = 0.0
    usages: list[tuple[str, str]] = field(default_factory=list)
    signals: list[tuple[str, str]] = field(default_factory=list)

    def parsed(self) -> tuple[str, Protego]:
        """Return its rules as a file for all robots, and parsed."""
        rules = self.rules if self.patterns <= MAX_PATTERNS else ["Disallow: /"]
        text = "\n".join(["User-agent: *", *rules])
        return text, Protego.parse(text)


def product(agent: str) -> str:
    """Return the name of a robot that calls itself so, without its version."""
    return agent.partition("/")[0].strip()


def can_be_named(agent: str) -> bool:
    """Tell whether a robots.txt can name a robot that calls itself so: its name is one word."""
    return _NAME.fullmatch(product(agent)) is not None


class RobotsRules:
    """What a robots.txt says to one robot.

    ``agent`` is the robot's product token (RFC 9309 §2.2.1), or begins with it. One with digits or
    dots, which that has none of, is named by its whole name. ``size`` is what
    its rules take, in bytes.
    """

    def __init__(self, body: bytes, agent: str) -> None:
        encoding = _WIDE.get(body[:2], "utf-8")
        groups = _read(body[:MAX_SIZE].decode(encoding, "replace"), product(agent))
        group = groups.of_robot
        text, self._rules = group.parsed()
        self.size = len(text)
        self.crawl_delay = group.delay
        self._usages, self._signals = _by_path(group.usages), _by_path(group.signals)
        self._crawlers: list[tuple[Protego, tuple[str, ...]]] = []
        for shared, names in groups.of_crawlers():
            text, rules = shared.parsed()
            self.size += len(text)
            self._crawlers.append((rules, names))

    def allows(self, url: str) -> bool:
        """Tell whether a URL may be asked for.

        It is compared percent-encoded (RFC 9309 §2.2.2): what isn't ASCII in it matches nothing.
        """
        return bool(self._rules.can_fetch(url.encode("ascii", "replace").decode(), "*"))

    def content_usage(self, url: str) -> str:
        """Return the preferences for a URL's content, those of the longest path that matches it;
        "" if there are none (draft-ietf-aipref-attach §6)."""
        return _of_path(self._usages, url)

    def content_signal(self, url: str) -> str:
        """Return the Content-Signal for a URL, chosen as its preferences are
        (https://contentsignals.org)."""
        return _of_path(self._signals, url)

    def forbids(self, url: str) -> tuple[str, ...]:
        """Return the AI crawlers that mustn't ask for a URL, by rules that name them."""
        if not self._crawlers:
            return ()
        address = url.encode("ascii", "replace").decode()
        named = (names for rules, names in self._crawlers if not rules.can_fetch(address, "*"))
        return tuple(sorted(name for names in named for name in names))


class PathPattern:
    """A path as rules name it: the beginning of paths, with * and $ (RFC 9309 §2.2.3)."""

    def __init__(self, path: str) -> None:
        self._rules = Protego.parse(f"User-agent: *\nDisallow: {path}")

    def matches(self, url: str) -> bool:
        """Tell whether the path and query of a URL are meant."""
        return not self._rules.can_fetch(url, "*")


_Preferences = list[tuple[PathPattern, str]]


def _by_path(lines: list[tuple[str, str]]) -> _Preferences:
    """Return preferences with their paths, the longest path first."""
    ordered = sorted(lines, key=lambda line: len(line[0]), reverse=True)
    return [(PathPattern(path), preferences) for path, preferences in ordered]


def _of_path(lines: _Preferences, url: str) -> str:
    return next((preferences for path, preferences in lines if path.matches(url)), "")


def _read(text: str, product: str) -> _Groups:
    """Return the groups of a robot, of all robots, and of the AI crawlers that are named."""
    groups = _Groups(product)
    for raw in text.removeprefix("\ufeff").splitlines():
        line = _LINE.match(raw[:MAX_LINE].partition("#")[0].strip())
        if line is not None:  # else it closes no group (RFC 9309 §2.2.4)
            groups.take(line, line["value"].strip())
    return groups


class _Groups:
    """The groups of a robots.txt, for one robot, for all, and for AI crawlers.

    ``heads`` are those of the rules that follow. A Crawl-delay ends no group, but is of those
    named since the last one only: ``delayed``.
    """

    def __init__(self, product: str) -> None:
        self._product = product.lower()
        self._groups: dict[str, _Group] = {}
        self._heads: list[_Group] = []
        self._delayed: list[_Group] = []
        self._in_head = self._after_delay = False

    @property
    def of_robot(self) -> _Group:
        """The group of the robot, or that of all if none names it."""
        return self._groups.get(self._product) or self._groups.get("*") or _Group()

    def of_crawlers(self) -> Iterator[tuple[_Group, tuple[str, ...]]]:
        """Yield rules, and all AI crawlers that are named to keep them."""
        alike = defaultdict[tuple[str, ...], list[str]](list)
        for name in self._groups.keys() & AI_CRAWLERS.keys():
            if rules := self._groups[name].rules:
                alike[tuple(rules)].append(name)
        for names in alike.values():
            yield self._groups[names[0]], tuple(AI_CRAWLERS[name] for name in names)

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
            if line["usage"] or line["signal"]:
                said = group.usages if line["usage"] else group.signals
                said.append(_usage(value))
                del said[:-MAX_USAGES]
            else:
                _add(group, "Allow" if line["allow"] else "Disallow", value)

    def _name(self, value: str) -> None:
        if not self._in_head:
            self._heads, self._in_head = [], True
        if self._after_delay:
            self._delayed, self._after_delay = [], False
        for group in self._named(value):
            self._heads.append(group)
            self._delayed.append(group)

    def _named(self, value: str) -> Iterator[_Group]:
        """Yield the groups of the robots that a line names."""
        if value[:1] == "*":
            yield self._groups.setdefault("*", _Group())
            return
        names = _names(value)
        if self._product in names:
            yield self._groups.setdefault(self._product, _Group())
        for name in names & AI_CRAWLERS.keys() - {self._product}:
            yield self._groups.setdefault(name, _Group(MAX_CRAWLER_RULES))


def _names(value: str) -> set[str]:
    """Return the names, in lower case, that a User-agent line may mean.

    As Google's parser has it the name ends with its letters: what follows is a version, or words.
    As crawler-commons' has it there may be several, apart by commas or blanks.
    """
    first, *others = _BETWEEN.split(value.lower())
    found = {name[0] for name in (_TOKEN.match(first), _NAME.match(first)) if name}
    return found.union(filter(_NAME.fullmatch, others))


def _usage(value: str) -> tuple[str, str]:
    """Return the path and the preferences of a Content-Usage or Content-Signal line."""
    path, _, preferences = value.partition(" ") if value[:1] == "/" else ("/", "", value)
    return path, preferences.strip()


def _add(group: _Group, verb: str, value: str) -> None:
    if value[:1] in ("/", "*") and len(group.rules) < group.most:
        group.rules.append(f"{verb}: {value}")
        group.patterns += "*" in value or "$" in value


def _seconds(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        return 0.0
    return seconds if isfinite(seconds) and seconds > 0 else 0.0
