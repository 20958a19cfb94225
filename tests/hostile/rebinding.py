"""Names whose address changes from one lookup to the next, and where each address leads."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from scrapy.resolver import HostResolution
from twisted.internet.address import IPv4Address, IPv6Address
from typing_extensions import override

from lswc.web.resolver import Resolver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from twisted.internet.interfaces import IAddress

PORTS = "REBINDING_PORTS"
"""The environment variable with the ports of loopback for the public server and for the trap."""

PUBLIC = "93.184.215.14"

PRIVATE = {
    "loopback.example": "127.0.0.1",
    "loopback6.example": "::1",
    "mapped.example": "::ffff:127.0.0.1",
    "metadata.example": "169.254.169.254",
    "intranet.example": "10.0.0.1",
    "local6.example": "fd00::1",
}
"""Hosts that are public when robots.txt and the first page are asked for, then not, then again."""

LOOKUPS = {
    **{host: [[PUBLIC], [PUBLIC], [private], [PUBLIC]] for host, private in PRIVATE.items()},
    "robots.example": [[PUBLIC], ["127.0.0.1"]],
    "retry.example": [[PUBLIC], [PUBLIC], ["127.0.0.1"]],
    "target.example": [[PUBLIC], ["10.0.0.1"]],
    "mixed.example": [
        ["10.0.0.1", PUBLIC],
        [PUBLIC, "127.0.0.1"],
        ["::1", PUBLIC, "169.254.169.254"],
        ["127.0.0.1", "::1", "10.0.0.1"],
    ],
}
"""What each lookup of a name gives, the last one from then on; other names are public."""


class RebindingResolver(Resolver):
    """The crawl's own resolver over ``LOOKUPS``; all that it passes on leads to this machine.

    The public address leads to a server, any other to a trap.
    """

    def __init__(self, reactor: Any, cache_size: int) -> None:
        super().__init__(reactor, cache_size)
        names: Any = SimpleNamespace(resolveHostName=self._look_up)
        self.original_resolver = names
        self._lookups = {name: list(answers) for name, answers in LOOKUPS.items()}
        self._public, self._trap = map(int, os.environ[PORTS].split())

    def _look_up(self, receiver: Any, name: str, port: int, *_: object) -> Any:
        answers = self._lookups.get(name, [[PUBLIC]])
        receiver.resolutionBegan(HostResolution(name))
        for address in answers.pop(0) if len(answers) > 1 else answers[0]:
            kind = IPv6Address if ":" in address else IPv4Address
            receiver.addressResolved(kind("TCP", address, port))
        receiver.resolutionComplete()
        return receiver

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
            port = self._public if address.host == PUBLIC else self._trap
            resolutionReceiver.addressResolved(IPv4Address("TCP", "127.0.0.1", port))

        receiver: Any = SimpleNamespace(
            resolutionBegan=resolutionReceiver.resolutionBegan,
            addressResolved=led,
            resolutionComplete=resolutionReceiver.resolutionComplete,
        )
        return super().resolveHostName(
            receiver, hostName, portNumber, addressTypes, transportSemantics
        )
