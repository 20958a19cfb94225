"""Answers that aren't the servers' cost a crawl nothing, and nothing of them is kept."""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import pytest

from tests.faults.lies import (
    GOOD,
    LIES,
    Answer,
    Crawl,
    LyingWeb,
    crawl_of,
    page,
    result,
    url,
    web,
)
from tests.scenarios.site import words

if TYPE_CHECKING:
    from pathlib import Path

    from tests.frontier.redis_server import RedisServer

pytestmark = pytest.mark.slow

SERVERS = 20
HASTY = {"DOWNLOAD_DELAY": 0.1}  # where nothing depends on how long an answer is held
SEEDS = [url(number, SERVERS) for number in range(SERVERS)]


@pytest.fixture
def pages() -> dict[str, str]:
    return web(SERVERS, 3)


@pytest.mark.parametrize("lie", LIES)
def test_a_network_that_lies_for_a_while(tmp_path: Path, pages: dict[str, str], lie: str) -> None:
    with crawl_of(tmp_path, pages, *SEEDS) as crawl:
        crawl.web.lie_after(60, LIES[lie])
        crawl.start()
        crawl.wait_until(lambda: "offline:" in crawl.log)
        crawl.web.lie = None
        assert result(crawl.finish(), crawl) == GOOD, crawl.log
        assert "online again" in crawl.log
        assert "Traceback" not in crawl.log


def test_workers_doubt_the_network_each_for_itself(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    """Each has fewer requests at a time than there are servers, so none is left without any.

    An answer is held as long as its server rests: here until a busy machine has another one.
    """
    servers, names = 40, ("one", "two")
    seeds = [url(number, servers) for number in range(servers)]
    settings = {
        "LSWC_FRONTIER": redis_server.url, "CONCURRENT_REQUESTS": 8, "DOWNLOAD_DELAY": 4,
    }  # fmt: skip
    with LyingWeb(web(servers, 2), workers=len(names)) as served, ExitStack() as stack:
        crawls = []
        for name in names:
            (tmp_path / name).mkdir()
            crawl = Crawl(served, tmp_path / name / "crawl", *seeds, **settings)
            crawls.append(stack.enter_context(closing(crawl)))
        served.lie_once(
            lambda: sum(asked >= 20 for asked in served.asked_by.values()) == 2, LIES["portal"]
        )
        for crawl, name in zip(crawls, names, strict=True):
            crawl.start(LSWC_CONTACT=f"https://{name}.example/")
        for crawl in crawls:
            crawl.wait_until(lambda of=crawl: "offline:" in of.log)  # type: ignore[misc]
        served.lie = None
        code = max(crawl.finish() for crawl in crawls)
        assert result(code, *crawls) == GOOD, [crawl.log for crawl in crawls]


def test_a_network_that_lies_from_the_beginning(tmp_path: Path, pages: dict[str, str]) -> None:
    """Where a crawl knows no page yet, it asks for what there isn't."""
    with crawl_of(tmp_path, pages, *SEEDS) as crawl:
        crawl.web.lie = LIES["portal"]
        crawl.start()
        crawl.wait_until(lambda: "offline:" in crawl.log)
        crawl.web.lie = None
        assert result(crawl.finish(), crawl) == GOOD, crawl.log


def test_a_network_that_lies_for_too_long_ends_a_crawl_which_goes_on_later(
    tmp_path: Path, pages: dict[str, str]
) -> None:
    with crawl_of(tmp_path, pages, *SEEDS) as crawl:
        crawl.web.lie_after(60, LIES["portal"])
        crawl.start(LSWC_MAX_OFFLINE=1)
        assert crawl.finish() == 3, crawl.log
        crawl.web.lie = None
        crawl.start()
        assert result(crawl.finish(), crawl) == GOOD, crawl.log


def test_mirrors_and_parked_domains_are_what_they_are(tmp_path: Path) -> None:
    """Every seed is one of thirty mirrors; each leads on to a parked domain of its own."""
    pages = {}
    seeds = [f"http://www.m{number}.test/" for number in range(30)]
    for number, seed in enumerate(seeds):
        parked = f"http://www.p{number}.test/"
        pages[seed] = page(1, parked, said=words(1))
        pages[parked] = page(2, said=words(2))
    with crawl_of(
        tmp_path, pages, *(f"http://www.m{number}.test/" for number in range(30))
    ) as crawl:
        crawl.start(**HASTY)
        assert result(crawl.finish(), crawl) == GOOD, crawl.log
        assert "offline" not in crawl.log
        looks = [address for address, _ in crawl.web.asked if address not in pages]
        looks = [address for address in looks if ".txt" not in address and ".json" not in address]
    assert len(looks) < 10


def test_a_crawl_that_goes_on_where_all_pages_changed(
    tmp_path: Path, pages: dict[str, str]
) -> None:
    with crawl_of(tmp_path, pages, *SEEDS) as crawl:
        crawl.start(CLOSESPIDER_ITEMCOUNT=30, **HASTY)
        assert crawl.finish() == 0
        before = {record["url"] for record in crawl.records}
        for number in range(len(pages)):
            if (address := url(number, SERVERS)) in before:
                pages[address] = page(number, said=words(number + 1_000))
        crawl.start(**HASTY)
        assert result(crawl.finish(), crawl) == GOOD, crawl.log
        assert "offline" not in crawl.log


def test_a_body_that_is_always_cut_is_recorded_as_cut(tmp_path: Path) -> None:
    """It is tried three times, as other failures are; others are whole."""
    cut = url(3, SERVERS)

    def lie(address: str, truth: Answer) -> Answer:
        return Answer(truth.status, truth.body, cut=True) if address == cut else truth

    with crawl_of(tmp_path, web(SERVERS, 1), *SEEDS) as crawl:
        crawl.web.lie = lie
        crawl.start(**HASTY)
        assert crawl.finish() == 0
        found = {record["url"]: record["truncated"] for record in crawl.records}
        assert [address for address, _ in crawl.web.asked].count(cut) == 3
    assert found.pop(cut) == "disconnect"
    assert set(found.values()) == {""}


def test_a_robots_txt_that_is_a_page_is_asked_for_again(tmp_path: Path) -> None:
    def lie(address: str, truth: Answer) -> Answer:
        is_first = address not in {asked for asked, _ in crawl.web.asked}
        is_odd = is_first and address.endswith("/robots.txt")
        return Answer(200, b"<html>Welcome!") if is_odd else truth

    with crawl_of(tmp_path, web(SERVERS, 1), *SEEDS) as crawl:
        crawl.web.lie = lie
        crawl.start(**HASTY)
        assert result(crawl.finish(), crawl) == GOOD, crawl.log
        asked = [address for address, _ in crawl.web.asked]
    robots = [f"http://www.s{number}.test/robots.txt" for number in range(SERVERS)]
    assert [asked.count(address) for address in robots] == [2] * SERVERS
