"""Modules of RequireJS and Dojo that scripts name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.language.base_url import Base
from lswc.language.document import Document
from lswc.reading.amd_modules import Config, configured, named
from lswc.reading.requisites import GUESS, Needed, Place, Requisite, RequisiteReader, of_page
from lswc.reading.scope import Scope
from lswc.strategy import PageLanguage
from tests.scenarios.site import THAI

READER = RequisiteReader(frozenset({PageLanguage.TARGET}), Scope(0, 0))


OWN, PAGE = "http://a.example/js/own/x.js", "http://a.example/p/"


@pytest.mark.parametrize(
    ("text", "files"),
    [
        ('define(["app/list", "./item", "require"], function() {})',
         ["js/own/app/list.js", "js/own/item.js"]),
        ("require(['app/main'])", ["js/own/app/main.js"]),
        ("require(['main'])", ["js/own/main.js"]),
        ('define(["jquery"], f)', []),
        ('define("own/a", ["own/b", "./b", "../out/c"], f); define("own/b", [], f)',
         ["js/own/out/c.js"]),
        ('{"d/a":function(){ define(["./b", "../d/c"], f)}, "d/b":function(){}}',
         ["js/own/d/c.js"]),
        ('require.config({baseUrl: "js/lib", paths: {app: "../app", jquery: "jq/jquery-3"}});'
         'require(["jquery", "app/main"])', ["p/js/lib/jq/jquery-3.js", "p/js/app/main.js"]),
        ('require.config({baseUrl: x.y("d/") !== -1 ? "../ui" : "../../ui", paths: {q: "../e/q"}})',
         ["e/q.js"]),
        ('requirejs.config({paths: {a: "../m/a"}, deps: ["first"]})', ["p/first.js", "m/a.js"]),
        ('define(["text!views/a.html", "dojo/text!./b.html", "dojo/domReady!", "my/has!x"], f)',
         ["js/own/views/a.html", "js/own/text.js", "js/own/b.html", "js/own/dojo/text.js",
          "js/own/my/has.js"]),
        ('require({packages: [{name: "my", location: "/static/my"}]}, []); require(["my/widget"])',
         ["static/my/widget.js"]),
        ('require(["https://cdn.example/x.js", "/y"])', ["https://cdn.example/x.js", "y.js"]),
        ('define(function (require) { require("./a"); require("b/c"); require(x) })',
         ["js/own/a.js", "js/own/b/c.js"]),
        ('module.exports = require("fs")', []),
        ("x.define(['a/b']); undefined(['a/b'])", []),
    ],
)  # fmt: skip
def test_names_are_files(text: str, files: list[str]) -> None:
    config = configured(text, Config(), Base(PAGE))
    found = named(text, Base(OWN), config)
    assert [url.removeprefix("http://a.example/") for url in found] == files


def test_a_loaders_own_folders_are_nobodys() -> None:
    loader = "var requirejs, require; cfg = {baseUrl: './', paths: {a: 'b/c'}}; req.config = f"
    assert configured(loader, Config("http://a.example/js/"), Base(PAGE)).paths == ()


def read(url: str, text: str, place: Place | None) -> Needed:
    return READER.read(text.encode(), "text/javascript", url, 1, place)


def test_where_modules_are_one_script_says_for_all_of_its_page() -> None:
    markup = f"<p>{THAI}</p><script src=require.js data-main=js/main></script>".encode()
    document = Document(markup, "text/html; charset=utf-8", PAGE)
    page = READER.of_page(document, PageLanguage.TARGET)
    js = f"{PAGE}js"
    assert Requisite(f"{js}/main.js", GUESS) in page.requisites
    main = read(f"{js}/main.js", "require(['./common'], () => require(['app/a']))", page.place)
    assert [one.url for one in main.requisites] == [f"{js}/common.js", f"{js}/app/a.js"]
    assert main.place is None
    common = "requirejs.config({baseUrl: 'lib', paths: {views: '../views'}})"
    place = read(f"{js}/common.js", common, page.place).place
    later = read(f"{js}/app/a.js", "define(['views/b', 'jquery/x', './c'], f)", place)
    assert [one.url for one in later.requisites] == [
        f"{PAGE}views/b.js", f"{PAGE}lib/jquery/x.js", f"{js}/app/c.js",
    ]  # fmt: skip


def test_dojo_says_in_attributes_where_its_modules_are_and_which_are_shown() -> None:
    markup = (
        "<script src=dojo.js data-dojo-config=\"packages: [{name: 'todo', location: 'js/todo'}]\">"
        f"</script><p data-dojo-type='todo/List'>{THAI}</p><p data-dojo-type=dijit.Old>"
    ).encode()
    document = Document(markup, "text/html; charset=utf-8", PAGE)
    found = READER.of_page(document, PageLanguage.TARGET).requisites
    assert [one.url for one in found if one.kind == GUESS] == [
        f"{PAGE}js/todo/List.js", "http://a.example/favicon.ico",
    ]  # fmt: skip


@given(st.text(alphabet="define(rqu[\"',./!:{}ab])\\ pathsUrl", max_size=300))
def test_whatever_a_script_says_it_is_read(text: str) -> None:
    said = f"define([{text}]); require.config({{paths: {{{text}}}}})"
    list(named(said, Base(OWN), configured(said, Config("", (("a", "b/"),)), Base(PAGE))))


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
