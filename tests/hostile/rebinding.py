"""Names whose address changes from one lookup to the next, and where each address leads."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from tests.resolvers import OverNames

if TYPE_CHECKING:
    from collections.abc import Sequence

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
"""Hosts that are public until the first page was fetched, then not for one request, then again."""

FIRST = [[PUBLIC], [PUBLIC]]
"""For robots.txt, and to learn which machine the name stands for."""

LOOKUPS = {
    **{host: [*FIRST, [PUBLIC], [private], [PUBLIC]] for host, private in PRIVATE.items()},
    "robots.example": [[PUBLIC], ["127.0.0.1"]],
    "retry.example": [*FIRST, [PUBLIC], ["127.0.0.1"]],
    "target.example": [*FIRST, ["10.0.0.1"]],
    "mixed.example": [
        ["10.0.0.1", PUBLIC],
        [PUBLIC],
        [PUBLIC, "127.0.0.1"],
        ["::1", PUBLIC, "169.254.169.254"],
        ["127.0.0.1", "::1", "10.0.0.1"],
    ],
}
"""What each lookup of a name gives, the last one from then on; other names are public."""


class RebindingResolver(OverNames):
    """Resolves by ``LOOKUPS``: the public address leads to a server, any other to a trap."""

    def __init__(self, reactor: Any, cache_size: int) -> None:
        super().__init__(reactor, cache_size)
        self._lookups = {name: list(answers) for name, answers in LOOKUPS.items()}
        self._public, self._trap = map(int, os.environ[PORTS].split())

    @override
    def addresses(self, name: str) -> Sequence[str]:
        answers = self._lookups.get(name, [[PUBLIC]])
        return answers.pop(0) if len(answers) > 1 else answers[0]

    @override
    def leads(self, name: str, port: int, address: str) -> int:
        return self._public if address == PUBLIC else self._trap
