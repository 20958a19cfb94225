"""Admission: what instructions' patterns leave out, of pages and of what these need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lswc.guest.control import change
from lswc.outcomes import Outcome
from tests.guest.world import hosted, url_of

if TYPE_CHECKING:
    from pathlib import Path

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
