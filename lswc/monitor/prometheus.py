# mypy: allow-untyped-calls
# Twisted is typed in part only.
"""The metrics of one process of a crawl, by Prometheus's conventions, and its health."""

from __future__ import annotations

import json
import shutil
from time import monotonic
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from twisted.web.resource import Resource
from twisted.web.server import Site
from typing_extensions import override

from lswc import __version__
from lswc.crawl.composition import parts_of
from lswc.errors import LswcError
from lswc.frontier.harvest import by_group
from lswc.monitor.pulse import OFFLINE, PAUSED, RUNNING, Pulse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prometheus_client.core import Metric
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.web import http
    from twisted.web.server import Request as WebRequest

STUCK = 300.0
"""Seconds in which some URL must end, if there is anything to do; at least five timeouts."""

SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Between the buckets of the time that servers take to answer."""

_COUNTED = {
    "page": ("lswc_pages", "Pages recorded, by what they count as.", "kind"),
    "finished": ("lswc_finished_urls", "URLs that ended, by outcome.", "outcome"),
    "put_off": ("lswc_put_off_urls", "Times that a URL was put off, by outcome.", "outcome"),
    "dropped": ("lswc_dropped_urls", "Links and URLs that were dropped, by reason.", "reason"),
    "content": ("lswc_remarkable_pages", "Pages by what is remarkable about them.", "remark"),
}
"""Metrics of what is counted under ``lswc/<kind>/<name>`` in Scrapy's stats."""


