"""Which pages are empty until their scripts run."""

from __future__ import annotations

import pytest

from lswc.reading.app_shell import MAX_BESIDE, MAX_OWN, MAX_TEXT, MENU
from tests.reading.test_page import page
from tests.scenarios.site import THAI

HEAD = '<!doctype html><html><head><meta charset="utf-8"><title>ข่าว</title>'
BUNDLE = '<script defer src="/static/js/main.3f2a.js"></script>'
MANAGER = (
    "<noscript><iframe src='https://www.googletagmanager.com/ns.html?id=GTM-1' height=0></iframe>"
    "</noscript>"
)
COUNTER = '<script async src="https://www.googletagmanager.com/gtag/js?id=G-1"></script>'
SHELLS = {
    "React": f"{HEAD}{BUNDLE}</head><body><noscript>You need to enable JavaScript to run this app."
    '</noscript><div id="root"></div></body></html>',
    "React by Vite": f'{HEAD}<script type="module" crossorigin src="/assets/index.js"></script>'
    '</head><body><div id="root"></div></body></html>',
    "Vue": f"{HEAD}{BUNDLE}</head><body><noscript><strong>We're sorry but app doesn't work properly"
    " without JavaScript enabled. Please enable it to continue.</strong></noscript>"
    '<div id="app"></div></body></html>',
    "Vue in its page": f'{HEAD}{BUNDLE}</head><body><div id="app"><h1>{{{{ title }}}}</h1>'
    '<p v-for="x in all">{{ x.text }}</p></div></body></html>',
    "Angular": f'{HEAD}<base href="/"></head><body><app-root><p>Loading...</p></app-root>'
    '<script src="runtime.js" type="module"></script></body></html>',
    "Angular by another name": f"{HEAD}</head><body><my-app>Loading AppComponent content here ..."
    f"</my-app>{BUNDLE}</body></html>",
    "AngularJS": f'{HEAD}</head><body ng-app="news"><div ng-view></div>{BUNDLE}</body></html>',
    "Next without its server": f'{HEAD}<noscript data-n-css=""></noscript>{BUNDLE}</head><body>'
    '<div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{}</script></body>',
    "Nuxt without its server": f'{HEAD}</head><body><div id="__nuxt"></div>'
    '<script type="module" src="/_nuxt/entry.js"></script><script>window.__NUXT__={}</script>',
    "SvelteKit": f'{HEAD}</head><body data-sveltekit-preload-data="hover"><div style="display: '
    'contents"><script>{ __sveltekit_1 = {}; Promise.all([import("/_app/immutable/start.js")])}'
    "</script></div></body></html>",
    "Svelte": f"{HEAD}{BUNDLE}</head><body></body></html>",
    "Ember": f'{HEAD}<meta name="app/config/environment" content="%7B%7D"></head><body>'
    '<script src="/assets/vendor.js"></script><script src="/assets/app.js"></script></body></html>',
    "Meteor": f"{HEAD}</head><body><script>__meteor_runtime_config__ = JSON.parse('{{}}')"
    '</script><script src="/8.js?meteor_js_resource=true"></script></body></html>',
    "Flutter": f"{HEAD}</head><body><script>function run() {{ var it = document.createElement("
    "'script'); it.src = 'main.dart.js'; document.body.append(it) }; run()</script></body></html>",
    "WebAssembly": f'{HEAD}<link rel="preload" href="/a.js"></head><body><script type="module">'
    "import init from '/a.js'; init('/a.wasm')</script></body></html>",
    "a splash": f'{HEAD}</head><body><div id="host"><p class="splash">Starter Kit</p></div>'
    f"{BUNDLE}</body></html>",
    "a spinner": f'{HEAD}</head><body><div class="lds spinner"><img src="/logo.png"></div>{BUNDLE}',
    "a hidden frame": f"{HEAD}{BUNDLE}</head><body><iframe src=\"javascript:''\"></iframe></body>",
    "a custom element": f"{HEAD}{BUNDLE}</head><body><news-site></news-site></body></html>",
    "a title in a custom element": f"{HEAD}{BUNDLE}</head><my-app><h1>ข่าว</h1></my-app></html>",
    "a title beside": f'{HEAD}</head><body><h1>ข่าว</h1><div id="mount"></div>{BUNDLE}</body>',
    "main": f'{HEAD}</head><body><main role="main" id="main"></main>{BUNDLE}</body></html>',
    "any element": f'{HEAD}</head><body><div id="zq"></div>{BUNDLE}</body></html>',
    "nested": f'{HEAD}</head><body><div id="wrapper"><div id="page"></div></div>{BUNDLE}',
    "jQuery": f'{HEAD}<script src="/jquery.min.js"></script></head><body><div id="wrapper"></div>'
    '<script>$("#wrapper").load("/parts/home.html")</script></body></html>',
    "a tag manager": f"{HEAD}{COUNTER}{BUNDLE}</head><body>{MANAGER}<div id=root></div></body>",
    "a tag manager in its head": f"{HEAD}{MANAGER}{BUNDLE}</head><body><div id=root></div></body>",
    "two tag managers": f"{HEAD}{BUNDLE}</head><body>{MANAGER * 2}<div id=root></div></body>",
    "an open noscript": f"{HEAD}{BUNDLE}</head><body><div id=root>{'x' * MAX_TEXT}</div><noscript>"
    f"{THAI * 3}</body></html>",
    "its state": f'{HEAD}{BUNDLE}</head><body><script type="application/json">{{"code": "'
    'location.href = 1"}</script></body></html>',
    "document.write": f"{HEAD}</head><body><script>document.write('<p>' + text)</script></body>",
    "a plea in the head": f"{HEAD}<noscript>Please turn on JavaScript.</noscript>{BUNDLE}</head>"
    "<body><my-app></my-app></body></html>",
    "in Thai": f"{HEAD}</head><body><noscript>กรุณาเปิดใช้งาน JavaScript</noscript>"
    f'<div class="wrap"></div>{BUNDLE}</body></html>',
    "it loads": f"{HEAD}</head><body><p>Loading, please wait ...</p>{BUNDLE}</body></html>",
    "a cookie first": f"{HEAD}</head><body><p>Checking your browser</p><script>document.cookie = "
    '"a=" + 7 * 6; location.reload()</script></body></html>',
}
OTHERS = {
    "Next, rendered by its server": f'{HEAD}{BUNDLE}</head><body><div id="__next"><p>{THAI * 5}</p>'
    "</div></body></html>",
    "Nuxt, rendered by its server": f'{HEAD}{BUNDLE}</head><body><div id="__nuxt">{THAI * 5}</div>',
    "text, and a plea": f"{HEAD}{BUNDLE}</head><body><noscript>Please enable JavaScript</noscript>"
    f"<p>{THAI * 5}</p></body></html>",
    "no script": f'{HEAD}</head><body><div id="root"></div></body></html>',
    "nothing": f"{HEAD}</head><body></body></html>",
    "little text": f"{HEAD}{BUNDLE}</head><body><h1>404</h1><p>ไม่พบหน้านี้</p></body></html>",
    "work on the site": f'{HEAD}{BUNDLE}</head><body><div class="content"><h1>ปิดปรับปรุง</h1>'
    "<p>เว็บไซต์อยู่ระหว่างการปรับปรุง ขออภัยในความไม่สะดวก</p></div></body></html>",
    "work on the site, until": f'{HEAD}{BUNDLE}</head><body><h1>ปิดปรับปรุง</h1><p id="until"></p>'
    '<div id="countdown"></div><div class="zq"></div></body></html>',
    "a few words": f"{HEAD}{COUNTER}</head><body><p>สวัสดีชาวโลก</p></body></html>",
    "a few words, and an empty element": f'{HEAD}</head><body><p>สวัสดีชาวโลก</p><div id="x"></div>'
    f"{BUNDLE}</body></html>",
    "counters only": f'{HEAD}{COUNTER}<script src="/js/jquery-3.7.1.min.js"></script>'
    '<script src="//hm.baidu.com/h.js"></script></head><body></body></html>',
    "a refresh": f'{HEAD}<meta http-equiv="Refresh" content="0;url=/th/">{BUNDLE}</head><body>'
    '<noscript>Enable JavaScript</noscript><div id="app"></div></body></html>',
    "a redirect": f"{HEAD}</head><body><script>document.write(''); location.href = '/th/'</script>",
    "a redirect, and a plea": f'{HEAD}</head><body><script>location.replace("index.html")</script>'
    '<main><noscript>JavaScript is disabled.</noscript><a href="/i.html">index</a></main></body>',
    "a login": f'{HEAD}{BUNDLE}</head><body><div id="app"><form action="/login"><input name="user">'
    '<input type="password"></form></div></body></html>',
    "a search": f'{HEAD}{BUNDLE}</head><body><form action="/s"><input name="q"></form>'
    '<main id="search-results"></main></body></html>',
    "frames": f'{HEAD}{BUNDLE}</head><frameset><frame src="/a"></frameset></html>',
    "a frame": f'{HEAD}{BUNDLE}</head><body><iframe src="/inner.html"></iframe></body></html>',
    "a menu": f'{HEAD}{BUNDLE}</head><body><div id="app"><a href="/1">1</a><a href="/2">2</a>'
    '<a href="/3">3</a><a href="/4">4</a></div></body></html>',
    "pictures": f'{HEAD}{BUNDLE}</head><body><div class="g">{"<img src=/a.jpg>" * 4}</div></body>',
    "pictures that come later": f'{HEAD}{BUNDLE}</head><body><div id="gallery">'
    f"{'<img class=loading src=/spinner.gif data-src=/a.jpg>' * 4}</div></body></html>",
    "a picture": f'{HEAD}{BUNDLE}</head><body><img src="/map.png"></body></html>',
    "a game": f'{HEAD}{BUNDLE}</head><body><canvas id="game"></canvas></body></html>',
    "a counter": f'{HEAD}<script src="/gtm.js"></script></head><body>{MANAGER}<p>สวัสดี</p></body>',
    "parked": f"{HEAD}</head><body><script>window.onload=function(){{window.location.href='/l'}}"
    "</script></body></html>",
    "words in a custom element": f"{HEAD}{BUNDLE}</head><my-page><p>{THAI}</p></my-page></html>",
    "words while it loads": f'{HEAD}{BUNDLE}</head><body class="loading"><p>สวัสดี</p></body></html>',
    "cookies, in a program": f"{HEAD}</head><body><p>สวัสดี</p><script>{'// ' * 4_000}\n"
    "document.cookie = 'a=1'; function change() { location.reload() }</script></body></html>",
    "a noscript that is none": f"{HEAD}</head><body><script>document.write('<noscript>')</script>"
    f'<p>{THAI}</p><div id="zq"></div></body></html>',
    "a noscript in a comment": f"{HEAD}{BUNDLE}</head><body><!-- <noscript> --><p>{THAI}</p>"
    '<div id="zq"></div></body></html>',
    "cookies, and text": f"{HEAD}</head><body><p>{THAI * 5}</p><script>document.cookie = 'a=1';"
    "function change() { location.reload() }</script></body></html>",
}


