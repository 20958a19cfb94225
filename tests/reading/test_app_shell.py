"""Which pages are empty until their scripts run."""

from __future__ import annotations

import pytest

from lswc.language.document import Document
from lswc.reading.app_shell import MAX_TEXT, is_shell, lacks_list
from tests.reading.test_page import page
from tests.scenarios.site import THAI

HEAD = '<!doctype html><html><head><meta charset="utf-8"><title>ข่าว</title>'
BUNDLE = '<script defer src="/static/js/main.3f2a.js"></script>'
SHELLS = {
    "React": f"{HEAD}{BUNDLE}</head><body><noscript>You need to enable JavaScript to run this app."
    '</noscript><div id="root"></div></body></html>',
    "React by Vite": f'{HEAD}<script type="module" crossorigin src="/assets/index.js"></script>'
    '</head><body><div id="root"></div></body></html>',
    "Vue": f"{HEAD}{BUNDLE}</head><body><noscript><strong>We're sorry but app doesn't work properly"
    " without JavaScript enabled. Please enable it to continue.</strong></noscript>"
    '<div id="app"></div></body></html>',
    "Angular": f'{HEAD}<base href="/"></head><body><app-root><p>Loading...</p></app-root>'
    '<script src="runtime.js" type="module"></script></body></html>',
    "AngularJS": f'{HEAD}</head><body ng-app="news"><div ng-view></div>{BUNDLE}</body></html>',
    "Next without its server": f'{HEAD}<noscript data-n-css=""></noscript>{BUNDLE}</head><body>'
    '<div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{}</script></body>',
    "Nuxt without its server": f'{HEAD}</head><body><div id="__nuxt"></div>'
    '<script type="module" src="/_nuxt/entry.js"></script><script>window.__NUXT__={}</script>',
    "Svelte": f'{HEAD}</head><body data-sveltekit-preload-data="hover"><div style="display: '
    'contents"><script>{ __sveltekit_1 = {}; Promise.all([import("/_app/immutable/start.js")])}'
    "</script></div></body></html>",
    "document.write": f"{HEAD}</head><body><script>document.write('<p>' + text)</script></body>",
    "a plea in the head": f"{HEAD}<noscript>Please turn on JavaScript.</noscript>{BUNDLE}</head>"
    "<body><my-app></my-app></body></html>",
    "in Thai": f"{HEAD}</head><body><noscript>กรุณาเปิดใช้งาน JavaScript</noscript>"
    f'<div class="wrap"></div>{BUNDLE}</body></html>',
}
OTHERS = {
    "Next, rendered by its server": f'{HEAD}{BUNDLE}</head><body><div id="__next"><p>{THAI * 5}</p>'
    "</div></body></html>",
    "Nuxt, rendered by its server": f'{HEAD}{BUNDLE}</head><body><div id="__nuxt">{THAI * 5}</div>',
    "text, and a plea": f"{HEAD}{BUNDLE}</head><body><noscript>Please enable JavaScript</noscript>"
    f"<p>{THAI * 5}</p></body></html>",
    "no script": f'{HEAD}</head><body><div id="root"></div></body></html>',
    "little text": f"{HEAD}{BUNDLE}</head><body><h1>404</h1><p>ไม่พบหน้านี้</p></body></html>",
    "no text": f"{HEAD}{BUNDLE}</head><body></body></html>",
    "a refresh": f'{HEAD}<meta http-equiv="Refresh" content="0;url=/th/">{BUNDLE}</head><body>'
    '<noscript>Enable JavaScript</noscript><div id="app"></div></body></html>',
    "a redirect": f"{HEAD}</head><body><script>document.write(''); location.href = '/th/'</script>",
    "a login": f'{HEAD}{BUNDLE}</head><body><div id="app"><form action="/login"><input name="user">'
    '<input type="password"></form></div></body></html>',
    "frames": f'{HEAD}{BUNDLE}</head><frameset><frame src="/a"></frameset></html>',
    "a menu": f'{HEAD}{BUNDLE}</head><body><div id="app"></div><a href="/1">1</a><a href="/2">2</a>'
    '<a href="/3">3</a><a href="/4">4</a></body></html>',
    "pictures": f'{HEAD}{BUNDLE}</head><body><div id="root"></div>{"<img src=/a.jpg>" * 4}</body>',
    "a counter": f'{HEAD}<script src="/gtm.js"></script></head><body><noscript><iframe '
    'src="https://www.googletagmanager.com/ns.html"></iframe></noscript><p>สวัสดี</p></body>',
    "parked": f"{HEAD}</head><body><script>window.onload=function(){{window.location.href='/l'}}"
    "</script></body></html>",
}


