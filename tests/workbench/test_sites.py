"""Sites in the workbench: their list, one of them, instructions to the crawl, and marks."""

from __future__ import annotations

import json
from contextlib import closing
from time import time
from typing import TYPE_CHECKING, Any

import pytest
from redis import Redis

from lswc.errors import ConfigError, LswcError
from lswc.frontier.exchange.post import Post
from lswc.frontier.rules.report import OfSite, SiteTotals
from lswc.frontier.rules.visit import Offer
from lswc.frontier.store.frontier import Frontier
from lswc.guest.control import Rule, change, history, in_folder, read
from lswc.guest.rests import Backoff
from lswc.monitor.stored import StoredInFolders, StoredInRedis
from lswc.strategy import SEED, PageLanguage, strategy
from lswc.workbench import marking, one_site, sites
from lswc.workbench.answers import File, Menu
from lswc.workbench.html import filled
from lswc.workbench.instructions import instruct
from lswc.workbench.one_site import Heard, because, politeness
from lswc.workbench.watch import Watch
from tests.frontier.one_worker import shared
from tests.visits import ended

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.frontier.redis_server import RedisServer

IDENTITY = {"language": "th", "strategy": "adaptive"}
THAI = "xn--o3cw4h"
HOSTILE = "<script>alert(1)</script>"


def offer(url: str) -> Offer:
    server = url.split("/")[2]
    return Offer(url, server, server, SEED, PageLanguage.TARGET, 0)


def fill(frontier: Frontier) -> None:
    """Fetch a page of www.one.co.th, and what is forbidden on two.co.th; more of both wait."""
    frontier.offer([offer("http://www.one.co.th/"), offer("http://two.co.th/")])
    for outcome, relevant in (("html", True), ("robots.txt", None)):
        lease = frontier.lease(0.0)
        assert lease is not None
        frontier.commit(ended(lease, outcome, relevant=relevant))
    frontier.offer([offer(f"http://www.{THAI}.{THAI}/"), offer("http://www.one.co.th/2")])


@pytest.fixture(params=["folder", "redis"])
def watch(request: pytest.FixtureRequest, tmp_path: Path, redis_server: RedisServer) -> Watch:
    frontier = Frontier(tmp_path / "frontier.db", strategy("adaptive"), IDENTITY)
    fill(frontier)
    if request.param == "redis":
        redis_server.empty()
        shared(frontier, Redis(port=redis_server.port), "lswc:th", tmp_path)
    frontier.close()
    if request.param == "redis":
        return Watch(StoredInRedis(Post(Redis(port=redis_server.port), "lswc:th")))
    return in_one(tmp_path)


@pytest.fixture
def alone(tmp_path: Path) -> Watch:
    with closing(Frontier(tmp_path / "frontier.db", strategy("adaptive"), IDENTITY)) as frontier:
        fill(frontier)
    return in_one(tmp_path)


def in_one(folder: Path) -> Watch:
    return Watch(StoredInFolders([folder], in_folder(folder)))


def page(name: str, values: Mapping[str, Any] | File) -> str:
    assert not isinstance(values, File)
    menu = {"menu": Menu("live", [("sites", "Sites")], ""), "here": name, "title": name}
    return filled(f"{name}.html", {**menu, **values}).decode()


def test_sites_are_listed_filtered_and_sorted(watch: Watch) -> None:
    every = sites.listed(watch, {})
    assert (every["number"], every["rows"][0].name) == (3, "one.co.th")
    without = sites.listed(watch, {"show": "without", "order": "name"})
    assert [one.name for one in without["rows"]] == ["two.co.th", f"{THAI}.{THAI}"]
    found = sites.listed(watch, {"q": "ไทย.ไทย"})
    assert [one.name for one in found["rows"]] == [f"{THAI}.{THAI}"]
    assert ">ไทย.ไทย</a>" in page("sites", found)


