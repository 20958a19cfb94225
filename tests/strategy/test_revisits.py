"""Revisits: beliefs and worths are those of the integrals that they stand for."""

from __future__ import annotations

from itertools import product
from math import exp, gamma, inf
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.strategy.revisits import (
    DAYS_AT_MOST,
    OF_KIND,
    Known,
    Rates,
    changes,
    due,
    next_price,
    seen_changed,
    seen_unchanged,
    worth,
)

if TYPE_CHECKING:
    from collections.abc import Callable

CERTAIN = 1e6
SHAPES = st.floats(0.05, 50)
DAYS = st.floats(0.01, 1000)
SINCE = st.floats(0.001, 400)


def integral(
    of: Callable[[float], float], shape: float, days: float, steps: int = 200_000
) -> float:
    """Return the mean of a function of the rate, by the rule of the middle; shape above 1."""
    far: float = (shape + 12 * shape**0.5 + 20) / days
    width = far / steps
    density = days**shape / gamma(shape)
    total = 0.0
    for step in range(steps):
        rate = (step + 0.5) * width
        total += of(rate) * density * rate ** (shape - 1) * exp(-days * rate)
    return total * width


@pytest.mark.parametrize(("shape", "days", "since"), [(1.5, 10.0, 3.0), (4.0, 2.0, 30.0)])
def test_the_belief_after_a_change_has_the_moments_of_the_posterior(
    shape: float, days: float, since: float
) -> None:
    def has(rate: float) -> float:
        return 1 - exp(-rate * since)

    seen = integral(has, shape, days, 4_000)
    mean = integral(lambda rate: rate * has(rate), shape, days, 4_000) / seen
    square = integral(lambda rate: rate**2 * has(rate), shape, days, 4_000) / seen
    found, over = seen_changed(shape, days, since)
    assert found / over == pytest.approx(mean, rel=1e-3)
    assert found / over**2 == pytest.approx(square - mean**2, rel=1e-3)


@given(SHAPES, DAYS, SINCE)
def test_what_was_seen_moves_the_rate_as_it_must(shape: float, days: float, since: float) -> None:
    more, less = seen_changed(shape, days, since), seen_unchanged(shape, days, since)
    assert less[0] / less[1] < shape / days <= more[0] / more[1] * (1 + 1e-6)
    assert min(more) > 0


def test_a_change_after_a_long_time_says_nothing() -> None:
    assert seen_changed(2.0, 1.0, 1e9) == pytest.approx((2.0, 1.0))


def test_a_change_that_came_at_once_is_one_more() -> None:
    assert seen_changed(2.0, 1.0, 1e-6) == pytest.approx((3.0, 1.0), rel=1e-4)


def test_expected_changes_of_a_page_that_has_changed() -> None:
    # Of a rate of 2 a day, in half a day: 1 / (1 - 1 / e).
    assert changes(CERTAIN, CERTAIN / 2, 0.5) == pytest.approx(1 / (1 - exp(-1)), rel=1e-5)


@pytest.mark.parametrize(("shape", "days", "since"), [(1.5, 10.0, 3.0), (4.0, 2.0, 30.0)])
def test_worth_is_the_mean_over_what_is_believed(shape: float, days: float, since: float) -> None:
    def gained(rate: float) -> float:
        return (1 - exp(-rate * since) * (1 + rate * since)) / rate

    wanted = integral(gained, shape, days, 4_000)
    assert worth(shape, days, 0, since) == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize(("rate", "since", "gained"), [
    (1.0, 1.0, 1 - 2 / 2.718281828),
    (0.5, 4.0, 2 * (1 - 3 / 7.389056099)),
    (0.001, 10.0, 0.0498336),  # rate * since**2 / 2, less a third of what comes twice
])  # fmt: skip
def test_worth_of_a_rate_that_is_known(rate: float, since: float, gained: float) -> None:
    known = CERTAIN, CERTAIN / rate
    assert worth(*known, 0, since) == pytest.approx(gained, rel=1e-2)
    assert worth(*known, 0.2, since) == pytest.approx(gained + 0.1 * since**2, rel=1e-2)


