"""What a frontier tells of its sites: lists of them, and each with its servers and outcomes."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from lswc.frontier.rules.report import SiteOrder, SiteTotals
from lswc.frontier.rules.visit import Offer
from lswc.frontier.store import site_report
from lswc.frontier.store.frontier import Frontier
from lswc.frontier.store.report import opened
from lswc.strategy import REQUISITE, SEED, PageLanguage, strategy
from tests.visits import ended

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lswc.frontier.store.report import Reader

IDENTITY = {"language": "th", "strategy": "bfs"}


def offer(url: str, code: int = SEED) -> Offer:
    server = url.split("/")[2]
    return Offer(url, server, server, code, PageLanguage.TARGET, 0)


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    """Three sites: one of two servers, one that gave nothing, one whose URLs wait."""
    path = tmp_path / "frontier.db"
    with closing(Frontier(path, strategy("bfs"), IDENTITY)) as frontier:
        frontier.offer(
            [offer(f"http://{name}/") for name in ("a.one.co.th", "b.one.co.th", "two.co.th")]
        )
        for outcome, relevant in (("html", True), ("html", False), ("robots.txt", None)):
            lease = frontier.lease(0.0)
            assert lease is not None
            frontier.commit(ended(lease, outcome, relevant=relevant))
        frontier.offer([offer("http://a.one.co.th/x.png", REQUISITE)])
        frontier.offer([offer(f"http://three.co.th/{number}") for number in range(3)])
        frontier.offer([offer("http://a.one.co.th/full")])
        full = frontier.lease_among(["a.one.co.th"], 0.0)
        assert full is not None
        frontier.commit(ended(full, "server's page limit"))
    with opened(path) as found:
        yield found


def test_sites_come_in_the_order_that_is_asked_for(reader: Reader) -> None:
    firsts = {order: reader.sites("", order, 9).sites[0].name for order in SiteOrder}
    assert firsts == {
        "name": "one.co.th", "pages": "one.co.th", "relevant": "one.co.th",
        "pending": "three.co.th", "left_out": "one.co.th", "missed": "one.co.th",
        "bytes": "one.co.th",
    }  # fmt: skip
    found = reader.sites("", SiteOrder.PENDING, 2)
    assert found.number == 3
    assert [(one.name, one.pending) for one in found.sites] == [
        ("three.co.th", 3),
        ("one.co.th", 1),
    ]
    assert found.sites[1] == SiteTotals("one.co.th", 2, 2, 1, 0, 1, 1, 0)


@pytest.mark.parametrize("text", ["three", "%", "_", "' OR 1=1 --", "*", "x" * 10_000, "\x00"])
def test_a_text_is_a_part_of_a_name_and_nothing_else(reader: Reader, text: str) -> None:
    found = [one.name for one in reader.sites(text, SiteOrder.NAME, 9).sites]
    assert found == (["three.co.th"] if text == "three" else [])


def test_sites_without_a_page_are_listed_alone(reader: Reader) -> None:
    found = reader.sites("", SiteOrder.NAME, 9, without_pages=True)
    assert (found.number, [one.name for one in found.sites]) == (2, ["three.co.th", "two.co.th"])


def test_a_site_has_the_outcomes_of_all_its_servers(reader: Reader) -> None:
    one = reader.of_site("one.co.th", 9)
    assert one is not None
    assert one.outcomes == {"html": 2, "server's page limit": 1}, "counted once, though kept twice"
    assert [(server.name, server.pages) for server in one.servers] == [
        ("a.one.co.th", 1), ("b.one.co.th", 1)
    ]  # fmt: skip
    assert one.looked_at == 1.0
    two = reader.of_site("two.co.th", 9)
    assert two is not None
    assert (two.totals.pages, two.outcomes) == (0, {"robots.txt": 1})
    assert reader.of_site("four.co.th", 9) is None


def test_a_large_frontier_is_looked_at_as_far_as_there_is_time(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site_report, "SLICE", 2)
    whole = reader.of_site("one.co.th", 9)
    assert whole is not None
    assert (whole.outcomes["html"], whole.looked_at) == (2, 1.0)
    clock = iter((0.0, 0.0, 9.0))
    monkeypatch.setattr(site_report, "monotonic", lambda: next(clock))
    part = reader.of_site("one.co.th", 9)
    assert part is not None
    assert 0 < part.looked_at < 1
    assert "html" not in part.outcomes, "the latest URLs come first"
