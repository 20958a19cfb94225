"""Seed lists from directories, CSVs and crawls."""

from __future__ import annotations

import gzip
import random
from collections import defaultdict
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.analysis import AnalysisError
from lswc.seeds.candidates import Candidate, choose, hubs, read_crawl, read_csv, read_rdf, text_of
from lswc.strategy import PageLanguage
from lswc.trace.format import Fate, Trace
from tests.analysis.webs import Web, record, write_crawl
from tests.trace.webs import webs

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<RDF xmlns:r="http://www.w3.org/TR/RDF/" xmlns:d="http://purl.org/dc/elements/1.0/"
 xmlns="http://dmoz.org/rdf/">
"""
TOPIC = (
    '<Topic r:id="Top/World/Thai"><catid>1</catid><link r:resource="http://l.example/"/></Topic>'
)


def entry(url: str, title: str = "", description: str = "") -> str:
    return (
        f"<ExternalPage about={quoteattr(url)}>\n <d:Title>{escape(title)}</d:Title>\n"
        f" <d:Description>{escape(description)}</d:Description>\n <topic>Top/World</topic>\n"
        "</ExternalPage>\n"
    )


def dump(path: Path, *parts: str | bytes) -> Path:
    data = b"".join(p if isinstance(p, bytes) else p.encode() for p in (HEAD, *parts, "</RDF>\n"))
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("name", ["content.rdf.u8", "content.rdf.u8.gz"])
def test_pages_of_a_directory(tmp_path: Path, name: str) -> None:
    path = dump(
        tmp_path / name,
        TOPIC,
        entry("http://www.a.co.th/?x=1&y=2", "ข่าว & เพลง", "ภาษาไทย <b>"),
        entry("http://www.b.com/"),
    )
    assert list(read_rdf(path)) == [
        Candidate("http://www.a.co.th/?x=1&y=2", "ข่าว & เพลง ภาษาไทย <b>"),
        Candidate("http://www.b.com/", ""),
    ]


def test_faults_of_real_dumps_are_mended(tmp_path: Path) -> None:
    path = dump(
        tmp_path / "dump.rdf",
        b'<ExternalPage about="http://www.a.com/?a=1&b=2">\x01\x0b<d:Title>\xff AT&T &#3585; '
        b"&eacute;</d:Title></ExternalPage>",
    )
    (found,) = read_rdf(path)
    assert found == Candidate("http://www.a.com/?a=1&b=2", "\N{REPLACEMENT CHARACTER} AT&T ก é")


def test_a_dump_in_one_line_loses_nothing(tmp_path: Path) -> None:
    parts = [entry(f"http://www.s{i}.com/?a=1&b={i}", "R&D " * i).replace("\n", "")
             for i in range(300)]  # fmt: skip
    path = dump(tmp_path / "dump.rdf", *parts)
    found = list(read_rdf(path))
    assert [c.url for c in found] == [f"http://www.s{i}.com/?a=1&b={i}" for i in range(300)]
    assert all(set(c.text.split()) <= {"R&D"} for c in found)


BOMB = """<?xml version="1.0"?><!DOCTYPE RDF [<!ENTITY a "aaaaaaaaaa">
<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]><RDF>&b;</RDF>"""
FILE = '<!DOCTYPE RDF [<!ENTITY x SYSTEM "file:///etc/passwd">]><RDF>&x;</RDF>'


@pytest.mark.parametrize("text", [BOMB, FILE])
def test_entities_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "dump.rdf"
    path.write_text(text)
    with pytest.raises(AnalysisError, match="entities"):
        list(read_rdf(path))


@pytest.mark.parametrize("data", [b"", b"not xml", HEAD.encode(), b"<RDF></Topic>"])
def test_what_is_no_directory_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "dump.rdf"
    path.write_bytes(data)
    with pytest.raises(AnalysisError, match="isn't the RDF"):
        list(read_rdf(path))


def test_a_torn_gzip_is_refused(tmp_path: Path) -> None:
    path = dump(tmp_path / "dump.rdf.gz", entry("http://www.a.com/", "x"))
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(AnalysisError, match="can't read"):
        list(read_rdf(path))


@given(st.binary(max_size=300))
def test_any_bytes_in_a_dump_give_candidates_or_a_clear_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.rdf"
    path.write_bytes(HEAD.encode() + data)
    with pytest.raises(AnalysisError):
        list(read_rdf(path))


def test_csv_with_and_without_a_head(tmp_path: Path) -> None:
    path = tmp_path / "urls.csv"
    path.write_text("rank,URL,Title,x\n1,http://a.com/,ไทย,no\n2,http://b.com/\n\n", "utf-8-sig")
    assert list(read_csv(path)) == [Candidate("http://a.com/", "ไทย"), Candidate("http://b.com/")]
    path.write_text("http://a.com/A,ไทย,ดี\nhttp://b.com/\0\n", "utf-8")
    assert list(read_csv(path)) == [
        Candidate("http://a.com/A", "ไทย ดี"), Candidate("http://b.com/"),
    ]  # fmt: skip
    with pytest.raises(AnalysisError, match="can't read"):
        list(read_csv(tmp_path / "missing.csv"))


CANDIDATES = [Candidate(f"http://www.s{i}.{'com' if i % 2 else 'co.th'}/") for i in range(200)]


def by_number(url: str, _: str) -> str | None:
    return (None, "th", "lo")[int("".join(filter(str.isdigit, url))) % 3]


def test_a_random_choice_per_language_that_only_the_seed_decides() -> None:
    chosen = choose(CANDIDATES, by_number, ["th", "lo"], 20, 1)
    assert {code: len(urls) for code, urls in chosen.items()} == {"th": 20, "lo": 20}
    assert all(by_number(url, "") == code for code, urls in chosen.items() for url in urls)
    shuffled = random.Random(3).sample(CANDIDATES * 2, 400)
    assert choose(shuffled, by_number, ["th", "lo"], 20, 1) == chosen
    assert choose(CANDIDATES, by_number, ["th", "lo"], 20, 2) != chosen


def test_every_url_has_the_same_chance() -> None:
    times: defaultdict[str, int] = defaultdict(int)
    for seed in range(200):
        for url in choose(CANDIDATES, lambda *_: "th", ["th"], 50, seed)["th"]:
            times[url] += 1
    assert len(times) == 200
    assert 25 <= min(times.values()) <= max(times.values()) <= 80


def test_only_http_urls_of_the_wanted_domains_are_chosen() -> None:
    candidates = [
        Candidate(url)
        for url in ("http://a.co.th/", "HTTP://A.co.th", "http://b.com/", "ftp://c.co.th/",
                    "c.co.th", "javascript:x", "", "http://", "https://d.org/")
    ]  # fmt: skip
    chosen = choose(candidates, lambda *_: "th", ["th"], 9, 1, frozenset({"th", "org"}))
    assert chosen == {"th": ["http://a.co.th/", "https://d.org/"]}


def test_the_text_is_sorted_by_domain_with_the_languages_own_first() -> None:
    urls = ["http://b.com/", "http://c.com/", "http://a.co.th/", "http://d.org/"]
    assert text_of(urls, ("th",), "dump") == (
        "# Seeds from dump\n\n# .th\nhttp://a.co.th/\n\n# .com\nhttp://b.com/\nhttp://c.com/\n"
        "\n# .org\nhttp://d.org/\n"
    )


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
    assert read_crawl(trace, 9) == [(a + "links", "th"), (b, "th")]
    assert read_crawl(trace, 1) == [(a + "links", "th")]
    nameless = web.write(tmp_path / "nameless", a, without=["url"])
    with pytest.raises(AnalysisError, match="no URLs in words"):
        read_crawl(nameless, 9)
    with pytest.raises(AnalysisError, match="hubs need links"):
        read_crawl(write_crawl(tmp_path / "crawl", record(a, "th")), 9)


def test_a_web_without_hubs(tmp_path: Path) -> None:
    trace = Web().page("http://www.a.co.th/", "th").write(tmp_path / "web", "http://www.a.co.th/")
    assert read_crawl(trace, 9) == []
    assert hubs(Trace.read(trace)).dtype == np.int32
