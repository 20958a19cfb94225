"""What is told of a frontier in Redis."""

from __future__ import annotations

from collections import Counter
from contextlib import closing

import pytest
from redis import Redis

from lswc.errors import StorageError
from lswc.frontier.contract import FrontierError
from lswc.frontier.redis import RedisFrontier
from lswc.frontier.redis_report import opened
from lswc.frontier.report import Queue, Report
from lswc.frontier.visit import Offer
from lswc.strategy import SEED, PageLanguage, strategy
from tests.visits import ended


def crawl(client: Redis, name: str, spec: str) -> RedisFrontier:
    identity = {"language": "th", "strategy": strategy(spec).name}
    return RedisFrontier(client, name, strategy(spec), identity)


def read(client: Redis, name: str = "", top: int = 10) -> Report:
    with opened(client, name) as reader:
        return reader.report(top)


def offer(server: str, page: int) -> Offer:
    directory = f"{server}/{page % 2}/"
    return Offer(f"http://{directory}{page}", server, directory, SEED, PageLanguage.TARGET, 0)


@pytest.mark.parametrize("spec", ["bfs", "directory_conservative:T=3"])
def test_a_frontier_in_use(client: Redis, spec: str) -> None:
    with closing(crawl(client, "c", spec)) as frontier:
        offers = [offer("a.example", n) for n in range(3)]
        offers += [offer("b.example:81", n) for n in range(7)]
        if spec == "bfs":
            offers = [o._replace(unit=o.server) for o in offers]
        frontier.offer(offers)
        for _ in range(4):
            lease = frontier.lease(0.0)
            assert lease is not None
            discarded = Counter({("discarded", "depth"): 1})
            relevant = lease.server == "a.example"
            frontier.commit(ended(lease, relevant=relevant, tally=discarded))
        frontier.lease(0.0)
        report = read(client, top=1)
        assert report.identity["language"] == "th"
        assert report.identity["strategy"] == strategy(spec).name
        assert report.counts == frontier.counts()
        assert report.counts.tally == {"finished": {"html": 4}, "discarded": {"depth": 4}}
        assert report.queues == (Queue("b.example:81", 5, 1, 0),)


def test_one_crawl_of_many_is_named(client: Redis) -> None:
    with pytest.raises(FrontierError, match="there is no crawl in this Redis"):
        read(client)
    for name in ("one", "two"):
        crawl(client, name, "bfs").close()
    assert read(client, "two").identity["strategy"] == "bfs"
    with pytest.raises(FrontierError, match=r"--key .* there are: \['one', 'two'\]"):
        read(client)
    with pytest.raises(FrontierError, match=r"no crawl 'three' in this Redis; there are: \['one'"):
        read(client, "three")


def test_a_redis_that_is_not_there() -> None:
    with pytest.raises(StorageError, match="can't read the frontier in Redis"):
        read(Redis(port=1), "c")
