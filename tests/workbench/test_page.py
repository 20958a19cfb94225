"""The page and its server: who may ask, who may change, and what a browser shows."""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection
from time import time
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import pytest
from twisted.web.test.requesthelper import DummyChannel

from lswc.frontier import FRONTIER_FILE
from lswc.frontier.rules.contract import Terms
from lswc.frontier.rules.visit import Offer
from lswc.frontier.store.frontier import Frontier
from lswc.frontier.store.report import opened as opened_frontier
from lswc.guest.control import change, given, in_folder, read
from lswc.guest.control.rules_in_force import KEYS
from lswc.monitor.course import COURSE, Point
from lswc.strategy import SEED, PageLanguage
from lswc.workbench.access import Guard
from lswc.workbench.server import BODY_BYTES, Bounded
from tests import forks
from tests.ports import free_port
from tests.scenarios.site import BRAKE, ENGLISH, ROOT, THAI, Site, environment, page
from tests.visits import ended

if TYPE_CHECKING:
    from collections.abc import Iterator
    from email.message import Message
    from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>"


class Shown(NamedTuple):
    """A crawl and where its page is."""

    crawl: Site
    port: int
    token: str

    def ask(
        self, path: str, method: str = "GET", body: str = "", **headers: str
    ) -> tuple[int, str]:
        """Return the status and the text of an answer."""
        status, text, _ = self.answer(path, method, body, **headers)
        return status, text

    def answer(
        self, path: str, method: str = "GET", body: str = "", **headers: str
    ) -> tuple[int, str, Message]:
        """Return the status, the text and the headers of an answer."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=BRAKE)) as connection:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body or None, named)
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), answer.headers

    def say(self, **headers: str) -> tuple[int, str]:
        """Block far.example."""
        body = json.dumps({"key": "block", "value": True, "place": "far.example", "why": "mail"})
        return self.ask("/api/say", "POST", body, **headers)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    folder = tmp_path_factory.mktemp("watch")
    site = Site(folder / "web", folder / "crawl")
    site.seeds("http://www.one.co.th/")
    hostile = page(THAI, "/2.html", "/gone.html", "http://far.example/").replace(
        "<title>t</title>", f"<title>{HOSTILE.replace('<', '&lt;')}</title>"
    )
    site.add("www.one.co.th/", hostile)
    site.add("www.one.co.th/2.html", page(THAI, "ftp://x/"))
    site.add("far.example/", page(ENGLISH, "/%3Cscript%3Ealert(3)%3C/script%3E"))
    site.crawl()
    with watch(site) as watched:
        yield watched


@contextmanager
def watch(site: Site, *options: str, port: int = 0) -> Iterator[Shown]:
    """Watch a crawl, until Ctrl-C."""
    command = [sys.executable, "-m", "lswc", "watch", str(site.folder), "--port", str(port)]
    with subprocess.Popen(
        [*command, *options], stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment()
    ) as running:
        assert running.stdout is not None
        found = re.match(r"https?://([^/]+)/#(\S+)", running.stdout.readline())
        assert found is not None
        try:
            yield Shown(site, port or int(found[1].rpartition(":")[2]), found[2])
            running.send_signal(signal.SIGINT)
            assert running.wait(BRAKE) == 0
        finally:
            running.kill()


def test_only_a_name_of_this_machine_is_answered(shown: Shown) -> None:
    assert shown.ask("/")[0] == 200
    assert shown.ask("/api/state", Host=f"localhost:{shown.port}")[0] == 200
    for host in (f"evil.example:{shown.port}", "evil.example", "localhost.evil.example", ""):
        refused = (421, "this server has another name: use its address\n")
        assert shown.ask("/", Host=host) == refused
        assert shown.ask("/api/state", Host=host) == refused


def test_only_who_has_the_token_may_change_anything(shown: Shown) -> None:
    own = f"http://127.0.0.1:{shown.port}"
    for headers in (
        {},
        {"X_Lswc_Token": "wrong"},
        {"X_Lswc_Token": shown.token, "Origin": "http://evil.example"},
        {"X_Lswc_Token": shown.token, "Origin": "null"},
        {"Cookie": f"token={shown.token}", "Origin": own},
    ):
        assert shown.say(**headers)[0] == 403
    assert shown.say(X_Lswc_Token=shown.token, Host="evil.example")[0] == 421
    assert shown.ask("/api/say")[0] == 405
    assert not read(in_folder(shown.crawl.folder)).rules
    assert shown.say(X_Lswc_Token=shown.token, Origin=own)[0] == 200
    ((place, rule),) = read(in_folder(shown.crawl.folder)).rules
    assert (place.name, rule.block, rule.why) == ("far.example", True, "mail")


def test_behind_a_server_with_tls_its_name_is_answered_and_its_page_may_change(
    shown: Shown,
) -> None:
    own = "https://watch.library.example"
    with watch(shown.crawl, "--name", "watch.library.example", port=free_port()) as named:
        for host in ("watch.library.example", f"127.0.0.1:{named.port}"):  # passed on, or not
            assert named.ask("/", Host=host)[0] == 200
            given = {"X_Lswc_Token": named.token, "Host": host}
            assert named.say(**given, Origin=own)[0] == 200
            assert named.say(**given, Origin="https://evil.example")[0] == 403
            assert named.say(**given, Origin=f"{own}.evil.example")[0] == 403
            assert named.say(Host=host, Origin=own)[0] == 403
        assert named.ask("/", Host="evil.example")[0] == 421
    assert shown.say(X_Lswc_Token=shown.token, Origin=own)[0] == 403, "not told that name"


@pytest.mark.parametrize("length", ["Content-Length: 700000000", "Transfer-Encoding: chunked"])
@pytest.mark.parametrize("has_token", [False, True])
def test_a_large_body_ends_the_connection(shown: Shown, length: str, has_token: bool) -> None:
    token = shown.token if has_token else "wrong"
    head = f"POST /api/say HTTP/1.1\r\nHost: localhost\r\nX-Lswc-Token: {token}\r\n{length}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", shown.port), BRAKE) as connection:
        connection.sendall(head.encode())
        if "chunked" in length:
            with suppress(OSError):  # it answers before it has all
                connection.sendall(b"%x\r\n" % (BODY_BYTES + 1) + bytes(BODY_BYTES + 1) + b"\r\n")
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    assert answer.startswith(b"HTTP/1.1 413 ")


def test_of_a_body_that_may_change_nothing_nothing_is_kept() -> None:
    guard = Guard("localhost")
    channel: Any = DummyChannel
    for token, kept in (("wrong", b""), (guard.token, b"[]")):
        request: Any = type("Request", (Bounded,), {"guard": guard})(channel())
        request.requestHeaders.setRawHeaders("Host", ["localhost"])
        request.requestHeaders.setRawHeaders("X-Lswc-Token", [token])
        request.gotLength(2)
        request.handleContentChunk(b"[]")
        assert request.content.getvalue() == kept


@pytest.mark.parametrize(
    "body",
    ["", "[]", "{", "[" * 60_000, '{"a":' * 10_000, "9" * 5_000,
     '{"key": "explode", "value": true}', '{"key": 1}',
     '{"key": "block", "value": true, "place": "not a place"}'],
)  # fmt: skip
def test_what_is_wrong_to_say_is_told_and_changes_nothing(shown: Shown, body: str) -> None:
    before = read(in_folder(shown.crawl.folder))
    status, text = shown.ask("/api/say", "POST", body, X_Lswc_Token=shown.token)
    assert status == 400
    assert json.loads(text)["error"]
    assert read(in_folder(shown.crawl.folder)) == before


def test_the_page_has_nothing_inline_and_nothing_of_others(shown: Shown) -> None:
    _, text, headers = shown.answer("/")
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<script(?![^>]*src=)|<style|\sstyle=|\son\w+=|https?://", text)


def test_every_file_of_the_page_says_its_type(shown: Shown) -> None:
    linked = re.findall(r'(?:src|href)="/?([\w.-]+\.(?:js|css|svg))"', shown.ask("/")[1])
    types = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
    assert {"js", "css"} <= {name.rpartition(".")[2] for name in linked}
    for name in linked:
        _, _, headers = shown.answer(f"/{name}")
        assert headers.get_content_type() == types[name.rpartition(".")[2]]


def test_all_that_can_be_said_of_a_place_can_be_chosen(shown: Shown) -> None:
    offered = re.findall(r'<option value="(\w+)">', shown.ask("/")[1])
    assert sorted(offered) == sorted(KEYS)


def test_a_url_and_a_server_tell_their_history(shown: Shown) -> None:
    page = looked_up(shown, "http://www.one.co.th/")
    assert re.search(r'"verdict">html, 20\d\d-', page)
    gone = looked_up(shown, "www.one.co.th/gone.html")
    assert re.search(r'"verdict">status 404, 20\d\d-', gone)
    assert re.findall(r'<td class="text"><a href="page\?url=([^"]+)"', gone) == [
        quote("http://www.one.co.th/")
    ]
    server = looked_up(shown, "www.one.co.th")
    assert "A server of the site <a" in server
    ended = dict(re.findall(r'"text">([^<]+)<span class="why">.*?"number">(\d+)<', server))
    assert (ended["html"], ended["status 404"]) == ("2", "1")


def looked_up(shown: Shown, text: str) -> str:
    status, _, headers = shown.answer(f"/look?q={quote(text)}")
    assert status == 302
    status, page = shown.ask(f"/{headers['Location']}")
    assert status == 200
    return page


def test_what_no_server_is_named_is_shown_as_text(shown: Shown) -> None:
    status, page = shown.ask(f"/look?q={quote(HOSTILE)}")
    assert (status, HOSTILE in page) == (200, False)
    assert "knows no server of this name" in page
    status, page = shown.ask("/look?q=")
    assert (status, "name a server or a URL" in page) == (400, True)
    assert shown.ask("/server?name=nowhere")[0] == 400


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "no crawl: nowhere has no frontier.db"),
        (["{crawl}", "--port", "{port}"], "can't listen to port {port} of 127.0.0.1"),
        (["{crawl}", "--port", "{port}"], "choose another with --port"),
        (["{crawl}", "--port", "x"], "--port='x' isn't a port"),
        (["{crawl}", "--name", "https://x.example/"], "isn't a host, or a host and its port"),
        (["redis://127.0.0.1:1"], "Redis: Error 111 connecting to 127.0.0.1:1"),
    ],
)
def test_a_mistake_is_one_line(shown: Shown, arguments: list[str], said: str) -> None:
    named = {"crawl": str(shown.crawl.folder), "port": str(shown.port)}
    given = [argument.format(**named) for argument in arguments]
    done = forks.run(["watch", *given], ROOT, environment())
    (line,) = done.stderr.splitlines()
    assert line.startswith("scrapy watch: error: ")
    assert said.format(**named) in line
    assert done.returncode == (1 if "redis" in given[0] else 2)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright isn't installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def told() -> list[str]:
    """What the browser complains of, and what it asks of other hosts."""
    return []


def view(browser: Any, shown: Shown, told: list[str], **options: Any) -> Any:
    """Open the page, and wait until it shows the crawl."""

    def dismissed(dialog: Any) -> None:
        told.append(dialog.message)
        dialog.dismiss()

    opened = browser.new_page(**options)
    opened.set_default_timeout(1_000 * BRAKE)
    opened.on("console", lambda message: told.append(message.text))
    opened.on("pageerror", lambda error: told.append(str(error)))
    opened.on("dialog", dismissed)
    address = f"http://127.0.0.1:{shown.port}/"
    opened.on(
        "request",
        lambda request: None if request.url.startswith(address) else told.append(request.url),
    )
    opened.goto(f"{address}#{shown.token}")
    opened.wait_for_selector("#languages table")
    return opened


ROWS = """(has_held) => {
    document.getElementById("fresh").hidden = !has_held;
    const rows = {};
    const all = document.querySelector(".tiles").getBoundingClientRect();
    for (const tile of document.querySelectorAll(".tile:not([hidden])")) {
        const at = tile.getBoundingClientRect();
        (rows[Math.round(at.top)] ??= []).push([at.left - all.left, at.right - all.right]);
    }
    return Object.values(rows);
}"""


@pytest.mark.slow
def test_the_numbers_fill_their_rows(browser: Any, shown: Shown, told: list[str]) -> None:
    """Eight, and nine if pages are visited again."""
    opened = view(browser, shown, told)
    for width in (390, 768, 1280, 1440, 1680):
        opened.set_viewport_size({"width": width, "height": 900})
        for has_held in (False, True):
            rows = opened.evaluate(ROWS, has_held)
            assert sum(map(len, rows)) == 8 + has_held
            gaps = [(abs(row[0][0]), abs(row[-1][1])) for row in rows]
            assert max(map(max, gaps)) < 1, (width, has_held, rows)
    opened.close()
    assert told == []


@pytest.mark.slow
def test_it_fits_every_screen_in_light_and_dark(
    browser: Any, shown: Shown, told: list[str]
) -> None:
    grounds = set()
    for width in (360, 768, 1280):
        for scheme in ("light", "dark"):
            size = {"width": width, "height": 900}
            opened = view(browser, shown, told, viewport=size, color_scheme=scheme)
            assert opened.evaluate("document.documentElement.scrollWidth") <= width
            grounds.add(opened.evaluate("getComputedStyle(document.body).backgroundColor"))
            assert opened.inner_text("#n-pages") == "3"
            assert opened.locator(".chart svg").count() >= 2  # the third needs more points
            opened.close()
    assert len(grounds) == 2
    assert told == []


@pytest.mark.slow
def test_how_fresh_pages_are_is_shown_where_pages_are_visited_again(
    browser: Any, shown: Shown, told: list[str], tmp_path: Path
) -> None:
    opened = view(browser, shown, told)
    assert not opened.is_visible("#fresh, #again-card")
    opened.close()
    again = Site(tmp_path / "web", tmp_path / "crawl")
    shutil.copytree(shown.crawl.folder, again.folder)
    visited_again(again.folder)
    with watch(again) as watched:
        opened = view(browser, watched, told, viewport={"width": 360, "height": 900})
        opened.wait_for_selector("#again table")
        assert opened.inner_text("#n-fresh") == "100.0 %"
        assert opened.inner_text("#n-fresh-more") == "of 1 visited again; 0 due now"
        assert "visits a day, at most\t1\n" in opened.inner_text("#again")
        assert opened.evaluate("document.documentElement.scrollWidth") <= 360
        opened.close()
    assert told == []


def visited_again(crawl: Path) -> None:
    """Let a crawl hold one page more."""
    path = crawl / FRONTIER_FILE
    with opened_frontier(path) as reader:
        found = {"language": reader.identity()["language"]}
        chosen = reader.strategy
    with closing(Frontier(path, chosen, found, Terms(revisit=1.0))) as frontier:
        url = "http://www.one.co.th/new"
        offered = Offer(url, "www.one.co.th", "www.one.co.th", SEED, PageLanguage.TARGET, 0)
        frontier.offer([offered])
        lease = frontier.lease_among(["www.one.co.th"], 0.0)
        assert lease is not None
        frontier.commit(ended(lease, relevant=True, simhash=0))


@pytest.mark.slow
def test_what_the_web_says_is_text(browser: Any, shown: Shown, told: list[str]) -> None:
    opened = view(browser, shown, told)
    opened.fill("#q", "http://www.one.co.th/")
    opened.keyboard.press("Enter")
    opened.wait_for_selector(".verdict")
    assert opened.inner_text("h1") == HOSTILE
    assert opened.locator("main img, main script").count() == 0
    opened.close()
    assert told == []


@pytest.mark.slow
def test_a_site_is_paused_with_the_keyboard_alone(
    browser: Any, shown: Shown, told: list[str]
) -> None:
    opened = view(browser, shown, told)
    opened.keyboard.press("/")
    opened.keyboard.type("www.one.co.th")
    opened.keyboard.press("Enter")
    opened.wait_for_selector("h1:text-is('www.one.co.th')")
    opened.locator("a:text-is('Give one for this server')").press("Enter")
    form = opened.locator("form[data-change=instruct]")
    form.wait_for()  # scripts show it
    form.locator("[name=key]").press("p")
    form.locator("[name=why]").focus()
    opened.keyboard.type("their mail")
    opened.keyboard.press("Enter")
    opened.wait_for_selector("td:text-is('paused')")
    rules = {place.name: rule for place, rule in read(in_folder(shown.crawl.folder)).rules}
    assert (rules["www.one.co.th/"].pause, rules["www.one.co.th/"].why) == (True, "their mail")
    opened.goto(f"http://127.0.0.1:{shown.port}/server?name=www.one.co.th")
    assert texts(opened, ".chip.wait") == ["paused"]
    opened.close()
    assert told == []


@pytest.mark.slow
def test_the_crawl_is_paused_with_the_keyboard_alone(
    browser: Any, shown: Shown, told: list[str], tmp_path: Path
) -> None:
    folder = shutil.copytree(shown.crawl.folder, tmp_path / "crawl")
    now = json.loads((folder / "now.json").read_text())
    now["workers"][0] |= {"state": "running", "time": time() + 60}
    (folder / "now.json").write_text(json.dumps(now))
    focused = "document.activeElement.matches(':focus-visible') && document.activeElement.id"
    with watch(Site(tmp_path / "web", folder)) as watched:
        opened = view(browser, watched, told)
        opened.wait_for_selector("#pause:visible")
        opened.locator("#pause").press("Enter")
        opened.wait_for_selector("#ask[open]")
        assert opened.evaluate(focused) == "ask-why"
        opened.keyboard.press("Escape")
        assert opened.locator("#ask[open]").count() == 0
        assert opened.evaluate(focused) == "pause"
        assert not read(in_folder(folder)).pause
        opened.keyboard.press("Enter")
        opened.keyboard.type("their mail")
        opened.keyboard.press("Enter")
        opened.wait_for_selector("#pause:text-is('Let it go on')")
        assert read(in_folder(folder)).pause
        opened.locator("#pause").press("Enter")
        opened.wait_for_selector("#pause:text-is('Pause the crawl')")
        opened.close()
    assert told == []


@pytest.mark.slow
def test_a_site_is_blocked_and_marked_with_the_keyboard_alone(
    browser: Any, shown: Shown, told: list[str]
) -> None:
    where = in_folder(shown.crawl.folder)
    if given(read(where), "block", "far.example") != "null":  # other tests block it
        change(where, "block", None, "far.example")
    opened = view(browser, shown, told)
    address = f"http://127.0.0.1:{shown.port}/"
    opened.goto(f"{address}sites")
    opened.keyboard.press("Tab")
    for _ in range(20):
        opened.keyboard.press("Tab")
        if opened.evaluate("document.activeElement.name") == "q":
            break
    opened.keyboard.type("far")
    opened.keyboard.press("Enter")  # a form that the policy of the page lets go to its own server
    opened.wait_for_selector("text=1 site with “far” in the name")
    opened.locator("a:text-is('far.example')").press("Enter")
    opened.wait_for_selector("h1:text-is('far.example')")
    stale = browser.new_page()
    stale.goto(f"{opened.url}#{shown.token}")
    opened.locator("form[data-change=instruct] [name=key]").select_option("delay")
    for page_of, seconds in ((opened, "5"), (stale, "1")):
        chosen = page_of.locator("form[data-change=instruct]")
        chosen.locator("[name=key]").select_option("delay")
        chosen.locator("[name=value]").fill(seconds)
        chosen.locator("[name=who]").fill("Lek")
        chosen.locator("[name=who]").press("Enter")
        page_of.wait_for_selector("text=changed meanwhile, by watch, Lek" if page_of is stale
                                  else "td:text('rests 5 s')")  # fmt: skip
    stale.close()
    opened.locator("form[data-change=mark] [name=kind]").select_option("not wanted")
    opened.locator("form[data-change=mark] [name=note]").fill("a casino")
    opened.locator("form[data-change=mark] [name=note]").press("Enter")
    block = opened.locator("button:text('Block far.example')")
    block.wait_for()  # scripts show it
    block.press("Enter")
    opened.wait_for_selector("td:text-is('blocked')")
    rules = {place.name: rule for place, rule in read(where).rules}
    far = rules["far.example"]
    assert (far.block, far.delay, far.why) == (True, 5.0, "a casino")
    opened.close()
    assert told == []


@pytest.mark.slow
def test_what_to_do_is_told_at_the_top(
    browser: Any, shown: Shown, told: list[str], tmp_path: Path
) -> None:
    folder = shutil.copytree(shown.crawl.folder, tmp_path / "crawl")
    now = json.loads((folder / "now.json").read_text())
    worker = now["workers"][0]
    worker |= {"state": "running", "time": worker["time"] - 60}  # it reports nothing since
    hub = {"name": f"hub.co.th{HOSTILE}", "reasons": {"robots.txt": 9}, "linked": 99}
    now["without_page"] = {"servers": 1, "reasons": {"robots.txt": 1}, "first": [hub]}
    (folder / "now.json").write_text(json.dumps(now))
    with watch(Site(tmp_path / "web", folder)) as watched:
        opened = view(browser, watched, told)
        opened.wait_for_selector("#alerts li")
        assert [row.split(".")[0] for row in texts(opened, "#alerts li p")] == [
            "The crawl reports nothing any more", "Relevant pages link to 99 URLs of hub"
        ]  # fmt: skip
        assert opened.locator("#alerts a:visible").get_attribute("href").startswith("site?name=")
        opened.goto(f"http://127.0.0.1:{watched.port}/todo")
        assert len(texts(opened, ".alerts li")) == 2
        opened.close()
    assert told == []


JUNE = 1_780_272_000
"""The first of June 2026, 0:00 in Greenwich, 7:00 in Bangkok."""


def point(number: int) -> Point:
    """Return one point of a crawl of two pages a second, of which ever fewer are relevant."""
    pages = 1200 * number
    relevant = 1000 * min(number, 3) + 200 * max(number - 3, 0)
    return Point(JUNE + 600 * number, JUNE, pages, relevant, 0, pages, 40 * number, 9 * number, 7)


@pytest.fixture
def charted(shown: Shown, tmp_path: Path) -> Iterator[Shown]:
    """A crawl with a course of an hour."""
    folder = shutil.copytree(shown.crawl.folder, tmp_path / "crawl")
    (folder / COURSE).write_text("".join(point(number).line() for number in range(7)), "utf-8")
    with watch(Site(tmp_path / "web", folder)) as watched:
        yield watched


def texts(opened: Any, selector: str) -> list[str]:
    return [text.strip() for text in opened.locator(selector).all_text_contents()]


@pytest.mark.slow
def test_ticks_are_even_values_and_the_clock_of_the_reader(
    browser: Any, charted: Shown, told: list[str]
) -> None:
    opened = view(browser, charted, told, timezone_id="Asia/Bangkok")
    ticks = ".grid text:not(.when)"
    assert texts(opened, f"#chart-share {ticks}") == ["0 %", "25 %", "50 %", "75 %", "100 %"]
    assert texts(opened, f"#chart-speed {ticks}") == ["0", "0.5", "1", "1.5", "2"]
    assert texts(opened, f"#chart-queue {ticks}") == ["0", "100", "200", "300"]
    times = texts(opened, "#chart-share .grid .when")
    assert times == ["07:00", "07:15", "07:30", "07:45", "08:00"]
    opened.close()
    assert told == []


@pytest.mark.slow
def test_a_chart_has_the_values_of_the_moment_that_is_pointed_at(
    browser: Any, charted: Shown, told: list[str]
) -> None:
    opened = view(browser, charted, told, timezone_id="UTC")
    values, moment = "#chart-share .legend .value", "#chart-share .cross text"
    latest = ["50.0 %", "98.5 %", "16.7 %"]
    assert texts(opened, values) == latest
    assert not opened.is_visible(moment)
    for number, shares in (
        (3, ["83.3 %", "99.1 %", "83.3 %"]),
        (4, ["66.7 %", "98.9 %", "16.7 %"]),
    ):
        opened.hover("#chart-share svg", position=spot(opened, number))
        assert texts(opened, values) == shares
        assert opened.text_content(moment) == f"2026-06-01 00:{10 * number}:00"
        assert opened.locator("#chart-share .cross circle:visible").count() == 3
    opened.mouse.move(0, 0)
    assert texts(opened, values) == latest
    assert not opened.is_visible(moment)
    opened.close()
    assert told == []


def spot(opened: Any, number: int) -> dict[str, float]:
    """Return where the point of a number is in the first chart."""
    line = opened.locator("#chart-share .grid line").first
    left, right = (float(line.get_attribute(name)) for name in ("x1", "x2"))
    return {"x": left + (right - left) * number / 6, "y": 90}


@pytest.mark.slow
def test_a_chart_is_read_with_the_keyboard(browser: Any, charted: Shown, told: list[str]) -> None:
    opened = view(browser, charted, told, timezone_id="UTC")
    said = "document.activeElement.getAttribute('aria-valuetext')"
    opened.locator("#chart-queue .legend button").first.focus()
    opened.keyboard.press("Shift+Tab")
    assert opened.evaluate("document.activeElement.getAttribute('role')") == "slider"
    for key, heard in (
        ("Home", "00:00:00: Relevant pages expected 0, URLs pending 0"),
        ("ArrowRight", "00:10:00: Relevant pages expected 9, URLs pending 40"),
        ("End", "01:00:00: Relevant pages expected 54, URLs pending 240"),
        ("ArrowLeft", "00:50:00: Relevant pages expected 45, URLs pending 200"),
    ):
        opened.keyboard.press(key)
        assert opened.evaluate(said) == f"2026-06-01 {heard}"
    opened.keyboard.press("Escape")
    assert opened.evaluate(said) == "Now: Relevant pages expected 54, URLs pending 240"
    opened.close()
    assert told == []


@pytest.mark.slow
def test_a_name_hides_its_line_and_the_axis_fits_the_rest(
    browser: Any, charted: Shown, told: list[str]
) -> None:
    opened = view(browser, charted, told)
    names = opened.locator("#chart-queue .legend button")
    lines, ticks = "#chart-queue .line", "#chart-queue .grid text:not(.when)"
    drawn = "lines => lines.filter(line => line.getAttribute('d')).length"
    for number, top, left in ((1, "60", 1), (0, "1", 0)):
        names.nth(number).click()
        assert names.nth(number).get_attribute("aria-pressed") == "false"
        assert texts(opened, ticks)[-1] == top
        assert opened.eval_on_selector_all(lines, drawn) == left
    names.nth(1).press("Enter")
    assert texts(opened, ticks)[-1] == "300"
    assert opened.eval_on_selector_all(lines, drawn) == 1
    opened.close()
    assert told == []


@pytest.mark.slow
def test_a_chart_goes_on_where_it_is_while_somebody_points_at_it(
    browser: Any, charted: Shown, told: list[str]
) -> None:
    opened = view(browser, charted, told, timezone_id="UTC")
    opened.hover("#chart-share svg", position=spot(opened, 3))
    chart = opened.query_selector("#chart-share svg")
    with (charted.crawl.folder / COURSE).open("a", encoding="utf-8") as file:
        file.write(point(7).line())
    opened.wait_for_selector("#chart-share svg[aria-valuemax='7']")
    assert chart.evaluate("chart => chart.isConnected")
    assert opened.text_content("#chart-share .cross text") == "2026-06-01 00:30:00"
    assert texts(opened, "#chart-share .legend .value") == ["83.3 %", "99.1 %", "83.3 %"]
    assert texts(opened, "#chart-queue .legend .value") == ["63", "280"]
    opened.close()
    assert told == []
