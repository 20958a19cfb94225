"""Slots: never more taken than there are, and none lost."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from lswc.guest.decisions import Group
from lswc.guest.slots import REMEMBERED, OwnSlots

MACHINE, DOMAIN = Group("address", 2, 3.0), Group("domain", 3, 0.0)


@given(st.lists(st.sampled_from(["take both", "take domain", "give back", "wait"]), max_size=40))
def test_never_more_than_there_are(steps: list[str]) -> None:
    now = 0.0
    slots = OwnSlots(lambda: now)
    held: list[list[Group]] = []
    rested: list[float] = []
    for step in steps:
        match step:
            case "give back" if held:
                groups = held.pop(0)
                slots.give_back(groups, asked=True)
                rested += [now + MACHINE.rest] * (MACHINE in groups)
            case "take both" | "take domain":
                groups = [MACHINE, DOMAIN] if step == "take both" else [DOMAIN]
                wait = slots.take(groups)
                assert wait >= 0
                machine = sum(MACHINE in taken for taken in held)
                machine += sum(time > now for time in rested)
                free = len(held) < 3 and (machine < 2 or MACHINE not in groups)
                assert (wait == 0) == free
                held += [groups] * free
            case "wait":
                now += 1.0


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
