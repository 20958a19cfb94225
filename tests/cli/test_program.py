"""``lswc``: the commands of ``scrapy``, from anywhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import iter_modules

import pytest
from scrapy.utils.project import ENVVAR

from lswc import __version__
from lswc.cli import commands, program

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["pytest"])
    monkeypatch.delenv(ENVVAR, raising=False)


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        program.main(arguments)
    assert isinstance(left.value.code, int)
    return left.value.code


def elsewhere(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it as a process in a folder that isn't the project's."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    environment.pop(ENVVAR, None)
    return subprocess.run(
        [sys.executable, "-m", "lswc", *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_it_has_every_command_of_scrapy() -> None:
    there = {module.name for module in iter_modules(commands.__path__)}
    there |= {point.name for point in entry_points(group="scrapy.commands")}
    assert there | {"demo", "completion"} == set(program.NAMES)


@pytest.mark.parametrize("arguments", [(), ("-h",), ("--help",)])
def test_help_shows_each_command_with_an_example(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 0
    said = capsys.readouterr().out
    for name in program.NAMES:
        assert f"\n  {name} " in said
        assert f"$ lswc {name}" in said


@pytest.mark.parametrize("name", program.NAMES)
def test_each_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(name, "--help") == 0
    said = capsys.readouterr().out
    assert said.startswith(f"usage: lswc {name}")
    assert "For example: lswc" in said


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--version") == 0
    assert capsys.readouterr().out == f"lswc {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("crwal", "th"), "lswc: error: unknown command 'crwal'; do you mean 'crawl'?"),
        (("x",), f"lswc: error: unknown command 'x'; known: {', '.join(program.NAMES)}"),
        (("crawl",), "lswc crawl: error: the following arguments are required: lang"),
        (("crawl", "th", "--deph", "3"), "lswc crawl: error: unrecognized arguments: --deph 3"),
        (("frontier",), "lswc frontier: error: name one crawl folder, or one Redis"),
        (("frontier", "x", "-s", "A"), "lswc frontier: error: Invalid -s value, use -s NAME=VALUE"),
        (("why", "none", "http://a/"), "lswc why: error: none is not a crawl folder"),
    ],
)
def test_a_mistake_is_one_line(
    arguments: tuple[str, ...], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(line)
    assert said.err.count("\n") == 1


def test_the_options_of_a_crawl_are_those_of_scrapy() -> None:
    given = ["ja", "--contact", "a@b.example", "--seeds", "s.txt", "--web", "w", "--into", "c"]
    more = ["--profile", "bfs", "--pages", "9", "-s", "A=1", "-s", "B=2", "-L", "DEBUG"]
    options = program.parser_of("crawl").parse_args([*given, *more])
    assert program.crawl_arguments(options) == [
        *("crawl", "lswc", "-a", "lang=ja", "-a", "seeds=s.txt", "-s", "LSWC_CONTACT=a@b.example"),
        *("-s", "LSWC_WEB=w", "-s", "LSWC_CRAWL=c", "-s", "LSWC_PROFILE=bfs"),
        *("-s", "CLOSESPIDER_ITEMCOUNT=9", "-s", "A=1", "-s", "B=2", "--loglevel", "DEBUG"),
    ]
    least = program.parser_of("crawl").parse_args(["th"])
    assert program.crawl_arguments(least) == ["crawl", "lswc", "-a", "lang=th"]


def test_a_crawl_anywhere(tmp_path: Path) -> None:
    (tmp_path / "web" / "www.one.example").mkdir(parents=True)
    page = "<html><body>" + "ภาษาไทยเป็นภาษาที่มีระดับเสียงของคำ" * 9
    (tmp_path / "web" / "www.one.example" / "index.html").write_text(page, "utf-8")
    (tmp_path / "seeds.txt").write_text("http://www.one.example/\n")
    done = elsewhere(
        tmp_path, "crawl", "th", "--web", "web", "--seeds", "seeds.txt", "-s", "DOWNLOAD_DELAY=0"
    )
    assert done.returncode == 0, done.stderr
    assert "relevant" in done.stdout
    assert "scrapy" not in done.stderr, "Scrapy's own lines are for DEBUG"
    assert (tmp_path / "crawls" / "th" / "pages.jsonl").read_text().count("\n") == 1


def test_a_mistake_in_a_crawl_is_said_by_the_name_that_was_called(tmp_path: Path) -> None:
    done = elsewhere(tmp_path, "crawl", "th")
    assert done.returncode == 2
    assert done.stderr.startswith("lswc crawl: error: ")
    assert done.stderr.count("\n") == 1


def test_bash_can_read_the_completion(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("completion", "bash") == 0
    script = capsys.readouterr().out
    bash = shutil.which("bash")
    assert bash is not None
    subprocess.run([bash, "-n"], input=script, text=True, check=True)
    for name in program.NAMES:
        assert name in script
