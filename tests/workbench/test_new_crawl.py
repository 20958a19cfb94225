"""A crawl from a form: its file, its mistakes, and that nothing else can be given there."""

from __future__ import annotations

import json
import subprocess
import tomllib
from time import sleep
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lswc.crawl import crawl_file
from lswc.errors import ConfigError
from lswc.frontier.store.frontier import Frontier
from lswc.guest.control import InFolder, read
from lswc.strategy import strategy
from lswc.workbench import new_crawl, plans
from lswc.workbench.crawls import Crawls
from lswc.workbench.routes import OF_FOLDER
from tests.scenarios.site import BRAKE, Site
from tests.workbench import test_page
from tests.workbench.test_page import watch

if TYPE_CHECKING:
    from pathlib import Path

FORM = {
    "name": "lao", "language": "Lao, th", "contact": "crawl@library.example",
    "seeds": "http://one.example/\nhttp://two.example/", "profile": "corpus", "pages": "1000",
    "seconds": "1.5", "depth": "9", "domains": "one.example\nລາວ.ລາວ", "include": "path:/a/*",
    "exclude": "path:/b/*", "archive": "all", "operator": 'A "library"', "description": "ທົດລອງ",
    "delay": "2.5", "requests": "7", "revisit": "20", "from": "22:00", "to": "06:00",
    "zone": "Asia/Bangkok", "web": "demo",
}  # fmt: skip

browser, told = test_page.browser, test_page.told  # fixtures


@pytest.fixture
def crawls(tmp_path: Path) -> Crawls:
    return Crawls(tmp_path / "crawls")


def begin(crawls: Crawls, name: str) -> None:
    (crawls.folder / name).mkdir(parents=True, exist_ok=True)
    Frontier(crawls.folder / name / "frontier.db", strategy("bfs"), {"language": "th"}).close()


def saved(crawls: Crawls, **changes: Any) -> Any:
    return new_crawl.save(crawls, {**FORM, **changes})


def test_a_form_writes_a_crawl_file_and_reads_it_again(crawls: Crawls) -> None:
    begin(crawls, "th")
    assert saved(crawls, recrawl="th") == {"goto": "plan?crawl=lao"}
    file = crawl_file.read(crawls.folder / "lao.toml")
    seeds = crawls.folder / "lao-seeds.txt"
    assert file.arguments == {"lang": "lo,th", "seeds": str(seeds)}
    assert file.settings == {
        "LSWC_CONTACT": "crawl@library.example", "LSWC_CRAWL": str(crawls.folder / "lao"),
        "LSWC_PROFILE": "corpus", "CLOSESPIDER_ITEMCOUNT": 1000, "CLOSESPIDER_TIMEOUT": 5400,
        "DEPTH_LIMIT": 9, "LSWC_ALLOWED_DOMAINS": ["one.example", "xn--q7ce6a.xn--q7ce6a"],
        "LSWC_INCLUDE": ["path:/a/*"], "LSWC_EXCLUDE": ["path:/b/*"], "LSWC_ARCHIVE": "all",
        "LSWC_OPERATOR": 'A "library"', "LSWC_DESCRIPTION": "ທົດລອງ", "DOWNLOAD_DELAY": 2.5,
        "CONCURRENT_REQUESTS": 7, "LSWC_REVISIT": 0.05, "LSWC_WEB": "demo",
        "LSWC_RECRAWL": [str(crawls.folder / "th")],
    }  # fmt: skip
    assert seeds.read_text() == FORM["seeds"] + "\n"
    assert str(read(InFolder(crawls.folder / "lao")).hours) == "22:00-06:00 Asia/Bangkok"
    shown = new_crawl.form(crawls, {"crawl": "lao"})
    text = (crawls.folder / "lao.toml").read_text()
    again = new_crawl.save(crawls, {**shown["fields"], "version": shown["version"]})
    assert again == {"goto": "plan?crawl=lao"}
    assert (crawls.folder / "lao.toml").read_text() == text, "a form changes what it isn't asked to"


