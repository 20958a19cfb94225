"""Keys of URLs in an index: SURT, as the library of that name makes it for Wayback machines."""

from __future__ import annotations

import re
import warnings
from functools import lru_cache

with warnings.catch_warnings():
    # Its patterns aren't raw strings, which Python from 3.12 on says when it compiles them.
    warnings.simplefilter("ignore", SyntaxWarning)
    import surt

# What the library leaves as it is, but for capitals. An escape of an ASCII character isn't.
_KEPT = r"(?:[A-Za-z0-9_~!$'*+,:@-]|%[89A-Fa-f][0-9A-Fa-f])"
_PLAIN = re.compile(
    rf"(?P<origin>https?://[a-z0-9][a-z0-9.-]*(?::[0-9]+)?)(?P<path>(?:/{_KEPT}(?:{_KEPT}|\.)*)*)/?"
)


def surt_of(url: str) -> str:
    """Return the key of a URL: ``th,co,example)/path`` of ``http://www.example.co.th/Path/``.

    The library goes through all parts of a URL by many steps. A plain path needs few of them, and
    a server's part of the key is remembered.
    """
    found = _PLAIN.fullmatch(url)
    if found is None:
        return _key(url)
    return _key_of_server(found["origin"]) + (found["path"].lower() or "/")


@lru_cache(maxsize=4096)
def _key_of_server(origin: str) -> str:
    return _key(f"{origin}/").removesuffix("/")


def _key(url: str) -> str:
    key: str = surt.surt(url)
    return key
