"""Encryption of a connection, by the names that archives give it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ssl import SSLObject


class Encryption(NamedTuple):
    """A ``protocol`` such as "tls/1.3", and a ``cipher`` suite by its name in IANA's registry.

    Both are "" in the clear, and the latter if its name isn't known.
    """

    protocol: str
    cipher: str


NO_ENCRYPTION = Encryption("", "")

# OpenSSL's name of a suite before TLS 1.3: key exchange, cipher, and what makes sure of each.
_SUITE = re.compile(
    r"(?:(?P<exchange>(?:ECDHE|DHE|ECDH|DH|RSA|PSK|ECDSA|DSS|SRP)(?:-(?:RSA|ECDSA|DSS|PSK))?)-)?"
    r"(?P<cipher>AES|CAMELLIA|ARIA)(?P<bits>128|256)(?:-(?P<mode>GCM|CCM8|CCM))?"
    r"(?:-(?P<hash>SHA\d*))?"
)
_CHACHA = re.compile(r"(?P<exchange>[A-Z-]+)-CHACHA20-POLY1305")


def encryption_of(secure: SSLObject) -> Encryption:
    """Return how a connection is encrypted."""
    version, cipher = secure.version() or "", secure.cipher()
    protocol = version.lower().replace("v", "/", 1)
    if protocol in ("tls/1", "ssl/2", "ssl/3"):
        protocol = {"tls/1": "tls/1.0"}.get(protocol, protocol)
    return Encryption(protocol, iana_name(cipher[0]) if cipher else "")


def iana_name(name: str) -> str:
    """Return the name of a cipher suite in IANA's registry (RFC 8447) by OpenSSL's.

    "" for one that isn't told by its parts.
    """
    if name.startswith("TLS_"):  # of TLS 1.3, where OpenSSL has IANA's
        return name
    if found := _CHACHA.fullmatch(name):
        return f"TLS_{found['exchange'].replace('-', '_')}_WITH_CHACHA20_POLY1305_SHA256"
    found = _SUITE.fullmatch(name)
    if found is None:
        return ""
    exchange = (found["exchange"] or "RSA").replace("-", "_")
    mode = (found["mode"] or "CBC").replace("CCM8", "CCM_8")
    hashed = f"_{found['hash']}" if found["hash"] else ""
    return f"TLS_{exchange}_WITH_{found['cipher']}_{found['bits']}_{mode}{hashed}"
