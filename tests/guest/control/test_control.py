"""What is said to a crawl: read, changed, and kept with its history."""

from __future__ import annotations

from datetime import UTC, datetime
from multiprocessing import get_context
from typing import TYPE_CHECKING

import pytest
from redis import Redis
from scrapy.settings import Settings

from lswc.errors import ConfigError, LswcError
from lswc.frontier.exchange.owners import first
from lswc.frontier.exchange.post import Post
from lswc.frontier.store.frontier import Frontier
from lswc.guest.control import (
    ControlError,
    InFolder,
    Rule,
    change,
    given,
    history,
    in_folder,
    lifts,
    place_of,
    read,
)
from lswc.guest.control.redis_store import InRedis
from lswc.guest.control.toml_text import edited, parsed
from lswc.guest.control_in_effect import ControlInEffect
from lswc.monitor.stored import StoredInRedis, stored
from lswc.strategy import strategy
from lswc.urls import Url, parse
from tests.frontier.one_worker import shared

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.frontier.redis_server import RedisServer

IDENTITY = {"language": "th", "strategy": "bfs"}


def url(address: str) -> Url:
    found = parse(address)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("written", "name", "holds", "lets"),
    [
        ("Example.CO.th", "example.co.th",
         ["http://example.co.th/", "https://a.b.example.co.th:8080/x"],
         ["http://notexample.co.th/", "http://co.th/", "http://example.co.th.evil.example/"]),
        ("https://www.example.co.th/", "www.example.co.th/",
         ["http://www.example.co.th/", "https://www.example.co.th/a?b"],
         ["http://a.www.example.co.th/", "http://www.example.co.th:81/"]),
        ("www.example.co.th:81", "www.example.co.th:81/",
         ["http://www.example.co.th:81/x"], ["http://www.example.co.th/x"]),
        ("www.example.co.th/~som/", "www.example.co.th/~som/",
         ["http://www.example.co.th/%7Esom/x", "https://www.example.co.th/~som/"],
         ["http://www.example.co.th/~so", "http://www.example.co.th/"]),
        ("a.example/list?cat=", "a.example/list?cat=", ["http://a.example/list?cat=3"],
         ["http://a.example/list", "http://a.example/list?dog=3"]),
        ("ตัวอย่าง.ไทย", "xn--72c1a1bt4awk9o.xn--o3cw4h", ["http://www.ตัวอย่าง.ไทย/"], []),
        ("th", "th", ["http://a.th/"], ["http://th.example/"]),
    ],
)  # fmt: skip
def test_a_place_holds_its_urls(written: str, name: str, holds: list[str], lets: list[str]) -> None:
    place = place_of(written)
    assert place.name == name
    assert place_of(place.name) == place
    control = parsed(f'["{written}"]\nblock = true')
    for address in [*holds, *lets]:
        assert place.holds(url(address)) is (address in holds)
        assert bool(control.at(url(address)).block) is (address in holds)


@pytest.mark.parametrize(
    "written", ["", " ", "*.example.co.th", "mailto:a@b.example", "a b", "ftp://a/"]
)
def test_what_is_no_place(written: str) -> None:
    with pytest.raises(ControlError, match="is no place"):
        place_of(written)


