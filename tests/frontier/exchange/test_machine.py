"""Workers of one crawl among kills, joins, a lost disk, and a Redis that is away, emptied or older:
nothing is lost, and nothing is fetched twice.

Random webs are crawled by random lives of workers. At the end each URL that can be reached was
finished once, by one worker. The lives are the same each time; ``benchmarks/lives.py`` has others.
"""

from __future__ import annotations

import logging
import random
from collections import Counter
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as some

from lswc.frontier.exchange.exchange import Exchange
from lswc.frontier.exchange.joining import join
from lswc.frontier.exchange.owners import part_of
from lswc.frontier.rules.contract import DEFAULTS, Terms
from lswc.frontier.rules.visit import Offer, Visit
from lswc.frontier.store.frontier import Frontier
from lswc.outcomes import Outcome
from lswc.strategy import SEED, PageLanguage, strategy
from lswc.urls import site_of
from tests.frontier.exchange.at_once import at_once, saves_at_once
from tests.frontier.exchange.memory_post import MemoryPost

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BY_CHANCE = settings(
    deadline=None,
    derandomize=True,  # other lives each time: python -m benchmarks.lives
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
BY_SEED = given(seed=some.integers(0, 2**32))
IDENTITY = {"language": "th", "strategy": "adaptive"}


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    """Keep no log: an error in it keeps its frames, and so whole lives, some 40 MB each."""
    caplog.set_level(logging.CRITICAL, "lswc.frontier")


class Web:
    """Pages of some sites, with links by chance; ``links`` has those of each URL."""

    def __init__(self, chance: random.Random, sites: int, pages: int) -> None:
        urls = [f"http://www.site{chance.randrange(sites)}.com/{number}" for number in range(pages)]
        self.urls = sorted(set(urls))
        self.links = {
            url: chance.sample(self.urls, min(chance.randrange(6), len(self.urls)))
            for url in self.urls
        }
        self.seeds = self.urls[:2]

    @property
    def reachable(self) -> set[str]:
        found, left = set[str](), list(self.seeds)
        while left:
            url = left.pop()
            if url not in found:
                found.add(url)
                left += self.links[url]
        return found

    @staticmethod
    def offer(url: str, code: int = SEED) -> Offer:
        server = url.split("/")[2]
        return Offer(url, server, server, code, PageLanguage.TARGET, 0)


class Worker:
    """A worker with its file; a kill leaves what was committed."""

    def __init__(self, lives: Lives, folder: Path) -> None:
        self.lives, self.folder = lives, folder
        folder.mkdir(exist_ok=True)
        self.leased: list[Visit] = []
        self.frontier: Frontier | None = None
        self.start()

    def start(self) -> None:
        lives = self.lives
        frontier = Frontier(
            self.folder / "frontier.db", strategy("adaptive"), {**IDENTITY}, lives.terms
        )
        try:
            member = join(frontier, lives.post, self.folder.name, IDENTITY)  # type: ignore[arg-type]
            frontier.offer([lives.web.offer(url) for url in lives.web.seeds])
        except BaseException:
            frontier.close()
            raise
        self.exchange = Exchange(frontier, lives.post, member, at_once, lambda: lives.now)  # type: ignore[arg-type]
        self.exchange.ownership.resends = self.resends
        self.frontier = frontier

    def resends(self, parts: frozenset[int]) -> Iterator[bool]:
        """Offer again what this worker's record has of links to these parts."""
        assert self.frontier is not None
        web = self.lives.web
        self.frontier.offer([web.offer(url) for url in web.seeds if _part(url) in parts])
        for url, name in list(self.lives.finished):
            if name == self.folder.name:
                offers = [web.offer(to) for to in web.links[url] if _part(to) in parts]
                self.frontier.sharing.offer_again(url, lambda *_, offers=offers: offers)
                yield True

    def kill(self) -> None:
        """End as by ``kill -9``: what is leased is forgotten."""
        assert self.frontier is not None
        self.frontier._file.db.close()
        if self.frontier._file._lock is not None:
            self.frontier._file._lock.close()
        self.frontier = None
        self.leased.clear()

    def lease(self) -> None:
        assert self.frontier is not None
        if (lease := self.frontier.lease(self.lives.now)) is not None:
            self.leased.append(Visit(lease, self.lives.now))

    def turn(self) -> None:
        self.exchange.turn()

    @property
    def revisited(self) -> list[str]:
        """The pages that it visits again."""
        assert self.frontier is not None
        rows = self.frontier._file.db.execute("SELECT url FROM revisited JOIN url USING (seq)")
        return [url for (url,) in rows]

    @property
    def is_behind(self) -> bool:
        """Whether it visits pages at once whose records are lost."""
        assert self.frontier is not None
        if not self.lives.terms.revisit:
            return False
        query = "SELECT 1 FROM revisited WHERE misses > 0"
        return self.frontier._file.db.execute(query).fetchone() is not None

    def finish(self) -> None:
        assert self.frontier is not None
        if not self.leased:
            return
        visit = self.leased.pop(0)
        visit.outcome, visit.relevant = Outcome.HTML, True
        visit.offers = [
            self.lives.web.offer(url, visit.lease.code) for url in self.lives.web.links[visit.url]
        ]
        self.frontier.commit(visit)
        lives = self.lives
        lives.visits[visit.url, visit.lease.visits + 1] += 1
        if not visit.lease.visits or all(url != visit.url for url, _ in lives.finished):
            lives.finished[visit.url, self.folder.name] += 1


def _part(url: str) -> int:
    return part_of(site_of(url.split("/")[2]))


class Lives:
    """Workers over one post, and time that passes as steps say."""

    def __init__(self, chance: random.Random, web: Web, folder: Path, terms: Terms) -> None:
        self.chance, self.web, self.folder = chance, web, folder
        self.terms = replace(terms, clock=lambda: self.now)
        self.post = MemoryPost()
        self.now = 100.0
        self.finished: Counter[tuple[str, str]] = Counter()
        self.visits: Counter[tuple[str, int]] = Counter()
        self.workers: list[Worker] = []
        self.copy = self.post.copy()
        self.lost: Worker | None = None
        self.numbers = count()

    @property
    def running(self) -> list[Worker]:
        return [worker for worker in self.workers if worker.frontier is not None]

    def join(self) -> None:
        is_known = self.post.held.crawl or not self.workers
        if len(self.workers) < 4 and is_known and not self.post.is_away:
            self.workers.append(Worker(self, self.folder / f"worker{next(self.numbers)}"))

    def lose(self) -> None:
        """Lose a worker's disk, once, and say so."""
        held = self.post.held.owners
        members = [one for one in self.running if held and one.exchange.me in held.members]
        if self.lost or len(members) < 2 or self.post.is_away:
            return
        self.lost = self.chance.choice(members)
        self.lost.kill()
        self.workers.remove(self.lost)
        for _ in range(30):  # until nobody takes it for one that runs
            self.now += 1.0
            for worker in self.running:
                worker.exchange.turn()
        held = self.post.held.owners
        assert held is not None
        assert self.post.replace(held.without(self.lost.exchange.me), held.version)
        for _ in range(3):  # until the others know it
            self.now += 1.0
            for worker in self.running:
                worker.exchange.turn()
        for url, name in list(self.finished):
            if name == self.lost.folder.name:
                del self.finished[url, name]

    def step(self, what: str) -> None:
        """Let one thing happen."""
        self.now += 0.3
        of_worker = {
            "kill": Worker.kill,
            "lease": Worker.lease,
            "finish": Worker.finish,
            "turn": Worker.turn,
        }
        if what in of_worker:
            if running := self.running:
                of_worker[what](self.chance.choice(running))
        else:
            {
                "join": self.join,
                "start": self.start,
                "lose": self.lose,
                "flush": self.post.flush,
                "copy": self.take_copy,
                "older": self.go_back,
                "away": self.go_away,
                "answer": self.lose_answer,
            }[what]()

    def start(self) -> None:
        """Start a worker that was killed."""
        for one in self.workers:
            if one.frontier is None:
                one.start()
                return

    def take_copy(self) -> None:
        self.copy = self.post.copy()

    def go_back(self) -> None:
        """Let Redis be what it was at the copy."""
        self.post.held = self.copy
        self.copy = self.post.copy()

    def go_away(self) -> None:
        self.post.is_away = not self.post.is_away

    def lose_answer(self) -> None:
        self.post.loses_answer = True

    def end(self) -> None:
        """Mend all, and go on until all workers say that it is over."""
        self.post.is_away = self.post.loses_answer = False
        for worker in self.workers:
            if worker.frontier is None:
                worker.start()
        for worker in self.running:
            assert worker.frontier is not None
            worker.exchange.arrivals.saves = saves_at_once(worker.frontier)
        quiet = 0
        for _ in range(2_000):
            self.now += 0.5
            for worker in self.workers:
                worker.exchange.turn()
                worker.lease()
                worker.finish()
            is_over = all(one.exchange.is_over and not one.is_behind for one in self.workers)
            quiet = quiet + 1 if is_over else 0
            if quiet == 20:  # what is visited again may have brought links
                return
        raise AssertionError("the crawl doesn't end")

    def close(self) -> None:
        for worker in self.running:
            worker.kill()


STEPS = (
    ["lease", "finish", "turn"] * 12
    + ["join", "join", "kill", "start", "start"]
    + ["lose", "flush", "copy", "older", "away", "away", "answer"]
)

LONG = 600
"""Steps of a long life."""

ONCE, AGAIN = Terms(haste=0.1, unproven_share=0.25), Terms(revisit=1.0, day=100.0)
"""Terms of crawls that have each page once, and that visit it again."""


def lived(seed: int, folder: Path, steps: int, terms: Terms = DEFAULTS) -> None:
    """Crawl a web by workers with a life by chance; each URL is finished once.

    If pages are visited again, each visit is made once, and each page is one worker's to visit.
    """
    chance = random.Random(seed)
    web = Web(chance, chance.randrange(1, 12), chance.randrange(2, 60))
    lives = Lives(chance, web, folder, terms)
    numbers = random.Random(seed)
    with patch("lswc.frontier.exchange.owners.randbelow", numbers.randrange):
        _live(lives, steps)


def _live(lives: Lives, steps: int) -> None:
    chance, web, terms = lives.chance, lives.web, lives.terms
    try:
        lives.join()
        for _ in range(steps):
            lives.step(chance.choice(STEPS))
        lives.end()
        by_url = Counter[str]()
        for (url, _), number in lives.finished.items():
            by_url[url] += number
        assert set(by_url) == web.reachable
        # Of a site that a lost worker had, another one may not hear in time what was fetched.
        assert max(by_url.values()) == 1 or lives.lost
        if terms.revisit:
            pages = Counter(url for worker in lives.workers for url in worker.revisited)
            assert pages == Counter(web.reachable)
            assert max(lives.visits.values()) == 1 or lives.lost
    finally:
        lives.close()


@settings(BY_CHANCE, max_examples=30)
@BY_SEED
def test_no_url_is_lost_or_fetched_twice(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    lived(seed, tmp_path_factory.mktemp("lives"), 150)


@settings(BY_CHANCE, max_examples=12)
@BY_SEED
def test_each_page_is_visited_again_by_one_worker(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    lived(seed, tmp_path_factory.mktemp("lives"), 150, AGAIN)


@pytest.mark.slow
@settings(BY_CHANCE, max_examples=100)
@BY_SEED
@example(seed=1042)  # what its finder tells of a page comes to a worker that has given its site on
def test_each_page_is_visited_again_by_one_worker_in_long_lives(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    lived(seed, tmp_path_factory.mktemp("lives"), LONG, AGAIN)


@pytest.mark.slow
@settings(BY_CHANCE, max_examples=400)
@BY_SEED
@example(seed=75809)  # that a lost worker had a site is known to its giver only, who is down
@example(seed=15000535)  # who called a worker lost didn't know yet of a part that it had
@example(seed=1559285)  # a part that was given on came back from one whose disk was lost
@example(seed=183903)  # of a site only that is heard what another worker fetched there
@example(seed=3205258977)  # what came to a worker goes on to a third one, whose disk is lost
def test_no_url_is_lost_or_fetched_twice_in_long_lives(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    lived(seed, tmp_path_factory.mktemp("lives"), LONG, ONCE)
