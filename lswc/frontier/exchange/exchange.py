"""Exchange: a worker's part in a crawl that many share, once a second and a little in between.

Mercator, UbiCrawler and BUbiNG give each agent the sites of its hash, with a store of its own; only
links travel. So here: nobody waits for Redis, and one that loses all, or is an older copy, is
filled again. Each worker tells what it sent to whom, and what it got of whom; what is missing after
all was read is sent once more. So nothing is lost, and nothing is taken twice.
"""

from __future__ import annotations

import json
import logging
from collections import defaultdict, deque
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from lswc.errors import AwayError, LostStoreError
from lswc.frontier.contract import FrontierError
from lswc.frontier.exchange import status as statuses
from lswc.frontier.exchange.joining import is_younger
from lswc.frontier.exchange.messages import unpack
from lswc.frontier.exchange.outbox import Held, State
from lswc.frontier.exchange.post import POINTS, Parcel, stamp_of
from lswc.frontier.exchange.status import Elsewhere, Status, summed
from lswc.plurals import numbered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

    from lswc.frontier.exchange.joining import Membership
    from lswc.frontier.exchange.outbox import Sendable
    from lswc.frontier.exchange.owners import Owners
    from lswc.frontier.exchange.post import Entry, Mail, Post
    from lswc.frontier.sqlite import SqliteFrontier

BEAT = 1.0
"""Seconds between two statuses."""

LIVES = 10.0
"""A worker that told nothing for so many seconds isn't running."""

STAYS = 90.0
"""Seconds that a worker with nothing to do waits for one that isn't running."""

AT_ONCE = 0.02
"""Seconds of work in one turn: pages are fetched between."""

SURE = 3
"""Statuses of another process that goes on, before two are taken to be one worker."""

MESSAGES, LINKS_TOGETHER = 200, 400
"""Messages to a worker that are read at once, and links of those that are sent, and taken,
together: some 20 ms of a worker's time."""

IN_FLIGHT = 20_000
"""Links to a worker that were sent and that it hasn't got: what Redis must have room for."""

MOST_KEPT = 5_000_000
"""Links that may wait in the outbox, about 1 GB, before this worker asks for no more pages."""

logger = logging.getLogger(__name__)


