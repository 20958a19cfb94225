"""Rules of servers: robots.txt and tdmrep.json, fetched when they are needed, and cached."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.guest.decisions import Fails, Refuse
from lswc.guest.internet import ROBOTS, TDMREP, ClosingError
from lswc.guest.robots_txt import RobotsRules
from lswc.guest.rule_cache import STALE, RuleCache, lifetime
from lswc.guest.tdmrep import Reservations

if TYPE_CHECKING:
    from lswc.guest.decisions import Go
    from lswc.guest.internet import Answer, Internet
    from lswc.urls import Url


class ServerRules:
    """What servers say of being asked, and of what becomes of their pages.

    ``robot`` is the name for which robots.txt is read, "" if it isn't.
    """

    def __init__(self, internet: Internet, robot: str) -> None:
        self._internet = internet
        self.robot = robot
        self.robots: RuleCache[RobotsRules] = RuleCache(internet.now)
        self.reservations: RuleCache[Reservations] = RuleCache(internet.now)

    def crawl_delay(self, server: str) -> float:
        """Return the Crawl-delay of a server in seconds, as far as that is known."""
        rules = self.robots.get(server)
        return 0.0 if rules is None else rules.crawl_delay

    async def fetch_robots(self, url: Url) -> Refuse | Fails | None:
        """Fetch the robots.txt of a URL's server, or go on with the one before if that fails.

        Return what keeps it from being had. Raises what the network does.
        """
        before = self.robots.get(url.server)
        try:
            answer = await self._internet.fetch(url, ROBOTS, None)
        except ClosingError:
            raise
        except Exception:  # of the network, whatever it is: the page's own request will meet it
            if before is None:
                raise
            self.robots.put(url.server, before, STALE)
            return None
        if isinstance(answer, Refuse):
            return answer
        if not _fails(answer):
            body = answer.body if answer.status < 300 else b""
            self.robots.put(url.server, RobotsRules(body, self.robot), lifetime(answer))
        elif before is None:
            return Fails(answer)
        else:
            self.robots.put(url.server, before, STALE)
        return None

    async def fetch_reservations(self, url: Url, go: Go) -> None:
        """Fetch the tdmrep.json of a URL's server: one that can't be had says nothing."""
        try:
            answer = await self._internet.fetch(url, TDMREP, go)
        except ClosingError:
            raise
        except Exception:  # of the network, whatever it is
            self.reserves_nothing(url)
            return
        if isinstance(answer, Refuse) or answer.status >= 500:
            self.reserves_nothing(url)
            return
        rules = Reservations(answer.body if answer.status < 300 else b"")
        self.reservations.put(url.server, rules, lifetime(answer))

    def reserves_nothing(self, url: Url) -> None:
        """Take it for a while that a URL's server reserves nothing: it can't be asked."""
        self.reservations.put(url.server, Reservations(b""), STALE)


def _fails(answer: Answer) -> bool:
    return answer.status >= 500 or answer.status == 429
