# mypy: allow-untyped-calls
# Twisted is typed in part only.
"""Prometheus: the latest snapshot as metrics of one process, and its health."""

from __future__ import annotations

import json
from time import time
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Histogram, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from twisted.web.resource import Resource
from twisted.web.server import Site
from typing_extensions import override

from lswc.monitor.observer import STUCK
from lswc.monitor.snapshot import LIVE, PAUSED, UNKNOWN, Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prometheus_client.core import Metric
    from scrapy import Request
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector
    from twisted.web import http
    from twisted.web.server import Request as WebRequest

    from lswc.frontier.rules.report import Freshness

ANSWER_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Between the buckets of the time that servers take to answer."""

_COUNTED = {
    "page": ("lswc_pages", "Pages recorded, by what they count as.", "kind"),
    "finished": ("lswc_finished_urls", "URLs that ended, by outcome.", "outcome"),
    "postponed": ("lswc_postponed_urls", "Times that a URL was postponed, by outcome.", "outcome"),
    "discarded": ("lswc_discarded_urls", "Links and URLs discarded, by reason.", "reason"),
    "visited again": ("lswc_visits_again", "Later visits of pages, by what became.", "became"),
    "content": ("lswc_remarkable_pages", "Pages by what is remarkable about them.", "remark"),
}
"""Metrics of what is counted under ``lswc/<kind>/<name>`` in Scrapy's stats."""