def is_empty(source: str) -> bool:
    return page(source).is_empty


def lacks_list(source: str) -> bool:
    reading = page(source)
    return reading.is_shell and not reading.is_empty


@pytest.mark.parametrize("source", SHELLS.values(), ids=SHELLS)
def test_a_page_that_scripts_fill_is_a_shell(source: str) -> None:
    assert is_empty(source)


@pytest.mark.parametrize(
    ("fits", "unit", "place"),
    [
        (3, '<a href="/1"></a>', "root"),
        (3, "<img src=/a.jpg>", "root"),
        (MAX_TEXT, "x", ""),
        (MAX_TEXT, "x", "root"),
    ],
)
def test_so_much_a_shell_may_have_and_no_more(fits: int, unit: str, place: str) -> None:
    for number, is_one in ((fits, True), (fits + 1, False)):
        has = unit * number
        inside, beside = (has, "") if place else ("", has)
        body = f'<div id="root">{inside}</div>{beside}'
        assert is_empty(f"{HEAD}{BUNDLE}</head><body>{body}</body></html>") is is_one, number


@pytest.mark.parametrize("source", OTHERS.values(), ids=OTHERS)
def test_a_page_that_can_be_read_or_leads_on_is_none(source: str) -> None:
    assert not is_empty(source)


