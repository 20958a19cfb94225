"""Virtual clock: an event loop whose time passes only where nothing is left to do."""

from __future__ import annotations

import asyncio
import selectors
import sys
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Callable


TURN = 1e-5
"""Seconds that a turn of the loop takes: without it a timer could fire again at the same time."""


class Clock:
    """Seconds of a monotonic clock, and of the one on the wall, which people may set."""

    def __init__(self) -> None:
        self.now, self.ahead = 1_000.0, 1_800_000_000.0

    def monotonic(self) -> float:
        """Return seconds since some moment."""
        return self.now

    def time(self) -> float:
        """Return seconds since 1970."""
        return self.now + self.ahead


class _Selector(selectors.DefaultSelector):
    """Tells what can be read now; where that is nothing, the time to the next timer passes."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    @override
    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        events = super().select(0)
        if not events:
            assert timeout is not None, "nothing would ever happen"
            self._clock.now += max(0.0, timeout)
        self._clock.now += TURN
        return events


class Loop(asyncio.SelectorEventLoop):
    """asyncio's event loop by a virtual clock."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(_Selector(clock))
        self.clock = clock

    def hang_up(self) -> None:
        """Close all connections, as the end of a process does."""
        for transport in list(vars(self)["_transports"].values()):  # asyncio's own
            transport.abort()

    @override
    def time(self) -> float:
        return self.clock.now

    def let(self, seconds: float) -> None:
        """Let so much time pass, unless ``stop`` is called before."""
        timer = self.call_later(seconds, self.stop)
        self.run_forever()
        timer.cancel()


class Swaps:
    """What was put in the place of something else, until ``undo``."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []

    def put(self, holder: Any, name: str, value: object) -> None:
        """Let a module, class or object have another value; it may have had none."""
        if name in vars(holder):
            before = vars(holder)[name]
            self._undo.append(lambda: setattr(holder, name, before))
        else:
            self._undo.append(lambda: delattr(holder, name))
        setattr(holder, name, value)

    def put_item(self, holder: dict[str, Any], name: str) -> None:
        """Take an entry out of a dictionary, if it is there."""
        if name in holder:
            before = holder.pop(name)
            self._undo.append(lambda: holder.__setitem__(name, before))

    def keep_time(self, clock: Clock) -> None:
        """Have all of lswc and Scrapy, as far as it is imported now, go by a virtual clock."""
        real = {time.monotonic: clock.monotonic, time.time: clock.time}
        module = SimpleNamespace(**{**vars(time), "monotonic": clock.monotonic, "time": clock.time})
        for name, found in sys.modules.copy().items():
            if name.partition(".")[0] not in ("lswc", "scrapy"):
                continue
            for key, value in list(vars(found).items()):
                if value is time:
                    self.put(found, key, module)
                elif any(value is function for function in real):
                    self.put(found, key, real[value])

    def undo(self) -> None:
        """Put everything back."""
        while self._undo:
            self._undo.pop()()
