"""What a name resolves to, as far as it is passed on; whole crawls are in tests/hostile."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Spider
from scrapy.resolver import dnscache
from scrapy.settings import Settings
from twisted.internet.address import IPv4Address

from lswc import settings
from lswc.crawl.spider import LswcSpider
from lswc.crawl.transport.resolver import ADDRESSES, Resolver


def names(number: int) -> Any:
    """Return a resolver for which each name has so many addresses."""

    def resolve(receiver: Any, name: str, port: int, *_: object) -> None:
        receiver.resolutionBegan(SimpleNamespace(name=name))
        for n in range(number):
            receiver.addressResolved(IPv4Address("TCP", f"8.8.{n // 250}.{n % 250}", port))
        receiver.resolutionComplete()

    return SimpleNamespace(nameResolver=SimpleNamespace(resolveHostName=resolve))


def resolved(resolver: Resolver, name: str) -> list[str]:
    """Return the addresses passed on, once the resolver says that these are all."""
    found: list[str] = []
    ended: list[bool] = []
    receiver = SimpleNamespace(
        resolutionBegan=lambda _: None,
        addressResolved=lambda address: found.append(address.host),
        resolutionComplete=lambda: ended.append(True),
    )
    resolver.resolveHostName(receiver, name, 80)
    assert ended == [True]
    return found


@pytest.mark.parametrize(("number", "passed"), [(1, 1), (ADDRESSES, ADDRESSES), (4_000, ADDRESSES)])
def test_a_name_has_so_many_addresses(number: int, passed: int) -> None:
    resolver = Resolver(names(number), 10)
    for _ in range(2):  # the second time from the cache
        found = resolved(resolver, f"n{number}.example")
        assert found == [f"8.8.0.{n}" for n in range(passed)]
        assert len(dnscache[f"n{number}.example"]) == passed


@pytest.mark.parametrize(
    "name", ["a" * 64 + ".example", "a..example", ".example", "\udc80.example"]
)
def test_a_name_that_cannot_be_asked_for_has_no_address(name: str) -> None:
    reactor = names(1)
    reactor.nameResolver.resolveHostName = pytest.fail
    assert resolved(Resolver(reactor, 10), name) == []


def test_slow_lookups_keep_no_request_waiting() -> None:
    assert settings.REACTOR_THREADPOOL_MAXSIZE >= settings.CONCURRENT_REQUESTS


class Other(Spider):
    name = "other"


@pytest.mark.parametrize(
    ("spiders", "found"),
    [([Other], ["10.0.0.1"]), ([], ["10.0.0.1"]), ([Other, LswcSpider], []), (None, [])],
)
def test_private_addresses_are_kept_out_unless_only_other_spiders_run(
    spiders: list[type[Spider]] | None, found: list[str]
) -> None:
    def resolve(receiver: Any, name: str, port: int, *_: object) -> None:
        receiver.resolutionBegan(SimpleNamespace(name=name))
        receiver.addressResolved(IPv4Address("TCP", "10.0.0.1", port))
        receiver.resolutionComplete()

    reactor: Any = SimpleNamespace(nameResolver=SimpleNamespace(resolveHostName=resolve))
    given = Settings({"LSWC_WEB": "", "LSWC_ALLOWED_PORTS": [80], "DNSCACHE_ENABLED": False})
    process: Any = SimpleNamespace(settings=given)
    if spiders is not None:
        process.crawlers = [SimpleNamespace(spidercls=spider) for spider in spiders]
    assert resolved(Resolver.from_crawler(process, reactor), "private.example") == found
