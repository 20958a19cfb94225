"""Slots of machines and domains; whole crawls are in tests/crawl."""

from __future__ import annotations

import tracemalloc

from lswc.crawler.slots import REMEMBERED, Group, OwnSlots


def test_machines_that_have_rested_take_no_memory() -> None:
    now = [0.0]
    slots = OwnSlots(lambda: now[0])

    def ask(number: int) -> None:
        groups = [Group(f"address {number}", 1, 1.0)]
        assert slots.take(groups) == 0.0
        slots.give_back(groups, asked=True)
        now[0] += 0.01

    tracemalloc.start()
    for number in range(REMEMBERED):
        ask(number)
    before, _ = tracemalloc.get_traced_memory()
    for number in range(REMEMBERED, 4 * REMEMBERED):
        ask(number)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after < 1.5 * before
    resting = Group(f"address {4 * REMEMBERED - 1}", 1, 1.0)
    assert 0.9 < slots.take([resting]) <= 1.0
