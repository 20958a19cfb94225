"""What may be shown in the browser: what brings nothing is paid by pages that were read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lswc.crawl.browser_budget import AT_FIRST, EXPLORED, FAILED, Budget

SHARE, TRIES = 0.05, 5


def test_an_app_that_brings_pages_is_shown_without_end() -> None:
    budget = Budget(SHARE, TRIES)
    for _ in range(1_000):
        assert budget.allows("app.example", 0, 0)
        budget.brought("app.example")


def test_hosts_that_bring_nothing_take_what_is_theirs_and_no_more() -> None:
    budget = Budget(SHARE, TRIES)
    budget.brought("app.example")
    shown = 0
    for number in range(100):
        while budget.allows(f"host{number}.example", 0, 0):
            budget.vain(f"host{number}.example")
            shown += 1
    assert shown == AT_FIRST
    assert budget.allows("app.example", 0, 0)
    assert not budget.allows("new.example", 0, 0)
    assert budget.allows("new.example", int(1 / SHARE) + 1, 0)


def test_a_page_that_hangs_costs_its_site_more() -> None:
    budget = Budget(SHARE, TRIES)
    budget.vain("slow.example", failed=True)
    assert budget.allows("slow.example", 0, 0) == (FAILED < TRIES)
    budget.vain("slow.example", failed=True)
    assert not budget.allows("slow.example", 0, 0)


def test_pages_under_way_count_as_if_they_brought_nothing() -> None:
    budget = Budget(SHARE, TRIES)
    assert budget.allows("a.example", 0, AT_FIRST - 1)
    assert not budget.allows("a.example", 0, AT_FIRST)


def test_buttons_that_lead_nowhere_are_left_alone_until_one_does() -> None:
    budget = Budget(SHARE, TRIES)
    for _ in range(EXPLORED):
        assert budget.explores("a.example")
        budget.explored("a.example", 0)
    assert not budget.explores("a.example")
    budget.explored("a.example", 3)
    assert budget.explores("a.example")


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=200))
def test_what_was_shown_in_vain_is_never_more_than_its_share(
    pages: list[tuple[str, bool]],
) -> None:
    budget, vain, brought, read = Budget(SHARE, TRIES), 0, 0, 0
    for site, is_relevant in pages:
        read += 1
        if not budget.allows(site, read, 0):
            continue
        if is_relevant:
            budget.brought(site)
            brought += 1
        else:
            budget.vain(site)
            vain += 1
    assert vain <= max(AT_FIRST + SHARE * read, 0) + brought + 1
