"""What Scrapy users do works, or is refused in one line: see ``tests.scenarios.idioms``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.scenarios.idioms import IDIOMS, Idiom, Place

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
@pytest.mark.parametrize("idiom", IDIOMS, ids=[idiom.name for idiom in IDIOMS])
def test_what_scrapy_users_do(idiom: Idiom, tmp_path: Path) -> None:
    place = Place(tmp_path)
    assert place.wrong(idiom, place.run(idiom)) == ""
