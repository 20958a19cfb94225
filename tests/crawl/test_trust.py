"""What settings run something, and who is allowed that."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from scrapy.settings import Settings

from lswc.crawl.trust import check_job, running
from lswc.errors import ConfigError
from lswc.monitor.scrapyd_site import is_foreign, password_of
from tests.scenarios.site import SCRAPY, environment

if TYPE_CHECKING:
    from pathlib import Path

RUN = {
    "LSWC_ON_END": "touch x", "LSWC_BROWSER": "/opt/evil", "LSWC_STRATEGY": "evil:rule",
    "STATS_CLASS": "evil.Stats", "ITEM_PIPELINES": {"evil.Pipeline": 1}, "SPIDER_MODULES": ["evil"],
    "EXTENSIONS": '{"evil.E": 1}', "ADDONS": {"evil.A": 1}, "FEED_STORAGES": {"x": "evil.F"},
    "TWISTED_REACTOR": "evil.Reactor", "DOWNLOADER": "evil.D", "MY_PLUGIN_CODE": "x",
    "DOWNLOAD_HANDLERS": {"http": "evil.H"}, "LOG_FORMATTER": "evil.L", "EDITOR": "evil",
}  # fmt: skip
HARMLESS = {
    "LSWC_ON_END": "", "LSWC_BROWSER": "auto", "LSWC_STRATEGY": "lswc:S=5,T=3",
    "DOWNLOAD_DELAY": 3, "LSWC_CONTACT": "me@x.example", "CLOSESPIDER_ITEMCOUNT": 5,
    "LSWC_WEB": "demo", "LSWC_CRAWL": "crawls/th", "LSWC_INCLUDE": ["path:/a"],
    "LSWC_PROFILE": "bfs", "USER_AGENT": "me/1.0", "LSWC_ARCHIVE_FILES": "image/*",
}  # fmt: skip


def test_what_runs_something() -> None:
    assert running({**HARMLESS, **RUN}) == RUN
    assert running(HARMLESS) == {}


@pytest.mark.parametrize(
    ("name", "value", "is_refused"),
    [
        *((name, value, True) for name, value in RUN.items()),
        *((name, value, False) for name, value in HARMLESS.items()),
        ("LSWC_CRAWL", "/etc/x", True), ("LSWC_CRAWL", "crawls/../../x", True),
        ("LSWC_RECRAWL", "crawls/a,/etc", True), ("FEEDS", '{"/etc/x.jl": {}}', True),
        ("FEEDS", '{"file:///etc/x": {}}', True), ("FEEDS", '{"ftp://h/x": {}}', True),
        ("FEEDS", '{"items/x.jl": {"format": "jsonlines"}}', False),
        ("LOG_FILE", "logs/x.log", False), ("LSWC_JOBS_MAY", "LSWC_ON_END", True),
    ],
)  # fmt: skip
def test_a_job_may_run_nothing_and_write_nowhere_else(
    tmp_path: Path, name: str, value: object, is_refused: bool
) -> None:
    settings = Settings({name: value})
    if not is_refused:
        check_job(settings, [name], tmp_path)
        return
    with pytest.raises(ConfigError, match=f"{name} .*no job may say so"):
        check_job(settings, [name], tmp_path)
    if name == "LSWC_JOBS_MAY":
        allows_itself = Settings({name: f"LSWC_ON_END,{name}", "LSWC_ON_END": "x"})
        with pytest.raises(ConfigError, match=name):
            check_job(allows_itself, [name, "LSWC_ON_END"], tmp_path)
    else:
        check_job(Settings({name: value, "LSWC_JOBS_MAY": f"x, {name}"}), [name], tmp_path)


def test_a_crawl_file_runs_something_only_if_its_user_says_so(tmp_path: Path) -> None:
    run = tmp_path / "run"
    file = tmp_path / "th.toml"
    file.write_text(
        f"language = 'th'\nweb = 'demo'\npages = 1\nfolder = '{tmp_path / 'crawl'}'\n"
        f"[settings]\nDOWNLOAD_DELAY = 0\nLSWC_ON_END = 'touch {run}'\n"
    )

    def said(*options: str) -> subprocess.CompletedProcess[str]:
        command = [*SCRAPY[:-1], "lswc", "crawl", str(file), *options]
        return subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=tmp_path,
            env=environment(), stdin=subprocess.DEVNULL,
        )  # fmt: skip

    refused = said()
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert f"th.toml runs LSWC_ON_END = 'touch {run}': say --trust" in refused.stderr
    dry = said("--dry-run")
    assert dry.returncode == 0
    assert dry.stdout.startswith(f"runs: LSWC_ON_END = 'touch {run}'\n")
    assert not run.exists()
    assert said("--trust").returncode == 0
    assert run.exists()


def test_a_request_of_a_foreign_page_is_told_by_its_headers() -> None:
    here = "127.0.0.1:6800"
    assert not is_foreign(here, "", "")
    assert not is_foreign(here, f"http://{here}", "same-origin")
    assert not is_foreign("Host.example", "https://host.example", "")
    assert not is_foreign(here, "", "none")
    for origin, site in (
        ("http://evil.example", ""), ("null", ""), ("", "cross-site"), ("", "same-site"),
        ("http://127.0.0.1:81", ""), (f"http://{here}.evil.example", ""),
    ):  # fmt: skip
        assert is_foreign(here, origin, site)


def test_a_password_is_made_once_and_nobody_else_reads_it(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    first = password_of(folder)
    assert len(first) >= 32
    assert password_of(folder) == first
    assert (folder / "password").stat().st_mode & 0o777 == 0o600
