"""A password in the URL of a Redis: it is printed nowhere, logged nowhere and kept nowhere."""

from __future__ import annotations

import gzip
import sys
from typing import TYPE_CHECKING

import pytest
import redis
from scrapy.settings import Settings

from lswc import settings as defaults
from lswc.cli import program
from lswc.cli.dry_run import show
from lswc.crawl.configuration import Crawl
from lswc.crawl.crawl_folder import without_login
from lswc.crawl.spider import LswcSpider
from lswc.errors import LswcError
from lswc.logins import without_logins
from tests.frontier.redis_server import RedisServer
from tests.scenarios.site import THAI, Site, page, run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECRET = "s3cret"  # noqa: S105
AWAY = "127.0.0.1:9/0"
ADDRESSES = (
    f"redis://anna:{SECRET}@{AWAY}",
    f"rediss://:{SECRET}@{AWAY}",
    f"redis://anna:p@{SECRET}@{AWAY}",
    f"redis://anna:{SECRET}/a@{AWAY}",
    f"redis://anna:a/{SECRET}@{AWAY}",
    f"redis://anna:{SECRET}#a@{AWAY}",
    f"redis://{AWAY}?username=anna&password={SECRET}",
    f"redis+cluster://anna:{SECRET}@/0",
    f"redis+sentinel://anna:{SECRET}@/main/0",
    f"unix://anna:{SECRET}@/nowhere/redis.sock",
)
MISTYPED = (f"reds://anna:{SECRET}@{AWAY}", f"http://anna:{SECRET}@127.0.0.1/")
COMMANDS = ("check", "control", "corpus", "frontier", "index", "wacz", "watch", "why", "workers")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"no {ADDRESSES[0]} here", f"no redis://{AWAY} here"),
        (f"'{ADDRESSES[2]}'", f"'redis://{AWAY}'"),
        (f"{ADDRESSES[6]}&db=1", f"redis://{AWAY}?username=&password=&db=1"),
        (f"reds:/anna:{SECRET}@h/frontier.db", "reds:/h/frontier.db"),
        (f"http://anna:{SECRET}@h/", "http://h/"),
        ("https://photos.example/12@N00/?a=b@c", "https://photos.example/12@N00/?a=b@c"),
        ("to me@library.example: crawls/th", "to me@library.example: crawls/th"),
    ],
)
def test_only_logins_go(text: str, shown: str) -> None:
    assert without_logins(text) == shown
    assert str(LswcError(text)) == shown


def mistaken(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Run a command that finds a mistake; return what it prints."""
    with pytest.raises(SystemExit) as left:
        program.main(arguments)
    said = capsys.readouterr()
    assert left.value.code, said
    assert "error: " in said.err
    return said.out + said.err


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_repeats_it_in_an_error(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    more = ["http://a.example/"] if command == "why" else []
    for address in (*ADDRESSES, *MISTYPED):
        for places in ([address], ["folder", address]):
            assert SECRET not in mistaken([command, *places, *more], capsys)


@pytest.mark.parametrize("name", ["LSWC_FRONTIER", "LSWC_EXPERIENCE"])
@pytest.mark.parametrize("address", [*ADDRESSES, *MISTYPED])
def test_no_crawl_repeats_it_in_an_error(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    address: str,
    name: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    given = [f"{name}={address}", "LSWC_CONTACT=a@b.example", "LOG_FILE=log"]
    settings = [part for each in given for part in ("-s", each)]
    crawl = ["crawl", "th", "--seeds", str(tmp_path / "none"), "--dry-run", *settings]
    assert SECRET not in mistaken(crawl, capsys)
    (tmp_path / "seeds").write_text("http://a.example/\n")
    crawl[3] = str(tmp_path / "seeds")
    with pytest.raises(SystemExit):
        program.main(crawl)
    said = capsys.readouterr()
    assert SECRET not in said.out + said.err


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    given = Settings()
    given.setmodule(defaults, "project")
    given.setdict(
        {
            "LSWC_CRAWL": str(tmp_path / "crawl"),
            "LSWC_CONTACT": "a@b.example",
            "REDIS_PARAMS": f'{{"password": "{SECRET}"}}',
            "FTP_PASSWORD": SECRET,
            "AWS_SECRET_ACCESS_KEY": SECRET,
        },
        "cmdline",
    )
    return given


@pytest.mark.parametrize("address", ADDRESSES)
def test_neither_a_dry_run_nor_what_is_kept_of_the_settings_has_it(
    settings: Settings, capsys: pytest.CaptureFixture[str], address: str
) -> None:
    settings.set("LSWC_FRONTIER", address, "cmdline")
    for details in (False, True):
        applied = LswcSpider.applied(settings)
        show(applied, {"lang": "th", "seeds": "http://a.example/"}, None, details=details)
        said = capsys.readouterr().out
        assert "LSWC_FRONTIER" in said
        assert "REDIS_PARAMS" in said
        assert SECRET not in said
    settings.set("LSWC_EXPERIENCE", address, "cmdline")
    applied = LswcSpider.applied(settings)
    described = Crawl.of(applied, "th", "http://a.example/").described(applied)
    assert "LSWC_EXPERIENCE" in described
    assert SECRET not in str(described)


def test_the_address_of_a_worker_has_none() -> None:
    found = [without_login(address) for address in ADDRESSES if f"{SECRET}/a" not in address]
    assert found[0] == f"redis://{AWAY}"
    assert SECRET not in str([found[0], found[1], found[2], *found[5:]])


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[RedisServer]:
    """A Redis that wants a password."""
    (tmp_path / "redis").mkdir()
    server = RedisServer(tmp_path / "redis")
    try:
        with redis.Redis.from_url(server.url) as client:
            client.config_set("requirepass", SECRET)
        yield server
    finally:
        server.stop()


@pytest.mark.slow
def test_a_crawl_says_it_nowhere(tmp_path: Path, locked: RedisServer) -> None:
    """In no line at any level, no file, no snapshot: what a folder holds is shown and published."""
    site = Site(tmp_path / "web", tmp_path / "crawl")
    site.seeds("http://www.one.co.th/")
    site.add("www.one.co.th/", page(THAI, "/a.html"))
    site.add("www.one.co.th/a.html", page(THAI))
    address = f"redis://:{SECRET}@127.0.0.1:{locked.port}/0"
    log = tmp_path / "log"
    notice, keeps = tmp_path / "notice", tmp_path / "keeps.py"
    keeps.write_text(f"import sys; open({str(notice)!r}, 'w').write(sys.stdin.read())")
    done = site.crawl(
        LSWC_FRONTIER=address,
        LSWC_METRICS="127.0.0.1:0",
        LSWC_ON_END=f"{sys.executable} {keeps}",
        LOG_LEVEL="DEBUG",
        LOG_FILE=log,
    )
    assert len(site.urls) == 2
    places = [path for path in (*site.folder.rglob("*"), log, notice) if path.is_file()]
    assert {"redis.json", "settings.json", "summary.json", "log", "notice"} <= {
        path.name for path in places
    }
    found = {
        path.name
        for path in places
        if SECRET.encode()
        in (gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())
    }
    assert not found
    assert SECRET not in done.stdout + done.stderr
    for command in ("frontier", "workers", "check"):
        said = run([sys.executable, "-m", "lswc", command, str(site.folder)])
        assert SECRET not in said.stdout + said.stderr
    with redis.Redis(port=locked.port, password=SECRET) as client:
        assert not [key for key in client.scan_iter("*") if SECRET.encode() in client.dump(key)]
