"""Network of this machine: while it is off it, that no server answers says nothing of servers.

Nor does it that a name isn't found: without its network a machine may find no name at all. And what
is answered may be the network's own: see ``lswc.guest.likeness``.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from math import inf
from random import sample
from secrets import token_hex
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urljoin

from lswc.guest.likeness import HEAVY, IN_A_ROW, Likeness, is_like
from lswc.outcomes import Outcome
from lswc.urls import parse, site, tld

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lswc.frontier.rules.visit import Visit
    from lswc.guest.internet import Internet
    from lswc.urls import Url

PROBED = 5
"""Servers that are knocked at to see whether the network is there: those that answered last, and as
many seeds while fewer answered than that."""

MANY = 64
"""Answers held while the network is looked at, from which on nothing more is asked for; or so many
bytes as ``lswc.guest.likeness`` says."""

PATIENCE = 300.0
"""Seconds after which answers are believed though whatever is asked for is like them, if no page is
known that was another before: only then it is sure that others answer."""

BEFORE = 300.0
"""Seconds before the first answer that wasn't a server's, of which no robots.txt is believed."""

FIRST, LONGEST = 1.0, 60.0
"""Seconds between two looks: the first, and the most after twice as many each time."""

_SILENCE = {
    Outcome.TIMEOUT, Outcome.NAME_NOT_RESOLVED, Outcome.NAME_LOOKUP_FAILED,
    Outcome.CONNECTION_REFUSED, Outcome.DOWNLOAD_FAILED,
}  # fmt: skip

logger = logging.getLogger(__name__)


class _Held(NamedTuple):
    """A visit that failed ``at`` a time, until it is known whose failure it was."""

    visit: Visit
    outcome: str
    at: float

    @property
    def is_nameless(self) -> bool:
        return self.outcome == Outcome.NAME_NOT_RESOLVED


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

    When several registered domains in a row answer alike, pages that are known are asked for anew.
    If one is as it was, or none is like those answers, they were the servers' own. If all are like
    them, nothing is asked for until one isn't; what came meanwhile, and is held, goes back, and
    ``distrusted`` is called with the time from which on nothing else is believed either. A crawl
    that knows no page asks for seeds, and if they are like that too, for a page that there isn't;
    such a crawl waits for five domains that say the same at least, and not without end.

    ``paused`` says that nothing is to be asked for now; ``waiting`` are the answers, by the numbers
    of their visits, that wait here to be believed.
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
        self._row: dict[str, float] = {}  # registered domains by when they were silent last
        self._nameless: set[str] = set()  # registered domains with names that weren't found
        self._held: list[_Held] = []
        self._good: OrderedDict[str, Url] = OrderedDict()  # by registered domain
        self._looking: asyncio.Task[None] | None = None
        self._asking: asyncio.Task[None] | None = None
        self._since: float | None = None
        self._back = 0.0  # when the network came back last
        self._likeness = Likeness(end)
        self.waiting = self._likeness.held
        self._ticking: asyncio.TimerHandle | None = None
        self._tick_at = 0.0
        self.lied_until = 0.0
        """When the network was last found to answer for others, until then; monotonic."""
        self.in_scope: Callable[[str], Url | None] = parse
        """Returns a seed's URL; None of one that isn't asked for."""
        self.resumed: Callable[[], None] = lambda: None
        self.paused = False
        self.distrusted: Callable[[float], None] = lambda since: None

    @property
    def offline(self) -> float:
        """Seconds since the crawl found itself offline; 0 if it isn't."""
        return self._internet.now() - self._since if self._since is not None else 0.0

    @property
    def held(self) -> set[int]:
        """The numbers of the visits that wait here to be ended."""
        return {held.visit.lease.id for held in self._held} | self._likeness.held.keys()

    def know(self, url: Url, sign: int) -> None:
        """Take notice of the sign of a page that was recorded."""
        self._likeness.know(url.server, url.href, sign)

    def forget(self, is_blocked: Callable[[str], bool]) -> None:
        """Take it that some pages aren't to be asked for any more."""
        self._likeness.forget(is_blocked)

    def answered(self, url: Url, since: float | None = None) -> None:
        """Take notice of an answer to a request that began at ``since``, or now.

        It says nothing of failures after that: it may have been on its way when the network went.
        """
        name = site(url.hostname)
        self._good[name] = url
        self._good.move_to_end(name)
        if len(self._good) > PROBED:
            self._good.popitem(last=False)
        if self._row and self._looking is None:  # what looks sees more
            upto = self._internet.now() if since is None else since
            self._forget_silence(upto)
            self._check_names()
            self._end_held(upto)

    def _forget_silence(self, upto: float) -> None:
        self._row = {name: at for name, at in self._row.items() if at > upto}

    def silent(self, url: Url, *, nameless: bool = False) -> None:
        """Take notice that a server didn't answer a request, or has a name without an address."""
        name = site(url.hostname)
        self._row[name] = self._internet.now()
        if nameless:
            self._nameless.add(name)
        enough = min(IN_A_ROW, max(2, len(self._good))) if self._good else IN_A_ROW
        if len(self._row) >= enough:
            self._doubt()

    def takes(self, visit: Visit, outcome: str, under_way: int = 1) -> bool:
        """Take a visit that is to end so, if it isn't known yet whose failure, or answer, it is.

        So many visits are ``under_way``, this one and those that wait here included.
        """
        waits = self.waiting.get(visit.lease.id)
        if waits is not None and waits.visit is visit:
            return True
        if self._internet.is_frozen:
            return self._takes_silence(visit, outcome)
        if self._was_lied_to(visit):
            self._give_back(visit)
            return True
        if self._takes_silence(visit, outcome):
            return True
        if visit.cookies:  # nobody else knows what its server gave out
            return False
        others = under_way > len(self.waiting) + 1
        is_taken = self._likeness.takes(visit, outcome, self._internet.now(), others=others)
        if is_taken and (self._likeness.next_due is not None or self._likeness.suspect is not None):
            self._look_or_wait()
        return is_taken

    def _was_lied_to(self, visit: Visit) -> bool:
        """Tell whether what a visit brought may be the network's, as what was held was."""
        if self._since is not None and self._likeness.suspect is not None:
            return True
        return visit.since < self.lied_until and bool(visit.attempts)

    def _takes_silence(self, visit: Visit, outcome: str) -> bool:
        doubtful = self._nameless if outcome == Outcome.NAME_NOT_RESOLVED else self._row
        if outcome not in _SILENCE or not doubtful:
            return False
        if self._since is None and visit.since >= self._back:
            self._held.append(_Held(visit, outcome, self._internet.now()))
            self._check_names()
        else:  # it was asked for while the network was away, or failed then
            self._give_back(visit)
        return True

    def _look_or_wait(self) -> None:
        """Look at the network if there is a suspect; or see later what is to be believed then."""
        due = self._likeness.next_due
        if self._likeness.suspect is not None:
            self._doubt()
            self.paused |= len(self.waiting) >= MANY or self._likeness.weight > HEAVY
        elif due is not None and (self._ticking is None or due < self._tick_at):
            if self._ticking is not None:
                self._ticking.cancel()
            wait = max(0.0, due - self._internet.now())
            self._ticking = asyncio.get_running_loop().call_later(wait, self._tick)
            self._tick_at = due

    def _tick(self) -> None:
        self._ticking = None
        before = len(self.waiting)
        self._likeness.believe_due(self._internet.now())
        self._look_or_wait()
        if len(self.waiting) < before:
            self.resumed()

    def settle(self) -> None:
        """See whose the failures are: nothing else runs that could show it.

        Servers that answered before are knocked at. If there are no others, the failures are taken
        for the servers' own. They still count in the row: few requests at a time are no reason not
        to doubt the network.
        """
        if self._looking is not None or not self._held:
            return
        if self._good.keys() - self._row.keys():
            self._doubt()
        else:
            self._end_held()

    def _end_held(self, upto: float = inf) -> None:
        """End the visits that are held, and failed by then, but those whose names are checked."""
        checks = self._asking is not None
        self._end_those(lambda held: held.at <= upto and not (held.is_nameless and checks))

    def _end_those(self, ends: Callable[[_Held], bool]) -> None:
        """End those held visits of which that is so."""
        all_held, self._held = self._held, []
        for held in all_held:
            if ends(held):
                self._end(held.visit, held.outcome)
            else:
                self._held.append(held)

    def _check_names(self) -> None:
        named = [url for url in self._good.values() if tld(url.hostname)]
        if self._nameless and named and self._asking is None and self._looking is None:
            self._asking = asyncio.ensure_future(self._ask(named[-1]))

    async def _ask(self, good: Url) -> None:
        """See whether names are found at all: if so, those that weren't have no address."""
        asked, held = set(self._nameless), self.held
        is_found = await self._internet.finds(good)
        self._asking = None
        if self._looking is not None:
            return  # that shows it
        if not is_found:
            self._doubt()
            return
        self._nameless -= asked
        self._row = {name: at for name, at in self._row.items() if name not in asked}
        self._end_those(lambda one: one.is_nameless and one.visit.lease.id in held)
        self._check_names()
        self.resumed()

    def _doubt(self) -> None:
        if self._looking is None:
            self.paused = self._likeness.suspect is None
            self._looking = asyncio.ensure_future(self._look())

    async def _look(self) -> None:
        wait = FIRST
        began = looked = self._internet.now()
        while not await self._is_there():
            if self._since is None:
                self._leave(began)
            elif 0 < self._longest < self.offline:
                self._stop()
                return
            elif self._has_waited_in_vain():
                logger.warning(
                    "these answers are believed now: no page is known that was different before"
                )
                break
            await asyncio.sleep(wait)
            wait = min(2 * wait, LONGEST)
            looked = self._internet.now()
        if self._since is not None:
            logger.warning("online again after %.0f s: the crawl goes on", self.offline)
            self._back = self._internet.now()
        if self._likeness.suspect is not None:
            await self._judge(began)
        self.paused, self._since, self._looking = False, None, None
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None
        self._forget_silence(looked)
        self._nameless.clear()
        self._end_held(looked)
        self._look_or_wait()
        self.resumed()

    async def _judge(self, began: float) -> None:
        """Believe the answers that are held, or give them back if the network has lied."""
        now, is_over = self._internet.now(), self._since is None
        if self._has_waited_in_vain():
            self._likeness.acquit(now, for_good=True)
            return
        if is_over and await self._are_said_again():
            self._likeness.acquit(now)
            return
        for visit in self._likeness.condemn(now, is_over=is_over):
            self._give_back(visit)
        self.lied_until = self._internet.now()
        self._internet.forget()
        self.distrusted(began - BEFORE)

    def _has_waited_in_vain(self) -> bool:
        suspect = self._likeness.suspect
        return suspect is not None and self.offline > PATIENCE and not self._known_unlike(suspect)

    async def _are_said_again(self) -> bool:
        """Tell whether a server that gave a suspect answer gives it again: the network is there."""
        suspect = self._likeness.suspect
        for address in self._likeness.urls(suspect or 0)[-1:]:
            if (url := parse(address)) is not None and suspect is not None:
                sign = await self._internet.sign(url)
                return sign is None or is_like(sign, suspect)
        return True

    def _leave(self, began: float) -> None:
        """Find that this machine is offline."""
        self.paused, self._since = True, began
        suspect = self._likeness.suspect
        if suspect is not None:
            logger.warning(
                "offline: %d registered domains in a row gave the same answer, and so does "
                "everything that is requested again; something else answers for the servers. The "
                "crawl waits, and nothing is lost",
                len(self._likeness.sites(suspect)),
            )
        else:
            logger.warning(
                "offline: %d registered domains in a row didn't answer, or their names weren't "
                "found, and servers that answered before don't answer either. The crawl waits, "
                "and nothing is lost",
                len(self._row),
            )
        held, self._held = self._held, []
        for one in held:
            self._give_back(one.visit)

    async def _is_there(self) -> bool:
        """Tell whether a server answers, for itself if there is a suspect."""
        suspect = self._likeness.suspect
        return await (self._opens() if suspect is None else self._is_honest(suspect))

    async def _is_honest(self, suspect: int) -> bool:
        """Tell whether a page that is known is as it was, or none is like the suspect answers."""
        known = self._known_unlike(suspect)
        if not known:
            return not await self._are_many_strangers_like(suspect)
        first, sign = known[0]
        found = await self._internet.sign(first)
        if found is not None and is_like(found, sign):
            return True
        others = await asyncio.gather(*(self._internet.sign(url) for url, _ in known[1:]))
        signs = [(found, sign), *zip(others, (sign for _, sign in known[1:]), strict=True)]
        answers = [(seen, before) for seen, before in signs if seen is not None]
        if any(is_like(seen, before) for seen, before in answers):
            return True
        return any(not is_like(seen, suspect) for seen, _ in answers)

    def _known_unlike(self, suspect: int) -> list[tuple[Url, int]]:
        """Return the pages that are known, the latest first, and weren't like the suspect."""
        return [
            (url, sign)
            for address, sign in reversed(self._likeness.known.values())
            if not is_like(sign, suspect) and (url := parse(address)) is not None
        ]

    async def _are_many_strangers_like(self, suspect: int) -> bool:
        """Tell whether enough domains are like the suspect, and pages that there aren't as well."""
        sites = self._likeness.sites(suspect)
        seeds = [url for url in self._some_seeds() if site(url.hostname) not in sites]
        if len(sites | {site(url.hostname) for url in seeds}) < IN_A_ROW:
            return False
        addresses = self._likeness.urls(suspect)[-2:]
        none = [parse(urljoin(address, f"/{token_hex(8)}.html")) for address in addresses]
        for urls in (seeds, [url for url in none if url is not None]):
            signs = await asyncio.gather(*(self._internet.sign(url) for url in urls))
            if any(sign is not None and not is_like(sign, suspect) for sign in signs):
                return False
        return True

    async def _opens(self) -> bool:
        """Tell whether a server opens its port that should."""
        urls = list(reversed(self._good.values()))
        if urls and await self._internet.opens(urls.pop(0)):  # mostly that is enough
            return True
        if len(urls) < PROBED - 1:
            urls += self._some_seeds()
        knocks = [asyncio.ensure_future(self._internet.opens(url)) for url in urls]
        try:
            for knock in asyncio.as_completed(knocks):
                if await knock:
                    return True
            return False
        finally:
            for task in knocks:
                task.cancel()

    def _some_seeds(self) -> list[Url]:
        seeds = sample(self._seeds, min(2 * PROBED, len(self._seeds)))
        urls = [url for seed in seeds if (url := self.in_scope(seed)) is not None]
        return urls[:PROBED]

    def close(self) -> None:
        """Look no more; what nothing speaks against is believed."""
        self._likeness.believe_due(self._internet.now(), at_rest=True)
        for task in (self._looking, self._asking, self._ticking):
            if task is not None:
                task.cancel()
        self.paused, self._looking, self._asking, self._ticking = False, None, None, None
