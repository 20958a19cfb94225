"""One snapshot, and the same numbers of it wherever it is shown."""

from __future__ import annotations

import json
import re
from asyncio import run
from io import StringIO
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest
from msgspec.structs import replace
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from rich.console import Console
from scrapy import signals
from scrapy.settings import Settings

from lswc.cli.command import program
from lswc.cli.commands.frontier import shown
from lswc.cli.summary_table import advice, details_table, summary_table
from lswc.frontier.rules.harvest import CellHarvest, Group
from lswc.frontier.rules.visit import Offer
from lswc.guest.pageless import Server, Without
from lswc.monitor import snapshot, terminal_line
from lswc.monitor.course import Point, read, read_now
from lswc.monitor.prometheus import Exposition
from lswc.monitor.recorder import Recorder, snapshot_taken
from lswc.monitor.snapshot import (
    TOP,
    Coverage,
    Outlook,
    Snapshot,
    Worker,
    covered,
)
from lswc.monitor.stored import stored
from lswc.monitor.summary import summary
from lswc.outcomes import Outcome
from lswc.strategy import SEED, PageLanguage, Pages, strategy
from lswc.workbench.live.data import PageData
from tests.crawl.running import SetUp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from scrapy.statscollectors import StatsCollector

    from tests.frontier.redis_server import RedisServer

Numbers = dict[str, float]


def printed(*parts: object) -> str:
    out = StringIO()
    console = Console(file=out, width=200)
    for part in parts:
        console.print(part)
    return out.getvalue()


def matched(text: str, **patterns: str) -> Numbers:
    """Return the numbers that stand in a text where the patterns have a group."""
    found = {}
    for name, pattern in patterns.items():
        number = re.search(pattern, text)
        assert number is not None, f"{name}: no {pattern!r} in {text}"
        found[name] = float(number[1].replace(",", ""))
    return found


def of_line(snapshot: Snapshot) -> Numbers:
    return matched(
        terminal_line.line(snapshot),
        pages=r"([\d,]+) pages,",
        percent=r"([\d.]+)% relevant",
        pending=r"([\d,]+) URLs pending",
        expected=r"([\d,]+) to [\d,]+ of them relevant",
    )


def of_summary(snapshot: Snapshot) -> Numbers:
    found = summary(snapshot, "finished")
    return {
        "pages": found["pages"],
        "relevant": found["relevant"],
        "received": found["received"],
        "harvest_rate": found["harvest_rate"],
        "expected": found["forecast"]["pending"],
    }


def of_table(snapshot: Snapshot) -> Numbers:
    return matched(
        printed(summary_table(snapshot)),
        pages=r"\n +pages +([\d,]+)",
        relevant=r"\n +relevant +([\d,]+)",
        percent=r"harvest rate of ([\d.]+)%",
        pending=r"\n +pending +([\d,]+)",
        expected=r"([\d,]+) to [\d,]+ of them relevant",
    )


def of_details(snapshot: Snapshot) -> Numbers:
    return matched(
        printed(details_table(snapshot)),
        pages=r"result +pages +([\d,]+)",
        relevant=r"\n +relevant +([\d,]+)",
        percent=r"harvest rate +([\d.]+)%",
        pending=r"\n +URLs pending +([\d,]+)",
        expected=r"relevant, estimated +([\d,]+) to",
    )


def of_now(snapshot: Snapshot) -> Numbers:
    """What ``now.json`` says, and ``course.jsonl`` of the same moment."""
    now = msgspec.json.decode(msgspec.json.encode(snapshot))
    point = Point.of(snapshot)
    for name in ("pages", "relevant", "received", "pending", "servers"):
        assert getattr(point, name) == now[name]
    assert point.expected == now["outlook"]["expected"]
    names = ("pages", "relevant", "received", "harvest_rate", "pending", "postponed", "servers")
    return {name: now[name] for name in names} | {"expected": now["outlook"]["expected"]}


def of_prometheus(snapshot: Snapshot) -> Numbers:
    exposition = Exposition(cast("StatsCollector", SimpleNamespace(get_stats=dict)))
    exposition.show(snapshot)
    return gauges(exposition)


