"""What a guest needs of the world, while a crawl closes too."""

from __future__ import annotations

from asyncio import run
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest

from lswc.crawl.scrapy_internet import ScrapyInternet
from lswc.guest.internet import ClosingError


def internet(closing: object = None) -> ScrapyInternet:
    scraper = SimpleNamespace(slot=SimpleNamespace(active_size=9_000, MIN_RESPONSE_SIZE=1_024))
    engine = SimpleNamespace(_slot=SimpleNamespace(closing=closing), scraper=scraper)
    crawler: Any = SimpleNamespace(engine=engine)
    return ScrapyInternet(crawler, {})


def test_what_waits_ends_when_the_crawl_closes() -> None:
    began = monotonic()
    run(internet().sleep(0.05))
    assert monotonic() - began >= 0.05
    with pytest.raises(ClosingError):
        run(internet(closing=object()).sleep(300.0))
    assert monotonic() - began < 60


def test_a_page_that_waits_leaves_its_room_to_others() -> None:
    found = internet()
    slot: Any = found._crawler.engine.scraper.slot
    for size, room in ((5_000, 4_000), (10, 9_000 - 1_024)):
        with found.aside(size):
            assert slot.active_size == room
        assert slot.active_size == 9_000
