"""URL patterns: which URLs a crawl's user includes, and which are excluded; globs and regexes.

A pattern is ``PART:GLOB`` or ``PART~REGEX``. PART is host, path, query (without its mark) or url
(host, path and query, without the scheme); a glob without one is of the url. In a glob ``*`` is any
text, all else is itself, and the whole part must match. A regex, in RE2's words, is found anywhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from lswc.errors import ConfigError
from lswc.extras import require
from lswc.outcomes import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lswc.urls import Url

PATTERN_CHARACTERS = 500
"""Characters of a pattern, at most."""

PATTERNS_OF_A_LIST, REGEXES_OF_A_LIST = 1_000, 50
"""Patterns of a list at most, and regexes among them: each is tried with every link."""

MEMORY, STEPS = 1_000_000, 500
"""Bytes that RE2 may take for a regex, and steps of its program: a URL takes it 0.2 ms at most."""

_PATTERN = re.compile(r"(?:(host|path|query|url)([:~]))?(.*)", re.DOTALL)


class Pattern(NamedTuple):
    """A pattern as it was written, the part that it is of, and what tells if that matches."""

    written: str
    part: str
    matches: Callable[[str], object]

    def holds(self, url: Url) -> bool:
        """Tell whether a URL matches."""
        return bool(self.matches(_part(url, self.part)))


@dataclass(frozen=True)
class UrlPatterns:
    """Patterns of which a URL must match one, if there are any, and of which it may match none."""

    include: tuple[Pattern, ...] = ()
    exclude: tuple[Pattern, ...] = ()

    def refusal(self, url: Url, *, is_page: bool = True) -> Outcome | None:
        """Return why a URL is left out, None if it isn't; what a page needs may be anywhere."""
        if any(pattern.holds(url) for pattern in self.exclude):
            return Outcome.EXCLUDED
        if is_page and self.include and not any(pattern.holds(url) for pattern in self.include):
            return Outcome.NOT_INCLUDED
        return None


def url_patterns(include: Sequence[str], exclude: Sequence[str]) -> UrlPatterns | None:
    """Return the patterns of two lists; None if both are empty. Raises ConfigError."""
    if not include and not exclude:
        return None
    return UrlPatterns(patterns_of(include), patterns_of(exclude))


def naming(url: Url, written: Sequence[str]) -> str:
    """Return the first of some patterns that matches a URL, "" if none does."""
    return next((pattern.written for pattern in patterns_of(written) if pattern.holds(url)), "")


def patterns_of(written: Sequence[str]) -> tuple[Pattern, ...]:
    """Return the patterns that somebody wrote. Raises ConfigError, naming the first wrong one."""
    if len(written) > PATTERNS_OF_A_LIST:
        raise ConfigError(f"more than {PATTERNS_OF_A_LIST:,} patterns")
    found = tuple(map(_parsed, written))
    if sum(_taken_apart(text)[1] == "~" for text in written) > REGEXES_OF_A_LIST:
        raise ConfigError(f"more than {REGEXES_OF_A_LIST} regexes: write some of them as globs")
    return found


def _taken_apart(written: str) -> tuple[str, str, str]:
    part, kind, wanted = _PATTERN.fullmatch(written).groups()  # type: ignore[union-attr]
    return part or "url", kind or ":", wanted


def _parsed(written: str) -> Pattern:
    part, kind, wanted = _taken_apart(written)
    if not wanted or len(written) > PATTERN_CHARACTERS or any(map(str.isspace, written)):
        raise ConfigError(
            f"{written[:PATTERN_CHARACTERS]!r} is no pattern: write 1 to {PATTERN_CHARACTERS} "
            "characters without spaces, such as path:/calendar/*, host:*.example.com, "
            "query~(^|&)sort= or example.com/old/*"
        )
    if kind == "~":
        return Pattern(written, part, _regex(written, wanted))
    host = wanted if part == "host" else wanted.partition("/")[0] if part == "url" else ""
    if not host.isascii():
        raise ConfigError(f"{written!r}: write the host as it stands in URLs, such as xn--...")
    return Pattern(written, part, _glob(quote(wanted, safe=_ASCII)))


_ASCII = "".join(map(chr, range(0x21, 0x7F)))


def _glob(wanted: str) -> Callable[[str], bool]:
    """Return what tells whether a text matches: in one pass, whatever the text is."""
    first, *others = wanted.split("*")
    if not others:
        return first.__eq__
    *middle, last = others

    def matches(text: str) -> bool:
        at, end = len(first), len(text) - len(last)
        if at > end or not (text.startswith(first) and text.endswith(last)):
            return False
        for piece in middle:
            found = text.find(piece, at, end)
            if found < 0:
                return False
            at = found + len(piece)
        return True

    return matches


def _regex(written: str, wanted: str) -> Callable[[str], object]:
    """Return what finds a regex, in a time that grows with the text only."""
    require("patterns")
    import re2  # not above: only for crawls with regexes

    if not wanted.isascii():
        raise ConfigError(f"{written!r}: write other letters as URLs have them, such as %E0%B8%81")
    options = re2.Options()
    options.max_mem, options.log_errors = MEMORY, False
    try:
        found = re2.compile(wanted, options)
    except re2.error as error:
        reason = error.args[0] if error.args else ""
        reason = reason.decode(errors="replace") if isinstance(reason, bytes) else reason
        raise ConfigError(f"{written!r} is no regex of RE2: {reason}") from error
    if found.programsize > STEPS:
        raise ConfigError(f"{written!r}: shorten the regex, or what it repeats")
    search: Callable[[str], object] = found.search
    return search


def _part(url: Url, part: str) -> str:
    if part == "host":
        return url.hostname
    if part == "path":
        return url.path
    if part == "query":
        return url.query
    return f"{url.server}{url.path}?{url.query}" if url.query else url.server + url.path
