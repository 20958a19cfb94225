"""``lswc new``: a crawl file, with seeds outside the country if that is asked for."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import pytest

from lswc.crawl.seed_files import read_seeds
from lswc.urls import parse, tld
from tests.scenarios.site import SCRAPY, run

if TYPE_CHECKING:
    from pathlib import Path


def test_seeds_outside_the_countrys_domain_stand_in_a_list_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "lao.toml"
    done = run([*SCRAPY, "new", "lo", "--outside", "--out", str(path)])
    assert done.returncode == 0, done.stderr
    beside = tmp_path / "lao-outside.txt"
    assert tomllib.loads(path.read_text("utf-8"))["seeds"] == str(beside)
    urls = [url for url in map(parse, read_seeds(beside)) if url is not None]
    assert len(urls) > 10
    assert "la" not in {tld(url.hostname) for url in urls}


@pytest.mark.parametrize("more", [(), ("--outside",)])
def test_for_a_language_without_a_list_it_says_how_to_get_one(
    tmp_path: Path, more: tuple[str, ...]
) -> None:
    done = run([*SCRAPY, "new", "fj", "--out", str(tmp_path / "fj.toml"), *more])
    assert done.returncode == (2 if more else 0)
    assert len(done.stderr.splitlines()) == 2
    assert "lswc seeds --lang fj --from web-languages web-languages" in done.stderr
    assert (tmp_path / "fj.toml").exists() == (not more)
