"""Places where a rule holds: a domain, a server, or all URLs that begin alike."""

from __future__ import annotations

import re
from typing import NamedTuple

from lswc.errors import ConfigError
from lswc.urls import Url, parse

_HOST = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\]")


class ControlError(ConfigError):
    """Instructions to a crawl can't be understood; the message says which part of it."""


class Place(NamedTuple):
    """``name`` is its canonical form, by which it is known.

    ``domain`` is that of a domain, which has all its subdomains with it; else "". ``server`` and
    ``start`` are those of the others: ``start`` is how the path and query of a URL begin, "/" for
    the whole server.
    """

    name: str
    domain: str = ""
    server: str = ""
    start: str = ""

    @property
    def is_prefix(self) -> bool:
        """Whether it is less than a whole server."""
        return len(self.start) > 1

    def holds(self, url: Url) -> bool:
        """Tell whether a URL belongs to it."""
        if self.domain:
            return url.hostname == self.domain or url.hostname.endswith(f".{self.domain}")
        return url.server == self.server and target(url).startswith(self.start)

    def has_server(self, server: str) -> bool:
        """Tell whether a server belongs to it as a whole: its name, with a port if it has one."""
        if not self.domain:
            return server == self.server and not self.is_prefix
        name, _, port = server.rpartition(":")
        name = name if name and port.isdecimal() else server
        return name == self.domain or name.endswith(f".{self.domain}")


def target(url: Url) -> str:
    """Return a URL's path and query."""
    return f"{url.path}?{url.query}" if url.query else url.path


def place_of(written: str) -> Place:
    """Return the place that somebody wrote. Raises ControlError.

    Without a slash it is a domain, such as ``example.co.th``, or with a port one server; with one
    it is how URLs begin, whether http or https: ``www.example.co.th/~somchai/``. So
    ``www.example.co.th/`` is one server.
    """
    scheme, mark, rest = written.strip().rpartition("://")
    url = parse(f"{scheme.lower() if mark else 'http'}://{rest}")
    known = url is not None and url.scheme in ("http", "https") and _HOST.fullmatch(url.hostname)
    if url is None or not known or "@" in rest.partition("/")[0]:
        raise ControlError(
            f"{written!r} is no place: write a domain (example.co.th, with all its subdomains), "
            "a server (www.example.co.th/) or how its URLs begin (www.example.co.th/~somchai/)"
        )
    if "/" not in rest and url.server == url.hostname:
        return Place(url.hostname, domain=url.hostname)
    start = target(url)
    return Place(url.server + start, server=url.server, start=start)
