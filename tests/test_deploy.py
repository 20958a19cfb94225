"""What ``deploy/`` runs: its files name what is there, and their commands crawl."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from base64 import b64encode
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest
import yaml

from tests.ports import free_port
from tests.scenarios.site import BRAKE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.frontier.redis_server import RedisServer

ROOT = Path(__file__).parents[1]
DEPLOY = ROOT / "deploy"
PAGE = "<html><body>" + "ภาษาไทยเป็นภาษาที่มีระดับเสียงของคำ" * 9 + '<a href="/two">สอง</a>'
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]


def dockerfile(instruction: str) -> list[str]:
    """Return the arguments of an instruction, wherever it stands."""
    text = (DEPLOY / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    return re.findall(rf"^(?:HEALTHCHECK .*)?\b{instruction}\b (.*)$", text, re.MULTILINE)


def unit() -> dict[str, str]:
    """Return the last value of each line of the systemd unit."""
    lines = (DEPLOY / "lswc@.service").read_text("utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a web, its seeds and the programs of an image."""
    host = tmp_path / "web" / "www.one.example"
    host.mkdir(parents=True)
    for name in ("index.html", "two"):
        (host / name).write_text(PAGE, "utf-8")
    (tmp_path / "seeds.txt").write_text("http://www.one.example/\n")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, module in (("lswc", "lswc"), ("scrapyd", "scrapyd")):
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable} -m {module} "$@"\n')
        (programs / name).chmod(0o755)
    (programs / "hostname").write_text('#!/bin/sh\necho "$WORKER"\n')
    (programs / "hostname").chmod(0o755)
    return tmp_path


def environment(place: Path, **given: str) -> dict[str, str]:
    """Return the environment of a container whose web is the folder's."""
    path = f"{place / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    options = "--web web --seeds seeds.txt -s DOWNLOAD_DELAY=0"
    return {
        **os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "CRAWL_OPTIONS": options,
        "CRAWL_CONTACT": "crawl@library.example", **given,
    }  # fmt: skip


def crawled(crawl: Path) -> int:
    return (crawl / "pages.jsonl").read_text("utf-8").count("\n")


def test_an_image_is_made_of_what_is_there() -> None:
    assert dockerfile("FROM") == ["$BASE AS build", "$BASE"]
    sources = [copied.split()[0] for copied in dockerfile("COPY") if "--from" not in copied]
    assert all((ROOT / source).exists() for source in sources)
    wanted = (ROOT / ".dockerignore").read_text().splitlines()
    assert all((ROOT / name[1:]).exists() for name in wanted if name.startswith("!"))
    arguments = dict(argument.split("=") for argument in dockerfile("ARG"))
    assert arguments["BASE"].startswith("python:")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert {"metrics", "parquet"} <= {*arguments["EXTRAS"].split(",")}
    assert {*arguments["EXTRAS"].split(",")} <= {*project["optional-dependencies"]}
    assert "GROUPS" not in arguments, "in bash it is an array of its own (SC2128)"
    assert dockerfile("USER") == ["10001"]
    assert dockerfile("ENTRYPOINT") == ['["lswc"]']


def test_services_use_what_is_there() -> None:
    for service in SERVICES.values():
        if "build" in service:
            context = (DEPLOY / service["build"]["context"]).resolve()
            assert context == ROOT
            assert (context / service["build"]["dockerfile"]).is_file()
            assert service["read_only"]
            assert service["cap_drop"] == ["ALL"]
        for source, *_ in (volume.split(":") for volume in service["volumes"]):
            assert (DEPLOY / source).exists() if source[0] == "." else source in COMPOSE["volumes"]
    assert SERVICES["scrapyd"]["ports"] == ["127.0.0.1:6800:6800"]


@pytest.mark.slow
def test_workers_share_a_crawl(place: Path, redis_server: RedisServer) -> None:
    worker = SERVICES["worker"]
    command = [*worker["entrypoint"], *(part.replace("$$", "$") for part in worker["command"])]
    given = {
        "CRAWL_LANGUAGE": "th", "CRAWL_FRONTIER": redis_server.url, "CRAWL_METRICS": "127.0.0.1:0",
    }  # fmt: skip
    assert set(worker["environment"]) <= {*given, *environment(place)}
    started = [
        subprocess.Popen(command, cwd=place, env=environment(place, WORKER=name, **given))
        for name in ("one", "two")
    ]
    assert [process.wait(BRAKE) for process in started] == [0, 0]
    folders = [place / "crawls" / f"th-{name}" for name in ("one", "two")]
    assert sum(crawled(folder) for folder in folders) == 2

    (health,) = dockerfile("CMD find")
    of_worker = worker["healthcheck"]["test"][1].replace("$$", "$")

    def checked(command: str, name: str) -> int:
        given = environment(place, WORKER=name, CRAWL_LANGUAGE="th")
        shell = ["sh", "-c", command]
        return subprocess.run(shell, cwd=place, env=given, check=False).returncode

    def health_of_all() -> list[int]:
        return [checked(f"find {health}", ""), *(checked(of_worker, n) for n in ("one", "two"))]

    assert health_of_all() == [0, 0, 0]
    os.utime(place / "crawls" / "th-two" / "now.json", (0, 0))
    assert health_of_all() == [0, 0, 1]
    for path in place.glob("crawls/*/log/*"):
        os.utime(path, (0, 0))
    assert health_of_all() == [1, 0, 1]


