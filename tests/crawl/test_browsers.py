"""A real browser that shows pages to a crawl: whatever a page does, it does to itself."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from lswc.crawl import browsers
from lswc.crawl.browsers import Browser, Unshown, check
from lswc.errors import ConfigError
from lswc.outcomes import Outcome
from lswc.reading.browser.installed import CHROMIUMS
from lswc.reading.browser.messages import Answered, Settings, Shell, Wanted
from lswc.reading.browser.one_page import EMPTIER, EMPTY, RELOADS, SCROLLS, WAYS
from tests.scenarios.site import BRAKE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lswc.crawl.browsers import Seen

pytest.importorskip("playwright", reason="playwright isn't installed")
psutil = pytest.importorskip("psutil", reason="psutil isn't installed")
CHROMIUM = next(filter(None, map(shutil.which, CHROMIUMS)), None)
if CHROMIUM is None:
    pytest.skip("no Chromium on this machine: apt-get install chromium", allow_module_level=True)

ROOT = Path(__file__).parents[2]
URL = "https://app.example/start"
SETTINGS = Settings(
    executable=CHROMIUM,
    sandbox=os.geteuid() != 0,
    agent="lswc/test",
    language="th, en;q=0.5",
    seconds=BRAKE,
    requests=40,
    largest=2_000_000,
)
LONG = f"<p>{'text ' * EMPTY}"
HURRIED = replace(SETTINGS, seconds=4)
"""For pages that hang until their seconds are over."""


class Showing:
    """A browser, and the loop that it lives in."""

    def __init__(self, settings: Settings = SETTINGS) -> None:
        self.runner = asyncio.Runner()
        self.browser = Browser(settings)
        self.wanted: list[Wanted] = []
        self.posted: list[bytes] = []
        self.files: dict[str, bytes] = {}
        self.rest = 0.0

    async def fetch(self, wanted: Wanted, posted: bytes) -> tuple[Answered, bytes]:
        await asyncio.sleep(self.rest)
        self.wanted.append(wanted)
        self.posted += [posted] if posted else []
        body = self.files.get(wanted.url)
        kind = "text/javascript" if wanted.kind == "script" else "application/json"
        headers = {"content-type": kind, "access-control-allow-origin": "*"}
        return Answered(wanted.number, 200 if body is not None else 0, headers), body or b""

    def show(self, body: str, *, explores: bool = False) -> Seen:
        """Show a page; ``wanted`` has what it asked for, ``posted`` what it sent."""
        self.wanted.clear()
        self.posted.clear()
        shell = Shell(URL, "text/html; charset=utf-8", explores)
        return self.runner.run(self.browser.render(shell, body.encode(), self.fetch))

    def text(self, script: str) -> str:
        """Return a page that a script has changed; it has text, else more is waited for."""
        return self.show(f"<p id=p></p><script>{script}</script>{LONG}").html.decode()

    def shows_others(self) -> bool:
        """Tell whether a page is shown; a slow machine may need more than its seconds for one."""
        until = monotonic() + BRAKE
        while monotonic() < until:
            with suppress(Unshown):
                return "after" in self.text("p.textContent = 'after'")
        return False

    def close(self) -> None:
        async def close() -> None:
            self.browser.close()

        self.runner.run(close())
        self.runner.close()


@pytest.fixture(scope="module")
def showing() -> Iterator[Showing]:
    showing = Showing()
    yield showing
    showing.close()


@pytest.fixture(scope="module")
def hurried() -> Iterator[Showing]:
    showing = Showing(HURRIED)
    yield showing
    showing.close()


def test_a_page_is_shown_as_its_scripts_leave_it(showing: Showing) -> None:
    showing.files = {
        "https://app.example/app.js": b"import {n} from '/n.js'; fetch('/d.json')"
        b".then(r => r.json()).then(d => p.textContent = d.word + n + navigator.userAgent"
        b" + navigator.language)",
        "https://app.example/n.js": b"export const n = ' 1 '",
        "https://app.example/d.json": '{"word": "สวัสดี"}'.encode(),
    }
    seen = showing.show(
        "<link rel=stylesheet href=/s.css><img src=/i.png><p id=p></p>"
        f"<script type=module src=/app.js></script>{LONG}"
    )
    assert "สวัสดี 1 lswc/testth<" in seen.html.decode()
    assert [wanted.kind for wanted in showing.wanted] == ["script", "script", "fetch"]
    assert seen.shown.url == URL
    assert not seen.shown.led_to


def test_open_shadow_roots_are_in_the_page_one_in_another(showing: Showing) -> None:
    html = showing.text(
        "const a = p.attachShadow({mode: 'open'}); a.innerHTML = '<b>open</b><div id=i></div>';"
        "a.getElementById('i').attachShadow({mode: 'open'}).innerHTML = 'within';"
        "document.body.append(document.createElement('div'));"
        "document.body.lastChild.attachShadow({mode: 'closed'}).innerHTML = 'closed'"
    )
    assert html.startswith("<!DOCTYPE html><html>")
    assert '<template shadowrootmode="open"><b>open</b>' in html
    assert '<template shadowrootmode="open">within</template>' in html
    assert "<div></div>" in html


LATE = "setTimeout(() => p.textContent = 'late '.repeat(50), 6000)"


@pytest.mark.parametrize(
    "before",
    [
        "",
        f"<div class=loading aria-busy=true>{'please be patient ' * 20}</div>",
        f"<p>กำลังโหลดข้อมูล</p><p>{'menu and footer ' * 20}</p>",
    ],
    ids=["nothing", "a sign", "a word"],
)
def test_a_page_without_text_is_waited_for_and_that_takes_no_time(
    showing: Showing, before: str
) -> None:
    script = f"{LATE}; setTimeout(() => w.remove(), 6000)"
    html = showing.show(f"<div id=w>{before}</div><p id=p></p><script>{script}</script>").html
    assert b"late late" in html


def test_a_page_that_never_ceases_to_change_is_read_as_it_is_then(showing: Showing) -> None:
    html = showing.text("p.textContent = 'x'; setInterval(() => p.textContent += 'y', 5)")
    assert 5 < html.count("y") < 2_000
    assert "xyy" in html


GROWS = (
    "p.textContent = 'x '.repeat(200); let n = 0; const more = () => { for (let i = 0; i < 50; "
    "i++) document.body.insertAdjacentHTML('beforeend', `<h2><a href=/${++n}>item</a></h2>`) };"
)


@pytest.mark.slow
def test_a_list_is_followed_to_where_it_goes_on_within_bounds(showing: Showing) -> None:
    at_end = "if (scrollY + innerHeight > document.body.scrollHeight - 50) more()"
    html = showing.text(f"{GROWS} more(); addEventListener('scroll', () => {{ {at_end} }})")
    assert 500 < html.count('<a href="/') <= 50 * (SCROLLS + 2)


@pytest.mark.slow
@pytest.mark.parametrize("says", ["もっと見る", "ดูเพิ่มเติม", "▼"])
def test_a_list_goes_on_by_what_shows_more(showing: Showing, says: str) -> None:
    """By the word, or as it stands after a list."""
    body = "<ul id=list></ul><button id=b>%s</button><p id=p></p><script>%s</script>"
    script = (
        "p.textContent = 'x '.repeat(200); let n = 0; const more = () => { for (let i = 0; i < 5; "
        "i++) list.insertAdjacentHTML('beforeend', `<li><a href=/${++n}>item</a>`) }; more();"
        "b.onclick = () => n < 40 ? more() : b.remove()"
    )
    html = showing.show(body % (says, script)).html.decode()
    assert html.count('<a href="/') == 40


@pytest.mark.slow
def test_links_of_a_list_that_keeps_only_what_is_near_are_told(showing: Showing) -> None:
    script = (
        "p.textContent = 'x '.repeat(200); let n = 0; const more = () => { for (let i = 0; i < 20 "
        "&& n < 100; i++) list.insertAdjacentHTML('beforeend', `<li style=height:80px><a href=/${"
        "++n}>item</a>`); while (list.children.length > 30) list.firstChild.remove() }; more();"
        "addEventListener('scroll', more)"
    )
    seen = showing.show(f"<p id=p></p><ul id=list></ul><script>{script}</script>")
    here = {f"/{n}" for n in range(1, 101) if f'href="/{n}"' in seen.html.decode()}
    there = {url.removeprefix("https://app.example") for url in seen.shown.led_to}
    assert here | there == {f"/{n}" for n in range(1, 101)}
    assert not here & there


BUTTONS = """
<style>.card { cursor: pointer }</style><div id=root></div><script>
root.innerHTML = `<p>${'text '.repeat(99)}</p><div class=card id=a><b>one</b></div>
  <button onclick="location.href = '/b'">two</button><div role=menuitem id=c>three</div>
  <button id=d>four</button><button id=e>five</button><a id=f>six</a><button>none</button>
  <form><button onclick="location.href = '/form'">in a form</button></form>`;
