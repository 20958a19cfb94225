"""Report of a frontier in Redis; also while workers crawl on it."""

from __future__ import annotations

import json
from contextlib import contextmanager
from copy import copy
from heapq import nlargest
from typing import TYPE_CHECKING, Any

from redis import AuthenticationError, RedisError
from redis.exceptions import AskError

from lswc.errors import StorageError
from lswc.frontier.contract import FULL, FrontierError, site_of
from lswc.frontier.experience import experience_of
from lswc.frontier.held import Kind
from lswc.frontier.redis_held import Kept, kept_pages, rates_of, usual
from lswc.frontier.redis_script import (
    STEP,
    escaped,
    looked_up,
    place_of,
    prefix_of,
    text,
    texts,
    unpacked,
    without_referrer,
)
from lswc.frontier.redis_workers import BATCH, Workers
from lswc.frontier.report import (
    SAMPLE,
    Ended,
    Family,
    Freshness,
    HeldPage,
    Queue,
    Reader,
    Standing,
    by_kind,
    held_page,
    largest_families,
    visits_so_far,
)
from lswc.frontier.shards import check_shard, known_by
from lswc.outcomes import OF_QUOTA, Outcome
from lswc.safety.server_limits import Taken
from lswc.strategy import LISTING, SEED, Experience, Pages, Status, Strategy, Unit
from lswc.strategy.adaptive import number
from lswc.strategy.facts import NO_PAGES
from lswc.strategy.families import NEW, UNPROVEN, support_of
from lswc.urls import parse

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from redis import Redis