class Exposition:
    """Answers /metrics and /health: counters of this process, gauges of the latest ``snapshot``."""

    def __init__(self, stats: StatsCollector) -> None:
        self._stats = stats
        self.snapshot = Snapshot()
        self.registry = CollectorRegistry(auto_describe=False)
        self.registry.register(self)
        ProcessCollector(registry=self.registry)
        self._seconds = Histogram(
            "lswc_answer_seconds",
            "Seconds from a request to its answer.",
            buckets=ANSWER_BUCKETS,
            registry=self.registry,
        )

    def show(self, snapshot: Snapshot) -> None:
        """Take a snapshot in place of the one before."""
        self.snapshot = snapshot

    def answered(self, response: Response, request: Request) -> None:
        """Take notice of how long a server took."""
        seconds = request.meta.get("download_latency")
        if seconds is not None:
            self._seconds.observe(seconds)

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics but those of the process; no gauges before the first snapshot."""
        yield from self._counters()
        for worker in self.snapshot.workers:
            about = {
                "version": worker.version,
                "language": self.snapshot.language,
                "strategy": self.snapshot.strategy,
            }
            yield InfoMetricFamily("lswc_crawl", "What is crawled, and how.", about)
            for name, (meaning, value) in _gauges(self.snapshot).items():
                yield GaugeMetricFamily(f"lswc_{name}", meaning, value=value)
            yield from _labelled(self.snapshot)

    def describe(self) -> Iterator[Metric]:
        """Yield nothing: the names are our own."""
        return iter(())

    def _counters(self) -> Iterator[Metric]:
        stats = self._stats.get_stats()
        for kind, (name, meaning, label) in _COUNTED.items():
            family = CounterMetricFamily(name, meaning, labels=[label])
            start = f"lswc/{kind}/"
            for key, number in stats.items():
                if key.startswith(start):
                    family.add_metric([key.removeprefix(start)], number)
            yield family
        for name, meaning, key in (
            ("lswc_received_bytes", "Bytes of bodies, as they were sent.", "lswc/received/bytes"),
            ("lswc_requests", "Requests sent, robots.txt included.", "downloader/request_count"),
        ):
            yield CounterMetricFamily(name, meaning, value=stats.get(key, 0))

    def health(self) -> tuple[bool, dict[str, Any]]:
        """Tell whether the crawl gets on, or waits for a reason; and what is answered of it."""
        snapshot = self.snapshot
        idle = max((worker.idle for worker in snapshot.workers), default=0.0)
        is_stuck = any(worker.is_stuck for worker in snapshot.workers)
        is_old = bool(snapshot.workers) and time() - snapshot.time > STUCK
        state = "stuck" if is_stuck or is_old else snapshot.state
        return state in (*LIVE, UNKNOWN), {"state": state, "seconds_since_a_url_ended": idle}

    def metrics(self, request: WebRequest) -> bytes:
        """Answer with the metrics."""
        request.setHeader("Content-Type", CONTENT_TYPE_PLAIN_0_0_4)
        return generate_latest(self.registry)

    def reported_health(self, request: WebRequest) -> bytes:
        """Answer with the health as JSON, 200 or 503."""
        fine, answer = self.health()
        request.setResponseCode(200 if fine else 503)
        request.setHeader("Content-Type", "application/json")
        return json.dumps(answer).encode() + b"\n"

    def site(self) -> Site:
        """Return what answers over HTTP."""
        root: Any = Resource()
        root.putChild(b"metrics", _Answer(self.metrics))
        root.putChild(b"health", _Answer(self.reported_health))
        return _Quiet(root)


def _gauges(snapshot: Snapshot) -> dict[str, tuple[str, float]]:
    (worker,) = snapshot.workers
    found: dict[str, tuple[str, float]] = {
        "start_time_seconds": ("When this process began, in Unix time.", worker.began),
        "requests_under_way": ("URLs that this process holds now.", worker.under_way),
        "requests_at_a_time": ("Requests that this process sends at a time.", worker.requests),
        "idle_seconds": ("Seconds since a URL ended.", worker.idle),
        "held_back_seconds": (
            "Seconds in which connections were free while URLs waited for better ones.",
            worker.held_back,
        ),
        "offline_seconds": ("Seconds for which the crawl has been offline.", worker.offline),
        "paused": ("1 while the crawl is paused.", worker.state == PAUSED),
        "unsaved_bytes": ("Bytes that a power cut would lose.", worker.unsaved),
        "outbox_links": ("Links to other workers' sites on their way.", worker.outbox),
        "redis_away": ("1 while Redis can't be reached.", bool(worker.away)),
        "servers": ("Servers found.", snapshot.servers),
        "expected_relevant_pages": (
            "Relevant pages expected among the pending URLs.", snapshot.outlook.expected
        ),
    }  # fmt: skip
    if snapshot.disk is not None:
        found |= {
            "disk_free_bytes": ("Bytes free where the crawl's folder is.", snapshot.disk.free),
            "disk_size_bytes": ("Bytes of that disk.", snapshot.disk.total),
        }
    return found | _of_freshness(snapshot.freshness)


def _of_freshness(again: Freshness | None) -> dict[str, tuple[str, float]]:
    if again is None:
        return {}
    found: dict[str, tuple[str, float | None]] = {
        "revisited_pages": ("Pages, sitemaps and feeds that are visited again.", again.pages),
        "fresh_share": ("Share of them that should be as at their latest visit.", again.fresh),
        "due_pages": ("Those of them that may be visited now.", again.due),
        "next_due_time_seconds": ("When the next one may be, in Unix time.", again.next_due),
        "visits_again_a_day": ("Visits of them a day that there may be.", again.budget),
        "visits_again_used_share": ("Share of these that was used by this process.", again.used),
        "gone_pages": ("Pages that are gone.", again.gone),
        "found_by_visits_again": ("New relevant pages that visits have led to.", again.finds),
    }
    return {name: (meaning, value) for name, (meaning, value) in found.items() if value is not None}


def _labelled(snapshot: Snapshot) -> Iterator[Metric]:
    states = GaugeMetricFamily("lswc_pending_urls", "Pending URLs, by state.", labels=["state"])
    states.add_metric(["ready"], snapshot.ready)
    states.add_metric(["postponed"], snapshot.postponed)
    yield states
    groups = GaugeMetricFamily(
        "lswc_pending_group_urls", "Pending URLs, by tier or what is expected of them.",
        labels=["group"],
    )  # fmt: skip
    for group in snapshot.outlook.groups:
        groups.add_metric([group.name], group.pending)
    yield groups


class _Quiet(Site):
    noisy = False

    @override
    def log(self, request: http.Request) -> None:
        """Write no access log."""


class _Answer(Resource):
    def __init__(self, answer: Callable[[WebRequest], bytes]) -> None:
        super().__init__()
        self.render_GET = answer
