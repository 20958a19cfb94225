"""``scrapy control``, as it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from redis import Redis

from lswc.frontier.exchange.post import Post
from lswc.frontier.store.frontier import Frontier
from lswc.guest.control import InFolder, read
from lswc.guest.control.redis_store import InRedis
from lswc.guest.control.toml_text import parsed
from lswc.strategy import strategy
from tests.frontier.one_worker import shared
from tests.scenarios.site import SCRAPY, run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.frontier.redis_server import RedisServer

IDENTITY = {"language": "th", "strategy": "bfs"}


def said(*arguments: str) -> str:
    done = run([*SCRAPY, "control", *arguments])
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_is_said_is_kept_and_shown(tmp_path: Path) -> None:
    Frontier(tmp_path / "frontier.db", strategy("bfs"), IDENTITY).close()
    crawl = str(tmp_path)
    assert "has no instructions" in said(crawl)
    assert "example.co.th: block = true" in said(
        crawl, "block", "http://example.co.th", "--why", "a mail"
    )
    said(crawl, "set", "hours", "22:00-06:00 Asia/Bangkok")
    said(crawl, "set", "delay", "2.5", "www.a.th/x/")
    said(crawl, "set", "tolerate", "20", "b.th")
    said(crawl, "block", "farm.com", "--family")
    assert read(InFolder(tmp_path)) == parsed(
        'hours = "22:00-06:00 Asia/Bangkok"\n["example.co.th"]\nblock = true\nwhy = "a mail"\n'
        '["www.a.th/x/"]\ndelay = 2.5\n["b.th"]\ntolerate = 20\n'
        '["farm.com"]\nblock_family = true\n'
    )
    shown = said(crawl)
    for word in (
        "a mail",
        "block = true",
        "22:00-06:00 Asia/Bangkok",
        "www.a.th/x/",
        "in force",
    ):
        assert word in shown
    (tmp_path / "control.toml").write_text("blok = true")
    done = run([*SCRAPY, "control", crawl])
    assert done.returncode == 2
    assert "a mail" in done.stdout
    assert "unknown key 'blok'" in done.stderr
    assert "goes on with the earlier instructions" in done.stderr


@pytest.mark.parametrize(
    ("words", "becomes"),
    [
        (["pause"], "pause = true"),
        (["stop"], "stop = true"),
        (["pause", "a.th"], '["a.th"]\npause = true'),
        (["block", "a.th"], '["a.th"]\nblock = true'),
        (["set", "requests", "3"], "requests = 3"),
        (["set", "delay", "3", "a.th"], '["a.th"]\ndelay = 3'),
    ],
)
def test_each_word_can_be_taken_back(tmp_path: Path, words: list[str], becomes: str) -> None:
    Frontier(tmp_path / "frontier.db", strategy("bfs"), IDENTITY).close()
    said(str(tmp_path), *words)
    assert read(InFolder(tmp_path)) == parsed(becomes)
    unset = [words[1], *words[3:]] if words[0] == "set" else words[1:]
    assert "taken back" in said(str(tmp_path), f"un{words[0]}", *unset)
    assert read(InFolder(tmp_path)) == parsed("")


def test_it_is_said_to_all_workers(tmp_path: Path, redis_server: RedisServer) -> None:
    client = Redis.from_url(redis_server.url)
    frontier = Frontier(tmp_path / "frontier.db", strategy("bfs"), IDENTITY)
    shared(frontier, client, "control-command", tmp_path)
    frontier.close()
    said(redis_server.url, "--key", "control-command", "block", "a.th", "--why", "a mail")
    assert read(InRedis(Post(client, "control-command"))).rules
    assert "a mail" in said(redis_server.url, "--key", "control-command")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["no-such-folder"], "no crawl: no-such-folder has no frontier.db"),
        ([".", "block", "a.th"], "no crawl: . has no frontier.db"),
        (["{crawl}", "blok", "a.th"], "can't understand 'blok a.th'; say block PLACE"),
        (["{crawl}", "block"], "can't understand 'block'"),
        (["{crawl}", "block", "a b"], "is no place"),
        (["{crawl}", "unblock", "a.th"], "block isn't given for a.th"),
        (["{crawl}", "set", "delay", "much", "a.th"], "delay must be a number of seconds"),
        (["{crawl}", "set", "reqests", "3"], "do you mean 'requests'?"),
        (["{redis}", "--key", "nobodys"], "no crawl: Redis has none named nobodys"),
    ],
)
def test_mistakes_are_one_line(
    tmp_path: Path, redis_server: RedisServer, arguments: list[str], says: str
) -> None:
    Frontier(tmp_path / "frontier.db", strategy("bfs"), IDENTITY).close()
    given = [word.format(crawl=tmp_path, redis=redis_server.url) for word in arguments]
    done = run([*SCRAPY, "control", *given])
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "control.toml").exists()
