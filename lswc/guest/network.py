"""Network of this machine: while it is off it, that no server answers says nothing of servers.

Nor does it that a name isn't found: without its network a machine may find no name at all.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from random import sample
from typing import TYPE_CHECKING

from lswc.outcomes import Outcome
from lswc.urls import parse, site, tld

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
    Outcome.TIMEOUT, Outcome.NAME_NOT_RESOLVED, Outcome.NAME_LOOKUP_FAILED,
    Outcome.CONNECTION_REFUSED, Outcome.DOWNLOAD_FAILED,
}  # fmt: skip

logger = logging.getLogger(__name__)


class Network:
    """Knows a failure of the network from one of a server.

    When no registered domain of several in a row answers, the crawl pauses, and servers that
    answered before are knocked at: their port is opened, and nothing asked. If one opens, each of
    the failures was its server's own: ``end`` is called for the visits. If none does, they go
    back by ``give_back``, and the servers are knocked at again until one opens, or until
    ``longest`` seconds are over (never at 0): then ``stop`` is called. ``seeds`` are URLs.

    That a name has no address counts only once the name of a server that answered before is found
    anew: servers whose addresses are remembered go on to answer, which says nothing of names. If
    it isn't found, the network is doubted at once.

    ``paused`` says that nothing is to be asked for now.
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
        self._nameless: set[str] = set()  # registered domains with names that weren't found
        self._held: list[tuple[Visit, str]] = []
        self._good: OrderedDict[str, Url] = OrderedDict()  # by registered domain
        self._looking: asyncio.Task[None] | None = None
        self._asking: asyncio.Task[None] | None = None
        self._since: float | None = None
        self.resumed: Callable[[], None] = lambda: None
        self.paused = False

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
            self._row.clear()
            self._check_names()
            self._end_held()

    def silent(self, url: Url, *, nameless: bool = False) -> None:
        """Take notice that a server didn't answer a request, or has a name without an address."""
        name = site(url.hostname)
        self._row.add(name)
        if nameless:
            self._nameless.add(name)
        enough = min(IN_A_ROW, max(2, len(self._good))) if self._good else IN_A_ROW
        if len(self._row) >= enough:
            self._doubt()

    def takes(self, visit: Visit, outcome: str) -> bool:
        """Take a visit that is to end so, if it isn't known yet whose failure that is."""
        doubtful = self._nameless if outcome == Outcome.NAME_NOT_RESOLVED else self._row
        if outcome not in _SILENCE or not doubtful:
            return False
        if self._since is None:
            self._held.append((visit, outcome))
            self._check_names()
        else:
            self._give_back(visit)
        return True

    def settle(self) -> None:
        """Take the failures for the servers' own: nothing else runs that could show it.

        They still count in the row: few requests at a time are no reason not to doubt the network.
        """
        if not self.paused:
            self._end_held()

    def _end_held(self) -> None:
        """End the visits that are held, but those whose names are being checked."""
        checks = self._asking is not None
        self._end_those(lambda _, named: not (named and checks))

    def _end_those(self, ends: Callable[[Visit, bool], bool]) -> None:
        """End those held visits of which that is so; whether it is for their names is told too."""
        held, self._held = self._held, []
        for visit, outcome in held:
            if ends(visit, outcome == Outcome.NAME_NOT_RESOLVED):
                self._end(visit, outcome)
            else:
                self._held.append((visit, outcome))

    def _check_names(self) -> None:
        named = [url for url in self._good.values() if tld(url.hostname)]
        if self._nameless and named and self._asking is None and not self.paused:
            self._asking = asyncio.ensure_future(self._ask(named[-1]))

    async def _ask(self, good: Url) -> None:
        """See whether names are found at all: if so, those that weren't have no address."""
        asked, held = set(self._nameless), self.held
        is_found = await self._internet.finds(good)
        self._asking = None
        if self.paused:
            return  # that shows it
        if not is_found:
            self._doubt()
            return
        self._nameless -= asked
        self._row -= asked
        self._end_those(lambda visit, named: named and visit.lease.id in held)
        self._check_names()
        self.resumed()

    def _doubt(self) -> None:
        if not self.paused:
            self.paused = True
            self._looking = asyncio.ensure_future(self._look())

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
        self.paused, self._since, self._looking = False, None, None
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None
        self._row.clear()
        self._nameless.clear()
        self._end_held()
        self.resumed()

    def _leave(self, began: float) -> None:
        """Find that this machine is offline."""
        self._since = began
        logger.warning(
            "offline: registered domains in a row that didn't answer, or have no name: %d; nor do "
            "those that did before; the crawl waits until one does, and nothing is lost",
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
        for task in (self._looking, self._asking):
            if task is not None:
                task.cancel()
        self.paused, self._looking, self._asking = False, None, None
