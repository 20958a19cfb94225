"""Shards: which server of several holds a site, and whether they are the servers of one crawl."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from lswc.errors import ConfigError
from lswc.frontier.contract import FrontierError, check_format, site_of
from lswc.frontier.visit import key
from lswc.strategy import SEED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

SHARDS = 256
"""Parts of a crawl, which are laid over its servers: so many servers at most."""

CLUSTER = "redis+cluster://"
"""Scheme of a Redis Cluster."""

LAID_OUT = ("shard", "layout", "crawl", "whole")
"""What a server says of itself: which one of how many, where shards are, the mark of the crawl, and
whether all have begun."""


def shard_of(site: str) -> int:
    """Return the shard of a site; it is the same on every machine and in every version."""
    return crc32(site.encode()) % SHARDS


@lru_cache(maxsize=65_536)
def shard_of_server(server: str) -> int:
    """Return the shard of a web server: that of its site."""
    return shard_of(site_of(server))


_SHARD = 40
"""Where the shard is in the key of a URL: its third byte, the first one beyond the bucket."""


def in_shard(key: int, shard: int) -> int:
    """Return the key by which Redis knows a URL: it says in which shard the URL is, too.

    The shard takes the place of 8 of the 64 bits of its hash. It is that of all the site's URLs, so
    two URLs share a key as rarely as before, unless most of a crawl are on one site.
    """
    return key & ~(0xFF << _SHARD) | shard << _SHARD


def shard_of_key(key: int) -> int:
    """Return the shard that ``in_shard`` put there."""
    return key >> _SHARD & 0xFF


def known_by(url: str, code: int = SEED) -> int:
    """Return the key by which Redis knows a canonical URL; ``code`` is as in ``key``."""
    return in_shard(key(url, code), shard_of_server(url.split("/", 3)[2]))


class Layout(NamedTuple):
    """The number of the server that holds each shard, and how many servers there are."""

    servers: bytes
    number: int

    @classmethod
    def of(cls, number: int) -> Layout:
        """Return the layout of a new crawl: each server has as many shards as the others."""
        return cls(bytes(shard * number // SHARDS for shard in range(SHARDS)), number)

    def server_of_site(self, site: str) -> int:
        """Return the number of the server that holds a site."""
        return self.servers[shard_of(site)]

    def server_of(self, server: str) -> int:
        """Return the same for a web server."""
        return self.servers[shard_of_server(server)]

    def server_of_unit(self, unit: str) -> int:
        """Return the same for what a strategy counts by: a web server, or a directory of it."""
        return self.server_of(unit.partition("/")[0])

    def part(self, units: Iterable[str]) -> dict[int, list[str]]:
        """Return the units by the number of the server that holds them."""
        parts: dict[int, list[str]] = {}
        for unit in units:
            parts.setdefault(self.server_of_unit(unit), []).append(unit)
        return parts

    def over(self, number: int) -> Layout:
        """Return a layout over so many servers, no fewer, that moves as few shards as it can.

        All that move go to the servers that are new.
        """
        servers = bytearray(self.servers)
        while True:
            held = [servers.count(one) for one in range(number)]
            most, fewest = max(held), min(held)
            if most - fewest <= 1:
                return Layout(bytes(servers), number)
            servers[servers.rindex(held.index(most))] = held.index(fewest)

    def identity(self, index: int, mark: str) -> dict[str, str]:
        """Return what a server's part of the crawl is; the first one's mark is the crawl's."""
        about = {"shard": f"{index + 1} of {self.number}", "layout": self.servers.hex()}
        return {**about, "crawl": mark} if index else about


class Plan(NamedTuple):
    """Where a crawl's shards were, and where they are to be; servers are by their addresses."""

    before: list[str]
    after: list[str]
    layout_before: str
    layout: str

    @classmethod
    def load(cls, text: str) -> Plan:
        """Return the plan that ``dump`` gave."""
        return cls(*json.loads(text))

    def dump(self) -> str:
        """Return it as text."""
        return json.dumps(self)

    def named(self) -> tuple[str, str]:
        """Return the servers before and after as LSWC_FRONTIER names them, without a login."""
        return _named(self.before), _named(self.after)


