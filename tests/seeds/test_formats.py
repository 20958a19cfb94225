"""What people have, in its real formats: small files as the sources publish them."""

from __future__ import annotations

import csv
import gzip
import io
import json
import zipfile
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.seeds.candidates import Asked, Candidate, SeedError, written_url
from lswc.seeds.formats import FORMATS, recognised
from lswc.seeds.formats.external_links import url_of
from tests.scenarios.site import ENGLISH, THAI

if TYPE_CHECKING:
    from collections import Counter
    from pathlib import Path

LIST = "\ufeff# mine\n\nhttps://www.chula.ac.th/\nwww.bot.or.th\n pantip.com/forum \n//a.co.th\n"
TRANCO = "1,google.com\r\n2,www.bot.or.th\r\n40,pantip.com\r\n"
CRUX = "origin,rank\nhttps://www.sanook.com,1000\nhttps://pantip.com,5000\n"
MAJESTIC = "GlobalRank,TldRank,Domain,TLD,RefSubNets\n1,1,google.com,com,9\n2,1,bot.or.th,th,8\n"
WIKIDATA_CSV = (
    "item,itemLabel,website,lang\n"
    "http://www.wikidata.org/entity/Q1,จุฬา,https://www.chula.ac.th/,th\n"
    'http://www.wikidata.org/entity/Q2,"Bank, of",http://www.bot.or.th,\n'
)
SPARQL = {
    "head": {"vars": ["item", "website", "itemLabel"]},
    "results": {
        "bindings": [
            {
                "item": {"type": "uri", "value": "http://www.wikidata.org/entity/Q1"},
                "website": {"type": "uri", "value": "https://www.chula.ac.th/"},
                "itemLabel": {"xml:lang": "th", "type": "literal", "value": "จุฬา"},
            },
            {
                "item": {"type": "uri", "value": "http://www.wikidata.org/entity/Q2"},
                "website": {"type": "uri", "value": "http://www.bot.or.th"},
            },
        ]
    },
}
DOWNLOADED = [
    {"item": "http://www.wikidata.org/entity/Q1", "website": "https://www.chula.ac.th/"},
    {"item": "http://www.wikidata.org/entity/Q2", "website": "http://www.bot.or.th"},
]
DUMP = r"""-- MariaDB dump 10.19  Distrib 10.5.23-MariaDB, for debian-linux-gnu (x86_64)
--
-- Host: db    Database: thwiki
DROP TABLE IF EXISTS `externallinks`;
CREATE TABLE `externallinks` (
  `el_id` bigint(20) unsigned NOT NULL AUTO_INCREMENT,
  `el_from` int(10) unsigned NOT NULL DEFAULT 0,
  `el_to_domain_index` varbinary(255) NOT NULL DEFAULT '',
  `el_to_path` blob DEFAULT NULL,
  PRIMARY KEY (`el_id`),
  KEY `el_from` (`el_from`)
) ENGINE=InnoDB DEFAULT CHARSET=binary;
LOCK TABLES `externallinks` WRITE;
INSERT INTO `externallinks` VALUES (1,10,'https://th.ac.chula.www.','/'),(2,11,'http://com.a.','/it\'s),(9,\\'),(3,12,'http://com.example.:8080','/ข'),(4,13,'mailto:com.example.@me',NULL);
INSERT INTO `externallinks` VALUES (5,10,'http://V4.192.0.2.7.','/x?y#''z');
UNLOCK TABLES;
"""
OLD_DUMP = """CREATE TABLE `externallinks` (
  `el_id` int(10) unsigned NOT NULL AUTO_INCREMENT,
  `el_from` int(10) unsigned NOT NULL DEFAULT '0',
  `el_to` blob NOT NULL,
  `el_index` blob NOT NULL,
  PRIMARY KEY (`el_id`)
) ENGINE=InnoDB;
INSERT INTO `externallinks` VALUES (1,3,'http://www.a.co.th/x','http://th.co.a.www./x');
"""


def warc(*records: tuple[str, str, str]) -> bytes:
    """Return a WARC file of responses: URL, status line and headers, body."""
    parts: list[bytes] = []
    for url, head, body in records:
        block = f"HTTP/1.1 {head}\r\n\r\n{body}".encode()
        parts.append(
            f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\n"
            f"WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:{len(parts)}>\r\n"
            "Content-Type: application/http; msgtype=response\r\n"
            f"Content-Length: {len(block)}\r\n\r\n".encode()
            + block
            + b"\r\n\r\n"
        )
    return b"".join(map(gzip.compress, parts))


