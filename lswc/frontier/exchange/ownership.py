"""Ownership: which parts this worker has, gives, and takes over from one whose disk is lost."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from lswc.errors import LostStoreError
from lswc.frontier.exchange.messages import unpack
from lswc.frontier.exchange.outbox import Part, State
from lswc.plurals import numbered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lswc.frontier.exchange.neighbours import Neighbours
    from lswc.frontier.exchange.owners import Owners
    from lswc.frontier.store.frontier import Frontier

logger = logging.getLogger(__name__)


class Ownership:
    """Keeps this worker's parts, and the table, true to each other.

    ``proposed`` is a table to replace the one in Redis of that version, if any. ``resends`` yields
    steps that offer once more what the log has of links to some parts.
    """

    def __init__(
        self, frontier: Frontier, others: Neighbours, name: str, clock: Callable[[], float]
    ) -> None:
        self._frontier, self._outbox, self._inbox = frontier, frontier.outbox, frontier.inbox
        self._others, self._name, self._clock = others, name, clock
        self.resends: Callable[[frozenset[int]], Iterator[bool]] = lambda parts: iter(())
        self.proposed: tuple[Owners, int] | None = None
        self._giving: Iterator[bool] | None = None
        self._resending: Iterator[bool] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether parts are being given, or the log is read for those of a lost worker."""
        return self._giving is not None or self._resending is not None

    def hear(self, found: Owners) -> None:
        """Take notice of the table that Redis has, and do what follows. Raises LswcError."""
        before = self._others.owners
        owners = self._with_gone_unseen(before.merged(found))
        if owners != before:
            self._others.owners = owners
            self._outbox.know(self._others.me, owners)
            with self._frontier.transaction():
                self._frontier.sharing.keep_membership(owners=msgspec.json.encode(owners).decode())
        if self._others.me in owners.lost:
            raise LostStoreError(
                f"{self._name} was called lost, and its sites were given to other workers: "
                "begin a new worker in another folder; its archive stays as it is"
            )
        own = set(self._outbox.own)
        claimed = {
            part
            for number, status in self._others.statuses.items()
            if number not in owners.lost
            for part in status.parts
        }
        taken = [
            part for part in self._lost_parts() if part not in claimed and self._is_nobodys(part)
        ]
        if taken:
            with self._frontier.transaction():
                for part in taken:
                    self._outbox.keep(part, Part(State.OWN))
            own |= set(taken)
        proposed = owners.inherited()
        if not owners.knows(self._others.me):  # of a Redis that was set back to before it joined
            proposed = owners.joined(self._others.me)
        elif unknown := tuple(part for part in own if owners.of_part[part] != self._others.me):
            proposed = owners.owned(self._others.me, unknown)
        if proposed != found:
            version = max(proposed.version, found.version + 1)
            self.proposed = replace(proposed, version=version), found.version
        self._address_again()
        self._resend()
        self._forget_given()
        self._give_what_is_due()

    def _is_nobodys(self, part: int) -> bool:
        """Tell whether this worker has nothing of a part, or gave it to one whose disk is lost.

        Or to one that gave it on: the part came back in a later turn.
        """
        row, owners = self._outbox.parts.get(part), self._others.owners
        return row is None or (
            row.state == State.GIVEN
            and (row.worker in owners.lost or owners.turns[part] > row.turn)
        )

    def _with_gone_unseen(self, owners: Owners) -> Owners:
        """Return the table with what lost workers had and nobody but their giver knows.

        It is known at once, whatever the table in Redis says: the parts are this worker's own soon,
        and then nothing here tells any more that they were another one's.
        """
        for worker, parts in owners.lost.items():
            unseen = [
                part
                for part, row in self._outbox.parts.items()
                if row.state == State.GIVEN
                and row.worker == worker
                and owners.of_part[part] == self._others.me
                and part not in parts
            ]
            if unseen:
                owners = owners.also_lost(worker, unseen)
        return owners

    def _lost_parts(self) -> list[int]:
        """Return the parts that this worker has instead of one whose disk is lost."""
        return [
            part
            for parts in self._others.owners.lost.values()
            for part in parts
            if self._others.owners.of_part[part] == self._others.me
        ]

    def _address_again(self) -> None:
        """Give to others, or take, what was meant for workers whose disks are lost."""
        owners, outbox = self._others.owners, self._outbox
        lost = [worker for worker in outbox.addressed() if worker in owners.lost]
        known = [part for part in outbox.late_parts if outbox.is_known(part)]
        if not (lost or known):
            return
        with self._frontier.transaction():
            for worker in lost:
                self._giving = None
                self._frontier.giving.abandon()
                for part, row in list(outbox.parts.items()):
                    if row.worker == worker:
                        outbox.keep(part, Part(State.OWN))
                for message in outbox.readdressed(worker):
                    self._inbox.take(unpack(message))
            for part in known:
                for _, message in outbox.take_late(part):
                    self._inbox.take(unpack(message))

    def _forget_given(self) -> None:
        """Forget the parts that another worker has said that it has."""
        gone = [
            part
            for part, row in self._outbox.parts.items()
            if row.state == State.GIVEN
            and self._others.owners.of_part[part] != self._others.me
            and self._others.kept(row.worker) >= row.last
        ]
        if gone:
            with self._frontier.transaction():
                for part in gone:
                    self._outbox.keep(part, None)

    def _give_what_is_due(self) -> None:
        """Begin to give what others are to have, or go on with it after a restart."""
        if self._giving is not None:
            return
        giving, now = self._frontier.giving, self._clock()
        if not giving.leaving:
            alive, owners = set(self._others.alive(now)), self._others.owners
            # What came goes on only when all can know that it came: if its heir's disk is lost, who
            # gave it is asked.
            heirs = {
                part: heir
                for part, row in self._outbox.parts.items()
                if row.state == State.OWN
                and owners.of_part[part] == self._others.me
                and (heir := owners.heirs[part]) in alive
            }
            if not heirs:
                return
            giving.begin(heirs)
            logger.info(
                "%s of the sites: given to %s", numbered(len(heirs), "part"),
                ", ".join(f"worker {heir}" for heir in sorted(set(heirs.values()))),
            )  # fmt: skip
        self._giving = giving.steps()

    def go_on(self, until: float) -> None:
        """Go on with what is given, and with what is read of the log."""
        self._giving = _gone_on(self._giving, until, self._clock)
        self._resending = _gone_on(self._resending, until, self._clock)

    def _resend(self) -> None:
        """Offer once more what the log has of links to parts whose worker lost its disk."""
        if self._resending is not None:
            return
        kept = self._frontier.sharing.membership().get("resent", "{}")
        done = {int(worker): set(parts) for worker, parts in json.loads(kept).items()}
        lost = {worker: set(parts) for worker, parts in self._others.owners.lost.items()}
        new = {worker for worker, parts in lost.items() if parts - done.get(worker, set())}
        if new:
            parts = frozenset(
                part for worker in new for part in lost[worker] - done.get(worker, set())
            )
            logger.info("%s are sent again what this one's log has for them",
                        numbered(len(parts), "lost part"))  # fmt: skip
            self._resending = self._resent(parts)

    def _resent(self, parts: frozenset[int]) -> Iterator[bool]:
        kept = {
            worker: list(self._others.owners.lost[worker]) for worker in self._others.owners.lost
        }
        for worker in kept:
            self._frontier.sharing.fetch_again(worker)
            yield True
        self._frontier.sharing.take_back()
        yield True
        yield from self._frontier.giving.known(parts)
        yield from self.resends(parts)
        with self._frontier.transaction():
            self._frontier.sharing.keep_membership(resent=json.dumps(kept))


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
