"""Metrics: the address of LSWC_METRICS, where Prometheus and a container engine ask."""

from __future__ import annotations

import logging
import os
import socket
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.defer import maybe_deferred_to_future

from lswc.crawl.placement import only_for_crawls
from lswc.errors import ConfigError
from lswc.extras import require
from lswc.monitor.recorder import snapshot_taken

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings


logger = logging.getLogger(__name__)


class Address(NamedTuple):
    """Where to listen; port 0 is any free one."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def address_of(settings: BaseSettings) -> Address | None:
    """Return what LSWC_METRICS says, None if it is empty. Raises ConfigError."""
    given = settings.get("LSWC_METRICS")
    if not given:
        return None
    host, _, port = str(given).rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not (port.isascii() and port.isdecimal() and int(port) < 2**16):
        raise ConfigError(
            f"LSWC_METRICS={given!r} isn't an address and a port, such as 127.0.0.1:9410"
        )
    return Address(host, int(port))


def check(settings: BaseSettings) -> None:
    """Raise ConfigError unless the address of LSWC_METRICS, if any, can be listened to."""
    address = address_of(settings)
    if address is None:
        return
    require("metrics")
    try:
        listening = socket.create_server(
            address, family=socket.AF_INET6 if ":" in address.host else socket.AF_INET
        )
    except OSError as error:
        raise _refused(address, os.strerror(error.errno or 0)) from error
    listening.close()


def _refused(address: Address, why: object) -> ConfigError:
    return ConfigError(
        f"LSWC_METRICS: can't listen to {address}: {why}; give each crawl and worker of this "
        "machine a port of its own, or port 0 for any that is free"
    )


class MetricsExtension:
    """Answers while the crawl runs."""

    def __init__(self, crawler: Crawler, address: Address) -> None:
        from lswc.monitor.prometheus import Exposition  # imports prometheus_client

        self._exposition = exposition = Exposition(crawler.stats)
        self._listening = _listen(exposition.site(), address, crawler)
        crawler.signals.connect(exposition.show, snapshot_taken)
        crawler.signals.connect(exposition.answered, signals.response_received)
        crawler.signals.connect(self._closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Listen. Raises NotConfigured if the setting is empty, ConfigError if it can't."""
        only_for_crawls(crawler)
        address = address_of(crawler.settings)
        if address is None:
            raise NotConfigured
        return cls(crawler, address)

    async def _closed(self) -> None:
        await maybe_deferred_to_future(self._listening.stopListening())


def _listen(site: Any, address: Address, crawler: Crawler) -> Any:
    from twisted.internet import reactor  # not above: importing it installs one
    from twisted.internet.error import CannotListenError

    listening: Any = reactor
    try:
        port = listening.listenTCP(address.port, site, interface=address.host)
    except CannotListenError as error:
        raise _refused(address, error.socketError) from error
    chosen = address._replace(port=port.getHost().port)
    crawler.stats.set_value("lswc/metrics", f"http://{chosen}/metrics")
    logger.info("metrics at http://%s/metrics, health at /health", chosen)
    return port
