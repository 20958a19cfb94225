"""A URL's canonical form, and the server, directory and site that it belongs to."""

from __future__ import annotations

from functools import cache, lru_cache
from hashlib import blake2b
from typing import NamedTuple

import can_ada
from tldextract import TLDExtract


class Url(NamedTuple):
    """A URL taken apart.

    ``href`` is its WHATWG serialisation without fragment and credentials; ``server`` is the
    host, plus the port if it isn't the scheme's default (so http and https are one server);
    ``path`` begins with a slash.
    """

    href: str
    scheme: str
    server: str
    hostname: str
    path: str


def parse(url: str) -> Url | None:
    """Take an absolute URL apart by the WHATWG URL Standard; None if it isn't a valid one."""
    try:
        parsed = can_ada.parse(url)
    except (ValueError, TypeError):  # TypeError: lone surrogates, which UTF-8 can't carry
        return None
    parsed.hash = ""
    if parsed.username or parsed.password:
        parsed.username = parsed.password = ""
    return Url(parsed.href, parsed.protocol[:-1], parsed.host, parsed.hostname, parsed.pathname)


def directory(url: Url) -> str:
    """Return the server plus the path up to and including its second slash (Tamura 2007 §4.3)."""
    end = url.path.find("/", 1)
    return f"{url.server}{url.path[: end + 1] if end > 0 else '/'}"


@cache
def _suffixes() -> TLDExtract:
    # No list URLs: only the bundled snapshot, never a download while crawling.
    return TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


@lru_cache(maxsize=65_536)
def site(hostname: str) -> str:
    """Return the registered domain, private suffixes on; the host itself where there is none.

    So every blog of a blog host is a site of its own.
    """
    return _suffixes().extract_str(hostname).top_domain_under_public_suffix or hostname


def tld(hostname: str) -> str:
    """Return the last label of a host name in lower case, without the dot; "" for an address."""
    label = hostname.rstrip(".").rpartition(".")[2]
    return "" if label.isdecimal() or label.endswith("]") else label


def fingerprint(href: str) -> int:
    """Return the 64-bit key by which a frontier knows a canonical URL again.

    Two of 40 million URLs share one with a chance of 1 in 23,000.
    """
    return int.from_bytes(blake2b(href.encode(), digest_size=8).digest(), signed=True)
