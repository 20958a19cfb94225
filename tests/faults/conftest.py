"""What tests of faults begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.faults.web import FaultyWeb

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def web(tmp_path: Path) -> Iterator[FaultyWeb]:
    with FaultyWeb(tmp_path) as web:
        yield web
