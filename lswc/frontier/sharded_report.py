"""Report of a frontier on several Redis servers: what each holds, put together."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import contextmanager
from heapq import nlargest
from itertools import chain
from typing import TYPE_CHECKING

from redis import RedisError

from lswc.errors import StorageError
from lswc.frontier.experience import experience_of
from lswc.frontier.redis_report import RedisReader, opened
from lswc.frontier.report import Ended, Family, Queue, Reader, Standing, by_kind, largest_families
from lswc.frontier.shards import LAID_OUT, Layout, check_servers
from lswc.safety.server_limits import NOTHING_TAKEN, Taken
from lswc.strategy import Experience, Pages, Strategy
from lswc.strategy.facts import NO_PAGES
from lswc.strategy.families import NEW, support_of
from lswc.urls import parse

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from redis import Redis

_OF_SERVER = {*LAID_OUT, "next", "sites", "known", "hashes"}
"""What is said of one server, not of the crawl."""


def summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the sums of counts by name."""
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(total)


class AllWorkers:
    """The workers of a crawl: each is known to every server. Methods raise redis.RedisError."""

    def __init__(self, readers: Sequence[RedisReader]) -> None:
        self._of_servers = [reader.workers for reader in readers]

    def numbers(self) -> dict[bytes, bytes]:
        """Return those that ever took part, host:folder, and their numbers on some server."""
        return {name: n for workers in self._of_servers for name, n in workers.numbers().items()}

    def told(self) -> list[bytes]:
        """Return what each told that it does, as JSON."""
        return self._of_servers[0].told()

    def course(self, after: int) -> list[bytes]:
        """Return the points of the crawl's course from this number on, as JSON."""
        return self._of_servers[0].course(after)

    def kept_urls(self) -> Iterator[str]:
        """Yield the finished URLs that are kept, as they are the referrers of others."""
        return chain.from_iterable(workers.kept_urls() for workers in self._of_servers)


