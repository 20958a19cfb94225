"""Upkeep of a running crawl: leases are renewed, instructions obeyed, its files looked after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.utils.asyncio import create_looping_call

from lswc.crawl.close_reasons import TOLD
from lswc.guest.control_in_effect import LOOK
from lswc.outcomes import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from lswc.archive.archive import Archive
    from lswc.crawl.commits import Commits
    from lswc.crawl.configuration import Crawl
    from lswc.crawl.leases import Leases
    from lswc.crawl.workers import Shared
    from lswc.guest.guest import Guest

TURN = 0.1
"""Seconds between two turns of the exchange with other workers."""

TEND = 15.0
"""Seconds between two looks after slots, files and fed seeds: slots are free after LIFE."""


class Upkeep:
    """What a crawl does by the clock, whatever it fetches meanwhile.

    ``changed`` is called when other instructions hold, or there is room again on the disk.
    """

    def __init__(
        self,
        crawl: Crawl,
        archive: Archive,
        guest: Guest,
        commits: Commits,
        leases: Leases,
        shared: Shared | None,
    ) -> None:
        self._archive, self._guest = archive, guest
        self._commits, self._leases, self._shared = commits, leases, shared
        self.changed: Callable[[], None] = lambda: None

    def start(self) -> None:
        """Begin."""
        self._tending = create_looping_call(self.tend)
        self._tending.start(TEND, now=False)
        self._looking = create_looping_call(self.look)
        self._looking.start(LOOK, now=False)
        if self._shared is not None:
            self._exchanging = create_looping_call(self.exchange)
            self._exchanging.start(TURN, now=False)

    def stop(self) -> None:
        """End."""
        self._tending.stop()
        self._looking.stop()
        if self._shared is not None:
            self._exchanging.stop()

    def exchange(self) -> None:
        """Send links to other workers, and take theirs."""
        if self._shared is None or self._commits.failed:
            return
        try:
            if self._shared.exchange.turn():
                self.changed()
        except Exception as error:
            self._commits.fail(error)

    def tend(self) -> None:
        """Renew the slots, take the seeds that were fed."""
        if not self._commits.failed:
            try:
                self._guest.renew()
                self._leases.take_fed_seeds()
                self._leases.take_owed()
            except Exception as error:
                self._commits.fail(error)

    def look(self) -> bool:
        """Look at files, disk and instructions, and obey; tell whether anything changed."""
        if self._commits.failed:
            return False
        before = self._guest.halt
        try:
            self._commits.check()
            changed, allows = self._guest.look()
            if changed:
                self._obey(allows)
        except Exception as error:
            self._commits.fail(error)
            return False
        changed |= bool(before and not self._guest.halt)
        if changed:
            self.changed()
        return changed

    def _obey(self, allows: bool) -> None:
        """End what is under way in blocked places; make pending what is allowed again."""
        is_blocked = self._guest.admission.is_blocked
        self._archive.forget(is_blocked)
        self._guest.network.forget(is_blocked)
        for visit in list(self._commits.visits.values()):
            if is_blocked(visit.url):
                self._commits.end(visit, Outcome.BLOCKED)
        if allows:
            self._leases.retry_refused()
        if self._guest.control.control.stop:
            self._commits.stop(TOLD)
