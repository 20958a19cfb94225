"""What other webs taught weighs as much as they agree."""

from __future__ import annotations

from itertools import product
from math import sqrt
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.strategy import Experience, ExperienceError, LearnedOrder, Named, Pages, order, strategy
from lswc.strategy.adaptive import (
    CELLS,
    KINDS,
    PLACES,
    SEEDS,
    SIGNATURE,
    names_language,
    server_share,
)
from lswc.strategy.prior import (
    HARDLY_WEIGHS,
    MANY,
    MEANS,
    PARTS,
    WEBS_OF_A_CELL,
    WEIGHTS,
    Between,
    Prior,
    learned,
    prior_of,
    shipped,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

CELL = 5361


def webs(*counts: tuple[int, float]) -> list[Experience]:
    """Return crawls of webs, each with pages and relevant ones of one cell."""
    return [Experience({CELL: Pages(*some)}, Pages(*some)) for some in counts]


def weight(counts: Sequence[tuple[int, float]]) -> int:
    """Return the pages that a cell weighs after crawls of webs."""
    return learned(webs(*counts)).experience.cells.get(CELL, Pages()).downloaded


def test_webs_that_agree_weigh_more_than_webs_that_do_not() -> None:
    agree = [(100, 90), (50, 46), (80, 70), (30, 27), (60, 55)]
    differ = [(100, 10), (50, 46), (80, 30), (30, 27), (60, 5)]
    assert weight(agree) >= 8
    assert weight(differ) <= 1
    assert learned(webs(*agree)).cells[CELL].mean == pytest.approx(0.9, abs=0.06)


@pytest.mark.parametrize("number", [0, 1, WEBS_OF_A_CELL - 1])
def test_few_webs_teach_nothing_however_large(number: int) -> None:
    assert not learned(webs(*[(1_000_000, 900_000)] * number)).cells


@pytest.mark.parametrize("relevant", [0, 20])
def test_webs_that_agree_on_hardly_any_teach_that_if_they_are_many(relevant: int) -> None:
    assert weight([(20, relevant)] * MANY) == HARDLY_WEIGHS
    assert weight([(20, relevant)] * (MANY - 1)) == 0


def test_links_that_name_no_language_teach_nothing() -> None:
    nameless = CELL % (KINDS // len(Named) * PLACES)
    assert names_language(CELL)
    assert not names_language(nameless)
    assert not names_language(SEEDS)
    assert not learned([Experience({nameless: Pages(9, 8)})] * 9).cells


def test_a_large_web_counts_as_a_small_one_that_is_like_it() -> None:
    small, large = [(8, 7), (8, 6), (8, 7)] * 2, [(8, 7), (8_000, 6_000), (8, 7)] * 2
    assert learned(webs(*small)).cells
    assert learned(webs(*small)) == learned(webs(*large))


@given(st.lists(st.tuples(st.integers(1, 10**6), st.floats(0, 1)), max_size=12))
def test_no_webs_weigh_more_than_may_be(counts: list[tuple[int, float]]) -> None:
    given = [(number, number * share) for number, share in counts]
    prior = learned(webs(*given))
    for pages in prior.experience.cells.values():
        assert 1 <= pages.downloaded <= max(WEIGHTS)
        assert 0 <= pages.relevant <= pages.downloaded
        assert pages.relevant * PARTS == int(pages.relevant * PARTS), "sums are exact"
    assert prior.experience.crawl == Pages(), "they are no pages of the crawl"
    assert Prior.load(prior.dump()).experience == prior.experience


WHOLE = list(product([weight for weight in WEIGHTS if weight >= 1], MEANS))


@pytest.mark.parametrize(("pages", "mean"), WHOLE)
def test_a_deviation_says_how_many_pages_a_cell_weighs(pages: float, mean: float) -> None:
    prior = Prior(3, {CELL: Between(3, mean, sqrt(mean * (1 - mean) / (pages + 1)))})
    assert Prior.load(prior.dump()).experience.cells[CELL].downloaded == pages


def test_a_cell_goes_by_the_table_that_more_webs_have_taught() -> None:
    few, many = Between(3, 0.5, 0.1), Between(9, 0.9, 0.1)
    one, other = Prior(3, {1: few, 2: many}), Prior(9, {1: many, 2: few, 3: few})
    assert one.beside(other) == Prior(12, {1: many, 2: many, 3: few})
    assert one.beside(Prior(0, {})).cells == one.cells


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no table of lswc learn-order"),
        ("webs = ", "no table of lswc learn-order"),
        ('cells_of = "other"\nwebs = 2', "another version"),
        (f'cells_of = "{SIGNATURE}"\nwebs = "many"', "no table"),
        (f'cells_of = "{SIGNATURE}"\nwebs = 2\ncell = 3', "no table"),
        (f'cells_of = "{SIGNATURE}"\nwebs = 2\ncell = [{{number = 4}}]', "no table"),
        (
            f'cells_of = "{SIGNATURE}"\nwebs = 2\n[[cell]]\nnumber = {CELLS}\nwebs = 2\n'
            "mean = 0.5\ndeviation = 0.2",
            "damaged",
        ),
        *(
            (
                f'cells_of = "{SIGNATURE}"\nwebs = 2\n[[cell]]\nnumber = 7\nwebs = 2\n'
                f"mean = {mean}\ndeviation = {deviation}",
                "cell 7 has",
            )
            for mean, deviation in [(0, 0.1), (1.5, 0.1), (0.5, 0), (0.5, 0.5), (0.5, 0.001)]
        ),
        (
            f'cells_of = "{SIGNATURE}"\nwebs = 2\n[[cell]]\nnumber = 7\nwebs = 2\n'
            "mean = nan\ndeviation = inf",
            "cell 7 has",
        ),
    ],
)
def test_what_is_no_table_is_refused(text: str, said: str) -> None:
    with pytest.raises(ExperienceError, match=said):
        Prior.load(text)


def test_a_new_crawl_begins_with_what_lswc_comes_with() -> None:
    known = prior_of(strategy("adaptive")).cells
    assert known == shipped().experience.cells
    cell = max(known, key=lambda cell: shipped().cells[cell].mean - server_share(cell))
    begun, blank = order(strategy("adaptive")), LearnedOrder()
    there = begun.worth(cell)
    assert there is not None
    assert there > 1.2 * blank.worth(cell)
    assert begun.before(cell) == known[cell].downloaded
    assert begun.pages == 0
    assert order(strategy("bfs")).before(cell) == 0


def test_what_counts_text_or_learns_nothing_begins_with_nothing() -> None:
    for name in ("adaptive_text", "soft_focused"):
        assert not prior_of(strategy(name)).cells, name


def test_pages_that_an_order_began_with_are_not_the_crawls_own() -> None:
    earlier = Experience({CELL: Pages(4, 3)}, Pages(10, 5))
    begun = LearnedOrder(earlier.copy(), earlier=earlier)
    assert begun.pages == 0
    begun.learn(CELL, 1)
    assert begun.pages == 1
    assert begun.before(CELL) == 4
