"""What is held of robots.txt until a page of its server is archived."""

from __future__ import annotations

from collections import OrderedDict
from datetime import UTC, datetime
from typing import Any

import pytest

from lswc.archive.store import HELD, Archive
from lswc.frontier.visit import Attempt, Exchange


@pytest.mark.parametrize("head", [60_000, 100])
def test_empty_answers_count_too(head: int) -> None:
    archive: Any = Archive.__new__(Archive)
    archive._rules, archive._held, archive._rules_to_log = OrderedDict(), 0, []
    servers = 3 * HELD // (head + 1_000)
    for number in range(servers):
        exchange = Exchange(b"GET", bytearray(head))
        url = f"http://h{number}.example/robots.txt"
        archive.add(Attempt(url, datetime.now(UTC), 404, exchange=exchange), "robots.txt")
    assert f"h{servers - 1}.example" in archive._rules
    assert len(archive._rules) * head <= HELD
    assert archive._held <= HELD
    for server in list(archive._rules):
        archive._release(server)
    assert archive._held == 0
