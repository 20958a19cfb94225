"""Exchange: a worker's part in a crawl that many share, once a second and a little in between.

Mercator, UbiCrawler and BUbiNG give each agent the sites of its hash, with a store of its own; only
links travel. So here: nobody waits for Redis, and one that loses all, or is an older copy, is
filled again. Each worker tells what it sent to whom, and what it got of whom; what is missing after
all was read is sent once more. So nothing is lost, and nothing is taken twice.
"""

from __future__ import annotations

import logging
from collections import deque
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from lswc.errors import AwayError, LostStoreError
from lswc.frontier.exchange import status as statuses
from lswc.frontier.exchange.arrivals import Arrivals
from lswc.frontier.exchange.ending import Ending
from lswc.frontier.exchange.joining import is_younger
from lswc.frontier.exchange.letters import Letters
from lswc.frontier.exchange.neighbours import Neighbours
from lswc.frontier.exchange.ownership import Ownership
from lswc.frontier.exchange.post import POINTS, Parcel, stamp_of
from lswc.frontier.exchange.status import Elsewhere, Status, summed
from lswc.frontier.rules.contract import FrontierError

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from lswc.frontier.exchange.joining import Membership
    from lswc.frontier.exchange.post import Mail, Post
    from lswc.frontier.store.frontier import Frontier

BEAT = 1.0
"""Seconds between two statuses."""

AT_ONCE = 0.02
"""Seconds of work in one turn: pages are fetched between."""

SURE = 3
"""Statuses of another process that goes on, before two are taken to be one worker."""

logger = logging.getLogger(__name__)


