"""Guest: says whether and when a host may be asked, and learns how that went."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin

from lswc.errors import LswcError
from lswc.guest.admission import Admission
from lswc.guest.decisions import Decision, Go, Refuse, Wait
from lswc.guest.disk import Disk
from lswc.guest.internet import ROBOTS, TDMREP, ClosingError
from lswc.guest.rests import OVERLOADED, Latencies, Rests, SecondTries, seconds
from lswc.guest.server_rules import TDMREP_PATH, ServerRules
from lswc.guest.slots import AddressSlots
from lswc.outcomes import Outcome, has_failed
from lswc.reading.opt_outs import in_robots
from lswc.urls import parse

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lswc.frontier import Frontier
    from lswc.frontier.rules.visit import Visit
    from lswc.guest.admission import Reach
    from lswc.guest.control import Rule
    from lswc.guest.control_in_effect import ControlInEffect
    from lswc.guest.decisions import End, Group
    from lswc.guest.internet import Internet
    from lswc.guest.network import Network
    from lswc.guest.politeness import Politeness
    from lswc.guest.rests import Backoff
    from lswc.guest.robots_txt import RobotsRules
    from lswc.guest.slots import Slots
    from lswc.safety.server_limits import Limits
    from lswc.urls import Url

MOST_PAGES = 1_000
"""Pages that wait for what their servers reserve, before no further URL should be leased."""

LONGEST_REST = 3_600.0
"""Seconds, an hour: so long a crawl waits for one server, and no longer. Who asks for more is left
alone, as its other URLs would hold back the crawl's end; who is slow is asked again then."""

logger = logging.getLogger(__name__)


class Stores(NamedTuple):
    """What lasts longer than a run, or is shared with other workers."""

    folder: Path
    frontier: Frontier
    slots: Slots
    control: ControlInEffect
    backoff: Backoff


