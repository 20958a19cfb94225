"""Recount of a frontier in Redis: by its URLs alone, what all its counts and queues must say.

What is kept there is described at the beginning of ``lswc/frontier/redis.lua``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from lswc.frontier.contract import site_of
from lswc.frontier.redis_script import (
    APART_STEP,
    CHUNK,
    HASHES_AT_FIRST,
    STEP,
    known_as,
    place_in,
    unpacked,
    without_referrer,
)
from lswc.frontier.shards import known_by
from lswc.strategy import DISCARD, REQUISITES, Pages, Strategy, Unit, status, with_requisites
from lswc.strategy.families import UNPROVEN, URLS, support_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from redis import Redis

    from lswc.frontier.contract import Terms

PENDING, LEASED, LATER, FAILED = "pending", "leased", "later", "failed"
FINISHED, MOVED = "finished", "moved"
WAITING = (PENDING, LEASED, LATER)
ENDED = (FINISHED, MOVED, FAILED)

_ALL_KEYS = """
local found = {}
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
  local kind, value = redis.call('TYPE', key).ok, nil
  if kind == 'hash' then value = redis.call('HGETALL', key)
  elseif kind == 'set' then value = redis.call('SMEMBERS', key)
  elseif kind == 'zset' then value = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
  elseif kind == 'list' then value = redis.call('LRANGE', key, 0, -1)
  else value = redis.call('GET', key) end
  found[#found + 1] = { key, kind, value }
end
return found
"""


class Url(NamedTuple):
    """Where a URL stands: its state, its number, its server.

    ``about`` is the token of a lease, when a postponed URL is due, in ms, how one failed, or the
    number of the worker that finished it.
    """

    state: str
    number: int = 0
    server: str = ""
    about: str = ""


class Kept(NamedTuple):
    """What is kept of a server or directory, or of a site's pages."""

    pages: Pages
    place: int
    site: str

    @classmethod
    def of(cls, text: str) -> Kept:
        """Return what a text says."""
        downloaded, relevant, place, *rest = text.split(" ")
        return cls(Pages(int(downloaded), float(relevant)), int(place), "".join(rest[1:]))


class Site(NamedTuple):
    """What is kept of a site."""

    level: int
    family: int
    supporters: int
    pages: Pages

    @classmethod
    def of(cls, text: str) -> Site:
        """Return what a text says."""
        known, _, pages = text.partition("|")
        level, *rest = map(int, known.split())
        _, family, _, *supporters = rest or (0, 0, 0)
        return cls(level, family, len(supporters), Kept.of(pages).pages)


NO_SITE = Site.of("0|0 0 0")


class Contents:
    """All that one Redis holds of a crawl, read at a moment. AssertionError if a URL is nowhere.

    ``urls`` are by the key that each is known by; ``units`` and ``sites`` by name. ``busy`` has the
    servers that are, and until when in ms. ``kept`` is the number of parcels of links for
    other servers that are away.
    """

    def __init__(self, client: Redis, name: str, *, by_server: bool) -> None:
        self.by_server = by_server
        self.keys: dict[str, Any] = {}
        self.groups: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        prefix = f"{{{name}}}:"
        found: Any = client.eval(_ALL_KEYS, 0, f"{prefix}*")
        for key, kind, value in found:
            short = key.decode("latin-1").removeprefix(prefix)
            group, _, rest = short.partition(":")
            self.keys[short] = self.groups[group][rest] = _read(kind, value)
        self._records = self._numbered()
        self.units = {unit: Kept.of(text) for unit, text in self.hash("units").items()}
        self.site_of_server = (
            {server: unit.site for server, unit in self.units.items()}
            if by_server
            else {name: text.partition(" ")[2] for name, text in self.hash("servers").items()}
        )
        self.sites = {site: Site.of(text) for site, text in self.hash("sites").items()}
        self.busy = {server: round(until) for server, until in self.scores("busy").items()}
        self.urls: dict[int, Url] = {}
        self.what: dict[int, tuple[str, int]] = {}
        """Unit and kind of a URL, by its number."""
        self._read_urls()

    def hash(self, key: str) -> dict[str, str]:
        """Return a hash."""
        found: dict[str, str] = self.keys.get(key, {})
        return found

    def scores(self, key: str) -> dict[str, float]:
        """Return a sorted set."""
        found: dict[str, float] = self.keys.get(key, {})
        return found

    def counts(self, key: str) -> dict[str, int]:
        """Return the counts of a hash that aren't 0."""
        return {name: int(number) for name, number in self.hash(key).items() if int(number)}

    @property
    def tally(self) -> dict[tuple[str, str], int]:
        """Counts by kind and name."""
        parts = ((key.partition("\n"), number) for key, number in self.counts("tally").items())
        return {(kind, name): number for (kind, _, name), number in parts}

    @property
    def kept(self) -> int:
        """Number of parcels for other servers."""
        return sum(map(len, self.groups["outbox"].values()))

    @property
    def counted(self) -> set[int]:
        """Numbers of URLs whose pages are counted already, though their visits haven't ended."""
        return set(map(int, self.keys.get("counted", ())))

    @property
    def again(self) -> int:
        """Number of leases of pages that are visited again: their URLs are finished."""
        return sum(text.endswith(" again") for text in self.hash("leases").values())

    def finished_by(self, worker: str) -> set[int]:
        """Return the keys of the URLs that a worker finished, as lswc check asks for them."""
        number = self.hash("workers").get(worker)
        return {
            key
            for key, url in self.urls.items()
            if url.state in (FINISHED, MOVED) and url.about == number
        }

    def lines(self) -> dict[tuple[str, int], list[int]]:
        """Return the numbers of the pending URLs of each server and line, the oldest first."""
        found: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
        for server, rows in self.groups["queue"].items():
            for number, score in rows.items():
                line, own = divmod(round(score), STEP)
                assert own == int(number), f"{number} of {server} has another's place"
                found[server, line].append(own)
        return {name: sorted(numbers) for name, numbers in found.items()}

    def moving(self) -> dict[str, Iterable[str]]:
        """Return the URLs of directories that are still where they were."""
        return {
            key.removeprefix("0:"): rows
            for key, rows in self.groups["behind"].items()
            if key.startswith("0:")
        }

    def _numbered(self) -> dict[int, bytes]:
        records = {
            int(chunk) * CHUNK + at: row.encode("latin-1")
            for chunk, rows in self.groups["urls"].items()
            for at, row in enumerate(rows, 1)
        }
        last = int(self.hash("about").get("next", 0))
        assert sorted(records) == list(range(1, last + 1)), "a list of URLs has a gap"
        return records

    def _placed(self) -> Iterator[Url]:
        """Yield the URLs that are somewhere."""
        for server, rows in self.groups["queue"].items():
            for number in rows:
                yield Url(PENDING, int(number), server)
        for server, text in self.hash("leases").items():
            token, number, _, *again = text.split(" ")
            if not again:
                yield Url(LEASED, int(number), server, token)
        for member, due in self.scores("later").items():
            number, _, server = member.partition(" ")
            yield Url(LATER, int(number), server, str(round(due)))
        for number, text in self.hash("failed").items():
            outcome, _, server = text.partition("\n")
            yield Url(FAILED, int(number), server, outcome)

    def _read_urls(self) -> None:
        by_number: dict[int, Url] = {}
        for url in self._placed():
            assert url.number not in by_number, f"{url} is {by_number[url.number]}, too"
            by_number[url.number] = url
        emptied = {int(number) for rows in self.groups["bin"].values() for number in rows}
        hashes = int(self.hash("about").get("hashes", HASHES_AT_FIRST))
        for number_of_hash, rows in self.groups["seen"].items():
            for name, said in rows.items():
                field = name.encode("latin-1")
                key = known_as(int(number_of_hash), field)
                assert place_in(hashes, key) == (f"seen:{number_of_hash}", field), "another hash"
                if not said.isdigit():
                    state = MOVED if said[0] == "h" else FINISHED
                    self.urls[key] = Url(state, about=said[1:].partition(":")[0])
                elif (number := int(said)) in by_number:
                    self.urls[key] = by_number.pop(number)
                    self._check_record(key, self.urls[key])
                else:
                    record = self._records[number]
                    assert not record or number in emptied, f"lost: {number}, {record!r}"
        assert not by_number, f"known by no key: {list(by_number.values())}"
        known = sum(map(len, self.groups["seen"].values()))
        assert int(self.hash("about").get("known", 0)) == known, "the number of known URLs"

    def _check_record(self, key: int, url: Url) -> None:
        record = self._records[url.number]
        assert record[:1] == b"\0", f"{url} has no record but {record!r}"
        facts, unit, address = unpacked(without_referrer(record), url.server)
        assert known_by(address, facts[2]) == key, f"{address} is known by another's key"
        assert address.split("/")[2] == url.server, f"{address} is {url.server}'s"
        self.what[url.number] = unit or url.server, facts[0]


class Recount:
    """Compares what one Redis holds with a recount by its URLs. AssertionError if it differs."""

    def __init__(self, held: Contents, strategy: Strategy, terms: Terms) -> None:
        self._held, self._strategy, self._terms = held, with_requisites(strategy), terms
        self._by_server = strategy.unit is Unit.SERVER
        self._has_families = terms.unproven_share < 1 or (
            not strategy.weighs_support and "sites" in held.hash("about")
        )
        self._waiting: Counter[str] = Counter()
        """URLs of each site that are pending or leased."""
        for url in held.urls.values():
            if url.state in (PENDING, LEASED):
                self._waiting[self._site(url.server)] += 1

    def check(self) -> None:
        """Compare every count and queue with the URLs."""
        self._check_pending()
        self._check_places_in_queues()
        self._check_postponed()
        self._check_lines()
        self._check_servers()
        self._check_statuses()
        self._check_places()
        self._check_servers_of_sites()
        self._check_taken()
        self._check_families()
        self._check_caps()

    def check_rest(self) -> None:
        """Check that nothing was left over, once all has ended."""
        held = self._held
        left = [url for url in held.urls.values() if url.state in WAITING]
        assert not left, f"these still wait: {left}"
        for key in ("over", "behind", "pending", "unproven", "waiting", "later", "tries"):
            assert not held.keys.get(key), f"{key} holds {held.keys[key]}"
        for group in ("queue", "ready", "apart", "of", "bin", "behind", "outbox"):
            assert not held.groups[group], f"{group} holds {held.groups[group]}"

    def _site(self, server: str) -> str:
        site = self._held.site_of_server[server]
        assert site == site_of(server)
        return site

    def _family(self, server: str, cell: int = 0) -> int:
        """Return the family of a server for its URLs in a cell, 0 unless its site is unproven."""
        return 0 if cell >= REQUISITES else self._family_of(self._site(server))

    def _family_of(self, site: str) -> int:
        found = self._held.sites.get(site, NO_SITE)
        return found.family if self._has_families and found.level == UNPROVEN else 0

    def _cell(self, server: str, line: int) -> int:
        if not self._by_server:
            return line
        return self._strategy.cell_of[line][self._held.units[server].place]

    def _check_pending(self) -> None:
        pending: Counter[str] = Counter()
        unproven: Counter[str] = Counter()
        for (server, line), numbers in self._held.lines().items():
            cell = self._cell(server, line)
            assert cell != DISCARD, f"what is discarded waits: {numbers} of {server}"
            pending[str(cell)] += len(numbers)
            if self._family(server, cell):
                unproven[str(cell)] += len(numbers)
        _same(pending, self._held.counts("pending"), "pending by cell")
        _same(unproven, self._held.counts("unproven"), "pending of unproven sites by cell")
        _same(self._waiting, self._held.counts("waiting"), "waiting by site")

    def _check_places_in_queues(self) -> None:
        moving = self._held.moving()
        still = {int(number) for rows in moving.values() for number in rows}
        of_units: defaultdict[str, set[int]] = defaultdict(set)
        for (server, line), numbers in self._held.lines().items():
            for number in numbers:
                unit, kind = self._held.what[number]
                of_units[unit].add(number)
                own = kind
                if not self._by_server:
                    own = self._strategy.cell_of[kind][self._held.units[unit].place]
                assert number in still or line == own, f"{number} of {server} is in another's line"
        if not self._by_server:
            sets = (*self._held.groups["of"].items(), *moving.items())
            found: defaultdict[str, set[int]] = defaultdict(set)
            for unit, rows in sets:
                found[unit] |= set(map(int, rows))
            _same(of_units, found, "pending of directories")

    def _check_postponed(self) -> None:
        held, tries = self._held, self._held.hash("tries")
        later = [url for url in held.urls.values() if url.state == LATER]
        postponed = Counter(tries[str(url.number)].partition(" ")[2] for url in later)
        told = {name: number for (kind, name), number in held.tally.items() if kind == "postponed"}
        _same(postponed, told, "postponed by outcome")
        wait = {str(url.number) for url in held.urls.values() if url.state in WAITING}
        assert tries.keys() <= wait, "tries of what waits no more"

    def _check_lines(self) -> None:
        """Each line is found by its cell; none that has no URL is."""
        held, lines = self._held, self._held.lines()
        ready = {
            (kind, int(cell), name): round(score)
            for kind in ("ready", "apart")
            for cell, rows in held.groups[kind].items()
            for name, score in rows.items()
        }
        aside = {server: text.split() for server, text in held.hash("aside").items()}
        for (server, line), numbers in lines.items():
            cell, name, score = self._cell(server, line), f"{line} {server}", numbers[0]
            if family := self._family(server, cell):
                score = family * APART_STEP + score % APART_STEP
            found = ready.pop(("apart" if family else "ready", cell, name), None)
            is_aside = server in held.busy and str(line) in aside.get(server, ())
            assert found == score or (found is None and is_aside), f"{name}: {found}, not {score}"
            of_site = held.groups["lines"].get(self._site(server), {})
            in_site = {key[4:]: round(cell) for key, cell in of_site.items()}
            assert in_site.get(name) == cell, f"its site lacks {name}"
        assert not ready, f"ready without a URL there: {ready}"

    def _check_servers(self) -> None:
        held = self._held
        assert held.hash("leases").keys() <= held.busy.keys(), "a leased server is free"
        _same(
            held.groups["queue"].keys() - held.busy.keys(), set(held.keys.get("free", ())), "free"
        )
        assert held.hash("aside").keys() <= held.busy.keys(), "lines of a free server are aside"
        busy_for = held.hash("busy_for")
        assert busy_for.keys() <= held.busy.keys(), "a family's server isn't busy"
        _same(Counter(busy_for.values()), held.counts("busy_families"), "busy by family")

    def _check_statuses(self) -> None:
        found = Counter(
            str(int(status(*unit.pages, self._strategy.tolerated)))
            for unit in self._held.units.values()
        )
        _same(found, self._held.counts("statuses"), "units by status")

    def _check_places(self) -> None:
        """All are in their places, but for servers that are brought there in pieces.

        If the order is learned, servers with pages are asked only when their site's place changes.
        """
        held, strategy = self._held, self._strategy
        if self._by_server and "behind" in held.keys:
            return
        of_sites: defaultdict[str, Pages] = defaultdict(Pages)
        for unit in held.units.values():
            before = of_sites[unit.site]
            of_sites[unit.site] = Pages(
                before.downloaded + unit.pages.downloaded, before.relevant + unit.pages.relevant
            )
        for name, unit in held.units.items():
            site = held.sites.get(unit.site, NO_SITE)
            if strategy.learns:
                _same(of_sites[unit.site], site.pages, f"pages of {unit.site}")
            if strategy.learns and unit.pages.downloaded:
                continue
            support = support_of(site.level, site.supporters) if strategy.weighs_support else 0
            _same(strategy.place(unit.pages, site.pages, support), unit.place, f"place of {name}")

    def _check_servers_of_sites(self) -> None:
        if not (self._strategy.learns or self._strategy.weighs_support):
            return
        expected: defaultdict[str, set[str]] = defaultdict(set)
        for server, site in self._held.site_of_server.items():
            expected[site].add(server)
        found: defaultdict[str, set[str]] = defaultdict(set)
        for site, rows in self._held.groups["site"].items():
            found[site] |= set(rows)
        for key, rows in self._held.groups["behind"].items():
            if key:
                found[key.partition(":")[2]] |= set(rows)
        _same(expected, found, "servers of sites")

    def _check_taken(self) -> None:
        """What a site has brought is what its servers have."""
        taken = self._held.counts("taken")
        for what in ("pages ", "bytes "):
            own = {key.removeprefix(what): n for key, n in taken.items() if key.startswith(what)}
            of_servers: Counter[str] = Counter()
            for server, number in own.items():
                if not server.startswith("*."):
                    of_servers[f"*.{self._site(server)}"] += number
            _same(of_servers, {key: n for key, n in own.items() if key[:2] == "*."}, what)

    def _check_families(self) -> None:
        if not self._has_families:
            return
        sites = Counter(str(family) for site in self._waiting if (family := self._family_of(site)))
        large = sum(number > self._terms.small_family for number in sites.values())
        expected = {**sites, "0": sites.total(), "families": len(sites), "large": large}
        found = self._held.counts("family_sites")
        _same({key: n for key, n in expected.items() if n}, found, "unproven sites by family")

    def _check_caps(self) -> None:
        """What is too much was told to a worker, which is to say what of it is discarded."""
        caps, told = self._terms.caps, set(self._held.keys.get("over", ()))
        waits = (url for url in self._held.urls.values() if url.state in (PENDING, LEASED))
        for server, number in Counter(url.server for url in waits).items():
            is_over = caps.server and number > caps.server
            assert not is_over or f"server {server}" in told, f"{number} of {server} wait"
        for site, number in self._waiting.items():
            most = caps.domain or number
            if caps.sites and self._family_of(site):
                most = min(most, URLS)
            assert number <= most or f"site {site}" in told, f"{number} of {site} wait"


def _read(kind: bytes, value: Any) -> Any:
    """Return a key's value; bytes as the characters of these numbers, as some aren't any text."""
    if kind == b"string":
        return value
    texts = [one.decode("latin-1") for one in value]
    pairs = zip(texts[::2], texts[1::2], strict=False)
    if kind == b"hash":
        return dict(pairs)
    if kind == b"zset":
        return {name: float(score) for name, score in pairs}
    return texts


def _same(expected: object, found: object, what: str) -> None:
    assert found == expected, f"{what}: {found}, recounted {expected}"