class RedisReader(Reader):
    """The frontier of the crawl of this name in Redis. Methods raise redis.RedisError, too."""

    def __init__(self, client: Redis, name: str, strategy: Strategy | None = None) -> None:
        self._client: Any = client
        self.name = name
        self._prefix = prefix_of(client, name)
        self.workers = Workers(client, self._prefix)
        self._lines_of: dict[str, dict[int, int]] = {}
        self._rates: dict[tuple[int, str], tuple[float, float]] = {}
        self._read: dict[str, dict[bytes, bytes]] = {}
        if strategy is not None:
            self.strategy = strategy

    def having_read(self, *hashes: str) -> RedisReader:
        """Return a reader that has read some hashes, all by one call, and goes by them."""
        with self._client.pipeline() as pipeline:
            for key in hashes:
                pipeline.hgetall(self._prefix + key)
            found = pipeline.execute()
        reader = copy(self)
        reader._read = dict(zip(hashes, found, strict=True))
        return reader

    def _hash(self, key: str) -> dict[bytes, bytes]:
        if (read := self._read.get(key)) is not None:
            return read
        found: dict[bytes, bytes] = self._client.hgetall(self._prefix + key)
        return found

    def _ask(self, *questions: tuple[str, str, Any]) -> list[Any]:
        """Return the answers to commands, each (name, key without prefix, arguments), at once."""
        with self._client.pipeline() as pipeline:
            for command, key, arguments in questions:
                pipeline.execute_command(command, self._prefix + key, *arguments)
            answers: list[Any] = pipeline.execute()
        return answers

    def _scanned(self, key: str) -> Iterator[tuple[bytes, bytes]]:
        """Yield the fields of a hash that may be large, in pieces: others are served between."""
        found: Iterator[tuple[bytes, bytes]] = self._client.hscan_iter(
            self._prefix + key, count=BATCH
        )
        return found

    def identity(self) -> dict[str, str]:
        return texts(self._hash("about"))

    def tallies(self) -> dict[str, dict[str, int]]:
        rows = [
            (*key.partition("\n")[::2], int(n)) for key, n in texts(self._hash("tally")).items()
        ]
        return by_kind(rows)

    def pending(self) -> dict[int, int]:
        return dict(sorted(_integers(self._hash("pending"))))

    def unproven(self) -> dict[int, int]:
        """Count those of unproven sites by cell."""
        return dict(_integers(self._hash("unproven")))

    def leased(self) -> int:
        return int(self._client.hlen(self._prefix + "leases"))

    def statuses(self) -> dict[str, int]:
        found = _integers(self._hash("statuses"))
        return {Status(s).name.lower(): number for s, number in found if number}

    def servers(self) -> int:
        return int(self._client.hlen(self._prefix + self._names))

    def server_names(self) -> list[str]:
        return [name.decode() for name in dict(self._scanned(self._names))]

    @property
    def _names(self) -> str:
        return "units" if self.strategy.unit is Unit.SERVER else "servers"

    def pages(self, units: Collection[str]) -> dict[str, Pages]:
        names = list(units)
        found = self._client.hmget(self._prefix + "units", names) if names else []
        return pages_of(names, found)

    def taken(self, server: str) -> tuple[Taken, Taken]:
        names = (server, f"*.{site_of(server)}")
        fields = [f"{what} {name}" for name in names for what in ("pages", "bytes")]
        found = self._client.hmget(self._prefix + "taken", fields)
        pages, size, of_domain, size_of_domain = (int(number or 0) for number in found)
        return Taken(pages, size), Taken(of_domain, size_of_domain)

    def pages_by_cell(self) -> dict[int, Pages]:
        counts = texts(self._hash("experience"))
        cells = sorted(int(key[2:]) for key in counts if key.startswith("n:"))
        return {
            cell: Pages(int(counts[f"n:{cell}"]), number(counts.get(f"r:{cell}", "0")))
            for cell in cells
        }

    def experience(self) -> tuple[Experience, Experience]:
        earlier = self.identity().get("earlier")
        scored = self._client.get(self._prefix + "scored")
        before = Experience.load(json.loads(scored)) if scored else experience_of({}, earlier)
        return experience_of(self.pages_by_cell(), earlier), before

    def longest(self, top: int) -> tuple[tuple[Queue, ...], tuple[Queue, ...]]:
        pages, lengths = self._pages(), self._lengths()
        longest = nlargest(top, lengths, key=lambda server: (lengths[server], server))
        largest = nlargest(top, pages, key=lambda server: (pages[server], server))
        queues, most = (
            tuple(Queue(s, lengths.get(s, 0), *pages.get(s, NO_PAGES)) for s in servers)
            for servers in (longest, [s for s in largest if pages[s].downloaded])
        )
        return queues, most

    def _lengths(self) -> dict[str, int]:
        """Return the length of each server's queue."""
        start = f"{self._prefix}queue:".encode()
        keys = [key for key in self._client.scan_iter(count=BATCH) if key.startswith(start)]
        lengths: list[int] = []
        for first in range(0, len(keys), BATCH):
            with self._client.pipeline(transaction=False) as pipeline:
                for key in keys[first : first + BATCH]:
                    pipeline.zcard(key)
                lengths += pipeline.execute()
        found = zip(keys, lengths, strict=True)
        return {key.removeprefix(start).decode(): number for key, number in found if number}

    def _pages(self) -> dict[str, Pages]:
        """Return the pages of each server that was met."""
        pages: dict[str, Pages] = {}
        for unit, counts in self._client.hscan_iter(f"{self._prefix}units", count=BATCH):
            server = unit.decode().partition("/")[0]  # a directory's name begins with its server's
            own, before = _parsed(counts), pages.get(server, NO_PAGES)
            pages[server] = Pages(
                before.downloaded + own.downloaded, before.relevant + own.relevant
            )
        return pages

    def families(self, top: int) -> list[Family]:
        heads = texts(dict(self._scanned("heads")))
        unproven = ((family, branch, pages) for _, family, branch, pages in self._unproven(heads))
        return [
            Family(heads[str(family)], sites, pages, heads[str(branch)], number)
            for family, sites, pages, branch, number in largest_families(unproven, top)
        ]

    def unproven_sites(self) -> Iterator[tuple[str, str, str, int]]:
        """Yield the unproven sites: name, the names of family and branch, pages."""
        heads = texts(dict(self._scanned("heads")))
        for site, family, branch, pages in self._unproven(heads):
            yield site, heads[str(family)], heads[str(branch)], pages

    def _unproven(self, heads: dict[str, str]) -> Iterator[tuple[str, int, int, int]]:
        """Yield the unproven sites: name, the numbers of family and branch, pages.

        ``heads`` gets the name of each that is a branch of its own.
        """
        taken = dict(self._scanned("taken"))
        for name, known in self._scanned("sites"):
            level, number, family, branch, *_ = _family(known)
            if level == UNPROVEN:
                site = text(name)
                if branch == number:
                    heads[str(number)] = site
                yield site, family, branch, int(taken.get(b"pages *." + name, 0))

    def support(self, site: str) -> int:
        level, _, _, _, *supporters = self._family_of(site)
        return support_of(level, len(supporters))

    def _family_of(self, site: str) -> list[int]:
        return _family(self._client.hget(f"{self._prefix}sites", site) or b"")

    def family_of(self, site: str) -> tuple[str, ...]:
        level, number, family, branch, *_ = self._family_of(site)
        if level != UNPROVEN:
            return ()
        of_family, of_branch = self._client.hmget(f"{self._prefix}heads", [family, branch])
        return text(of_family), site if branch == number else text(of_branch)

    def queue(self, server: str) -> Queue | None:
        pages: Pages | None
        if self.strategy.unit is Unit.SERVER:
            found = self._client.hget(f"{self._prefix}units", server)
            pages = None if found is None else Pages(*map(int, found.split()[:2]))
        else:
            pages = self._pages().get(server)
        if pages is None:
            return None
        return Queue(server, int(self._client.zcard(self._queue(server))), *pages)

    def _queue(self, server: str) -> str:
        return f"{self._prefix}queue:{server}"

    def waiting_of(self, server: str) -> dict[int, int]:
        waiting: dict[int, int] = {}
        for line, cell in self._lines(server).items():
            number = self._client.zcount(self._queue(server), *_numbers_of(line))
            waiting[cell] = waiting.get(cell, 0) + number
        return waiting

    def next_of(self, server: str, cell: int, most: int) -> list[str]:
        numbers: list[int] = []
        for line, of_line in self._lines(server).items():
            if of_line == cell:
                found = self._client.zrangebyscore(self._queue(server), *_numbers_of(line), 0, most)
                numbers += map(int, found)
        records = [self._record(number) for number in sorted(numbers)[:most]]
        return [unpacked(without_referrer(record), server)[2] for record in records if record]

    def _lines(self, server: str) -> dict[int, int]:
        """Return the cells of a server's lines that have URLs."""
        if server in self._lines_of:
            return self._lines_of[server]
        by_server, place, at = self.strategy.unit is Unit.SERVER, 0, 0
        if by_server:
            place = int(self._client.hget(f"{self._prefix}units", server).split()[2])
        lines = self._lines_of[server] = {}
        key = self._queue(server)
        while head := self._client.zrangebyscore(key, at, "+inf", 0, 1, withscores=True):
            line = int(head[0][1]) // STEP
            lines[line] = self.strategy.cell_of[line][place] if by_server else line
            at = (line + 1) * STEP
        return lines

    def _record(self, number: int) -> bytes | None:
        """Return the record of a URL: empty once it is discarded."""
        key, at = place_of(number)
        found: bytes | None = self._client.lindex(self._prefix + key, at)
        return found

    def servers_like(self, text: str, most: int) -> list[str]:
        pattern = f"*{escaped(text)}*"
        found: dict[str, None] = {}
        for unit, _ in self._client.hscan_iter(f"{self._prefix}units", match=pattern, count=BATCH):
            found[unit.decode().partition("/")[0]] = None
            if len(found) >= most:
                break
        return sorted(found)

    def find(self, url: str) -> Standing | None:
        (known,) = looked_up(self._ask, [known_by(url)])
        failed = self._client.hget(f"{self._prefix}failed", known or b"")
        if known is None or (known.isdigit() and self._is_gone(url, known)):
            return None
        if failed is not None:
            return Standing(failed.decode().partition("\n")[0])
        if not known.isdigit():
            return Standing("", worker=self.workers.name(known[1:].partition(b":")[0]))
        postponed = self._client.hexists(f"{self._prefix}tries", known)
        return Standing(Outcome.POSTPONED if postponed else None)

    def _is_gone(self, url: str, number: bytes) -> bool:
        """Tell whether a URL was discarded, though its record may still be there for a moment."""
        if not self._record(int(number)):
            return True
        parsed = parse(url)
        server = parsed.server if parsed is not None else ""
        return self._client.zscore(f"{self._prefix}bin:{server}", number) is not None

    def freshness(self, now: float) -> Freshness | None:
        budget = texts(self._hash("budget"))
        if "revisit" not in budget:
            return None
        day, pages = float(budget["day"]), self._sample()
        shares = [
            page.held.fresh(self._usual(page)[0], now / day)
            for page in pages
            if page.held.kind != Kind.LISTING
        ]
        held, due = self._client.hlen(self._prefix + "held"), f"{self._prefix}due"
        first = self._client.zrange(due, 0, 0, withscores=True)
        new = self._client.hmget(f"{self._prefix}rates", [f"new {kind:d}" for kind in Kind])
        earned, spent = float(budget.get("earned", 0)), float(budget.get("spent", 0))
        return Freshness(
            held=held,
            fresh=sum(shares) / len(shares) if shares else None,
            due=self._client.zcount(due, "-inf", now / day),
            next_due=first[0][1] * day if first else None,
            budget=float(budget["revisit"]) * held,
            used=spent / earned if earned else None,
            finds=round(sum(float(number or 0) for number in new)),
            **visits_so_far(self.tallies()),
        )

    def _sample(self) -> list[Kept]:
        """Return held pages: all, or some of many, whichever."""
        return self._kept(self._client.hrandfield(f"{self._prefix}held", SAMPLE))

    def _kept(self, numbers: list[bytes]) -> list[Kept]:
        if not numbers:
            return []
        kept = self._client.hmget(f"{self._prefix}held", numbers)
        due = self._client.zmscore(f"{self._prefix}due", numbers)
        finds = self._client.hmget(f"{self._prefix}finds", numbers)
        return [page for _, _, page in kept_pages(numbers, (kept, due, finds))]

    def _usual(self, page: Kept) -> tuple[float, float]:
        if page.page not in self._rates:
            found = self._client.hmget(f"{self._prefix}rates", rates_of(page.page))
            self._rates[page.page] = usual(found)
        return self._rates[page.page]

    def held(self, url: str) -> HeldPage | None:
        budget = texts(self._hash("budget"))
        for code in (SEED, LISTING) if "revisit" in budget else ():
            (known,) = looked_up(self._ask, [known_by(url, code)])
            number = (known or b"").partition(b":")[2]
            for page in self._kept([number] if number else []):
                return held_page(page.held, self._usual(page), float(budget["day"]))
        return None

    def left_out(self, server: str | None = None) -> Iterable[tuple[str, str, int]]:
        if server is None:
            for key, number in self._client.hscan_iter(f"{self._prefix}left_out", count=BATCH):
                name, _, reason = key.decode().partition("\n")
                yield name, reason, int(number)
            return
        reasons = (*FULL.values(), *OF_QUOTA)
        fields = [f"{server}\n{reason}" for reason in reasons]
        numbers = self._client.hmget(f"{self._prefix}left_out", fields)
        for reason, number in zip(reasons, numbers, strict=True):
            if number is not None:
                yield server, reason, int(number)

    def ended(self, top: int) -> Ended:
        """Of a failed server an outcome is known only if it may be tried once more."""
        known = dict(self._scanned("failed")).values()
        outcomes = {s: o for o, _, s in (value.decode().partition("\n") for value in known)}
        pages = self._pages()
        leased = {server.decode() for server in self._client.hkeys(f"{self._prefix}leases")}
        later = (m.decode() for m, _ in self._client.zscan_iter(f"{self._prefix}later"))
        postponed = {member.partition(" ")[2] for member in later}
        cut = {server for server, *_ in self.left_out()}
        idle = pages.keys() - self._lengths().keys() - leased - postponed - cut
        failed = sorted(server for server in idle if not pages[server].downloaded)
        names = [(server, outcomes.get(server, "")) for server in failed[:top]]
        return Ended(len(idle) - len(failed), len(failed), names)