HTML = "200 OK\r\nContent-Type: text/html; charset=utf-8"
WARC = warc(
    ("http://a.co.th/", HTML, THAI),
    ("http://b.com/", HTML, ENGLISH),
    ("http://c.com/", "404 Not Found\r\nContent-Type: text/html", THAI),
    ("http://d.com/", "200 OK\r\nContent-Type: image/png", "x"),
)
WET = (
    "WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: http://{}/\r\n"
    "WARC-Identified-Content-Language: {}\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
    "Content-Type: text/plain\r\nContent-Length: 1\r\n\r\nx\r\n\r\n"
)
RDF = '<?xml version="1.0"?><RDF xmlns="http://dmoz.org/rdf/"><ExternalPage about="http://a.com/"/></RDF>'
SITEMAP = '<?xml version="1.0"?><urlset><url><loc>http://a.com/</loc></url></urlset>'


def read(path: Path, *codes: str, name: str = "") -> tuple[list[Candidate], Counter[str]]:
    """Read a file as its recognised format, or as one that is given."""

    def tell(body: bytes, header: str, url: str) -> str | None:
        return "th" if "ภาษาไทย".encode() in body else None

    asked = Asked(codes or ("th",), tell)
    return list(FORMATS[name or recognised(path)](path, asked)), asked.passed


