"""What Prometheus and a container engine are answered, and what is written for who watches."""

from __future__ import annotations

import json
import re
import socket
from asyncio import run
from functools import partial
from time import monotonic
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from msgspec.structs import replace
from prometheus_client import generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.parser import text_string_to_metric_families
from scrapy import signals
from scrapy.settings import Settings
from twisted.web.test.requesthelper import DummyRequest

from lswc import settings as defaults
from lswc.errors import ConfigError, StorageError
from lswc.frontier.rules.report import Freshness
from lswc.monitor import course
from lswc.monitor.metrics import check
from lswc.monitor.observer import LOOK
from lswc.monitor.prometheus import Exposition
from lswc.monitor.recorder import Recorder, snapshot_taken
from lswc.monitor.snapshot import Coverage
from tests.crawl.running import SetUp
from tests.loop import in_loop
from tests.scenarios.site import ROOT, THAI, page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from prometheus_client.core import Metric

    from lswc.monitor.snapshot import Snapshot
    from tests.scenarios.site import Site


class Exposed(Exposition):
    """An exposition that takes a snapshot whenever it is asked."""

    def __init__(self, crawl: SetUp) -> None:
        super().__init__(crawl.crawler.stats)
        self._observer = Recorder.from_crawler(crawl.crawler).observer

    def collect(self) -> Iterator[Metric]:
        self.show(self._observer.take())
        return super().collect()

    def health(self) -> tuple[bool, dict[str, Any]]:
        self.show(self._observer.take())
        return super().health()


def metrics(exposition: Exposition) -> dict[str, dict[tuple[str, ...], float]]:
    """Return what is exposed: by name and the values of the labels."""
    found: dict[str, dict[tuple[str, ...], float]] = {}
    text = generate_latest(exposition.registry).decode()
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sample.labels.values())] = sample.value
    return found


def test_what_is_counted_is_exposed(tmp_path: Path) -> None:
    with SetUp(tmp_path, "http://a.example/", "http://b.example/") as crawl:
        frontier, exposition = crawl.parts.frontier, Exposed(crawl)
        assert frontier.pending == 2
        assert metrics(exposition)["lswc_pending_urls"] == {("ready",): 2, ("postponed",): 0}
        visit = crawl.visit()
        visit.tally["page", "relevant"] = 1
        visit.tally["received", "bytes"] = 500
        crawl.parts.commits.commit(visit, "html")
        exposition = Exposed(crawl)  # at once: one looks at the cells every five seconds
        found = metrics(exposition)
        assert found["lswc_pages_total"] == {("relevant",): 1}
        assert found["lswc_finished_urls_total"] == {("html",): 1}
        assert found["lswc_pending_urls"][("ready",)] == 1
        assert found["lswc_servers"] == {(): 2}


GAUGES = {
    "lswc_start_time_seconds", "lswc_requests_under_way", "lswc_requests_at_a_time",
    "lswc_idle_seconds", "lswc_held_back_seconds", "lswc_offline_seconds",
    "lswc_paused", "lswc_unsaved_bytes", "lswc_outbox_links", "lswc_redis_away",
    "lswc_servers", "lswc_expected_relevant_pages", "lswc_disk_free_bytes", "lswc_disk_size_bytes",
}  # fmt: skip


def test_the_names_of_gauges_are_what_alerts_were_written_for(tmp_path: Path) -> None:
    with SetUp(tmp_path) as crawl:
        found = metrics(Exposed(crawl))
        assert found.keys() >= GAUGES
        assert found["lswc_requests_at_a_time"] == {(): 32}
        assert found["lswc_start_time_seconds"][()] > 1.6e9


