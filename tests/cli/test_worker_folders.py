"""What is told of a crawl of several workers in the folder of one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.scenarios.site import SCRAPY, THAI, Site, page, run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.frontier.redis_server import RedisServer

pytestmark = pytest.mark.slow
SEED = "http://www.one.co.th/"
PAGES = [SEED, *(f"{SEED}{name}.html" for name in "abc")]


@pytest.fixture
def workers(tmp_path: Path, redis_server: RedisServer) -> list[Site]:
    """Two workers of a web whose truth is known: the first fetched its seed, the other the rest."""
    one, two = (Site(tmp_path / "web", tmp_path / name) for name in ("one", "two"))
    one.seeds(SEED)
    one.add("www.one.co.th/", page(THAI, *PAGES[1:]))
    for number, url in enumerate(PAGES[1:]):
        one.add(url.removeprefix("http://"), page(f"{THAI} {number}"))
    facts = {"language": "th", "encoding": "utf-8", "server": "www.one.co.th"}
    truth = (json.dumps({"url": url, **facts, "reachable": {"th": 0}}) for url in PAGES)
    (one.web / "truth.jsonl").write_text("\n".join(truth))
    one.crawl(LSWC_FRONTIER=redis_server.url, CLOSESPIDER_ITEMCOUNT=1, CONCURRENT_REQUESTS=1)
    two.crawl(LSWC_FRONTIER=redis_server.url)
    assert (one.urls, sorted(two.urls)) == (PAGES[:1], PAGES[1:])
    return [one, two]


def test_it_is_told_of_the_whole_crawl(workers: list[Site]) -> None:
    one, two = workers
    assert two.summary["coverage"] == {"relevant": 4, "collected": 4, "share": 1.0}
    told = run([*SCRAPY, "why", str(two.folder), SEED])
    assert told.returncode == 0, told.stderr
    assert "finished by another worker" in told.stdout
    assert f":{one.folder.resolve()}" in told.stdout
    for command in ("frontier", "check", "control"):
        done = run([*SCRAPY, command, str(two.folder)])
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
