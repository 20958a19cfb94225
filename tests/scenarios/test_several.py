"""A crawl of several languages: one frontier, and a page in any of them is relevant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.scenarios.site import SCRAPY, THAI, Site, page, run

if TYPE_CHECKING:
    from pathlib import Path

LAO = "ມະນຸດເກີດມາມີສິດເສລີພາບ ແລະ ສະເໝີໜ້າກັນໃນທາງກຽດຕິສັກ ແລະ ທາງສິດດ້ວຍມີສະຕິສຳປັດຊັນຍະ "
ENGLISH = "This page is written in English, and the news of today is about the weather. "


def test_a_crawl_of_two_languages(tmp_path: Path) -> None:
    site = Site(tmp_path / "web", tmp_path / "crawl")
    site.add("www.one.co.th/", page(THAI, "http://www.two.la/x.html"))
    site.add("www.two.la/", page(LAO, "/x.html", "http://far.example/"))
    site.add("www.two.la/x.html", page(LAO + THAI))
    site.add("far.example/", page(ENGLISH))
    site.seeds("http://www.one.co.th/")
    (site.web / "seeds-lo.txt").write_text("http://www.two.la/")
    site.crawl("-a", "lang=th,lo")
    assert {r["url"]: (r["language"], r["relevant"]) for r in site.records} == {
        "http://www.one.co.th/": ("th", True),
        "http://www.two.la/": ("lo", True),
        "http://www.two.la/x.html": ("th", True),
        "http://far.example/": ("en", False),
    }
    summary = site.summary
    assert (summary["language"], summary["relevant"], summary["pages"]) == ("lo,th", 3, 4)
    assert summary["by_language"] == {
        "lo": {"relevant": 2, "harvest_rate": 0.5, "coverage": None},
        "th": {"relevant": 2, "harvest_rate": 0.5, "coverage": None},
    }
    site.crawl("-a", "lang=lo,th")  # it is the same crawl
    other = run(site.command())
    assert other.returncode == 2
    assert "this crawl has language 'lo,th', not 'th'" in other.stderr
    for command, says in (
        (["corpus", str(site.folder)], "of lo,th: say of which language, --lang"),
        (["corpus", str(site.folder), "--lang", "ja"], "of lo,th, not of ja"),
    ):
        done = run([*SCRAPY, *command])
        assert done.returncode == 2
        assert says in done.stderr
    done = run([*SCRAPY, "corpus", str(site.folder), "--lang", "lo"])
    assert "1 page with text" in done.stdout, done.stderr
    assert (site.folder / "corpus" / "lo" / "corpus-00000.parquet").is_file()
