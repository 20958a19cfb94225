"""Nothing that a hostile web does ends a crawl, fills its memory or costs it a good page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.hostile.crawl import checks, crawl

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = pytest.mark.slow


def test_the_crawl_ends_and_every_case_as_it_should(
    tmp_path: Path, subtests: pytest.Subtests
) -> None:
    seen = list(checks(crawl(tmp_path)))
    assert len(seen) > 150
    for check in seen:
        with subtests.test(f"{check.kind}: {check.case}"):
            assert check.holds, f"expected {check.expected}, seen {check.seen}"