a.addEventListener('click', () => { history.pushState({}, '', '/a'); root.remove() });
c.onclick = () => setTimeout(() => location.assign('/c'), 50);
d.onclick = () => open('https://else.example/d');
e.onclick = () => { location.hash = '#/e' };
f.onclick = async () => { await fetch('/f.json'); history.pushState({}, '', '/f'); root.remove() };
</script>"""


@pytest.mark.slow
def test_buttons_cards_and_menus_are_asked_where_they_lead(showing: Showing) -> None:
    showing.files = {"https://app.example/f.json": b"{}"}
    seen = showing.show(BUTTONS, explores=True)
    own = {f"https://app.example/{name}" for name in "abcf"}
    assert set(seen.shown.led_to) == own | {"https://else.example/d", f"{URL}#/e"}
    assert b"one</b>" in seen.html
    assert seen.shown.explored == 1 + len(seen.shown.led_to)
    assert [wanted.url for wanted in showing.wanted] == ["https://app.example/f.json"]


@pytest.mark.slow
def test_buttons_are_pressed_only_if_that_is_wanted_and_few_links_lead_on(
    showing: Showing,
) -> None:
    assert not showing.show(BUTTONS).shown.led_to
    links = "".join(f"<a href=/{n}>x</a>" for n in range(30))
    assert not showing.show(BUTTONS + links, explores=True).shown.explored


@pytest.mark.slow
def test_a_page_of_buttons_without_end_is_pressed_so_often(showing: Showing) -> None:
    script = "p.innerHTML = '<button onclick=\"this.outerHTML += this.outerHTML\">x</button>'"
    seen = showing.show(f"<p id=p></p><script>{script}; n = 0</script>{LONG}", explores=True)
    assert seen.html.count(b"<button") <= 2 * WAYS


ASKS = (
    "<p id=p></p><button id=no>ไม่ใช่</button><button id=yes>ใช่ ฉันอายุ 18 ปี</button><script>"
    "no.onclick = () => location.href = 'https://else.example/';"
    "yes.onclick = () => p.textContent = 'behind '.repeat(99)</script>"
)


@pytest.mark.slow
@pytest.mark.parametrize("presses", [True, False])
@pytest.mark.parametrize("more", ["", "<input type=password>"], ids=["a question", "a login"])
def test_a_question_is_answered_by_one_press_if_the_operator_lets_it(
    presses: bool, more: str
) -> None:
    showing = Showing(replace(SETTINGS, presses=presses))
    try:
        seen = showing.show(ASKS + more)
    finally:
        showing.close()
    assert (b"behind behind" in seen.html) == (presses and not more)
    assert not seen.shown.led_to


@pytest.mark.slow
def test_a_page_asks_its_own_site_by_post_and_no_other(showing: Showing) -> None:
    showing.files = {"https://api.app.example/g": b"answer " * 99}
    post = "fetch('%s', {method: 'POST', body: 'q=1'}).then(async r => p.append(await r.text()))"
    own = post % "https://api.app.example/g"
    assert "answer answer" in showing.text(own)
    assert showing.posted == [b"q=1"]
    assert [wanted.method for wanted in showing.wanted] == ["POST"]
    for other in ("https://else.example/g", "ftp://app.example/g"):
        showing.text(f"{post % other}.catch(() => 0)")
        assert not showing.wanted
    showing.text("fetch('/g', {method: 'PUT', body: 'x'}).catch(() => 0)")
    showing.text("fetch('/g', {method: 'POST', body: 'x'.repeat(70000)}).catch(() => 0)")
    assert not showing.wanted


RELOADS_ITSELF = "document.cookie = 'seen=1; path=/'; location.reload()"


@pytest.mark.slow
def test_a_page_that_loads_itself_again_comes_with_its_cookie(showing: Showing) -> None:
    showing.files = {URL: f"<p>behind</p>{LONG}".encode()}
    seen = showing.show(f"<script>{RELOADS_ITSELF}</script>")
    assert b"<p>behind" in seen.html
    assert seen.shown.cookie == "seen=1"
    [wanted] = showing.wanted
    assert (wanted.kind, wanted.headers["cookie"]) == ("document", "seen=1")


@pytest.mark.slow
def test_a_page_that_loads_itself_without_end_does_so_twice(showing: Showing) -> None:
    count = "document.cookie = 'n=' + (1 + Number(document.cookie.slice(2))) + '; path=/';"
    loops = f"<p id=p>{'text ' * 99}</p><script>{count} location.reload()</script>"
    showing.files = {URL: loops.encode()}
    assert b"text text" in showing.show(loops).html
    assert len(showing.wanted) == RELOADS
    assert "after" in showing.text("p.textContent = 'after'")


@pytest.mark.slow
def test_an_app_of_many_modules_is_had_while_it_shows_nothing(showing: Showing) -> None:
    number = 2 * SETTINGS.requests
    assert number < EMPTIER * SETTINGS.requests
    here = "https://app.example/m"
    showing.files = {f"{here}{n}.js": f"import '/m{n + 1}.js'".encode() for n in range(number)}
    showing.files[f"{here}{number}.js"] = b"fetch('/d').then(async r => p.append(await r.text()))"
    showing.files["https://app.example/d"] = b"all " * 99
    seen = showing.show("<p id=p></p><script type=module src=/m0.js></script>")
    assert b"all all" in seen.html


@pytest.mark.slow
def test_a_page_whose_scripts_wait_for_their_server_has_more_time() -> None:
    """Each of four names the next, and waits for half of the page's seconds."""
    settings, number = replace(SETTINGS, seconds=6), 3
    showing = Showing(settings)
    showing.rest = settings.seconds / 2
    here = "https://app.example/m"
    showing.files = {f"{here}{n}.js": f"import '/m{n + 1}.js'".encode() for n in range(number)}
    showing.files[f"{here}{number}.js"] = b"p.textContent = 'all '.repeat(99)"
    try:
        seen = showing.show("<p id=p></p><script type=module src=/m0.js></script>")
    finally:
        showing.close()
    assert b"all all" in seen.html


