"""Seeds from an earlier crawl."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lswc.archive.appended_files import ArchiveError
from lswc.archive.log_tables import convert
from lswc.seeds.candidates import Asked, Candidate, SeedError
from lswc.seeds.formats.earlier_crawl import read
from lswc.urls import parse

A, B, C = "http://www.a.co.th/", "http://www.b.com/", "http://www.c.com/"
PAGES = [f"http{'s' * (n % 2)}://www.{'abcde'[n % 5]}.com/{n}" for n in range(15)]
Web = dict[str, tuple[str, list[str]]]
"""Of each page its language and links."""


def crawled(folder: Path, web: Web, lang: str = "th", **others: dict[str, Any]) -> Path:
    """Write what a crawl's folder has of a web, each half of the pages in a journal of its own."""
    rows = [
        {"url": url, "kind": "html", "status": 200, "outcome": "html", "language": language,
         "targets": links, "anchors": [0] * len(links), "named": [0] * len(links),
         "tiers": [0] * len(links), "dropped": [None] * len(links)} | others.get(url, {})
        for url, (language, links) in web.items()
    ]  # fmt: skip
    (folder / "log").mkdir(parents=True)
    (folder / "settings.json").write_text(json.dumps({"language": lang}))
    for number, part in enumerate((rows[::2], rows[1::2]), 1):
        lines = "".join(f"{json.dumps(row)}\n" for row in part)
        (folder / "log" / f"{number:05}.jsonl").write_text(lines)
    return folder


def read_all(folder: Path, *codes: str) -> list[Candidate]:
    return list(read(folder, Asked(codes or ("th",))))


def server(url: str) -> str:
    parsed = parse(url)
    assert parsed is not None
    return parsed.server


def hubs_by_hand(web: Web) -> list[str]:
    """Rank relevant servers by relevant servers linked to, then links; name their best pages."""
    homes = {server(url) for url, (language, _) in web.items() if language == "th"}
    reached: defaultdict[str, set[str]] = defaultdict(set)
    outgoing: Counter[str] = Counter()
    for url, (language, links) in web.items():
        there = [server(link) for link in links if server(link) in homes - {server(url)}]
        if language == "th" and there:
            reached[server(url)] |= set(there)
            outgoing[url] = len(there)
    linked = {home: sum(n for u, n in outgoing.items() if server(u) == home) for home in reached}
    ranked = sorted(reached, key=lambda home: (-len(reached[home]), -linked[home], home))
    return [
        min((u for u in outgoing if server(u) == home), key=lambda u: (-outgoing[u], u))
        for home in ranked
    ]


@settings(max_examples=25)
@given(
    st.dictionaries(
        st.sampled_from(PAGES),
        st.tuples(st.sampled_from(["th", "en"]), st.lists(st.sampled_from(PAGES), max_size=6)),
        min_size=1,
    ),
    st.booleans(),
)
def test_hubs_are_those_found_by_hand(web: Web, in_tables: bool) -> None:
    with TemporaryDirectory() as name:
        folder = crawled(Path(name) / "crawl", web)
        if in_tables:
            convert(folder)
        found = read_all(folder)
    assert [hub.url for hub in found] == hubs_by_hand(web)


def test_hubs_of_a_crawl_become_seeds(tmp_path: Path) -> None:
    gone = f"{C}gone"
    web: Web = {
        A: ("th", [f"{A}links"]), f"{A}links": ("th", [B, C]), B: ("th", [A, C]),
        C: ("th", [f"{C}x"]), f"{C}x": ("en", [A, B]), gone: ("th", [A, B]),
    }  # fmt: skip
    crawl = crawled(tmp_path / "crawl", web, "lo,th", **{gone: {"status": 404}})
    assert read_all(crawl, "my", "th") == [
        Candidate(f"{A}links", language="th"),
        Candidate(B, language="th", weight=1 / 2),
    ]
    with pytest.raises(SeedError, match="is a crawl of lo,th"):
        read_all(crawl, "my")


def test_a_variant_is_a_language_of_its_own(tmp_path: Path) -> None:
    web: Web = {A: ("zh", [B]), B: ("zh", [A])}
    told = {A: {"variant": "zh-Hant"}, B: {"variant": "zh-Hant"}}
    crawl = crawled(tmp_path / "crawl", web, "zh-Hant", **told)
    assert {hub.url for hub in read_all(crawl, "zh-Hant")} == {A, B}
    assert read_all(crawled(tmp_path / "untold", web, "zh-Hant"), "zh-Hant") == []


def test_no_hubs_no_crawl_and_a_damaged_one(tmp_path: Path) -> None:
    assert read_all(crawled(tmp_path / "crawl", {A: ("th", [])})) == []
    with pytest.raises(ArchiveError):
        read_all(tmp_path)
    damaged = crawled(tmp_path / "damaged", {A: ("th", [])})
    (damaged / "log" / "attempts-00001.parquet").write_text("no table")
    with pytest.raises(SeedError, match="can't read the log"):
        read_all(damaged)
