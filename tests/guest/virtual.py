"""An event loop whose time goes by at once: nothing waits longer than its work takes."""

from __future__ import annotations

import asyncio
import selectors
from typing import Any

from typing_extensions import override


class _Skips(selectors.SelectSelector):
    """Lets the loop's time go by in place of waiting."""

    time = 1_000.0

    @override
    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            raise RuntimeError("the loop would wait for ever")
        self.time += max(0.0, timeout)
        return super().select(0)


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop without a network, as fast as the processor is."""

    def __init__(self) -> None:
        self._skips = _Skips()
        super().__init__(self._skips)
        # What is due in less than this is due: else time could stand still for want of digits.
        self._clock_resolution = 1e-6

    @override
    def time(self) -> float:
        return self._skips.time