class Exposition:
    """Answers /metrics and /health: counters of this process, gauges of the crawl's queue."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._parts = parts_of(crawler)
        self._pulse = Pulse(crawler, self._parts)
        self.registry = CollectorRegistry(auto_describe=False)
        self.registry.register(self)
        ProcessCollector(registry=self.registry)
        self._seconds = Histogram(
            "lswc_answer_seconds",
            "Seconds from a request to its answer.",
            buckets=SECONDS,
            registry=self.registry,
        )

    def answered(self, response: Response, request: Request) -> None:
        """Take notice of how long a server took."""
        seconds = request.meta.get("download_latency")
        if seconds is not None:
            self._seconds.observe(seconds)

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics but those of the process. Raises LswcError."""
        yield self._info()
        yield from self._counters()
        yield from self._gauges()
        yield from self._queue()

    def describe(self) -> Iterator[Metric]:
        """Yield nothing: the names are our own."""
        return iter(())

    def _info(self) -> Metric:
        crawl = self._parts.crawl
        about = {
            "version": __version__,
            "language": crawl.language.tag,
            "strategy": crawl.strategy.name,
        }
        return InfoMetricFamily("lswc_crawl", "What is crawled, and how.", about)

    def _counters(self) -> Iterator[Metric]:
        stats = self._crawler.stats.get_stats()
        for kind, (name, said, label) in _COUNTED.items():
            family = CounterMetricFamily(name, said, labels=[label])
            start = f"lswc/{kind}/"
            for key, number in stats.items():
                if key.startswith(start):
                    family.add_metric([key.removeprefix(start)], number)
            yield family
        yield CounterMetricFamily(
            "lswc_received_bytes",
            "Bytes of bodies, as they were sent.",
            value=stats.get("lswc/received/bytes", 0),
        )
        yield CounterMetricFamily(
            "lswc_requests",
            "Requests sent, robots.txt included.",
            value=stats.get("downloader/request_count", 0),
        )

    def _gauges(self) -> Iterator[Metric]:
        parts, settings = self._parts, self._crawler.settings
        disk = shutil.disk_usage(parts.crawl.folder)
        for name, said, value in (
            ("lswc_start_time_seconds", "When this process began, in Unix time.",
             self._pulse.began),
            ("lswc_requests_under_way", "URLs that this process holds now.",
             len(parts.commits.visits)),
            ("lswc_requests_at_a_time", "Requests that this process sends at a time.",
             settings.getint("CONCURRENT_REQUESTS")),
            ("lswc_idle_seconds", "Seconds since a URL ended.",
             monotonic() - parts.commits.latest_end),
            ("lswc_offline_seconds", "Seconds for which the crawl has been offline.",
             parts.guest.network.offline),
            ("lswc_paused", "1 while the crawl is paused by its people.",
             int(self._pulse.state == PAUSED)),
            ("lswc_disk_free_bytes", "Bytes free where the crawl's folder is.", disk.free),
            ("lswc_disk_size_bytes", "Bytes of that disk.", disk.total),
            ("lswc_unsaved_bytes", "Bytes that a power cut would lose.", parts.frontier.unsaved),
        ):  # fmt: skip
            yield GaugeMetricFamily(name, said, value=value)

    def _queue(self) -> Iterator[Metric]:
        frontier = self._parts.frontier
        later = frontier.later
        queue = GaugeMetricFamily("lswc_queue_urls", "URLs that wait.", labels=["state"])
        queue.add_metric(["ready"], frontier.pending - later)
        queue.add_metric(["later"], later)
        yield queue
        of_group = GaugeMetricFamily(
            "lswc_queue_group_urls", "URLs that wait, by tier or what is expected of them.",
            labels=["group"],
        )  # fmt: skip
        for group in by_group(self._pulse.cells()):
            of_group.add_metric([group.name], group.waiting)
        yield of_group
        expected = self._pulse.forecast().waiting
        said = "Relevant pages expected among the URLs that wait."
        yield GaugeMetricFamily("lswc_expected_relevant_pages", said, value=expected)
        yield GaugeMetricFamily("lswc_servers", "Servers known.", value=frontier.servers)

    def health(self) -> tuple[bool, dict[str, Any]]:
        """Tell whether the crawl gets on, or waits for a reason; and what is said of it.

        Raises LswcError.
        """
        parts = self._parts
        idle = monotonic() - parts.commits.latest_end
        state = "closing" if parts.commits.failed else self._pulse.state
        fine = state in (PAUSED, OFFLINE) or (state == RUNNING and not self._is_stuck(idle))
        if state == RUNNING and not fine:
            state = "stuck"
        return fine, {"state": state, "seconds_since_a_url_ended": round(idle, 1)}

    def _is_stuck(self, idle: float) -> bool:
        """Tell whether something is to be done, and nothing was for long."""
        longest = max(STUCK, 5 * self._parts.crawl.politeness.timeout)
        if idle < longest:
            return False
        if self._crawler.engine.downloader.active:
            return True
        ready = self._parts.leases.next_ready(monotonic())
        return ready is not None and ready < monotonic() - longest

    def metrics(self, request: WebRequest) -> bytes:
        """Answer with the metrics. Raises LswcError."""
        request.setHeader("Content-Type", CONTENT_TYPE_PLAIN_0_0_4)
        return generate_latest(self.registry)

    def told_health(self, request: WebRequest) -> bytes:
        """Answer with the health as JSON, 200 or 503. Raises LswcError."""
        fine, told = self.health()
        request.setResponseCode(200 if fine else 503)
        request.setHeader("Content-Type", "application/json")
        return json.dumps(told).encode() + b"\n"

    def site(self) -> Any:
        """Return what answers over HTTP."""
        root: Any = Resource()
        root.putChild(b"metrics", _Answer(self.metrics))
        root.putChild(b"health", _Answer(self.told_health))
        return _Quiet(root)


class _Quiet(Site):
    noisy = False

    @override
    def log(self, request: http.Request) -> None:
        """Write no access log."""


class _Answer(Resource):
    def __init__(self, answer: Callable[[WebRequest], bytes]) -> None:
        super().__init__()
        self._answer = answer

    def render_GET(self, request: WebRequest) -> bytes:
        try:
            return self._answer(request)
        except LswcError as error:
            request.setResponseCode(503)
            return f"{error}\n".encode()