def test_what_a_page_tells_of_itself_is_not_believed(showing: Showing) -> None:
    script = "Element.prototype.getHTML = () => ({}); Set = function () { return {size: 'x'} }"
    html = showing.text(f"{script}; p.attachShadow({{mode: 'open'}}).innerHTML = 'x'")
    assert html.startswith("<!DOCTYPE html>")


@pytest.mark.slow
def test_nothing_is_kept_from_one_page_to_the_next(showing: Showing) -> None:
    keep = "document.cookie = 'a=1; path=/'; localStorage.a = 1;"
    look = "p.textContent = 'kept:' + document.cookie + (localStorage.a || '')"
    assert "kept:a=11" in showing.text(keep + look)
    assert "kept:<" in showing.text(look)


def test_where_a_page_wants_to_go_is_told_and_it_stays(showing: Showing) -> None:
    seen = showing.show(
        "<p>here</p><script>location.href = 'https://else.example/a';"
        f"setTimeout(() => location.assign('/b'), 50)</script>{LONG}"
    )
    assert "here" in seen.html.decode()
    assert set(seen.shown.led_to) <= {"https://else.example/a", "https://app.example/b"}
    assert seen.shown.led_to
    assert not showing.wanted


def test_a_page_has_no_way_to_any_network_but_what_it_asks_the_crawl(showing: Showing) -> None:
    """Not to this machine, by any protocol: what isn't handed over reaches nobody."""
    with Listening() as here:
        port = here.port
        script = f"""
        const hosts = ['127.0.0.1', 'localhost', '[::1]', '169.254.169.254', '0.0.0.0'];
        for (const host of hosts) {{
            const url = 'http://' + host + ':{port}/';
            const tries = [
                () => fetch(url), () => fetch(url, {{method: 'POST', body: 'x'}}),
                () => new WebSocket('ws://' + host + ':{port}/'), () => new EventSource(url),
                () => navigator.sendBeacon(url, 'x'), () => {{ new Image().src = url }},
                () => window.open(url), () => new Worker(url), () => new SharedWorker(url),
                () => new WebTransport('https://' + host + ':{port}/'),
                () => new RTCPeerConnection({{iceServers: [
                    {{urls: 'stun:' + host + ':{port}'}},
                    {{urls: 'turn:' + host + ':{port}?transport=tcp',
                        username: 'a', credential: 'b'}},
                ]}}),
                () => {{ for (const rel of ['preconnect', 'dns-prefetch', 'prefetch', 'preload',
                        'modulepreload', 'prerender', 'icon', 'manifest', 'stylesheet']) {{
                    const link = document.createElement('link');
                    link.rel = rel; link.href = url; link.as = 'script'; document.head.append(link);
                }} }},
                () => {{ for (const tag of ['iframe', 'embed', 'object', 'video', 'script']) {{
                    const element = document.createElement(tag);
                    element.src = element.data = url; document.body.append(element);
                }} }},
            ];
            for (const one of tries) try {{
                const made = one();
                if (made && made.catch) made.catch(() => 0);
                if (made instanceof RTCPeerConnection) {{
                    made.createDataChannel('a');
                    made.createOffer().then(offer => made.setLocalDescription(offer));
                }}
            }} catch (error) {{}}
        }}
        fetch('file:///etc/passwd').then(r => r.text()).then(t => p.textContent = t).catch(() => 0);
        p.textContent = 'tried';
        """
        html = showing.text(script)
    assert "tried" in html
    assert "root:" not in html
    assert here.heard == []
    assert {wanted.kind for wanted in showing.wanted} <= {"script", "fetch", "xhr"}
    assert all(wanted.url.startswith("http") for wanted in showing.wanted)
    assert any("169.254.169.254" in wanted.url for wanted in showing.wanted)


