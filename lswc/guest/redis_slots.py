"""The slots of a crawl of many workers: taken in Redis."""

from __future__ import annotations

import secrets
from importlib.resources import files
from typing import TYPE_CHECKING

from redis import RedisError

from lswc.errors import StorageError
from lswc.frontier.redis_script import RECONNECT, clock_source
from lswc.guest.slots import SOON

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis import Redis

    from lswc.guest.slots import Group


class SharedSlots:
    """The slots of a crawl of many workers, in Redis, by its clock.

    The keys begin with ``prefix``. A slot whose worker died is free after ``life`` seconds. No
    group may rest longer than that.
    """

    def __init__(self, client: Redis, prefix: str, life: float) -> None:
        client.set_retry(RECONNECT)
        self._clock = f"{prefix}clock"
        self._prefix = f"{prefix}slots:"
        self._life = round(life * 1000)
        self._script = client.register_script(
            clock_source() + files("lswc.guest").joinpath("slots.lua").read_text(encoding="utf-8")
        )
        self._worker = secrets.token_hex(8)
        self._number = 0
        self._tokens: dict[str, list[str]] = {}

    def take(self, groups: Sequence[Group]) -> float:
        if not groups:
            return 0.0
        self._number += 1
        token = f"{self._worker}:{self._number}"
        wait = self._run("take", token, self._life, *(group.slots for group in groups), of=groups)
        if wait:
            return min(wait / 1000, 1.0) if wait < self._life / 2 else SOON
        for group in groups:
            self._tokens.setdefault(group.name, []).append(token)
        return 0.0

    def give_back(self, groups: Sequence[Group], *, asked: bool) -> None:
        for group in groups:
            tokens = self._tokens[group.name]
            token = tokens.pop(0)
            if not tokens:
                del self._tokens[group.name]
            self._run("give back", token, round(group.rest * 1000) * asked, of=[group])

    def _run(self, *arguments: str | int, of: Sequence[Group]) -> int:
        keys = [self._clock, *(self._prefix + group.name for group in of)]
        try:
            return int(self._script(keys, arguments))
        except RedisError as error:
            raise StorageError(f"can't share slots with other workers: {error}") from error
