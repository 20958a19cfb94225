"""``lswc``: the commands of ``scrapy``, from anywhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from contextlib import closing
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import iter_modules

import pytest
from scrapy.utils.project import ENVVAR

from lswc import __version__
from lswc.cli import commands, program
from lswc.cli.reference import completions
from lswc.frontier.store.frontier import Frontier
from lswc.frontier.store.lock import lock
from lswc.monitor.stored import StoredInFolders
from lswc.strategy import strategy
from lswc.workbench.crawls import Crawls
from tests import forks

ROOT = Path(__file__).parents[2]


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        program.main(arguments)
    assert isinstance(left.value.code, int)
    return left.value.code


def elsewhere(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it as a process in a folder that isn't the project's."""
    return forks.run(arguments, folder, environment(), "lswc")


def environment() -> dict[str, str]:
    given = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    given.pop(ENVVAR, None)
    return given


@pytest.mark.parametrize("arguments", [("--help",), ("languages",), ("completion", "bash")])
def test_a_reader_that_goes_away_is_no_fault(arguments: tuple[str, ...], tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop(ENVVAR, None)
    with os.fdopen(writer, "wb") as unread:
        left = subprocess.run(
            [sys.executable, "-m", "lswc", *arguments],
            cwd=tmp_path, env=environment, stdout=unread, stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
    assert (left.returncode, left.stderr) == (1, b"")


def test_it_has_every_command_of_scrapy() -> None:
    there = {module.name for module in iter_modules(commands.__path__)}
    there |= {point.name for point in entry_points(group="scrapy.commands")}
    there -= {"fetch", "parse", "runspider", "shell", "view"}  # for other spiders, too
    assert there | {"demo", "completion", "settings"} == set(program.NAMES)


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
        (("crawl", "th", "lo"), "lswc crawl: error: unrecognized arguments: lo; several languages"),
        (
            ("crawl", "th", "--pages", "-5"),
            "lswc crawl: error: argument --pages: '-5' isn't a whole",
        ),
        (("crawl", "th", "--pages", "x"), "lswc crawl: error: argument --pages: 'x' isn't a whole"),
        (("crawl", "th", "-s", "A"), "lswc crawl: error: -s A: a setting is given as NAME=VALUE"),
        (
            ("why", ".", "notaurl"),
            "lswc why: error: 'notaurl' isn't a URL, such as http://notaurl/",
        ),
        (("frontier",), "lswc frontier: error: name crawl folders, or one Redis"),
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


@pytest.mark.parametrize(
    "command",
    ["analyze", "check", "control", "corpus", "frontier", "index", "trace", "wacz", "watch", "why"],
)
def test_a_file_is_no_crawl(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "th.toml"
    file.touch()
    more = {"why": ["http://a/"]}.get(command, [])
    more += ["--out", str(tmp_path / "out")] if command in ("analyze", "trace") else []
    assert run(command, str(file), *more) == 2
    assert capsys.readouterr().err.count("\n") == 1


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
    command = [sys.executable, "-m", "lswc", "crawl", "th", "--web", "web"]
    done = subprocess.run(
        [*command, "--seeds", "seeds.txt", "-s", "DOWNLOAD_DELAY=0"],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "relevant" in done.stdout
    assert "scrapy" not in done.stderr, "Scrapy's own lines are for DEBUG"
    assert (tmp_path / "crawls" / "th" / "pages.jsonl").read_text().count("\n") == 1


def test_a_mistake_in_a_crawl_is_said_by_the_name_that_was_called(tmp_path: Path) -> None:
    done = elsewhere(tmp_path, "crawl", "th")
    assert done.returncode == 2
    assert done.stderr.startswith("lswc crawl: error: ")
    assert done.stderr.count("\n") == 1
    done = elsewhere(tmp_path, "demo", "-s", "CONCURRENT_REQUESTS=0")
    assert done.returncode == 2
    assert done.stderr == "lswc demo: error: CONCURRENT_REQUESTS must be at least 1\n"


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("DOWNLOAD_DELY=0", "unknown setting DOWNLOAD_DELY; did you mean DOWNLOAD_DELAY?"),
        ("LSWC_DELAY=0", "unknown setting LSWC_DELAY; did you mean LSWC_"),
        ("CONCURRENT_REQUESTS=0", "CONCURRENT_REQUESTS must be at least 1"),
        ("CONCURRENT_REQUESTS=-3", "CONCURRENT_REQUESTS must be a number of at least 0, not '-3'"),
        ("CLOSESPIDER_ITEMCOUNT=x", "CLOSESPIDER_ITEMCOUNT must be a number of at least 0"),
        ("LOG_LEVEL=info", "LOG_LEVEL='info' isn't one of: NOTSET, DEBUG, INFO, "),
        ("LOG_FILE=nodir/x", "can't write nodir/x: No such file or directory"),
        ("LSWC_CONTACT=you", "who crawls the real web? Give a URL or an e-mail address: --contact"),
    ],
)
def test_a_wrong_setting_is_one_line(tmp_path: Path, setting: str, says: str) -> None:
    done = elsewhere(tmp_path, "crawl", "th", "-s", setting)
    assert done.returncode == 2
    assert done.stderr.startswith(f"lswc crawl: error: {says}")
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_setting_that_nothing_reads_is_told_and_the_crawl_goes_on(tmp_path: Path) -> None:
    (tmp_path / "web" / "a.example").mkdir(parents=True)
    (tmp_path / "web" / "a.example" / "index.html").write_text("a")
    (tmp_path / "seeds.txt").write_text("http://a.example/\n")
    done = elsewhere(
        tmp_path, *("crawl", "th", "--web", "web", "--seeds", "seeds.txt", "-s", "OUR_TEAM=archive")
    )
    assert done.returncode == 0, done.stderr
    assert "warning: neither lswc nor Scrapy has a setting OUR_TEAM\n" in done.stderr


def test_a_demo_goes_on_unless_it_is_to_begin_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    asked: list[list[str]] = []
    monkeypatch.setattr(program, "execute", asked.append)
    page = tmp_path / "crawls" / "demo" / "pages.jsonl"
    page.parent.mkdir(parents=True)
    page.touch()
    assert run("demo") == 0
    assert page.exists()
    assert asked == [[
        *("lswc", "crawl", "lswc", "-a", "lang=th", "-s", "LSWC_WEB=demo"),
        *("-s", "LSWC_CRAWL=crawls/demo", "-s", "DOWNLOAD_DELAY=0", "--demo"),
    ]]  # fmt: skip
    assert run("demo", "--fresh", "--dry-run") == 0
    assert run("demo", "--fresh") == 0
    assert ["--fresh" in given for given in asked] == [False, False, True]


def test_a_demo_with_a_mistake_deletes_nothing(tmp_path: Path) -> None:
    made = elsewhere(tmp_path, "demo", "--pages", "20")
    assert made.returncode == 0, made.stderr
    pages, asked = tmp_path / "crawls" / "demo" / "pages.jsonl", ("demo", "--fresh", "--pages", "9")
    recorded = pages.read_bytes()
    for wrong in ("CONCURRENT_REQUESTS=none", "LSWC_STRATEGY=none", "LSWC_CRAWL=crawls/th"):
        refused = elsewhere(tmp_path, *asked, "-s", wrong)
        assert refused.returncode == 2, refused.stderr
        assert refused.stderr.count("\n") == 1
        assert pages.read_bytes() == recorded
        assert not [*pages.parent.parent.glob("demo.*")]
    with closing(lock(pages.parent)):
        assert "another process" in elsewhere(tmp_path, *asked).stderr
        assert pages.read_bytes() == recorded
    anew = elsewhere(tmp_path, *asked, "--profile", "bfs")  # else it were of another strategy
    assert anew.returncode == 0, anew.stderr
    assert not set(pages.read_bytes().splitlines()) & set(recorded.splitlines())
    assert not [*pages.parent.parent.glob("demo.*")]


def test_profiles_and_what_each_sets(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("profiles") == 0
    said = capsys.readouterr().out
    assert re.search(r"^ *bfs +\S", said, re.MULTILINE)
    assert re.search(r"^ *adaptive +\S", said, re.MULTILINE)
    assert run("profiles", "bfs") == 0
    assert re.search(r"LSWC_STRATEGY +bfs", capsys.readouterr().out)


@pytest.mark.parametrize("several", [True, False])
def test_a_watch_serves_one_crawl_or_a_folder_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, several: bool
) -> None:
    folder = tmp_path / "crawls" / "th"
    folder.mkdir(parents=True)
    Frontier(folder / "frontier.db", strategy("bfs"), {"language": "th"}).close()
    (folder / "settings.json").write_text('{"language": "th"}')
    served: list[tuple[object, ...]] = []
    monkeypatch.setattr("lswc.workbench.server.serve", lambda *given: served.append(given))
    monkeypatch.setattr("os.nice", lambda by: None)
    shown = folder.parent if several else folder
    options = ("--host", "::1", "--port", "8079", "--name", "a.example:8080")
    assert run("watch", str(shown), *options) == 0
    ((what, *given, _),) = served
    assert isinstance(what, Crawls if several else StoredInFolders)
    assert given == ["::1", 8079, "a.example:8080"]


def completed(*words: str) -> list[str]:
    """Return what bash offers for the last of these words."""
    bash = shutil.which("bash")
    assert bash is not None
    script = f"""source {program.completion_file("bash")}
    COMP_WORDS=({" ".join(f"'{word}'" for word in words)}) COMP_CWORD={len(words) - 1}
    _shtab_lswc; printf '%s\\n' "${{COMPREPLY[@]}}" """
    return subprocess.run([bash, "-c", script], capture_output=True, text=True).stdout.split()


def test_a_shell_completes_commands_languages_profiles_verbs_and_settings() -> None:
    assert completed("lswc", "cra") == ["crawl"]
    assert "th" in completed("lswc", "crawl", "t")
    assert completed("lswc", "crawl", "--profile", "b") == ["bfs"]
    assert completed("lswc", "control", "crawls/th", "b") == ["block"]
    assert completed("lswc", "settings", "LSWC_ON") == ["LSWC_ON_END"]
    assert completed("lswc", "crawl", "th", "-s", "LSWC_PROF") == ["LSWC_PROFILE="]
    assert "demo" in completed("lswc", "crawl", "th", "--web", "dem")


def test_completions_are_those_of_the_commands() -> None:
    for shell, script in completions().items():
        assert program.completion_file(shell).read_text("utf-8") == script


def test_a_completion_is_printed_before_anything_is_loaded() -> None:
    code = "import sys, lswc.__main__ as m; sys.argv = ['lswc', 'completion', 'zsh']; m.main();"
    code += "print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == program.completion_file("zsh").read_text("utf-8")
    assert not {"scrapy", "twisted", "rich"} & set(done.stderr.split())


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ("analyze", "t", "--out", "r", "--precision", "7"),
            "--precision must be above 0",
        ),
        (("analyze", "t", "--out", "r", "--accuracy", "0"), "--accuracy must be above 0"),
        (("frontier", "t", "--top", "-3"), "--top must be at least 1, and -3 isn't"),
        (("trace", "t", "--out", "t"), "--out t is what is read, or holds it: name another folder"),
        (("trace", "t/c", "--out", "t"), "--out t is what is read, or holds it: name another fold"),
    ],
)
def test_numbers_and_folders_that_mean_nothing_are_refused(
    arguments: tuple[str, ...], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*arguments) == 2
    told = capsys.readouterr().err
    assert f"lswc {arguments[0]}: error: {line}" in told
    assert told.count("\n") == 1


def test_a_shell_that_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("completion", "nushell") == 2
    assert "invalid choice: 'nushell'" in capsys.readouterr().err