def test_how_fresh_pages_are_is_exposed_where_pages_are_visited_again(tmp_path: Path) -> None:
    freshness = Freshness(1_500, 0.75, 12, None, 75.0, None, 30, 20, 3, 8)
    with SetUp(tmp_path) as crawl:
        exposition = Exposed(crawl)
        assert "lswc_revisited_pages" not in metrics(exposition)
        crawl.crawler.stats.inc_value("lswc/visited again/changed", 30)
        shown = Exposition(crawl.crawler.stats)
        shown.show(replace(exposition.snapshot, freshness=freshness))
        found = metrics(shown)
    assert found["lswc_visits_again_total"] == {("changed",): 30}
    gauges = {
        name: found[name][()] for name in found if name.startswith("lswc_") and () in found[name]
    }
    assert gauges.pop("lswc_answer_seconds_count") == 0
    assert {n: v for n, v in gauges.items() if n not in GAUGES and "_seconds_" not in n} == {
        "lswc_revisited_pages": 1_500, "lswc_fresh_share": 0.75, "lswc_due_pages": 12,
        "lswc_visits_again_a_day": 75, "lswc_found_by_visits_again": 8,
        "lswc_gone_pages": 3, "lswc_received_bytes_total": 0, "lswc_requests_total": 0,
    }  # fmt: skip


def test_every_query_of_the_dashboard_is_answered(tmp_path: Path) -> None:
    dashboard = json.loads((ROOT / "deploy" / "grafana" / "lswc.json").read_text("utf-8"))
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    wanted = {name for query in queries for name in re.findall(r"\b((?:lswc|process)_\w+)", query)}
    with SetUp(tmp_path, "http://a.example/", "http://b.example/", LSWC_REVISIT=1) as crawl:
        visit = crawl.visit()
        visit.relevant = True
        crawl.parts.commits.commit(visit, "html")
        assert (crawl.parts.frontier.pending, crawl.parts.frontier.revisited) == (1, 1)
        exposition = Exposed(crawl)
        counted = ("page/relevant", "discarded/depth", "postponed/timeout", "finished/html")
        for name in (*counted, "visited again/unchanged"):
            crawl.crawler.stats.inc_value(f"lswc/{name}")
        found = metrics(exposition)
        assert len(wanted) > 15
        assert wanted <= found.keys()
        labels = {"kind", "outcome", "reason", "group", "state", "le", "became"}
        text = generate_latest(exposition.registry).decode()
        for query in queries:
            for label in re.findall(r"by \((\w+)\)", query):
                assert label in labels | {"instance"}
                name = next(iter(re.findall(r"\blswc_\w+", query)))
                assert label == "instance" or re.search(rf"^{name}\{{{label}=", text, re.MULTILINE)


