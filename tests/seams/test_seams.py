"""Seams of a crawl: whatever happens between its parts, and around them, its promises hold."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from lswc.crawl.close_reasons import CANNOT_WRITE, OFFLINE_TOO_LONG, TOLD
from lswc.errors import ConfigError, LswcError
from lswc.frontier.store import report as sqlite_report
from lswc.frontier.store.frontier import open_existing
from lswc.guest.control.store import InFolder, change
from lswc.guest.control_in_effect import at_start
from lswc.outcomes import LIFTED, OF_QUOTA, Outcome
from lswc.urls import parse
from tests.seams.crawl import Machine, Run
from tests.seams.invariants import Met, check_corpus, check_heard, check_left
from tests.seams.machine import WITHOUT_INDEX
from tests.seams.web import ANSWERS, HOSTS, NAMES, ROBOTS, host, url

PAGES = 90
HOST = st.integers(0, HOSTS - 1).map(host)
PAGE = st.integers(0, PAGES - 1)
PROFILES = ("adaptive", "bfs", "soft_focused", "hard_focused", "server_aggressive_t10")
INSTRUCTIONS: dict[str, Any] = {
    "block": True, "pause": True, "max_pages": 2, "max_bytes": 900, "max_depth": 1, "tolerate": 1,
    "priority": 3, "delay": 9,
}  # fmt: skip
HOLDING = ("block", "pause", "max_depth")
"""Instructions that keep a crawl from asking for pages of a place."""
ORDERS: dict[str, Any] = {"pause": True, "requests": 1, "stop": True}
FAULTS = ("full", "unsynced", "disk I/O error", "database is locked")
READER_STARTS = ("none", "dies", "says nonsense", "stops halfway", "hangs")
READER_FAULTS = ("dies", "says nonsense", "stops halfway", "hangs")


class Seams(RuleBasedStateMachine):
    """A crawl, and all that it meets."""

    machine: Machine

    @initialize(salt=st.integers(0, 9_999), profile=st.sampled_from(PROFILES))
    def begin(self, salt: int, profile: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="seams"))
        self.machine = Machine(self.folder, PAGES, salt, profile)
        self.said: dict[tuple[str, str], Any] = {}
        self.met = Met()
        self.heard: dict[tuple[str, str], float] = {}
        self.faulty = self.reader_failed = self.obeyed = False
        self.steps = 0
        self._begin()

    def _begin(self) -> None:
        if ("", "stop") in self.said:
            with pytest.raises(ConfigError, match="says stop"):
                at_start(InFolder(self.machine.folder))
            self._take_back("", "stop")
        self.faulty = self.machine.disk.fails
        self.obeyed = False
        self.machine.begin()
        self._see()

    @property
    def run(self) -> Run:
        assert self.machine.run is not None
        return self.machine.run

    def _see(self) -> None:
        """Take notice of what became of the process."""
        run, disk = self.run, self.machine.disk
        if disk.left is not None:
            self._kill()
        elif run.has_ended:
            self._ended(run)

    def _kill(self) -> None:
        disk = self.machine.disk
        wrong = self.run.log.wrong
        if disk.left is None:
            disk.leave()
        assert disk.left is not None
        self.run.abandon()
        self.machine.folder, disk.left = disk.left, None
        assert not wrong, wrong
        self._check_left()
        self._begin()

    def _ended(self, run: Run) -> None:
        error = run.task.exception()
        assert not run.log.wrong, run.log.wrong
        if error is not None:
            assert isinstance(error, LswcError), error
            assert self.faulty, error
        else:
            self._check_reason(run)
        run.abandon()
        self._check_left()

    def _check_reason(self, run: Run) -> None:
        said = {"finished", "shutdown", OFFLINE_TOO_LONG}
        if self.faulty or self.machine.disk.fails:
            said.add(CANNOT_WRITE)
        if self.machine.reading.failing or self.reader_failed:
            said.add(CANNOT_WRITE)
        if self.obeyed or ("", "stop") in self.said:
            said.add(TOLD)
        assert run.reason in said, (run.reason, run.log.said)

    def _check_left(self) -> None:
        m = self.machine
        check_left(m.folder, m.web, self.met)

    def _let(self, seconds: float) -> None:
        self.run.let(seconds)
        self._see()

    @property
    def runs(self) -> bool:
        """Whether a process crawls."""
        return self.machine.run is not None

    def teardown(self) -> None:
        if not hasattr(self, "machine"):
            return
        try:
            self._finish()
        finally:
            self.machine.close()
            shutil.rmtree(self.folder)

    def _finish(self) -> None:
        """Mend all, take all back, and crawl to the end: nothing is left, and nothing was lost."""
        machine = self.machine
        machine.disk.heal()
        machine.reading.heal()
        machine.web.heal()
        self.met.poison.clear()
        for place, key in list(self.said):
            self._take_back(place, key)
        if self.runs:
            self._let(5.0)
        hears = self.runs
        for _ in range(12):
            if not self.runs:
                self._begin()
            for _ in range(60):
                if self.runs:
                    self._let(30.0)
            if hears and not self.runs:
                assert not self._held(), "taken back, and it wasn't heard"
            hears = False
            if not self.runs and not self._left():
                break
        assert not self.runs, "it doesn't end"
        assert not self._left(), self._left()
        check_corpus(machine.folder)

    def _left(self) -> list[str]:
        """Return what isn't finished, or was only held back by what doesn't hold any more."""
        with closing(open_existing(self.machine.folder / "frontier.db")) as frontier:
            unfinished = [f"{frontier.unfinished} URLs"] if frontier.unfinished else []
        return unfinished + self._held()

    def _held(self) -> list[str]:
        """Return what ended only because of instructions."""
        held = (*LIFTED, *OF_QUOTA)
        finished = sqlite_report.finished(self.machine.folder / "frontier.db")
        return [f"{address} {outcome}" for address, outcome in finished if outcome in held]

    # What happens.

    @precondition(lambda self: self.runs)
    @rule(seconds=st.sampled_from((0.01, 0.3, 0.6, 1.0, 3.0, 5.0, 20.0, 100.0)))
    def time_passes(self, seconds: float) -> None:
        self._let(seconds)

    @rule(number=PAGE, kind=st.sampled_from(ANSWERS))
    def page_answers(self, number: int, kind: str) -> None:
        self.machine.web.answers[url(number)] = kind

    @rule(name=HOST, kind=st.sampled_from(ANSWERS))
    def server_answers(self, name: str, kind: str) -> None:
        for number in range(PAGES):
            if host(number) == name:
                self.machine.web.answers[url(number)] = kind

    @rule(name=HOST, kind=st.sampled_from(ROBOTS))
    def robots_answer(self, name: str, kind: str) -> None:
        self.machine.web.robots[name] = kind

    @rule(name=HOST, kind=st.sampled_from(NAMES))
    def name_leads(self, name: str, kind: str) -> None:
        self.machine.web.names[name] = kind

    @rule(online=st.booleans())
    def network_is(self, online: bool) -> None:
        self.machine.web.online = online

    @rule()
    def web_is_mended(self) -> None:
        self.machine.web.heal()

    @precondition(lambda self: self.runs)
    @rule()
    def idle_reader_dies(self) -> None:
        for process in self.machine.reading.processes:
            if not process.is_busy:
                process.kill()

    @precondition(lambda self: self.runs)
    @rule()
    def busy_reader_dies(self) -> None:
        for process in self.machine.reading.processes:
            if process.is_busy:
                process.kill()
                self.met.unread.add(Outcome.READER_DIED)

    @rule(fault=st.sampled_from(READER_FAULTS))
    def reader_dies_of_next_page(self, fault: str) -> None:
        self.machine.reading.deadly.append(fault)
        self.met.unread |= {Outcome.READER_DIED, Outcome.READING_TOO_LONG}

    @rule(faults=st.lists(st.sampled_from(READER_STARTS), min_size=1, max_size=3))
    def readers_do_not_start(self, faults: list[str]) -> None:
        self.machine.reading.failing += faults
        self.reader_failed = True

    @rule(number=PAGE)
    def page_is_poison(self, number: int) -> None:
        self.met.unread.add(Outcome.READER_DIED)
        if not self.machine.web.answered[url(number)]:
            self.met.poison.add(number)
        self.machine.reading.poison.add(f"<title>t{number}</title>".encode())

    @precondition(lambda self: self.runs)
    @rule()
    def killed(self) -> None:
        self._kill()

    @precondition(lambda self: self.runs)
    @rule(writes=st.integers(1, 30), seconds=st.sampled_from((3.0, 20.0)))
    def killed_at_a_write(self, writes: int, seconds: float) -> None:
        self.machine.disk.dies_in = writes
        self._let(seconds)
        self.machine.disk.dies_in = None

    @precondition(lambda self: self.runs)
    @rule(seconds=st.sampled_from((0.0, 0.3, 30.0)))
    def stopped(self, seconds: float) -> None:
        self.run.stop()
        self._let(seconds)

    @precondition(lambda self: not self.runs)
    @rule()
    def started(self) -> None:
        self._begin()

    @rule(place=HOST, key=st.sampled_from(sorted(INSTRUCTIONS)))
    def told_of_a_place(self, place: str, key: str) -> None:
        self._say(place, key, INSTRUCTIONS[key])

    @precondition(lambda self: self.runs)
    @rule(key=st.sampled_from(sorted(ORDERS)))
    def told(self, key: str) -> None:
        self._say("", key, ORDERS[key])

    @precondition(lambda self: self.said)
    @rule(data=st.data())
    def taken_back(self, data: st.DataObject) -> None:
        self._take_back(*data.draw(st.sampled_from(sorted(self.said))))

    def _say(self, place: str, key: str, value: object) -> None:
        change(InFolder(self.machine.folder), key, value, place)
        self.said[place, key] = value
        self.met.said.add(key)

    def _take_back(self, place: str, key: str) -> None:
        # A crawl that closes, as it was told to, doesn't go on.
        self.obeyed |= key == "stop" and self.runs and self.run.is_closing
        change(InFolder(self.machine.folder), key, None, place)
        del self.said[place, key]
        self.heard.pop((place, key), None)

    def _hear(self) -> None:
        """Take notice of the instructions that the crawl has heard."""
        control = self.run.parts.guest.control
        for place, key in self.said:
            where = parse(f"http://{place}/")
            if where is None or key not in HOLDING:
                continue
            if getattr(control.rule(where), key) == INSTRUCTIONS[key]:
                self.heard.setdefault((place, key), self.machine.clock.now)

    @precondition(lambda self: self.runs)
    @rule(
        fault=st.sampled_from(FAULTS),
        seconds=st.sampled_from((1.0, 20.0)),
    )
    def disk_fails(self, fault: str, seconds: float) -> None:
        disk = self.machine.disk
        self.faulty = True
        disk.full = fault == "full"
        disk.unsynced = fault == "unsynced"
        disk.broken = fault if fault.startswith("d") else ""
        self._let(seconds)
        disk.heal()

    def start_again(self) -> None:
        while self.runs and self.run.is_closing:
            self._let(1.0)
        if not self.runs:
            self._begin()

    @rule(seconds=st.sampled_from((-300.0, -1.0, 1.0, 300.0)))
    def wall_clock_is_set(self, seconds: float) -> None:
        self.machine.clock.ahead += seconds

    @precondition(lambda self: self.runs)
    @rule(seconds=st.sampled_from((1.0, 50.0, 70.0, 500.0)))
    def process_stands_still(self, seconds: float) -> None:
        self.machine.clock.now += seconds

    # What always holds.

    @invariant()
    def nothing_is_wrong(self) -> None:
        assert not self.machine.web.wrong, self.machine.web.wrong
        if not self.runs:
            return
        assert not self.run.log.wrong, self.run.log.wrong
        parts = self.run.parts
        check_heard(self.machine.folder, self.machine.web, self.heard)
        self._hear()
        if not self.run.is_closing:
            assert parts.frontier.counts().leased == len(parts.commits.visits)
        self.steps += 1
        if self.steps % 5 == 0:
            copy = self.folder / "copy"
            shutil.copytree(self.machine.folder, copy, ignore=WITHOUT_INDEX)
            check_left(copy, self.machine.web, self.met)
            shutil.rmtree(copy)


def live(examples: int, steps: int, **more: Any) -> None:
    """Let so many crawls live through so many steps each."""
    run_state_machine_as_test(
        Seams,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            # To make a failure smaller takes hundreds of crawls more.
            phases=(Phase.explicit, Phase.reuse, Phase.generate),
            **more,
        ),
    )


class Story(Seams):
    """A crawl that meets everything once."""

    def told_all(self, *steps: tuple[Any, ...]) -> None:
        for step, *given in steps:
            step(self, *given)
            self.nothing_is_wrong()

    def some_are_blocked(self, some: bool) -> None:
        assert any(held.endswith(Outcome.BLOCKED) for held in self._held()) is some

    def kill_a_busy_reader(self) -> None:
        for _ in range(2_000):
            self._let(0.05)
            if any(process.is_busy for process in self.machine.reading.processes):
                break
        else:
            raise AssertionError("none reads a page")
        self.busy_reader_dies()


def test_a_crawl_meets_everything_and_keeps_its_promises() -> None:
    seams = Story()
    at = Seams.time_passes
    seams.begin(7, "adaptive")
    try:
        for number, kind in enumerate(ANSWERS, 3):
            seams.page_answers(number, kind)
        seams.robots_answer(host(5), "slow crawl")
        seams.robots_answer(host(2), "some")
        seams.robots_answer(host(4), "500")
        seams.page_is_poison(31)
        seams.told_all(
            (at, 5.0),
            (Seams.idle_reader_dies,),
            (at, 3.0),
            (Seams.reader_dies_of_next_page, "dies"),
            (at, 3.0),
            (Story.kill_a_busy_reader,),
            (Seams.readers_do_not_start, ["dies", "none"]),
            (Seams.idle_reader_dies,),
            (at, 5.0),
            (Seams.told_of_a_place, host(0), "block"),
            (Seams.told_of_a_place, host(3), "pause"),
            (Seams.told_of_a_place, host(2), "max_pages"),
            (Seams.told_of_a_place, host(1), "max_depth"),
            (at, 20.0),
            (Seams.robots_answer, host(4), "all"),
            (Seams.told, "pause"),
            (at, 5.0),
            (Seams._take_back, "", "pause"),
            (Seams._take_back, host(1), "max_depth"),
            (Seams.killed_at_a_write, 7, 20.0),
            (at, 3.0),
            (Seams.killed,),
            (at, 5.0),
            (Story.some_are_blocked, True),
            (Seams._take_back, host(0), "block"),
            (at, 5.0),
            (Story.some_are_blocked, False),
            (Seams.network_is, False),
            (at, 100.0),
            (Seams.network_is, True),
            (at, 20.0),
            *(
                step
                for fault in FAULTS
                for step in (
                    (Seams.disk_fails, fault, 20.0),
                    (Seams.start_again,),
                    (at, 5.0),
                    (Seams.start_again,),
                )
            ),
            (Seams.process_stands_still, 70.0),
            (at, 1.0),
            (Seams.stopped, 30.0),
            (Seams.start_again,),
        )
    finally:
        seams.teardown()


def test_no_server_is_asked_sooner_or_deeper_than_it_and_people_say() -> None:
    seams, hosts = Story(), [host(number) for number in range(HOSTS)]
    at = Seams.time_passes
    seams.begin(3, "bfs")
    try:
        seams.told_all((at, 8.0))
        for number, name in enumerate(hosts):
            seams.server_answers(name, "busy" if number % 2 else "429")
        seams.told_all((at, 50.0))
        answered = list(seams.machine.web.answered.values())
        assert all(any(kinds[kind] for kinds in answered) for kind in ("429", "busy"))
        seams.web_is_mended()
        seams.told_all(*((Seams.told_of_a_place, name, "max_depth") for name in hosts))
        seams.told_all((at, 2.0), (at, 40.0))
        assert len(seams.heard) == HOSTS
        seams.told_all(*((Seams._take_back, name, "max_depth") for name in hosts))
        seams.told_all((Seams.told_of_a_place, host(1), "block"), (at, 2.0), (at, 40.0))
        assert seams.runs
    finally:
        seams.teardown()


def test_a_crawl_that_cannot_keep_who_rests_closes_all_else() -> None:
    seams = Story()
    seams.begin(306, "adaptive")
    try:
        seams.told_all(
            (Seams.time_passes, 1.0),
            *((Seams.server_answers, host(number), "busy") for number in range(HOSTS)),
            (Seams.time_passes, 30.0),
        )
        seams.machine.disk.unsynced = seams.faulty = True
        seams.stopped(30.0)
        assert not seams.runs
    finally:
        seams.teardown()


def test_a_page_whose_robots_txt_redirects_when_the_crawl_stops_waits_for_the_next() -> None:
    seams = Seams()
    seams.begin(8553, "server_aggressive_t10")
    try:
        seams.robots_answer(kind="redirect", name=host(0))
        seams.busy_reader_dies()
        seams.robots_answer(kind="all", name=host(2))
        seams.stopped(30.0)
    finally:
        seams.teardown()


def test_a_stop_before_the_engine_runs_is_obeyed(tmp_path: Path) -> None:
    with closing(Machine(tmp_path, PAGES, 1, "bfs")) as machine:
        run = machine.begin(is_stopped=True)
        run.let(10.0)
        assert run.has_ended
        assert run.reason == "shutdown"
        assert not machine.web.asked
        assert not run.log.wrong


def test_promises_hold_whatever_happens() -> None:
    live(6, 15, derandomize=True)


@pytest.mark.slow
def test_promises_hold_for_long() -> None:
    # The same lives each time, so that a fault that is found can be looked at again.
    live(100, 50, derandomize=True)
