"""Servers that answered and gave no page: which are told, and which come first."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from lswc.frontier.rules.visit import Attempt, Lease, Visit
from lswc.guest.learned import FILE, Learned
from lswc.guest.pageless import Pageless, Server
from lswc.outcomes import Outcome
from lswc.safety.server_limits import Taken
from lswc.strategy import SEED, PageLanguage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TARGET, OTHER = PageLanguage.TARGET, PageLanguage.OTHER


@pytest.fixture
def learned(tmp_path: Path) -> Iterator[Learned]:
    made = Learned(tmp_path / FILE)
    yield made
    made.close()


@pytest.fixture
def pageless(learned: Learned) -> Pageless:
    return Pageless(learned, ["th"])


def visit(server: str, outcome: str, status: int = 200, pages: int = 0, **given: Any) -> Visit:
    lease = Lease(
        1, f"http://{server}/", server, server, SEED, 0, None, given.pop("inherited", OTHER),
        0, 0, None, of_server=Taken(pages), tries=given.pop("tries", 0),
    )  # fmt: skip
    attempts = [Attempt(lease.url, datetime.now(UTC), status)] if status else []
    return Visit(lease, outcome=outcome, attempts=attempts, **given)


def test_servers_that_gave_a_page_or_no_answer_are_none(pageless: Pageless) -> None:
    pageless.ended(visit("a.example", Outcome.NAME_NOT_RESOLVED, 0))
    pageless.ended(visit("b.example", Outcome.TIMEOUT, 0))
    pageless.ended(visit("c.example", "status 404", 404, pages=3))
    pageless.ended(visit("d.example", Outcome.DUPLICATES_ON_SITE, 0))
    pageless.ended(visit("e.example", Outcome.REDIRECT, 302, led_to="http://e.example/home"))
    pageless.ended(visit("f.example", "status 503", 503, postponed=True, tries=1))
    pageless.ended(visit("g.example", "status 404", 404))
    pageless.ended(visit("g.example", Outcome.HTML, relevant=False))
    assert pageless.without_page(9).servers == 0


def test_each_is_told_with_its_reasons_the_most_promising_first(
    pageless: Pageless, learned: Learned
) -> None:
    ends = [
        ("z.example", "status 404", 404), ("z.example", "status 404", 404),
        ("y.example", Outcome.COOKIE_WALL, 302), ("x.co.th", Outcome.ROBOTS, 0),
        ("w.example", Outcome.NOT_HTML, 200), ("w.example", "status 404", 404),
    ]  # fmt: skip
    for end in ends:
        pageless.ended(visit(*end))
    pageless.ended(visit("v.example", "status 503", 503, postponed=True, inherited=TARGET))
    pageless.ended(visit("u.example", Outcome.REDIRECT, 301, led_to="http://other.example/"))
    for found in (pageless.without_page(9), Pageless(learned, ["th"]).without_page(9)):
        names = [server.name for server in found.first]
        assert names == ["x.co.th", "v.example", "y.example", "w.example", "u.example", "z.example"]
        assert found.first[1] == Server("v.example", {"status 503": 1}, linked=1)
        assert found.first[0].in_tld
        assert found.first[3].reasons == {"not HTML": 1, "status 404": 1}
        assert found.servers == 6
        assert found.reasons[Outcome.REDIRECT_ELSEWHERE] == found.reasons["robots.txt"] == 1
    assert len(pageless.without_page(2).first) == 2


def test_what_another_worker_found_counts(pageless: Pageless, learned: Learned) -> None:
    learned.put("a.example", "no page", [{"not HTML": 2}, 0])
    assert pageless.without_page(9).first == (Server("a.example", {"not HTML": 2}),)
    pageless.ended(visit("a.example", Outcome.HTML, relevant=True))
    assert pageless.without_page(9).servers == 0
