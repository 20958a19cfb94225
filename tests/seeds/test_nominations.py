"""Sites that a crawl found and no list had become a list again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from lswc.seeds.candidates import Asked, Candidate, SeedError
from lswc.seeds.formats import FORMATS
from tests.seeds.test_earlier_crawl import crawled

if TYPE_CHECKING:
    from pathlib import Path

SEED: dict[str, Any] = {"source": "seed"}
WEB: dict[str, tuple[str, list[str]]] = {
    "http://www.seed.co.th/": ("th", []),
    "http://www.seed.co.th/2": ("th", []),
    "http://blog.seed.co.th/": ("th", []),
    "http://found.com/a/b.html": ("th", []),
    "http://found.com/th/": ("th", []),
    "http://other.org/": ("th", []),
    "http://english.org/": ("en", []),
}


def test_sites_without_a_seed_each_by_its_page_nearest_to_the_root(tmp_path: Path) -> None:
    crawl = crawled(tmp_path, WEB, "th", **{"http://www.seed.co.th/": SEED})
    asked = Asked(("th",))
    assert list(FORMATS["nominations"](crawl, asked)) == [
        Candidate("http://found.com/th/", language="th", weight=2.0),
        Candidate("http://other.org/", language="th", weight=1.0),
    ]
    assert asked.passed == {"site of a seed": 1}


def test_a_crawl_of_another_language_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SeedError, match="is a crawl of th"):
        list(FORMATS["nominations"](crawled(tmp_path, WEB), Asked(("lo",))))
