"""robots.txt, reduced to what it says to one robot.

Parsers copy each rule for each robot that is named before it, and try each pattern on each URL:
half a megabyte of either holds a crawl for minutes.
"""

from __future__ import annotations

import re

MAX_SIZE = 512_000
"""Bytes that are read (RFC 9309 §2.5)."""

MAX_PATTERNS = 1_000
"""Rules with * or $ in them; a server that has more for one robot allows it nothing."""

NOTHING_ALLOWED = b"User-agent: *\nDisallow: /"

_AGENT = re.compile(r"user[- ]?agent\b[\s:]*(.*)", re.IGNORECASE)
_RULE = re.compile(r"allow\b|d[aislow]+\b|crawl[- ]delay\b", re.IGNORECASE)
_OF_SITE = re.compile(r"(?:sitemaps?|site-map|host)\b", re.IGNORECASE)
_PRODUCT = re.compile(r"[a-z_-]*")


def reduced(body: bytes, agent: str) -> bytes:
    """Return the groups of a robots.txt that are for a robot or for all, without comments.

    ``agent`` is the robot's product token (RFC 9309 §2.2.1), or begins with it.
    """
    product = _product(agent)
    kept, is_ours, in_head, patterns = [], False, False, 0
    for text in body[:MAX_SIZE].decode("utf-8-sig", "ignore").splitlines():
        line = text.partition("#")[0].strip()
        if named := _AGENT.match(line):
            name = named[1].strip("* ") or named[1][:1]
            if not in_head:
                is_ours, in_head = False, True
            if name == "*" or (name and _product(name) == product):
                is_ours = True
                kept.append(f"User-agent: {product if name != '*' else name}")
        elif (":" in line or _RULE.match(line)) and not _OF_SITE.match(line):
            in_head = False
            if is_ours:
                kept.append(line)
                patterns += "*" in line or "$" in line
    return "\n".join(kept).encode() if patterns <= MAX_PATTERNS else NOTHING_ALLOWED


def _product(agent: str) -> str:
    found = _PRODUCT.match(agent.lower())
    return found[0] if found else ""