def test_of_each_thing_the_narrowest_place_is_heard() -> None:
    control = parsed(
        """
        ["example.th"]
        block = true
        delay = 5
        max_depth = 9
        ["www.example.th"]
        delay = 7
        ["www.example.th/public/"]
        block = false
        ["www.example.th/public/x/"]
        max_depth = 3
        ["three.th"]
        delay = 1
        ["b.three.th"]
        delay = 2
        ["a.b.three.th"]
        delay = 3
        ["a.b.three.th/"]
        delay = 4
        ["a.b.three.th/x"]
        delay = 5
        """
    )
    assert control.at(url("http://a.example.th/")) == Rule(block=True, delay=5, max_depth=9)
    assert control.at(url("http://www.example.th/")).delay == 7
    assert control.at(url("http://www.example.th/public/x/")) == Rule(
        block=False, delay=7, max_depth=3
    )
    assert control.at(url("http://other.th/")) == Rule()
    nested = "c.three.th/", "b.three.th/", "c.a.b.three.th/", "a.b.three.th/", "a.b.three.th/x/y"
    assert [control.at(url(f"http://{place}")).delay for place in nested] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("blok = true", "unknown key 'blok'; known: pause, stop"),
        ('["a.th"]\nblok = true', "a.th: unknown key 'blok'; do you mean 'block'?"),
        ('["a.th"]\nblock = 1', "block must be true or false, not 1"),
        ('["a.th"]\ndelay = "3 s"', "delay must be a number of seconds, not '3 s'"),
        ('["a.th"]\ndelay = inf', "delay must be"),
        ('["a.th"]\nmax_pages = -1', "max_pages must be a whole number of at least 0, not -1"),
        ('["a.th"]\nmax_pages = true', "max_pages must be a whole number"),
        ('["a.th/b/"]\nmax_pages = 3', "is for servers and domains only"),
        ("requests = 0", "requests must be a whole number of at least 1, not 0"),
        ("hours = '25:00-06:00'", "hours must be hours and a time zone"),
        ("exclude = 'path:/x'", "exclude must be a list of patterns"),
        ("include = ['path:/x', 'path:']", "include must be patterns"),
        ("hours = '22:00-06:00 Asia/Bankok'", "hours must be hours and a time zone"),
        ("[a.th]\nblock = true", "put the place in quotes"),
        ('["a.th"]\n["A.th"]', "stands there twice"),
        ('["a b"]', "is no place"),
        ("pause = \n", "line 1"),
        ("requests = " + "9" * 5_000, "4300 digits"),
        ("requests = 0x" + "f" * 5_000, "requests must be a whole number of at most"),
        ("pause = 0x" + "f" * 5_000, "pause must be true or false, not one of thousands"),
        ('["a.th"]\ndelay = ' + "9" * 400, "delay must be a number of seconds"),
        (f'["a.th"]\ndelay = {2**53 + 1}', "delay must be a number of seconds"),
        ("a = " + "[" * 200_000, "recursion"),
        ("#" * 4_000_001, "larger than 4,000,000"),
    ],
)
def test_what_is_wrong_is_said(text: str, says: str) -> None:
    with pytest.raises(ControlError, match=says.replace("?", r"\?")):
        parsed(text)


def test_the_largest_numbers_are_taken() -> None:
    rule = parsed(f'["a.th"]\ndelay = {2**53}\nmax_bytes = {2**53}').at(url("http://a.th/"))
    assert (rule.delay, rule.max_bytes) == (2.0**53, 2**53)


def test_patterns_are_taken_back(tmp_path: Path) -> None:
    where = InFolder(tmp_path)
    before = change(where, "exclude", ["path:/calendar/*"])
    assert before.patterns is not None
    after = change(where, "exclude", None)
    assert after.patterns is None
    assert lifts(before, after)
    with pytest.raises(ControlError, match="exclude isn't given for the whole crawl"):
        change(where, "exclude", None)


def test_a_zero_is_taken_back(tmp_path: Path) -> None:
    where = InFolder(tmp_path)
    change(where, "max_depth", 0, "example.co.th")
    assert not change(where, "max_depth", None, "example.co.th").rules


def test_hours_of_a_day() -> None:
    control = parsed('hours = "22:00-06:00 Asia/Bangkok"')
    assert not control.rests(datetime(2026, 1, 1, 15, 0, tzinfo=UTC))  # 22:00 there
    assert not control.rests(datetime(2026, 1, 1, 22, 59, tzinfo=UTC))
    assert control.rests(datetime(2026, 1, 1, 23, 0, tzinfo=UTC))
    assert control.rests(datetime(2026, 1, 1, 14, 59, tzinfo=UTC))
    by_day = parsed('hours = "8:30-24:00"')
    assert not by_day.rests(datetime(2026, 1, 1, 8, 30, tzinfo=UTC))
    assert not by_day.rests(datetime(2026, 1, 1, 23, 59, 59, tzinfo=UTC))
    assert by_day.rests(datetime(2026, 1, 1, 8, 29, tzinfo=UTC))
    assert by_day.rests(datetime(2026, 1, 1, tzinfo=UTC))
    from_noon = parsed('hours = "12:15-13:45"')
    assert not from_noon.rests(datetime(2026, 1, 1, 13, 44, tzinfo=UTC))
    assert from_noon.rests(datetime(2026, 1, 1, 13, 45, tzinfo=UTC))


