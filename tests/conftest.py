"""Settings of all tests, and what several folders of them use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.crawl.site import Site
from tests.frontier.redis_server import RedisServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# No test asserts a time: machines are noisy.
settings.register_profile("lswc", deadline=None)
settings.load_profile("lswc")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """A small frozen web for a test to fill, and a crawl folder."""
    return Site(tmp_path / "web", tmp_path / "crawl")


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A redis-server that the tests of one process share."""
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    yield server
    server.stop()
