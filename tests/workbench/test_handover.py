"""Hand-over: jobs that go on without the workbench, their results, and what a report may do."""

from __future__ import annotations

import json
import os
import signal
import sys
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import pytest

from lswc.errors import ConfigError
from lswc.frontier.store.frontier import Frontier
from lswc.guest.control import in_folder
from lswc.monitor.stored import StoredInFolders
from lswc.strategy import strategy
from lswc.workbench import handover
from lswc.workbench.jobs import CANCELLED, DONE, FAILED, NEVER, RUNS, Jobs, Task, files_of
from lswc.workbench.watch import Watch
from tests.scenarios.site import BRAKE, THAI, Site, page
from tests.workbench.test_page import watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def task(tmp_path: Path) -> Task:
    made = tmp_path / "handover"
    return Task(made / "wacz", "Make a WACZ", "", ("wacz",), made / "th.wacz")


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """What a job runs instead of Python: a script of the shell, in the job's folder."""
    program = tmp_path / "python"

    def script(text: str) -> None:
        program.write_text(f"#!/bin/sh\ncd {tmp_path}/handover\n{text}\n")
        program.chmod(0o755)

    monkeypatch.setattr(sys, "executable", str(program))
    # As the workbench's server sets it: what is ignored by a process is ignored by its children.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield script
    signal.signal(signal.SIGINT, before)


def until(jobs: Jobs, task: Task, state: str) -> dict[str, Any]:
    end = monotonic() + BRAKE
    while (told := jobs.progress(task))["state"] != state and monotonic() < end:
        sleep(0.01)
    assert told["state"] == state
    return told


def test_a_job_says_how_far_it_is_and_ends_with_its_result(
    task: Task, runs: Callable[[str], None]
) -> None:
    jobs = Jobs()
    assert jobs.progress(task)["state"] == NEVER
    runs("echo 12:00:00 index, 40% done; echo 123 > .partial-th.wacz; touch said; "
         "while [ ! -e go ]; do sleep .05; done; mv .partial-th.wacz th.wacz")  # fmt: skip
    jobs.start(task)
    while not (task.place.parent / "said").exists():
        sleep(0.01)
    for seen_by in (jobs, Jobs()):  # another workbench sees it too
        told = seen_by.progress(task)
        assert (told["state"], told["what"], told["share"]) == (RUNS, "index", 0.4)
        assert (told["so_far"], told["files"]) == (4, [])
        with pytest.raises(ConfigError, match="runs already"):
            seen_by.start(task)
    (task.place.parent / "go").touch()
    told = until(jobs, task, DONE)
    assert [(one.path, one.size) for one in told["files"]] == [("th.wacz", 4)]
    assert Jobs().progress(task)["state"] == DONE
    os.utime(task.place.parent / "th.wacz", (1e9, 1e9))
    runs("echo lswc wacz: error: No space left on device >&2; exit 1")
    jobs.start(task)
    told = until(jobs, task, FAILED)
    assert told["why"] == "lswc wacz: error: No space left on device"
    assert [one.path for one in told["files"]] == ["th.wacz"], "the earlier one stays"
    assert Jobs().progress(task)["state"] == FAILED


def test_a_job_is_cancelled_by_any_workbench_and_ended_if_it_does_not_listen(
    task: Task, runs: Callable[[str], None]
) -> None:
    jobs = Jobs()
    runs("trap '' INT; touch said; while :; do sleep .05; done")
    jobs.start(task)
    while not (task.place.parent / "said").exists():
        sleep(0.01)
    Jobs().cancel(task)
    assert jobs.progress(task)["state"] == RUNS
    Jobs().cancel(task)
    until(jobs, task, CANCELLED)
    with pytest.raises(ConfigError, match="ended already"):
        jobs.cancel(task)


def test_no_process_is_ended_that_is_no_job(task: Task, runs: Callable[[str], None]) -> None:
    jobs = Jobs()
    runs("touch said; while [ ! -e go ]; do sleep .05; done")
    jobs.start(task)
    told = json.loads(task.record.read_text())
    task.record.write_text(json.dumps({**told, "process": os.getpid()}))
    with pytest.raises(ConfigError, match="ended already"):
        jobs.cancel(task)
    task.record.write_text(json.dumps(told))
    jobs.cancel(task)
    until(jobs, task, CANCELLED)