def packed(path: Path, data: bytes, kind: str) -> Path:
    if kind == "gzip":
        data = gzip.compress(data)
    elif kind == "zip":
        with zipfile.ZipFile(buffer := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("inner", data)
        data = buffer.getvalue()
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("list", LIST, [Candidate("https://www.chula.ac.th/"), Candidate("http://www.bot.or.th"),
                        Candidate("http://pantip.com/forum"), Candidate("http://a.co.th")]),
        ("table", TRANCO, [Candidate("http://google.com"),
                           Candidate("http://www.bot.or.th", weight=1 / 2),
                           Candidate("http://pantip.com", weight=1 / 40)]),
        ("table", CRUX, [Candidate("https://www.sanook.com", weight=1 / 1000),
                         Candidate("https://pantip.com", weight=1 / 5000)]),
        ("table", MAJESTIC, [Candidate("http://google.com"),
                             Candidate("http://bot.or.th", weight=1 / 2)]),
        ("table", WIKIDATA_CSV, [Candidate("https://www.chula.ac.th/", "จุฬา", "th"),
                                 Candidate("http://www.bot.or.th", "Bank, of")]),
        ("table", WIKIDATA_CSV.replace(",", "\t"),
         [Candidate("https://www.chula.ac.th/", "จุฬา", "th"),
          Candidate("http://www.bot.or.th", "Bank\t of")]),
        ("table", "rank;URL;Title\n1;http://a.com/x,y;ไทย\n",
         [Candidate("http://a.com/x,y", "ไทย")]),
        ("table", "http://a.com/,ไทย,ดี\nhttp://b.com/\0\n",
         [Candidate("http://a.com/", "ไทย ดี"), Candidate("http://b.com/")]),
        ("table", "website\thttp\nhttp://www.wikidata.org/entity/Q1\t\na.com\t\n",
         [Candidate("http://a.com")]),
        ("table", "domain,pages,language\na.com,12,tha\nb.com,x,http://x.y/Q1\n",
         [Candidate("http://a.com", language="th", weight=12), Candidate("http://b.com")]),
        ("json", json.dumps(SPARQL), [Candidate("https://www.chula.ac.th/", "จุฬา"),
                                      Candidate("http://www.bot.or.th")]),
        ("json", json.dumps(DOWNLOADED, indent=1), [Candidate("https://www.chula.ac.th/"),
                                                    Candidate("http://www.bot.or.th")]),
        ("json", "\n".join(map(json.dumps, DOWNLOADED)), [Candidate("https://www.chula.ac.th/"),
                                                          Candidate("http://www.bot.or.th")]),
        ("externallinks", DUMP, [
            Candidate("https://www.chula.ac.th/"), Candidate("http://a.com/it's),(9,\\"),
            Candidate("http://example.com:8080/ข"), Candidate("mailto:com.example.@me"),
            Candidate("http://192.0.2.7/x?y#'z")]),
        ("externallinks", OLD_DUMP, [Candidate("http://www.a.co.th/x")]),
        ("rdf", RDF, [Candidate("http://a.com/")]),
        ("sitemap", SITEMAP, [Candidate("http://a.com/")]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["plain", "gzip", "zip"])
def test_a_format_is_recognised_and_read(
    tmp_path: Path, name: str, text: str, expected: list[Candidate], kind: str
) -> None:
    path = packed(tmp_path / "given", text.encode(), kind)
    assert recognised(path) == name
    assert read(path)[0] == expected


def test_pages_of_a_warc_file_in_the_language(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(WARC)
    assert recognised(path) == "warc"
    found, passed = read(path)
    assert found == [Candidate("http://a.co.th/", language="th")]
    assert passed == {"another language": 1, "status 404": 1, "not HTML": 1}


def test_text_files_of_common_crawl_name_their_languages(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.wet"
    path.write_text(WET.format("a.com", "tha,eng") + WET.format("b.com", "eng,tha"), newline="")
    found, passed = read(path)
    assert found == [Candidate("http://a.com/", language="th")]
    assert passed == {"another language": 1}


def index(path: Path, *rows: tuple[str, int, str | None]) -> Path:
    """Write a part of Common Crawl's index."""
    urls, statuses, languages = zip(*rows, strict=True)
    columns = {
        "url_surtkey": pa.array(urls), "url": pa.array(urls),
        "fetch_status": pa.array(statuses, pa.int16()),
        "content_languages": pa.array(languages, pa.string()),
    }  # fmt: skip
    pq.write_table(pa.table(columns), path)
    return path


def test_servers_of_common_crawls_index_by_pages_in_the_language(tmp_path: Path) -> None:
    path = index(
        tmp_path / "part-00000.gz.parquet",
        ("https://a.com/x/long", 200, "tha,eng"), ("https://a.com/x", 200, "tha"),
        ("https://a.com/", 200, "eng,tha"), ("http://b.co.th/", 200, "tha"),
        ("http://c.com/", 404, None), ("http://d.com/", 200, None), ("http://e.la/", 200, "lao"),
    )  # fmt: skip
    assert recognised(path) == "parquet"
    found, passed = read(path, "th", "lo")
    assert sorted(found) == [
        Candidate("http://b.co.th/", language="th"),
        Candidate("http://e.la/", language="lo"),
        Candidate("https://a.com/x", language="th", weight=2),
    ]
    assert passed == {"another language": 1, "status 404": 1, "language unknown": 1}


def test_any_parquet_with_urls(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"n": [1, 2], "Domain": ["a.com", None], "lang": ["th", "th"]}), path)
    assert read(path) == ([Candidate("http://a.com", language="th")], {"row without a URL": 1})
    pq.write_table(pa.table({"n": [1, 2]}), path)
    with pytest.raises(SeedError, match="has no column of URLs, only n"):
        read(path)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("table", b"a,b\nc,d\n"),
        ("json", b'{"a": '),
        ("json", b'{"a": 1}'),
        ("json", b"[" * 100_000),
        ("parquet", b"PAR1 and no more PAR1"),
        ("externallinks", b"CREATE TABLE `externallinks` (\n `x` int\n);"),
        ("list", gzip.compress(LIST.encode() * 99)[:-20]),
        ("list", b"\x1f\x8b and no more"),
        ("list", b"PK\3\4 and no more"),
        ("list", LIST.encode("utf-16")),
        ("sitemap", b"<urlset><url></urlset>"),
    ],
)
def test_what_is_damaged_or_something_else_is_refused(
    tmp_path: Path, name: str, data: bytes
) -> None:
    path = tmp_path / "given"
    path.write_bytes(data)
    with pytest.raises(SeedError):
        read(path, name=name)


@pytest.mark.parametrize(
    "data", [b"<?xml version='1.0'?><rss><p>a</p></rss>", b"<?xml version='1.0'?><a/>"]
)
def test_other_markup_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "given").write_bytes(data)
    with pytest.raises(SeedError, match="XML of an unknown kind"):
        recognised(tmp_path / "given")