class ShardedReader(Reader):
    """The frontier of a crawl on several servers. Methods raise redis.RedisError, too.

    ``readers`` are by the number of their server; those of servers that are away are left out, and
    what these hold is as if it weren't there.
    """

    def __init__(
        self, layout: Layout, readers: Mapping[int, RedisReader], strategy: Strategy | None = None
    ) -> None:
        self._layout, self._by_number = layout, readers
        self._all = list(readers.values())
        self.workers = AllWorkers(self._all)
        self.name = self._all[0].name
        if strategy is not None:
            self.strategy = strategy
        for reader in self._all:
            reader.strategy = self.strategy

    def having_read(self, *hashes: str) -> ShardedReader:
        """Return a reader that has read some hashes, by one call to each server."""
        readers = {number: one.having_read(*hashes) for number, one in self._by_number.items()}
        return ShardedReader(self._layout, readers, self.strategy)

    def _of(self, server: str) -> RedisReader | None:
        return self._by_number.get(self._layout.server_of(server))

    def identity(self) -> dict[str, str]:
        about = self._all[0].identity()
        return {key: value for key, value in about.items() if key not in _OF_SERVER}

    def tallies(self) -> dict[str, dict[str, int]]:
        found: defaultdict[tuple[str, str], int] = defaultdict(int)
        for reader in self._all:
            for kind, names in reader.tallies().items():
                for name, number in names.items():
                    found[kind, name] += number
        return by_kind([(*names, number) for names, number in found.items()])

    def pending(self) -> dict[int, int]:
        return _by_cell(reader.pending() for reader in self._all)

    def unproven(self) -> dict[int, int]:
        """Count those of unproven sites by cell."""
        return _by_cell(reader.unproven() for reader in self._all)

    def leased(self) -> int:
        return sum(reader.leased() for reader in self._all)

    def statuses(self) -> dict[str, int]:
        return summed(reader.statuses() for reader in self._all)

    def servers(self) -> int:
        return sum(reader.servers() for reader in self._all)

    def server_names(self) -> list[str]:
        return [name for reader in self._all for name in reader.server_names()]

    def pages(self, units: Collection[str]) -> dict[str, Pages]:
        found: dict[str, Pages] = {}
        for number, some in self._layout.part(units).items():
            if (reader := self._by_number.get(number)) is not None:
                found |= reader.pages(some)
        return found

    def taken(self, server: str) -> tuple[Taken, Taken]:
        reader = self._of(server)
        return (NOTHING_TAKEN, NOTHING_TAKEN) if reader is None else reader.taken(server)

    def pages_by_cell(self) -> dict[int, Pages]:
        total: dict[int, Pages] = {}
        for reader in self._all:
            for cell, pages in reader.pages_by_cell().items():
                before = total.get(cell, NO_PAGES)
                total[cell] = Pages(
                    before.downloaded + pages.downloaded, before.relevant + pages.relevant
                )
        return dict(sorted(total.items()))

    def experience(self) -> tuple[Experience, Experience]:
        found = [reader.experience() for reader in self._all]
        earlier = self.identity().get("earlier")
        scored = max((before for _, before in found), key=lambda one: one.crawl.downloaded)
        return experience_of(self.pages_by_cell(), earlier), scored

    def longest(self, top: int) -> tuple[tuple[Queue, ...], tuple[Queue, ...]]:
        found = [reader.longest(top) for reader in self._all]
        longest, largest = (chain(*(one[n] for one in found)) for n in (0, 1))
        queues = nlargest(top, longest, key=lambda q: (q.pending, q.server))
        most = nlargest(top, largest, key=lambda q: (q.downloaded, q.relevant, q.server))
        return tuple(queues), tuple(most)

    def families(self, top: int) -> list[Family]:
        unproven = (
            (family, branch, pages)
            for number, reader in self._by_number.items()
            for site, family, branch, pages in reader.unproven_sites()
            if self._layout.server_of_site(site) == number  # else it is known by name only
        )
        return [Family(*row) for row in largest_families(unproven, top)]

    def support(self, site: str) -> int:
        reader = self._by_number.get(self._layout.server_of_site(site))
        return support_of(NEW, 0) if reader is None else reader.support(site)

    def family_of(self, site: str) -> tuple[str, ...]:
        reader = self._by_number.get(self._layout.server_of_site(site))
        return () if reader is None else reader.family_of(site)

    def queue(self, server: str) -> Queue | None:
        reader = self._of(server)
        return None if reader is None else reader.queue(server)

    def waiting_of(self, server: str) -> dict[int, int]:
        reader = self._of(server)
        return {} if reader is None else reader.waiting_of(server)

    def next_of(self, server: str, cell: int, most: int) -> list[str]:
        reader = self._of(server)
        return [] if reader is None else reader.next_of(server, cell, most)

    def servers_like(self, text: str, most: int) -> list[str]:
        found = chain(*(reader.servers_like(text, most) for reader in self._all))
        return sorted(found)[:most]

    def find(self, url: str) -> Standing | None:
        parsed = parse(url)
        reader = None if parsed is None else self._of(parsed.server)
        return None if reader is None else reader.find(url)

    def left_out(self, server: str | None = None) -> Iterable[tuple[str, str, int]]:
        if server is None:
            return chain(*(reader.left_out() for reader in self._all))
        reader = self._of(server)
        return () if reader is None else reader.left_out(server)

    def ended(self, top: int) -> Ended:
        found = [reader.ended(top) for reader in self._all]
        names = sorted(chain(*(one.failed for one in found)))[:top]
        return Ended(sum(o.complete for o in found), sum(o.failed_number for o in found), names)


def _by_cell(counts: Iterable[Mapping[int, int]]) -> dict[int, int]:
    total: Counter[int] = Counter()
    for one in counts:
        total.update(one)
    return dict(sorted(total.items()))


@contextmanager
def opened_all(clients: Sequence[Redis], name: str = "") -> Iterator[RedisReader | ShardedReader]:
    """Open the frontier of the crawl of this name on all its servers, in their order.

    Without a name it is the only crawl there is. Raises FrontierError if there is none, or if these
    aren't its servers, StorageError if one can't be read.
    """
    with opened(clients[0], name, alone=len(clients) == 1) as first:
        if len(clients) == 1:
            yield first
            return
        readers = [first, *(RedisReader(client, first.name) for client in clients[1:])]
        try:
            found = [(f"server {n}", reader.identity()) for n, reader in enumerate(readers, 1)]
        except RedisError as error:
            raise StorageError(f"can't read the frontier in Redis: {error}") from error
        check_servers(found)
        layout = Layout(bytes.fromhex(found[0][1]["layout"]), len(clients))
        yield ShardedReader(layout, dict(enumerate(readers)))