def test_links_and_what_is_not_whole_are_no_results(tmp_path: Path) -> None:
    (tmp_path / "corpus" / ".partial-x").mkdir(parents=True)
    for name in ("corpus/a", "corpus/.partial-x/b", "secret"):
        (tmp_path / name).write_text("1")
    (tmp_path / "corpus" / "link").symlink_to(tmp_path / "secret")
    (tmp_path / "link").symlink_to(tmp_path / "corpus")
    assert [one.path for one in files_of(tmp_path / "corpus")] == ["a"]
    assert not list(files_of(tmp_path / "link"))
    assert not list(files_of(None))


@pytest.fixture
def watched(tmp_path: Path) -> Watch:
    folder = tmp_path / "a crawl"
    folder.mkdir()
    Frontier(folder / "frontier.db", strategy("bfs"), {"language": "lo,th"}).close()
    about = {"language": "lo,th", "seeds": "http://me:secret@one.example/"}
    (folder / "settings.json").write_text(json.dumps(about))
    return Watch(StoredInFolders([folder], in_folder(folder)))


def test_of_several_languages_each_has_its_corpus(watched: Watch) -> None:
    known = handover.tasks(watched.crawl.folders())
    assert list(known) == ["wacz", "corpus-lo", "report-lo", "corpus-th", "report-th", "replay"]
    folder = watched.crawl.folders()[0]
    assert known["corpus-th"].arguments == (
        "corpus", str(folder), "--out", str(folder / "handover" / "corpus-th"), "--lang", "th",
    )  # fmt: skip
    with pytest.raises(ConfigError, match="no job is called 'sh'"):
        handover.start(watched, {"job": "sh"})
    assert "secret" not in handover.settings(watched, {})["settings"]["seeds"]


def test_only_files_that_jobs_made_are_given_out(watched: Watch) -> None:
    made = watched.crawl.folders()[0] / "handover"
    (made / "report-th" / "tables").mkdir(parents=True)
    for name in ("a crawl.wacz", "report-th/report.html", "report-th/tables/a.csv", "wacz.log"):
        (made / name).write_text("1")
    report = handover.made(watched, "report-th/report.html")
    assert "sandbox" in report.headers["Content-Security-Policy"]
    assert report.type == "text/html; charset=utf-8"
    for path, name in (("wacz/a crawl.wacz", "a_crawl.wacz"), ("report-th/tables/a.csv", "a.csv")):
        given = handover.made(watched, path)
        assert given.type == "application/octet-stream"
        assert f'attachment; filename="{name}"' in given.headers["Content-Disposition"]
    for path in ("", "wacz", "wacz/wacz.log", "report-th/../wacz.log", "report-th//etc/passwd",
                 "wacz/../../settings.json", "replay/x", "sh/x"):  # fmt: skip
        with pytest.raises(ConfigError, match="isn't there"):
            handover.made(watched, path)


@pytest.mark.slow
def test_a_wacz_is_made_by_a_button_and_the_player_ends_with_the_watch(tmp_path: Path) -> None:
    site = Site(tmp_path / "web", tmp_path / "crawls" / "th")
    site.seeds("http://a.example/")
    site.add("a.example/", page(THAI))
    site.crawl()
    with watch(site) as shown:

        def post(path: str, job: str) -> int:
            body = json.dumps({"job": job})
            return shown.ask(path, "POST", body, X_Lswc_Token=shown.token)[0]

        assert shown.ask("/api/start-job", "POST", '{"job": "wacz"}')[0] == 403
        assert post("/api/start-job", "sh") == 400
        assert post("/api/start-job", "wacz") == post("/api/start-job", "replay") == 200
        told: dict[str, Any] = {"jobs": {}}
        while told["jobs"].get("wacz", {}).get("state") != DONE or not told["player"]:
            told = json.loads(shown.ask("/api/jobs")[1])
            assert {FAILED, CANCELLED}.isdisjoint(one["state"] for one in told["jobs"].values())
            sleep(0.2)
        assert "made/wacz/th.wacz" in shown.ask("/handover")[1]
        with ZipFile(site.folder / "handover" / "th.wacz") as archive:
            assert "datapackage.json" in archive.namelist()
        status, _, headers = shown.answer("/made/wacz/th.wacz", "HEAD")
        assert (status, headers["X-Content-Type-Options"]) == (200, "nosniff")
        assert int(headers["Content-Length"]) == (site.folder / "handover/th.wacz").stat().st_size
        assert shown.ask("/made/wacz/../../settings.json")[0] == 400
    process = json.loads((site.folder / "handover" / "replay.json").read_text())["process"]
    end = monotonic() + BRAKE
    while _lives(process) and monotonic() < end:
        sleep(0.1)
    assert not _lives(process)
    assert not (site.folder / "replay.json").exists()


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