def test_sites_of_several_folders_are_sorted_together(tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder, pages in zip(folders, (1, 2), strict=True):
        folder.mkdir()
        path = folder / "frontier.db"
        with closing(Frontier(path, strategy("adaptive"), IDENTITY)) as frontier:
            frontier.offer([offer(f"http://s{pages}.th/{number}") for number in range(pages)])
    both = Watch(StoredInFolders(folders, in_folder(folders[0])))
    found = sites.listed(both, {"order": "pending"})
    assert (found["number"], [one.name for one in found["rows"]]) == (2, ["s2.th", "s1.th"])
    assert one_site.shown(both, {"name": "s2.th"})["site"].totals.pending == 2


@pytest.mark.parametrize(
    "given",
    [
        {"q": HOSTILE}, {"q": "ก" * 10_000}, {"q": "' OR 1 --"}, {"q": 'NEAR("a" *)'},
        {"q": "\x00"}, {"page": "9" * 5_000}, {"page": "-1"}, {"order": "name; DROP TABLE site"},
    ],
)  # fmt: skip
def test_whatever_is_asked_for_is_a_list(alone: Watch, given: dict[str, str]) -> None:
    text = page("sites", sites.listed(alone, given))
    assert HOSTILE not in text
    assert sites.listed(alone, {})["number"] == 3


def test_a_page_of_the_list_has_the_sites_after_those_before(
    alone: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sites, "ROWS", 2)
    names = [
        [one.name for one in sites.listed(alone, {"page": f"{number}", "order": "name"})["rows"]]
        for number in (1, 2, 3)
    ]
    assert names == [["one.co.th", "two.co.th"], [f"{THAI}.{THAI}"], []]
    text = page("sites", sites.listed(alone, {"page": "2", "q": ".co"}))
    assert "No site is like that" in text


def test_one_site_tells_what_became_of_it(watch: Watch) -> None:
    found = one_site.shown(watch, {"name": "http://WWW.one.co.th/x?y"})
    assert found["kept"] == [("html", 1, "A page, recorded.")]
    assert (found["site"].totals.pending, found["because"]) == (1, [])
    refused = one_site.shown(watch, {"name": "two.co.th"})
    assert refused["refused"] == [("robots.txt", 1, "The server's robots.txt forbids it.")]
    assert refused["because"] == ["1 URL: robots.txt. The server's robots.txt forbids it."]
    text = page("site", refused)
    assert "This site gave nothing" in text
    assert "forbids it" in text


@pytest.mark.parametrize("name", ["", "x" * 10_000, "../etc", HOSTILE, "three.co.th", "[::1", "ก"])
def test_a_site_that_is_not_known_is_a_mistake(alone: Watch, name: str) -> None:
    with pytest.raises(ConfigError, match="knows no site"):
        one_site.shown(alone, {"name": name})


def test_a_place_of_another_site_is_a_mistake(alone: Watch) -> None:
    for place in ("two.co.th", "notone.co.th", "evil.one.co.th.example/"):
        with pytest.raises(ConfigError, match=r"is no part of one\.co\.th"):
            one_site.shown(alone, {"name": "one.co.th", "place": place})
    found = one_site.shown(alone, {"name": "one.co.th", "place": "http://www.one.co.th/~lek/"})
    assert found["place"] == "www.one.co.th/~lek/"


def test_the_latest_pages_come_from_the_log(
    alone: Watch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [
        {"time": 1_000 * number, "url": url, "outcome": outcome, "title": HOSTILE, "bytes": 9,
         "relevant": True, "language": "th"}
        for number, (url, outcome) in enumerate([
            ("http://www.one.co.th/", "html"), ("http://one.co.th:81/b", "document"),
            ("http://notone.co.th/", "html"), ("http://one.co.th.evil.example/", "html"),
            ("http://evil.example/http://one.co.th/", "html"), ("http://one.co.th/c", "status 404"),
        ])
    ]  # fmt: skip
    (tmp_path / "log").mkdir()
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "log" / "00001.jsonl").write_text(lines)
    found = one_site.shown(alone, {"name": "one.co.th"})
    assert [one["url"] for one in found["latest"]] == [
        "http://one.co.th:81/b", "http://www.one.co.th/"
    ]  # fmt: skip
    assert HOSTILE not in page("site", found)
    monkeypatch.setattr(one_site, "PAGES", 1)
    (latest,) = one_site.shown(alone, {"name": "one.co.th"})["latest"]
    assert latest["url"] == "http://one.co.th:81/b"


def of_site(pages: int = 0, relevant: int = 0, pending: int = 0, **more: Any) -> OfSite:
    totals = SiteTotals("a.th", 1, pages, relevant, 0, 0, pending, 0)
    return OfSite(totals, [], more.get("outcomes", {}), 1.0, more.get("family", ""))


def test_a_site_that_gave_nothing_says_why() -> None:
    nothing, heard = (
        Heard({}, {}, {}),
        Heard({"www.a.th": {"cookie wall": 9, "status 404": 1}}, {}, {}),
    )
    assert because(of_site(9, 1), Rule(block=True), heard) == []
    assert because(of_site(9), Rule(), nothing) == [
        "None of its 9 pages is in the crawl's language."
    ]
    assert because(of_site(), Rule(block=True, why="their mail"), nothing)[0] == (
        "An instruction blocks it: their mail."
    )
    assert because(of_site(), Rule(), heard) == [
        "www.a.th answered: cookie wall. The server sends back whoever asks, whatever cookies it "
        "set."
    ]
    assert because(of_site(pending=2, family="f.com"), Rule(), nothing) == [
        "2 URLs of it wait for their turn. Hardly a site but f.com links to it: such sites get few "
        "requests."
    ]
    requisites = of_site(outcomes={"requisite: timeout": 9})
    assert because(requisites, Rule(), nothing) == ["No URL of it was asked for."]


def test_how_a_site_is_treated_is_told_by_all_that_treats_it(tmp_path: Path) -> None:
    settings = {"robots": "obey", "DOWNLOAD_DELAY": 1, "LSWC_DELAY_FACTOR": 5,
                "LSWC_MAX_PER_DOMAIN": 4, "LSWC_MAX_DOMAIN_PAGES": 1e6}  # fmt: skip
    (tmp_path / "settings.json").write_text(json.dumps(settings))
    now = time()
    heard = Heard({}, {"a.th": 10.0}, {"b.a.th": (2, now + 60), "c.a.th": (1, now - 60)})
    told = dict(politeness([tmp_path], Rule(delay=3.0, max_bytes=5_000_000), heard, now))
    assert told["Crawl-delay of a.th"] == "10 s"
    assert told["by instruction it rests"] == "3 s at least"
    assert told["b.a.th rests until"].endswith("overloaded, 2 times in a row")
    assert "c.a.th rests until" not in told
    assert (told["pages at most"], told["bytes at most"]) == ("1,000,000", "5.0 MB")
    assert dict(politeness([], Rule(), Heard({}, {}, {}), now))["pages at most"] == "any number"


def test_what_servers_said_is_read_from_the_crawl_folder(alone: Watch, tmp_path: Path) -> None:
    lines = [["two.co.th", "no page", [{"status 403": 2}, 1]], ["two.co.th", "Crawl-delay", 7],
             ["nottwo.co.th", "Crawl-delay", 9]]  # fmt: skip
    (tmp_path / "learned.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    backoff = Backoff(tmp_path / "backoff.jsonl", 60.0)
    backoff.overloaded("two.co.th", time())
    backoff.close()
    found = one_site.shown(alone, {"name": "two.co.th"})
    assert found["because"] == [
        "two.co.th answered: status 403. The server answered with this error."
    ]
    told = dict(found["politeness"])
    assert told["Crawl-delay of two.co.th"] == "7 s"
    assert "two.co.th rests until" in told
    assert "Crawl-delay of nottwo.co.th" not in told


def form(watch: Watch, **fields: str) -> dict[str, str]:
    """Return what the form of a page sends that was loaded now."""
    found = one_site.shown(watch, {"name": "one.co.th"})
    return {"place": found["place"], "seen": found["seen"], "value": "", "why": "", **fields}


def test_a_form_instructs_the_crawl_and_takes_back(watch: Watch) -> None:
    instruct(watch, form(watch, key="block", why="their mail", who="Lek"))
    for key, value in (("delay", "2.5"), ("max_pages", "100"), ("max_bytes", "1.5")):
        instruct(watch, form(watch, key=key, value=value))
    ((place, rule),) = read(watch.crawl.kept).rules
    assert (place.name, rule) == (
        "one.co.th",
        Rule(block=True, delay=2.5, max_pages=100, max_bytes=1_500_000, why="their mail"),
    )
    found = one_site.shown(watch, {"name": "one.co.th"})
    assert "1500000" in page("site", found)
    assert found["earlier"][-1][0].by == "watch, Lek"
    assert sites.listed(watch, {})["instructed"] == {"one.co.th": "blocked"}
    (block,) = (one for one in found["in_force"] if one.key == "block")
    instruct(watch, {"place": block.place, "key": "block", "value": "null", "seen": block.seen})
    assert not read(watch.crawl.kept).rules[0][1].block


def test_of_two_people_the_second_is_told_what_the_first_changed(watch: Watch) -> None:
    first, second = form(watch, key="delay", value="5", who="Lek"), form(watch, key="delay")
    instruct(watch, first)
    with pytest.raises(LswcError, match=r"changed meanwhile, by watch, Lek at .*5\.0 now"):
        instruct(watch, second | {"value": "1"})
    assert read(watch.crawl.kept).rules[0][1].delay == 5
    assert len(history(watch.crawl.kept)) == 1


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"key": "delay", "value": "soon"}, "delay needs a number"),
        ({"key": "max_pages", "value": ""}, "max_pages needs a number"),
        ({"key": "max_pages", "value": "1e400"}, "max_pages needs a number"),
        ({"key": "delay", "value": "nan"}, "delay"),
        ({"key": "stop"}, "choose a place"),
        ({"key": "block", "place": ""}, "choose a place"),
        ({"key": "block", "place": "a b"}, "is no place"),
        ({"key": "block", "seen": "[" * 9_000}, "load it again"),
        ({"key": "block", "seen": "{}"}, "load it again"),
        ({"key": "block", "why": ["a"]}, "must be texts"),
    ],
)
def test_what_is_wrong_with_a_form_is_told(alone: Watch, wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        instruct(alone, {**form(alone), **wrong})
    assert not history(alone.crawl.kept)


def test_instructions_that_cannot_be_read_are_told_on_the_page(
    alone: Watch, tmp_path: Path
) -> None:
    (tmp_path / "control.toml").write_text("block =")
    found = one_site.shown(alone, {"name": "one.co.th"})
    assert found["wrong"]
    assert found["wrong"] in page("site", found).replace("&#39;", "'")


def test_marks_are_set_listed_and_given_away(watch: Watch) -> None:
    marking.mark(watch, {"place": "one.co.th", "kind": "not wanted", "note": HOSTILE, "who": "Nok"})
    marking.mark(watch, {"place": "http://www.one.co.th/2", "kind": "broken"})
    found = marking.listed(watch, {"kind": "not wanted"})
    assert not isinstance(found, File)
    assert [one.place for one in found["marks"]] == ["one.co.th"]
    for given in ({"of": "pages"}, {"q": "/2"}):
        listed = marking.listed(watch, given)
        assert not isinstance(listed, File)
        assert [one.place for one in listed["marks"]] == ["http://www.one.co.th/2"]
    text = page("marks", found)
    assert HOSTILE not in text
    assert 'href="site?name=one.co.th' in text
    table = marking.listed(watch, {"as": "csv", "q": "nok"})
    assert isinstance(table, File)
    assert (table.type, table.content.count(b"\r\n")) == ("text/csv; charset=utf-8", 2)
    shown = page("site", one_site.shown(watch, {"name": "one.co.th"}))
    assert "It is marked as not wanted." in shown
    assert "http://www.one.co.th/2" in shown
    assert not history(watch.crawl.kept), "a mark changes nothing by itself"
    change(watch.crawl.kept, "block", True, "one.co.th")
    assert "It is marked as" not in page("site", one_site.shown(watch, {"name": "one.co.th"}))


def test_a_crawl_without_a_folder_here_has_no_marks(alone: Watch, monkeypatch: Any) -> None:
    monkeypatch.setattr(alone.crawl, "folders", list)
    with pytest.raises(ConfigError, match="none is on this machine"):
        marking.mark(alone, {"place": "a.th", "kind": "good"})
    with pytest.raises(ConfigError, match="must be texts"):
        marking.mark(alone, {"place": 1})
