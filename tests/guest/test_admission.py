"""Admission: what instructions' patterns leave out, of pages and of what these need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lswc.frontier.rules.visit import Lease, Visit
from lswc.guest.control import change
from lswc.outcomes import Outcome
from lswc.strategy import REQUISITE, SEED, PageLanguage
from tests.guest.world import hosted, url_of

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

ADDRESS = "http://www.a.example/calendar/1"


def test_patterns_of_instructions_hold_for_links_pages_and_files(tmp_path: Path) -> None:
    with hosted(tmp_path) as host:
        admission: Any = host.guest.admission
        assert not admission.refuses
        change(host.where, "exclude", ["path:/calendar/*"])
        for _ in range(2):  # a version is read that stands
            host.guest.control.look()
        assert admission.refuses
        assert admission.of_link(url_of(ADDRESS), 1) is Outcome.EXCLUDED
        assert admission.of_link(url_of("http://www.a.example/"), 1) is None
        assert admission.of_file(ADDRESS, 0.0) is Outcome.EXCLUDED
        assert not admission.opened()(ADDRESS, 1)
        assert admission.opened()("http://www.a.example/", 1)


def test_what_pages_need_may_be_anywhere(tmp_path: Path) -> None:
    with hosted(tmp_path) as host:
        admission: Any = host.guest.admission
        change(host.where, "include", ["path:/news/*"])
        for _ in range(2):
            host.guest.control.look()
        assert admission.of_link(url_of(ADDRESS), 1) is Outcome.NOT_INCLUDED
        assert admission.of_file(ADDRESS, 0.0) is None


def test_a_server_that_is_left_alone_gives_no_page_and_nothing_that_pages_need(
    tmp_path: Path,
) -> None:
    with hosted(tmp_path) as host:
        guest: Any = host.guest
        url = url_of("http://www.a.example/")
        assert guest.admission.of_file(url.href, 0.0) is None
        guest.limits.close(url.server, Outcome.RETRY_AFTER_TOO_LONG)
        for code in (SEED, REQUISITE):
            lease = Lease(
                1, url.href, url.server, url.server, code, 0, None, PageLanguage.TARGET, 0, 0, None
            )
            visit = Visit(lease)
            assert guest.admission.of_visit(visit, 0.0) is Outcome.RETRY_AFTER_TOO_LONG
        assert guest.admission.of_file(url.href, 0.0) is Outcome.RETRY_AFTER_TOO_LONG


def test_what_repeats_itself_counts_for_the_first_family_of_its_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hosted(tmp_path) as host:
        guest: Any = host.guest
        counted: list[tuple[str, str]] = []
        monkeypatch.setattr(
            guest.limits, "repeats", lambda url, family: counted.append((url.href, family))
        )
        url = url_of("http://www.a.example/")
        for families in ([], ["hub.example", "other.example"]):
            monkeypatch.setattr(
                host.frontier, "family_of", lambda server, families=families: families
            )
            guest.admission.repeats(url)
        assert counted == [(url.href, "hub.example")]