class Listening:
    """A port of this machine, TCP and UDP, that notes whoever knocks."""

    def __enter__(self) -> Listening:
        self.heard: list[str] = []
        self._is_over = False
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self.port = self._tcp.getsockname()[1]
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", self.port))
        for name, wait in (("tcp", self._tcp.accept), ("udp", lambda: self._udp.recvfrom(1))):
            threading.Thread(target=self._note, args=(name, wait), daemon=True).start()
        return self

    def _note(self, name: str, wait: Callable[[], object]) -> None:
        with suppress(OSError):
            while wait() and not self._is_over:  # a socket that is shut down has nothing to say
                self.heard.append(name)

    def __exit__(self, *_: object) -> None:
        self._is_over = True
        for opened in (self._tcp, self._udp):
            with suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)
            opened.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "left"),
    [
        pytest.param("for (let i = 0; i < 99; i++) window.open('/' + i); p.textContent = 'x'", "x"),
        pytest.param(
            "const a = document.createElement('a'); a.download = 'evil.sh'; p.textContent = 'x';"
            "a.href = URL.createObjectURL(new Blob(['#!/bin/sh'])); a.click();",
            "x",
            id="download",
        ),
        pytest.param(
            "navigator.serviceWorker.register('/sw.js').then(() => p.textContent = 'registered')"
            ".catch(() => p.textContent = 'x')",
            "x",
            id="service worker",
        ),
        pytest.param("alert(1); confirm(2); prompt(3); print(); p.textContent = 'x'", "x"),
        pytest.param("onbeforeunload = () => 'stay'; p.textContent = 'x'", "x", id="unload"),
        pytest.param("p.textContent = 'x'; setInterval(() => fetch('/n' + Math.random()), 5)", "x"),
        pytest.param("p.textContent = 'x'; setInterval(() => p.title += 'y', 5)", "x", id="clock"),
        pytest.param("p.textContent = 'x'; document.open(); document.write('y')", "y"),
        pytest.param("p.textContent = 'x'; for (;;) history.pushState(0, '', '/x')", "x"),
        pytest.param("document.documentElement.remove()", "", id="nothing left"),
    ],
)
def test_a_page_that_plays_tricks_is_shown_all_the_same(
    hurried: Showing, script: str, left: str
) -> None:
    with suppress(Unshown):
        assert left in hurried.text(script)
    assert hurried.shows_others()


