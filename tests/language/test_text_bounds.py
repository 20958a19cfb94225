"""How much of a page is looked at."""

from __future__ import annotations

from lswc import settings
from lswc.language.text_bounds import BOUNDS


def test_the_settings_are_the_defaults() -> None:
    names = {"size": "PAGE_SIZE"}
    for field, value in BOUNDS._asdict().items():
        assert getattr(settings, f"LSWC_MAX_{names.get(field, field.upper())}") == value