@pytest.mark.parametrize(
    "plea",
    [
        "您需要启用脚本才能使用本站",
        "請啟用腳本",
        "スクリプトを有効にしてください",
        "กรุณาเปิดใช้งานสคริปต์",
        "Hãy bật script để xem trang này",
        "스크립트를 사용하도록 설정하세요",
        "Включите скрипты, пожалуйста",
        "कृपया स्क्रिप्ट चालू करें",
        "يرجى تفعيل جافا سكريبت",
        "ກະລຸນາເປີດໃຊ້ ຈາວາສະຄຣິບ",
        "Το JS είναι απενεργοποιημένο",
    ],
)
def test_a_plea_for_scripts_is_known_in_any_language(plea: str) -> None:
    html = f"{HEAD}{COUNTER}</head><body><noscript>%s</noscript><p>ข่าว</p></body></html>"
    assert is_empty(html % plea)
    assert not is_empty(html % "A description of 12 manuscripts, for subscribers")


NAV = (
    "<nav><ul>" + "".join(f'<li><a href="/{n}">หน้า {n}</a></li>' for n in range(30)) + "</ul></nav>"
)
FOOT = f"<footer><p>สงวนลิขสิทธิ์ 2026 {THAI * 4}</p></footer>"
PLACES = {
    "main": "<main></main>",
    "article": "<article><div></div></article>",
    "by its id": '<div id="newsDetail"></div>',
    "by its class": '<div class="article-body"></div>',
    "by its role": '<div role="main"></div>',
    "a custom element": "<news-article></news-article>",
    "any, under its title": '<h1>ข่าววันนี้</h1><div id="x7"></div>',
    "under its title and date": '<main><h1>ข่าว</h1><p>28 พ.ย. 2569</p><div id="body"></div></main>',
    "under its date": '<p>28 พ.ย. 2569</p><div id="text"></div>',
    "in columns": '<div class="row"><div class="col-md-8" id="text"></div></div>',
    "it loads": '<main><p class="status">กำลังโหลด…</p></main>',
    "of any class": '<h1>ข่าว</h1><section class="zq"></section>',
    "it loads, anywhere": '<div id="x7"><p>กรุณารอสักครู่</p></div>',
    "below links": '<a href="/1">ก</a> | <a href="/2">ข</a><div id="x7"></div>',
    "it loads, in Japanese": '<div id="content">読み込み中です</div>',
    "a spinner": '<main><div class="spinner">0 %</div></main>',
    "a moving picture": '<main><img src="/img/loading.gif" alt=""></main>',
    "a skeleton": f'<main><ul class="skeleton">{"<li><span></span></li>" * 5}</ul></main>',
    "busy": '<section id="news" aria-busy="true"><p>ข่าว</p></section>',
    "templates": "<main><h2>{{ article.title }}</h2><p>{{ article.body }}</p></main>",
    "a plea": "<main><noscript>Please enable JavaScript</noscript></main>",
    "beside other news": f'<main></main><aside><h3>ข่าวล่าสุด</h3><a href="/9">{THAI}</a></aside>',
    "above its owner": '<div id="x7"></div><p>© 2026 ข่าวไทย</p>',
    "below a banner": '<a href="/"><img src="/logo.png"></a><div id="content"></div>',
}
READ = {
    "an article": f'<main><p>{THAI * 3}</p></main><div id="comments"></div>',
    "a short article": f'<div id="content"><p>{THAI}</p></div><div id="x7"></div>',
    "headlines": f'<div class="l">{f"<p><a href=/1>{THAI}</a></p>" * 9}</div><div id="main"></div>',
    "cards": f'{"<article><a href=/1><img src=/1.jpg>ข่าว</a></article>" * 6}<div id="main"></div>',
    "pictures": f'<div id="g">{"<img src=/1.jpg>" * 9}</div><div id="lightbox"></div>',
    "a film": '<div id="film"><video src="/1.mp4"></video></div><div id="x7"></div>',
    "a form": '<main><form action="/order"><textarea name="t"></textarea></form></main>',
    "a question": '<form method="POST"><input name=mail><button>ส่ง</button></form><main></main>',
    "a picture of an error": '<h1>404</h1><div class="illustration"></div>',
    "a search": '<form action="/s"><input name=q></form><p id="search-results"></p><main></main>',
    "others": '<p>สวัสดี</p><div class="content modal"></div><div id="sidebar-content"></div>',
    "no place": "<p></p>",
    "left blank by its author": '<h1>ข่าว</h1><div id="x7"><p id="p1"> </p></div>',
    "a title, and comments": '<h1>ข่าว</h1><div id="comments"></div>',
    "a few words": '<p>สวัสดี</p><div id="12"></div><div id="page-rank"></div>',
    "long words while it loads": f'<div class="preload-wrap"><p>{THAI * 2}</p></div><main></main>',
    "words on loading": f"<main><p>Loading {THAI}</p></main>",
    "words on an owner": f'<div id="x7"></div><p>© 2026 {THAI}</p>',
}  # fmt: skip