@pytest.mark.slow
def test_a_page_that_asks_for_ever_is_answered_as_often_as_is_allowed(showing: Showing) -> None:
    assert "x" in showing.text(
        "for (let i = 0; i < 300; i++) fetch('/n' + i).catch(() => 0); p.textContent = 'x'"
    )
    assert len(showing.wanted) == SETTINGS.requests
    assert "after" in showing.text("p.textContent = 'after'")


HANGS = {
    "a loop": "for (;;) ;",
    "alerts": "for (;;) alert('x'.repeat(1e6))",
    "a loop in each task": "setInterval(() => { for (;;) ; }, 0)",
    "promises": "(function on() { Promise.resolve().then(on) })()",
}


@pytest.mark.slow
@pytest.mark.parametrize("script", HANGS.values(), ids=HANGS)
def test_a_page_that_hangs_costs_only_itself(hurried: Showing, script: str) -> None:
    with pytest.raises(Unshown) as unshown:
        hurried.text(script)
    assert unshown.value.outcome == Outcome.RENDERING_TOO_LONG
    assert hurried.shows_others()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "outcomes"),
    [
        (
            "p.textContent = 'x'.repeat(3e6)",
            {Outcome.RENDERED_TOO_LARGE, Outcome.RENDERING_TOO_LONG},
        ),
        (
            "for (;;) document.body.append('x'.repeat(1e7))",
            {Outcome.BROWSER_DIED, Outcome.RENDERING_TOO_LONG},
        ),
        (
            "const all = []; for (;;) all.push(new Array(1e6).fill(Math.random()))",
            {Outcome.BROWSER_DIED, Outcome.RENDERING_TOO_LONG},
        ),
        (
            "const all = []; for (;;) all.push(new Uint8Array(1e8).fill(1))",
            {Outcome.BROWSER_DIED, Outcome.RENDERING_TOO_LONG},
        ),
        ("location.href = 'chrome://crash'; p.textContent = 'x'", set()),
    ],
)
def test_a_page_that_takes_the_memory_costs_only_itself(
    hurried: Showing, showing: Showing, script: str, outcomes: set[Outcome]
) -> None:
    if outcomes:
        with pytest.raises(Unshown) as unshown:
            hurried.text(script)
        assert unshown.value.outcome in outcomes
    else:
        assert "x" in showing.text(script)
    assert hurried.shows_others()


