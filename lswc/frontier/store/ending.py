"""Ends of leases: what a visit brought comes into a SQLite file in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.frontier.rules.contract import changed_of
from lswc.frontier.rules.revisited import became
from lswc.frontier.store.room import keep_left_out
from lswc.frontier.store.servers import keep_scored, learn, miss
from lswc.frontier.store.urls import keep_lengths
from lswc.outcomes import OF_QUOTA, Outcome, is_transient
from lswc.strategy import LearnedOrder

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from lswc.frontier.rules.contract import Wanted
    from lswc.frontier.rules.visit import Visit
    from lswc.frontier.store.file import File
    from lswc.frontier.store.leases import Leased

_MAY_RETURN = ("finished", "postponed")


class Ending:
    """Ends the leases of a file's URLs."""

    def __init__(self, file: File) -> None:
        self._file = file

    def commit(self, visit: Visit, lengths: Mapping[str, int] | None = None) -> bool:
        """Do what ``Frontier.commit`` does."""
        lease = self._file.leases.of(visit)
        if lease is None:
            return False
        seq = visit.lease.id
        if lease.again:
            self._commit_again(visit, lease, lengths)
            return True
        with self._file.transaction():
            self._end(visit, lease, visit.outcome, lengths)
            if visit.lease.tries:
                self._file.urls.postponed.forget(seq)
            counts = not self._file.urls.was_counted(seq)
            received, counted = visit.received, visit.counted
            if counts and counted is not None:
                self._count(visit.lease.cell, lease, counted, received)
            else:
                self._file.servers.receive(lease.server, received)
                if self._file.strategy.learns and visit.is_miss:
                    if counts and visit.is_dead_end:
                        self._miss(visit.lease.cell)
                    self._move(lease.server, self._file.servers.miss(lease.server))
            self._store(visit, lease)
            self._file.tallies.add("finished", visit.outcome)
            if counts:
                self._file.tallies.add_all(visit.tally)
            if self._file.revisited.is_on:
                site = self._file.lines.sizes.site(lease.server)
                self._file.revisited.first_visit(visit, site, self._file.urls.next_seq)
                self._file.revisited.hear(visit.dates, lease.server)
            if visit.outcome in OF_QUOTA:
                keep_left_out(self._file.db, {(lease.server, visit.outcome): 1})
        self._file.leases.end(visit)
        return True

    def postpone(self, visit: Visit, due: float, lengths: Mapping[str, int] | None = None) -> bool:
        """Do what ``Frontier.postpone`` does."""
        lease = self._file.leases.of(visit)
        if lease is None:
            return False
        if lease.again:
            self._commit_again(visit, lease, lengths)
            return True
        seq, postponed = visit.lease.id, self._file.urls.postponed
        with self._file.transaction():
            self._end(visit, lease, Outcome.POSTPONED, lengths)
            self._file.servers.receive(lease.server, visit.received)
            postponed.keep(seq, visit.lease.tries + is_transient(visit.outcome), visit.outcome)
            self._file.tallies.add("postponed", visit.outcome)
        postponed.wait(seq, due)
        self._file.leases.end(visit)
        return True

    def give_back(self, visit: Visit) -> bool:
        """Do what ``Frontier.give_back`` does."""
        lease = self._file.leases.of(visit)
        if lease is not None:
            self._file.leases.end(visit)
        return lease is not None

    def retry(self, outcomes: Collection[str], wanted: Wanted | None = None) -> int:
        """Do what ``Frontier.retry`` does."""
        tallies = self._file.tallies.by_kind
        if not any(tallies.get(kind, {}).get(o) for kind in _MAY_RETURN for o in outcomes):
            return 0  # without looking at every URL
        with self._file.transaction():
            revived, again = self._file.urls.postponed.revive(outcomes, wanted)
            for (server, outcome), number in revived.items():
                self._file.tallies.add("finished", outcome, -number)
                self._file.tallies.add("postponed", outcome, number)
                if outcome in OF_QUOTA:
                    keep_left_out(self._file.db, {(server, outcome): -number})
        return revived.total() + again

    def _store(self, visit: Visit, lease: Leased) -> None:
        """Store the links of a page: those to own sites, and those to be sent."""
        offers, outbox = visit.offers, self._file.outbox
        if outbox.is_shared:
            offers = outbox.divert(offers, visit.url, lambda: outbox.vouching(lease.server))
        self._file.urls.store(offers, visit.lease.id, self._file.lines.sizes.site(lease.server))

    def _commit_again(self, visit: Visit, lease: Leased, lengths: Mapping[str, int] | None) -> None:
        """End the visit of a page visited again: it is counted for no unit and no cell again."""
        with self._file.transaction():
            self._end(visit, lease, visit.outcome, lengths)
            self._file.servers.receive(lease.server, visit.received)
            self._store(visit, lease)
            self._file.revisited.visited(
                visit, self._file.lines.sizes.site(lease.server), became(visit)
            )
            self._file.revisited.hear(visit.dates, lease.server)
            self._file.tallies.add_all(visit.tally)
        self._file.leases.end(visit)

    def _end(
        self, visit: Visit, lease: Leased, outcome: str, lengths: Mapping[str, int] | None
    ) -> None:
        """Let a URL that was pending end so; that of a page visited again stays as it is."""
        seq = visit.lease.id
        if not lease.again:
            self._file.db.execute("UPDATE url SET outcome = ? WHERE seq = ?", (outcome, seq))
            self._file.lines.take(*self._file.lines.leased[seq])
        if visit.url != visit.lease.url:
            self._file.db.execute(
                "UPDATE url SET url = ? WHERE seq = ?", (visit.url, visit.lease.id)
            )
        changed = changed_of(lengths, self._file.lengths)
        keep_lengths(self._file.db, changed)
        self._file.lengths |= changed

    def _count(self, cell: int, lease: Leased, relevant: float, size: int) -> None:
        """Count a page, learn from it, and ask again the URLs of units that it moves."""
        learn(self._file.db, cell, relevant)
        if isinstance(self._file.order, LearnedOrder):
            scored = self._file.order.learn(cell, relevant)
            if scored:
                keep_scored(self._file.db)
            self._file.lines.reorder(None if scored else cell)
        if moved := self._file.servers.count(lease.server, lease.unit, relevant, size):
            self._move(lease.server, moved)

    def _miss(self, cell: int) -> None:
        """Learn from a URL of a cell that was asked for in vain."""
        miss(self._file.db, cell)
        self._file.order.miss(cell)
        self._file.lines.reorder(cell)

    def _move(self, server: int, moved: Mapping[int, int]) -> None:
        """Ask again the URLs of units of a server, or its site, that came into other places."""
        self._file.urls.discarded(
            sum(self._file.lines.move(server, unit, place) for unit, place in moved.items())
        )
