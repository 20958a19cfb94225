"""``scrapy why``: a URL's whole history."""

from __future__ import annotations

import re
import shutil
from argparse import ArgumentParser
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from scrapy.settings import Settings

from lswc.cli.commands.why import Command, _show
from lswc.frontier import FRONTIER_FILE
from lswc.frontier.rules.contract import Terms
from lswc.frontier.store.frontier import Frontier
from lswc.frontier.store.report import opened as opened_file
from lswc.monitor.story import story
from lswc.outcomes import Outcome
from tests.scenarios.site import ENGLISH, THAI, Site, page
from tests.visits import ended

if TYPE_CHECKING:
    from pathlib import Path


FAR = "http://far.example/"


def ask(*arguments: str) -> int:
    command, parser = Command(), ArgumentParser()
    command.settings = Settings()
    command.add_options(parser)
    options, names = parser.parse_known_args(list(arguments))
    command.exitcode = 0
    command.run(names, options)
    return command.exitcode


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A crawl in which far.example turns out to be irrelevant while two of its URLs wait."""
    folder = tmp_path_factory.mktemp("why")
    site = Site(folder / "web", folder / "crawl")
    site.seeds("http://www.one.co.th/")
    site.add(
        "www.one.co.th/", page(THAI, "/gone.html", "ftp://www.one.co.th/file", "http://[x", FAR)
    )
    site.add("far.example/", page(ENGLISH, "1.html", "2.html", "3.html"))
    for number in (1, 2, 3):
        site.add(f"far.example/{number}.html", page(ENGLISH, "4.html"))
    site.crawl(LSWC_STRATEGY="server_aggressive:T=2", CONCURRENT_REQUESTS=1)
    return site


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://www.one.co.th/", ("html, 20", "A page, recorded.", "seed")),
        ("https://www.one.co.th", ("html, 20",)),  # its twin
        ("http://www.one.co.th/gone.html", ("status 404, 20", "with this error", "tier 0")),
        (FAR, ("on page", "http://www.one.co.th/", "html, 20", "elsewhere")),
        (f"{FAR}3.html", ("discarded, server became irrelevant, 20", ": It waited", "tier ", FAR)),
        ("ftp://www.one.co.th/file", ("discarded, scheme: Neither http nor https.",)),
        ("http://[x", ("discarded, invalid URL: Not a URL",)),
        ("http://nobody.example/", ("never seen",)),
    ],
)
def test_the_history_of_a_url(
    crawled: Site, capsys: pytest.CaptureFixture[str], url: str, said: tuple[str, ...]
) -> None:
    assert ask(str(crawled.folder), url) == 0
    out = capsys.readouterr().out
    for words in said:
        assert words in out


def test_what_is_no_url_is_said(crawled: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(str(crawled.folder), "http://[y") == 2
    assert capsys.readouterr().err.endswith(" why: error: 'http://[y' isn't a URL\n")


def test_a_page_that_is_visited_again_tells_when_it_is_due(
    crawled: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = tmp_path / "crawl"
    shutil.copytree(crawled.folder, again)
    path, url = again / FRONTIER_FILE, "http://www.one.co.th/"
    with opened_file(path) as reader:
        chosen = reader.strategy
    with closing(Frontier(path, chosen, {"language": "th"}, Terms(revisit=1.0))) as frontier:
        frontier.reopen([url], frontier.lengths())
        lease = frontier.lease_among(["www.one.co.th"], 0.0)
        assert lease is not None
        frontier.commit(ended(lease, relevant=True, simhash=0))
    assert ask(str(again), url) == 0
    out = capsys.readouterr().out
    assert re.search(r"visited again: 1 visits so far, had last at 20\d\d-", out)
    assert "It should change 0.05 times a day" in out
    assert "change  " not in out  # of its requests none was a further visit
    assert ask(str(again), f"{url}gone.html") == 0
    assert "visited again" not in capsys.readouterr().out


def test_visits_are_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    names = ("status", "bytes", "language", "tier", "distance", "depth")
    row: dict[str, Any] = dict.fromkeys(names, 1)
    row |= {"time": datetime(2026, 1, 1, tzinfo=UTC), "outcome": "html"}
    attempts = [row | {"visit": 1, "change": "new"}, row | {"visit": 2, "change": "unchanged"}]
    _show("http://a/", story([], attempts, None, 20))
    out = capsys.readouterr().out
    assert re.search(r"visit +change", out)
    assert re.search(r"1 +new\b", out)
    assert re.search(r"2 +unchanged\b", out)


def test_each_url_that_a_server_lost_has_a_row(crawled: Site) -> None:
    attempts = pq.read_table(crawled.folder / "log" / "attempts-00001.parquet").to_pylist()
    rows = [row for row in attempts if row["outcome"] == Outcome.SERVER_BECAME_IRRELEVANT]
    assert {row["url"] for row in rows} == {f"{FAR}3.html", f"{FAR}4.html"}
    assert crawled.summary["discarded"][Outcome.SERVER_BECAME_IRRELEVANT] == len(rows)


def test_a_url_that_is_pending(site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    site.seeds("http://www.one.co.th/")
    site.add("www.one.co.th/", page(THAI, "/a.html", "/b.html"))
    site.crawl(CLOSESPIDER_ITEMCOUNT=1, CONCURRENT_REQUESTS=1, DOWNLOAD_DELAY=3)
    assert ask(str(site.folder), "http://www.one.co.th/b.html") == 0
    assert "pending: it is in the frontier" in capsys.readouterr().out


def test_a_worker_that_had_no_page_yet(
    crawled: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(crawled.folder / "settings.json", tmp_path)
    assert ask(str(tmp_path), FAR) == 0
    assert "never seen" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("{empty}", FAR), "it has no crawl log"),
        (("{crawl}", "redis://there", FAR), "name folders, or one Redis"),
    ],
)
def test_mistakes(
    crawled: Site,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    complaint: str,
) -> None:
    given = [one.format(crawl=crawled.folder, empty=tmp_path) for one in arguments]
    assert ask(*given) == 2
    assert complaint in capsys.readouterr().err
