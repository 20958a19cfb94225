"""Names that don't resolve and servers that fail for a while cost a crawl nothing."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.faults.web import Crawl, FaultyWeb, url

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

FAILURES = 5
"""Requests for a URL that fail before it is answered."""


@pytest.fixture
def crawl(web: FaultyWeb, tmp_path: Path) -> Iterator[Crawl]:
    with closing(Crawl(web, tmp_path / "crawl")) as crawl:
        yield crawl


@pytest.mark.parametrize("says_so", ["", "!"])
def test_while_no_name_resolves_the_crawl_waits(web: FaultyWeb, crawl: Crawl, says_so: str) -> None:
    """Be it that no answer comes to the look-ups, or that there are no such names."""
    web.after(30, lambda: web.names_down("*", says_so))
    crawl.start(RETRY_TIMES=0)
    crawl.wait_until(lambda: "offline:" in crawl.log)
    web.names_down()
    assert crawl.finish() == 0
    crawl.check()
    assert len(crawl.said) == 2, crawl.said
    assert ["offline:" in crawl.said[0], "online again" in crawl.said[1]] == [True, True]


def test_a_crawl_that_goes_on_while_no_name_is_found_loses_nothing(
    web: FaultyWeb, crawl: Crawl
) -> None:
    """Names that were found in an earlier run tell it, though none was in this one."""
    crawl.start(CLOSESPIDER_ITEMCOUNT=20)
    assert crawl.finish() == 0
    web.names_down("*", "!")
    crawl.start(CONCURRENT_REQUESTS=2, RETRY_TIMES=0)
    crawl.wait_until(lambda: "offline:" in crawl.log)
    web.names_down()
    assert crawl.finish() == 0
    crawl.check()


def test_a_crawl_that_is_offline_for_too_long_ends_and_goes_on_later(
    web: FaultyWeb, crawl: Crawl
) -> None:
    web.after(30, lambda: web.names_down("*"))
    crawl.start(LSWC_MAX_OFFLINE=1)
    assert crawl.finish() == 3, crawl.log
    assert "offline too long" in (crawl.folder / "summary.json").read_text("utf-8")
    web.names_down()
    crawl.start()
    assert crawl.finish() == 0
    crawl.check()


def test_dead_names_end_at_once_and_are_tried_again_if_that_is_wanted(
    web: FaultyWeb, crawl: Crawl
) -> None:
    names = [f"www.s{number}.example" for number in range(1, 7)]
    web.names_down("!", *names)
    crawl.start()
    assert crawl.finish() == 0
    assert not crawl.said, "six domains failed, but another one answers"
    assert set(web.missed) & set(names)
    web.names_down()
    crawl.start(LSWC_RETRY_FAILED=1)
    assert crawl.finish() == 0
    crawl.check()


def test_names_that_do_not_resolve_for_a_while_are_their_servers_matter(
    web: FaultyWeb, crawl: Crawl
) -> None:
    names = [f"www.s{number}.example" for number in range(1, 7)]
    web.names_down(*names)
    crawl.start(LSWC_TRY_AGAIN=",".join(["1"] * 60))
    # The first page leads to two of them; three look-ups are a try.
    crawl.wait_until(lambda: all(web.missed.count(name) > 3 for name in names[:2]))
    web.names_down()
    assert crawl.finish() == 0
    crawl.check()
    assert not crawl.said, "six domains failed, but another one answers"


@pytest.mark.parametrize("status", [503, 0])
def test_what_fails_for_a_while_is_asked_again(web: FaultyWeb, crawl: Crawl, status: int) -> None:
    """A server's robots.txt, a page, and all of a server: each fails at first."""
    failing = {"http://www.s1.example/robots.txt", url(14)}

    def answer(url: str) -> int:
        fails = url in failing or "//www.s3.example/" in url
        return status if fails and web.asked.count(url) <= FAILURES else 200

    web.answer = answer
    crawl.start(LSWC_TRY_AGAIN="0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5,0.5", LSWC_BACKOFF=0)
    assert crawl.finish() == 0
    assert all(web.asked.count(url) > FAILURES for url in failing)
    crawl.check()


def test_what_failed_is_tried_once_more_if_that_is_wanted(web: FaultyWeb, crawl: Crawl) -> None:
    web.answer = lambda url: 503 if "//www.s3.example/" in url else 200
    crawl.start(LSWC_TRY_AGAIN="", LSWC_BACKOFF=0)
    assert crawl.finish() == 0
    web.answer = lambda url: 200
    asked = len(web.asked)
    crawl.start(LSWC_TRY_AGAIN="")
    assert crawl.finish() == 0
    assert len(web.asked) == asked, "finished is finished"
    crawl.start(LSWC_RETRY_FAILED=1)
    assert crawl.finish() == 0
    crawl.check()


def test_a_crawl_goes_on_with_the_judge_that_it_was_begun_with(
    web: FaultyWeb, crawl: Crawl
) -> None:
    crawl.start(CLOSESPIDER_ITEMCOUNT=5)
    assert crawl.finish() == 0
    for setting, value in (("LSWC_MIN_SHARE", 0.5), ("LSWC_RELEVANT", "leads")):
        crawl.start(**{setting: value})
        assert crawl.finish() == 2
        assert crawl.log.count("\n") == 1, crawl.log
        assert f"this crawl has {setting}" in crawl.log
    crawl.start(LSWC_MIN_SHARE="0.150")
    assert crawl.finish() == 0
    crawl.check()
