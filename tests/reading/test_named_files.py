"""Files that scripts name: found where they are asked for, not where they are names of modules."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lswc.reading.named_files import NAMED_FILES, in_attributes, in_manifest, in_script
from lswc.reading.requisites import GUESS, Place, RequisiteReader
from lswc.reading.scope import Scope

PAGE = "http://a.example/b/c.html"
SCRIPT = "http://a.example/app/js/main.js"
MANY = 600_000  # characters of a script that names nothing, or as much as it can

NAMED = {
    "a = 'data/x.json'": ["data/x.json"],
    'a = ["x/1.png", "x/2.JPG"]': ["x/1.png", "x/2.JPG"],
    "img.src = `/x.webp?v=1`": ["/x.webp?v=1"],
    r'{"logo":"https:\/\/h.example\/x.svg"}': ["https://h.example/x.svg"],
    """h = '<img src="x/y.gif">'""": ["x/y.gif"],
    'jsx("use", {href: `css/s.svg#${id}`})': ["css/s.svg"],
    'n.exports = r.p + "media/x.1a.png"': ["media/x.1a.png"],
    'img.src = "x.png"': ["x.png"],
    'x = {borderSrc: "x.png"}': ["x.png"],
    'navigator.serviceWorker.register("sw.js")': ["sw.js"],
    'fetch("/api/list.php?a=1")': ["/api/list.php?a=1"],
    '$.getJSON( "data/1", f)': ["data/1"],
    'importScripts("a.js"); x = {"/b.png": "hash", "c.png": 1}': ["a.js", "/b.png", "c.png"],
    # Names without a folder are in the one that is nearest.
    'd = "./m/"; c = "./m/c/"; load(c + one.file); x = [{file: "a.glb"}]': ["./m/c/a.glb"],
    'x = [{file: "a.glb"}]; d = "/m/"; ' + "y();" * 200 + 'c = "/m/c/"': ["/m/a.glb"],
    'd = "./m/";' + " " * 49_981 + 'x = {file: "a.glb"}': ["./m/a.glb"],
    'd = "./m/"; x = [' + "".join(f'"{n}.png",' for n in range(50)) + "]": [
        f"./m/{n}.png" for n in range(50)
    ],
    'd = "../s/"; x = [{src: "a.ogg"}]; load(x, d)': ["a.ogg", "../s/a.ogg"],
    # What compilers make lies beside their script.
    'file = "a.wasm"': ["a.wasm"],
    # A key that a call has, too.
    'load("i/a.png"); x["i/a.png"]': ["i/a.png"],
    'player.load("v/a.m3u8"); url = "v/a.mpd"': ["v/a.m3u8", "v/a.mpd"],
    # Without any folder, they are beside the page.
    'const filePath = "a.mp3"': ["a.mp3"],
    'd = "text/"; x = {file: "a.glb"}': ["a.glb"],
    # Names of folders.
    'const BASE = "../"; e.href = BASE + "s.css"': ["../s.css"],
    'o = {base: "/app"}; x = [`${base}/i/x.png`, `${base}i/y.png`]': ["/app/i/x.png"],
    # Nothing is asked for by these.
    'let b = "a/"; b = "c/"; e.src = b + "s.png"': [],
    'const b = "a/"; e.src = c + b + "s.png"; e.id = b + "t/" + x': [],
    'd = "./m/";' + " " * 49_982 + 'x = {file: "a.glb"}': [],
    'd = "./m/"; x = ["a.js", "b.json", "m/" + "c.png", y == "d.png"]': [],
    'd = "./m/"; x = [' + "".join(f'"{n}.png",' for n in range(51)) + "]": [],
    'n = x + "/y.png"': [],
    'n = `${x}/y.png`': [],
    'x.endsWith(".json") || x == "a/b.png"': [],
    'throw "see a/b.json for more"': [],
    "for x in a.json": [],
    '{"./af.js": 1, "./th.js": 2}': [],
    'o = require("./a.js")': [],
    'import x from "./a/b.js"; import("./c/d.js")': [],
    'd(x, "Core/A.js", [m["Core/B.js"]], f)': [],
    'dataLayer.push({event: "gtm.js"})': [],
    '"Node.js", "jquery.js"': [],
    'fetch("/a/" + x)': [],
    'x = ["a", "b"]; e.src = "i/" + x[n] + ".png"': [],
    'x["i/a.png"]': [],
    "e.src = `i/c-${n}/s.png`": [],
}  # fmt: skip


@pytest.mark.parametrize("script", NAMED)
def test_what_a_script_names(script: str) -> None:
    found = dict.fromkeys(named.reference for named in in_script(script))
    assert [*found] == NAMED[script]


def test_the_chunks_of_webpack() -> None:
    runtime = (
        'n.u=e=>"js/"+({1:"a"}[e]||e)+"."+{1:"f0",2:"f1"}[e]+".chunk.js",'
        'n.miniCssF=e=>"css/"+e+".css",n.p="/app/";'
        's.src=function(e){return n.p+""+({}[e]||e)+"."+{7:"aa"}[e]+".js"}(e)'
    )
    found = [named.reference for named in in_script(runtime)]
    assert found == ["js/a.f0.chunk.js", "js/2.f1.chunk.js", "7.aa.js"]
    # Where no name has a hash, those are known that have a name.
    named = 'n.u=e=>"js/"+({1:"a",2:"b"}[e]||e)+".chunk.js"'
    assert [one.reference for one in in_script(named)] == ["js/a.chunk.js", "js/b.chunk.js"]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ('x = "img/a.png"', "/b/img/a.png"),
        ('x = "app/a.png"', "/app/a.png"),
        ('x = "app/img/a.png"', "/app/img/a.png"),
        ('x = "js/a/b.png"', "/app/js/a/b.png"),
        ('x = r.p + "a/b.png"', "/app/js/a/b.png"),
        ('r.p = "../"; x = r.p + "a/b.png"', "/a/b.png"),
        ('n.u=e=>""+{7:"aa"}[e]+".js"', "/app/js/aa.js"),
        ('f("./a.js")', "/app/js/a.js"),
        ('new Worker("./a.js")', "/b/a.js"),
        ('caches.open("v1"); f(["./a.png"])', "/app/js/a.png"),
    ],
)
def test_where_a_name_leads(script: str, expected: str) -> None:
    reader = RequisiteReader(frozenset(), Scope(0, 0))
    needed = reader.read(script.encode(), "text/javascript", SCRIPT, 1, Place(PAGE))
    assert needed.requisites == (("http://a.example" + expected, GUESS),)


def test_a_bare_name_leads_where_the_pages_import_map_says() -> None:
    imports = ("lib/", "http://cdn.example/lib/"), ("lib/a.js", "http://a.example/x.js")
    place = Place(PAGE, imports)
    reader = RequisiteReader(frozenset(), Scope(0, 0))
    script = b'import "lib/a.js"; import {b} from "lib/b.js"; import "other"'
    needed = reader.read(script, "text/javascript", SCRIPT, 1, place)
    assert needed.requisites == (
        ("http://a.example/x.js", "script"), ("http://cdn.example/lib/b.js", "script"),
    )  # fmt: skip


def test_attributes_of_data() -> None:
    markup = (
        b"<a data-full='x/1.png' data-set='{\"a\": \"x/2.jpg\"}' "
        b'data-more="[&quot;x/3.png&quot;]" data-markdown="x.md" data-title="a.png and b">'
    )
    found = [named.reference for named in in_attributes(markup)]
    assert found == ["x/1.png", "x/2.jpg", "x/3.png", "x.md"]


def test_the_images_of_a_manifest() -> None:
    said = {
        "icons": [{"src": "1.png"}, {"src": 2}, 3],
        "screenshots": [{"src": "2.png"}],
        "shortcuts": [{"icons": [{"src": "3.png"}]}, "x"],
    }
    assert list(in_manifest(json.dumps(said))) == ["1.png", "2.png", "3.png"]
    for broken in ("", "[]", '{"icons": 1}', "[" * 100_000):
        assert list(in_manifest(broken)) == []
    reader = RequisiteReader(frozenset(), Scope(0, 0))
    needed = reader.read(json.dumps(said).encode(), "text/plain", PAGE, 1)
    assert next(one.url for one in needed.requisites) == "http://a.example/b/1.png"


@pytest.mark.usefixtures("brake")
@pytest.mark.parametrize(
    "unit",
    ['"a/b.png",', '".js"', '+"a.js"', '{1:"a"}[e]+', "a.p+", '{}[e]+".js"', '"', "{", "fetch('",
     "data-", 'data-x="a.png" ', 'data-x="[1.', r"\/", "`${a}.js`", '"/a/","b.png",',
     '"a/"+x+".png",', '["a","b"],', '"a/"+x', "`a/${"],
)  # fmt: skip
def test_a_hostile_script_takes_time_by_its_length(unit: str) -> None:
    text = unit * (MANY // len(unit))
    assert len(list(in_script(text))) <= 3 * NAMED_FILES
    assert len(list(in_attributes(text.encode()))) <= MANY


@given(st.text(alphabet="\"'`{}[]()+|:,.#?/\\ ajspn1\n", max_size=200))
def test_any_text_gives_an_answer(text: str) -> None:
    for named in (*in_script(text + '.js"'), *in_attributes(b"data-x='" + text.encode() + b"'")):
        assert named.reference