@given(DAYS, SINCE)
def test_worth_has_no_gap_at_a_shape_of_one(days: float, since: float) -> None:
    below, at, above = (worth(shape, days, 0, since) for shape in (0.999, 1.0, 1.001))
    assert at == pytest.approx((below + above) / 2, rel=1e-3)


@given(SHAPES, DAYS, st.floats(0, 2), st.floats(1e-3, 1e3))
def test_a_page_is_due_when_a_visit_is_worth_its_price(
    shape: float, days: float, finds: float, price: float
) -> None:
    at = due(shape, days, finds, price)
    assert 0 < at <= DAYS_AT_MOST
    if at < DAYS_AT_MOST:
        assert worth(shape, days, finds, at) == pytest.approx(price, rel=1e-3)
    else:
        assert worth(shape, days, finds, DAYS_AT_MOST) <= price * (1 + 1e-6)


def test_one_price_for_all_is_the_best_that_a_budget_can_do() -> None:
    """Of all rests of three pages on a grid that ask as often, none holds more pages."""
    rates = (0.02, 0.3, 2.0)

    def held(rests: tuple[float, ...]) -> float:
        return sum(
            (1 - exp(-rate * rest)) / (rate * rest)
            for rate, rest in zip(rates, rests, strict=True)
            if rest < inf
        )

    own = tuple(due(CERTAIN, CERTAIN / rate, 0, 1.0) for rate in rates)
    budget = sum(1 / rest for rest in own)
    grid = [1.1**step for step in range(-10, 70)]
    best = max(
        held(rests) for rests in product(grid, repeat=3) if sum(1 / r for r in rests) <= budget
    )
    assert held(own) >= best - 0.01
    # A page that changes much faster than it can be visited isn't.
    assert own[2] == DAYS_AT_MOST
    assert own[1] < own[0]


def test_rates_of_a_site_begin_as_those_of_their_kind() -> None:
    rates = Rates({"list": 0.5, "article": 0.01})
    assert rates.of("list", "a.test") == pytest.approx(0.5)
    rates.add("list", "b.test", 27, 54 - OF_KIND / 0.5 + 6)
    # The kind has 3 and 27 changes in 6 and 54 days: 0.5 a day, as before.
    assert rates.of("list", "a.test") == pytest.approx(0.5)
    rates.add("list", "a.test", 9, 3)
    kind = (OF_KIND + 27 + 9) / (6 + 54 + 3)
    assert rates.of("list", "a.test") == pytest.approx((9 + 3) / (3 + 3 / kind))
    assert rates.of("article", "a.test") == pytest.approx(0.01)


def test_a_page_is_as_its_kind_until_it_was_seen_twice() -> None:
    page = Known(visited=0.0)
    shape, days = page.belief(usual=0.2)
    assert shape / days == pytest.approx(0.2)
    assert page.finds(usual=0.1) == pytest.approx(0.1)
    assert page.learn(is_changed=False, since=5.0, usual=0.2) == 0
    assert (page.shape, page.days, page.seen) == (*seen_unchanged(shape, days, 5.0), 5.0)
    # Now what is usual of its changes says no more.
    assert page.belief(usual=9.0) == (page.shape, page.days)
    assert page.finds(usual=0.1) < 0.1


@given(DAYS, SINCE)
def test_a_change_teaches_how_often_a_page_should_have_changed(usual: float, since: float) -> None:
    page = Known(visited=0.0)
    before = page.belief(usual)
    assert page.learn(is_changed=True, since=since, usual=usual) == changes(*before, since) >= 1
    assert page.belief(usual) == seen_changed(*before, since)


def test_the_price_rises_while_visits_come_late_and_falls_while_they_come_early() -> None:
    late, on_time, early = (next_price(2.0, 100, now, 10.0, 4.0) for now in (11.0, 10.0, 9.0))
    assert early < on_time == 2.0 < late
    # However late a visit is, of many pages one moves the price a little.
    assert next_price(2.0, 100, 1e9, 10.0, 4.0) == pytest.approx(2.0 * exp(0.1))
