"""Orders of cells: the fixed one, and the one that learns."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.strategy import (
    Experience,
    ExperienceError,
    LearnedOrder,
    adaptive,
    better,
    order,
    strategy,
)

CELLS = st.integers(0, adaptive.CELLS - 1)
LESSONS = st.lists(st.tuples(st.integers(0, 300), st.booleans()), max_size=400)
RANKS = st.tuples(st.floats(-1, 0), CELLS)
DISTANCES = st.integers(1, 12)


def taught(lessons: list[tuple[int, bool]]) -> LearnedOrder:
    learned = LearnedOrder()
    for cell, relevant in lessons:
        learned.learn(cell, relevant)
    return learned


def test_a_fixed_order_goes_by_the_number_of_the_cell() -> None:
    fixed = order(strategy("lswc"))
    assert sorted(range(7), key=fixed.rank) == list(range(7))
    fixed.learn(3, relevant=True)
    assert sorted(range(7), key=fixed.rank) == list(range(7))


@given(LESSONS)
def test_the_seeds_come_first(lessons: list[tuple[int, bool]]) -> None:
    learned = taught(lessons)
    assert all(learned.rank(adaptive.SEEDS) < learned.rank(cell) for cell in range(1, 300))


@given(LESSONS)
def test_what_is_expected_is_a_share(lessons: list[tuple[int, bool]]) -> None:
    learned = taught(lessons)
    assert all(0 < learned.expected(cell) < 1 for cell in range(300))


@given(LESSONS, CELLS)
def test_a_cell_sinks_by_a_miss_and_rises_by_a_hit(
    lessons: list[tuple[int, bool]], cell: int
) -> None:
    def after(relevant: bool) -> float:
        learned = taught(lessons)
        learned.learn(cell, relevant)
        return learned.expected(cell)

    assert after(relevant=False) < after(relevant=True)


def test_cells_that_bring_pages_come_before_those_that_do_not() -> None:
    good, bad, unknown = 1 + adaptive.PLACES, 1 + 2 * adaptive.PLACES, 1 + 3 * adaptive.PLACES
    learned = taught([(good, True), (bad, False)] * 30)
    assert learned.rank(good) < learned.rank(unknown) < learned.rank(bad)
    assert learned.expected(good) > 0.8
    assert learned.expected(bad) < 0.2


def test_what_a_feature_means_is_learned_beyond_its_cell() -> None:
    here, there = 5, 20
    of_target = 1 + adaptive.KINDS // 3 * adaptive.PLACES  # the first kind that names the target
    learned = taught([(of_target + here, True), (1 + here, False)] * 50)
    assert learned.expected(of_target + there) > learned.expected(1 + there)


@given(LESSONS)
def test_a_server_hardly_known_is_never_given_up(lessons: list[tuple[int, bool]]) -> None:
    learned = taught(lessons)
    mean = (learned.scored.crawl.relevant + 1) / (learned.scored.crawl.downloaded + 2)
    for place in range(adaptive.PLACES):
        if place <= 2 * adaptive.BUCKETS:
            assert learned.expected(1 + place) >= adaptive.FLOOR * mean


@given(LESSONS, st.integers(0, 400))
def test_a_crawl_that_stops_in_between_goes_on_as_if_it_had_not(
    lessons: list[tuple[int, bool]], stop: int
) -> None:
    at_once, before = taught(lessons), taught(lessons[:stop])
    kept = json.loads(json.dumps([before.experience.dump(), before.scored.dump()]))
    resumed = LearnedOrder(*map(Experience.load, kept))
    for cell, relevant in lessons[stop:]:
        resumed.learn(cell, relevant)
    assert [resumed.rank(c) for c in range(300)] == [at_once.rank(c) for c in range(300)]


@given(LESSONS, LESSONS)
def test_experience_of_two_workers_is_the_sum_in_any_order(
    some: list[tuple[int, bool]], others: list[tuple[int, bool]]
) -> None:
    one, two = taught(some).experience, taught(others).experience
    one.merge(two)
    two.merge(taught(some).experience)
    assert one == two == taught(others + some).experience


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cells_of": "tiers"}, "of another version of the strategy: its cells are tiers"),
        ({"crawl": ["x", 1]}, "no experience of a crawl"),
        ({"cells": [[1, 2]]}, "no experience of a crawl"),
        ({"cells": [[1, 2, 3]]}, "counts that no crawl makes"),
        ({"cells": [[10**6, 2, 1]]}, "counts that no crawl makes"),
        ({"cells": None}, "no experience of a crawl"),
    ],
)
def test_wrong_experience_is_refused(change: dict[str, Any], message: str) -> None:
    dumped = taught([(1, True), (2, False)]).experience.dump()
    with pytest.raises(ExperienceError, match=message):
        Experience.load({**dumped, **change})


@given(RANKS, DISTANCES, RANKS, DISTANCES)
def test_the_better_offer_wins(
    rank: tuple[float, int], distance: int, known: tuple[float, int], known_distance: int
) -> None:
    wins = better(rank, distance, known, known_distance)
    if rank != known:
        assert wins is (rank < known)
    else:
        assert wins is (distance < known_distance)
