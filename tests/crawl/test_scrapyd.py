"""The project deployed to a real scrapyd on loopback, as a user deploys it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from base64 import b64encode
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest
from logparser import parse

from tests.ports import free_port
from tests.project import copy_project
from tests.scenarios.site import BRAKE, ENGLISH, Site, page

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.frontier.redis_server import RedisServer

BURMESE = "မြန်မာဘာသာစကားသည် မြန်မာနိုင်ငံ၏ ရုံးသုံးဘာသာစကား ဖြစ်သည်။ ယနေ့ သတင်းများ ဖတ်ပါ။ "
BIN = Path(sys.executable).parent


class Scrapyd:
    """scrapyd in a folder of its own, with the project deployed by ``scrapyd-deploy``."""

    def __init__(self, folder: Path) -> None:
        port = str(free_port())
        self.folder, self.scheduled = folder, 0
        self.url = f"http://127.0.0.1:{port}/"
        copy_project(folder)
        settings = folder / "lswc" / "settings.py"
        may = 'LSWC_JOBS_MAY: list[str] = ["LSWC_WEB", "LSWC_CRAWL"]'  # the tests' are elsewhere
        text = settings.read_text().replace("LSWC_JOBS_MAY: list[str] = []", may)
        settings.write_text(text)
        for name in ("scrapy.cfg", "scrapyd.conf"):
            text = (folder / name).read_text()
            (folder / name).write_text(text.replace("6800", port))
        self.process = subprocess.Popen(
            [BIN / "scrapyd", "-n"], cwd=folder, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.password = folder / "crawls" / "scrapyd" / "password"
        self.wait_until_up()
        self.client("scrapyd-deploy")

    def wait_until_up(self) -> None:
        for _ in range(3_000):
            assert self.process.poll() is None, "scrapyd ended"
            try:
                self.ask("daemonstatus.json")
            except (URLError, FileNotFoundError):
                sleep(0.1)
            else:
                return
        raise TimeoutError("scrapyd doesn't answer")

    def ask(self, what: str, data: Sequence[tuple[str, object]] = ()) -> dict[str, Any]:
        body = urlencode(data).encode() if data else None
        with urlopen(self.request(what, body), timeout=BRAKE) as answer:
            found: dict[str, Any] = json.load(answer)
        assert found["status"] == "ok", found
        return found

    def request(self, what: str, body: bytes | None = None, **headers: str) -> Request:
        """Return a request of who knows the password."""
        known = b64encode(f"lswc:{self.password.read_text().strip()}".encode()).decode()
        said = {name.replace("_", "-"): value for name, value in headers.items()}
        return Request(self.url + what, body, {"Authorization": f"Basic {known}", **said})

    def client(self, program: str, *arguments: str) -> str:
        """Run a program of scrapyd-client as a user does; return what it says."""
        done = subprocess.run(
            [BIN / program, *arguments], cwd=self.folder, check=True, capture_output=True,
            text=True, env={**os.environ, "SCRAPYD_PASSWORD": self.password.read_text().strip()},
        )  # fmt: skip
        return done.stdout

    def schedule(self, **settings: object) -> str:
        """Schedule a job and return its id."""
        data = [("project", "lswc"), ("spider", "lswc"), ("lang", "my")]
        given = [("setting", f"{name}={value}") for name, value in settings.items()]
        self.scheduled += 1
        return str(self.ask("schedule.json", [*data, *given])["jobid"])

    def log(self, job: str) -> str:
        """Return the log of a job."""
        (log,) = self.folder.rglob(f"{job}.log")
        return log.read_text("utf-8")

    def wait(self) -> None:
        """Wait until all jobs have ended."""
        for _ in range(3_000):
            if len(self.ask("listjobs.json")["finished"]) == self.scheduled:
                return
            sleep(0.1)
        raise TimeoutError("the jobs don't end")


@pytest.fixture(scope="module")
def scrapyd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scrapyd]:
    scrapyd = Scrapyd(tmp_path_factory.mktemp("scrapyd"))
    yield scrapyd
    scrapyd.process.terminate()
    scrapyd.process.wait()


@pytest.fixture
def site(tmp_path: Path) -> Site:
    site = Site(tmp_path / "web", tmp_path / "crawl")
    for number in range(8):
        links = [f"http://www.s{n}.example.mm/" for n in (2 * number + 1, 2 * number + 2) if n < 8]
        links.append(f"http://www.s{number}.example.mm/a.html")
        site.add(f"www.s{number}.example.mm/", page(BURMESE, *links))
        site.add(f"www.s{number}.example.mm/a.html", page(ENGLISH))
    (site.web / "seeds-my.txt").write_text("http://www.s0.example.mm/")
    return site


@pytest.mark.slow
def test_a_job_with_a_mistake_says_so_in_its_log(scrapyd: Scrapyd, site: Site) -> None:
    job = scrapyd.schedule(LSWC_STRATEGY="bsf", LSWC_CRAWL=site.folder, LSWC_WEB=site.web)
    scrapyd.wait()
    line = "scrapy crawl: error: unknown strategy 'bsf'; known: bfs, "
    assert line in scrapyd.log(job)


@pytest.mark.slow
def test_only_who_knows_the_password_is_answered_and_no_page_of_another_origin(
    scrapyd: Scrapyd,
) -> None:
    assert scrapyd.password.stat().st_mode & 0o777 == 0o600
    with pytest.raises(HTTPError, match="401"):
        urlopen(scrapyd.url + "schedule.json", b"project=lswc&spider=lswc", timeout=BRAKE)
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"},
                    {"Sec_Fetch_Site": "cross-site"}):  # fmt: skip
        asked = scrapyd.request("schedule.json", b"project=lswc&spider=lswc", **headers)
        with pytest.raises(HTTPError, match="403"):
            urlopen(asked, timeout=BRAKE)
    own = scrapyd.request("daemonstatus.json", Origin=scrapyd.url.rstrip("/"))
    with urlopen(own, timeout=BRAKE) as answer:
        assert answer.status == 200


@pytest.mark.slow
def test_a_job_runs_nothing_that_it_names(scrapyd: Scrapyd, site: Site, tmp_path: Path) -> None:
    run = tmp_path / "run"
    jobs = {
        scrapyd.schedule(**{name: value}, LSWC_CRAWL=site.folder, LSWC_WEB=site.web): name
        for name, value in (
            ("LSWC_ON_END", f"touch {run}"), ("STATS_CLASS", "os.path.join"),
            ("LSWC_EXPERIENCE", "/etc"), ("LSWC_JOBS_MAY", "LSWC_ON_END"),
        )
    }  # fmt: skip
    scrapyd.wait()
    for job, name in jobs.items():
        assert f"error: {name} " in scrapyd.log(job)
        assert "no job may say so" in scrapyd.log(job)
    assert not run.exists()


@pytest.mark.slow
def test_a_scheduled_job_crawls_with_its_profile_then_two_share_a_crawl(
    scrapyd: Scrapyd, site: Site, redis_server: RedisServer, tmp_path: Path
) -> None:
    web: dict[str, object] = {"LSWC_WEB": site.web, "DOWNLOAD_DELAY": 0}
    job = scrapyd.schedule(LSWC_PROFILE="soft_focused", LSWC_CRAWL=site.folder, **web)
    scrapyd.wait()
    assert " 8, a harvest rate of 50.0%\n" in scrapyd.log(job)
    assert len(site.urls) == 16
    assert site.summary["strategy"] == "soft_focused"
    assert (site.summary["language"], site.summary["relevant"]) == ("my", 8)

    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        scrapyd.schedule(LSWC_FRONTIER=redis_server.url, LSWC_CRAWL=folder, **web)
    scrapyd.wait()
    shared = [url for folder in folders for url in Site(site.web, folder).urls]
    assert sorted(shared) == sorted(site.urls)


@pytest.mark.slow
def test_logparser_reads_every_job(scrapyd: Scrapyd, site: Site, tmp_path: Path) -> None:
    web: dict[str, object] = {"LSWC_WEB": site.web, "DOWNLOAD_DELAY": 0}
    limited = {"LSWC_MAX_SERVER_PAGES": 1, "LSWC_CRAWL": tmp_path / "limited"}  # its count has a '
    jobs = {
        scrapyd.schedule(LSWC_CRAWL=site.folder, **web): ("finished", 16),
        scrapyd.schedule(**web, LSWC_CRAWL=tmp_path / "s", CLOSESPIDER_ITEMCOUNT=4): (
            "closespider_itemcount", None,
        ),
        scrapyd.schedule(**web, **limited): ("finished", 8),
    }  # fmt: skip
    scrapyd.wait()
    for job, (reason, pages) in jobs.items():
        log = scrapyd.log(job)
        told = parse(log)
        assert told["finish_reason"] == reason, log
        assert told["items"] == (pages or told["items"]) >= 4, log
        assert told["pages"] >= told["items"], log
        assert told["crawler_stats"]["item_scraped_count"] == told["items"]
        (items,) = scrapyd.folder.rglob(f"items/lswc/lswc/{job}.jl")
        assert items.read_text("utf-8").count("\n") == told["items"]
    assert "page limit" in log


@pytest.mark.slow
def test_projects_and_versions_beside_each_other(
    scrapyd: Scrapyd, site: Site, tmp_path: Path
) -> None:
    scrapyd.client("scrapyd-deploy", "-p", "archive", "--version", "one")
    scrapyd.client("scrapyd-deploy", "-p", "archive", "--version", "two")
    found = scrapyd.ask("listversions.json?project=archive")
    assert found["versions"] == ["one", "two"]
    assert "lswc" in scrapyd.client("scrapyd-client", "spiders", "-p", "archive")
    given = [
        "lang=my", "setting=LSWC_PROFILE=soft_focused", f"setting=LSWC_WEB={site.web}",
        "setting=DOWNLOAD_DELAY=0", f"setting=LSWC_CRAWL={site.folder}",
    ]  # fmt: skip
    arguments = [part for argument in given for part in ("--arg", argument)]
    scrapyd.client("scrapyd-client", "schedule", "-p", "archive", *arguments, "lswc")
    scrapyd.scheduled += 1
    web: dict[str, object] = {"LSWC_WEB": site.web, "DOWNLOAD_DELAY": 0}
    scrapyd.schedule(**web, LSWC_CRAWL=tmp_path / "bfs", LSWC_STRATEGY="bfs")
    scrapyd.wait()
    assert site.summary["strategy"] == "soft_focused"
    assert Site(site.web, tmp_path / "bfs").summary["strategy"] == "bfs"
