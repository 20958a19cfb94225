"""How much of a crawl each source of its seeds brought."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from lswc.seeds.listing import sources_of
from tests import forks
from tests.scenarios.site import ENGLISH, ROOT, THAI, Site, environment, page

if TYPE_CHECKING:
    from pathlib import Path

LIST = """# Thai: where a crawl starts

# News · a paper's list · 2026-01-01
http://one.example/  # 2026-01-01: Thai 90%, 3 links

# Blogs · blogs of friends · 2026-01-01 · not visited
http://two.example/
http://gone.example/
"""


def test_sources_are_those_that_the_groups_name() -> None:
    assert sources_of(LIST + "\n# mine\nhttp://d.example/\n", "x") == {
        "http://one.example/": "a paper's list", "http://two.example/": "blogs of friends",
        "http://gone.example/": "blogs of friends", "http://d.example/": "blogs of friends",
    }  # fmt: skip
    assert sources_of("http://a.example/\n", "mine.txt") == {"http://a.example/": "mine.txt"}


@pytest.mark.slow
def test_pages_count_for_the_seed_that_they_were_reached_from(tmp_path: Path) -> None:
    site = Site(tmp_path / "web", tmp_path / "crawl")
    site.add("one.example/", page(THAI, "/1", "http://far.example/"))
    site.add("one.example/1", page(THAI * 2))
    site.add("far.example/", page(THAI * 3, "/x"))
    site.add("far.example/x", page(THAI * 4))
    site.add("two.example/", page(THAI * 5, "/e"))
    site.add("two.example/e", page(ENGLISH))
    (tmp_path / "list.txt").write_text(LIST, "utf-8")
    site.crawl("-a", f"seeds={tmp_path}/list.txt")
    out = tmp_path / "report"
    done = forks.run(["analyze", str(site.folder), "--out", str(out)], ROOT, environment())
    assert done.returncode == 0, done.stderr
    with (out / "tables" / "seed_sources.csv").open(encoding="utf-8-sig") as file:
        rows = [list(row.values())[:4] for row in csv.DictReader(file)]
    assert rows == [["a paper's list", "1", "4", "4"], ["blogs of friends", "2", "2", "1"]]
    assert "Sources of seeds" in (out / "report.html").read_text()