def name_of(process: Any) -> str:
    """Return a process's name; "" if it has ended: Chromium's helpers come and go."""
    with suppress(psutil.NoSuchProcess):
        return str(process.name())
    return ""


@pytest.mark.slow
def test_a_browser_that_answers_too_much_costs_one_page(
    showing: Showing, monkeypatch: pytest.MonkeyPatch
) -> None:
    showing.browser.close()  # the bound is that of a process
    with monkeypatch.context() as small:
        small.setattr(browsers, "MAX_ANSWER", 1_000)
        with pytest.raises(Unshown) as raised:
            showing.show("a" * 5_000)
        assert raised.value.outcome == Outcome.BROWSER_DIED
    assert b"<p>good" in showing.show("<p>good").html


def test_a_browser_that_is_killed_is_started_anew_and_ends_when_it_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = Path(tempfile.mkdtemp())  # a short name: Chromium has a socket in it
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    others = set(psutil.Process().children(recursive=True))
    showing = Showing()
    try:
        assert "one" in showing.text("p.textContent = 'one'")
        started = set(psutil.Process().children(recursive=True)) - others
        browsers = (process for process in started if "chrom" in name_of(process))
        min(browsers, key=lambda process: process.create_time()).kill()
        with pytest.raises(Unshown) as unshown:
            showing.text("p.textContent = 'two'")
        assert unshown.value.outcome == Outcome.BROWSER_DIED
        assert "three" in showing.text("p.textContent = 'three'")
        started |= set(psutil.Process().children(recursive=True)) - others
        assert list(folder.iterdir())
    finally:
        showing.close()
    _, alive = psutil.wait_procs(started, timeout=BRAKE)
    assert not [process.cmdline() for process in alive]
    folder.rmdir()


CRAWL = """
import asyncio, sys
from tests.crawl.test_browsers import Browser, SETTINGS, Shell

async def main():
    browser = Browser(SETTINGS)
    async def fetch(wanted, posted):
        print("asked", flush=True)
        await asyncio.sleep(600)
    body = b"<script>fetch('/x')</script><script>setTimeout(() => { for (;;) ; }, 500)</script>"
    await browser.render(Shell("http://a.example/", "text/html"), body, fetch)

asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize("both", [False, True], ids=["the crawl", "and the browser's process"])
def test_no_process_outlives_a_crawl_that_is_killed(both: bool) -> None:
    crawl = subprocess.Popen([sys.executable, "-c", CRAWL], cwd=ROOT, stdout=subprocess.PIPE)
    assert crawl.stdout is not None
    assert crawl.stdout.readline() == b"asked\n"
    left = psutil.Process(crawl.pid).children(recursive=True)
    assert len(left) > 3
    killed = [crawl.pid, *(process.pid for process in left[:1] if both)]
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    crawl.wait()
    crawl.stdout.close()
    _, alive = psutil.wait_procs(left, timeout=BRAKE)
    assert not alive


@pytest.mark.slow
def test_what_lacks_is_said_before_anything_is_fetched() -> None:
    with pytest.raises(ConfigError, match="Chromium doesn't start"):
        check(replace(SETTINGS, executable="/bin/false", sandbox=False))
    if os.geteuid() == 0:
        with pytest.raises(ConfigError, match="LSWC_BROWSER_SANDBOX=0"):
            check(replace(SETTINGS, sandbox=True))
    check(SETTINGS)
