"""A librarian's tasks, by keyboard alone in a real browser; and each view as axe sees it."""

from __future__ import annotations

import json
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import pytest

from lswc.workbench.player import player
from tests.scenarios.site import BRAKE, Site
from tests.workbench.test_page import browser, told, watch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.workbench.test_page import Shown

__all__ = ["browser", "told"]

pytestmark = pytest.mark.slow

TABS = 400
"""Presses of Tab after which something can't be reached."""

BLOCKED = "samutlib-demo.go.th"
"""A site of the demo web."""

MINUTES = 10
"""In which each task is done. A task takes seconds of these, and a crawl's pages some more."""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    """A workbench of an empty folder for crawls."""
    place = tmp_path_factory.mktemp("tasks")
    with watch(Site(place / "web", place / "crawls")) as serving:
        yield serving
        if (place / "crawls" / "thai").exists():
            body = json.dumps({"name": "thai"})
            serving.ask("/api/stop", "POST", body, X_Lswc_Token=serving.token)
            end = monotonic() + BRAKE
            while not (place / "crawls" / "thai" / "summary.json").exists():
                assert monotonic() < end
                sleep(0.2)


class Keyboard:
    """A person at a keyboard, without a mouse."""

    def __init__(self, page: Any, address: str, token: str) -> None:
        self.page, self.address = page, address
        page.set_default_timeout(1_000 * BRAKE)
        page.goto(f"{address}#{token}")

    def to(self, selector: str) -> None:
        """Press Tab until the focus is on what matches a selector."""
        for _ in range(TABS):
            if self.page.evaluate("(wanted) => document.activeElement.matches(wanted)", selector):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{selector} isn't reached at {self.page.url}")

    def to_text(self, text: str) -> None:
        """Press Tab until the focus is on a link or a button whose text begins so."""
        for _ in range(TABS):
            if self.page.evaluate(
                "(text) => document.activeElement.matches('a, button')"
                " && document.activeElement.textContent.trim().startsWith(text)",
                text,
            ):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{text!r} isn't reached at {self.page.url}")

    def enter(self) -> None:
        """Press Enter on what leads to another page, or makes this one be loaded again."""
        with self.page.expect_navigation():
            self.page.keyboard.press("Enter")

    def follow(self, text: str) -> None:
        """Follow a link, or press a button, whose text begins so."""
        self.to_text(text)
        self.enter()

    def type(self, selector: str, text: str) -> None:
        self.to(selector)
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(text)

    def sees(self, selector: str) -> None:
        self.page.wait_for_selector(selector)

    def sees_after_loading(self, selector: str) -> None:
        """Load the page again until it has something."""
        end = monotonic() + 60 * MINUTES
        while not self.page.query_selector(selector):
            assert monotonic() < end, f"{selector} never comes at {self.page.url}"
            sleep(0.5)
            self.page.reload()


def test_five_tasks_by_keyboard_alone(
    browser: Any, shown: Shown, told: list[str], record_property: Any
) -> None:
    if player() is None:
        pytest.skip("no player of archives on this machine: install npm")
    page = browser.new_page()
    page.on("pageerror", lambda error: told.append(str(error)))
    user = Keyboard(page, f"http://127.0.0.1:{shown.port}/", shown.token)
    seconds: dict[str, float] = {}
    for task in (a_new_crawl, a_site_blocked, a_page_and_its_capture, a_board_report, a_wacz):
        began = monotonic()
        task(user, shown)
        seconds[task.__name__] = round(monotonic() - began, 1)
        assert seconds[task.__name__] < 60 * MINUTES
    page.close()
    record_property("seconds", seconds)
    print(seconds)
    assert told == []


def a_new_crawl(user: Keyboard, shown: Shown) -> None:
    user.follow("New crawl")
    user.type("#field-name", "thai")
    user.type("#field-language", "Thai")
    user.type("#field-contact", "crawl@library.example")
    user.to("[name=web]")
    user.page.keyboard.press("Space")
    user.type("#field-pages", "2000")
    user.enter()
    user.sees("text=The crawl file")
    user.follow("Dry run")
    user.sees("#dry-run pre:has-text('robots.txt of its server')")
    user.follow("Start the crawl")
    user.sees("#crawls a[href='thai/']")
    assert (shown.crawl.folder / "thai.toml").exists()


