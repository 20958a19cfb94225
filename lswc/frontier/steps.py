"""Steps between which an answer of a store is awaited: by who asks, or in the loop that runs."""

from __future__ import annotations

from asyncio import get_running_loop
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable

T = TypeVar("T")

Steps = Generator[int, None, T]
"""Each yields the descriptor that is readable once the answer comes that it waits for."""


class Awaited(Generic[T]):
    """What comes of steps; they are begun at once."""

    _found: T
    _error: Exception | None = None
    _loop: AbstractEventLoop | None = None
    _then: Callable[[], None]

    def __init__(self, steps: Steps[T]) -> None:
        self._steps = steps
        self._descriptor: int | None = None
        self._go_on()

    def finish(self) -> None:
        """Wait for the end; called within a step it does nothing."""
        while self._descriptor is not None:
            self._go_on()

    def result(self) -> T:
        """Wait for what comes of the steps. Raises what they do, each time."""
        self.finish()
        if self._error is not None:
            raise self._error
        return self._found

    def goes_on(self, then: Callable[[], None]) -> bool:
        """Let the steps go on as answers come, in the loop that runs; tell whether they do.

        Not if they are over, or no loop runs. ``then`` is called at their end, also if somebody
        waits for that: it asks for nothing itself.
        """
        if self._descriptor is None:
            return False
        try:
            self._loop = get_running_loop()
        except RuntimeError:
            return False
        self._then = then
        self._loop.add_reader(self._descriptor, self._go_on)
        return True

    def _go_on(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if self._loop is not None and descriptor is not None:
            self._loop.remove_reader(descriptor)  # before a lost connection closes it
        try:
            self._descriptor = next(self._steps)
        except StopIteration as end:
            self._found = end.value
        except Exception as error:  # for who asks for the result, not for who waits for its end
            self._error = error
        if self._loop is None:
            return
        if self._descriptor is None:
            self._then()
        else:
            self._loop.add_reader(self._descriptor, self._go_on)


class UnderWay:
    """What is under way of what a frontier asks its store: one thing at a time."""

    def __init__(self) -> None:
        self._awaited: Awaited[Any] | None = None

    def begin(self, steps: Steps[T]) -> Awaited[T]:
        """Begin steps, once those before have ended."""
        self.finish()
        awaited = self._awaited = Awaited(steps)
        return awaited

    def finish(self) -> None:
        """Wait until nothing is under way; its errors are told to those who began it."""
        if self._awaited is not None:
            self._awaited.finish()
