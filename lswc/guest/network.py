"""Network of this machine: while it is off it, that no server answers says nothing of servers."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from random import sample
from typing import TYPE_CHECKING

from lswc.outcomes import Outcome
from lswc.urls import parse, site

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lswc.frontier.visit import Visit
    from lswc.guest.internet import Internet
    from lswc.urls import Url

IN_A_ROW = 5
"""Registered domains in a row that don't answer, after which the network is doubted. All that
answered before are enough, if they are fewer, but two."""

PROBED = 5
"""Servers that are knocked at to see whether the network is there: those that answered last, and as
many seeds while fewer answered than that."""

FIRST, LONGEST = 1.0, 60.0
"""Seconds between two looks: the first, and the most after twice as many each time."""

_SILENCE = {
    Outcome.TIMEOUT, Outcome.NAME_LOOKUP_FAILED, Outcome.CONNECTION_REFUSED,
    Outcome.DOWNLOAD_FAILED,
}  # fmt: skip

logger = logging.getLogger(__name__)


class Network:
    """Knows a failure of the network from one of a server.

    When no registered domain of several in a row answers, the crawl pauses, and servers that
    answered before are knocked at: their port is opened, and nothing asked. If one opens, each of
    the failures was its server's own: ``end`` is called for the visits. If none does, they go
    back by ``give_back``, and the servers are knocked at again until one opens, or until
    ``longest`` seconds are over (never at 0): then ``stop`` is called. ``seeds`` are URLs.
    """

    def __init__(
        self,
        internet: Internet,
        seeds: Sequence[str],
        longest: float,
        end: Callable[[Visit, str], None],
        give_back: Callable[[Visit], None],
        stop: Callable[[], None],
    ) -> None:
        self._internet = internet
        self._seeds = seeds
        self._longest = longest
        self._end, self._give_back, self._stop = end, give_back, stop
        self._row: set[str] = set()
        self._held: list[tuple[Visit, str]] = []
        self._good: OrderedDict[str, Url] = OrderedDict()  # by registered domain
        self._looking: asyncio.Task[None] | None = None
        self._since: float | None = None
        self.resumed: Callable[[], None] = lambda: None

    @property
    def paused(self) -> bool:
        """Whether nothing is to be asked for now."""
        return self._looking is not None

    @property
    def offline(self) -> float:
        """Seconds since the crawl found itself offline; 0 if it isn't."""
        return self._internet.now() - self._since if self._since is not None else 0.0

    @property
    def held(self) -> set[int]:
        """The numbers of the visits that wait here to be ended."""
        return {visit.lease.id for visit, _ in self._held}

    def answered(self, url: Url) -> None:
        """Take notice of an answer."""
        name = site(url.hostname)
        self._good[name] = url
        self._good.move_to_end(name)
        if len(self._good) > PROBED:
            self._good.popitem(last=False)
        if self._row and not self.paused:  # an answer that was on its way says little
            self._settle()

    def silent(self, url: Url) -> None:
        """Take notice that a server didn't answer a request."""
        self._row.add(site(url.hostname))
        if self.paused:
            return
        enough = min(IN_A_ROW, max(2, len(self._good))) if self._good else IN_A_ROW
        if len(self._row) >= enough:
            self._looking = asyncio.ensure_future(self._look())

    def takes(self, visit: Visit, outcome: str) -> bool:
        """Take a visit that is to end so, if it isn't known yet whose failure that is."""
        if outcome not in _SILENCE or not self._row:
            return False
        if self._since is None:
            self._held.append((visit, outcome))
        else:
            self._give_back(visit)
        return True

    def settle(self) -> None:
        """Take the failures for the servers' own: nothing else runs that could show it.

        They still count in the row: few requests at a time are no reason not to doubt the network.
        """
        if not self.paused:
            self._end_held()

    def _settle(self) -> None:
        self._row.clear()
        self._end_held()

    def _end_held(self) -> None:
        held, self._held = self._held, []
        for visit, outcome in held:
            self._end(visit, outcome)

    async def _look(self) -> None:
        wait, began = FIRST, self._internet.now()
        while not await self._is_there():
            if self._since is None:
                self._leave(began)
            elif 0 < self._longest < self.offline:
                self._stop()
                return
            await asyncio.sleep(wait)
            wait = min(2 * wait, LONGEST)
        if self._since is not None:
            logger.warning("online again after %.0f s: the crawl goes on", self.offline)
        self._since = self._looking = None
        self._settle()
        self.resumed()

    def _leave(self, began: float) -> None:
        """Find that this machine is offline."""
        self._since = began
        logger.warning(
            "offline: %d registered domains in a row didn't answer, nor do those that did before; "
            "the crawl waits until one does, and nothing is lost",
            len(self._row),
        )
        held, self._held = self._held, []
        for visit, _ in held:
            self._give_back(visit)

    async def _is_there(self) -> bool:
        """Tell whether a server opens its port that should."""
        urls = list(reversed(self._good.values()))
        if urls and await self._internet.opens(urls.pop(0)):  # mostly that is enough
            return True
        if len(urls) < PROBED - 1:
            seeds = sample(self._seeds, min(PROBED, len(self._seeds)))
            urls += [url for seed in seeds if (url := parse(seed)) is not None]
        knocks = [asyncio.ensure_future(self._internet.opens(url)) for url in urls]
        try:
            for knock in asyncio.as_completed(knocks):
                if await knock:
                    return True
            return False
        finally:
            for task in knocks:
                task.cancel()

    def close(self) -> None:
        """Look no more."""
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None
