"""What an exchange does in a thread, done at once."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from lswc.frontier.exchange.post import Mail


def at_once(what: Callable[[], Mail]) -> Future[Mail]:
    """Do it now; return what came of it."""
    future: Future[Mail] = Future()
    try:
        future.set_result(what())
    except Exception as error:
        future.set_exception(error)
    return future
