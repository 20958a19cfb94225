"""Two workers of one crawl in this process, over a post without Redis."""

from __future__ import annotations

from time import sleep
from typing import TYPE_CHECKING

import msgspec

from lswc.frontier.exchange.exchange import Exchange
from lswc.frontier.exchange.joining import join
from lswc.frontier.exchange.outbox import State
from lswc.frontier.rules.visit import Offer
from lswc.frontier.store.frontier import Frontier
from lswc.monitor.course import Point
from lswc.monitor.questions import Answering
from lswc.monitor.snapshot import Worker as Process
from lswc.monitor.snapshot import made, of_workers
from lswc.strategy import SEED, PageLanguage, strategy
from tests.frontier.exchange.at_once import at_once, saves_at_once
from tests.frontier.exchange.memory_post import MemoryPost
from tests.scenarios.site import BRAKE
from tests.visits import ended

if TYPE_CHECKING:
    from pathlib import Path

IDENTITY = {"language": "th", "strategy": "adaptive"}
URLS = [f"http://www.site{number}.co.th/" for number in range(40)]


def offer(url: str) -> Offer:
    server = url.split("/")[2]
    return Offer(url, server, server, SEED, PageLanguage.TARGET, 0)


class Worker:
    """One of them; ``ignored`` counts what was no question."""

    def __init__(self, crew: Crew, name: str, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.name = folder, name
        self.counted: list[str] = []
        self.frontier = Frontier(folder / "frontier.db", strategy("adaptive"), {**IDENTITY})
        member = join(self.frontier, crew.post, name, IDENTITY)  # type: ignore[arg-type]
        self.exchange = Exchange(self.frontier, crew.post, member, at_once, lambda: crew.now)  # type: ignore[arg-type]
        self.exchange.arrivals.saves = saves_at_once(self.frontier)
        self.answering = Answering(folder / "frontier.db", crew.post, self.counted.append)  # type: ignore[arg-type]
        self.exchange.asked = self.answering.ask
        self.me = member.worker

    def tell(self, time: float) -> None:
        """Tell what a recorder tells of it."""
        process = Process(
            host="there", folder=str(self.folder), time=time, began=1, state="running"
        )
        snapshot = made(
            self.frontier.tallies(),
            time=time,
            pending=self.frontier.pending,
            servers=self.frontier.servers,
            **of_workers([process]),
        )
        point = Point.of(snapshot).line()
        self.exchange.tell(msgspec.json.encode(snapshot).decode(), point)


class Crew:
    """Two workers, who have shared the sites out; the first had all seeds.

    Each has finished ``finished`` pages. ``name`` says where the folders lie: on another machine.
    """

    def __init__(self, folder: Path, host: str = "there") -> None:
        self.post = MemoryPost()
        self.now = 100.0
        self.closed = False
        self.workers: list[Worker] = []
        for name in ("one", "two"):
            path = folder / name
            self.workers.append(Worker(self, f"{host}:{path}", path))
            if name == "one":
                self.workers[0].frontier.offer([offer(url) for url in URLS])
                self.finish(self.workers[0], 6)
        for _ in range(100):
            self.turn()
        self.finish(self.workers[1], 4)
        self.turn()
        self.post.answering = self.answer

    def finish(self, worker: Worker, number: int) -> None:
        for _ in range(number):
            lease = worker.frontier.lease(self.now)
            assert lease is not None
            visit = ended(lease, relevant=True)
            visit.tally.update({("page", "relevant"): 1, ("received", "bytes"): 10})
            worker.frontier.commit(visit)

    def turn(self) -> None:
        self.now += 0.7
        for worker in self.workers:
            worker.exchange.turn()

    def answer(self, number: int, asked: bytes) -> None:
        """Let a worker's thread answer, as its turn would."""
        (worker,) = (one for one in self.workers if one.me == number)
        name, left = asked.partition(b" ")[0], BRAKE
        worker.answering.ask(asked)
        while name not in self.post.held.answers and left > 0:
            sleep(0.01)
            left -= 0.01

    def own(self, worker: Worker) -> set[int]:
        parts = worker.frontier.outbox.parts
        return {part for part, held in parts.items() if held.state == State.OWN}

    def close(self) -> None:
        workers, self.closed = [] if self.closed else self.workers, True
        for worker in workers:
            worker.answering.close()
            worker.exchange.close()
            worker.frontier.close()
