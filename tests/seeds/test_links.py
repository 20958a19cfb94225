"""Links of documents, as people write them: what is a site, of which kind, and what is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.seeds.candidates import Asked, Candidate
from lswc.seeds.formats import FORMATS, recognised
from lswc.seeds.formats.links import of_lines
from lswc.seeds.headings import no_sites
from lswc.seeds.kinds import KINDS, of_heading, of_page

if TYPE_CHECKING:
    from collections import Counter
    from pathlib import Path

PAGE = """\
# Web Language: Example

Additional names:
- Cymraeg
-

News:
- https://newyddion.example/
- https://golwg.example/cy/ (weekly)
- [A paper](https://papur.example/)
-

Government:
- <https://llywodraeth.example/cy>
- www.senedd.example

## Culture / History

### Museums
- https://amgueddfa.example/(the national one)
- **https://llyfrau.example/a_(b)**.

Informative links (in English):
- https://en.example/about-welsh

Additional Information:
- ISO-639-3 code: cym
- https://en.wikipedia.org/wiki/ISO_639:cym

Thank you to these people who have helped create this document:
- [Somebody](https://somebody.example/)

## Instructions

See the [Welsh](../living/welsh.md) entry, https://example.com/catalan/ or
[the server](https://discord.gg/abc).

## License

<p>CC0 <a href="https://creativecommons.org/publicdomain/zero/1.0/">1.0</a></p>
"""
SITES = {
    "https://newyddion.example/": "News",
    "https://golwg.example/cy/": "News",
    "https://papur.example/": "News",
    "https://llywodraeth.example/cy": "Government",
    "http://www.senedd.example": "Government",
    "https://amgueddfa.example/": "Culture",
    "https://llyfrau.example/a_(b)": "Culture",
}
LEFT_OUT = {
    "no site: informative links": 2,
    "no site: thanks": 1,
    "no site: instructions": 2,
    "no site: a licence": 1,
}


def found(text: str, *codes: str) -> tuple[list[str], Counter[str]]:
    """Return the links of a text, and what was left out."""
    asked = Asked(codes)
    return [one.url for one in of_lines(text.splitlines(keepends=True), asked)], asked.passed


def test_a_page_of_a_language_has_its_sites_with_their_kinds_and_no_others() -> None:
    asked = Asked(("cy",))
    candidates = list(of_lines(PAGE.splitlines(keepends=True), asked))
    assert {one.url: one.kind for one in candidates} == SITES
    assert asked.passed == LEFT_OUT


def test_the_same_as_html(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(
        "<!DOCTYPE html><title>x</title><h2>News</h2><ul><li><a href='https://a.example/'>A</a>"
        "<li><A HREF=//b.example/>B</a></ul><h2>Informative links</h2><a href='https://c.example/'>"
        "c</a><h2>Blogs</h2><img src=https://d.example/x.png><a href='/about'>x</a>"
        "<a href='https://e.example/'><img src=x></a><h3>License</h3>"
        "<a href='https://creativecommons.org/'>CC</a>"
    )
    asked = Asked()
    assert recognised(tmp_path / "page.html") == "html"
    candidates = list(FORMATS["html"](tmp_path / "page.html", asked))
    assert [(one.url, one.kind) for one in candidates] == [
        ("https://a.example/", "News"), ("http://b.example/", "News"),
        ("https://e.example/", "Blogs"),
    ]  # fmt: skip
    assert asked.passed == {"no site: informative links": 1, "no site: a licence": 1}


@pytest.mark.parametrize(
    ("line", "url"),
    [
        ("- https://a.com/", "https://a.com/"),
        ("* <https://a.com/x?y=1&z=2>", "https://a.com/x?y=1&z=2"),
        ("1. HTTPS://A.COM/X, and more", "HTTPS://A.COM/X"),
        ("see https://a.com/x.", "https://a.com/x"),
        ("(https://a.com/x)", "https://a.com/x"),
        ("https://a.com/x/(Ministry of Foreign Affairs)", "https://a.com/x/"),
        ("https://cy.wikipedia.org/wiki/A_(b)", "https://cy.wikipedia.org/wiki/A_(b)"),
        ("[a](<https://a.com/x> 'title')", "https://a.com/x"),
        ("[a](https://a.com/x \"title\")", "https://a.com/x"),
        ("[a]: https://a.com/x", "https://a.com/x"),
        ("| News | https://a.com/ | weekly |", "https://a.com/"),
        ("<a class=x href = 'https://a.com/x'>a</a>", "https://a.com/x"),
        ("- golwg.cymru (wythnosol)", "http://golwg.cymru"),
        ("golwg.cymru - wythnosol", "http://golwg.cymru"),
        ("<golwg.cymru/cy>", "http://golwg.cymru/cy"),
        ("- a.com:8080/x", "http://a.com:8080/x"),
        ("Ask at www.golwg.cymru.", "http://www.golwg.cymru"),
        ("- https://ไทย.ไทย/ข่าว。", "https://ไทย.ไทย/ข่าว"),
        ("\u2022 https://a.com/\u200b", "https://a.com/"),
    ],
)  # fmt: skip
def test_each_way_to_write_a_link(line: str, url: str) -> None:
    urls, _ = found(line)
    assert [one.replace("\u200b", "") for one in urls] == [url]


@pytest.mark.parametrize(
    "line",
    [
        "![a picture](https://a.com/x.png)", "<img src='https://a.com/x.png'>",
        "somebody@a.com", "- Somebody <me@www.a.com>", "[me](mailto:me@a.com)",
        "[me](me@a.com)", "[Basque](basque.md)", "[up](../README.md)", "[x](#top)",
        "<!-- - https://a.com/ -->", "e.g. this and that", "version 1.2.3 of it",
        "Informative (in English): https://a.com/", "CONTRIBUTING.md says more",
        "- [discord](https://commoncrawl.org/x)", "- https://en.wikipedia.org/wiki/Welsh",
    ],
)  # fmt: skip
def test_what_is_no_site(line: str) -> None:
    assert found(line)[0] == []


def test_a_comment_hides_links_over_several_lines() -> None:
    text = "<!-- https://a.com/\nhttps://b.com/ --> https://c.com/ <!-- x\n-->\nhttps://d.com/\n"
    assert found(text)[0] == ["https://c.com/", "https://d.com/"]


def test_a_heading_holds_till_the_next_of_its_level() -> None:
    text = (
        "Further reading\n===============\n### News\n- https://a.com/\n\nSites\n=====\n"
        "- https://b.com/\n**Thanks**\n- https://c.com/\n## Blogs\n- https://d.com/\n"
    )
    urls, passed = found(text)
    assert urls == ["https://b.com/", "https://d.com/"]
    assert passed == {"no site: informative links": 1, "no site: thanks": 1}


def test_english_is_no_language_to_leave_out_if_it_is_asked_for() -> None:
    assert found("- https://en.wikipedia.org/", "en")[0] == ["https://en.wikipedia.org/"]


HOSTILE = (
    "https://a.com/" + "x" * 10_000, "[" * 30_000, "![" * 30_000, "<a href=" * 8_000,
    "<!--" * 10_000, "(" * 60_000, "www." * 15_000, "a" * 60_000 + "@", "# " * 30_000,
    "\u202ehttps://a.com/\x00\x07<script>", "https://[::1", "http://\ud800.com/", "**" * 30_000,
)  # fmt: skip


@pytest.mark.parametrize("line", HOSTILE)
def test_a_hostile_line_is_read_in_time_that_only_grows_with_it(line: str) -> None:
    for one in list(of_lines([f"{line}\n"] * 3, Asked())):
        assert isinstance(one, Candidate)


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    for one in of_lines(text.splitlines(keepends=True), Asked()):
        assert one.kind in ("", *KINDS)


@pytest.mark.parametrize(
    ("text", "format_"),
    [
        (PAGE, "web-languages"),
        (PAGE.replace("# Web Language: ", "# "), "links"),
        ("https://a.com/\nhttps://b.com/\n", "list"),
        ("# mine\nhttps://a.com/\nb.com\n", "list"),
        ("https://a.com/ news\nhttps://b.com/ a paper\n", "links"),
        ("<https://a.com/>\n<https://b.com/>\n", "links"),
        ("1,a.com\n2,b.com\n", "table"),
        ("url,title\nhttps://a.com/,A paper\n", "table"),
        ("https://a.com/\tA - B\n", "table"),
        ("- https://a.com/, weekly, daily\n- https://b.com/, monthly, daily\n", "links"),
        ("*.a.co.th\nb.co.th\n", "certificates"),
        ('[{"name_value": "a.th\\n*.a.th"}]', "certificates"),
        ('[{"url": "https://a.com/"}]', "json"),
        (" CDX N b a m s k r M S V g\n", "cdx"),
        ("com,a)/ 20200101000000 https://a.com/ text/html 200 AAA 1\n", "cdx"),
        ('com,a)/ 20200101000000 {"url": "https://a.com/"}\n', "cdx"),
        ("<?xml version='1.0'?><opml version='2.0'/>", "opml"),
        ("<?xml version='1.0'?><sparql xmlns='x'/>", "sparql"),
        ("<ul><li><a href='https://a.com/'>a</a></ul>", "html"),
        ("<p align=center><img src=x></p>\n\n# List\n- [a](https://a.com/)\n", "links"),
    ],
)  # fmt: skip
def test_a_format_is_recognised_by_what_is_in_it(tmp_path: Path, text: str, format_: str) -> None:
    (tmp_path / "given").write_text(text, "utf-8")
    assert recognised(tmp_path / "given") == format_


def test_kinds_by_heading_host_and_what_a_page_declares() -> None:
    headings = {"Newspapers": "News", "Political Parties": "Society", "Overseas Welsh": "Diaspora",
                "Universities:": "Education", "Other": ""}  # fmt: skip
    assert {text: of_heading(text) for text in headings} == headings
    assert of_page("www.moe.go.th", "") == "Government"
    assert of_page("chula.ac.th", "") == "Education"
    assert of_page("x.blogspot.com", "") == "Blogs"
    assert of_page("a.com", '{"@context":1, "@type": ["NewsMediaOrganization"]}') == "News"
    assert of_page("a.com", '<meta name="generator" content="phpBB 3">') == "Forums"
    assert of_page("a.com", "") == ""
    assert no_sites("Licence of this page") == "a licence"
    assert no_sites("News") == ""
