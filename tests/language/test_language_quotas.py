"""A language's own defaults of quotas hold unless its user says otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings

from lswc import settings as defaults
from lswc.crawl.configuration import Crawl
from lswc.safety.server_limits import Quota, Quotas

if TYPE_CHECKING:
    from pathlib import Path


def quotas(folder: Path, lang: str, **chosen: object) -> Quotas:
    settings = Settings()
    settings.setmodule(defaults, "project")
    given = {"LSWC_CONTACT": "https://library.example/", "LSWC_CRAWL": str(folder / "crawl")}
    settings.setdict({**given, "LSWC_STRATEGY": "bfs", **chosen}, "cmdline")
    (folder / "seeds.txt").write_text("http://a.example/")
    crawl = Crawl.of(settings, lang, str(folder / "seeds.txt"))
    described = crawl.described(settings)
    assert described["LSWC_MAX_SERVER_PAGES"] == crawl.quotas.server.pages
    return crawl.quotas


GB = 10**9


@pytest.mark.parametrize(
    ("lang", "server", "domain"),
    [
        ("th", 100_000, 1_000_000),
        ("lo", 1_000_000, 5_000_000),
        ("my-Qaag", 1_000_000, 5_000_000),
        ("ja", 50_000, 500_000),
        ("en", 100_000, 1_000_000),
        ("ja,th", 100_000, 1_000_000),
        ("lo,th", 1_000_000, 5_000_000),
    ],
)
def test_defaults_by_language(tmp_path: Path, lang: str, server: int, domain: int) -> None:
    found = quotas(tmp_path, lang)
    assert found == Quotas(Quota(server, 100 * GB), Quota(domain, 1000 * GB))


@pytest.mark.parametrize("most", [7, "100000", 0])
def test_what_is_set_holds_for_any_language(tmp_path: Path, most: object) -> None:
    found = quotas(tmp_path, "lo", LSWC_MAX_SERVER_PAGES=most)
    assert found.server.pages == float(str(most))
    assert found.domain.pages == 5_000_000


def test_what_a_project_sets_holds_too(tmp_path: Path) -> None:
    settings = Settings()
    settings.setmodule(defaults, "project")
    settings.set("LSWC_MAX_SERVER_PAGES", 777, "project")
    settings.setdict(
        {
            "LSWC_CONTACT": "https://library.example/",
            "LSWC_CRAWL": str(tmp_path / "crawl"),
            "LSWC_STRATEGY": "bfs",
        },
        "cmdline",
    )
    assert Crawl.of(settings, "lo", "").quotas.server.pages == 777
