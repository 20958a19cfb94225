"""Certificate for https on loopback; Scrapy doesn't verify any by default."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import NameOID
from OpenSSL import SSL
from twisted.internet.ssl import ContextFactory
from typing_extensions import override


class ServerContext(ContextFactory):
    """A server's TLS context, with a certificate made on the spot.

    Twisted's own CertificateOptions hands pyOpenSSL objects that pyOpenSSL has deprecated.
    """

    def __init__(self) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        self._context = SSL.Context(SSL.TLS_SERVER_METHOD)
        self._context.use_privatekey(key)
        self._context.use_certificate(self_signed(key))

    @override
    def getContext(self) -> SSL.Context:
        """Return the one context of all connections."""
        return self._context


def self_signed(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    """Return a certificate for no particular host, signed by the key it certifies."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "lswc frozen web")])
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=365))
        .sign(key, SHA256())
    )
