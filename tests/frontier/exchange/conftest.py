"""What all tests of the exchange begin with."""

from __future__ import annotations

import pytest

from lswc.frontier.exchange import joining


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a worker that was killed for dead at once."""
    monkeypatch.setattr(joining, "SEEN_ALIVE", 0.0)
