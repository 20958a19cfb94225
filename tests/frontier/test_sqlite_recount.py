"""What the SQLite store counts and orders besides its URLs is what a recount of these says."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from lswc.errors import StorageError
from lswc.frontier.rules import contract
from lswc.frontier.rules.contract import Caps, Terms
from lswc.frontier.rules.visit import Offer
from lswc.frontier.store.frontier import Frontier
from lswc.frontier.store.report import opened
from lswc.outcomes import Outcome
from lswc.strategy import (
    GUESS,
    REQUISITE,
    REQUISITES,
    SEED,
    PageLanguage,
    Unit,
    strategy,
    with_requisites,
)
from tests.visits import ended

if TYPE_CHECKING:
    from lswc.frontier.rules.visit import Lease

STRATEGIES = [
    "soft_focused",
    "limited_distance:N=3",
    "server_conservative:T=2",
    "directory_conservative:T=1",
    "tests.strategy.own_rules:only_supported:T=1",
    "adaptive",
    "adaptive",
]
SERVERS = ["a.co.th", "www.a.co.th", "x.a.co.th", *(f"{name}.co.th" for name in "bcde")]


@st.composite
def found(draw: st.DrawFn) -> Offer:
    """A link to one of a few URLs, of any kind."""
    server = draw(st.sampled_from(SERVERS))
    unit = draw(st.sampled_from([f"{server}/x/", f"{server}/y/"]))
    return Offer(
        f"{draw(st.sampled_from(['http', 'https']))}://{unit}{draw(st.integers(0, 5))}",
        server,
        unit,
        draw(st.sampled_from([SEED, REQUISITE, GUESS]) | st.integers(0, SEED)),
        draw(st.sampled_from(PageLanguage)),
        draw(st.integers(1, 4)),
        draw(st.sampled_from([0, 0, 3])),
    )


links = st.lists(found(), max_size=12)


class Counted(RuleBasedStateMachine):
    """A frontier in a file, which is recounted after each step, and opened anew now and then."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.path = Path(self.folder.name, "frontier.db")
        self.patched = patch.object(contract, "FAR", 0.9)  # they wait for what is hardly better
        self.patched.start()

    @initialize(
        spec=st.sampled_from(STRATEGIES),
        haste=st.sampled_from([0.1, 1.0]),
        caps=st.builds(
            Caps,
            server=st.sampled_from([0, 0, 4]),
            domain=st.sampled_from([0, 0, 5]),
            sites=st.sampled_from([0, 3]),
        ),
        share=st.sampled_from([0.25, 1.0]),
    )
    def begin(self, spec: str, haste: float, caps: Caps, share: float) -> None:
        self.strategy = strategy(spec)
        self.terms = Terms(haste=haste, caps=caps, unproven_share=share, small_family=1)
        self.by_server = self.strategy.unit is Unit.SERVER
        self.now = 0.0
        self.open()
        self.frontier.offer(self.by_unit([Offer(
            "http://a.co.th/", "a.co.th", "a.co.th/", SEED, PageLanguage.TARGET, 0
        )]))  # fmt: skip

    def open(self) -> None:
        self.held: list[Lease] = []
        self.frontier = Frontier(self.path, self.strategy, {}, self.terms)

    def by_unit(self, found: list[Offer]) -> list[Offer]:
        return [o._replace(unit=o.server) for o in found] if self.by_server else found

    @rule(wait=st.sampled_from([0.0, 1.0, 5.0]), of_page=st.sampled_from([True, True, False]))
    def lease(self, wait: float, of_page: bool) -> None:
        self.now += wait
        ask = self.frontier.lease if of_page else self.frontier.lease_requisite
        lease = ask(self.now)
        if lease is not None:
            self.held.append(lease)

    @precondition(lambda self: self.held)
    @rule(
        number=st.integers(0, 3),
        relevant=st.sampled_from([True, False, None]),
        found=links,
        outcome=st.sampled_from(["html", Outcome.REDIRECT, Outcome.TIMEOUT]),
        rest=st.sampled_from([0.0, 2.0]),
        fails=st.sampled_from([False, False, False, True]),
    )
    def commit(
        self, number: int, relevant: bool | None, found: list[Offer], outcome: str, rest: float,
        fails: bool,
    ) -> None:  # fmt: skip
        lease = self.held[number % len(self.held)]
        visit = ended(
            lease, outcome, relevant=relevant if lease.is_page else None,
            offers=self.by_unit(found), rest=rest,
        )  # fmt: skip
        if fails and not self.frontier._file.db.in_transaction:  # of URLs that came back
            db = self.frontier._file.db
            fail = "BEFORE UPDATE ON tally BEGIN SELECT RAISE(ABORT, 'no'); END"  # last of all
            db.execute(f"CREATE TEMP TRIGGER full {fail}")
            with pytest.raises(StorageError):
                self.frontier.commit(visit)
            db.execute("DROP TRIGGER IF EXISTS full")
            return
        self.held.remove(lease)
        assert self.frontier.commit(visit)

    @precondition(lambda self: self.held)
    @rule(wait=st.sampled_from([0.0, 3.0]))
    def postpone(self, wait: float) -> None:
        visit = ended(self.held.pop(), Outcome.TIMEOUT)
        assert self.frontier.postpone(visit, self.now + wait)

    @precondition(lambda self: self.held)
    @rule()
    def give_back(self) -> None:
        assert self.frontier.give_back(ended(self.held.pop()))

    @rule()
    def retry(self) -> None:
        self.frontier.retry([Outcome.TIMEOUT])

    @rule()
    def reopen(self) -> None:
        with self.frontier.reading() as reader:
            lost = [url for url, _ in reader.finished()][::2]
        self.held.clear()
        self.frontier.close()
        self.open()
        self.frontier.reopen(lost, {})

    @rule()
    def make_durable(self) -> None:
        while not self.frontier.prepare_checkpoint():
            pass
        self.frontier.checkpoint()
        assert self.frontier.unsaved == 0

    @invariant()
    def is_as_recounted(self) -> None:
        if not hasattr(self, "frontier"):
            return
        db, lines = self.frontier._file.db, self.frontier._file.lines
        recounted = db.execute(
            "SELECT server, line, min(seq), count(*) FROM url WHERE outcome IS NULL"
            " GROUP BY server, line"
        ).fetchall()
        assert db.execute("SELECT * FROM line").fetchall() == recounted
        servers = db.execute(
            "SELECT server.id, server.site, server.downloaded + server.missed, server.place,"
            " site.place FROM server JOIN site ON site.id = server.site ORDER BY server.id"
        ).fetchall()
        for server, site, looks, place, of_site in servers:
            assert (place is None) == (looks == 0), "a place of its own"
            assert lines.sizes.site(server) == site
            if self.by_server:
                assert lines.sizes.place[server] == (of_site if place is None else place)
        self.check_counts(recounted)
        self.check_index()
        leased = db.execute("SELECT seq, server, line FROM url").fetchall()
        where = {seq: (server, line) for seq, server, line in leased}
        assert lines.leased == {lease.id: where[lease.id] for lease in self.held}

    def check_counts(self, recounted: list[tuple[int, int, int, int]]) -> None:
        lines = self.frontier._file.lines
        cells, unproven, of_servers = Counter[int](), Counter[int](), Counter[int]()
        for server, line, _, number in recounted:
            cell = lines.cell_of(line, lines.sizes.place[server])
            cells[cell] += number
            of_servers[server] += number
            if cell < REQUISITES and lines.family(server, cell):
                unproven[cell] += number
        assert +lines.waiting == cells
        assert +lines.unproven == unproven
        assert set(cells) - {REQUISITES, REQUISITES + 1} == set(lines.occupied.best())
        for server, number in of_servers.items():
            assert lines.sizes.of_server(server) == number

    def check_index(self) -> None:
        db, lines = self.frontier._file.db, self.frontier._file.lines
        hidden = {(server, line) for server, of in lines.index._hidden.items() for line in of}
        assert {server for server, _ in hidden} <= lines.index.busy.keys()
        servers = [server for (server,) in db.execute("SELECT DISTINCT server FROM line")]
        every = [line for server in servers for line in lines.lines_of(server)]
        shown = {
            (line.cell, line.family, line.seq, line.server, line.line)
            for line in every
            if line[:2] not in hidden
        }
        assert set(db.execute("SELECT * FROM ready")) == shown
        assert hidden <= {line[:2] for line in every}
        for cell, family, *_ in shown:
            if cell < REQUISITES:
                assert cell in (lines.apart if family else lines.ready)
        site_of = lines.sizes.site
        known = {
            (site_of(line.server), line.cell, line.server, line.line)
            for line in every
            if lines.index.knows(site_of(line.server))
        }
        assert set(db.execute("SELECT * FROM of_site")) == known

    def teardown(self) -> None:
        self.patched.stop()
        if hasattr(self, "frontier"):
            self.frontier.checkpoint()  # commits that URLs came back
            expected = dict(+self.frontier._file.lines.waiting)
            self.frontier.close()
            with opened(self.path) as reader:
                reader.strategy = with_requisites(self.strategy)
                assert reader.pending() == expected
        self.folder.cleanup()


def test_all_counts_are_as_recounted() -> None:
    steps = settings(max_examples=15, stateful_step_count=30, deadline=None)
    run_state_machine_as_test(Counted, settings=steps)
