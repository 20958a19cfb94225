"""Addresses and ports that a crawl may connect to."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING

from lswc.errors import ConfigError
from lswc.outcomes import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable

_UNICAST = IPv6Network("2000::/3")  # all that IANA has given out for the public (RFC 4291 §2.4)
_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052 §2.1
_DOCUMENTATION = IPv6Network("3fff::/20")  # RFC 9637; ipaddress doesn't know it yet
_SPECIAL = (
    IPv4Network("192.0.0.0/24"),  # protocol assignments (RFC 6890); in part a cloud's metadata
    IPv4Network("192.88.99.0/24"),  # 6to4 relays (RFC 7526)
    IPv4Network("168.63.129.16/32"),  # a cloud's metadata, though the address is public
)


@dataclass(frozen=True)
class Networks:
    """The public internet, and the networks allowed besides (LSWC_ALLOWED_NETWORKS).

    ``ports`` are those that may be connected to, all if empty (LSWC_ALLOWED_PORTS).
    """

    allowed: tuple[IPv4Network | IPv6Network, ...] = ()
    ports: frozenset[int] = frozenset()

    @classmethod
    def of(cls, networks: Iterable[str], ports: Iterable[object]) -> Networks:
        """Read the settings. Raises ConfigError for what is no network or no port."""
        return cls(tuple(map(_network, networks)), frozenset(map(_port, ports)))

    def refusal(self, address: str, port: int) -> Outcome | None:
        """Return why an address mustn't be connected to, None if it may be."""
        if self.ports and port not in self.ports:
            return Outcome.PORT
        try:
            parsed = ip_address(address)
        except ValueError:
            return Outcome.ADDRESS_NOT_PUBLIC
        if _is_public(parsed) or any(parsed in network for network in self.allowed):
            return None
        return Outcome.ADDRESS_NOT_PUBLIC


def machine_of(address: str) -> str:
    """Return what counts as one machine: an IPv4 address, or the /64 network of an IPv6 one.

    A host may have all addresses of its /64 (RFC 4291 §2.5.1, RFC 6177 §2). An IPv4 address within
    an IPv6 one counts as such.
    """
    parsed = ip_address(address)
    if isinstance(parsed, IPv4Address):
        return address
    embedded = _embedded(parsed)
    return str(embedded or IPv6Network((int(parsed), 64), strict=False))


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv6Address):
        embedded = _embedded(address)
        if embedded is not None:
            return _is_public(embedded)
        if address not in _UNICAST or address in _DOCUMENTATION:
            return False
    elif any(address in network for network in _SPECIAL):
        return False
    return address.is_global and not address.is_multicast


def _embedded(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that packets to this one end at."""
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text.strip())
    except ValueError as error:
        raise ConfigError(f"LSWC_ALLOWED_NETWORKS: {error}") from error


def _port(value: object) -> int:
    text = str(value).strip()
    if not text.isascii() or not text.isdecimal() or not 0 < int(text) < 65536:
        raise ConfigError(f"LSWC_ALLOWED_PORTS: not a port: {value!r}")
    return int(text)
