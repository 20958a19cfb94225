"""Kinds, places and cells, of the rules here and of a user's own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.strategy import (
    GUESS,
    LISTING,
    NAMES,
    NO_PAGES,
    REQUISITE,
    SEED,
    SUBLISTING,
    Anchor,
    Named,
    Pages,
    Status,
    StrategyError,
    adaptive,
    all_facts,
    decode,
    encode,
    strategy,
    tier_rules,
    with_requisites,
)
from tests.strategy import own_rules

OWN = "tests.strategy.own_rules:"
RULES = {
    "server_conservative": tier_rules.conservative,
    "lswc:S=3,T=5": tier_rules.lswc(5),
    "site_queues": tier_rules.site_queues,
    "tld_anchor": tier_rules.tld_anchor,
    OWN + "named_first": own_rules.named_first,
    OWN + "one_corner": own_rules.one_corner,
    OWN + "listed_first": own_rules.listed_first,
}
CODES = st.integers(0, SEED - 1)
COUNTS = st.tuples(st.integers(0, 10_000), st.integers(0, 10_000)).map(
    lambda counts: Pages(max(counts), min(counts))
)


@given(CODES, st.sampled_from(Status), st.sampled_from(sorted(RULES)))
def test_a_cell_is_what_the_rule_says_of_the_facts(code: int, status: Status, name: str) -> None:
    assert strategy(name).cell(code, status) == RULES[name](decode(code, status))


@pytest.mark.parametrize("name", [*NAMES, *RULES])
def test_kinds_are_what_a_strategy_tells_apart(name: str) -> None:
    chosen = strategy(name)
    assert len(chosen.kind_of) == SEED + 1
    assert set(chosen.kind_of) == set(range(chosen.kinds))
    assert len(set(chosen.cell_of)) == chosen.kinds


@pytest.mark.parametrize("name", NAMES)
def test_what_no_strategy_sees_has_one_cell_wherever_it_leads(name: str) -> None:
    plain = strategy(name)
    chosen = with_requisites(plain)
    assert len({SEED, REQUISITE, LISTING, SUBLISTING}) == 4
    assert len(chosen.kind_of) == GUESS + 1
    for place in range(chosen.places):
        for code in (REQUISITE, LISTING, SUBLISTING):
            assert chosen.cell(code, place) == tier_rules.REQUISITES
        for code in (0, SEED - 1, SEED):
            assert chosen.cell(code, place) == plain.cell(code, place)


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("bfs", set()),
        ("distance", {"distance"}),
        ("server_conservative", {"referrer", "referrer_server", "target_server"}),
        (OWN + "named_first", {"named", "target_server"}),
        (OWN + "listed_first", {"source"}),
        (OWN + "one_corner", {"tld", "distance", "named", "same_folder"}),
    ],
)
def test_it_is_known_which_facts_a_rule_looks_at(name: str, facts: set[str]) -> None:
    assert strategy(name).facts == facts


def test_a_rule_of_ones_own_has_a_name_and_a_tolerance() -> None:
    assert strategy(OWN + "named_first").name == OWN + "named_first:T=10"
    assert strategy(OWN + "named_first:T=2").tolerated == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("no_such_module:rule", "can't take the strategy no_such_module:rule: No module"),
        (OWN + "missing", "has no attribute 'missing'"),
        (OWN + "NOT_A_RULE", "NOT_A_RULE isn't a function"),
        (
            OWN + "named_first:S=2",
            "strategy tests.strategy.own_rules:named_first has no parameter 'S'",
        ),
        (OWN + "named_first:S=2", "has no parameter 'S'; it takes: T"),
        (OWN + "raises", "raises:T=10 fails: ZeroDivisionError"),
        (OWN + "too_high", "must return a tier, 0 to 99, or DISCARD, not 100"),
        (OWN + "a_word", "must return a tier, 0 to 99, or DISCARD, not 'low'"),
        (OWN + "misspelt", "a link has no fact 'distanse'; known: referrer, distance"),
        (OWN + "compares_all", "they can't be compared as a whole"),
    ],
)
def test_a_wrong_rule_is_told_before_anything_is_fetched(given: str, message: str) -> None:
    with pytest.raises(StrategyError, match=message):
        strategy(given)


@given(COUNTS)
def test_a_rules_place_is_the_status_of_the_unit(unit: Pages) -> None:
    place = strategy("server_aggressive:T=5").place(unit)
    assert Status(place) is (
        Status.RELEVANT
        if unit.relevant
        else Status.UNVISITED
        if unit.downloaded == 0
        else Status.UNDECIDED
        if unit.downloaded <= 5
        else Status.IRRELEVANT
    )


@given(COUNTS, COUNTS)
def test_a_learned_place_is_one_of_the_places(unit: Pages, site: Pages) -> None:
    learned = strategy("adaptive")
    assert 0 <= learned.place(unit, site) < learned.places


@given(COUNTS, COUNTS)
def test_a_further_miss_never_makes_a_servers_place_better(unit: Pages, site: Pages) -> None:
    place = strategy("adaptive").place
    site = Pages(site.downloaded + 1, site.relevant)
    known = Pages(unit.downloaded + adaptive.PAGES_HARDLY_KNOWN + 1, unit.relevant)
    assert place(Pages(known.downloaded + 1, known.relevant), site) <= place(known, site)


@given(COUNTS, COUNTS)
def test_what_names_the_language_has_a_look_on_each_server(unit: Pages, site: Pages) -> None:
    learned, site = strategy("adaptive"), Pages(site.downloaded + 1, site.relevant)
    place = learned.place(unit, site)
    facts = next(all_facts())
    named, unnamed = (
        learned.cell(encode(facts._replace(named=name)), place)
        for name in (Named.TARGET, Named.NONE)
    )
    share = adaptive.server_share(named)
    if unit.downloaded < adaptive.LOOK:
        assert share == max(0.03, adaptive.server_share(unnamed))
    else:
        assert share == adaptive.server_share(unnamed)


def test_all_servers_of_a_site_without_pages_are_in_one_place() -> None:
    place = strategy("adaptive").place
    assert place(NO_PAGES) == adaptive.SITE_UNVISITED
    assert place(NO_PAGES, Pages(9, 0)) != place(NO_PAGES, Pages(9, 9))


def test_a_cell_in_words() -> None:
    learned = strategy("adaptive")
    words = {learned.describe(cell) for cell in range(learned.cells)}
    assert len(words) == learned.cells
    first = next(all_facts())
    facts = first._replace(tld=True, anchor=Anchor.TARGET, named=Named.TARGET)
    cell = learned.cell(encode(facts), learned.place(Pages(9, 4), Pages(9, 4)))
    assert learned.describe(cell) == (
        "names the language, from a relevant page, on the server, text in the language, "
        "top-level domain of the language; server with more than 2 pages, 30-50 % relevant"
    )
    assert learned.describe(adaptive.SEEDS) == "seeds"
    assert strategy("lswc").describe(3) == "tier 3"
