"""What is installed on demand: a crawl works without it, and what doesn't says what to install."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path
from types import SimpleNamespace

import pytest

from lswc import extras
from lswc.cli import program
from lswc.extras import GROUPS, how_to_install

ROOT = Path(__file__).parents[1]
PAGE = "<html><body>" + "ภาษาไทยเป็นภาษาที่มีระดับเสียงของคำ" * 9 + '<a href="/two">สอง</a>'
EVERY = {library for libraries in GROUPS.values() for library in libraries}
HIDE = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
"""


def lswc(
    folder: Path, *arguments: str, hidden: set[str] = EVERY
) -> subprocess.CompletedProcess[str]:
    """Run a command where libraries aren't installed."""
    hiding = folder / "hiding"
    hiding.mkdir(exist_ok=True)
    (hiding / "sitecustomize.py").write_text(HIDE.format(hidden=sorted(hidden)))
    path = os.pathsep.join((str(hiding), str(ROOT)))
    return subprocess.run(
        [sys.executable, "-m", "lswc", *arguments], cwd=folder, check=False,
        env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
    )  # fmt: skip


def crawled(folder: Path, *options: str, hidden: set[str] = EVERY) -> str:
    """Crawl two pages; return what was said."""
    host = folder / "web" / "www.one.example"
    host.mkdir(parents=True, exist_ok=True)
    for name in ("index.html", "two"):
        (host / name).write_text(PAGE, "utf-8")
    (folder / "seeds.txt").write_text("http://www.one.example/\n")
    given = ("--web", "web", "--seeds", "seeds.txt", "-s", "DOWNLOAD_DELAY=0", *options)
    done = lswc(folder, "crawl", "th", *given, hidden=hidden)
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the crawl of a machine that only crawls, in two runs."""
    folder = tmp_path_factory.mktemp("worker")
    crawled(folder, "--pages", "1", "-s", "CONCURRENT_REQUESTS=1")
    assert crawled(folder) == ""
    return folder


@pytest.mark.slow
def test_a_crawl_needs_no_group(worked: Path) -> None:
    crawl = worked / "crawls" / "th"
    assert (crawl / "pages.jsonl").read_text("utf-8").count("\n") == 2
    assert [path.name for path in sorted((crawl / "log").iterdir())] == [
        "00001.jsonl", "00002.jsonl",
    ]  # fmt: skip
    identify = ("identify", "--lang", "th", "web")
    for command in (("check", "crawls/th"), ("frontier", "crawls/th"), identify):
        done = lswc(worked, *command)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("group", "arguments"),
    [
        ("lab", ("analyze", "crawls/th", "--out", "report")),
        ("parquet", ("why", "crawls/th", "http://www.one.example/two")),
        ("corpus", ("corpus", "crawls/th")),
        ("seeds", ("seeds", "seeds.txt", "--lang", "th", "--out", "made", "--trust")),
        ("lab", ("trace", "crawls/th", "--out", "trace")),
        ("lab", ("simulate", "--trace", "none", "--strategy", "bfs", "--out", "made")),
        ("lab", ("synthesize", "--scale", "0.0005", "--out", "made")),
    ],
)
@pytest.mark.slow
def test_what_is_lacking_is_said_and_suffices(
    worked: Path, group: str, arguments: tuple[str, ...]
) -> None:
    done = lswc(worked, *arguments)
    assert done.returncode == 2
    line = rf"lswc {arguments[0]}: error: this needs \w+: (.*)\n"
    assert (told := re.fullmatch(line, done.stderr)) is not None
    assert told[1] == how_to_install(group)
    assert done.stdout == ""
    if arguments[0] != "simulate":
        done = lswc(worked, *arguments, hidden=EVERY - set(GROUPS[group]))
        assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_a_papers_method_that_is_lacking_is_said_before_anything_is_fetched(worked: Path) -> None:
    done = lswc(
        worked, "crawl", "th", "--web", "web", "--into", "other", "-s", "LSWC_IDENTIFIER=langdetect"
    )
    assert done.returncode == 2
    assert f"this needs langdetect: {how_to_install('lab')}" in done.stderr
    assert not (worked / "other" / "frontier.db").exists()


@pytest.mark.slow
def test_the_next_crawl_with_all_makes_tables_and_one_without_says_so(worked: Path) -> None:
    log = worked / "crawls" / "th" / "log"
    crawled(worked, hidden=set())
    assert sorted(path.suffix for path in log.iterdir()) == [".parquet"] * 4
    done = lswc(worked, "check", "crawls/th")
    assert done.returncode == 2
    assert f"this needs pyarrow: {how_to_install('parquet')}" in done.stderr


@pytest.mark.parametrize(
    ("library", "line"),
    [
        ("pyarrow", f"lswc analyze: error: this needs pyarrow: {how_to_install('lab')}\n"),
        ("PIL", f"lswc analyze: error: this needs PIL: {how_to_install('lab')}\n"),
        ("playwright", "lswc analyze: error: none is neither a trace"),
    ],
)
def test_the_first_library_that_is_lacking_is_named(
    library: str, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.setattr(sys, "argv", ["lswc"])
    with pytest.raises(SystemExit) as left:
        program.main(["analyze", "none", "--out", "report"])
    assert left.value.code == 2
    assert capsys.readouterr().err.startswith(line)


def named(lines: list[str]) -> dict[str, str]:
    """Return the versions of requirements by name."""
    found = (re.match(r"([\w.-]+)(.*)", line.partition("#")[0].strip()) for line in lines)
    return {match[1]: match[2] for match in found if match}


def test_requirements_are_those_of_all_groups() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for group in GROUPS for line in extras[group])]
    every = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    assert every.pop() == "-e .", "with entry points, by which the lab is found"
    assert named(every) == named(lines)
    assert extras["all"] == [f"lswc[{','.join(GROUPS)}]"]
    distributions = {
        "PIL": "pillow", "myanmar": "python-myanmar", "prometheus_client": "prometheus-client",
        "stdnum": "python-stdnum",
        "re2": "google-re2",
    }  # fmt: skip
    for group, libraries in GROUPS.items():
        assert {distributions.get(name, name) for name in libraries} == set(named(extras[group]))


@pytest.mark.parametrize(
    ("left", "told", "advice"),
    [
        ("", {"dir_info": {}}, "pip install '{0}[lab]'"),
        ("", {"dir_info": {"editable": True}}, "pip install --editable '{0}[lab]'"),
        ("", {"archive_info": {}}, "pip install 'pyarrow<27,>=26' "),
        ("pipx_metadata.json", {"dir_info": {}}, "pipx inject lswc 'pyarrow<27,>=26' "),
        ("uv-receipt.toml", {"dir_info": {}}, "uv tool install '{0}[metrics,lab]'"),
        ("uv-receipt.toml", {"archive_info": {}}, "uv pip install --python "),
    ],
)
def test_advice_is_by_kind_of_install_and_names_lswc_to_no_index(
    left: str, told: dict[str, object], advice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "a source"
    source.mkdir()
    (source / "pyproject.toml").touch()
    if left:
        (tmp_path / left).touch()
    required = distribution("lswc").requires

    class Installed:
        requires = required

        def read_text(self, name: str) -> str:
            assert name == "direct_url.json"
            return json.dumps({"url": source.as_uri(), **told})

    beside = SimpleNamespace(read_text=lambda name: None)  # the sources' own folder
    monkeypatch.setattr(extras, "distributions", lambda name: [beside, Installed()])
    monkeypatch.setattr(extras, "distribution", lambda _: Installed())
    monkeypatch.setattr(extras, "is_installed", lambda name: name == "prometheus_client")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    said = how_to_install("lab")
    assert said.startswith(advice.format(source))
    assert " lswc[" not in said
