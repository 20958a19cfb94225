"""Modules of RequireJS and Dojo that scripts name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.reading.amd_modules import named
from lswc.reading.named_files import in_script
from lswc.reading.requisites import GUESS, of_page


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ('define(["app/list", "./item", "require"], function() {})',
         [("app/list.js", True), ("./item.js", True)]),
        ("require(['app/main'])", [("app/main.js", True)]),
        ("require(['main'])", [("main.js", True)]),
        ('define(["jquery"], f)', []),
        ('define("own/a", ["own/b"], f); define("own/b", [], f)', []),
        ('require.config({baseUrl: "js/lib", paths: {app: "../app", jquery: "jq/jquery-3"}});'
         'require(["jquery", "app/main"])',
         [("js/lib/jq/jquery-3.js", False), ("js/lib/../app/main.js", False)]),
        ('define(["text!views/a.html", "dojo/text!./b.html", "dojo/domReady!", "i18n!nls/x"], f)',
         [("views/a.html", True), ("./b.html", True)]),
        ('require({packages: [{name: "my", location: "/static/my"}]}, []); require(["my/widget"])',
         [("/static/my/widget.js", False)]),
        ('require(["https://cdn.example/x.js", "/y"])',
         [("https://cdn.example/x.js", False), ("/y.js", False)]),
        ("x.define(['a/b']); undefined(['a/b'])", []),
    ],
)  # fmt: skip
def test_names_are_files(text: str, files: list[tuple[str, bool]]) -> None:
    assert list(named(text)) == files
    assert {one.reference for one in in_script(text)} >= {file for file, _ in files}


@given(st.text(alphabet="define(rqu[\"',./!:{}ab])\\ pathsUrl", max_size=300))
def test_whatever_a_script_says_it_is_read(text: str) -> None:
    list(named(f"define([{text}]); require.config({{paths: {{{text}}}}})"))


def test_templates_and_imports_of_html_name_files() -> None:
    markup = (
        "<link rel=import href=element.html><template><img src=in.png><img src='{{x}}.png'>"
        "</template><script type=text/x-template><p><img src=/late.png><img src=<%= y %>>"
        "</script><img src=seen.png>"
    )
    found = {one.url: one.kind for one in of_page(markup.encode(), "http://a.example/d/")}
    base = "http://a.example"
    assert found == {
        f"{base}/d/element.html": "frame", f"{base}/d/in.png": GUESS, f"{base}/late.png": GUESS,
        f"{base}/d/seen.png": "image",
    }  # fmt: skip
