"""Licence of a page, told from those of what is in it."""

from __future__ import annotations

import pytest

from lswc.reading.main_text.paragraphs import read

BY = "https://creativecommons.org/licenses/by/4.0/"
OTHER = "https://creativecommons.org/licenses/by-sa/4.0/"


@pytest.mark.parametrize(
    ("markup", "licence"),
    [
        (f"<p>text <a href='{BY}'>CC BY</a></p>", BY),
        (f"<link rel=license href='{BY}'><p>all rights reserved</p>", BY),
        (f"<p><a rel=license href='{BY}'>x</a> <a href='{OTHER}'>y</a></p>", BY),
        (f"<p><a href='{BY}'>x</a> <a href='{BY}deed.th'>y</a></p>", BY),
        (f"<p><a href='{BY}'>x</a> <a href='{OTHER}'>y</a></p>", None),
        (f"<p><a rel=license href='{BY}'>x</a> <a rel=license href='{OTHER}'>y</a></p>", None),
        (f"<p><a href='{BY}'>CC BY</a></p><p>All Rights Reserved.</p>", None),
        (f"<p><a href='{BY}'>CC BY</a></p><p>สงวนลิขสิทธิ์ 2025</p>", None),
        (f"<p>ภาพโดย <a href='{BY}'>CC BY</a></p>", None),
        (f"<p>写真: <b>x</b> <a href='{BY}'>CC BY</a></p>", None),
        (f"<figure><img src=x><small><a rel=license href='{BY}'>x</a></small></figure>", None),
        (f"<div class='wp-caption-text'><a href='{BY}'>CC BY</a></div>", None),
        ("<a rel=license href='http://['>x</a>", None),
    ],
)
def test_a_licence_is_the_page_s_own_and_the_only_one(markup: str, licence: str | None) -> None:
    found = read(markup, "http://a.example/").licence
    assert (found and found.url) == licence


LD = "<script type='application/ld+json'>%s</script>"


@pytest.mark.parametrize(
    ("markup", "stood"),
    [
        (f"<footer><a rel=license href='{BY}'>x</a></footer>", "rel=license in footer"),
        (f"<head><link rel=license href='{BY}'></head>", "rel=license in head"),
        (f"<main><p>x <a href='{BY}'>y</a></main>", "link in main"),
        (LD % f'{{"@graph": [{{"@type": "Article", "license": "{BY}"}}]}}', "json-ld"),
        (LD % f'{{"license": {{"@id": "{BY}"}}}}', "json-ld"),
        (LD % f'{{"image": {{"license": "{BY}"}}}}', None),
        (LD % f'{{"@type": ["ImageObject"], "license": "{BY}"}}', None),
        (LD % '{"license": "all rights reserved", "@graph": 3}', None),
        (LD % f'{{"license": "{OTHER}"}}' + f"<a rel=license href='{BY}'>x</a>", None),
    ],
)
def test_it_is_said_where_a_licence_stood(markup: str, stood: str | None) -> None:
    found = read(markup, "http://a.example/").licence
    assert (found and found.stood) == stood


@pytest.mark.parametrize(
    "markup",
    [
        "<a rel=license href='javascript:alert(1)'>x</a>",
        "<a rel=license href='data:text/html,x'>x</a>",
        "<script>document.write('<a rel=license href=https://creativecommons.org/licenses/by/4.0/>')"
        "</script>",
    ],
)
def test_what_only_a_script_says_is_no_licence(markup: str) -> None:
    assert read(f"<p>a</p>{markup}", "https://a.example/").licence is None