@pytest.mark.parametrize(
    "script",
    [
        BUNDLE,
        '<script>fetch("/api/1").then(r => r.text()).then(show)</script>',
        '<script type="module">import { show } from "/show.js"; show()</script>',
    ],
    ids=["fetched", "fetches", "module"],
)
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_page_with_a_menu_and_nothing_else_is_empty(place: str, script: str) -> None:
    assert is_empty(f"{HEAD}</head><body>{MANAGER}{NAV}{place}{FOOT}{script}</body></html>")


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_nothing_fills_a_page_without_scripts_of_its_own(place: str) -> None:
    for script in (COUNTER, '<script src="/jquery.min.js"></script><script>var a = 1</script>'):
        assert not is_empty(f"{HEAD}{script}</head><body>{NAV}{place}{FOOT}</body></html>")


@pytest.mark.parametrize("place", READ.values(), ids=READ)
def test_a_page_that_has_something_beside_its_menu_is_not(place: str) -> None:
    assert not is_empty(f"{HEAD}{BUNDLE}</head><body>{MANAGER}{NAV}{place}{FOOT}</body></html>")


def test_so_much_text_may_stand_beside_an_empty_place_and_no_more() -> None:
    for most, tag in ((MAX_OWN, "p"), (MAX_BESIDE, "header")):
        for size in (most, most + 1):
            beside = f"<{tag}>{'x' * size}</{tag}>"
            html = f"{HEAD}{BUNDLE}</head><body>{NAV}{beside}<main></main></body></html>"
            assert is_empty(html) is (size == most)


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
    assert lacks_list(html) is lacks


