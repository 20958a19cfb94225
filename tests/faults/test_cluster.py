"""One crawl in a Redis Cluster, of which a node goes away, or gives its place to a replica."""

from __future__ import annotations

from contextlib import ExitStack, closing
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.faults.test_redis import KEEPS_ALL, told
from tests.faults.test_shards import finish, notices
from tests.faults.web import Crawl, FaultyWeb, graph, url
from tests.frontier.redis_cluster_server import RedisCluster

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

OTHERS_GO_ON = (*KEEPS_ALL, "--cluster-require-full-coverage", "no")


@pytest.fixture
def cluster(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[RedisCluster]:
    cluster = RedisCluster(tmp_path, *OTHERS_GO_ON, replicated=getattr(request, "param", False))
    yield cluster
    cluster.stop()


@pytest.fixture
def workers(web: FaultyWeb, cluster: RedisCluster, tmp_path: Path) -> Iterator[list[Crawl]]:
    settings = {"LSWC_FRONTIER": cluster.url, "LSWC_LEASE_SECONDS": 2}
    with ExitStack() as stack:
        first = stack.enter_context(closing(Crawl(web, tmp_path / "one", **settings)))
        yield [first, stack.enter_context(closing(first.beside(tmp_path / "two")))]


def begin(web: FaultyWeb, workers: list[Crawl], cluster: RedisCluster) -> None:
    """Start the workers; the second node is killed in the midst."""

    def cut() -> None:
        for worker in workers:
            worker.wait_until_it_crawls()
        cluster.nodes[1].kill()

    web.after(30, cut)
    for worker in workers:
        worker.start()


def test_a_node_that_is_away_and_comes_back(
    web: FaultyWeb, workers: list[Crawl], cluster: RedisCluster
) -> None:
    begin(web, workers, cluster)
    for worker in workers:
        worker.wait_until(partial(notices, worker))
    cluster.nodes[1].start()
    finish(workers)
    shown = told("frontier", cluster.url)
    assert shown.returncode == 0, shown.stderr
    assert str(len(graph())) in shown.stdout
    why = told("why", str(workers[0].folder), url(7))
    assert why.returncode == 0, why.stderr
    workers[0].start(LSWC_FRONTIER=cluster.url.replace("redis+cluster", "redis"))
    assert workers[0].finish() == 2, workers[0].log
    assert "write redis+cluster://" in workers[0].log
    assert "Traceback" not in workers[0].log


@pytest.mark.parametrize("cluster", [True], indirect=True)
def test_a_node_that_gives_its_place_to_its_replica(
    web: FaultyWeb, workers: list[Crawl], cluster: RedisCluster
) -> None:
    """What the replica hadn't yet is what a Redis that comes back older has forgotten.

    Who had nothing to ask of the node meanwhile doesn't notice.
    """
    begin(web, workers, cluster)
    finish(workers)