def told(source: str) -> bool:
    document = Document(source.encode(), "text/html; charset=utf-8", "https://a.example/")
    text = len(document.page.content) + len(document.page.anchors)
    return text <= 2 * MAX_TEXT and is_shell(document)


@pytest.mark.parametrize("source", SHELLS.values(), ids=SHELLS)
def test_a_page_that_scripts_fill_is_a_shell(source: str) -> None:
    assert told(source)


@pytest.mark.parametrize(
    ("fits", "unit", "place"),
    [
        (3, '<a href="/1"></a>', ""),
        (3, "<img src=/a.jpg>", ""),
        (MAX_TEXT, "x", ""),
        (MAX_TEXT, "x", "root"),
    ],
)
def test_so_much_a_shell_may_have_and_no_more(fits: int, unit: str, place: str) -> None:
    for number, is_one in ((fits, True), (fits + 1, False)):
        has = unit * number
        inside, beside = (has, "") if place else ("", has)
        body = f'<div id="root">{inside}</div>{beside}'
        assert told(f"{HEAD}{BUNDLE}</head><body>{body}</body></html>") is is_one, number


@pytest.mark.parametrize("source", OTHERS.values(), ids=OTHERS)
def test_a_page_that_can_be_read_or_leads_on_is_none(source: str) -> None:
    assert not told(source)


FETCHES = "fetch('/list.json').then(r => r.json()).then(show)"
LISTS = {
    f'<ul id="list"></ul><script>{FETCHES}; f("#list")</script>': True,
    f"<table><tbody class=x id=rows>\n</tbody></table><script>$('#rows li'); {FETCHES}</script>":
        True,
    '<div id="news"></div><script>a = $("#news"); $.getJSON("/x", g)</script>': True,
    # What isn't empty, is nobody's, or is filled with what is there.
    f'<ul id="list"><li>x</ul><script>{FETCHES}; f("#list")</script>': False,
    f'<ul id="list"></ul><script>{FETCHES}; f("#other")</script>': False,
    '<ul id="list"></ul><script>f("#list")</script>': False,
    f'<ul id="list"></ul><script src="/a.js"></script><p>{FETCHES} "#list"</p>': False,
}  # fmt: skip


@pytest.mark.parametrize(("source", "lacks"), LISTS.items())
def test_a_page_with_text_may_lack_its_list(source: str, lacks: bool) -> None:
    html = f"{HEAD}<body><p>{THAI * 9}</p>{source}"
    document = Document(html.encode(), "text/html; charset=utf-8", "https://a.example/")
    assert lacks_list(document) is lacks


@pytest.mark.parametrize(("before", "lacks"), [(49, True), (50, False)])
def test_so_many_empty_elements_are_looked_at(before: int, lacks: bool) -> None:
    others = "".join(f'<div id="d{number}"></div>' for number in range(before))
    html = f'<p>{THAI}</p>{others}<ul id="list"></ul><script>{FETCHES}; f("#list")</script>'
    assert lacks_list(Document(html.encode(), "text/html", "https://a.example/")) is lacks


@pytest.mark.usefixtures("brake")
def test_empty_lists_without_end_take_no_time() -> None:
    for unit in ("<ul id=a></ul>", "<ul id=a " + "x " * 90 + ">", "<ul ", "fetch(<div id=a>"):
        html = f"<script>fetch('x')</script>{unit * (250_000 // len(unit))}"
        document = Document(html.encode(), "text/html", "https://a.example/")
        assert not lacks_list(document)


@pytest.mark.usefixtures("brake")
def test_what_would_hold_the_reader_is_none() -> None:
    shell = SHELLS["React"]
    assert told(shell.replace("</body>", "<!-- -->" * 1_000 + "</body>"))
    assert not told(shell.replace("</body>", f"<!--{'-' * 300_000}--></body>"))
    for hostile in ("<noscript>", "<noscript ", "<noscript<", "<div id=root>", "location="):
        assert not told(shell + hostile * 25_000)


@pytest.mark.parametrize(
    ("source", "is_shell", "is_empty"),
    [
        (SHELLS["React"], True, True),
        (f"{HEAD}<body><p>{THAI * 9}</p>{next(iter(LISTS))}", True, False),
        (OTHERS["little text"], False, False),
    ],
)
def test_a_reading_tells_an_empty_page_from_one_that_lacks_its_list(
    source: str, is_shell: bool, is_empty: bool
) -> None:
    reading = page(source)
    assert (reading.is_shell, reading.is_empty) == (is_shell, is_empty)