def test_hours_end_with_their_last_instant() -> None:
    """The first instant is one of them, the last isn't: by day, and over midnight."""
    for hours, last in (("08:00-17:00", 16), ("22:00-06:00", 5)):
        control = parsed(f'hours = "{hours}"')
        assert not control.rests(datetime(2026, 1, 1, int(hours[:2]), 0, tzinfo=UTC))
        assert not control.rests(datetime(2026, 1, 1, last, 59, 59, 999_999, tzinfo=UTC))
        assert control.rests(datetime(2026, 1, 1, last + 1, 0, tzinfo=UTC))


def test_an_edit_leaves_people_their_lines() -> None:
    text = '# ours\nrequests = 3 # at night\n\n["A.th"] # the forum\ndelay = 3\n'
    after = edited(text, "block", True, "a.th", "a mail")
    assert "# at night" in after
    assert "# the forum" in after
    assert parsed(after).at(url("http://a.th/")) == Rule(block=True, delay=3, why="a mail")
    assert edited(edited(after, "pause", True), "delay", None, "a.th") != after
    both = edited(edited(text, "delay", None, "a.th"), "requests", None)
    assert not parsed(both)
    assert "# ours" in both


def stores(tmp_path: Path, redis_server: RedisServer) -> list[InFolder | InRedis]:
    Frontier(tmp_path / "frontier.db", strategy("bfs"), IDENTITY).close()
    client = Redis.from_url(redis_server.url)
    return [in_folder(tmp_path), InRedis(Post(client, "controlled"))]


def test_a_reason_stands_beside_what_it_is_for() -> None:
    assert parsed(edited("", "pause", True, why="we move")) == parsed(
        'pause = true\nwhy = "we move"'
    )
    assert "we move" in edited("", "pause", True, why="we move")
    assert "we move" not in edited(edited("", "pause", True, why="we move"), "pause", None)


def test_a_history_is_dated_in_utc_and_read_though_it_is_damaged(tmp_path: Path) -> None:
    where = InFolder(tmp_path)
    control = ControlInEffect(where, lambda _: None)
    assert control.wrong == ""
    before = datetime.now(UTC).replace(microsecond=0)
    change(where, "block", True, "a.th")
    (file,) = (
        path
        for path in tmp_path.iterdir()
        if b"a.th" in path.read_bytes() and path.suffix != ".toml"
    )
    with file.open("ab") as torn:
        torn.write(b'{"place": "\xff')
    (entry,) = history(where)
    assert before <= datetime.fromisoformat(entry.time) <= datetime.now(UTC)


def test_changes_are_kept_with_their_history(tmp_path: Path, redis_server: RedisServer) -> None:
    for where in stores(tmp_path, redis_server):
        control = ControlInEffect(where, lambda _: None)
        assert not read(where)
        assert not control.look()[0]
        change(where, "block", True, "http://A.th", why="mail of\n1 May", by="lek")
        assert not control.look()[0]  # it may still be written
        assert control.look()[0]
        assert control.control.at(url("http://a.th/")).block
        assert not control.look()[0]
        change(where, "requests", 3)
        assert change(where, "block", None, "a.th") == parsed("requests = 3")
        told = [
            (entry.by, entry.place, entry.key, entry.value, entry.why) for entry in history(where)
        ]
        assert told == [
            ("lek", "a.th", "block", True, "mail of\n1 May"),
            ("", "", "requests", 3, ""),
            ("", "a.th", "block", None, ""),
        ]
        for key, value, place in [
            ("block", True, ""), ("blok", True, "a.th"), ("delay", -1, "a.th"),
            ("block", None, "b.th"), ("requests", 1, "a.th"), ("block", True, "a b"),
        ]:  # fmt: skip
            with pytest.raises(ControlError):
                change(where, key, value, place)
        assert read(where) == parsed("requests = 3")
        assert len(history(where)) == 3


