"""Slots of a crawl of many workers: an address may be that of several workers' sites."""

from __future__ import annotations

import asyncio
import secrets
from collections import defaultdict
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from lswc.errors import AwayError
from lswc.guest.slots import OF_ADDRESS, REMEMBERED, SLOT_SECONDS, OwnSlots

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lswc.frontier.exchange.post import Post
    from lswc.guest.decisions import Group

LIFE = 60.0
"""Seconds after which a slot is free that nobody renews, as its worker died."""

AWAY = 30.0
"""Seconds for which a Redis that couldn't be reached isn't asked: workers keep their own slots."""

TOGETHER = 0.1
"""Seconds that a slot which is given back waits for another call to go with; it rests meanwhile."""

# KEYS: a sorted set for each slot's group, of tokens by the time (ms) until which a slot is taken.
# ARGV: ms that a token holds, then for each key: token, slots. What is given back comes in calls of
# its own. 0, or the ms until the first slot that is wanted may be free, and which key that is.
_TAKE = """
local now = redis.call('TIME')
now = now[1] * 1000 + math.floor(now[2] / 1000)
for i, key in ipairs(KEYS) do
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  if redis.call('ZCARD', key) >= tonumber(ARGV[2 * i + 1]) then
    return { math.max(1, redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2] - now), i }
  end
end
for i, key in ipairs(KEYS) do
  redis.call('ZADD', key, now + ARGV[1], ARGV[2 * i])
  if redis.call('PTTL', key) < 2 * ARGV[1] then redis.call('PEXPIRE', key, 2 * ARGV[1]) end
end
return { 0, 0 }
"""
# ARGV: for each key: token, ms until it is free. A token that expired meanwhile isn't taken again.
_KEEP = """
local now = redis.call('TIME')
now = now[1] * 1000 + math.floor(now[2] / 1000)
for i, key in ipairs(KEYS) do
  local left = ARGV[2 * i]
  redis.call('ZADD', key, 'XX', now + left, ARGV[2 * i - 1])
  if redis.call('PTTL', key) < 2 * left then redis.call('PEXPIRE', key, 2 * left) end
end
"""


class SharedSlots:
    """The slots of addresses, in Redis by its clock; those of domains are this worker's own.

    A slot is free after ``life`` seconds unless it is renewed. While Redis is away each worker
    keeps the limits by itself.
    """

    def __init__(self, post: Post, life: float = LIFE) -> None:
        self._post, self._life = post, round(life * 1000)
        self._own = OwnSlots()
        self._tokens: defaultdict[str, list[str]] = defaultdict(list)
        self._full: dict[str, float] = {}
        self._given_back: list[tuple[str, str, int]] = []
        self._away_until = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def take(self, groups: Sequence[Group], server: str = "") -> float:
        now = monotonic()
        shared = [group for group in groups if group.name.startswith(OF_ADDRESS)]
        full = max((self._full.get(group.name, 0.0) - now for group in shared), default=0.0)
        if full > 0:
            return full
        if wait := self._own.take(groups):
            return wait
        if shared and now >= self._away_until and (wait := self._take(shared, now)):
            self._own.give_back(groups, asked=False)
            return wait
        return 0.0

    def _take(self, groups: Sequence[Group], now: float) -> float:
        """Take slots in Redis; return the seconds to wait for one that isn't free."""
        token = secrets.token_hex(8)
        arguments = [part for group in groups for part in (token, group.slots)]
        try:
            with self._post.errors():
                self._give_back_now()
                wait, place = self._eval(_TAKE, groups, self._life, *arguments)
        except AwayError:
            self._away_until = now + AWAY
            return 0.0
        if not wait:
            for group in groups:
                self._tokens[group.name].append(token)
            return 0.0
        if wait >= self._life / 2:  # it is being asked, and may be free at any time
            return SLOT_SECONDS
        seconds = min(float(wait) / 1000, 1.0)
        self._full[groups[place - 1].name] = now + seconds
        if len(self._full) > REMEMBERED:
            self._full = {name: until for name, until in self._full.items() if until > now}
        return seconds

    def _eval(self, script: str, groups: Sequence[Group], *arguments: Any) -> Any:
        keys = [self._key(group.name) for group in groups]
        return self._post.client.eval(script, len(keys), *keys, *arguments)

    def _key(self, name: str) -> str:
        return self._post.key("slots", name)

    def renew(self) -> None:
        taken = [(name, token) for name, tokens in self._tokens.items() for token in tokens]
        if taken and monotonic() >= self._away_until:
            with suppress(AwayError):
                self._keep([(name, token, self._life) for name, token in taken])

    def give_back(self, groups: Sequence[Group], *, asked: bool) -> None:
        self._own.give_back(groups, asked=asked)
        for group in groups:
            tokens = self._tokens.get(group.name)
            if tokens:
                rest = round(group.rest * 1000) if asked else 0
                self._given_back.append((group.name, tokens.pop(0), rest))
                if not tokens:
                    del self._tokens[group.name]
        if self._given_back and self._timer is None:
            try:
                loop = asyncio.get_running_loop()
            except RuntimeError:
                self._give_back()
            else:
                self._timer = loop.call_later(TOGETHER, self._give_back)

    def _give_back(self) -> None:
        self._timer = None
        with suppress(AwayError):  # they are free once they expire
            self._give_back_now()

    def _give_back_now(self) -> None:
        given, self._given_back = self._given_back, []
        if given:
            self._keep(given)

    def _keep(self, slots: Sequence[tuple[str, str, int]]) -> None:
        with self._post.errors():
            keys = [self._key(name) for name, _, _ in slots]
            arguments = [part for _, token, rest in slots for part in (token, rest)]
            self._post.client.eval(_KEEP, len(keys), *keys, *arguments)
