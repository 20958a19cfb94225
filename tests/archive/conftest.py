"""A small frozen web for a test to fill."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crawl.site import Site

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path / "web", tmp_path / "crawl")
