"""What an exchange does in a thread, done at once."""

from __future__ import annotations

from concurrent.futures import Future
from time import sleep
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from lswc.frontier.exchange.post import Mail
    from lswc.frontier.store.frontier import Frontier


def at_once(what: Callable[[], Mail]) -> Future[Mail]:
    """Do it now; return what came of it."""
    future: Future[Mail] = Future()
    try:
        future.set_result(what())
    except Exception as error:
        future.set_exception(error)
    return future


def saves_at_once(frontier: Frontier) -> Callable[[], bool]:
    """Return what makes all durable, however long the disk takes: a test's time doesn't wait."""

    def save() -> bool:
        while not frontier.prepare_checkpoint():
            sleep(0.001)
        frontier.checkpoint()
        return True

    return save