@pytest.mark.parametrize(("before", "lacks"), [(49, True), (50, False)])
def test_so_many_empty_elements_are_looked_at(before: int, lacks: bool) -> None:
    others = "".join(f'<div id="d{number}"></div>' for number in range(before))
    html = f'<p>{THAI}</p>{others}<ul id="list"></ul><script>{FETCHES}; f("#list")</script>'
    assert lacks_list(html) is lacks


BUTTONS = "<button type='button'>ข่าว</button>" * MENU
LEADING = {
    BUTTONS + BUNDLE: True,
    f"<ul>{'<li onclick=go(1)>ข่าว</li>' * MENU}</ul><script>function go(n) {{}}</script>": True,
    f"{'<b role=link>ข่าว</b>' * MENU}<a href=/>หน้าแรก</a>{BUNDLE}": True,
    # Too few, no words, nobody's, of a form, with links besides, and with addresses.
    BUTTONS.replace("<button", "<b", 1) + BUNDLE: False,
    BUTTONS.replace("ข่าว", "7") + BUNDLE: False,
    BUTTONS: False,
    f"<form>{BUTTONS}</form>{BUNDLE}": False,
    f"<iframe src=/menu.html></iframe>{BUTTONS}{BUNDLE}": False,
    f"{BUTTONS}{''.join(f'<a href=/{n}>{n}</a>' for n in range(4))}{BUNDLE}": False,
    "".join(f"<p onclick=\"location.href='/{n}'\">ข่าว</p>" for n in range(9)) + BUNDLE: False,
}


ASKS = "<p>คุณอายุครบ 20 ปีแล้วหรือไม่</p><img src=/logo.png><button>ใช่</button><button>ไม่</button>"
ASKING = {
    ASKS + BUNDLE: True,
    f"{ASKS}<script>{'go();' * MAX_TEXT}</script>": True,
    ASKS.replace("button", "b") + BUNDLE: False,
    f"{ASKS}<a href=/>หน้าแรก</a>{BUNDLE}": False,
    f"{ASKS}<input name=age>{BUNDLE}": False,
    f"{ASKS}<p><img src=/1.jpg></p>{BUNDLE}": False,
    f"{ASKS}<p>{THAI * 2}</p>{BUNDLE}": False,
    ASKS.replace("ใช่", "+").replace("ไม่<", "-<") + BUNDLE: False,
}


@pytest.mark.parametrize(("source", "lacks"), ASKING.items())
def test_a_page_may_have_nothing_but_buttons(source: str, lacks: bool) -> None:
    assert lacks_list(f"{HEAD}</head><body>{source}</body></html>") is lacks


@pytest.mark.parametrize(("source", "lacks"), LEADING.items())
def test_a_page_with_text_may_lack_its_links(source: str, lacks: bool) -> None:
    assert lacks_list(f"{HEAD}</head><body><p>{THAI * 9}</p>{source}</body></html>") is lacks


@pytest.mark.usefixtures("brake")
def test_empty_lists_without_end_take_no_time() -> None:
    for unit in ("<ul id=a></ul>", "<ul id=a " + "x " * 90 + ">", "<ul ", "fetch(<div id=a>"):
        html = f"<script>fetch('x')</script>{unit * (250_000 // len(unit))}"
        assert not lacks_list(html)


@pytest.mark.usefixtures("brake")
def test_what_would_hold_the_reader_is_none() -> None:
    shell = SHELLS["React"]
    assert is_empty(shell.replace("</body>", "<!-- -->" * 1_000 + "</body>"))
    assert not is_empty(shell.replace("</body>", f"<!--{'-' * 300_000}--></body>"))
    for hostile in ("<noscript>", "<noscript ", "<noscript<", "<div id=root>", "location="):
        assert not is_empty(shell + hostile * 25_000)


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
