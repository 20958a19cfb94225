"""What a library is told of its archive: what it has of each site, and what it lacks."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from tests import forks
from tests.scenarios.site import ENGLISH, ROOT, THAI, Site, environment, page

if TYPE_CHECKING:
    from pathlib import Path

PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)


def test_bytes_types_refusals_and_gaps_by_site(tmp_path: Path) -> None:
    site = Site(tmp_path / "web", tmp_path / "crawl")
    site.seeds("http://www.one.co.th/")
    others = "http://blog.one.co.th/", "http://en.example/", "http://thai.xn--72czi1dxb.com/"
    links = "/closed/1", "/closed/2", "/gone", *others
    site.add("www.one.co.th/", page(THAI, *links) + "<img src=i.png>")
    site.add("www.one.co.th/i.png", PNG)
    site.add("www.one.co.th/robots.txt", "User-agent: *\nDisallow: /closed/\n")
    site.add("blog.one.co.th/", page(THAI * 2))
    site.add("en.example/", page(ENGLISH))
    site.add("thai.xn--72czi1dxb.com/", page(THAI * 3))
    site.crawl()
    out = tmp_path / "report"
    done = forks.run(["analyze", str(site.folder), "--out", str(out)], ROOT, environment())
    assert done.returncode == 0, done.stderr
    with (out / "tables" / "holdings.csv").open(encoding="utf-8-sig") as file:
        rows = {row["site"]: row for row in csv.DictReader(file)}
    assert rows.keys() == {"one.co.th", "en.example", "ทดลอง.com"}
    one, english = rows["one.co.th"], rows["en.example"]
    assert (one["pages archived"], one["other files archived"]) == ("2", "1")
    assert one["media types"].split(", ")[:2] == ["text/html 2", "image/png 1"]
    assert (one["forbidden by robots.txt"], one["pages not to be had"]) == ("2", "1")
    assert int(one["bytes received"]) >= int(one["bytes archived"]) > len(PNG)
    assert (english["pages not archived"], english["bytes archived"]) == ("1", "0")
    report = (out / "report.html").read_text()
    assert "3 pages of 2 sites are archived" in report
    assert "The crawl met 3 sites." in report
    assert "xn--" not in report
    assert "8 more columns" in report, "of the nominations, which would not fit"
    with (out / "tables" / "nominations.csv").open(encoding="utf-8-sig") as file:
        (row,) = csv.DictReader(file)
    assert (row["site"], row["example page"]) == ("ทดลอง.com", "http://thai.ทดลอง.com/")
