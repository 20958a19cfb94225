"""Benchmarks beside other crawlers: limits by address hold no crawl back that has many hosts."""

from contextlib import closing
from pathlib import Path

import pytest

from benchmarks.peers import PEERS, Log, Place, at_once, kill, python_of, serving, started, wait
from tests.scenarios.site import THAI

HOSTS = 24


@pytest.mark.slow
def test_hosts_are_asked_at_once_as_on_machines_of_their_own(tmp_path: Path) -> None:
    web, log_file, seeds = tmp_path / "web", tmp_path / "log", tmp_path / "seeds.txt"
    names = [f"www.host{number}.co.th" for number in range(HOSTS)]
    for name in names:
        (web / name).mkdir(parents=True)
        (web / name / "index.html").write_text(f"<p>{THAI}</p>")
    seeds.write_text("\n".join(f"http://{name}/" for name in names))
    lswc, log = PEERS[0], Log(log_file)
    with closing(log), serving(web, log_file, seeds, delay=2.0) as port:
        process = started(lswc, python_of(lswc, tmp_path), Place(tmp_path, seeds, ""), port)
        wait(process, log, HOSTS)
        kill(process)
    assert {one.server for one in log.asked} == {*names}
    assert at_once(log.asked, 2.0) >= 20