class Guest:
    """All rules of politeness, behind one ``may``.

    A server rests after each answer of its, or failure to, to its rules and retries too. As long
    as the longest of DOWNLOAD_DELAY, its Crawl-delay, the instructions' delay, and
    LSWC_DELAY_FACTOR times as long as it took to answer; if it didn't in time, twice as long after
    each further URL, but at most LONGEST_REST seconds. So a silent server takes little of
    the crawl, and isn't lost.

    After 429 and 503 it rests as long as Retry-After asks for; without that LSWC_BACKOFF seconds,
    and twice as long each further time. A server that asks for more than LONGEST_REST
    seconds, or for a Crawl-delay above LSWC_MAX_CRAWL_DELAY, is left alone: neither is shortened.

    While robots.txt can't be had, no page is asked for (RFC 9309 §2.3.1.4); rules that were had
    before go on meanwhile (§2.4).

    Raises LswcError where a store can't be read or written; the caller closes it.
    """

    def __init__(
        self,
        politeness: Politeness,
        reach: Reach,
        stores: Stores,
        limits: Limits,
        internet: Internet,
        network: Network,
    ) -> None:
        self._politeness = politeness
        self.limits = limits
        self._internet = internet
        self.network = network
        self.control = stores.control
        self.disk = Disk(stores.folder, politeness.least_disk)
        self.disk.look()
        self.backoff = stores.backoff
        self.rests = Rests(politeness.delay, internet.now)
        self.rules = ServerRules(internet, politeness.robot)
        self.tries = SecondTries(politeness.try_again)
        self.latencies = Latencies()
        self.admission = Admission(reach, stores.frontier, self.control, limits, self.tries)
        self._addresses = AddressSlots(stores.slots, politeness, internet)
        self._pages = 0

    @property
    def halt(self) -> str:
        """Why nothing at all is asked for now: an instruction, or a full disk; "" if it may be."""
        return self.control.halt or self.disk.halt

    @property
    def is_full(self) -> bool:
        """Whether so many pages wait for what their servers reserve that no more are wanted."""
        return self._pages >= MOST_PAGES

    async def may(self, url: Url, address: str, file: str = "") -> Decision:
        """Say whether a URL may be asked for now, written as ``address``.

        ``file`` is its name if it is one of a server's rules. After Go it counts as asked until
        ``ended``. Fetches robots.txt if that isn't known; the page then waits for its turn.
        Raises what the network does, if that fails.
        """
        rule = self.control.rule(url)
        if rule.block:
            return Refuse(Outcome.BLOCKED)
        # For robots.txt its page has had the slots.
        groups = [] if file == ROBOTS else await self._addresses.groups(url)
        # No await from here to Go: two requests would both find that they may.
        if wait := self.wait(url.server) or self._addresses.take(groups, url.server):
            return Wait(wait)
        if file == ROBOTS or not self.rules.robot:
            return self._go(url, groups, self._rest(rule))
        robots = (self.rules.robots.get if file else self.rules.robots.fresh)(url.server)
        if robots is None:
            return await self._after_robots(url, address, groups)
        if refusal := self._refusal(address, robots):
            self._addresses.give_back(groups, asked=False)
            return refusal
        usage, signal = robots.content_usage(address), robots.content_signal(address)
        opt_outs = in_robots(usage, signal, robots.forbids(address))
        return self._go(url, groups, max(robots.crawl_delay, self._rest(rule)), opt_outs)

    def _rest(self, rule: Rule) -> float:
        return max(self._politeness.delay, rule.delay or 0.0)

    def _go(
        self, url: Url, groups: Sequence[Group], rest: float, opt_outs: tuple[str, ...] = ()
    ) -> Go:
        self.rests.begin(url.server)
        return Go(url, groups, rest, opt_outs, self._internet.now())

    async def _after_robots(self, url: Url, address: str, groups: Sequence[Group]) -> Decision:
        """Fetch robots.txt with the slots of a page, which has to wait: its server was asked."""
        asked = False
        try:
            failure = await self.rules.fetch_robots(url)
            asked = not isinstance(failure, Refuse)
        finally:
            self._addresses.give_back(groups, asked=asked)
        robots = self.rules.robots.get(url.server)
        if failure is not None or robots is None:
            return failure or Wait(self.wait(url.server))
        return self._refusal(address, robots) or Wait(self.wait(url.server))

    def _refusal(self, address: str, robots: RobotsRules) -> Refuse | None:
        if not robots.allows(address):
            return Refuse(Outcome.ROBOTS)
        if robots.crawl_delay > self._politeness.longest_crawl_delay:
            return Refuse(Outcome.CRAWL_DELAY_TOO_LONG)
        return None

    def give_up(self, url: Url) -> Refuse:
        """Let a server rest that fails to say what may be asked for, and refuse its page."""
        self.backoff.overloaded(url.server, self._internet.unix_time())
        return Refuse(Outcome.ROBOTS_UNAVAILABLE)

    def wait(self, server: str) -> float:
        """Return the seconds that a server is still to be left in peace, 0 if it may be asked."""
        crawl_delay = self.rules.crawl_delay(server)
        overloaded = self.backoff.remaining(server, self._internet.unix_time())
        return max(overloaded, self.rests.wait(server, crawl_delay))

    def ended(self, go: Go, end: End) -> float:
        """Take note of how a request ended; return the seconds that its server rests now."""
        server = go.url.server
        if end.is_live and end.status:
            self.network.answered(go.url, go.at)
        elif end.is_live and not (end.nameless and self._internet.is_frozen):
            self.network.silent(go.url, nameless=end.nameless)
        rest = max(self._wanted(go.url, end), go.rest)
        self.rests.end(server, rest)
        self._addresses.give_back(go.groups, asked=True)  # last: a store may be away
        return rest

    def _wanted(self, url: Url, end: End) -> float:
        """Return the rest that a server needs by how it answered, or didn't."""
        if end.timed_out:
            return self._after_silence(url)
        rest = self._politeness.delay_factor * end.latency
        if end.status:
            self.latencies.add(url.server, end.latency)
        if end.status in OVERLOADED:
            return max(rest, self._after_overload(url.server, end.retry_after))
        if 0 < end.status < 500:
            self.backoff.answered(url.server)
        return rest

    def _after_silence(self, url: Url) -> float:
        times = min(self.limits.unanswered(url), 20)
        rest = self._politeness.delay_factor * self._politeness.timeout * 2.0**times
        return min(rest, LONGEST_REST)

    def _after_overload(self, server: str, retry_after: str) -> float:
        now = self._internet.unix_time()
        wait = seconds(retry_after, now)
        if wait is None:
            return self.backoff.overloaded(server, now)
        if wait > LONGEST_REST:
            self.limits.close(server, Outcome.RETRY_AFTER_TOO_LONG)
            return 0.0  # it isn't asked again: its other URLs needn't wait to end
        return wait

    def asks_too_much(self, retry_after: str) -> bool:
        """Tell whether a server asks to wait for so long that it is left alone."""
        wait = seconds(retry_after, self._internet.unix_time())
        return (wait or 0.0) > LONGEST_REST

    async def reserved(self, visit: Visit, url: Url, size: int) -> tuple[str, ...]:
        """Return what a page's server says against mining it, in its tdmrep.json.

        The first page of a server, of ``size`` bytes, waits until that may be asked for, but holds
        up no other. Its server then rests as long as it has to after that. Raises ClosingError.
        """
        if (rules := self.rules.reservations.fresh(url.server)) is None:
            await self._wait_for_reservations(url, size)
            self.keep_away(visit, self.wait(url.server))
            rules = self.rules.reservations.get(url.server)
        return () if rules is None else rules.opt_outs(url.href)

    async def _wait_for_reservations(self, url: Url, size: int) -> None:
        self._pages += 1
        try:
            with self._internet.aside(size):
                await self._fetch_reservations(url)
        finally:
            self._pages -= 1

    async def _fetch_reservations(self, url: Url) -> None:
        address = urljoin(url.href, TDMREP_PATH)
        decision: Decision | None = None
        try:
            while isinstance(decision := await self.may(url, address, TDMREP), Wait):
                await self._internet.sleep(decision.seconds)
        except (ClosingError, LswcError):
            raise
        except Exception:  # of the network, whatever it is: robots.txt can't be had
            logger.debug("no robots.txt of %s", url.server, exc_info=True)
        if isinstance(decision, Go):
            await self.rules.fetch_reservations(url, decision)
        else:
            self.rules.reserves_nothing(url)

    async def sleep(self, seconds: float) -> None:
        """Let time go by. Raises ClosingError if the crawl closes."""
        await self._internet.sleep(seconds)

    def renew(self) -> None:
        """Keep what is held of machines and domains. Ask as often as leases are renewed."""
        self._addresses.renew()

    def keep_away(self, visit: Visit, wait: float) -> None:
        """See to it that the frontier leases no URL of a visit's server for so long from now."""
        until = self._internet.now() - visit.since + wait
        visit.rest = max(visit.rest, until if wait else 0.0)

    def due(self, visit: Visit, outcome: str) -> float | None:
        """Take note of how a visit ended; return when its URL is tried again, None if never."""
        if outcome == Outcome.TIMEOUT and (url := parse(visit.url)) is not None:
            self.limits.answered(url, False)
        if _is_missing(outcome) and (listing := visit.lease.listing):
            self.limits.listed(listing, False)
        return self.tries.due(visit, outcome, self._internet.now())

    def look(self) -> tuple[bool, bool]:
        """Look, each second, whether the instructions have changed, and allow more; and the disk.

        Raises StorageError.
        """
        self.disk.look()
        changed, allows = self.control.look()
        if changed:
            self.admission.forget()
        return changed, allows

    def close(self) -> None:
        """Close what is open."""
        self.network.close()
        self.backoff.close()


def _is_missing(outcome: str) -> bool:
    """Tell whether there is nothing at a URL that ended so; what failed may be had later."""
    return outcome.startswith(f"{Outcome.STATUS} 4") and not has_failed(outcome)
