"""Cookies: which of them a server may set, and which it is sent (RFC 6265), within bounds."""

from __future__ import annotations

import re
from email.message import Message
from http.cookiejar import Cookie, CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.request import Request

from typing_extensions import override

from lswc.urls import registered_domain, tld

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

COOKIES_OF_AN_ANSWER, COOKIE_BYTES = 50, 4_096
"""Cookies of an answer, and bytes of each, that are looked at: RFC 6265 §6.1 wants no more."""

HEADER_CHARACTERS = 4_096
"""Characters of what is sent in a request: servers refuse longer lines."""

_NO_DOMAIN = re.compile(r";\s*domain\s*=\s*(?=;|$)", re.IGNORECASE)  # RFC 6265 §5.2.3


class Kept(NamedTuple):
    """A cookie, as it is kept: it is sent below ``path`` at ``domain``.

    And at the names below it, if it isn't the host's alone.
    """

    name: str
    value: str | None
    domain: str
    path: str
    is_secure: bool
    of_host: bool


class _Policy(DefaultCookiePolicy):
    """Takes no cookie for a public suffix, such as ``co.th``, by the list that lswc brings."""

    @override
    def set_ok_domain(self, cookie: Cookie, request: Request) -> bool:
        name = cookie.domain.lstrip(".")
        if cookie.domain_specified and tld(name) and not registered_domain(name):
            return False
        return bool(super().set_ok_domain(cookie, request))


class _Answer:
    """Headers as ``http.cookiejar`` asks for them."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._headers = Message()
        for line in lines:
            self._headers["Set-Cookie"] = line

    def info(self) -> Message:
        return self._headers


class Jar:
    """The cookies of a visit; they begin as those that are ``kept``."""

    def __init__(self, kept: Iterable[Kept] = ()) -> None:
        # Else what a host sets for itself goes to the names below it, too.
        self._jar = CookieJar(_Policy(strict_ns_domain=_Policy.DomainStrictNonDomain))
        for cookie in kept:
            self._jar.set_cookie(_cookie(cookie))

    def take(self, url: str, lines: Sequence[bytes]) -> None:
        """Take what an answer to a request for a URL sets: the values of its Set-Cookie."""
        short = (
            line.decode("latin-1")
            for line in lines[:COOKIES_OF_AN_ANSWER]
            if len(line) <= COOKIE_BYTES
        )
        read = [_NO_DOMAIN.sub("", line) for line in short]
        plain = [line for line in read if line.isprintable()]
        if not plain:
            return
        answer: Any = _Answer(plain)
        self._jar.extract_cookies(answer, _request(url))

    def header(self, url: str) -> str:
        """Return what a request for a URL says in its Cookie; "" if nothing."""
        request = _request(url)
        self._jar.add_cookie_header(request)
        pairs = request.get_header("Cookie", "").split("; ")
        while sum(map(len, pairs)) + 2 * len(pairs) > HEADER_CHARACTERS:
            pairs.pop()
        return "; ".join(pairs)

    def kept(self) -> list[Kept]:
        """Return all cookies, in the order in which a host set them first."""
        return [
            Kept(c.name, c.value, c.domain, c.path, c.secure, not c.domain_specified)
            for c in self._jar
        ]


def _request(url: str) -> Request:
    """Return a request as ``http.cookiejar`` asks for one; it is never sent."""
    return Request(url)  # noqa: S310


def _cookie(kept: Kept) -> Cookie:
    return Cookie(
        version=0,
        name=kept.name,
        value=kept.value,
        port=None,
        port_specified=False,
        domain=kept.domain,
        domain_specified=not kept.of_host,
        domain_initial_dot=kept.domain.startswith("."),
        path=kept.path,
        path_specified=True,
        secure=kept.is_secure,
        expires=None,
        discard=True,
        comment=None,
        comment_url=None,
        rest={},
    )
