"""Access to the page: who may ask its server, and who may change the control of the crawl."""

from __future__ import annotations

from hmac import compare_digest
from ipaddress import ip_address
from secrets import token_urlsafe
from socket import gethostname
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""What every answer says: nothing from other hosts, nothing inline, in no other page's frame."""


class Guard:
    """Tells which requests are answered. ``token`` is what changes are asked for with.

    A browser that another page's owner sends here by a name of theirs (DNS rebinding) says that
    name as Host: only addresses and this machine's own names are answered, and ``name``. That is
    the host, and perhaps a port, of a server with TLS that passes requests on, "" for none.
    """

    def __init__(self, host: str, name: str = "") -> None:
        self.token = token_urlsafe(24)
        self._names = {"localhost", host.lower(), gethostname().lower(), _name(name)} - {""}
        self._before = f"https://{name.lower()}"

    def knows(self, host: str | None) -> bool:
        """Tell whether a Host header is this server's."""
        name = _name(host or "")
        return name in self._names or _is_address(name)

    def takes(self, header: Callable[[str], str | None]) -> bool:
        """Tell whether a request may change the control, by its headers.

        By its Host, by the token, and by its Origin, which a browser sends and no page can choose.
        """
        host, origin, token = header("host"), header("origin"), header("x-lswc-token")
        own = (None, f"http://{host}", f"https://{host}", self._before)
        return (
            self.knows(host)
            and origin in own
            and token is not None
            and compare_digest(token.encode(), self.token.encode())
        )


def _name(host: str) -> str:
    """Return a Host header without its port."""
    if host.startswith("["):
        return host.partition("]")[0][1:].lower()
    return host.partition(":")[0].lower()


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