def _named(addresses: Sequence[str]) -> str:
    """Return servers as one address; each is host:port/database."""
    hosts, databases = zip(*(one.rsplit("/", 1) for one in addresses), strict=True)
    return f"redis://{','.join(hosts)}/{databases[0]}"


def addresses(store: str) -> list[str]:
    """Return the address of each server that ``redis://host:port,host:port/0`` names.

    Raises ConfigError if one is there twice, or none.
    """
    scheme, _, rest = store.partition("://")
    named, slash, database = rest.partition("/")
    if scheme != "unix" and ("://" in rest or "," in database):
        raise ConfigError(
            "LSWC_FRONTIER: several servers have one scheme, and one database behind the last, "
            "such as redis://one:6379,other:6379/0"
        )
    login, at, hosts = named.rpartition("@")
    found = [host.strip() for host in hosts.split(",")]
    if len(found) == 1 or scheme == "unix":
        return [store]
    twice = next((host for host in found if found.count(host) > 1), None)
    if twice == "":
        raise ConfigError("LSWC_FRONTIER: a comma has no server before or behind it")
    if twice is not None or "" in found:
        raise ConfigError(f"LSWC_FRONTIER: {twice or 'a server'} is named twice, or not at all")
    if len(found) > SHARDS:
        raise ConfigError(f"LSWC_FRONTIER: {len(found)} servers are named, {SHARDS} is the most")
    return [f"{scheme}://{login}{at}{host}{slash}{database}" for host in found]


def are_several(store: str) -> bool:
    """Tell whether this names several servers. Raises ConfigError as ``addresses`` does."""
    return store.startswith(CLUSTER) or len(addresses(store)) > 1


def check_servers(found: Sequence[tuple[str, Mapping[str, str]]]) -> None:
    """Raise FrontierError unless these servers, in this order, are those of one crawl.

    ``found`` has of each how it is called in a sentence, and what it says of the crawl; nothing
    if it holds none. That is an error as soon as any says ``whole``: then all had begun.
    """
    number, first = len(found), next((about for _, about in found if about), None)
    if first is None:
        return
    for _, about in found:
        check_rebalanced(about)
    mark = found[0][1].get("mark", "") if found[0][1] else first.get("crawl", "")
    for index, (address, about) in enumerate(found):
        wanted = f"{index + 1} of {number}"
        if not about:
            if any(other.get("whole") for _, other in found):
                raise FrontierError(
                    f"{address} doesn't hold shard {wanted} of the crawl: bring back the server "
                    "that does, or what it had stored; else begin anew under another "
                    "LSWC_REDIS_KEY and in another folder"
                )
            continue
        check_format(about)
        check_shard(about, wanted, address)
        if index and about.get("crawl") != mark:
            raise FrontierError(
                f"{address} holds a shard of another crawl of this name than the first server: "
                "correct LSWC_FRONTIER, or choose another name with LSWC_REDIS_KEY"
            )
        if about.get("layout") != first.get("layout"):
            raise FrontierError(f"{address} has its shards laid out otherwise than the others")


def check_rebalanced(about: Mapping[str, str]) -> None:
    """Raise FrontierError if a server's shards are under way to another."""
    if "rebalance" in about:
        before, after = Plan.load(about["rebalance"]).named()
        raise FrontierError(
            "the shards of this crawl are between its old servers and its new ones: finish that "
            f"first, `scrapy frontier {before} --rebalance {after}`"
        )


def check_shard(about: Mapping[str, str], wanted: str | None, address: str) -> None:
    """Raise FrontierError if a server holds another shard than the one that is asked of it.

    ``wanted`` says which of how many, None that the server is to hold a whole crawl.
    """
    check_rebalanced(about)
    there = about.get("shard")
    if not about or there == wanted:
        return
    if there is None:
        raise FrontierError(
            f"{address} holds a whole crawl of this name, not shard {wanted}: name it alone, or "
            "choose another name with LSWC_REDIS_KEY"
        )
    asked = f"not {wanted}" if wanted else "and the others aren't named"
    raise FrontierError(
        f"{address} holds shard {there}, {asked}: name in LSWC_FRONTIER the servers that the crawl "
        "was begun with, or was rebalanced to, in that order"
    )
