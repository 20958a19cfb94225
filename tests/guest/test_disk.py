"""A crawl waits for room on its disk, and goes on by itself."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from lswc.archive.check.agreement import check
from lswc.guest.disk import Disk
from tests.scenarios.site import BRAKE, ROOT, THAI, environment, page

if TYPE_CHECKING:
    import pytest

    from tests.scenarios.site import Site

_SMALL = """
import shutil, sys
from collections import namedtuple
from pathlib import Path
from lswc.guest import disk
room = Path(sys.argv.pop(1))
disk.disk_usage = lambda _: namedtuple("Usage", "free")(10**9 if room.exists() else 10**6)
from scrapy.cmdline import execute
sys.argv[0] = "scrapy"
execute()
"""


def test_too_little_room_is_said_once_and_room_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    free = {"bytes": 100}
    monkeypatch.setattr(
        "lswc.guest.disk.disk_usage", lambda _: type("Usage", (), {"free": free["bytes"]})
    )
    disk = Disk(tmp_path, 200)
    disk.look()
    disk.look()
    assert "LSWC_MIN_DISK" in disk.halt
    free["bytes"] = 200
    disk.look()
    assert not disk.halt
    assert [record.message.partition(":")[0] for record in caplog.records] == [
        "the crawl waits for room",
        "there is room again",
    ]


def test_at_0_the_disk_is_not_looked_at() -> None:
    disk = Disk(Path("/nowhere"), 0)
    disk.look()
    assert not disk.halt


def test_a_crawl_waits_for_room(site: Site, tmp_path: Path) -> None:
    site.seeds("http://www.one.co.th/")
    site.add("www.one.co.th/", page(THAI, "/a.html"))
    site.add("www.one.co.th/a.html", page(f"{THAI} a"))
    room, script = tmp_path / "room", tmp_path / "small.py"
    script.write_text(_SMALL)
    command = site.command(LOGSTATS_INTERVAL=0.2)
    crawl = subprocess.Popen(
        [command[0], str(script), str(room), *command[command.index("crawl") :]],
        cwd=ROOT, env=environment(), text=True, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert crawl.stderr is not None
    said = ""
    while "PAUSED: 1 MB are free" not in said:
        line = crawl.stderr.readline()
        assert line, said
        said += line
    assert not site.urls
    room.touch()
    said += crawl.communicate(timeout=BRAKE)[1]
    assert crawl.returncode == 0, said
    assert "the crawl waits for room: 1 MB are free" in said
    assert "there is room again: the crawl goes on" in said
    assert len(site.urls) == 2
    assert check(site.folder).agrees
