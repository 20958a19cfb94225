"""Ways for a crawl's ``TWISTED_DNS_RESOLVER`` to lead every name to servers on this machine."""

from __future__ import annotations

from abc import abstractmethod
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from scrapy.resolver import CachingHostnameResolver, HostResolution
from twisted.internet.address import IPv4Address, IPv6Address
from typing_extensions import override

from lswc.crawl.transport.resolver import Resolver

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from twisted.internet.interfaces import IAddress


class ToLoopback(CachingHostnameResolver):
    """Leads each name to 127.0.0.1, whatever the crawl thinks of that address."""

    @abstractmethod
    def port(self, name: str, port: int) -> int:
        """Return the port of loopback for a name and its port."""

    @override
    def resolveHostName(
        self, resolutionReceiver: Any, hostName: str, portNumber: int = 0, *_: Any, **__: Any
    ) -> Any:
        return resolve(resolutionReceiver, hostName, ["127.0.0.1"], self.port(hostName, portNumber))


class OverNames(Resolver):
    """The crawl's own resolver over made-up names; what it passes on is led to loopback.

    So the crawl's filter works on public and private addresses, and all traffic stays here.
    """

    def __init__(self, reactor: Any, cache_size: int) -> None:
        super().__init__(reactor, cache_size)
        names: Any = SimpleNamespace(resolveHostName=self._look_up)
        self.original_resolver = names

    @abstractmethod
    def addresses(self, name: str) -> Sequence[str]:
        """Return what a lookup of a name gives now."""

    @abstractmethod
    def leads(self, name: str, port: int, address: str) -> int:
        """Return the port of loopback for an address that the crawl's filter passed."""

    def machine(self, address: str) -> str:
        """Return the address of loopback for one that the crawl's filter passed."""
        return "127.0.0.1"

    def _look_up(self, receiver: Any, name: str, port: int, *_: object) -> Any:
        return resolve(receiver, name, self.addresses(name), port)

    @override
    def resolveHostName(
        self,
        resolutionReceiver: Any,
        hostName: str,
        portNumber: int = 0,
        addressTypes: Sequence[type[IAddress]] | None = None,
        transportSemantics: str = "TCP",
    ) -> Any:
        def led(address: Any) -> None:
            port = self.leads(hostName, portNumber, address.host)
            machine = self.machine(address.host)
            resolutionReceiver.addressResolved(IPv4Address("TCP", machine, port))

        receiver: Any = SimpleNamespace(
            resolutionBegan=resolutionReceiver.resolutionBegan,
            addressResolved=led,
            resolutionComplete=resolutionReceiver.resolutionComplete,
        )
        return super().resolveHostName(
            receiver, hostName, portNumber, addressTypes, transportSemantics
        )


def resolve(receiver: Any, name: str, addresses: Iterable[str], port: int) -> HostResolution:
    """Tell a receiver the addresses of a name."""
    resolution = HostResolution(name)
    receiver.resolutionBegan(resolution)
    for address in addresses:
        kind = IPv6Address if ":" in address else IPv4Address
        receiver.addressResolved(kind("TCP", address, port))
    receiver.resolutionComplete()
    return resolution
