"""``scrapy analyze`` and ``scrapy seeds``, as a user calls them."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from tests.lab.analysis.webs import record, write_crawl
from tests.scenarios.site import ENGLISH, SCRAPY, THAI, run

if TYPE_CHECKING:
    from pathlib import Path
    from subprocess import CompletedProcess

LAO = "ພາສາລາວເປັນພາສາທາງການຂອງປະເທດລາວ ແລະຂ່າວມື້ນີ້ມີຫຼາຍເລື່ອງ "


def scrapy(*arguments: object) -> CompletedProcess[str]:
    done = run([*SCRAPY, *map(str, arguments)])
    assert "Traceback" not in done.stderr
    return done


def test_analyze_writes_a_report_and_names_it(tmp_path: Path) -> None:
    crawl = write_crawl(tmp_path / "crawl", record("http://www.a.co.th/", "th"))
    done = scrapy("analyze", crawl, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert done.stdout.replace("\n", "") == str(tmp_path / "out" / "report.html")
    assert (tmp_path / "out" / "report.html").is_file()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["analyze", "CRAWL", "--out", "OUT", "--strategy", "bsf"], "known: bfs"),
        (["seeds", "no.csv", "--lang", "xx", "--out", "OUT"], "unknown language 'xx'"),
        (["seeds", "--csv", "no.csv", "--lang", "th", "--out", "OUT"], "unknown option --csv"),
        (["seeds", "CRAWL", "--lang", "th", "--out", "OUT"], "neither a crawl with a log nor"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, arguments: list[str], said: str) -> None:
    crawl = write_crawl(tmp_path / "crawl", record("http://www.a.co.th/", "th"))
    names = {"CRAWL": str(crawl), "OUT": str(tmp_path / "out")}
    done = scrapy(*(names.get(argument, argument) for argument in arguments))
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_seeds_of_a_directory_by_what_it_says_of_each_page(tmp_path: Path) -> None:
    entries = "".join(
        f'<ExternalPage about="http://www.s{i}.{domain}/"><d:Title>{text}</d:Title></ExternalPage>'
        for i, (domain, text) in enumerate(
            [("co.th", THAI), ("com", THAI), ("com", ENGLISH), ("la", LAO), ("com", "")]
        )
    )
    path = tmp_path / "content.rdf.u8.gz"
    path.write_bytes(gzip.compress(f'<RDF xmlns:d="d">{entries}</RDF>'.encode()))
    done = scrapy("seeds", path, "--lang", "th,lo", "--out", tmp_path / "seeds")
    assert done.returncode == 0, done.stderr
    listed = (tmp_path / "seeds" / "th.txt").read_text("utf-8").splitlines()
    assert "content.rdf.u8.gz" in listed[2]
    assert listed[3:] == ["http://www.s0.co.th/", "http://www.s1.com/"]
    assert "http://www.s3.la/" in (tmp_path / "seeds" / "lo.txt").read_text("utf-8")
    again = scrapy("seeds", path, "--lang", "th", "--out", tmp_path / "seeds")
    assert again.returncode == 2
    assert "exists" in again.stderr
