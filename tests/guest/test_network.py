"""A failure of the network is told from one of a server, however few requests run."""

from __future__ import annotations

import asyncio

from lswc.guest.network import IN_A_ROW, Network
from lswc.urls import Url, parse
from tests.guest.world import World


def server(number: int) -> Url:
    url = parse(f"http://www.s{number}.example/")
    assert url is not None
    return url


def after(*silent: int, answers: int | None = None) -> bool:
    """Tell whether a crawl with one request at a time is offline after these servers' silence.

    The one of number ``answers`` answers after the first.
    """

    async def crawl() -> bool:
        network = Network(World(), (), 0.0, lambda *_: None, lambda _: None, lambda: None)
        for number in silent:
            network.silent(server(number))
            network.settle()  # nothing else runs
            if number == silent[0] and answers is not None:
                network.answered(server(answers))
        await asyncio.sleep(0)
        found = network.paused
        network.close()
        return found

    return asyncio.run(crawl())


def test_servers_that_are_silent_one_after_the_other_are_the_network() -> None:
    assert after(*range(IN_A_ROW))


def test_fewer_or_the_same_again_or_an_answer_between_them_are_the_servers() -> None:
    assert not after(*range(IN_A_ROW - 1))
    assert not after(*[1] * IN_A_ROW)
    # One has answered: two silent ones in a row are enough to look at it.
    assert not after(1, 2, answers=3)
    assert after(1, 2, 4, answers=3)