def test_a_crawl_is_healthy_while_it_waits_and_not_while_it_is_stuck(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SetUp(tmp_path) as crawl:
        active: set[str] = set()
        crawl.crawler.engine = cast(
            "Any", SimpleNamespace(downloader=SimpleNamespace(active=active))
        )
        exposition = Exposed(crawl)
        parts = crawl.parts
        assert exposition.health()[0]
        time_passes(monkeypatch, exposition, LOOK)
        assert exposition.health()[0]  # no server may be asked before it has rested
        active.add("a request that doesn't end")
        fine, told = exposition.health()
        assert (fine, told["state"]) == (False, "stuck")
        parts.guest.control.halt = "paused"
        fine, told = exposition.health()
        assert (fine, told["state"]) == (True, "paused")
        parts.guest.control.halt = ""
        assert exposition.health()[0]


def time_passes(monkeypatch: pytest.MonkeyPatch, exposition: Exposed, seconds: float) -> None:
    """Let 500 looks be made, so many seconds after each other."""
    for number in range(500):
        now = 1e6 + number * seconds
        monkeypatch.setattr("lswc.monitor.observer.monotonic", lambda now=now: now)
        exposition.health()


def test_a_machine_that_stands_still_is_none_on_which_a_crawl_is_stuck(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SetUp(tmp_path) as crawl:
        exposition = Exposed(crawl)
        busy = SimpleNamespace(downloader=SimpleNamespace(active={"a request"}))
        crawl.crawler.engine = cast("Any", busy)
        time_passes(monkeypatch, exposition, 0.1)
        monkeypatch.setattr("lswc.monitor.observer.monotonic", lambda: 2e6)
        assert exposition.health()[0]


def test_before_the_first_snapshot_nothing_is_wrong(tmp_path: Path) -> None:
    with SetUp(tmp_path) as crawl:
        exposition = Exposition(crawl.crawler.stats)
        told = {"state": "unknown", "seconds_since_a_url_ended": 0.0}
        assert exposition.health() == (True, told)
        assert not metrics(exposition).keys() & GAUGES


@pytest.mark.parametrize(
    "given", ["9410", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", ":9410", "127.0.0.1:x"]
)
def test_what_is_no_address_is_one_line(given: str) -> None:
    with pytest.raises(ConfigError, match=r"isn't an address and a port, such as 127\.0\.0\.1"):
        check(Settings({"LSWC_METRICS": given}))


def test_a_port_in_use_is_found_before_anything_is_fetched() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        given = f"127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(ConfigError, match=f"can't listen to {given}: Address already in use"):
            check(Settings({"LSWC_METRICS": given}))
    check(Settings({"LSWC_METRICS": "127.0.0.1:0"}))
    check(Settings({"LSWC_METRICS": "[::1]:0"}))
    check(Settings({"LSWC_METRICS": ""}))


def test_a_running_crawl_answers_over_http(site: Site, tmp_path: Path) -> None:
    site.seeds("http://www.one.co.th/")
    site.add("www.one.co.th/", page(THAI))
    added = {"tests.monitor.asking.Asks": 900}
    extensions = json.dumps({**defaults.EXTENSIONS, **added})
    told = tmp_path / "told.json"
    site.crawl(LSWC_METRICS="127.0.0.1:0", EXTENSIONS=extensions, TEST_SAID=told)
    said = json.loads(told.read_text("utf-8"))
    status, kind, text = said["metrics"]
    assert (status, kind) == (200, CONTENT_TYPE_PLAIN_0_0_4)
    families = {family.name for family in text_string_to_metric_families(text)}
    assert {"lswc_crawl_info", "lswc_pages", "lswc_pending_urls"} <= families
    status, kind, text = said["health"]
    assert (status, kind) == (200, "application/json")
    assert json.loads(text)["state"] == "running"


def test_a_crawl_that_is_stuck_answers_503(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with SetUp(tmp_path) as crawl:
        exposition = Exposed(crawl)
        busy = SimpleNamespace(downloader=SimpleNamespace(active={"a request"}))
        crawl.crawler.engine = cast("Any", busy)
        time_passes(monkeypatch, exposition, LOOK)
        request = DummyRequest([b"health"])
        assert json.loads(exposition.reported_health(cast("Any", request)))["state"] == "stuck"
        assert request.responseCode == 503


def test_pages_of_any_kind_count_for_the_speed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = monotonic()
    monkeypatch.setattr("lswc.monitor.observer.monotonic", lambda: now)
    with SetUp(tmp_path) as crawl:
        observer = Recorder.from_crawler(crawl.crawler).observer
        assert observer.take().workers[0].pages_per_second == 0
        for kind, number in (("relevant", 5), ("guessed", 7), ("irrelevant", 8), ("other", 90)):
            crawl.crawler.stats.inc_value(f"lswc/page/{kind}", number)
        now += 8
        began = observer.take().workers[0].began
        monkeypatch.setattr("lswc.monitor.observer.time", lambda: began + 40)
        worker = observer.take().workers[0]
        assert (worker.pages_per_second, worker.mean_pages_per_second) == (2.5, 0.5)


def test_a_crawl_says_what_it_does_and_its_last_word(tmp_path: Path) -> None:
    async def crawl_a_page() -> None:
        crawl = SetUp(tmp_path, "http://a.example/", "http://b.example/")
        recorder = Recorder.from_crawler(crawl.crawler)
        visit = crawl.visit()
        crawl.crawler.signals.send_catch_log(signal=signals.spider_opened)
        now = course.read_now(tmp_path / "crawl")
        assert now is not None
        assert now.state == "running"
        assert [one.url for one in now.workers[0].fetching] == [visit.url]
        assert (now.pending, now.servers) == (1, 2)
        visit.tally["page", "relevant"] = 1
        crawl.parts.commits.commit(visit, "html")
        crawl.parts.guest.latencies.add("slow.example", 9.0)
        crawl.parts.close("shutdown")
        assert recorder.last is not None

    run(crawl_a_page())
    now = course.read_now(tmp_path / "crawl")
    assert now is not None
    assert (now.state, now.reason) == ("closed", "stopped by its user")
    assert now.workers[0].slowest[0].server == "slow.example"
    points, end = course.read(tmp_path / "crawl")
    assert [point.pages for point in points] == [0, 1]
    assert points[-1].relevant == 1
    assert course.read(tmp_path / "crawl", end) == ([], end)


@in_loop
async def test_a_crawl_whose_store_is_lost_says_so_and_fetches_nothing(
    tmp_path: Path,
) -> None:
    crawl = SetUp(tmp_path, "http://a.example/", "http://b.example/")
    recorder = Recorder.from_crawler(crawl.crawler)
    taken: list[Snapshot] = []

    def take(snapshot: Snapshot) -> None:
        taken.append(snapshot)

    crawl.crawler.signals.connect(take, snapshot_taken)
    crawl.visit()
    record = partial(crawl.crawler.signals.send_catch_log, signal=signals.spider_opened)
    record()
    assert taken[-1].workers[0].fetching
    commits = crawl.parts.commits
    commits.stop = lambda reason: None
    commits.fail(StorageError("it is lost"))
    record()
    (worker,) = taken[-1].workers
    assert (taken[-1].state, worker.state) == ("closing", "closing")
    assert (worker.under_way, worker.fetching) == (0, ())
    assert taken[-1].pending == 1
    assert recorder.last is None
    crawl.parts.close("shutdown")


def test_the_last_word_compares_with_what_is_known_of_the_web(tmp_path: Path) -> None:
    about = {"encoding": "utf-8", "server": "a.example"}
    pages = [
        {"url": "1", "language": "th", "reachable": {"th": 0, "lo": 2}},
        {"url": "2", "language": "th", "reachable": {"lo": 1}},
        {"url": "3", "language": "th", "reachable": {}, "listed": "rss"},
        {"url": "4", "language": "lo", "reachable": {"th": 1, "lo": 1}},
    ]
    (tmp_path / "web" / "a.example").mkdir(parents=True)
    with SetUp(tmp_path, LSWC_WEB=str(tmp_path / "web")) as crawl:
        observer = Recorder.from_crawler(crawl.crawler).observer
        taken = observer.take()
        assert observer.with_coverage(taken).coverage is None
        truth = "".join(json.dumps(page | about) + "\n" for page in pages)
        (tmp_path / "web" / "truth.jsonl").write_text(truth)
        assert observer.with_coverage(taken).coverage == Coverage(2, 0, 0.0)
        assert observer.with_coverage(taken).by_language == {}, "of one language"


def test_a_torn_point_is_left_out(tmp_path: Path) -> None:
    point = course.Point(1.0, 0.0, 2, 1, 3, 4, 5, 6.0, 7)
    (tmp_path / course.COURSE).write_text(
        point.line() + '{"time": 2}\n[]\n' + '{"time": 3', "utf-8"
    )
    points, end = course.read(tmp_path)
    assert points == [point]
    assert (tmp_path / course.COURSE).read_bytes()[end:] == b'{"time": 3'