def a_site_blocked(user: Keyboard, shown: Shown) -> None:
    user.page.goto(f"{user.address}thai/")
    user.follow("Sites")
    user.sees_after_loading(f"a:has-text('{BLOCKED}')")
    user.follow(BLOCKED)
    user.sees("h2:has-text('Instructions for')")
    user.type("#instruct [name=why]", "asked by its owner")
    user.enter()
    user.sees("#instruct td:has-text('blocked')")
    user.sees_after_loading("td:has-text('blocked') >> nth=1")  # an outcome of its URLs
    state = json.loads(shown.ask("/thai/api/state")[1])
    assert [BLOCKED, {"block": True}, "asked by its owner"] in state["rules"]


def a_page_and_its_capture(user: Keyboard, shown: Shown) -> None:
    user.follow("Hand over")
    user.to("button[data-job=replay]")
    user.enter()
    user.sees("text=See what was archived")
    user.follow("Pages")
    user.type("[name=q]", "การศึกษา")
    user.enter()
    user.to("ol.pages li:not(:has(.wait)) a.title")
    user.enter()
    user.sees("h2:has-text('Text as it was read')")
    with user.page.context.expect_page() as opened:
        user.to_text("As it was archived")
        user.page.keyboard.press("Enter")
    capture = opened.value
    capture.wait_for_selector("replay-web-page")
    end = monotonic() + BRAKE
    while not any("/replay/w/" in frame.url for frame in capture.frames):
        assert monotonic() < end, [frame.url for frame in capture.frames]
        sleep(0.2)
        capture.evaluate("1")  # so that the browser's messages are read
    capture.close()


def a_board_report(user: Keyboard, shown: Shown) -> None:
    user.follow("Hand over")
    user.to("button[data-job=report]")
    user.enter()
    user.sees("a[href$='board.html']")
    user.to("a[href$='board.html'][target]")
    with user.page.context.expect_page() as opened:
        user.page.keyboard.press("Enter")
    board = opened.value
    board.wait_for_selector("h1:has-text('The Thai web')")
    board.close()


def a_wacz(user: Keyboard, shown: Shown) -> None:
    user.page.bring_to_front()
    user.to("button[data-job=wacz]")
    user.enter()
    user.sees("a[href$='thai.wacz']")
    user.to("a[href$='thai.wacz']")
    with user.page.expect_download() as download:
        user.page.keyboard.press("Enter")
    made: Path = download.value.path()
    assert made.read_bytes()[:2] == b"PK"


VIEWS = ("", "new", "thai/", "thai/todo", "thai/pages", "thai/sites", f"thai/site?name={BLOCKED}",
         "thai/page?url=http://www.samutlib-demo.go.th/", "thai/look?q=samutlib-demo",
         "thai/server?name=www.samutlib-demo.go.th", "thai/marks", "thai/handover",
         "thai/settings", "thai/pages?since=never")  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_any_view(
    browser: Any, shown: Shown, scheme: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    if not (shown.crawl.folder / "thai").exists():
        pytest.skip("the tasks made no crawl")
    wrong: dict[str, Any] = {}
    for width in (390, 1024, 1440):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
        )
        page = context.new_page()
        page.set_default_timeout(1_000 * BRAKE)
        page.goto(f"http://127.0.0.1:{shown.port}/#{shown.token}")
        for view in VIEWS:
            page.goto(f"http://127.0.0.1:{shown.port}/{view}")
            page.wait_for_load_state("networkidle")
            found = axe.run(page).response["violations"]
            if found:
                wrong[f"{width} {view}"] = [(one["id"], one["nodes"][0]["html"]) for one in found]
            wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            if wide > 0:
                wrong[f"{width} {view} wide"] = wide
        context.close()
    assert wrong == {}