@pytest.mark.parametrize("member", ["[Content_Types].xml", "mimetype"])
def test_a_spreadsheet_is_to_be_saved_as_csv(tmp_path: Path, member: str) -> None:
    with zipfile.ZipFile(tmp_path / "links.xlsx", "w") as archive:
        archive.writestr(member, "")
        archive.writestr("content.xml", "<a/>")
    with pytest.raises(SeedError, match="an office program: save it as CSV"):
        recognised(tmp_path / "links.xlsx")


def test_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SeedError, match="is a folder"):
        recognised(tmp_path)
    with pytest.raises(SeedError, match="can't read"):
        recognised(tmp_path / "missing")


@pytest.mark.parametrize("name", ["list", "table", "json", "externallinks", "sitemap", "warc"])
@given(data=st.binary(max_size=300))
def test_any_bytes_give_candidates_or_a_clear_error(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any"
    begin = {"externallinks": DUMP[:-60].encode(), "json": b'[{"url": "a.com"},', "warc": WARC}
    path.write_bytes(begin.get(name, b"http://a.com/,\n") + data)
    try:
        found, _ = read(path, name=name)
    except SeedError:
        return
    assert all(isinstance(candidate.url, str) for candidate in found)


ENDLESS = 40 << 20


@pytest.mark.parametrize(
    ("name", "begin", "reasons"),
    [
        ("list", b"http://a.com/\nhttp://", {"line too long": 1}),
        ("table", b"1,a.com\n2,b.com\n3,", {"line too long": 1}),
        ("externallinks", DUMP[:-30].encode() + b",(6,7,'http://", {"damaged row": 1}),
    ],
)
def test_a_bomb_of_one_line_is_passed_over(
    tmp_path: Path, name: str, begin: bytes, reasons: dict[str, int]
) -> None:
    path = tmp_path / "bomb.gz"
    begin = begin.replace(b";\nUNLOCK", b"") if name == "externallinks" else begin
    path.write_bytes(gzip.compress(begin + b"a" * ENDLESS, 1))
    found, passed = read(path, name=name)
    assert found
    assert passed == reasons


def test_after_a_damaged_row_the_next_statement_is_read(tmp_path: Path) -> None:
    path = tmp_path / "dump.sql"
    path.write_text(
        f"{DUMP[: DUMP.index('(5,10')]}(5,?,{'x' * 600_000});\n"
        "INSERT INTO `externallinks` VALUES (9,9,'http://com.last.','/');\n"
    )
    found, passed = read(path, name="externallinks")
    assert passed == {"damaged row": 1}
    assert found[-1] == Candidate("http://last.com/")


def test_a_quote_that_never_ends_costs_some_rows(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    rows = [f"http://s{number}.com/,title" for number in range(20_000)]
    rows[1] = 'http://s1.com/,"title'
    path.write_text("\n".join(["url,title", *rows]))
    found, passed = read(path)
    assert passed == {"damaged row": 1}
    assert len(found) > 20_000 - csv.field_size_limit() / 20
    assert found[-1].url == "http://s19999.com/"


@pytest.mark.parametrize(
    ("text", "url"),
    [
        (" <http://a.com/> ", "http://a.com/"),
        ("A.com", "http://A.com"),
        ("a.com:8080/x", "http://a.com:8080/x"),
        ("ไทย.com", "http://ไทย.com"),
        ("mailto:a@b.com", "mailto:a@b.com"),
        ("a@b.com", None),
        ("1", None),
        ("1.5", None),
        ("10.0.0.1", None),
        ("localhost", None),
        ("com", None),
        ("co.th", None),
        ("file.unknowntld", None),
        ("two words.com", None),
        ("", None),
    ],
)
def test_what_a_text_means(text: str, url: str | None) -> None:
    assert written_url(text) == url


@pytest.mark.parametrize(
    ("domain", "rest", "url"),
    [
        ("https://org.wikipedia.th.", "/wiki/ก", "https://th.wikipedia.org/wiki/ก"),
        ("//org.a.", "/", "https://a.org/"),
        ("http://V6.2001.db8.0.0.0.0.0.1.", "/", "http://[2001:db8:0:0:0:0:0:1]/"),
        ("http://com.a.:81", "", "http://a.com:81"),
        ("news:comp.lang", "", "news:comp.lang"),
    ],
)
def test_domain_indexes_are_turned_round(domain: str, rest: str, url: str) -> None:
    assert url_of(domain, rest) == url
