"""Ending: whether a crawl is over everywhere, at two looks that agree."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lswc.frontier.exchange.arrivals import Arrivals
    from lswc.frontier.exchange.neighbours import Neighbours
    from lswc.frontier.exchange.ownership import Ownership
    from lswc.frontier.store.frontier import Frontier

STAYS = 90.0
"""Seconds that a worker with nothing to do waits for one that isn't running."""

logger = logging.getLogger(__name__)


class Ending:
    """Tells whether nothing is left to fetch, or under way between workers: then it ``is_over``."""

    is_over = False

    def __init__(
        self,
        frontier: Frontier,
        others: Neighbours,
        arrivals: Arrivals,
        ownership: Ownership,
    ) -> None:
        self._frontier, self._others = frontier, others
        self._arrivals, self._ownership = arrivals, ownership
        self._idle_since: float | None = None
        self._look: tuple[dict[int, Any], dict[int, int]] | None = None

    def look(self, now: float) -> None:
        """See whether it is over, by what all workers reported."""
        status, alive = self._others.statuses, self._others.alive(now)
        if not self._is_idle(alive):
            self._idle_since = self._look = None
            self.is_over = False
            return
        self._idle_since = now if self._idle_since is None else self._idle_since
        gone = [number for number in self._others.missing(self._others.me) if number not in alive]
        if not gone:
            look = {n: (status[n].got, status[n].sent, status[n].finished) for n in alive}
            is_quiet = not any(status[n].outbox for n in alive)
            self.is_over = is_quiet and self._agrees(look, {n: status[n].beat for n in alive})
        elif now - self._idle_since > STAYS:
            if not self.is_over:
                numbers = ", ".join(map(str, gone))
                logger.warning("nothing is left to do here; not running: worker %s", numbers)
            self.is_over = True

    def _is_idle(self, alive: list[int]) -> bool:
        """Tell whether neither this worker nor one that runs has anything to do."""
        frontier, status = self._frontier, self._others.statuses
        has_work = (
            frontier.unfinished - frontier.later
            or frontier.leased
            or self._arrivals.are_left
            or self._ownership.is_busy
            or any(worker in alive for worker in frontier.outbox.addressed())
        )
        return not has_work and not any(status[n].waiting or status[n].leased for n in alive)

    def _agrees(self, look: dict[int, Any], beats: dict[int, int]) -> bool:
        """Tell whether all tell the same as at a look before, each a second time."""
        if self._look is not None and self._look[0] == look:
            return all(beats[number] > beat for number, beat in self._look[1].items())
        self._look = look, beats
        return False
