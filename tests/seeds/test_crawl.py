"""Seeds from an earlier crawl."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given

from lswc.lab.trace.format import Fate, Trace
from lswc.seeds.candidates import Asked, Candidate, SeedError
from lswc.seeds.formats.earlier_crawl import hubs, read
from lswc.strategy import PageLanguage
from tests.lab.analysis.webs import Web, record, write_crawl
from tests.lab.trace.webs import webs

if TYPE_CHECKING:
    from pathlib import Path


def read_all(folder: Path, *codes: str) -> list[Candidate]:
    return list(read(folder, Asked(codes or ("th",))))


def hubs_by_hand(trace: Trace) -> list[int]:
    """Rank relevant servers by relevant servers linked to, then links; name their best pages."""
    relevant = [
        bool(trace.fate[u] == Fate.PAGE and trace.language[u] == PageLanguage.TARGET)
        for u in range(trace.urls)
    ]
    homes = {int(trace.server[u]) for u in range(trace.urls) if relevant[u]}
    reached: defaultdict[int, set[int]] = defaultdict(set)
    linked: defaultdict[int, int] = defaultdict(int)
    outgoing: defaultdict[int, int] = defaultdict(int)
    for url in range(trace.urls):
        home = int(trace.server[url])
        for target in trace.targets[trace.offsets[url] : trace.offsets[url + 1]]:
            there = int(trace.server[target])
            if relevant[url] and there in homes and there != home:
                reached[home].add(there)
                linked[home] += 1
                outgoing[url] += 1
    ranked = sorted(reached, key=lambda s: (-len(reached[s]), -linked[s], s))
    pages = {
        s: min((u for u in outgoing if trace.server[u] == s), key=lambda u: (-outgoing[u], u))
        for s in ranked
    }
    return [pages[server] for server in ranked]


@given(webs())
def test_hubs_are_those_found_by_hand(trace: Trace) -> None:
    assert hubs(trace).tolist() == hubs_by_hand(trace)


def test_hubs_of_a_crawl_become_seeds(tmp_path: Path) -> None:
    a, b, c = "http://www.a.co.th/", "http://www.b.com/", "http://www.c.com/"
    web = Web().page(a, "th", a + "links").page(a + "links", "th", b, c).page(b, "th", a, c)
    web.page(c, "th", c + "x").page(c + "x", "en", a, b)
    trace = web.write(tmp_path / "web", a)
    assert read_all(trace) == [
        Candidate(a + "links", language="th"),
        Candidate(b, language="th", weight=1 / 2),
    ]
    with pytest.raises(SeedError, match="is a crawl of Thai"):
        read_all(trace, "lo")
    nameless = web.write(tmp_path / "nameless", a, without=["url"])
    with pytest.raises(SeedError, match="no URLs in words"):
        read_all(nameless)
    with pytest.raises(SeedError, match="hubs need links"):
        read_all(write_crawl(tmp_path / "crawl", record(a, "th")))


def test_a_web_without_hubs(tmp_path: Path) -> None:
    trace = Web().page("http://www.a.co.th/", "th").write(tmp_path / "web", "http://www.a.co.th/")
    assert read_all(trace) == []
    assert hubs(Trace.read(trace)).dtype == np.int32