def test_all_mistakes_come_together_each_at_its_field(crawls: Crawls) -> None:
    wrong = dict.fromkeys(FORM, "\ud800 no \n such") | {"web": "../web", "recrawl": "../th"}
    del wrong["to"], wrong["zone"], wrong["operator"], wrong["description"]
    told = new_crawl.save(crawls, {**wrong, "operator": "a\nb", "description": "x" * 1_001})
    assert told["mistakes"].keys() == wrong.keys() | {"operator", "description"}
    assert not crawls.folder.exists()
    assert set(new_crawl.save(crawls, {})["mistakes"]) == {"name", "language", "contact"}
    assert "no list for" in saved(crawls, seeds="", web="", language="ady")["mistakes"]["seeds"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.dictionaries(st.sampled_from(["name", "seeds", *new_crawl.FIELDS]), st.text()))
def test_whatever_is_typed_is_written_as_a_value_or_a_mistake(
    crawls: Crawls, typed: dict[str, str]
) -> None:
    told = new_crawl.save(crawls, {**FORM, **typed})
    assert told.keys() in ({"goto"}, {"mistakes", "error"})
    for name in plans.names(crawls.folder):
        assert crawl_file.read(crawls.folder / f"{name}.toml").settings["LSWC_CRAWL"]
        plans.planned(crawls.folder, name).delete()
    assert not crawls.folder.exists() or not list(crawls.folder.iterdir())


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("operator", '" LSWC_ON_END = "sh'),
        ("operator", '"\n[settings]\nLSWC_ON_END = "sh"'),
        ("exclude", 'path:/"]\nLSWC_ON_END="sh"'),
        ("seeds", 'http://one.example/"\nLSWC_ON_END="sh"'),
        ("profile", "os:system"),
        ("web", "/etc"),
    ],
)
def test_nothing_that_runs_or_lies_elsewhere_can_be_given(
    crawls: Crawls, field: str, text: str
) -> None:
    more = {"LSWC_ON_END": "sh", "settings": {"LSWC_ON_END": "sh"}, "folder": "/", "LSWC_WEB": "/"}
    told = saved(crawls, **more, **{field: text})
    assert told.get("mistakes", {}).keys() <= {field}
    if "goto" in told:
        found = tomllib.loads((crawls.folder / "lao.toml").read_text())
        assert found["folder"] == str(crawls.folder / "lao")
        assert found["settings"].keys() == {"DOWNLOAD_DELAY", "CONCURRENT_REQUESTS", "LSWC_REVISIT"}
        assert found.keys() <= {*crawl_file.KEYS, "settings"}


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", "a.b", "-a", "api", "ก", "x" * 65])
def test_a_name_is_that_of_a_file_in_the_folder(crawls: Crawls, name: str) -> None:
    assert saved(crawls, name=name)["mistakes"].keys() == {"name"}
    assert {*OF_FOLDER, "api"} - {""} <= plans.TAKEN


def test_what_is_there_stays(crawls: Crawls, tmp_path: Path) -> None:
    crawls.folder.mkdir()
    (crawls.folder / "lao").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match="there already"):
        saved(crawls)
    (crawls.folder / "lao").unlink()
    saved(crawls)
    with pytest.raises(ConfigError, match="there already"):
        saved(crawls)
    old = new_crawl.form(crawls, {"crawl": "lao"})["version"]
    saved(crawls, version=old, pages="5")
    with pytest.raises(ConfigError, match="changed by somebody else"):
        saved(crawls, version=old, pages="6")
    assert tomllib.loads((crawls.folder / "lao.toml").read_text())["pages"] == 5


def test_a_file_that_says_more_is_left_to_its_writer(crawls: Crawls) -> None:
    saved(crawls)
    with (crawls.folder / "lao.toml").open("a") as file:
        file.write("LSWC_TWINS = false\n")
    with pytest.raises(ConfigError, match="doesn't know: LSWC_TWINS"):
        new_crawl.form(crawls, {"crawl": "lao"})


def test_only_what_has_not_begun_is_changed_or_deleted(crawls: Crawls) -> None:
    saved(crawls)
    assert [(one["name"], one["state"]) for one in crawls.listed()] == [("lao", "planned")]
    plan = plans.planned(crawls.folder, "lao")
    begin(crawls, "lao")
    with pytest.raises(ConfigError, match="no crawl that is to begin"):
        new_crawl.delete(crawls, {"crawl": "lao"})
    with pytest.raises(ConfigError, match="has begun"):
        plan.delete()
    saved(crawls, name="other")
    new_crawl.delete(crawls, {"crawl": "other"})
    left = {path.name for path in crawls.folder.iterdir()}
    assert left == {"lao", "lao.toml", "lao-seeds.txt"}