def pages_of(units: Iterable[str], found: Iterable[bytes | None]) -> dict[str, Pages]:
    """Return the pages of units, by what the hash of units has of each."""
    named = zip(units, found, strict=True)
    return {name: _parsed(counts) for name, counts in named if counts is not None}


def is_unproven(found: bytes | None) -> bool:
    """Tell whether a site is unproven, by what the hash of sites has of it."""
    return _family(found or b"")[0] == UNPROVEN


def _numbers_of(line: int) -> tuple[int, str]:
    """Return the scores of a line's URLs, from and to."""
    return line * STEP, f"({(line + 1) * STEP}"


def _integers(found: Mapping[bytes, bytes]) -> Iterable[tuple[int, int]]:
    return ((int(key), int(value)) for key, value in found.items())


def _family(known: bytes) -> list[int]:
    """Return a site's level, number, family and branch, and the numbers of its supporters."""
    numbers = [int(number) for number in known.partition(b"|")[0].split()]
    return numbers if len(numbers) > 1 else [NEW, 0, 0, 0]


def _parsed(counts: bytes) -> Pages:
    """Return the pages of a unit."""
    downloaded, relevant, *_ = counts.split()
    return Pages(int(downloaded), number(relevant.decode()))


@contextmanager
def opened(client: Redis, name: str = "", *, alone: bool = True) -> Iterator[RedisReader]:
    """Open the frontier of the crawl of this name; without one, of the only crawl there is.

    Raises FrontierError if there is none, or only a shard of one though it is asked ``alone``;
    StorageError if it can't be read.
    """
    try:
        reader = RedisReader(client, _named(client, name))
        if alone:
            check_shard(reader.identity(), None, "this Redis")
        yield reader
    except AuthenticationError as error:
        raise FrontierError(
            "this Redis refuses the password, or asks for one: say it in REDIS_PARAMS, in the "
            f"environment as REDISCLI_AUTH, or in the URL: {error}"
        ) from error
    except AskError as error:
        raise FrontierError(
            "this Redis is a node of a Redis Cluster: write redis+cluster:// for it"
        ) from error
    except RedisError as error:
        raise StorageError(f"can't read the frontier in Redis: {error}") from error


def _named(client: Redis, name: str) -> str:
    if name and not client.exists(f"{{{name}}}:about"):
        raise FrontierError(f"no crawl {name!r} in this Redis; there are: {_crawls(client)}")
    if name:
        return name
    found = _crawls(client)
    if not found:
        raise FrontierError("there is no crawl in this Redis, or none has begun yet")
    if len(found) > 1:
        raise FrontierError(f"say with --key which crawl in this Redis; there are: {found}")
    return found[0]


def _crawls(client: Redis) -> list[str]:
    keys = client.scan_iter(match="{*}:about", count=BATCH)
    return sorted(key.decode()[1:].removesuffix("}:about") for key in keys)
