"""Logins in URLs: what is printed, logged or kept of one has none."""

from __future__ import annotations

import re

# A login ends with the last @: people write passwords as they are, with @ and / in them. Of other
# URLs, whose paths may hold an @, only what stands before the path is one (RFC 3986 §3.2.1). One
# slash is what is left of two in a path.
_LOGIN = re.compile(
    r"\b((?:redis|unix)[\w+]*:/{1,2})[^\s\"']*@|\b([a-z][\w+.-]*:/{1,2})[^\s\"'/?#]*@",
    re.IGNORECASE,
)
_IN_QUERY = re.compile(r"([?&](?:username|password)=)[^\s\"'&#]*", re.IGNORECASE)


def without_logins(text: str) -> str:
    """Return a text whose URLs name no user and no password."""
    if ":/" not in text:
        return text
    return _IN_QUERY.sub(r"\1", _LOGIN.sub(r"\1\2", text))