def test_a_dry_run_is_bounded_and_shown_until_the_plan_changes(
    crawls: Crawls, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[list[str]] = []

    def ran(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        given.append(command[1:])
        return subprocess.CompletedProcess(command, 0, b"\xff" + b"x" * 200_000)

    monkeypatch.setattr("lswc.workbench.plans.subprocess.run", ran)
    saved(crawls)
    file, folder = crawls.folder / "lao.toml", crawls.folder / "lao"
    new_crawl.dry_run(crawls, {"crawl": "lao"})
    assert given == [["-m", "lswc", "crawl", str(file), "--into", str(folder), "--dry-run"]]
    assert len(new_crawl.shown(crawls, {"crawl": "lao"})["dry_run"]) == plans.DRY_RUN_CHARACTERS
    version = new_crawl.form(crawls, {"crawl": "lao"})["version"]
    saved(crawls, version=version, pages="7")
    assert new_crawl.shown(crawls, {"crawl": "lao"})["dry_run"] == ""


@pytest.mark.slow
def test_a_crawl_is_made_run_dry_and_started_in_an_empty_folder(tmp_path: Path) -> None:
    folder = tmp_path / "crawls"
    with watch(Site(tmp_path / "web", folder)) as shown:

        def post(path: str, body: dict[str, str]) -> Any:
            status, said = shown.ask(path, "POST", json.dumps(body), X_Lswc_Token=shown.token)
            return status, json.loads(said)

        form = {"name": "demo", "language": "Thai", "web": "demo", "pages": "5", "delay": "0"}
        assert shown.ask("/api/save", "POST", json.dumps(form))[0] == 403
        assert post("/api/save", {**form, "pages": "0"})[1]["mistakes"].keys() == {"pages"}
        assert post("/api/save", form) == (200, {"goto": "plan?crawl=demo"})
        assert post("/api/dry-run", {"crawl": "demo"})[0] == 200
        assert "after the robots.txt of its server" in shown.ask("/plan?crawl=demo")[1]
        assert not (folder / "demo").exists()
        assert post("/api/start", {"name": "demo"})[0] == 200
        while not (folder / "demo" / "summary.json").exists():
            assert json.loads(shown.ask("/api/crawls")[1])["crawls"][0]["wrong"] == ""
            sleep(0.5)
        assert "LSWC_PROFILE" in shown.ask("/demo/settings")[1]


@pytest.mark.slow
def test_by_keyboard_a_form_goes_to_its_first_mistake_and_keeps_what_was_typed(
    browser: Any,
    told: list[str],
    tmp_path: Path,
) -> None:
    seeds = tmp_path / "list.txt"
    seeds.write_text("http://one.example/\n")
    with watch(Site(tmp_path / "web", tmp_path / "crawls")) as shown:
        opened = browser.new_page()
        opened.set_default_timeout(1_000 * BRAKE)
        opened.on("console", lambda message: told.append(message.text))
        opened.on("pageerror", lambda error: told.append(str(error)))
        opened.goto(f"http://127.0.0.1:{shown.port}/#{shown.token}")
        opened.click("text=make one")
        opened.focus("#field-name")
        press = opened.keyboard
        press.type("lao")
        press.press("Tab")
        press.type("Laos")
        press.press("Enter")
        opened.wait_for_selector("#language-wrong:not([hidden])")
        assert opened.evaluate("document.activeElement.id") == "field-language"
        described = opened.get_attribute("#field-language", "aria-describedby").split()
        assert described == ["language-hint", "language-wrong"]
        assert opened.input_value("#field-name") == "lao"
        press.press("Control+a")
        press.type("Lao")
        press.press("Tab")
        press.type("crawl@library.example")
        opened.set_input_files("#field-file", str(seeds))
        while not opened.input_value("#field-seeds"):
            sleep(0.1)
        opened.focus("#field-pages")
        press.press("Enter")
        opened.wait_for_selector("[data-change=dry-run]")
        assert opened.url.endswith("/plan?crawl=lao")
        assert "http://one.example/" in (tmp_path / "crawls" / "lao-seeds.txt").read_text()
        opened.close()
    assert told == []