def test_the_last_that_was_right_stays_in_force(tmp_path: Path) -> None:
    where, file = InFolder(tmp_path), tmp_path / "control.toml"
    file.write_text('["a.th"]\nblock = true\n')
    control = ControlInEffect(where, lambda _: None)
    before = control.control

    def looked() -> bool:
        return [control.look(), control.look()][1][0]

    file.write_text('["a.th"]\nblok = true\n')
    assert looked()
    assert control.control == before
    assert "unknown key 'blok'" in control.wrong
    with pytest.raises(ControlError, match="unknown key 'blok'"):
        change(where, "pause", True)
    file.write_bytes(b"\xff\xfe")
    assert looked()
    assert "can't read" in control.wrong
    file.unlink()
    assert looked()
    assert control.control == before
    assert "gone" in control.wrong
    file.write_text("")
    assert looked()
    assert not control.wrong
    assert not control.control


def test_a_history_whose_file_is_gone_is_no_silence(tmp_path: Path) -> None:
    where = InFolder(tmp_path)
    change(where, "block", True, "a.th")
    (tmp_path / "control.toml").unlink()
    with pytest.raises(ControlError, match="put it back"):
        ControlInEffect(where, lambda _: None)


def block_some(folder: Path, number: int) -> None:
    for index in range(20):
        change(InFolder(folder), "block", True, f"h{index}.w{number}.example")


def test_two_writers_lose_nothing(tmp_path: Path) -> None:
    processes = [get_context("fork").Process(target=block_some, args=(tmp_path, n)) for n in (1, 2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    where = InFolder(tmp_path)
    assert len(read(where).rules) == len(history(where)) == 40


def test_the_only_crawl_of_a_redis_needs_no_name(tmp_path: Path, redis_server: RedisServer) -> None:
    redis_server.empty()
    client = Redis.from_url(redis_server.url)
    frontier = Frontier(tmp_path / "frontier.db", strategy("bfs"), IDENTITY)
    shared(frontier, client, "alone", tmp_path)
    frontier.close()
    change(stored(redis_server.url, "", Settings()).kept, "block", True, "a.th")
    kept = stored(redis_server.url, "alone", Settings()).kept
    assert read(kept).at(url("http://a.th/")).block


def test_what_is_no_crawl_of_this_version(tmp_path: Path, redis_server: RedisServer) -> None:
    redis_server.empty()
    with pytest.raises(ConfigError, match=r"no crawl: .* has no frontier.db"):
        in_folder(tmp_path)
    client = Redis.from_url(redis_server.url)
    with pytest.raises(LswcError, match="no crawl: Redis has none named nobodys"):
        StoredInRedis(Post(client, "nobodys"))
    Post(client, "old").begin(b'{"language": "th"}', first(1))
    with pytest.raises(LswcError, match="is one of another version of lswc"):
        StoredInRedis(Post(client, "old"))


def test_what_somebody_changed_meanwhile_is_not_undone(
    tmp_path: Path, redis_server: RedisServer
) -> None:
    redis_server.empty()
    for where in stores(tmp_path, redis_server):
        assert given(read(where), "delay", "a.th") == "null"
        change(where, "delay", 5, "a.th", by="lek", seen="null")
        for value in (9, None):
            with pytest.raises(
                ControlError, match=r"delay of a.th was changed .* by lek .*5\.0 now"
            ):
                change(where, "delay", value, "a.th", seen="null")
        change(where, "pause", True, "a.th", seen="null")  # it is another instruction
        assert change(where, "delay", 9, "a.th", seen="5.0").at(url("http://a.th/")).delay == 9
        assert len(history(where)) == 3
        change(where, "delay", None, "a.th", seen="9.0")
        with pytest.raises(ControlError, match="it is not given now"):
            change(where, "delay", 3, "a.th", seen="9.0")


def test_a_change_between_the_look_and_the_edit_is_seen(tmp_path: Path) -> None:
    """Two at a time: of the second one nothing is written, for it waited for the first."""

    class Late(InFolder):
        def edit(self, change: Callable[[str], str], line: str) -> None:
            InFolder(tmp_path).edit(lambda text: edited(text, "block", True, "a.th"), "{}")
            super().edit(change, line)

    with pytest.raises(ControlError, match=r"block of a\.th was changed meanwhile"):
        change(Late(tmp_path), "block", False, "a.th", seen="null")
    assert read(InFolder(tmp_path)).at(url("http://a.th/")).block
