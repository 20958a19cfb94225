"""Orders of cells: the fixed one, and the one that learns."""

from __future__ import annotations

import json
from math import exp, sqrt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.strategy import (
    Experience,
    ExperienceError,
    LearnedOrder,
    Pages,
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
            assert learned.worth(1 + place) >= adaptive.FLOOR * mean
        else:
            assert learned.worth(1 + place) > learned.expected(1 + place)


@given(LESSONS, st.integers(0, 400))
def test_a_crawl_that_stops_in_between_goes_on_as_if_it_had_not(
    lessons: list[tuple[int, bool]], stop: int
) -> None:
    at_once, before = taught(lessons), taught(lessons[:stop])
    kept = json.loads(json.dumps([before.experience.dump(), before.scored.dump()]))
    known, scored = map(Experience.load, kept)
    resumed = LearnedOrder(known, scored)
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
        ({"cells": [[adaptive.SEEDS, 2, 1]]}, "counts that no crawl makes"),
        ({"cells": [[adaptive.CELLS, 2, 1]]}, "counts that no crawl makes"),
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


@pytest.mark.parametrize(
    ("scored", "due"), [(0, 1), (1, 2), (99, 100), (199, 200), (200, 202), (299, 301), (5000, 5050)]
)
def test_cells_are_scored_at_each_page_and_later_at_each_per_cent(scored: int, due: int) -> None:
    assert adaptive.is_due(due, scored)
    assert not adaptive.is_due(due - 1, scored)


def cell_of(*features: int, place: int) -> int:
    """Return a cell by language named, referrer, locality, anchor, domain; and place."""
    named, referrer, near, anchor, tld = features
    kind = (((named * 6 + referrer) * 4 + near) * 3 + anchor) * 2 + tld
    return 1 + 37 * kind + place


def share(odds: float) -> float:
    return odds / (1 + odds)


def odds(share: float) -> float:
    return share / (1 - share)


def estimated(of_cell: float) -> float:
    """Return what is expected of a cell for which a share was worked out: 0.15 logits less."""
    return share(odds(of_cell) * exp(-0.15))


NO_SITE, UNVISITED, FEW_PAGES, KNOWN = 0, 8, 20, 32
"""Places: nothing is known of the site; a server's share of relevant pages is 30-50 %, and it
has no page, 1 or 2, more."""
HOPELESS, HOPELESS_FEW, HOPELESS_KNOWN = 1, 13, 25
"""The same for a share below 0.03 %, whose bucket is taken from 0.01 % on."""

ALIKE, ONE_ALIKE, UNLIKE = (0, 0, 0, 0, 0), (1, 1, 1, 1, 0), (1, 1, 1, 1, 1)
"""Features, and others that have one in common with them, or none."""

MIDDLE = sqrt(3 / 7)
"""Odds of the middle of 30-50 %."""

LEAST = sqrt(1 / 9999 * 3 / 9997)
"""Odds of the middle of 0.01-0.03 %."""


@pytest.mark.parametrize(
    ("features", "place", "expected"),
    [
        # The crawl: 8 pages of one cell, 6 relevant. Its mean is 7/10. The place has
        # (6 + 4 * 7/10) / 12 = 11/15, odds 11/4, so of the 8 pages 88/15 were to be expected:
        # (88/15 + 4 * 7/10) / 12 = 13/18, while (6 + 4 * 7/10) / 12 = 11/15 were seen. A feature
        # moves odds by (11/4) / (13/5) = 55/52 over all places; in this place from 11/4 * 55/52 =
        # 605/208 to those of (6 + 4 * 605/813) / 12 = 3649/4878, which is by 14596/13519. It
        # counts to the power of 0.7, and there are five.
        (ALIKE, NO_SITE, (6 + 8 * share(11 / 4 * (14596 / 13519) ** 3.5)) / 16),
        (ALIKE, KNOWN, share(MIDDLE * (55 / 52) ** 3.5)),
        (ONE_ALIKE, KNOWN, share(MIDDLE * (55 / 52) ** 0.7)),
        (UNLIKE, NO_SITE, 11 / 15),
        (UNLIKE, KNOWN, share(MIDDLE)),
        (UNLIKE, FEW_PAGES, share(MIDDLE)),
        (UNLIKE, UNVISITED, share(MIDDLE)),
        (UNLIKE, HOPELESS, share(LEAST)),
        (UNLIKE, HOPELESS_FEW, share(LEAST)),
        (UNLIKE, HOPELESS_KNOWN, share(LEAST)),
        # The same, in digits.
        (ALIKE, NO_SITE, 0.766214748),
        (ALIKE, KNOWN, 0.443409565),
        (ONE_ALIKE, KNOWN, 0.405069411),
        (UNLIKE, HOPELESS_KNOWN, 0.00017320972),
    ],
)
def test_what_one_cell_teaches_is_the_number_worked_out_by_hand(
    features: tuple[int, ...], place: int, expected: float
) -> None:
    cells = {cell_of(*ALIKE, place=NO_SITE): Pages(8, 6)}
    learned = LearnedOrder(Experience(cells, Pages(8, 6)))
    assert learned.expected(cell_of(*features, place=place)) == pytest.approx(
        estimated(expected), rel=1e-6
    )


@pytest.mark.parametrize(
    ("place", "worth"),
    [
        # A look at a server hardly known is worth a tenth of the mean.
        (HOPELESS, 0.07 * (1 + share(LEAST))),
        (HOPELESS_FEW, 0.07 * (1 + share(LEAST))),
        (HOPELESS, 0.070012125),
        (HOPELESS_KNOWN, share(LEAST)),
        (UNVISITED, share(MIDDLE)),
    ],
)
def test_what_a_look_is_worth_is_the_number_worked_out_by_hand(place: int, worth: float) -> None:
    cells = {cell_of(*ALIKE, place=NO_SITE): Pages(8, 6)}
    learned = LearnedOrder(Experience(cells, Pages(8, 6)))
    cell = cell_of(*UNLIKE, place=place)
    assert learned.worth(cell) == pytest.approx(worth, rel=1e-6)
    assert learned.rank(cell) == (-learned.worth(cell), cell)


def test_what_a_cell_of_later_features_teaches_is_the_same_number() -> None:
    cells = {cell_of(*UNLIKE, place=NO_SITE): Pages(8, 6)}
    learned = LearnedOrder(Experience(cells, Pages(8, 6)))
    of_itself = (6 + 8 * share(11 / 4 * (14596 / 13519) ** 3.5)) / 16  # as above
    expected = {
        (UNLIKE, NO_SITE): of_itself,
        (ALIKE, NO_SITE): 11 / 15,
        (UNLIKE, KNOWN): share(MIDDLE * (55 / 52) ** 3.5),
        (ONE_ALIKE, KNOWN): share(MIDDLE * (55 / 52) ** 2.8),  # four alike
        (ALIKE, KNOWN): share(MIDDLE),
    }
    for (features, place), worked_out in expected.items():
        found = learned.expected(cell_of(*features, place=place))
        assert found == pytest.approx(estimated(worked_out), rel=1e-6)
    assert learned.expected(adaptive.SEEDS) == pytest.approx(7 / 10)


def test_what_the_last_place_teaches_is_the_number_worked_out_by_hand() -> None:
    last = 36  # 97 % and more of many pages; taken for the middle of 97-99 %, odds sqrt(3201)
    best = cell_of(*UNLIKE, place=last)
    learned = LearnedOrder(Experience({best: Pages(8, 4)}, Pages(8, 4)))  # mean 1/2
    before = share(sqrt(97 / 3 * 99))
    here = (4 + 4 * before) / 12
    overall = 1 / odds((8 * here + 2) / 12)  # 1/2 was seen, so odds of 1
    moved = odds((4 + 4 * share(odds(here) * overall)) / 12) / odds(here)
    of_best = (4 + 8 * share(odds(here) * moved**3.5)) / 16
    assert learned.expected(best) == pytest.approx(estimated(of_best), rel=1e-6)
    assert learned.expected(cell_of(*ALIKE, place=last)) == pytest.approx(estimated(here), rel=1e-6)
    elsewhere = learned.expected(cell_of(*UNLIKE, place=KNOWN))
    assert elsewhere == pytest.approx(estimated(share(MIDDLE * overall**3.5)), rel=1e-6)


def test_what_two_places_teach_is_the_number_worked_out_by_hand() -> None:
    one, other = cell_of(*ALIKE, place=NO_SITE), cell_of(*ALIKE, place=KNOWN)
    cells = {one: Pages(8, 6), other: Pages(4, 0)}
    learned = LearnedOrder(Experience(cells, Pages(12, 6)))  # mean 7/14
    here, there = 8 / 12, 4 * share(MIDDLE) / 8  # shares of the places
    expected = (8 * here + 4 * there + 2) / 16
    overall = odds(8 / 16) / odds(expected)
    moved_here = odds((6 + 4 * share(odds(here) * overall)) / 12) / odds(here)
    moved_there = odds(4 * share(odds(there) * overall) / 8) / odds(there)
    of_one = (6 + 8 * share(odds(here) * moved_here**3.5)) / 16
    of_other = 8 * share(odds(there) * moved_there**3.5) / 12
    assert learned.expected(one) == pytest.approx(estimated(of_one), rel=1e-6)
    assert learned.expected(other) == pytest.approx(estimated(of_other), rel=1e-6)
    beside = share(odds(there) * moved_there**0.7)
    assert learned.expected(cell_of(*ONE_ALIKE, place=KNOWN)) == pytest.approx(
        estimated(beside), rel=1e-6
    )


@pytest.mark.parametrize(
    ("server", "site", "place"),
    [
        # (Nr + 2 * the site's) / (Na + 2), the site's being (Nr + 2 / 10) / (Na + 2).
        ((0, 0), (0, 0), NO_SITE),
        ((0, 0), (2, 2), 9),  # site 11/20, server 11/20: 50-70 %
        ((0, 0), (2, 0), 6),  # site 1/20, server 1/20: 3-10 %
        ((1, 0), (1, 0), 12 + 6),  # site 1/15, server 2/45: a page is few
        ((2, 0), (2, 0), 12 + 5),  # server 1/40: 1-3 %, few pages
        ((3, 2), (3, 2), 24 + 9),  # site 11/25, server 72/125: 50-70 %, more pages
        ((99, 0), (99, 0), 24 + 1),  # site 1/505, server 4e-5: below 0.03 %
        ((2, 2), (2, 2), 12 + 10),  # site 11/20, server 31/40: 70-88 %
        ((5, 5), (100, 100), 24 + 12),  # site 501/510, server 0.995: 97 % and more
    ],
)
def test_the_place_of_a_server_is_the_one_worked_out_by_hand(
    server: tuple[int, int], site: tuple[int, int], place: int
) -> None:
    has_look = site[0] > 0 and server[0] < adaptive.LOOK
    assert adaptive.place(*server, *site) == place + has_look * adaptive.PLACES
