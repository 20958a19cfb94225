"""Signature of a WACZ file by a key of one's own.

The anonymous signature of WACZ Signing and Verification 0.1.0
(<https://specs.webrecorder.net/wacz-auth/0.1.0/>): ECDSA, P-384, SHA-256, over the digest of
``datapackage.json``. Who knows the public key can tell that the file is of its owner, and whole.
"""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from lswc import __version__
from lswc.errors import ConfigError, writing

if TYPE_CHECKING:
    from pathlib import Path

SOFTWARE = f"lswc/{__version__}"
_BYTES = 48  # of each half of a signature


class SigningKey:
    """A private key in a file (PEM), which is made if there is none. Raises LswcError."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            _make(path)
        try:
            key = load_pem_private_key(path.read_bytes(), None)
        except (OSError, ValueError, TypeError) as error:
            raise ConfigError(f"{path} can't be read as a private key in PEM: {error}") from error
        is_fit = isinstance(key, ec.EllipticCurvePrivateKey) and key.curve.name == "secp384r1"
        if not is_fit or not isinstance(key, ec.EllipticCurvePrivateKey):
            raise ConfigError(
                f"{path} isn't a key of the curve P-384, which WACZ's signatures need"
            )
        self._key = key

    @property
    def public(self) -> str:
        """The public key: DER (RFC 5280 §4.1.2.7) in base 64."""
        der = self._key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return b64encode(der).decode()

    def sign(self, hashed: str) -> dict[str, str]:
        """Return what is said of a digest, ``sha256:...``: its signature, by which key, when."""
        signed = self._key.sign(hashed.encode(), ec.ECDSA(hashes.SHA256()))
        halves = (half.to_bytes(_BYTES, "big") for half in decode_dss_signature(signed))
        return {
            "hash": hashed,
            "signature": b64encode(b"".join(halves)).decode(),
            "publicKey": self.public,
            "created": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
            "software": SOFTWARE,
        }


def _make(path: Path) -> None:
    key = ec.generate_private_key(ec.SECP384R1())
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    with writing(path):
        path.touch(0o600)
        path.write_bytes(text)
