"""The crawl log is a trace that the simulator reads."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lswc.archive.appended_files import ArchiveError
from lswc.archive.log_tables import ATTEMPTS, LINKS
from lswc.lab.trace.format import Fate, Trace
from lswc.lab.trace.from_log import to_trace
from tests.scenarios.site import ENGLISH, THAI, page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.scenarios.site import Site

ONE = "http://www.one.co.th/"


@pytest.fixture
def crawled(site: Site) -> Site:
    site.seeds(ONE)
    site.add("www.one.co.th/", page(THAI, "/a.html", "/folder", "/gone", "mailto:a@b.example"))
    site.add("www.one.co.th/a.html", page(THAI, "/", "/deep/b.html"))
    site.add("www.one.co.th/folder/", page(ENGLISH, "http://hub.example.com/"))
    site.add("hub.example.com/", page(ENGLISH, "/far.html", "/far.html"))
    site.crawl(DEPTH_LIMIT=2)
    return site


def test_trace_of_a_crawl(crawled: Site, tmp_path: Path) -> None:
    to_trace(crawled.folder, tmp_path / "trace")
    trace = Trace.read(tmp_path / "trace")
    urls: list[str] = pq.read_table(tmp_path / "trace" / "urls.parquet")["url"].to_pylist()
    fate = dict(zip(urls, map(Fate, trace.fate.tolist()), strict=True))
    assert fate == {
        ONE: Fate.PAGE,
        f"{ONE}a.html": Fate.PAGE,
        f"{ONE}folder": Fate.REDIRECT,
        f"{ONE}folder/": Fate.PAGE,
        f"{ONE}gone": Fate.FAILED,
        f"{ONE}deep/b.html": Fate.FAILED,
        "http://hub.example.com/": Fate.PAGE,
    }
    links = {
        url: [urls[t] for t in trace.targets[trace.offsets[n] : trace.offsets[n + 1]]]
        for n, url in enumerate(urls)
    }
    assert links[ONE] == [f"{ONE}a.html", f"{ONE}folder", f"{ONE}gone"]
    assert links[f"{ONE}folder"] == [f"{ONE}folder/"]
    assert links["http://hub.example.com/"] == []  # too deep
    assert [urls[seed] for seed in trace.seeds] == [ONE]
    distance = dict(zip(urls, trace.distance.tolist(), strict=True))
    assert distance["http://hub.example.com/"] == 3
    assert trace.about.language == "th"
    table = pq.read_table(tmp_path / "trace" / "urls.parquet")
    assert table["address"].to_pylist() == ["127.0.0.1"] * len(urls)
    assert "th" in trace.about.tlds


def test_of_twins_the_name_counts_that_was_asked_for_last(tmp_path: Path) -> None:
    """So it is where a server moves to https between two visits."""
    attempts = [
        {"url": url, "time": time, "status": 200, "outcome": "html", "depth": 0, "visit": visit}
        for time, (url, visit) in enumerate([("http://a.th/", 1), ("https://a.th/", 2)])
    ]
    links = [
        {"source": "http://a.th/", "target": "http://a.th/old", "visit": 1},
        {"source": "https://a.th/", "target": "https://b.th/", "visit": 2},
        {"source": "https://a.th/", "target": "http://b.th/", "visit": 2},
    ]
    for name, schema, rows in (("attempts", ATTEMPTS, attempts), ("links", LINKS, links)):
        (tmp_path / "crawl" / "log").mkdir(parents=True, exist_ok=True)
        table = pa.Table.from_pylist(rows, schema)
        pq.write_table(table, tmp_path / "crawl" / "log" / f"{name}-00000.parquet")
    (tmp_path / "crawl" / "settings.json").write_text('{"language": "th"}')
    to_trace(tmp_path / "crawl", tmp_path / "trace")
    trace = Trace.read(tmp_path / "trace")
    urls = pq.read_table(tmp_path / "trace" / "urls.parquet")["url"].to_pylist()
    assert urls == ["https://a.th/", "http://a.th/old", "https://b.th/"]
    assert trace.targets.tolist() == [2, 2]
    assert trace.seeds.tolist() == [0]


def test_a_log_from_before_addresses_were_written(crawled: Site, tmp_path: Path) -> None:
    (path,) = (crawled.folder / "log").glob("attempts-*.parquet")
    pq.write_table(pq.read_table(path).drop_columns(["address"]), path)
    to_trace(crawled.folder, tmp_path / "trace")
    urls = pq.read_table(tmp_path / "trace" / "urls.parquet")
    assert urls["address"].null_count == len(urls) > 0


def test_a_damaged_log(crawled: Site, tmp_path: Path) -> None:
    (path,) = (crawled.folder / "log").glob("links-*.parquet")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ArchiveError, match="is damaged"):
        to_trace(crawled.folder, tmp_path / "trace")
    shutil.rmtree(crawled.folder / "log")
    with pytest.raises(ArchiveError, match="no crawl log"):
        to_trace(crawled.folder, tmp_path / "trace")


def test_a_trace_of_a_variants_crawl_tells_the_variants(site: Site, tmp_path: Path) -> None:
    site.seeds(ONE)
    (site.web / "seeds-th.txt").rename(site.web / "seeds-zh.txt")
    hans, hant = (
        "在尊严和权利上一律平等。应以兄弟关系的精神",
        "在尊嚴和權利上一律平等。應以兄弟關係的精神",
    )
    site.add("www.one.co.th/", page(hant, "/hans.html", "/zh.html"))
    site.add("www.one.co.th/hans.html", page(hans))
    site.add("www.one.co.th/zh.html", page("中文"))
    site.crawl("-a", "lang=zh-Hant")
    records = {r["url"]: r for r in site.records}
    assert [records[f"{ONE}{p}"]["variant"] for p in ("", "hans.html", "zh.html")] == [
        "zh-Hant", "zh-Hans", "",
    ]  # fmt: skip
    assert [records[f"{ONE}{p}"]["relevant"] for p in ("", "hans.html", "zh.html")] == [
        True, False, False,
    ]  # fmt: skip
    to_trace(site.folder, tmp_path / "trace")
    urls = pq.read_table(tmp_path / "trace" / "urls.parquet")
    told = dict(zip(urls["url"].to_pylist(), urls["language"].to_pylist(), strict=True))
    assert told == {ONE: "zh-Hant", f"{ONE}hans.html": "zh-Hans", f"{ONE}zh.html": "zh"}
    assert Trace.read(tmp_path / "trace").about.language == "zh-Hant"
