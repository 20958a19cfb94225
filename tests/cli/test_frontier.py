"""``scrapy frontier``, as it is called."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from redis import Redis

from lswc.frontier.rules.visit import Offer
from lswc.frontier.store.frontier import Frontier
from lswc.strategy import SEED, PageLanguage, strategy
from tests.frontier.one_worker import shared
from tests.scenarios.site import SCRAPY, run
from tests.visits import ended

if TYPE_CHECKING:
    from pathlib import Path

    from tests.frontier.redis_server import RedisServer

IDENTITY = {"language": "th", "strategy": "bfs"}


def fill(frontier: Frontier) -> None:
    """Leave one URL finished for each of twelve reasons, and one pending."""
    server = "a.example"
    for n in range(13):
        seed = Offer(f"http://{server}/{n}", server, server, SEED, PageLanguage.TARGET, 0)
        frontier.offer([seed])
    for n in range(12):
        lease = frontier.lease(0.0)
        assert lease is not None
        discarded = Counter({("discarded", f"reason {n}"): 1})
        frontier.commit(ended(lease, f"outcome {n}", tally=discarded))
    frontier.close()


def shown(*arguments: str) -> str:
    done = run([*SCRAPY, "frontier", *arguments])
    assert done.returncode == 0, done.stderr
    return done.stdout


def check(output: str) -> None:
    for n in range(12):
        assert f"reason {n} " in output
        assert f"outcome {n} " in output
    assert "a.example" in output
    assert re.search(r"\bpending +1\b", output)
    assert re.search(r"\bfinished +12\b", output)


def test_every_reason_is_shown(tmp_path: Path) -> None:
    fill(Frontier(tmp_path / "frontier.db", strategy("bfs"), IDENTITY))
    check(shown(str(tmp_path)))


def test_every_reason_is_shown_of_a_crawl_in_redis(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    frontier = Frontier(tmp_path / "frontier.db", strategy("bfs"), IDENTITY)
    shared(frontier, Redis.from_url(redis_server.url), "frontier-command", tmp_path)
    fill(frontier)
    check(shown(redis_server.url, "--key", "frontier-command"))


@pytest.mark.parametrize(
    ("argument", "says", "code"),
    [
        ("no-such-folder", "no crawl: no-such-folder has no frontier.db", 2),
        ("redis://127.0.0.1:1/0", "error: Redis: ", 1),
    ],
)
def test_mistakes_are_one_line(argument: str, says: str, code: int) -> None:
    done = run([*SCRAPY, "frontier", argument])
    assert done.returncode == code
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1
