"""A page whose metadata a WARC file has lost is noticed, and asked for again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from lswc.archive.check.agreement import check, repair
from tests.archive.reading import records
from tests.scenarios.site import SCRAPY, THAI, Site, page, run

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("a", "b", "c", "d")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    site = Site(tmp_path / "web", tmp_path / "crawl")
    site.seeds("http://one.example/")
    site.add("one.example/", page(THAI, *(f"/{name}.html" for name in NAMES)))
    for name in NAMES:
        site.add(f"one.example/{name}.html", page(THAI * (2 + ord(name)) + name * 50))
    site.crawl(LSWC_MAX_DUPLICATES=0)
    assert check(site.folder).agrees
    return site


def entry_of(folder: Path, name: str) -> dict[str, str]:
    (index,) = (folder / "warc").glob("*.cdxj")
    found = (json.loads(line.split(b" ", 2)[2]) for line in index.read_bytes().splitlines())
    return next(entry for entry in found if entry["url"].endswith(f"/{name}.html"))


@pytest.mark.parametrize("name", ["d", "b"])
@pytest.mark.parametrize("is_cut", [True, False])
def test_a_page_without_its_metadata(site: Site, name: str, is_cut: bool) -> None:
    (warc,) = (site.folder / "warc").glob("*.warc.gz")
    entry, data = entry_of(site.folder, name), warc.read_bytes()
    end = int(entry["offset"]) + int(entry["length"])
    if is_cut:
        warc.write_bytes(data[:end])
    else:  # what follows is spoilt, and the length is as it was
        warc.write_bytes(data[:end] + bytes(200) + data[end + 200 :])
    (found,) = (f for f in check(site.folder).findings if f.file == "WARC")
    assert found.faults["missing"] >= 1
    repair(site.folder)
    site.crawl(LSWC_MAX_DUPLICATES=0)
    assert check(site.folder).agrees
    assert sorted(site.urls) == sorted({*site.urls})
    described = {r.url for r in records(site.folder) if r.type == "metadata"}
    assert described == {"http://one.example/", *(f"http://one.example/{n}.html" for n in NAMES)}
    done = run([*SCRAPY, "corpus", str(site.folder)])
    assert done.returncode == 0, done.stderr
    assert "5 pages with text" in done.stdout
