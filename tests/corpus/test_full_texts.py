"""Texts that a WACZ file is searched by: what each archived page says, be it HTML or a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lswc.archive.warc_writer import IDENTICAL
from lswc.corpus.full_texts import texts
from tests.archive.wire import record, response
from tests.corpus.test_stored_pages import crawl, page
from tests.reading.made import pdf
from tests.scenarios.site import THAI

if TYPE_CHECKING:
    from pathlib import Path

URL = "http://a.example/{}".format


def test_each_page_says_what_it_does_and_a_copy_nothing(tmp_path: Path) -> None:
    said = THAI.strip()
    document = response(pdf([["in a document"]]))
    fields = b"outcome: document\r\nkind: pdf\r\n"
    older = b"outcome: html\r\nencoding: utf-8\r\n"  # of a crawl that fetched HTML alone
    html = response(f"<p>{THAI}</p>".encode())
    pages = [
        page("a", html),
        page("b", response(b""), "revisit", WARC_Profile=IDENTICAL),
        [record(URL("c"), document), record(URL("c"), fields, "metadata")],
        [record(URL("d"), html), record(URL("d"), older, "metadata")],
        page("a", html, about="visit: 2\r\nchange: changed\r\n"),
    ]
    assert list(texts(crawl(tmp_path / "crawl", pages))) == [
        (URL("a"), 1, said), (URL("c"), 1, "in a document"), (URL("d"), 1, said),
        (URL("a"), 2, said),
    ]  # fmt: skip


def test_a_crawl_that_archived_nothing_has_no_texts(tmp_path: Path) -> None:
    assert list(texts(tmp_path)) == []
