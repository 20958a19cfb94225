"""Commands that are run in the tests' own process leave no name of theirs to other tests."""

from __future__ import annotations

import sys

import pytest
from scrapy.utils.project import ENVVAR


@pytest.fixture(autouse=True)
def called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["pytest"])
    monkeypatch.delenv(ENVVAR, raising=False)