class Exchange:
    """What this worker sends, takes and gives. ``turn`` is called ten times a second, or more.

    ``run`` begins what talks to Redis, and returns its future: it is done in a thread where there
    is a loop. ``asked`` is given what people ask this worker, and doesn't wait until that is
    answered.

    ``control`` is what people instruct the crawl to do, as it was heard last, or is kept here.
    """

    def __init__(
        self,
        frontier: Frontier,
        post: Post,
        membership: Membership,
        run: Callable[[Callable[[], Mail]], Future[Mail]],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._frontier, self.post, self._run = frontier, post, run
        self.me, self._name, self._process, self._crawl, owners = membership
        self._clock = clock
        self.others = Neighbours(self.me, owners)
        self._letters = Letters(frontier, self.others)
        self.arrivals = Arrivals(frontier, self.others, clock)
        self.ownership = Ownership(frontier, self.others, self._name, clock)
        self._ending = Ending(frontier, self.others, self.arrivals, self.ownership)
        self.asked: Callable[[bytes], None] = lambda question: None
        self._future: Future[Mail] | None = None
        self._next = 0.0
        self._beat = 0
        self._news = b""
        self._points: deque[bytes] = deque(maxlen=POINTS)
        self._points_sent = 0
        self.control: bytes | None = None
        self._heard_control: bytes | None = None
        with suppress(AwayError):  # then what is kept in the folder is in force
            self.control = self._heard_control = post.control()
        self._reclaims = False
        self._second_beats, self._second_beat = 0, -1
        frontier.hear(Elsewhere(waits=True))
        self.away: str = ""
        """Why Redis can't be reached; "" while it can."""

    def turn(self) -> bool:
        """Do what is due; tell whether URLs came that may be asked for. Raises LswcError."""
        now = self._clock()
        self._collect_if_done(now)
        before = self._frontier.pending
        self.arrivals.take(now + AT_ONCE)
        self.ownership.go_on(now + AT_ONCE)
        if self._future is None and now >= self._next:
            self._begin(now)
        return bool(self._frontier.pending > before)

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to fetch anywhere, or under way between workers."""
        return self._ending.is_over

    @property
    def waiting(self) -> int:
        """How many links to other workers' sites haven't arrived."""
        return int(self._frontier.outbox.links)

    def close(self) -> None:
        """Tell that this worker ends; what wasn't sent waits in its folder."""
        if self._future is not None:
            self._future.exception()
            self._future = None
        try:
            self.post.deliver(self._parcel(self._clock(), has_ended=True))
        except AwayError as error:
            logger.warning("%s: the other workers don't hear that this one ends", error)

    def _begin(self, now: float) -> None:
        self._next = now + BEAT
        parcel = self._parcel(now)
        self._future = self._run(lambda: self.post.deliver(parcel))
        self._collect_if_done(now)

    def _collect_if_done(self, now: float) -> None:
        future = self._future
        if future is None or not future.done():
            return
        self._future = None
        try:
            mail = future.result()
        except AwayError as error:
            if not self.away:
                logger.warning("%s; this worker goes on with its own sites", error)
            self.away = str(error)
            self._letters.forget()
            self.arrivals.forget()
            return
        if self.away:
            logger.warning("Redis is back: what waited in the outbox is sent")
            self.away = ""
        self._hear(mail, now)

    # What is sent

    def _parcel(self, now: float, *, has_ended: bool = False) -> Parcel:
        letters = self._letters.next()  # first: the status says what was sent
        self._beat += 1
        owners, expected = self.ownership.proposed or (None, 0)
        self.ownership.proposed = None
        self._points_sent = len(self._points)
        is_newer = stamp_of(self.control) > stamp_of(self._heard_control)
        return Parcel(
            self.me,
            statuses.encode(self._status(now, has_ended=has_ended)),
            self._crawl,
            self.others.owners,
            letters,
            self.arrivals.position,
            self.arrivals.kept(),
            owners,
            expected,
            self._reclaims,
            self._news,
            list(self._points),
            (self.control or b"") if is_newer else b"",
            has_ended,
        )

    def _status(self, now: float, *, has_ended: bool) -> Status:
        frontier = self._frontier
        with frontier.reading() as reader:
            cells, missed = reader.cells(), reader.missed_by_cell()
        later, tallies = frontier.later, frontier.tallies()
        choice = frontier.choice
        return Status(
            self.me,
            self._name,
            self._process,
            self._beat,
            self.others.owners.version,
            frontier.outbox.own,
            dict(self._letters.sent),
            dict(frontier.inbox.received),
            dict(self.arrivals.durable),
            dict(self.arrivals.missing),
            choice.best,
            choice.since_best(now),
            [(c.cell, *c.pages, c.pending) for c in cells],
            missed,
            {kind: dict(names) for kind, names in tallies.items()},
            frontier.unfinished - later,
            frontier.leased,
            frontier.has_seeds,
            frontier.outbox.links,
            sum(tallies.get("finished", {}).values()),
            frontier.requisites,
            has_ended,
        )

    # What is heard

    def _hear(self, mail: Mail, now: float) -> None:
        self._reclaims = False
        if mail.crawl != self._crawl:
            if is_younger(mail.crawl, self._crawl):
                self._reclaims = True
                self._next = now
                return
            raise LostStoreError(
                f"Redis has another crawl named {self.post.name} than this worker's: "
                "name this one's Redis, or another LSWC_REDIS_KEY"
            )
        self._see_whether_alone(mail.own)
        self._hear_people(mail)
        self.others.hear(mail.statuses, now)
        self.ownership.hear(mail.owners)
        self.arrivals.queue(mail)
        self._letters.forget_what_arrived()
        self._ending.look(now)
        self._learn(now)
        for question in mail.questions:
            self.asked(question)
        if mail.questions or not mail.is_all:
            self._next = now

    def tell(self, snapshot: str, point: str) -> None:
        """Send a snapshot (JSON) with the next parcel, and a point of the course, "" for none."""
        self._news = snapshot.encode()
        if point:
            self._points.append(point.encode())

    def _hear_people(self, mail: Mail) -> None:
        """Take notice of what people instruct, unless Redis is an older copy than this worker's."""
        for _ in range(min(self._points_sent, len(self._points))):
            self._points.popleft()
        self._points_sent = 0
        self._heard_control = mail.control
        if mail.control is not None and stamp_of(mail.control) >= stamp_of(self.control):
            self.control = mail.control

    def _see_whether_alone(self, own: bytes | None) -> None:
        """Raise FrontierError if another process writes this worker's status, too.

        An older copy of Redis has one of an earlier process, but it doesn't go on.
        """
        before = statuses.decode(own) if own is not None else None
        if before is None or before.run == self._process or self._beat == 1:
            return
        self._second_beats += before.beat > self._second_beat >= 0
        self._second_beat = before.beat
        if self._second_beats >= SURE:
            raise FrontierError(
                f"two processes are worker {self.me} of {self.post.name}: {self._name} and "
                f"{before.name}; give each a folder of its own"
            )

    def _learn(self, now: float) -> None:
        """Take notice of what is best elsewhere, and of what was learned there."""
        frontier = self._frontier
        status, alive = self.others.statuses, self.others.alive(now)
        elsewhere = summed(status.values(), alive, waits=not self.is_over)
        bests = [best for n in alive if (best := status[n].best) is not None]
        best = min(bests, key=frontier.order.rank, default=None)
        since = min((status[n].since_best for n in alive), default=float("inf"))
        frontier.choice.heard(best, since, now)
        frontier.hear(elsewhere)
