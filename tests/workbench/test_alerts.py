"""What somebody should do about a crawl: each cause has its alert, and a healthy crawl has none."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from lswc.frontier.rules.report import Family, Queue
from lswc.guest.pageless import Server, Without
from lswc.monitor.snapshot import DiskSpace, Outlook, Snapshot, Tallies, Worker
from lswc.workbench import usual
from lswc.workbench.alerts import NOTE, SOON, URGENT, alerts

if TYPE_CHECKING:
    from lswc.workbench.alerts import Alert

DISK = DiskSpace(500 * 10**9, 1_000 * 10**9)


def snapshot(
    state: str = "running", worker: dict[str, Any] | None = None, **fields: Any
) -> Snapshot:
    """Return a crawl without faults, but for what is given."""
    one = Worker(**{"state": state, "seconds": 7_200.0, "received": 10**9, **(worker or {})})
    tallies = Tallies(finished={"html": 9_000, "status 404": 600, "timeout": 300, "status 403": 40})
    healthy = {
        "state": state, "workers": (one,), "disk": DISK, "pages": 9_000, "relevant": 7_000,
        "tallies": tallies, "outlook": Outlook(next_harvest_rate=0.4), "pending": 9_000,
        "without_page": Without(1, {"robots.txt": 1}, (Server("x.th", {"robots.txt": 4}, 3),)),
        "longest": (Queue("a.th", 9_000, 500, 400), Queue("b.th", 900, 900, 0)),
        "families": (Family("f.com", 900, 10, "g.com", 800),),
    }  # fmt: skip
    return Snapshot(**{**healthy, **fields})


def ended(**numbers: int) -> dict[str, Any]:
    return {"tallies": Tallies(finished={n.replace("_", " "): k for n, k in numbers.items()})}


def test_a_healthy_crawl_needs_nobody() -> None:
    for state in ("running", "closed", "paused", "unknown"):
        assert alerts(snapshot(state)) == []


@pytest.mark.parametrize(
    ("change", "level", "cause", "link"),
    [
        ({"worker": {"state": "silent"}}, URGENT, "reports nothing any more", ""),
        ({"worker": {"is_stuck": True}}, URGENT, "does nothing, though", ""),
        ({"worker": {"away": "refused"}}, URGENT, "can't reach Redis: refused", ""),
        ({"reason": "3 MB are free, fewer than LSWC_MIN_DISK"}, URGENT, "The disk is full", ""),
        ({"worker": {"received": 7_200 * 10**8}}, URGENT, "full in 1 hours", ""),
        ({"worker": {"received": 7_200 * 10**7}}, SOON, "full in 14 hours", ""),
        ({"disk": DiskSpace(29, 1_000), "worker": {"seconds": 9.0}}, SOON, "2.9 % of the disk", ""),
        ({"state": "offline", "reason": "no answer"}, URGENT, "network is away: no answer", ""),
        (ended(html=60, name_lookup_failed=20, timeout=30), SOON, "couldn't be reached", ""),
        (ended(html=540, status_403=30, status_429=30, depth=10**6), SOON,
         "60 of 600 URLs were refused", "sites?show=without"),
        (ended(html=1_980, spider_error=20), SOON, "a fault of this program", ""),
        (ended(html=9_000, not_rendered=20), SOON, "scripts weren't shown: 20.", ""),
        ({"without_page": Without(3, {"cookie wall": 2, "status 401": 1})}, NOTE, "3 servers show",
         "sites?show=without"),
        ({"without_page": Without(1, {"robots.txt": 1},
                                  (Server("www.hub.co.th", {"robots.txt": 9}, 20),))},
         SOON, "20 URLs of www.hub.co.th, which gave no page: robots.txt", "site?name=hub.co.th"),
        ({"longest": (Queue("www.a.th:81", 1_000, 100, 0),)}, SOON, "100 pages, none relevant",
         "site?name=a.th"),
        ({"families": (Family("f.com", 1_000, 999, "g.com", 3),)}, NOTE, "1,000 sites are known by",
         "site?name=f.com"),
        ({"outlook": Outlook(next_harvest_rate=0.009)}, NOTE, "one in a hundred", ""),
    ],
)  # fmt: skip
def test_each_cause_has_its_alert(
    change: dict[str, Any], level: str, cause: str, link: str
) -> None:
    (found,) = alerts(snapshot(**change))
    assert cause in found.cause
    assert (found.level, found.link) == (level, link)
    assert found.cause.endswith(".")
    assert found.step.endswith(".")


def test_what_is_over_is_no_alert() -> None:
    """A crawl that ended needs no room, and its links lead nowhere."""
    full = snapshot("closed", disk=DiskSpace(1, 10**9), outlook=Outlook(next_harvest_rate=0.0))
    assert alerts(full) == []


def test_files_that_cannot_be_read_are_told_first() -> None:
    found: list[Alert] = alerts(
        snapshot(**ended(html=90, status_403=90)), wrong="line 3", gap="It is damaged."
    )
    assert [(one.level, one.cause) for one in found] == [
        (URGENT, "The instructions can't be understood: line 3."),
        (SOON, "It is damaged."),
        (SOON, "90 of 180 URLs were refused by their servers (401, 403 or 429)."),
    ]


def harvest(pages: int, rate: float, strategy: str = "adaptive", coverage: float = 0.3) -> str:
    return usual.harvest(
        Snapshot(pages=pages, harvest_rate=rate, strategy=strategy, coverage_at_most=coverage)
    )


def test_what_is_usual_stands_beside_it_where_it_was_measured() -> None:
    told = "usual: 65 to 85 % after 2,000 pages (107 simulated webs, docs/lab/simulator.md)"
    assert harvest(2_000, 0.7) == told
    assert harvest(2_000, 0.6).startswith(f"{told}. Fewer than usual")
    assert harvest(1_000_000, 0.31, "bfs").startswith("usual: 30 % after 1,000,000 pages")
    for nothing in (harvest(600, 0.7), harvest(7_000, 0.7), harvest(2_000, 0.7, "ours")):
        assert nothing == ""
    assert harvest(2_000, 0.5, coverage=0.9) == "", "little is left: every rate falls"
    assert usual.harvest(Snapshot(pages=2_000, strategy="adaptive")) == ""


def test_a_figure_is_compared_with_at_most_one() -> None:
    for measured in usual.HARVEST.values():
        reached = [one.pages for one in measured]
        assert all(b > a * usual.NEAR**2 for a, b in pairwise(reached))
