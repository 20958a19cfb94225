"""Seeds from web directories and sitemaps."""

from __future__ import annotations

import gzip
from collections import Counter
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.seeds.candidates import Asked, Candidate, SeedError
from lswc.seeds.formats.markup import read_rdf, read_sitemap

if TYPE_CHECKING:
    from pathlib import Path


def rdf(path: Path) -> list[Candidate]:
    return list(read_rdf(path, Asked()))


HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<RDF xmlns:r="http://www.w3.org/TR/RDF/" xmlns:d="http://purl.org/dc/elements/1.0/"
 xmlns="http://dmoz.org/rdf/">
"""
TOPIC = (
    '<Topic r:id="Top/World/Thai"><catid>1</catid><link r:resource="http://l.example/"/></Topic>'
)


def entry(url: str, title: str = "", description: str = "") -> str:
    return (
        f"<ExternalPage about={quoteattr(url)}>\n <d:Title>{escape(title)}</d:Title>\n"
        f" <d:Description>{escape(description)}</d:Description>\n <topic>Top/World</topic>\n"
        "</ExternalPage>\n"
    )


def dump(path: Path, *parts: str | bytes) -> Path:
    data = b"".join(p if isinstance(p, bytes) else p.encode() for p in (HEAD, *parts, "</RDF>\n"))
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("name", ["content.rdf.u8", "content.rdf.u8.gz"])
def test_pages_of_a_directory(tmp_path: Path, name: str) -> None:
    path = dump(
        tmp_path / name,
        TOPIC,
        entry("http://www.a.co.th/?x=1&y=2", "ข่าว & เพลง", "ภาษาไทย <b>"),
        entry("http://www.b.com/"),
    )
    assert rdf(path) == [
        Candidate("http://www.a.co.th/?x=1&y=2", "ข่าว & เพลง ภาษาไทย <b>"),
        Candidate("http://www.b.com/", ""),
    ]


def test_faults_of_real_dumps_are_mended(tmp_path: Path) -> None:
    path = dump(
        tmp_path / "dump.rdf",
        b'<ExternalPage about="http://www.a.com/?a=1&b=2">\x01\x0b<d:Title>\xff AT&T &#3585; '
        b"&eacute;</d:Title></ExternalPage>",
    )
    (found,) = rdf(path)
    assert found == Candidate("http://www.a.com/?a=1&b=2", "\N{REPLACEMENT CHARACTER} AT&T ก é")


def test_a_dump_in_one_line_loses_nothing(tmp_path: Path) -> None:
    parts = [entry(f"http://www.s{i}.com/?a=1&b={i}", "R&D " * i).replace("\n", "")
             for i in range(300)]  # fmt: skip
    path = dump(tmp_path / "dump.rdf", *parts)
    found = rdf(path)
    assert [c.url for c in found] == [f"http://www.s{i}.com/?a=1&b={i}" for i in range(300)]
    assert all(set(c.text.split()) <= {"R&D"} for c in found)


BOMB = """<?xml version="1.0"?><!DOCTYPE RDF [<!ENTITY a "aaaaaaaaaa">
<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]><RDF>&b;</RDF>"""
FILE = '<!DOCTYPE RDF [<!ENTITY x SYSTEM "file:///etc/passwd">]><RDF>&x;</RDF>'


@pytest.mark.parametrize("text", [BOMB, FILE])
def test_entities_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "dump.rdf"
    path.write_text(text)
    with pytest.raises(SeedError, match="entities"):
        rdf(path)


@pytest.mark.parametrize("data", [b"", b"not xml", HEAD.encode(), b"<RDF></Topic>"])
def test_what_is_no_directory_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "dump.rdf"
    path.write_bytes(data)
    with pytest.raises(SeedError, match="isn't the RDF"):
        rdf(path)


def test_a_torn_gzip_is_refused(tmp_path: Path) -> None:
    path = dump(tmp_path / "dump.rdf.gz", entry("http://www.a.com/", "x"))
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(SeedError, match="can't read"):
        rdf(path)


@given(st.binary(max_size=300))
def test_any_bytes_in_a_dump_give_candidates_or_a_clear_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.rdf"
    path.write_bytes(HEAD.encode() + data)
    with pytest.raises(SeedError):
        rdf(path)


SITEMAP = """<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
 xmlns:xhtml="http://www.w3.org/1999/xhtml">
 <url><loc> http://a.co.th/?x=1&amp;y=2 </loc><lastmod>2026-01-01</lastmod></url>
 <url><loc><![CDATA[http://b.com/en]]></loc>
  <xhtml:link rel="alternate" hreflang="th-TH" href="http://b.com/th"/>
  <xhtml:link rel="alternate" hreflang="x-default" href="http://b.com/"/></url>
</urlset>"""
INDEX = """<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<sitemap><loc>http://a.co.th/1.xml.gz</loc></sitemap></sitemapindex>"""


@pytest.mark.parametrize("name", ["sitemap.xml", "sitemap.xml.gz"])
def test_pages_of_a_sitemap_and_their_other_languages(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(SITEMAP.encode()) if name.endswith("gz") else SITEMAP.encode())
    assert list(read_sitemap(path, Asked())) == [
        Candidate("http://a.co.th/?x=1&y=2"),
        Candidate("http://b.com/en"),
        Candidate("http://b.com/th", language="th"),
        Candidate("http://b.com/"),
    ]


def test_an_index_of_sitemaps_names_no_page(tmp_path: Path) -> None:
    path, asked = tmp_path / "sitemap.xml", Asked()
    path.write_text(INDEX)
    assert list(read_sitemap(path, asked)) == []
    assert asked.passed == Counter({"another sitemap, not a page": 1})


@pytest.mark.parametrize("text", [BOMB, FILE])
def test_entities_of_a_sitemap_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "sitemap.xml"
    path.write_text(text)
    with pytest.raises(SeedError, match="entities"):
        list(read_sitemap(path, Asked()))


@pytest.mark.parametrize("begin", ["<urlset a='", "<urlset><", "<urlset><!--"])
def test_an_endless_tag_is_refused(tmp_path: Path, begin: str) -> None:
    path = tmp_path / "sitemap.xml"
    path.write_text(begin + "a" * (8 << 20))
    with pytest.raises(SeedError, match="a tag without end"):
        list(read_sitemap(path, Asked()))
