"""Held pages in Redis: which is visited again next, and what its visits taught.

The script reads and writes, and leases (``redis.lua``); what is thought of a page is said here. The
budget is in Redis, one for all workers: whoever would make a visit says by what he knows of it that
he may, and it is made only if no other was faster.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from dataclasses import fields as fields_of
from itertools import chain, islice
from math import exp, log
from typing import TYPE_CHECKING, Any, NamedTuple

from lswc.frontier.contract import site_of
from lswc.frontier.held import (
    IDLE,
    ORDERED,
    SAID,
    Became,
    Claim,
    Claims,
    Held,
    Kind,
    first_held,
    first_wait,
    held_as,
    is_held_after,
    is_wanted,
    kind_of,
    learn,
    usual_of,
)
from lswc.frontier.redis_script import HELD, MARK, key_of, looked_up
from lswc.frontier.shards import known_by
from lswc.strategy.revisits import Budget, first_price, next_price
from lswc.urls import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lswc.frontier.contract import Terms
    from lswc.frontier.redis_script import Connection
    from lswc.frontier.visit import Lease, Visit
    from lswc.urls import Url

    Usual = tuple[float, float]
    Page = tuple[int, str]

LOOK = 1.0
"""Seconds between two looks, at most, while no page may be visited: how many are held changes."""

_RECORDED = 100  # pages that are held by one call
_HEARD = 500  # pages of a listing that are asked about by one call
_NOT_HELD = ("", "", "")

logger = logging.getLogger(__name__)


class Kept(NamedTuple):
    """What Redis keeps of a page that is held: its mark, what is known of it, its server."""

    mark: bytes
    held: Held
    server: str

    @property
    def page(self) -> Page:
        """Its kind and site, by which rates are known."""
        return int(self.held.kind), site_of(self.server)


@dataclass
class _Again:
    """A page that this worker visits again, and by what that changes the price's logarithm."""

    kept: Kept
    price: float


def packed(held: Held, server: str) -> bytes:
    """Return what is kept of a page, without its mark."""
    known = held.simhash is not None
    misses, seen = min(held.misses, 2**16 - 1), (held.visited, held.shape, held.days, held.seen)
    simhash = held.simhash or 0
    first = HELD.pack(
        misses, held.is_gone, held.kind, held.visits, *seen, known, simhash, held.claim, held.told
    )
    return first + server.encode()


def unpacked(kept: bytes, due: float, finds: int) -> Kept:
    """Return what is kept of a page."""
    misses, is_gone, kind, visits, visited, shape, days, seen, known, simhash, claim, told = (
        HELD.unpack_from(kept, MARK.size)
    )
    held = Held(
        visited, shape, days, finds, seen,
        Kind(kind), visits, misses, bool(is_gone), simhash if known else None, due,
        Claim(claim), told,
    )  # fmt: skip
    return Kept(kept[: MARK.size], held, kept[MARK.size + HELD.size :].decode())


def kept_pages(
    numbers: Iterable[bytes], found: Iterable[Sequence[Any]]
) -> list[tuple[int, bytes, Kept]]:
    """Return pages by their numbers, as they are kept; those that aren't held are left out.

    ``found`` is what the keys ``held``, ``due`` and ``finds`` have of them.
    """
    return [
        (int(number), kept, unpacked(kept, float(due), int(finds or 0)))
        for number, kept, due, finds in zip(numbers, *found, strict=True)
        if kept is not None and due is not None
    ]


def rates_of(page: Page) -> list[str]:
    """Return the fields of the rates of a page's kind, and of its site's pages of that kind."""
    names = [f"{what} {page[0]}" for what in ("changes", "new", "days")]
    return names + [f"{name} {page[1]}" for name in names]


def usual(found: Sequence[bytes | None]) -> Usual:
    """Return the changes and new pages a day that are usual, by the fields of ``rates_of``."""
    numbers = [float(number or 0) for number in found]
    return usual_of(numbers[:3], numbers[3:])


def _row(number: int, known: bytes, one: Kept) -> tuple[Any, ...]:
    """Return what the script is told of a page that is kept otherwise than it was known."""
    return number, known, one.mark + packed(one.held, one.server), one.held.due


