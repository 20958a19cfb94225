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
    assert read(markup, "http://a.example/").licence == licence
