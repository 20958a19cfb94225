"""What a server says of mining its pages' text, in ``/.well-known/tdmrep.json``.

TDM Reservation Protocol (W3C Community Group 2024, "TDM File on the Origin Server").
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from lswc.guest.robots_txt import PathPattern
from lswc.reading.opt_outs import reserved

PATH = "/.well-known/tdmrep.json"
"""Where the file is."""

MAX_RULES = 1_000
"""Rules that are read, the first ones."""


_RULE = 100


class _Rule(NamedTuple):
    location: PathPattern
    opt_outs: tuple[str, ...]


class Reservations:
    """The rules of a tdmrep.json; a file that isn't one has none.

    ``size`` is what they take, in bytes of a robots.txt, whose rules take as much of them.
    """

    def __init__(self, body: bytes) -> None:
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            found = []
        rules = found[:MAX_RULES] if isinstance(found, list) else []
        self._rules = [rule for value in rules if (rule := _rule(value)) is not None]
        self.size = len(body) + _RULE * len(self._rules)

    def opt_outs(self, url: str) -> tuple[str, ...]:
        """Return what is reserved against mining a page, and that it is by this file.

        The first rule whose location matches counts.
        """
        found = (rule.opt_outs for rule in self._rules if rule.location.matches(url))
        return next(found, ())


def _rule(value: Any) -> _Rule | None:
    location = value.get("location") if isinstance(value, dict) else None
    # It is matched as a line of robots.txt is: one line.
    if not isinstance(location, str) or location[:1] not in ("/", "*"):
        return None
    if not location.isprintable():
        return None
    is_reserved = str(value.get("tdm-reservation")) == "1"
    policy = value.get("tdm-policy")
    opt_outs = reserved(policy if isinstance(policy, str) else "", "tdmrep.json")
    return _Rule(PathPattern(location), opt_outs if is_reserved else ())
