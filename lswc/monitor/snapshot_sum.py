"""Sum of snapshots: a crawl of many workers, of which each knows its own sites."""

from __future__ import annotations

from collections import Counter, defaultdict
from heapq import nlargest, nsmallest
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import fields, replace

from lswc.frontier.rules.harvest import Group
from lswc.frontier.rules.report import Completion, Family, Freshness, Queue
from lswc.guest.pageless import Without
from lswc.monitor.snapshot import (
    TOP,
    Cell,
    Coverage,
    OfLanguage,
    Outlook,
    Snapshot,
    Tallies,
    of_workers,
    rate,
)  # fmt: skip

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_Row = TypeVar("_Row")
_Value = TypeVar("_Value")


def summed(snapshots: Sequence[Snapshot], top: int = TOP) -> Snapshot:
    """Return what the workers of a crawl have together, by the snapshot of each.

    Lists have ``top`` rows. What is the same for all is taken from the one that was heard last, of
    those that live. What only some of them counted is of these.
    """
    if len(snapshots) < 2:
        return snapshots[0] if snapshots else Snapshot()
    shared = max(snapshots, key=lambda one: (one.is_live, one.time))
    pages, relevant = sum(s.pages for s in snapshots), sum(s.relevant for s in snapshots)
    ahead = _outlook([s.outlook for s in snapshots], top)
    workers = tuple(worker for one in snapshots for worker in one.workers)
    coverage = _coverage(_given(s.coverage for s in snapshots))
    return replace(
        shared,
        time=max(s.time for s in snapshots),
        pages=pages,
        relevant=relevant,
        guessed=sum(s.guessed for s in snapshots),
        received=sum(s.received for s in snapshots),
        finished=sum(s.finished for s in snapshots),
        harvest_rate=rate(relevant, pages),
        recent_harvest_rate=_recent(snapshots),
        coverage_at_most=rate(relevant, relevant + ahead.expected),
        coverage=coverage,
        by_language=_by_language(snapshots, pages),
        pending=sum(s.pending for s in snapshots),
        postponed=sum(s.postponed for s in snapshots),
        requisites=sum(s.requisites for s in snapshots),
        servers=sum(s.servers for s in snapshots),
        runs=max(s.runs for s in snapshots),
        seconds=max(s.seconds for s in snapshots),
        tallies=_tallies([s.tallies for s in snapshots]),
        outlook=ahead,
        freshness=_freshness(_given(s.freshness for s in snapshots)),
        disk=min(_given(s.disk for s in snapshots), key=lambda one: one.free, default=None),
        without_page=_without([s.without_page for s in snapshots], top),
        **_counted(snapshots, top),
        **of_workers(workers),
    )


def _given(values: Iterable[_Value | None]) -> list[_Value]:
    return [value for value in values if value is not None]


def _added(all_numbers: Iterable[dict[str, int]]) -> dict[str, int]:
    """Return the sums by name, the largest first, and those that are equal by their names."""
    total: Counter[str] = Counter()
    for numbers in all_numbers:
        total.update(numbers)
    return dict(sorted(total.items(), key=lambda one: (-one[1], one[0])))


def _tallies(tallies: Sequence[Tallies]) -> Tallies:
    names = [field.name for field in fields(Tallies)]
    return Tallies(**{name: _added(getattr(one, name) for one in tallies) for name in names})


def _recent(snapshots: Sequence[Snapshot]) -> float | None:
    """Return the harvest rate of the latest minute, by the pages that each worker had then."""
    known = [(s.recent_harvest_rate, s.pages_per_second) for s in snapshots if s.is_live]
    rates = [(share, pages) for share, pages in known if share is not None]
    return rate(sum(share * pages for share, pages in rates), sum(pages for _, pages in rates))


def _coverage(known: Sequence[Coverage]) -> Coverage | None:
    if not known:
        return None
    relevant = max(one.relevant for one in known)
    collected = min(sum(one.collected for one in known), relevant)
    return Coverage(relevant, collected, rate(collected, relevant) or 0.0)


def _by_language(snapshots: Sequence[Snapshot], pages: int) -> dict[str, OfLanguage]:
    by_tag: defaultdict[str, list[OfLanguage]] = defaultdict(list)
    for snapshot in snapshots:
        for tag, one in snapshot.by_language.items():
            by_tag[tag].append(one)
    found = {}
    for tag, ones in by_tag.items():
        relevant = sum(one.relevant for one in ones)
        coverage = _coverage(_given(one.coverage for one in ones))
        found[tag] = OfLanguage(relevant, rate(relevant, pages), coverage)
    return found


def _outlook(outlooks: Sequence[Outlook], top: int) -> Outlook:
    next_relevant = round(sum(one.next_relevant for one in outlooks), 1)
    downloads = sum(one.next_downloads for one in outlooks)
    best = _together([one.best for one in outlooks], lambda cell: cell.name, _cell)
    largest = _together([one.largest for one in outlooks], lambda cell: cell.name, _cell)
    return Outlook(
        at_least=round(sum(one.at_least for one in outlooks), 1),
        expected=round(sum(one.expected for one in outlooks), 1),
        at_most=round(sum(one.at_most for one in outlooks), 1),
        next_downloads=downloads,
        next_relevant=next_relevant,
        next_harvest_rate=rate(next_relevant, downloads),
        groups=tuple(_together([one.groups for one in outlooks], lambda one: one.name, _group)),
        best=tuple(best[:top]),
        largest=tuple(nlargest(top, largest, key=lambda cell: cell.pending)),
    )


