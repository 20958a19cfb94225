"""Output of commands, to the word: every number stands where its heading says."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace
from scrapy.settings import Settings

from lswc import settings as defaults
from lswc.cli import program
from lswc.cli.commands.frontier import shown
from lswc.cli.dry_run import show
from lswc.cli.summary_table import LARGE_FAMILY_SITES, details_table, summary_table
from lswc.cli.tables import plain, table
from lswc.corpus import writing
from lswc.corpus.writing import Choices, Counts, Written
from lswc.crawl.configuration import Crawl
from lswc.frontier import open_frontier
from lswc.frontier.rules.report import Completion, Family, Queue
from lswc.frontier.rules.visit import Offer
from lswc.guest.control.store import InFolder, change
from lswc.monitor.snapshot import Cell
from lswc.reading.generated_sites import Verdict
from lswc.seeds import maker
from lswc.seeds.maker import Made
from lswc.strategy import SEED, PageLanguage
from lswc.workbench import replay
from tests.monitor.test_snapshot import printed
from tests.monitor.test_summary import SNAPSHOT

if TYPE_CHECKING:
    from collections.abc import Iterator


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as left:
        program.main([str(argument) for argument in arguments])
    assert isinstance(left.value.code, int)
    return left.value.code


def cells(text: str) -> list[str]:
    """Return the lines of tables that have any words, a bar between two cells."""
    lines = (" | ".join(re.split(r" {2,}", line.strip())) for line in text.splitlines())
    return [line for line in lines if line.strip("─ |")]


FRONTIER = [
    "th, adaptive",
    "pages | all | 1,234",
    "relevant | 617",
    "URLs | pending | 4,321",
    "of them postponed | 4",
    "of them requisites | 5",
    "leased | 6",
    "finished | 7",
    "URLs postponed | timeout | 10",
    "URLs finished | html | 11",
    "discarded | depth | 8",
    "remarkable pages | copy | 6",
    "servers | relevant | 2",
    "best cells",
    "pending | expected | seen | pages | known before",
    "on a relevant page | 12,345 | 87.5% | 6",
    "largest cells",
    "pending | expected | seen | pages | known before",
    "elsewhere | 40,000 | 25.0% | 30.0% | 70 | 4",
    "Relevant pages expected: 2,000 among all pending URLs, at least 1,500 and at most 2,346;"
    " 700 (70.0%) among the next 1,000.",
    "servers with most pending URLs",
    "server | pending | downloaded | relevant",
    "e.th | 1,000 | 20 | 3",
    "families of unproven sites",
    "family of | unproven sites | pages | of all | mainly through | sites",
    "a.th | 5 | 617 | 50.0% | b.th | 3",
    "c.th | 2 | 0 | 0.0% | d.th | 2",
    "servers with nothing pending",
    "servers | complete | 8",
    "cut short | 1",
    "without a page | 2",
    "cut short",
    "server | reason | URLs left out",
    "f.th | depth | 90",
    "without a page",
    "server | how a URL of it ended",
    "g.th | timeout",
]
CORPUS = [
    "3 pages with text in crawl/corpus/th, of 7 that were read",
    "1 exact duplicate among them",
    "2 pages left out: copies of pages that are left out",
    "1 page left out: they say that their text must not be mined",
    "1 by robots",
    "1 page left out: they fail by words",
    "without b.th: 6 pages",
    "1 say that they were machine-translated",
    "machines wrote spun.th, by its texts (0.80): same sentences, same length",
    "2 have personal data: email",
    "letters by kind: text 75.0%, menu 25.0%",
    "5 records can't be read: lswc check crawl",
    "host | read | rows | duplicates | left out | unreadable",
    "unknown | 8 | 4 | 0 | 0 | 0",
    "a.th | 7 | 3 | 1 | 4 | 5",
    "2 hosts, each with its reasons: crawl/corpus/th/manifest.json",
]


def test_a_frontier() -> None:
    outlook = replace(
        SNAPSHOT.outlook,
        next_harvest_rate=0.7005,
        best=(Cell("on a relevant page", 12_345, 6, 0.875, None),),
        largest=(Cell("elsewhere", 40_000, 70, 0.25, 0.3, 4),),
    )
    families = (Family("a.th", 5, 617, "b.th", 3), Family("c.th", 2, 0, "d.th", 2))
    snapshot = replace(
        SNAPSHOT,
        postponed=4,
        requisites=5,
        leased=6,
        finished=7,
        outlook=outlook,
        longest=(Queue("e.th", 1_000, 20, 3),),
        families=families,
        completion=Completion(8, (("f.th", "depth", 90),), 1, (("g.th", "timeout"),), 2),
    )
    assert cells(printed(*shown(snapshot))) == FRONTIER
    none = replace(snapshot, pages=0, outlook=replace(outlook, next_harvest_rate=None))
    said = cells(printed(*shown(none)))
    assert "a.th | 5 | 617 | b.th | 3" in said, "a share of nothing is none"
    assert "Nothing is pending." in said


def test_numbers_are_set_to_the_right() -> None:
    grid = table("", ["name", "pages"], [["a", 5], ["b", 1_000]])
    assert plain(grid).splitlines()[-2:] == ["  a          5", "  b      1,000"]


def test_large_families_are_named_in_the_summary() -> None:
    sites = {"a": LARGE_FAMILY_SITES, "b": LARGE_FAMILY_SITES - 1, "c": LARGE_FAMILY_SITES + 900}
    families = [Family(f"{name}.th", number, 1, "x.th", 1) for name, number in sites.items()]
    said = printed(summary_table(replace(SNAPSHOT, families=tuple(families))))
    (line,) = [one for one in cells(said) if one.startswith("families")]
    least, more = LARGE_FAMILY_SITES, LARGE_FAMILY_SITES + 900
    assert line == f"families | a.th {least:,} sites, c.th {more:,} sites"
    assert not [one for one in cells(printed(summary_table(SNAPSHOT))) if "families" in one]


def test_all_that_is_counted_is_named() -> None:
    counted = replace(SNAPSHOT.tallies, discarded={"depth": 3}, kinds={"pdf": 4})
    said = cells(printed(details_table(replace(SNAPSHOT, tallies=counted))))
    assert "discarded | depth | 3" in said
    assert "kinds of pages | pdf | 4" in said


def test_one_profile_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("profiles", "bfs") == 0
    assert "LSWC_STRATEGY" in capsys.readouterr().out
    assert run("profiles", "bfs", "tld") == 2
    assert "name one profile" in capsys.readouterr().err


def test_a_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = Counts(
        7, 3, Counter(exact=1), Counter({"copy": 2, "opted out": 1, "words": 1}),
        Counter({"robots": 1}), Counter(text=3, menu=1), 1, 0, 5,
        Counter(email=2),
    )  # fmt: skip
    hosts = {"a.th": one, "": Counts(8, 4)}
    asked: list[Any] = []

    def written(*given: Any) -> Written:
        asked[:] = given
        spun = Verdict(0.8, ("same sentences", "same length"))
        return Written(one, hosts, [], {"b.th": 6}, {}, {"spun.th": spun})

    monkeypatch.setattr(writing, "write", written)
    (tmp_path / "list").write_text("b.th\n")
    options = (
        "--lang", "th", "--without", tmp_path / "list", "--only-language", "--filter", "fineweb2",
        "--against", "other", "--format", "text", "--format", "text",
    )  # fmt: skip
    assert run("corpus", "crawl", "worker", *options) == 0
    assert asked[:2] == [[Path("crawl"), Path("worker")], Path("crawl/corpus/th")]
    chosen = Choices("th", True, ["b.th"], [Path("other")], "fineweb2", ["txt.zst"], programs=[])
    assert asked[2] == chosen
    assert cells(capsys.readouterr().out) == CORPUS
    assert run("corpus", "crawl", "--out", tmp_path) == 0
    assert asked[:2] == [[Path("crawl")], tmp_path]
    assert asked[2] == Choices(against=[], formats=["jsonl.zst", "parquet"], programs=[])
    hosts.clear()
    assert run("corpus", "crawl") == 0
    assert "host" not in capsys.readouterr().out.rpartition("letters by kind")[2]
    assert run("corpus", "crawl", "--mask", "--generated", "drop") == 0
    assert asked[2].mask
    assert asked[2].drop_generated
    assert run("corpus", "crawl", "--most-of-site", "-1") == 2
    assert "--most-of-site must be 0 or more, not -1" in capsys.readouterr().err
    for wrong in (("--format", "xls"), ("--filter", "best"), ("--generated", "last")):
        assert run("corpus", "crawl", *wrong) == 2
        assert f"there is no '{wrong[1]}': " in capsys.readouterr().err


def test_a_seed_list(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    counts = {"read": {f"kind {number}": number for number in range(12)}}
    asked: list[Any] = []

    def made(*given: Any) -> Made:
        asked[:] = given
        return Made(counts, ["out/th.txt: 3 Thai seeds"], ["no Lao page"])

    monkeypatch.setattr(maker, "make", made)
    assert run("seeds", "a", "b", "--lang", "th", "--out", "out") == 0
    assert asked[1] == [Path("a"), Path("b")]
    told = capsys.readouterr()
    assert told.err == "lswc seeds: no Lao page\n"
    lines = cells(told.out)
    assert lines == [
        "candidates", "read | kind 0 | 0", *(f"kind {n} | {n}" for n in range(1, 12)),
        "out/th.txt: 3 Thai seeds",
    ]  # fmt: skip


def test_a_mistake_is_in_the_log_of_a_crawl_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    log.write_text("before\n")
    wrong = ("-s", "DEPTH_LIMIT=-1", "-s", "LSWC_PROFILE=bfs", "-s", f"LOG_FILE={log}")
    assert run("crawl", "th", "--into", tmp_path / "crawl", *wrong) == 2
    said = capsys.readouterr().err
    assert said.startswith("lswc crawl: error: DEPTH_LIMIT must be")
    assert log.read_text() == f"before\n{said}"


def test_a_replay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    heard: list[Any] = []

    @contextmanager
    def noted(*given: object) -> Iterator[replay.Pywb]:
        heard.append(given)
        yield replay.Pywb("http://pywb/", ("th.warc.gz is cut short",))

    def served(*given: object) -> nullcontext[SimpleNamespace]:
        heard.append(given)
        return nullcontext(serving)

    serving = SimpleNamespace(server_port=6_811, serve_forever=lambda: heard.append("served"))
    collected = SimpleNamespace(gone=["first/ is gone"], crawls=(tmp_path,))
    monkeypatch.setattr("lswc.archive.collection.collected", lambda folders: collected)
    monkeypatch.setattr(replay, "wayback", lambda: "wayback")
    monkeypatch.setattr(replay, "pywb_of", noted)
    monkeypatch.setattr(replay, "announced", noted)
    monkeypatch.setattr(replay, "server", served)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    assert run("replay", tmp_path, "--pywb", "--port", "0") == 0
    address, shown = (
        "http://127.0.0.1:6811/",
        replay.Pywb("http://pywb/", ("th.warc.gz is cut short",)),
    )
    assert heard == [
        (collected, "wayback"), ((tmp_path,), shown, 0, 0), (tmp_path, address),
        "served",
    ]  # fmt: skip
    said = capsys.readouterr()
    assert said.out == f"{address}\nOnly this machine can reach it. Ctrl-C ends it.\n"
    assert said.err == "first/ is gone\nth.warc.gz is cut short\n"
    for port, code in (("65535", 0), ("65536", 2), ("-1", 2), ("x", 2), ("٣", 2)):
        assert run("replay", tmp_path, "--pywb", f"--port={port}") == code


def test_a_dry_run_names_the_quotas_of_a_language_and_no_url_that_is_blocked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "crawl"
    folder.mkdir()
    urls = [f"http://{name}.example/" for name in ("a", "b", "c")]
    settings = Settings()
    settings.setmodule(defaults, "project")
    settings.set("LSWC_CRAWL", str(folder), "cmdline")
    settings.set("LSWC_STRATEGY", "bfs", "cmdline")
    settings.set("LSWC_CONTACT", "a@b.example", "cmdline")
    crawl = Crawl.of(settings, "dv", urls[0])
    with closing(open_frontier(crawl.store, folder, crawl.strategy, crawl.identity)) as frontier:
        frontier.offer([Offer(u, u[7:-1], u[7:-1], SEED, PageLanguage.TARGET, 0) for u in urls])
    change(InFolder(folder), "block", True, "b.example")
    show(settings, {"lang": "dv", "seeds": urls[0]}, None, details=False)
    said = capsys.readouterr().out
    rows = cells(said)
    assert "LSWC_MAX_DOMAIN_PAGES | 5000000 | (language dv)" in rows
    assert "LSWC_MAX_SERVER_PAGES | 1000000 | (language dv)" in rows
    assert not any(row.startswith(("LSWC_MAX_DOMAIN_B", "LSWC_MAX_SERVER_B")) for row in rows)
    assert "language | dv" in rows
    assert "seeds | 1" in rows
    _, listed = said.split("The first 2 URLs, each after the robots.txt of its server:\n")
    assert listed.split() == [urls[0], urls[2]]
    show(settings, {"lang": "dv", "seeds": urls[0]}, None, details=False)
    assert capsys.readouterr().out == said, "all of it was given back"


def test_what_is_to_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    for command, what in (
        (("new",), "one language"),
        (("check",), "crawl folders, or one Redis"),
        (("frontier",), "crawl folders, or one Redis"),
    ):
        assert run(*command) == 2
        assert f"name {what}" in capsys.readouterr().err
    assert run("replay") == 2
    assert "name a crawl folder" in capsys.readouterr().err
