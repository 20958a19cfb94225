"""The table of owners: sites are shared out evenly, few move, and tables that differ become one."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as some

from lswc.frontier.exchange.owners import PARTS, Owners, first, part_of, shared_out

WORKERS = some.integers(1, 12)


@some.composite
def tables(draw: some.DrawFn) -> Owners:
    """A table after some changes."""
    table = first(1)
    for what, worker in draw(some.lists(some.tuples(some.integers(0, 3), WORKERS), max_size=8)):
        others = [one for one in table.members if one != worker]
        if what == 0 and not table.knows(worker):
            table = table.joined(worker)
        elif what == 1 and worker in table.members and others:
            table = table.left(worker)
        elif what == 2 and worker in table.members and others:
            table = table.without(worker)
        elif what == 3 and worker in table.members:
            due = tuple(part for part, heir in enumerate(table.heirs) if heir == worker)
            table = table.owned(worker, due[:40])
    return table


def test_a_site_is_in_the_same_part_on_every_machine() -> None:
    assert [part_of(site) for site in ("a.example", "ตัวอย่าง.example", "")] == [204, 23, 0]


@given(some.lists(some.integers(1, 999), min_size=1, max_size=40, unique=True))
def test_parts_are_shared_out_evenly(members: list[int]) -> None:
    shares = Counter(shared_out((members[0],) * PARTS, tuple(members)))
    assert set(shares) == set(members)
    assert max(shares.values()) - min(shares.values()) <= 1


@given(some.integers(1, 30))
def test_one_that_joins_takes_its_share_and_no_other_part_moves(number: int) -> None:
    table = first(1)
    for worker in range(2, number + 2):
        after = table.joined(worker)
        moved = [new for old, new in zip(table.heirs, after.heirs, strict=True) if old != new]
        assert set(moved) == {worker}
        assert PARTS // worker <= len(moved) <= PARTS // worker + 1
        table = after


@given(tables())
def test_all_is_given_to_members(table: Owners) -> None:
    assert set(table.heirs) <= set(table.members)
    assert not set(table.members) & {*table.gone, *table.lost}
    assert all(owner not in table.lost for owner in table.of_part)


@given(tables(), tables())
def test_tables_that_differ_become_one_whoever_merges_them(one: Owners, other: Owners) -> None:
    merged = one.merged(other)
    assert merged == other.merged(one)
    assert merged == merged.merged(one) == merged.merged(other)
    assert {*one.lost, *other.lost} == set(merged.lost)


@given(tables(), tables(), tables())
def test_it_is_known_in_the_end_who_owns_what(one: Owners, two: Owners, three: Owners) -> None:
    """In whatever order they are heard of."""
    merged, other = one.merged(two).merged(three), three.merged(one).merged(two)
    assert (merged.of_part, merged.members, merged.gone, merged.lost) == (
        other.of_part, other.members, other.gone, other.lost,
    )  # fmt: skip


@given(tables(), tables())
def test_what_lost_workers_had_is_inherited_whoever_knew_of_it(one: Owners, other: Owners) -> None:
    """A worker may be called lost by a table that doesn't know of parts that it was given since."""
    merged = one.merged(other)
    after = merged.inherited()
    if merged.members:
        assert not set(after.of_part) & after.lost.keys()
        assert set(after.of_part) <= {*merged.of_part, *merged.members}
    moved = {
        (before, part)
        for part, (before, now) in enumerate(zip(merged.of_part, after.of_part, strict=True))
        if before != now
    }
    assert all(worker in merged.lost and part in after.lost[worker] for worker, part in moved)
    assert after.inherited() == after
