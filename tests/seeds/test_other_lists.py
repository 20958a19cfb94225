"""Lists that other programs keep: certificates, indexes of archives, feeds, results of queries."""

from __future__ import annotations

import gzip
import json
import zipfile
from typing import TYPE_CHECKING

import pytest

from lswc.seeds.candidates import Asked, Candidate, SeedError
from lswc.seeds.formats import FORMATS, certificates, recognised

if TYPE_CHECKING:
    from collections import Counter
    from pathlib import Path


def read(path: Path, *codes: str, name: str = "") -> tuple[list[Candidate], Counter[str]]:
    """Read a file as its recognised format, or as one that is given."""
    asked = Asked(codes)
    return list(FORMATS[name or recognised(path)](path, asked)), asked.passed


def test_certificates_are_taken_by_registered_domain(tmp_path: Path) -> None:
    names = (
        "*.a.co.th\na.co.th\nmail.a.co.th\nMAIL.a.co.th.\nwww.b.go.th\nb.go.th\nme@b.go.th\nco.th\n"
        "x.y.z.com\n10.0.0.1\n-bad-.com\nxn--o3cw4h\n" + "l" * 64 + ".com\nไทย.ไทย\n\n"
    )
    (tmp_path / "names").write_text(names, "utf-8")
    found, passed = read(tmp_path / "names")
    assert {one.url: one.weight for one in found} == {
        "http://a.co.th/": 2, "http://www.b.go.th/": 2, "http://x.y.z.com/": 1,
        "http://xn--o3cw4h.xn--o3cw4h/": 1,
    }  # fmt: skip
    assert passed == {
        "wildcard, its domain taken": 1, "name again": 2, "address of e-mail": 1,
        "public suffix": 1, "no name of a host": 3,
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        json.dumps([{"id": 1, "common_name": "*.a.th", "name_value": "a.th\nwww.a.th\nx@a.th"}]),
        json.dumps({"data": {"leaf_cert": {"all_domains": ["a.th", "*.a.th", "www.a.th", 7]}}}),
        'id,issuer,name_value\n1,"C=US, O=Some One","*.a.th"\n2,x,www.a.th\n',
    ],
)
def test_certificates_as_programs_write_them(tmp_path: Path, text: str) -> None:
    (tmp_path / "given").write_text(text)
    assert recognised(tmp_path / "given") == "certificates"
    assert [one.url for one in read(tmp_path / "given")[0]] == ["http://www.a.th/"]


def test_of_many_domains_those_with_most_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certificates, "DOMAINS_TAKEN", 3)
    names = [f"{number}.d{domain}.com" for domain in range(9) for number in range(domain + 1)]
    (tmp_path / "names").write_text("\n".join(names))
    found, passed = read(tmp_path / "names", name="certificates")
    assert [one.weight for one in found] == [9, 8, 7]
    assert passed == {"domain with fewer names": 6}


CDX = (
    " CDX N b a m s k r M S V g\n"
    "com,a)/ 20200101000000 https://a.com/ text/html 200 AAA - - 1 2 x.warc.gz\n"
    "com,a)/x.png 20200101000000 https://a.com/x.png image/png 200 AAA - - 1 2 x.warc.gz\n"
    "com,b)/ 20200101000000 http://b.com/ text/html 301 AAA - - 1 2 x.warc.gz\n"
)
CDXJ = (
    '!meta {"x": 1}\n'
    'com,a)/ 20200101000000 {"url": "https://a.com/", "mime": "text/html", "status": "200",'
    ' "languages": "cym,eng"}\n'
    'com,b)/ 20200101000000 {"url": "https://b.com/", "mime": "text/html", "status": 404}\n'
    'com,c)/ 20200101000000 {"url": "https://c.com/", "mime": "application/pdf"}\n'
    "com,d)/ 20200101000000 {torn\n"
)


@pytest.mark.parametrize("packed", [False, True])
def test_captures_of_pages_in_an_index(tmp_path: Path, packed: bool) -> None:
    for name, text in (("cdx", CDX), ("cdxj", CDXJ)):
        data = gzip.compress(text.encode()) if packed else text.encode()
        (tmp_path / name).write_bytes(data)
    found, passed = read(tmp_path / "cdx")
    assert found == [Candidate("https://a.com/")]
    assert passed == {"not HTML": 1, "status 301": 1}
    found, passed = read(tmp_path / "cdxj")
    assert found == [Candidate("https://a.com/", language="cy")]
    assert passed == {"status 404": 1, "not HTML": 1, "row without a URL": 1}