def gauges(exposition: Exposition) -> Numbers:
    families = text_string_to_metric_families(generate_latest(exposition.registry).decode())
    found = {
        (sample.name, *sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
    }
    later = found["lswc_pending_urls", "postponed"]
    return {
        "pending": found["lswc_pending_urls", "ready"] + later,
        "postponed": later,
        "servers": found["lswc_servers",],
        "expected": found["lswc_expected_relevant_pages",],
    } | {
        name: found[key]
        for name, key in (
            ("received", ("lswc_received_bytes_total",)),
            ("relevant", ("lswc_pages_total", "relevant")),
        )
        if found.get(key)  # counters are the process's own
    }


def of_page(data: PageData) -> Numbers:
    """What the page's script is given: the snapshot as it is."""
    found = data.get()
    names = ("pages", "relevant", "received", "harvest_rate", "pending", "postponed", "servers")
    return {name: found[name] for name in names} | {"expected": found["outlook"]["expected"]}


def of_frontier(snapshot: Snapshot) -> Numbers:
    return matched(
        printed(*shown(snapshot)),
        pages=r"pages +all +([\d,]+)",
        relevant=r"\n +relevant +([\d,]+)",
        pending=r"URLs +pending +([\d,]+)",
        postponed=r"of them postponed +([\d,]+)",
        expected=r"Relevant pages expected: ([\d,]+) among all",
    )


RENDERERS: dict[str, Callable[[Snapshot], Numbers]] = {
    "line": of_line,
    "summary": of_summary,
    "table": of_table,
    "details": of_details,
    "now": of_now,
    "prometheus": of_prometheus,
    "frontier": of_frontier,
}

SNAPSHOT = Snapshot(
    pages=6_250,
    relevant=4_321,
    received=9_876,
    harvest_rate=0.6914,
    pending=1_234,
    postponed=56,
    servers=789,
    outlook=Outlook(
        at_least=321.0, expected=321.0, at_most=400.0, next_downloads=1_178, next_harvest_rate=0.27
    ),
    workers=(Worker(time=2.0, began=1.0),),
)


def numbers(snapshot: Snapshot) -> Numbers:
    """Return a snapshot's numbers, by the names that renderers are asked for."""
    names = ("pages", "relevant", "received", "harvest_rate", "pending", "postponed", "servers")
    found = {name: getattr(snapshot, name) for name in names}
    percent = round(100 * (snapshot.harvest_rate or 0), 1)
    return found | {"expected": snapshot.outlook.expected, "percent": percent}


@pytest.mark.parametrize("name", RENDERERS)
@pytest.mark.parametrize(
    "change",
    [
        {}, {"pages": 99}, {"relevant": 98}, {"received": 97}, {"harvest_rate": 0.5},
        {"pending": 96}, {"postponed": 95}, {"servers": 94},
        {"outlook": Outlook(at_least=93.0, expected=93.0, at_most=99.0, next_harvest_rate=1.0)},
    ],
)  # fmt: skip
def test_a_renderer_shows_the_numbers_of_the_snapshot(name: str, change: dict[str, Any]) -> None:
    snapshot = replace(SNAPSHOT, **change)
    found, wanted = RENDERERS[name](snapshot), numbers(snapshot)
    assert len(found) > 3
    assert found == {name: wanted[name] for name in found}
    assert change == {} or wanted != numbers(SNAPSHOT)


def crawl_some(crawl: SetUp) -> None:
    """Fetch a relevant page and an irrelevant one, postpone one, and leave three others pending."""
    first = crawl.visit()
    first.offers = [
        Offer(f"http://d.example/{n}", "d.example", "d.example", SEED, PageLanguage.TARGET, 1)
        for n in range(3)
    ]
    first.relevant = True
    first.tally.update(
        {("page", "relevant"): 1, ("discarded", "nofollow"): 3, ("received", "bytes"): 500}
    )
    crawl.parts.commits.commit(first, "html")
    second = crawl.visit()
    second.relevant = False
    second.tally.update({("page", "irrelevant"): 1, ("received", "bytes"): 70})
    crawl.parts.commits.commit(second, "html")
    crawl.parts.commits.commit(crawl.visit(), "timeout")


@pytest.mark.parametrize("store", ["folder", "redis"])
def test_the_same_crawl_has_the_same_numbers_everywhere(
    tmp_path: Path, store: str, redis_server: RedisServer
) -> None:
    seeds = [f"http://{name}.example/" for name in "abc"]
    place = {"LSWC_FRONTIER": "sqlite" if store == "folder" else redis_server.url}
    folder = tmp_path / "crawl"

    async def crawled() -> tuple[Recorder, Numbers]:
        crawl = SetUp(tmp_path, *seeds, LSWC_TRY_AGAIN=[600], LSWC_STRATEGY="adaptive", **place)
        recorder = Recorder.from_crawler(crawl.crawler)
        exposition = Exposition(crawl.crawler.stats)
        crawl.crawler.signals.connect(exposition.show, snapshot_taken)
        crawl.crawler.signals.send_catch_log(signal=signals.spider_opened)
        crawl_some(crawl)
        crawl.parts.close("shutdown")
        crawl.crawler.signals.send_catch_log(signal=signals.spider_closed, reason="shutdown")
        return recorder, gauges(exposition)

    recorder, exposed = run(crawled())
    last = recorder.last
    assert last is not None
    wanted = numbers(last)
    assert wanted | {"pages": 2, "relevant": 1, "harvest_rate": 0.5, "received": 570} == wanted
    assert wanted | {"pending": 4, "postponed": 1, "servers": 4} == wanted
    assert wanted["expected"] > 0

    kept = stored(str(folder) if store == "folder" else redis_server.url, "lswc:th", Settings())
    counted = kept.counted(TOP)
    now = read_now(folder)
    assert last.runs == 1
    assert now == replace(last, coverage=None, runs=0, seconds=0.0)
    assert [now] == kept.reported()
    assert numbers(counted) == wanted
    for name in ("tallies", "outlook", "by_status", "requisites", "finished", "leased"):
        assert getattr(counted, name) == getattr(last, name)

    written = json.loads((folder / "summary.json").read_text())
    assert written == json.loads(json.dumps(summary(last, "shutdown")))
    assert (
        sum(written["pending"].values()) + sum(written["postponed"].values()) == wanted["pending"]
    )
    said = advice(last, folder).splitlines()
    assert said[0] == "4 URLs are pending: the same command goes on."
    assert [line.split("    (")[0] for line in said[1:]] == [
        "Next:", f"  {program()} analyze {folder} --out report",
        f"  {program()} corpus {folder}", f"  {program()} frontier {folder}",
    ]  # fmt: skip
    shells = {Outcome.NOT_RENDERED: 2, Outcome.RENDERED_ENOUGH: 1}
    first = (Server("xn--o3cw4h.example", {Outcome.NOT_RENDERED: 2}),)
    unshown = replace(
        last,
        tallies=replace(last.tallies, finished=shells),
        without_page=Without(1, {}, first),
    )
    said = advice(unshown, folder).splitlines()
    assert said[1].startswith("2 pages (ไทย.example) need their scripts and weren't shown: ")
    assert "-s LSWC_BROWSER=auto" in said[1]
    assert said[2].startswith("1 page needs its scripts and wasn't shown: ")
    assert "LSWC_BROWSER_SHARE" in said[2]
    of_all = {
        "page": of_page(PageData(kept)),
        "prometheus": exposed,
        "frontier": of_frontier(replace(counted, outlook=last.outlook)),
        "course": msgspec.to_builtins(read(folder)[0][-1]),
    }
    for name, found in of_all.items():
        shared = found.keys() & wanted.keys()
        assert len(shared) > 3, name
        rounded = {key: round(wanted[key]) if name == "frontier" else wanted[key] for key in shared}
        assert {key: found[key] for key in shared} == rounded, name


@pytest.mark.parametrize(
    ("wanted", "collected", "found"),
    [
        (["a", "b", "a", "c", "d"], {"a", "b", "x"}, Coverage(4, 2, 0.5)),
        (iter("ab"), {"a", "b"}, Coverage(2, 2, 1.0)),
        ([], {"a"}, Coverage(0, 0, 0.0)),
    ],
)
def test_coverage_is_the_share_of_relevant_pages_that_were_collected(
    wanted: Iterable[str], collected: set[str], found: Coverage
) -> None:
    assert covered(wanted, collected) == found


def test_an_outlook_of_text_is_told_in_pages() -> None:
    """Ten relevant pages brought 2.5 full ones of text: one that is expected is four pages."""
    groups = (Group("some", 30, 20, 2.5),)
    text = Outlook(
        at_least=1.0, expected=2.0, at_most=9.0, next_downloads=6, next_relevant=1.0, groups=groups
    )
    told = snapshot.made({"page": {"relevant": 10}, "clean text": {"new letters": 1}}, outlook=text)
    ahead = told.outlook
    assert (ahead.at_least, ahead.expected) == (4.0, 8.0)
    assert (ahead.at_most, ahead.next_relevant) == (30.0, 4.0)
    assert ahead.next_harvest_rate == pytest.approx(4 / 6, abs=1e-3)
    assert told.coverage_at_most == pytest.approx(10 / 18, abs=1e-3)
    pages = snapshot.made({"page": {"relevant": 10}}, outlook=text)
    assert pages.outlook == text
    none = snapshot.made(
        {"page": {}, "clean text": {"new letters": 0}}, outlook=Outlook(expected=1.0)
    )
    assert none.outlook.expected == 0


def test_the_best_and_the_largest_cells_are_named() -> None:
    cells = [
        CellHarvest(cell, pending, Pages(4, 1), 0.5, 0.5, "some")
        for cell, pending in ((1, 5), (2, 0), (3, 90), (4, 7))
    ]
    told = snapshot.outlook(cells, strategy("bfs"), top=1)
    assert [cell.pending for cell in told.best] == [5]
    assert [cell.pending for cell in told.largest] == [90]
    assert snapshot.outlook(cells, strategy("bfs"), top=3).largest == ()
