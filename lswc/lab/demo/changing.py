"""Changing demo web: its pages are edited, come and go as days go by, the same for the same seed.

Pages of text have the kinds and the rates of ``lswc.lab.simulator.changing_web``: Poisson processes
of edits and of new pages that a page is the first to link to, and an end of articles. Some pages
have a counter and a token that are others at each request. Some hosts tell the truth about when
a page was changed, in headers and listings; some say that it was now, and some say nothing.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import formatdate
from enum import Enum
from functools import cached_property
from math import inf
from random import Random
from time import time
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from lswc.crawl.web import CHANGES, seconds_a_day
from lswc.crawl.web.answers import Answer
from lswc.crawl.web.folder import FolderWeb
from lswc.lab.demo import generate, sitemaps_and_feeds
from lswc.lab.demo.hypertext import DemoLink, DemoPage, DemoWeb
from lswc.lab.demo.render import render
from lswc.lab.demo.vocabulary import VOCABULARIES
from lswc.lab.simulator import changing_web
from lswc.lab.simulator.changing_web import GONE, NOISY, SPREAD, Kind, draw_rates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from lswc.lab.demo.hypertext import DemoSite

SECONDS_A_DAY = 10.0
"""Ten weeks in less than twelve minutes."""

SEED = 3
"""Of the changes: with it 8 % of new pages come in a week, as Ntoulas, Cho & Olston 2004 saw. With
some others one page leads to most of them."""

SHOWN = 20
"""New pages that a page links to, or a listing names: the latest."""

_LISTING_TYPES = {"xml": "application/xml", "gz": "application/gzip"}


class Dates(Enum):
    """What a host says of when a page was changed."""

    TRUE = 0
    NOW = 1
    NONE = 2


def prepare(folder: Path, seed: int = SEED, seconds_a_day: float = SECONDS_A_DAY) -> Path:
    """Generate the demo web there unless it is already; its first day begins now.

    ``seed`` is that of its changes. Raises LswcError if it can't be written.
    """
    changes = {
        "changed_by": "changing", "seed": seed, "seconds_a_day": seconds_a_day, "began": time(),
    }  # fmt: skip
    return generate.prepare(folder, generate.SEED, {CHANGES: json.dumps(changes)})


class Events:
    """Poisson process from a day on, with so many events a day."""

    def __init__(self, rate: float, chance: str, since: float) -> None:
        self._rate, self._random = rate, Random(chance)
        self._days: list[float] = []
        self._next = self._after(since)

    def _after(self, day: float) -> float:
        return day + self._random.expovariate(self._rate) if self._rate else inf

    def until(self, day: float) -> list[float]:
        """Return on which days they happened, until then."""
        while self._next <= day:
            self._days.append(self._next)
            self._next = self._after(self._next)
        return self._days[: bisect_right(self._days, day)]


class Life:
    """A page's life: the days of its edits, and of the births of those that it leads to.

    It is there from the day that it ``came`` to the one before its ``end``. ``chance`` is what its
    own chance begins with.
    """

    def __init__(
        self, page: DemoPage, kind: Kind, rates: tuple[float, float, bool], came: float, seed: int
    ) -> None:
        changes, new, self.is_noisy = rates
        self.page, self.kind, self.came = page, kind, came
        self.chance = f"{seed} {page.url}"
        self._births = Events(new, f"{self.chance} births", came)
        self._edits = Events(changes, f"{self.chance} edits", came)
        lasts = Random(f"{self.chance} end").expovariate(GONE)
        self.end = came + lasts if kind == Kind.ARTICLE else inf
        self._seed = seed
        self._born: list[Life] = []

    def edits(self, day: float) -> list[float]:
        """Return the days on which its text was edited, until then."""
        return self._edits.until(day)

    def born(self, day: float) -> list[Life]:
        """Return the new pages that it has led to, until then."""
        births = self._births.until(day)
        for number in range(len(self._born), len(births)):
            self._born.append(self._new(number, births[number]))
        return self._born[: len(births)]

    def _new(self, number: int, came: float) -> Life:
        host, language = self.page.host, self.page.language
        path = f"/new/{crc32(self.page.path.encode()):08x}-{number}.html"
        random = Random(f"{self.chance} {number}")
        words = VOCABULARIES[language]
        page = DemoPage(host, path, language, words.pick("topic", random))
        page.links = [
            DemoLink(self.page.url, self.page.title, self.page),
            DemoLink("/", words.home),
        ]
        changes = changing_web.CHANGES[Kind.ARTICLE] * random.lognormvariate(0, SPREAD)
        rates = changes, 0.0, random.random() < NOISY
        return Life(page, Kind.ARTICLE, rates, came, self._seed)

    def changed(self, day: float) -> float:
        """Return when its text or its links were changed last, until a day."""
        latest = [self.came, *self.edits(day)[-1:]]
        return max(latest + [life.came for life in self.born(day)[-1:]])

    def bytes(self, day: float) -> bytes:
        """Return the page as it is on a day."""
        edits = len(self.edits(day))
        chances = (Random(f"{self.chance} {edit}") for edit in range(edits, 0, -1))
        new = [life.page for life in self.born(day)[: -SHOWN - 1 : -1]]
        links = [*self.page.links, *(DemoLink(page.path, page.title, page) for page in new)]
        return render(replace(self.page, links=links), Random(self.chance), chances)


class ChangingDemo:
    """The demo web on the day that it is, by a clock in seconds since 1970.

    A ``Web``. Raises WebError for a folder that isn't one.
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = time) -> None:
        changes = json.loads((folder / CHANGES).read_bytes())
        self._seed, self.began = int(changes["seed"]), float(changes["began"])
        self._day, self._clock = seconds_a_day(folder), clock
        self._files = FolderWeb(folder)
        self._noise = Random(self._seed)
        self._web = DemoWeb(generate.SEED)

    @cached_property
    def _lives(self) -> dict[tuple[str, str], Life]:
        """Those that were there from the beginning, by host and path."""
        pages = [page for page in self._web.pages if page.kind == "text" and not page.otherwise]
        fronts = {site.front for site in self._web.sites.values()}
        lists = {part[0] for site in self._web.sites.values() for part in site.sections if part}
        kinds = np.array(
            [
                Kind.FRONT if page in fronts else Kind.LIST if page in lists else Kind.ARTICLE
                for page in pages
            ],
            np.int8,
        )
        numbers = {name: number for number, name in enumerate(self._web.sites)}
        sites = np.array([numbers[page.host.name] for page in pages])
        self.rates = draw_rates(kinds, sites, self._seed)
        drawn = zip(
            pages, map(Kind, kinds.tolist()), self.rates.changes.tolist(), self.rates.new.tolist(),
            self.rates.noisy.tolist(), strict=True,
        )  # fmt: skip
        return {
            (page.host.name, page.path): Life(page, kind, (changes, new, noisy), 0.0, self._seed)
            for page, kind, changes, new, noisy in drawn
        }

    def day(self, at: float) -> float:
        """Return the day of a time, the first of them 0."""
        return (at - self.began) / self._day

    @property
    def first(self) -> list[Life]:
        """The lives of the pages that were there from the beginning, in the order of ``rates``."""
        return list(self._lives.values())

    def lives(self, day: float) -> Iterator[Life]:
        """Yield the lives of all pages of text that began until a day; those that ended, too."""
        for life in self.first:
            yield life
            yield from life.born(day)

    def knows(self, server: str) -> bool:
        """Tell whether there is such a host."""
        return self._files.knows(server)

    def answer(self, server: str, target: str, accepted: str = "") -> Answer:
        """Answer as the host does today."""
        host, day = server.partition(":")[0], self.day(self._clock())
        kept = self._files.answer(server, target, accepted)
        life = self._life(host, target, day)
        if life is not None:
            return replace(self._page(life, day), delay=kept.delay)
        site = self._web.sites.get(host)
        listings = self._listings(site, day) if site and site.unlinked else {}
        if target[1:] not in listings:
            return kept
        kind = _LISTING_TYPES.get(target.rpartition(".")[2], "text/xml")
        return replace(kept, headers=(("Content-Type", kind),), body=listings[target[1:]])

    def _life(self, host: str, target: str, day: float) -> Life | None:
        life = self._lives.get((host, target))
        if life is None and target.startswith("/new/"):
            life = self._new(host, day).get(target)
        return life

    def _new(self, host: str, day: float) -> dict[str, Life]:
        """Return the new pages of a host by path, the latest first."""
        born = [
            new for (where, _), one in self._lives.items() if where == host for new in one.born(day)
        ]
        born.sort(key=lambda life: -life.came)
        return {life.page.path: life for life in born}

    def _page(self, life: Life, day: float) -> Answer:
        if life.end <= day:
            return Answer(404 if crc32(life.chance.encode()) % 2 else 410)
        body, headers = life.bytes(day), [("Content-Type", "text/html")]
        dates = _dates(life.page.host.name)
        if life.is_noisy:
            body += (
                b'<form><input type="hidden" name="token" value="%016x"></form><small>%d</small>\n'
                % (self._noise.getrandbits(64), self._noise.randrange(10**6))
            )
        elif dates == Dates.TRUE:
            headers.append(("ETag", f'"{crc32(body):08x}"'))
        if dates == Dates.NOW or (dates == Dates.TRUE and not life.is_noisy):
            at = self._told(life.page.host.name, life, day)
            headers.append(("Last-Modified", formatdate(at, usegmt=True)))
        return Answer(200, tuple(headers), body)

    def _told(self, host: str, life: Life | None, day: float) -> float:
        """Return when a page was changed, as its host says, in seconds since 1970."""
        changed = life.changed(day) if life else 0.0
        return self.began + self._day * (changed if _dates(host) == Dates.TRUE else day)

    def _listings(self, site: DemoSite, day: float) -> dict[str, bytes]:
        def changed(_: int, page: DemoPage) -> str:
            host = page.host.name
            at = self._told(host, self._life(host, page.path, day), day)
            return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%SZ}"

        new = [life.page for life in self._new(site.host.name, day).values() if life.end > day]
        return sitemaps_and_feeds.files(site, new[:SHOWN], changed)


def _dates(host: str) -> Dates:
    return Dates(crc32(host.encode()) % len(Dates))
