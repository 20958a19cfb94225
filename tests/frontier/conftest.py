"""What tests of the frontier in Redis begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from redis import Redis

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.frontier.redis_server import RedisServer


@pytest.fixture
def client(redis_server: RedisServer) -> Iterator[Redis]:
    with Redis.from_url(redis_server.url) as client:
        yield client
