"""The list of pages and one page, as a crawl that was really run shows them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from lswc.archive.page_index import FILE
from lswc.guest.control import in_folder, read
from lswc.workbench.replay import announced
from tests.scenarios.site import ENGLISH, THAI, Site, page
from tests.workbench.test_page import HOSTILE, Shown, browser, told, watch

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["browser", "told"]

FRONT = "http://www.one.co.th/"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    folder = tmp_path_factory.mktemp("pages")
    site = Site(folder / "web", folder / "crawl")
    site.seeds(FRONT)
    title = HOSTILE.replace("<", "&lt;")
    hostile = page(f"{THAI}{title}", "/2.html", "http://xn--o3cw4h.example/")
    site.add("www.one.co.th/", hostile.replace("<title>t", f"<title>{title}"))
    site.add("www.one.co.th/2.html", page(THAI, "/"))
    site.add("xn--o3cw4h.example/", page(ENGLISH, "/"))
    site.crawl()
    with watch(site) as watched:
        yield watched


def asked(shown: Shown, **given: str) -> tuple[int, str]:
    return shown.ask("/pages?" + "&".join(f"{name}={quote(v)}" for name, v in given.items()))


def titles(shown: Shown, **given: str) -> list[str]:
    status, text = asked(shown, **given)
    assert status == 200
    return re.findall(r'href="page\?url=([^"]+)"', text)


def test_pages_are_listed_as_they_come_and_found(shown: Shown) -> None:
    front, second, other = "www.one.co.th/", "www.one.co.th/2.html", "xn--o3cw4h.example/"
    everything = [f"http%3A//{address}" for address in (other, second, front)]
    assert sorted(titles(shown)) == sorted(everything)
    assert titles(shown)[-1] == everything[-1], "the first that came is the last"
    assert "ไทย.example" in asked(shown)[1]
    assert titles(shown, q="weather") == titles(shown, language="en") == everything[:1]
    assert titles(shown, site="ไทย.example") == everything[:1]
    assert len(titles(shown, q="ข่าววันนี้", judged="relevant", kind="html")) == 2
    assert titles(shown, q="onerror") == everything[2:]
    assert titles(shown, since="2999-01-01") == []


@pytest.mark.parametrize(
    ("given", "status", "said"),
    [
        ({"q": "ก" * 1_001}, 400, "at most 1,000 characters"),
        ({"q": "\"' OR 1=1; --) NEAR *"}, 200, "No page is like that"),
        ({"q": "?!"}, 200, "no letter, no digit"),
        ({"since": "yesterday"}, 400, "isn&#39;t a day"),
        ({"site": "http://["}, 400, "isn&#39;t a site"),
        ({"before": "-1", "after": "x" * 99}, 200, "3 pages"),
        ({"until": "9999-12-31"}, 200, "3 pages"),
        ({"language": "th' OR"}, 200, "No page is like that"),
    ],
)
def test_what_cant_be_looked_for_is_said_in_a_line(
    shown: Shown, given: dict[str, str], status: int, said: str
) -> None:
    answered, text = asked(shown, **given)
    assert (answered, said in text) == (status, True)


def test_one_page_is_shown_with_what_was_decided_and_its_capture(shown: Shown) -> None:
    status, text = shown.ask(f"/page?url={quote(FRONT, safe='')}")
    assert status == 200
    for part in ("A page, recorded.", "ภาษาไทยเป็นภาษา", 'rel="noopener noreferrer"', "seed",
                 'href="site?name=one.co.th"'):  # fmt: skip
        assert part in text
    assert "As it was archived" not in text
    with announced(shown.crawl.folder, "http://127.0.0.1:9/"):
        text = shown.ask(f"/page?url={quote(FRONT, safe='')}")[1]
    assert re.search(r'href="http://127.0.0.1:9/go\?url=[^"]+&amp;ts=\d{14}"', text)
    assert "doesn’t have this page" in shown.ask("/page?url=http://www.one.co.th/none")[1]
    for wrong in ("", "javascript:alert(1)", "x", "%00://"):
        status, text = shown.ask(f"/page?url={wrong}")
        assert (status, "isn&#39;t the URL of a page" in text) == (400, True)


def test_without_an_index_the_latest_pages_are_listed_and_it_says_how_to_make_one(
    shown: Shown,
) -> None:
    file = shown.crawl.folder / FILE
    away = file.rename(file.with_suffix(".away"))
    try:
        status, text = asked(shown)
        assert (status, f"lswc index {shown.crawl.folder}" in text) == (200, True)
        assert len(titles(shown)) == 3
        assert "A page, recorded." in shown.ask(f"/page?url={quote(FRONT, safe='')}")[1]
        file.write_bytes(b"no index" * 99)
        status, text = asked(shown)
        assert (status, "is damaged" in text) == (503, True)
        assert "A page, recorded." in shown.ask(f"/page?url={quote(FRONT, safe='')}")[1]
    finally:
        away.rename(file)


def test_a_folder_that_isnt_there_is_said_in_a_line(shown: Shown) -> None:
    folder = shown.crawl.folder
    away = folder.rename(folder.with_suffix(".away"))
    try:
        status, text = asked(shown)
        assert (status, "isn&#39;t there any more" in text) == (503, True)
    finally:
        away.rename(folder)


@pytest.mark.slow
def test_what_a_page_says_is_text_and_the_list_is_searched_without_a_mouse(
    browser: Any, shown: Shown
) -> None:
    context = browser.new_context()
    context.on("dialog", lambda _: pytest.fail("a script of the web's ran"))
    opened = context.new_page()
    opened.goto(f"http://127.0.0.1:{shown.port}/pages#{shown.token}")
    opened.focus("input[name=q]")
    opened.keyboard.type("onerror")
    opened.keyboard.press("Enter")
    opened.wait_for_url("**/pages?q=onerror*")
    assert opened.inner_text("#found") == "1 page"
    assert opened.inner_text(".pages .title") == HOSTILE
    opened.focus(".pages .title")
    opened.keyboard.press("Enter")
    opened.wait_for_selector("#says")
    assert HOSTILE in opened.inner_text("main")
    assert opened.inner_text("h1") == HOSTILE
    assert opened.locator("main img, main script").count() == 0
    opened.focus("text=Give one for its server")
    opened.keyboard.press("Enter")
    opened.wait_for_selector("#instruct input[name=why]")
    opened.focus("#instruct input[name=why]")
    opened.keyboard.type("mail")
    opened.keyboard.press("Enter")
    opened.wait_for_selector("#instruct td:text-is('blocked')")
    ((place, rule),) = read(in_folder(shown.crawl.folder)).rules
    assert (place.name, rule.block, rule.why) == ("www.one.co.th/", True, "mail")
    context.close()