class Exchange:
    """What this worker sends, takes and gives. ``turn`` is called ten times a second, or more often.

    ``run`` begins what talks to Redis, and returns its future: it is done in a thread where there
    is a loop. ``saves`` makes the crawl's files and its frontier outlast a power cut, and tells
    whether that is done; ``resends`` yields steps that offer once more what the log has of links to
    some parts. ``asked`` is given what people ask this worker, and doesn't wait until that is
    answered.

    ``control`` is what people instruct the crawl to do, as it was heard last, or is kept here.
    """

    def __init__(
        self,
        frontier: SqliteFrontier,
        post: Post,
        membership: Membership,
        run: Callable[[Callable[[], Mail]], Future[Mail]],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._frontier, self.post, self._run = frontier, post, run
        self._outbox, self._inbox = frontier.outbox, frontier.inbox
        self.me, self._name, self._process, self._crawl = membership[:4]
        self._clock = clock
        self.saves: Callable[[], bool] = self._save
        self.resends: Callable[[frozenset[int]], Iterator[bool]] = lambda parts: iter(())
        self.asked: Callable[[bytes], None] = lambda question: None
        self.owners = membership.owners
        self._proposed: tuple[Owners, int] | None = None
        self._future: Future[Mail] | None = None
        self._next = 0.0
        self._beat = 0
        self.told: dict[int, Status] = {}
        self._lived: dict[int, tuple[int, float]] = {}
        self._sent: dict[int, int] = {}
        self._links_sent: defaultdict[int, deque[tuple[int, int]]] = defaultdict(deque)
        self._expected = dict(self._inbox.received)
        self._missing: dict[int, int] = {}
        self._entries: deque[Entry] = deque()
        self._position = b"0-0"
        self._taken: list[bytes] = []
        self._kept: list[bytes] = []
        self._durable = dict(self._inbox.received)
        self._saved = self._began = clock()
        self._giving: Iterator[bool] | None = None
        self._resending: Iterator[bool] | None = None
        self._news = b""
        self._points: deque[bytes] = deque(maxlen=POINTS)
        self._points_sent = 0
        self.control: bytes | None = None
        self._heard_control: bytes | None = None
        with suppress(AwayError):  # then what is kept in the folder is in force
            self.control = self._heard_control = post.control()
        self._idle_since: float | None = None
        self._look: object = None
        self._reclaims = False
        self._others, self._other_beat = 0, -1
        self.is_over = False
        frontier.hear(Elsewhere(waits=True))
        self.away: str = ""
        """Why Redis can't be reached; "" while it can."""

    def turn(self) -> bool:
        """Do what is due; tell whether URLs came that may be asked for. Raises LswcError."""
        now = self._clock()
        if self._future is not None and self._future.done():
            self._collect(now)
        before: int = self._frontier.pending
        self._take(now + AT_ONCE)
        self._give(now + AT_ONCE)
        if self._future is None and now >= self._next:
            self._begin(now)
        after: int = self._frontier.pending
        return after > before

    def _save(self) -> bool:
        if not self._frontier.prepare_checkpoint():
            return False
        self._frontier.checkpoint()
        return True

    @property
    def waiting(self) -> int:
        """How many links to other workers' sites haven't arrived."""
        return self._outbox.links

    @property
    def is_full(self) -> bool:
        """Whether so much waits to be sent that no more pages should be asked for."""
        return self._outbox.links > MOST_KEPT

    def close(self) -> None:
        """Tell that this worker ends; what wasn't sent waits in its folder."""
        if self._future is not None:
            self._future.exception()
            self._future = None
        try:
            self.post.deliver(self._parcel(self._clock(), has_ended=True))
        except AwayError as error:
            logger.warning("%s: the other workers aren't told that this one ends", error)

    def _begin(self, now: float) -> None:
        self._next = now + BEAT
        parcel = self._parcel(now)
        self._future = self._run(lambda: self.post.deliver(parcel))
        if self._future.done():
            self._collect(now)

    def _collect(self, now: float) -> None:
        future, self._future = self._future, None
        assert future is not None
        try:
            mail = future.result()
        except AwayError as error:
            if not self.away:
                logger.warning("%s; this worker goes on with its own sites", error)
            self.away = str(error)
            self._sent.clear()  # nobody knows what of it arrived
            self._entries.clear()
            self._forget_unread()
            return
        if self.away:
            logger.warning("Redis is back: what waited in the outbox is sent")
            self.away = ""
        self._hear(mail, now)

    def _forget_unread(self) -> None:
        """Read the stream from its beginning again; what was taken is known by its numbers."""
        self._position = b"0-0"
        self._expected = dict(self._inbox.received)

    # What is sent

    def _parcel(self, now: float, *, has_ended: bool = False) -> Parcel:
        letters = [
            (worker, after, messages)
            for worker in self._outbox.addressed()
            for after, messages in self._letters(worker)
        ]
        self._beat += 1
        owners, expected = self._proposed or (None, 0)
        self._proposed = None
        kept, self._kept = self._kept, []
        self._points_sent = len(self._points)
        is_newer = stamp_of(self.control) > stamp_of(self._heard_control)
        return Parcel(
            self.me,
            statuses.encode(self._status(now, has_ended=has_ended)),
            self._crawl,
            self.owners,
            letters,
            self._position,
            kept,
            owners,
            expected,
            self._reclaims,
            self._news,
            list(self._points),
            (self.control or b"") if is_newer else b"",
            has_ended,
        )

    def _letters(self, worker: int) -> Iterator[tuple[int, list[tuple[int, bytes]]]]:
        """Yield what is sent to a worker next: after which number, and messages."""
        told = self.told.get(worker)
        if told is None or worker in self.owners.lost:
            return  # it is not known yet what it got
        got = told.got.get(self.me, 0)
        sent = max(self._sent.get(worker, 0), got)
        if 0 < told.missing.get(self.me, 0) <= sent:
            sent = got
            self._links_sent[worker].clear()
        in_flight = self._links_sent[worker]
        while in_flight and in_flight[0][0] <= got:
            in_flight.popleft()
        room = IN_FLIGHT - sum(links for _, links in in_flight)
        while room > 0 and (waiting := self._outbox.waiting(worker, sent, MESSAGES)):
            for few in _together(waiting):
                yield sent, [(one.id, one.message) for one in few]
                sent = self._sent[worker] = few[-1].id
                links = sum(one.links for one in few)
                in_flight.append((sent, links))
                room -= links + 1

    def _status(self, now: float, *, has_ended: bool) -> Status:
        frontier = self._frontier
        cells = frontier.cells()
        later, tallies = frontier.later, frontier.tallies()
        choice = frontier.choice
        return Status(
            self.me,
            self._name,
            self._process,
            self._beat,
            self.owners.version,
            self._outbox.own,
            dict(self._sent),
            dict(self._inbox.received),
            dict(self._durable),
            dict(self._missing),
            choice.best,
            choice.since_best(now),
            [(c.cell, *c.pages, c.pending) for c in cells],
            {kind: dict(names) for kind, names in tallies.items()},
            frontier.unfinished - later,
            frontier.leased,
            frontier.has_seeds,
            self._outbox.links,
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
        self.told = {
            number: statuses.decode(packed)
            for number, packed in mail.statuses.items()
            if number != self.me
        }
        for number, told in self.told.items():
            beat, _ = self._lived.get(number, (-1, 0.0))
            if told.beat != beat:
                self._lived[number] = told.beat, now
        self._take_notice_of_owners(mail.owners)
        self._queue(mail)
        self._forget_what_arrived()
        self._see_whether_over(now)
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
        self._others += before.beat > self._other_beat >= 0
        self._other_beat = before.beat
        if self._others >= SURE:
            raise FrontierError(
                f"two processes are worker {self.me} of {self.post.name}: {self._name} and "
                f"{before.name}; give each a folder of its own"
            )

    def alive(self, now: float) -> list[int]:
        """Return the other workers that run."""
        return [
            number
            for number, told in self.told.items()
            if not told.has_ended and now - self._lived[number][1] < LIVES
            and number not in self.owners.lost
        ]  # fmt: skip

    def _queue(self, mail: Mail) -> None:
        """Take notice of entries that came, and of what is missing between them and after."""
        gaps = set()
        for entry in mail.entries:
            self._position = entry.position
            last = entry.messages[-1][0]
            expected = self._expected.get(entry.worker, 0)
            if entry.after > expected:
                gaps.add(entry.worker)  # what lies between was lost: it comes again
                self._taken.append(entry.position)
            else:
                self._entries.append(entry)
                self._expected[entry.worker] = max(expected, last)
        if not mail.is_all:
            return
        self._missing = {
            number: told.sent[self.me]
            for number, told in self.told.items()
            if number not in self.owners.lost
            and told.sent.get(self.me, 0) > self._expected.get(number, 0)
        }
        if self._missing:  # of a Redis that was replaced, whose clock may go behind
            self._position = b"0-0"

    def _take(self, until: float) -> None:
        """Take messages that came, as many as there is time for."""
        while self._entries:
            entry = self._entries.popleft()
            with self._frontier.transaction():
                self._inbox.receive(entry.worker, entry.messages)
            self._taken.append(entry.position)
            if self._clock() > until:
                break
        now = self._clock()
        if self._taken and now - self._saved > 2 * BEAT and self.saves():
            self._saved = now
            self._durable = dict(self._inbox.received)
            self._kept += self._taken
            self._taken = []

    def _forget_what_arrived(self) -> None:
        arrived = {
            number: kept
            for number, told in self.told.items()
            if (kept := told.kept.get(self.me, 0))
        }
        if arrived and self._outbox.links | len(self._outbox.parts):
            with self._frontier.transaction():
                for number, kept in arrived.items():
                    self._outbox.arrived(number, kept)

    def _learn(self, now: float) -> None:
        """Take notice of what is best elsewhere, and of what was learned there."""
        frontier = self._frontier
        alive = self.alive(now)
        elsewhere = summed(self.told.values(), alive, waits=not self.is_over)
        bests = [best for n in alive if (best := self.told[n].best) is not None]
        best = min(bests, key=frontier.order.rank, default=None)
        since = min((self.told[n].since_best for n in alive), default=float("inf"))
        frontier.choice.heard(best, since, now)
        frontier.hear(elsewhere)

    # Who owns what

    def _take_notice_of_owners(self, found: Owners) -> None:
        before, owners = self.owners, self.owners.merged(found)
        if owners != before:
            self.owners = owners
            self._outbox.know(self.me, owners)
            with self._frontier.transaction():
                self._frontier.keep_membership(owners=msgspec.json.encode(owners).decode())
        if self.me in owners.lost:
            raise LostStoreError(
                f"{self._name} was called lost, and its sites were given to other workers: "
                "begin a new worker in another folder; its archive stays as it is"
            )
        own = set(self._outbox.own)
        claimed = {
            part
            for number, told in self.told.items()
            if number not in owners.lost
            for part in told.parts
        }
        taken = [
            part for part in self._lost_parts() if part not in claimed and self._is_nobodys(part)
        ]
        if taken:
            with self._frontier.transaction():
                for part in taken:
                    self._outbox.keep(part, Held(State.OWN))
            own |= set(taken)
        proposed = owners
        if not owners.knows(self.me):  # of a Redis that was set back to before it joined
            proposed = owners.joined(self.me)
        elif unknown := tuple(part for part in own if owners.of_part[part] != self.me):
            proposed = owners.owned(self.me, unknown)
        elif unseen := self._gone_unseen():
            proposed = owners.also_lost(*unseen)
        if proposed != found:
            version = max(proposed.version, found.version + 1)
            self._proposed = replace(proposed, version=version), found.version
        self._address_again()
        self._resend()
        self._forget_given()
        self._give_what_is_due()

    def _is_nobodys(self, part: int) -> bool:
        """Tell whether this worker has nothing of a part, or gave it to one whose disk is lost."""
        held = self._outbox.parts.get(part)
        return held is None or (held.state == State.GIVEN and held.worker in self.owners.lost)

    def _gone_unseen(self) -> tuple[int, list[int]] | None:
        """Return a lost worker with parts that it had, as nobody but their giver knows."""
        for worker, parts in self.owners.lost.items():
            unseen = [
                part
                for part, held in self._outbox.parts.items()
                if held.state == State.GIVEN
                and held.worker == worker
                and self.owners.of_part[part] == self.me
                and part not in parts
            ]
            if unseen:
                return worker, unseen
        return None

    def _lost_parts(self) -> list[int]:
        """Return the parts that this worker has instead of one whose disk is lost."""
        return [
            part
            for parts in self.owners.lost.values()
            for part in parts
            if self.owners.of_part[part] == self.me
        ]

    def _address_again(self) -> None:
        """Give to others, or take, what was meant for workers whose disks are lost."""
        owners, outbox = self.owners, self._outbox
        lost = [worker for worker in outbox.addressed() if worker in owners.lost]
        known = [part for part in outbox.late_parts if outbox.is_known(part)]
        if not (lost or known):
            return
        with self._frontier.transaction():
            for worker in lost:
                self._giving = None
                self._frontier.giving.abandon()
                for part, held in list(outbox.parts.items()):
                    if held.worker == worker:
                        outbox.keep(part, Held(State.OWN))
                for message in outbox.readdressed(worker):
                    self._inbox.take(unpack(message))
            for part in known:
                for _, message in outbox.take_late(part):
                    self._inbox.take(unpack(message))

    def _forget_given(self) -> None:
        """Forget the parts that another worker has said that it has."""
        gone = [
            part
            for part, held in self._outbox.parts.items()
            if held.state == State.GIVEN
            and self.owners.of_part[part] != self.me
            and self._durable_at(held.worker) >= held.last
        ]
        if gone:
            with self._frontier.transaction():
                for part in gone:
                    self._outbox.keep(part, None)

    def _durable_at(self, worker: int) -> int:
        told = self.told.get(worker)
        return 0 if told is None else told.kept.get(self.me, 0)

    def _give_what_is_due(self) -> None:
        """Begin to give what others are to have, or go on with it after a restart."""
        if self._giving is not None:
            return
        giving, now = self._frontier.giving, self._clock()
        if not giving.leaving:
            alive = set(self.alive(now))
            heirs = {
                part: heir
                for part, held in self._outbox.parts.items()
                if held.state == State.OWN and (heir := self.owners.heirs[part]) in alive
            }
            if not heirs:
                return
            giving.begin(heirs)
            logger.info(
                "%s of the sites: given to %s", numbered(len(heirs), "part"),
                ", ".join(f"worker {heir}" for heir in sorted(set(heirs.values()))),
            )  # fmt: skip
        self._giving = giving.steps()

    def _give(self, until: float) -> None:
        """Go on with what is given, and with what is read of the log."""
        self._giving = _gone_on(self._giving, until, self._clock)
        self._resending = _gone_on(self._resending, until, self._clock)

    def _resend(self) -> None:
        """Offer once more what the log has of links to parts whose worker lost its disk."""
        if self._resending is not None:
            return
        kept = self._frontier.membership().get("resent", "{}")
        done = {int(worker): set(parts) for worker, parts in json.loads(kept).items()}
        lost = {worker: set(parts) for worker, parts in self.owners.lost.items()}
        new = {worker for worker, parts in lost.items() if parts - done.get(worker, set())}
        if new:
            parts = frozenset(
                part for worker in new for part in lost[worker] - done.get(worker, set())
            )
            logger.info("%s are sent again what this one's log has for them",
                        numbered(len(parts), "lost part"))  # fmt: skip
            self._resending = self._resent(new, parts)

    def _resent(self, lost: set[int], parts: frozenset[int]) -> Iterator[bool]:
        kept = {worker: list(self.owners.lost[worker]) for worker in self.owners.lost}
        for worker in lost:
            self._frontier.fetch_again(worker)
            yield True
        yield from self._frontier.giving.known(parts)
        yield from self.resends(parts)
        with self._frontier.transaction():
            self._frontier.keep_membership(resent=json.dumps(kept))

    # The end

    def _see_whether_over(self, now: float) -> None:
        """See whether nothing is left anywhere, at two looks that agree."""
        frontier = self._frontier
        alive = self.alive(now)
        ended = {number for number, told in self.told.items() if told.has_ended}
        others = set(self.owners.members) - {self.me} - ended
        is_idle = not (
            frontier.unfinished - frontier.later
            or frontier.leased
            or self._entries
            or self._giving
            or self._resending
            or self._missing
            or any(worker in alive for worker in self._outbox.addressed())
        )
        is_idle &= all(not (self.told[n].waiting or self.told[n].leased) for n in alive)
        if not is_idle:
            self._idle_since = self._look = None
            self.is_over = False
            return
        self._idle_since = now if self._idle_since is None else self._idle_since
        if others <= set(alive):
            look = {n: (self.told[n].got, self.told[n].sent, self.told[n].finished) for n in alive}
            is_quiet = not any(self.told[n].outbox for n in alive)
            beats = {n: self.told[n].beat for n in alive}
            self.is_over = is_quiet and self._agrees(look, beats)
        elif now - self._idle_since > STAYS:
            if not self.is_over:
                gone = ", ".join(map(str, sorted(others - set(alive))))
                logger.warning("nothing is left to do here; not running: worker %s", gone)
            self.is_over = True

    def _agrees(self, look: dict[int, Any], beats: dict[int, int]) -> bool:
        """Tell whether all tell the same as at a look before, each a second time."""
        if isinstance(self._look, tuple) and self._look[0] == look:
            return all(beats[number] > beat for number, beat in self._look[1].items())
        self._look = look, beats
        return False


def _together(waiting: Iterable[Sendable]) -> Iterator[list[Sendable]]:
    """Yield messages that are sent together."""
    few: list[Sendable] = []
    links = 0
    for one in waiting:
        few.append(one)
        links += one.links
        if links >= LINKS_TOGETHER:
            yield few
            few, links = [], 0
    if few:
        yield few


def _gone_on(
    steps: Iterator[bool] | None, until: float, clock: Callable[[], float]
) -> Iterator[bool] | None:
    """Make some steps, as many as there is time for; return those that are left, None if none."""
    if steps is None:
        return None
    for can_go_on in steps:
        if not can_go_on or clock() > until:
            return steps
    return None