class SharedHeldPages:
    """The pages of a crawl in Redis that are visited again; none is at a budget of 0.

    ``number`` is how many there were at the last look. Times are on the clock of ``lease``. Methods
    raise LswcError.
    """

    def __init__(self, connection: Connection, terms: Terms, call: Any) -> None:
        self._connection, self._call = connection, call
        self.is_on = terms.revisit > 0
        self.number, self._next_look, self._busy_until = 0, 0.0, 0.0
        self._a_day, self._day, self._clock = terms.revisit, terms.day, terms.clock
        self._again: dict[int, _Again] = {}
        self._looked_at = 0

    def join(self) -> None:
        """Say to those who only read that pages are visited again; or that this worker doesn't.

        What is recorded by one that visits nothing again is to be held by the next that does.
        """
        self._again.clear()
        self._next_look = 0.0
        if not self.is_on:
            self._connection.ask(("SREM", "holds", (self._connection.worker,)))
            return
        terms = ("revisit", self._a_day, "day", self._day)
        price = ("price", log(first_price(self._a_day)))
        self._connection.ask(("HSET", "budget", terms), ("HSETNX", "budget", price))

    @property
    def next_ready(self) -> float:
        """When a look is worth while."""
        return max(self._next_look, self._busy_until)

    def freed(self) -> None:
        """Take notice that a server is free."""
        self._busy_until = 0.0

    @property
    def _now(self) -> float:
        return self._clock() / self._day

    @property
    def _pause(self) -> float:
        return min(LOOK, IDLE * self._day)

    def lease(
        self, now: float, token: str, life: int, taken: Mapping[int, Lease]
    ) -> list[Any] | None:
        """Lease the page that is due first, if the budget has a visit.

        Returns what ``lease`` of the script does; None if there is nothing. ``taken`` are this
        worker's leases.
        """
        if now < self.next_ready:
            return None
        time, self.number, (stock, at, earned, spent, price) = self._call("look", now=now)
        budget = Budget(self._a_day, self._day)
        budget.go_on(int(at) / 1000, *(float(known or 0) for known in (stock, earned, spent)))
        if not budget.may_spend(self.number, time / 1000):
            ready = budget.next(self.number, time / 1000)
            wait = self._pause if ready is None else ready - time / 1000
            self._next_look = now + min(self._pause, wait)
            return None
        budget.spend()
        state, days = budget.state(), self._now
        found: list[Any] = self._call(
            "lease_again", token, life, days, self._looked_at, at, spent or "",
            state[0], time, *state[1:], now=now,
        )  # fmt: skip
        if len(found) == 4:
            if found[0] >= 0:
                self._looked_at = found[0]
                self._busy_until = now if found[0] else now + self._pause
            return found
        self._looked_at = 0
        kept = unpacked(found[11], float(found[12]), found[13])
        held, change = kept.held, 0.0
        if held.visited <= days:  # else the clock went back, which says nothing of the budget
            known = exp(float(price))
            change = log(next_price(known, self.number, days, held.due, held.visited) / known)
        self._again = {number: one for number, one in self._again.items() if number in taken}
        self._again[found[6]] = _Again(kept, change)
        return found

    def leased(self, number: int) -> Held:
        """Return what is kept of a page that was leased just now."""
        return self._again[number].kept.held

    def first_visit(self, visit: Visit) -> tuple[Any, Any, str]:
        """Return what is to be held of a URL's first visit, when it is due, and if it is news."""
        if not (self.is_on and is_held_after(visit)):
            return _NOT_HELD
        page = int(kind_of(visit)), site_of(visit.lease.server)
        (known,), price = self._known([page])
        held = first_held(visit, self._now, known, price)
        self.number += 1
        return packed(held, visit.lease.server), held.due, "1" if visit.relevant else ""

    def visited(self, visit: Visit, what: Became) -> list[Any]:
        """Return what the script is told of a visit of a page that is held, but for its links."""
        again = self._again.pop(visit.lease.id)
        mark, held, server = again.kept
        some = self._some()
        usuals, price = self._known([again.kept.page, *(one.page for _, _, one in some)])
        price *= exp(again.price)
        reason, changes, days, claim, is_right = learn(
            held, visit, what, self._now, usuals[0], price
        )
        kept = b"" if reason else mark + packed(held, server)
        tally = {("visited again", str(what)): 1, **visit.tally}
        if reason:
            tally["no longer held", reason] = 1
        if claim:
            tally[SAID, "right" if is_right else "wrong"] = 1
        rows: list[Any] = []
        for (number, known, one), expects in zip(some, usuals[1:], strict=True):
            if number == visit.lease.id or one.held.misses or one.held.is_gone:
                continue
            if one.held.visited > self._now:
                one.held.visited = self._now
                key = ("visited again", "clock went back")
                tally[key] = tally.get(key, 0) + 1
            one.held.order(*expects, price)
            rows += _row(number, known, one)
        flat = [text for (kind, name), n in tally.items() for text in (f"{kind}\n{name}", n)]
        told = (visit.url, kept, held.due, *again.kept.page, changes, days, again.price)
        said = (claim.name.lower() if claim else "", int(is_right))
        return [*told, *said, len(tally), len(rows) // 4, *flat, *rows]

    def hear(self, visit: Visit) -> None:
        """Take notice of when pages of a server changed, as a listing of its says.

        A page is due at once that changed since its last visit, if the server is believed.
        """
        if not (self.is_on and visit.dates):
            return
        server, dates = visit.lease.server, iter(visit.dates.items())
        fields = [f"{one.name} {server}" for one in fields_of(Claims)]
        (counts,) = self._connection.ask(("HMGET", "claims", fields))
        is_believed = Claims(*(int(number or 0) for number in counts)).are_believed
        site = site_of(server)
        usuals, price = self._known([(kind, site) for kind in Kind])
        usual_of_kind = dict(zip(Kind, usuals, strict=True))
        while some := dict(islice(dates, _HEARD)):
            rows: list[Any] = []
            told = 0
            for url, number, known, one in self._pages(some):
                if one.server != server:
                    continue
                held = one.held
                changed = some[url] / self._day
                told += held.hear(changed, self._now, is_believed=is_believed) == Claim.CHANGED
                if held.told and not (held.misses or held.is_gone):
                    held.order(*usual_of_kind[held.kind], price)
                rows += _row(number, known, one)
            if rows:
                self._call("hear", *((told, 0) if is_believed else (0, told)), *rows)

    def _pages(self, urls: Iterable[str]) -> Iterator[tuple[str, int, bytes, Kept]]:
        """Yield those of URLs whose pages are held, with their numbers, and as they are kept."""
        names = list(urls)
        found = looked_up(self._connection.ask, list(map(known_by, names)))
        numbers = {
            own: url
            for url, known in zip(names, found, strict=True)
            if (own := (known or b"").partition(b":")[2])
        }
        for number, kept, one in self._kept(list(numbers)):
            yield numbers[b"%d" % number], number, kept, one

    def _some(self) -> list[tuple[int, bytes, Kept]]:
        """Return some pages, whichever, with their numbers, and as they are kept."""
        (numbers,) = self._connection.ask(("HRANDFIELD", "held", (ORDERED,)))
        return self._kept(numbers)

    def _kept(self, numbers: Sequence[bytes]) -> list[tuple[int, bytes, Kept]]:
        if not numbers:
            return []
        found = self._connection.ask(
            ("HMGET", "held", numbers), ("ZMSCORE", "due", numbers), ("HMGET", "finds", numbers)
        )
        return kept_pages(numbers, found)

    def _known(self, pages: Sequence[Page]) -> tuple[list[Usual], float]:
        """Return what is usual of pages, and the price of a visit."""
        names = [name for page in pages for name in rates_of(page)]
        found, price = self._connection.ask(
            ("HMGET", "rates", names), ("HGET", "budget", ("price",))
        )
        size = len(found) // len(pages)
        known = [usual(found[at : at + size]) for at in range(0, len(found), size)]
        return known, exp(float(price))

    def hold(self, records: Iterable[Mapping[str, Any]], again: Any) -> None:
        """Hold what this worker recorded while it visited no page again; see Frontier.hold.

        ``again`` makes the packed record of a URL at a depth. Nothing is read if that was done.
        """
        worker = self._connection.worker
        (number,) = self._connection.ask(("HLEN", "held", ()))
        if not self.is_on:
            if number:
                logger.info("pages that are held aren't visited again: LSWC_REVISIT is 0")
            return
        (is_done,) = self._connection.ask(("SISMEMBER", "holds", (worker,)))
        if is_done:
            return
        usuals, price = self._known([(kind, "") for kind in Kind])
        wait = {k: first_wait(k, known, price) for k, known in zip(Kind, usuals, strict=True)}
        rows = self._rows(records, wait, again)
        while some := list(islice(rows, _RECORDED)):
            self._call("hold", *chain.from_iterable(some))
        self._connection.ask(("SADD", "holds", (worker,)))

    def _rows(
        self, records: Iterable[Mapping[str, Any]], wait: Mapping[Kind, float], again: Any
    ) -> Iterator[tuple[Any, ...]]:
        for record in records:
            url: Url | None = parse(record["url"])
            if url is None:
                continue
            held = held_as(record, self._day, self._now, wait)
            kept = packed(held, url.server) if is_wanted(record) else b""
            name = key_of(known_by(url.href))
            code = again(url, record.get("depth", 0))
            yield name, record["id"], code, kept, held.due, held.visits

    def of(self, number: int) -> Held | None:
        """Return what is kept of a page by its number; None if it isn't held."""
        rows = self._kept([b"%d" % number])
        return rows[0][2].held if rows else None