def _together(
    lists: Iterable[Sequence[_Row]],
    name_of: Callable[[_Row], str],
    add: Callable[[Sequence[_Row]], _Row],
) -> list[_Row]:
    """Return the rows of all lists, those of one name added, in the order that the lists have."""
    order: list[str] = []
    rows: defaultdict[str, list[_Row]] = defaultdict(list)
    for one in sorted(lists, key=len, reverse=True):
        place = 0
        for row in one:
            name = name_of(row)
            if name not in rows:
                order.insert(place, name)
            place = order.index(name) + 1
            rows[name].append(row)
    return [add(rows[name]) for name in order]


def _group(same: Sequence[Group]) -> Group:
    return Group(
        same[0].name,
        sum(one.pending for one in same),
        sum(one.pages for one in same),
        round(sum(one.relevant for one in same), 4),
    )


def _cell(same: Sequence[Cell]) -> Cell:
    pending, pages = sum(one.pending for one in same), sum(one.pages for one in same)
    expected = sum(one.expected * one.pending for one in same) / (pending or 1)
    seen = sum((one.seen or 0.0) * one.pages for one in same)
    before = max(one.before for one in same)  # each worker began with the same
    return Cell(same[0].name, pending, pages, round(expected, 4), rate(seen, pages), before)


def _freshness(known: Sequence[Freshness]) -> Freshness | None:
    if not known:
        return None
    fresh = [(one.fresh, one.pages) for one in known if one.fresh is not None and one.pages]
    used = [(one.used, one.budget) for one in known if one.used is not None and one.budget]
    counted = ("pages", "due", "changed", "unchanged", "gone", "finds", "believed", "disbelieved")
    return Freshness(
        fresh=_mean(fresh),
        next_due=min(_given(one.next_due for one in known), default=None),
        budget=sum(one.budget for one in known),
        used=_mean(used),
        **{name: sum(getattr(one, name) for one in known) for name in counted},
    )


def _mean(weighed: Sequence[tuple[float, float]]) -> float | None:
    total = sum(weight for _, weight in weighed)
    return sum(value * weight for value, weight in weighed) / total if total else None


def _without(known: Sequence[Without], top: int) -> Without:
    first = nlargest(top, (one for each in known for one in each.first), key=_promise)
    return Without(
        sum(one.servers for one in known), _added(one.reasons for one in known), tuple(first)
    )


def _promise(server: Any) -> tuple[bool, int]:
    return server.in_tld, server.linked


def _counted(snapshots: Sequence[Snapshot], top: int) -> dict[str, Any]:
    """Return the fields that need a full count: None if no worker counted."""
    leased = _given(s.leased for s in snapshots)
    statuses = _given(s.by_status for s in snapshots)
    longest = [queue for s in snapshots for queue in s.longest or ()]
    largest = [queue for s in snapshots for queue in s.largest or ()]
    families = _given(s.families for s in snapshots)
    ended = _given(s.completion for s in snapshots)
    is_listed = any(s.longest is not None for s in snapshots)
    return {
        "leased": sum(leased) if leased else None,
        "by_status": _added(statuses) if statuses else None,
        "longest": _first(longest, lambda queue: queue.pending, top) if is_listed else None,
        "largest": _first(largest, lambda queue: queue.downloaded, top) if is_listed else None,
        "families": _families([one for each in families for one in each], top)
        if families
        else None,
        "completion": _completion(ended, top) if ended else None,
    }


def _first(queues: Iterable[Queue], number: Callable[[Queue], int], top: int) -> tuple[Queue, ...]:
    """Return the first queues by a number; one that two workers know has the larger."""
    by_name: dict[str, Queue] = {}
    for queue in queues:
        known = by_name.get(queue.server)
        if known is None or number(queue) > number(known):
            by_name[queue.server] = queue
    return tuple(nsmallest(top, by_name.values(), key=lambda one: (-number(one), one.server)))


def _families(families: Iterable[Family], top: int) -> tuple[Family, ...]:
    """Add what workers have of each family; the branch is that of most sites as they listed it."""
    by_name: defaultdict[str, list[Family]] = defaultdict(list)
    for family in families:
        by_name[family.name].append(family)
    found = []
    for name, ones in by_name.items():
        branches: Counter[str] = Counter()
        for one in ones:
            branches[one.branch] += one.of_branch
        branch, number = min(branches.items(), key=lambda pair: (-pair[1], pair[0]))
        sites, pages = sum(one.sites for one in ones), sum(one.pages for one in ones)
        found.append(Family(name, sites, pages, branch, number))
    return tuple(sorted(found, key=lambda one: (-one.sites, one.name))[:top])


def _completion(ended: Sequence[Completion], top: int) -> Completion:
    cut = nsmallest(top, (row for one in ended for row in one.cut), key=lambda r: (-r[2], r[:2]))
    failed = nsmallest(top, (row for one in ended for row in one.failed), key=lambda row: row[0])
    return Completion(
        sum(one.complete for one in ended),
        tuple(cut),
        sum(one.cut_number for one in ended),
        tuple(failed),
        sum(one.failed_number for one in ended),
    )