def test_the_columns_of_cdx_are_those_that_its_head_names(tmp_path: Path) -> None:
    (tmp_path / "cdx").write_text(" CDX a b m s\nhttps://a.com/ 2020 text/html 200\n")
    assert read(tmp_path / "cdx")[0] == [Candidate("https://a.com/")]


def test_a_wacz_by_its_pages_or_else_by_its_index(tmp_path: Path) -> None:
    pages = '{"format": "json-pages-1.0"}\n{"url": "https://p.com/", "title": "P"}\n{"ts": "x"}\n'
    for name, members in {
        "pages.wacz": {"pages/pages.jsonl": pages.encode(), "indexes/index.cdx": CDX.encode()},
        "index.wacz": {"indexes/index.cdx.gz": gzip.compress(CDXJ.encode())},
    }.items():
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for member, data in {"datapackage.json": b"{}", **members}.items():
                archive.writestr(member, data)
        assert recognised(tmp_path / name) == "wacz"
    assert read(tmp_path / "pages.wacz") == ([Candidate("https://p.com/", "P")],
                                             {"row without a URL": 1})  # fmt: skip
    assert read(tmp_path / "index.wacz")[0] == [Candidate("https://a.com/", language="cy")]


def test_a_damaged_wacz_is_one_line(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.wacz", "w") as archive:
        archive.writestr("datapackage.json", "{}")
        archive.writestr("indexes/index.cdx.gz", b"\x1f\x8b\x08no gzip at all")
    with pytest.raises(SeedError, match=r"can't read .*a\.wacz"):
        read(tmp_path / "a.wacz")


OPML = """<?xml version="1.0"?>
<opml version="2.0"><head><title>x & y</title></head><body>
<outline text="Papers of the news"><outline text="A &amp; B" type="rss" xmlUrl="https://a.com/feed"
 htmlUrl="https://a.com/" language="cy"/></outline>
<outline text="b" xmlUrl="https://b.com/feed"/>
<outline title="Fy mlog" htmlUrl="https://c.com/" description="Cymraeg" language="unknown"/>
<outline type="link" text="d" url="https://d.com/"/>
</body></opml>"""


def test_sites_of_feeds(tmp_path: Path) -> None:
    (tmp_path / "a.opml").write_text(OPML)
    found, passed = read(tmp_path / "a.opml")
    assert found == [
        Candidate("https://a.com/", "A & B", "cy", kind="News"),
        Candidate("https://c.com/", "Fy mlog Cymraeg", kind="Blogs"),
        Candidate("https://d.com/", "d", kind="Blogs"),
    ]
    assert passed == {"feed without its site": 1}


XML = """<?xml version="1.0"?><sparql xmlns="http://www.w3.org/2005/sparql-results#"><head>
<variable name="item"/><variable name="site"/><variable name="lang"/></head><results>
<result><binding name="item"><uri>http://www.wikidata.org/entity/Q1</uri></binding>
<binding name="site"><uri>https://a.com/</uri></binding>
<binding name="lang"><literal>cy</literal></binding></result>
<result><binding name="site"><uri>https://b.com/</uri></binding></result></results></sparql>"""
TSV = (
    "?item\t?site\t?lang\n<http://www.wikidata.org/entity/Q1>\t<https://a.com/>\t\"cy\"\n"
    "<http://www.wikidata.org/entity/Q2>\t<https://b.com/>\t\n"
)  # fmt: skip
NAMED = "item,site,langLabel\nhttp://www.wikidata.org/entity/Q1,https://a.com/,Welsh\n,b.com,??\n"
TYPED = "?site\t?lang\n<https://a.com/>\t\"Welsh\"@en\n<https://b.com/>\t\n"  # fmt: skip


@pytest.mark.parametrize("text", [XML, TSV, NAMED, TYPED])
def test_results_of_a_query(tmp_path: Path, text: str) -> None:
    (tmp_path / "given").write_text(text)
    found, _ = read(tmp_path / "given")
    assert [(one.url.split("/")[2], one.language) for one in found] == [
        ("a.com", "cy"), ("b.com", None),
    ]  # fmt: skip