def test_alerts_are_raised_for_what_they_are_and_for_metrics_that_there_are() -> None:
    rules = yaml.safe_load((DEPLOY / "alerts.yml").read_text("utf-8"))["groups"][0]["rules"]
    documented = (ROOT / "docs" / "watch.md").read_text("utf-8")
    for rule in rules:
        for metric in re.findall(r"\blswc_[a-z_]+", rule["expr"]):
            assert f"`{metric}" in documented
    (asked,) = yaml.safe_load((DEPLOY / "prometheus.yml").read_text("utf-8"))["scrape_configs"]
    (found,) = asked["dns_sd_configs"]
    assert SERVICES["worker"]["environment"]["CRAWL_METRICS"].endswith(f":{found['port']}")
    assert found["names"] == ["worker"]
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is missing")
    for command in (("check", "config", "prometheus.yml"), ("test", "rules", "alerts_test.yml")):
        done = subprocess.run(
            [promtool, *command], cwd=DEPLOY, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_what_a_crawl_outlives_is_started_again() -> None:
    assert SERVICES["redis"]["restart"] == "unless-stopped"
    assert SERVICES["worker"]["restart"] == "on-failure", (
        "no number of times: an outage may be long"
    )


def test_nothing_in_redis_has_to_last() -> None:
    lines = (DEPLOY / "redis.conf").read_text("utf-8").splitlines()
    assert {"maxmemory-policy noeviction", "appendonly no", 'save ""'} <= set(lines)


@pytest.mark.slow
def test_redis_takes_its_file(tmp_path: Path) -> None:
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is missing")
    port = str(free_port())
    given = [str(DEPLOY / "redis.conf"), "--port", port, "--dir", str(tmp_path)]
    server = subprocess.Popen([program, *given], stdout=subprocess.DEVNULL)
    try:
        asked = ["redis-cli", "-p", port, "config", "get", "maxmemory-policy"]
        for _ in range(3_000):
            said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
            if said:
                break
            sleep(0.1)
        assert said.split() == ["maxmemory-policy", "noeviction"]
    finally:
        server.terminate()
        server.wait()


@pytest.fixture
def scrapyd(place: Path) -> Iterator[str]:
    """The scrapyd of the compose file, on a free port; its URL."""
    port = str(free_port())
    text = (DEPLOY / "scrapyd.conf").read_text().replace("6800", port)
    text = re.sub("bind_address = .*", "bind_address = 127.0.0.1", text)
    (place / "scrapyd.conf").write_text(text)
    command = [*SERVICES["scrapyd"]["entrypoint"], *SERVICES["scrapyd"]["command"]]
    log = (place / "scrapyd.log").open("wb")
    process = subprocess.Popen(
        [place / "bin" / command[0], *command[1:]], cwd=place, stdout=log, stderr=log,
        env=environment(place, **SERVICES["scrapyd"]["environment"]),
    )  # fmt: skip
    yield f"http://127.0.0.1:{port}/"
    process.terminate()
    process.wait()
    log.close()


def ask(place: Path, url: str, given: list[tuple[str, str]] | None = None) -> dict[str, Any]:
    password = (place / "crawls" / "scrapyd" / "password").read_text().strip()
    known = b64encode(f"lswc:{password}".encode()).decode()
    body = urlencode(given).encode() if given else None
    asked = Request(url, body, {"Authorization": f"Basic {known}"})
    with urlopen(asked, timeout=BRAKE) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


@pytest.mark.slow
def test_scrapyd_has_the_installed_project(place: Path, scrapyd: str) -> None:
    health = SERVICES["scrapyd"]["healthcheck"]["test"][3]
    check = [sys.executable, "-c", health.replace("http://127.0.0.1:6800/", scrapyd)]
    for _ in range(1_500):
        if not subprocess.run(check, cwd=place, check=False, capture_output=True).returncode:
            break
        sleep(0.2)
    given = [
        ("project", "lswc"), ("spider", "lswc"), ("lang", "th"),
        ("seeds", str(place / "seeds.txt")), ("setting", "LSWC_WEB=web"),
        ("setting", "DOWNLOAD_DELAY=0"), ("setting", "LSWC_CRAWL=crawls/th"),
    ]  # fmt: skip
    assert ask(place, f"{scrapyd}schedule.json", given)["status"] == "ok"
    for _ in range(1_500):
        if ask(place, f"{scrapyd}listjobs.json?project=lswc")["finished"]:
            break
        sleep(0.2)
    assert crawled(place / "crawls" / "th") == 2


@pytest.mark.slow
def test_the_unit_crawls(place: Path) -> None:
    said = unit()
    program, _, arguments = said["ExecStart"].replace("%i", "th").partition(" ")
    command = f"exec {shlex.quote(Path(program).name)} {arguments}"
    shell = ["/bin/sh", "-c", command]
    done = subprocess.run(shell, cwd=place, env=environment(place), check=False)
    assert done.returncode == 0
    assert crawled(place / "crawls" / "th") == 2

    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is missing")
    text = (DEPLOY / "lswc@.service").read_text().replace(program, str(place / "bin" / "lswc"))
    (place / "lswc@th.service").write_text(text)
    verified = subprocess.run(
        [analyze, "verify", str(place / "lswc@th.service")], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (verified.returncode, verified.stderr) == (0, "")
