"""Ways to a Redis that lose calls or answers, are cut, or on which the worker is killed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import redis
from redis import ConnectionPool, Redis

if TYPE_CHECKING:
    from tests.frontier.redis_server import RedisServer


class Killed(BaseException):
    """The worker ends here, as by ``kill -9``."""


class Way:
    """A worker's way to one Redis: what is asked on it may be lost, or what is answered.

    ``is_cut`` lasts until somebody mends it. After ``plan`` so many calls get through; then one
    fails ("call" is lost, its "answer" is lost, or the worker is killed "before" or "after" it), or
    all until ``heal``.
    """

    def __init__(self, server: RedisServer) -> None:
        self.is_cut = False
        self._after: int | None = None
        self._how, self._lasts = "", False
        self.faults = 0
        way = self

        class Lossy(redis.Connection):
            """A connection on this way."""

            _fails = ""

            def connect(self) -> None:
                if way.is_cut:
                    raise redis.ConnectionError("cut")
                untyped: Any = super()
                untyped.connect()

            def send_packed_command(self, command: Any, check_health: bool = True) -> None:
                self._fails = way.next_fault()
                if self._fails in ("call", "before"):
                    self.fail()
                untyped: Any = super()
                untyped.send_packed_command(command, check_health)

            def read_response(self, *args: Any, **options: Any) -> Any:
                answer = super().read_response(*args, **options)
                if self._fails:
                    self.fail()
                return answer

            def fail(self) -> None:
                how, self._fails = self._fails, ""
                untyped: Any = self
                untyped.disconnect()
                raise (redis.ConnectionError("lost") if how in ("call", "answer") else Killed)

        self._url, self._connection = server.url, Lossy
        self._pools: list[ConnectionPool] = []

    def client(self) -> Redis:
        """Return a client that asks on this way."""
        made: Any = self._connection
        self._pools.append(ConnectionPool.from_url(self._url, connection_class=made))
        return Redis(connection_pool=self._pools[-1])

    def plan(self, after: int, how: str, *, lasts: bool) -> None:
        """Let a call fail after so many others; all that follow, too, if it ``lasts``."""
        self._after, self._how, self._lasts = after, how, lasts

    def next_fault(self) -> str:
        """Return how the call that is sent now fails, "" if it doesn't."""
        if self.is_cut:
            return "call"
        if self._after is None:
            return ""
        if self._after > 0:
            self._after -= 1
            return ""
        if not self._lasts:
            self._after = None
        self.faults += 1
        return self._how

    def heal(self) -> None:
        """Let all get through from now on, if it isn't cut."""
        self._after, self.faults = None, 0

    def break_off(self) -> None:
        """Close all connections, as the end of either side does."""
        pools: list[Any] = self._pools
        for pool in pools:
            pool.disconnect()
