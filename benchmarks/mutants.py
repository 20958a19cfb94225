"""Mutation score of a room: ``make mutants ROOM=strategy``.

mutmut makes the mutants: the room's code with one small change each. The nearest tests, those of
``tests/ROOM``, run over each of them in a process of its own; what they don't notice is printed as
a diff. The exit code is 1 if the score is below the room's goal, and 2 if the tests fail as it is.

A mutant meets the tests that run its function, then the others of their files, then those of files
that start processes, in which nobody looks on. If no test runs it in the tests' own process, or if
it runs when a module is loaded, it meets all tests of the room.
All is done in a copy of the tree, which is deleted. What never runs, as it is for types, isn't
changed, nor are words for people: strings with a space, and what exceptions and log lines are
given; nor names of codecs. What changes nothing that anybody could notice stands in
equivalent_mutants.toml, each with its reason.
"""

from __future__ import annotations

import argparse
import ast
import codecs
import compileall
import contextlib
import difflib
import hashlib
import importlib
import json
import os
import py_compile
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import tomllib
import traceback
from collections import defaultdict
from dataclasses import dataclass, field
from math import inf, sqrt
from pathlib import Path
from typing import TYPE_CHECKING

import coverage
import libcst as cst
import pytest
from hypothesis import Phase, settings
from libcst import matchers
from mutmut.mutation import file_mutation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

ROOT = Path(__file__).parents[1]
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.toml")
GOALS = dict.fromkeys(
    ("strategy", "frontier", "safety", "guest", "archive", "corpus", "crawl", "reading"), 85
)
"""Percent of the mutants that the tests notice, by room."""

GOAL = 75
"""The same, of any other room."""

NEAR = {
    "crawl": {
        "tests/cli/test_crawl_file.py": "lswc/crawl/crawl_file.py",
        "tests/scenarios/test_recrawl.py": "lswc/crawl/recrawl.py",
        "tests/scenarios/test_requisites.py": "lswc/crawl/requisite_offers.py",
    },
    "reading": {
        "tests/crawl/test_browsers.py": "lswc/reading/browser/",
        "tests/crawl/test_readers.py": "lswc/reading/reader_",
    },
}
"""Files of tests elsewhere that run a part of a room: as another room shows it, or starts it."""

NOT_COPIED = shutil.ignore_patterns("__pycache__", ".*", "*.egg-info", "build", "crawls", "dist")
PRELOADED = (
    "hypothesis.strategies", "numpy", "scrapy", "scrapy.http", "lxml.etree", "msgspec", "tomlkit",
    "rich.console", "redis", "chardet", "selectolax", "tldextract", "w3lib.url",
)  # fmt: skip
"""What a process of the tests needs not load again; none of it starts a thread or a reactor."""

WAIT = 60
"""Seconds that tests may take, beside three times what they took before."""

STARTING = re.compile(r"\b(subprocess|forks|processes|scenarios\.site)\b")
"""What a file of tests names that starts processes, or has others start them."""

HELD = ("lswc.reading.documents.pdf_fonts",)
"""Modules whose caches stay: PDFium goes on to call what is in them."""

LOG_LEVELS = {"debug", "info", "warning", "error", "exception", "critical", "log"}


@dataclass(frozen=True)
class Mutant:
    """One small change: the line that goes and the line that comes, and the text that has it."""

    path: str
    function: str
    line: int
    was: str
    becomes: str
    text: str = field(repr=False)
    source: str = field(repr=False)

    def diff(self) -> str:
        """Return what is printed of it."""
        name = f"{self.path}:{self.line} {self.function}".rstrip()
        return "\n".join((name, *(f"  - {line}" for line in self.was.splitlines()),
                          *(f"  + {line}" for line in self.becomes.splitlines())))  # fmt: skip


@dataclass
class Reach:
    """Which tests run which lines of the room, and how long each test takes in seconds.

    ``starting`` are the files of tests that start processes, ``near`` those of NEAR.
    """

    seconds: dict[str, float]
    by_line: dict[str, dict[int, set[str]]]
    starting: set[str]
    near: dict[str, str]

    def tests(self, mutant: Mutant, lines: range) -> list[str]:
        """Return the tests that a mutant meets: those that run it, the rest of their files, then
        those that may run it in other processes."""
        of_line = self.by_line.get(mutant.path, {})
        found = set().union(*(of_line.get(line, set()) for line in lines))
        if "" in found or not found:
            found = set(self.seconds)
        files: dict[str, float] = defaultdict(float)
        for test in found:
            files[_file(test)] += self.seconds[test]
        chosen = [
            test
            for test in self.seconds
            if (_file(test) in files or _file(test) in self.starting)
            and mutant.path.startswith(self.near.get(_file(test), ""))
        ]
        seconds = defaultdict(lambda: inf, files)
        return sorted(chosen, key=lambda t: (t not in found, seconds[_file(t)], _file(t)))


def _file(test: str) -> str:
    return test.partition("::")[0]


def _decides(mutation: file_mutation.Mutation) -> bool:
    """Tell whether a change is one of behaviour, not of words for people or of a name's type."""
    node = mutation.original_node
    if isinstance(node, cst.BaseString):
        words = " " in getattr(node, "value", "") or _is_codec(node)
        return not words and isinstance(mutation.contained_by_top_level_function, cst.FunctionDef)
    if isinstance(node, cst.Call):
        called = node.func
        if isinstance(called, cst.Attribute) and called.attr.value in LOG_LEVELS:
            return False
        if isinstance(called, cst.Name) and called.value.endswith(("Error", "Exception", "cast")):
            return False
    if not isinstance(mutation.contained_by_top_level_function, cst.FunctionDef):
        return not isinstance(node, cst.Assign | cst.AnnAssign | cst.Call)
    return True


def _for_types(module: cst.Module) -> set[cst.CSTNode]:
    """Return what stands under ``if TYPE_CHECKING``: it never runs."""

    def all_of(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        yield node
        for child in node.children:
            yield from all_of(child)

    guards = matchers.findall(module, matchers.If(test=matchers.Name("TYPE_CHECKING")))
    return {node for guard in guards for node in all_of(guard)}


def _is_codec(node: cst.BaseString) -> bool:
    """Tell whether a string names a codec, whose case is nothing to Python."""
    try:
        return isinstance(node, cst.SimpleString) and bool(codecs.lookup(str(node.evaluated_value)))
    except (LookupError, ValueError):
        return False


def sample(room: str, size: int, seed: int, part: str = "") -> list[Mutant]:
    """Return mutants of a room, as many as are asked for (0: all), the same for the same seed.

    ``part`` is a folder of the room, if only those of it are wanted.
    """
    ranked = []
    for path in sorted((ROOT / "lswc" / room / part).rglob("*.py")):
        name = str(path.relative_to(ROOT))
        source = path.read_text("utf-8")
        module, changes, _, _ = file_mutation.create_mutations(name, source)
        never = _for_types(module)
        for number, one in enumerate(changes):
            rank = hashlib.sha256(f"{seed} {name} {number}".encode()).digest()
            if _decides(one) and one.original_node not in never:
                ranked.append((rank, name, source, module, one))
    ranked.sort(key=lambda each: each[0])
    print(f"{Path(room) / part}: {len(ranked)} mutants", flush=True)
    return [
        mutant
        for _, name, source, module, one in ranked[: size or None]
        if (mutant := _mutant(name, source, module, one))
    ]


def _mutant(
    name: str, source: str, module: cst.Module, one: file_mutation.Mutation
) -> Mutant | None:
    changed = module.deep_replace(one.original_node, one.mutated_node)
    assert isinstance(changed, cst.Module)
    before, after = source.splitlines(), changed.code.splitlines()
    compared = difflib.SequenceMatcher(None, before, after, autojunk=False)
    parts = [part for part in compared.get_opcodes() if part[0] != "equal"]
    if not parts:
        return None
    start, end, first, last = parts[0][1], parts[-1][2], parts[0][3], parts[-1][4]
    function, _ = function_at(source, start + 1)
    return Mutant(
        name, function, start + 1,
        "\n".join(line.strip() for line in before[start:end]),
        "\n".join(line.strip() for line in after[first:last]),
        changed.code, source,
    )  # fmt: skip


def function_at(source: str, line: int) -> tuple[str, range]:
    """Return the outermost function or method of a line, and its lines; outside of all, ""."""

    def look(body: Iterable[ast.stmt], names: tuple[str, ...]) -> tuple[str, range] | None:
        for node in body:
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            start = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if start <= line <= (node.end_lineno or start):
                inner = (*names, node.name)
                if isinstance(node, ast.ClassDef):
                    return look(node.body, inner)
                return ".".join(inner), range(node.body[0].lineno, (node.end_lineno or start) + 1)
        return None

    return look(ast.parse(source).body, ()) or ("", range(line, line + 1))


class Watch:
    """Pytest plugin: says to coverage which test runs, and keeps how long each took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember which tests fail."""
        if report.failed and report.nodeid not in self.failed:
            self.failed.append(report.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Take the time of a test; what is cached is forgotten first, or others would call it."""
        _forget()
        start = time.monotonic()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = time.monotonic() - start

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        """Count what a fixture runs for the whole file: it may be shared."""
        coverage_now().switch_context(_file(item.nodeid))
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        """Count what a test runs for itself."""
        coverage_now().switch_context(item.nodeid)
        return (yield)


def coverage_now() -> coverage.Coverage:
    """Return what looks on."""
    seen = coverage.Coverage.current()
    assert seen is not None
    return seen


def _forget() -> None:
    """Empty the caches of the project's functions, and of its tests'."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("lswc.", "tests.")) and name not in HELD:
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def reached(tree: Path, room: str) -> Reach:
    """Run a room's tests as they are; return what they reach. Ends the program if one fails.

    Those that fail while coverage looks on, as where memory is measured, run once more without.
    """
    told, near = tree / "reached.json", NEAR.get(room, {})

    def look() -> int:
        seen = coverage.Coverage(data_file=None, source=[str(tree / "lswc" / room)])
        seen.start()
        watch = Watch()
        _pytest(tree, [f"tests/{room}", *near, "--maxfail=9999"], [watch])
        seen.stop()
        data = seen.get_data()
        lines = {
            str(Path(path).relative_to(tree)): data.contexts_by_lineno(path)
            for path in data.measured_files()
        }
        told.write_text(json.dumps(vars(watch) | {"lines": lines}))
        return 0

    code = _waited(_fork(look, tree))
    found = json.loads(told.read_text()) if told.exists() else {}
    if code == 0 and found["failed"]:
        code = _waited(_fork(lambda: _pytest(tree, found["failed"]), tree))
    if code or not found:
        print((tree / "said.txt").read_text("utf-8", "replace")[-5_000:])
        print(f"the tests of {room} fail as they are", file=sys.stderr)
        raise SystemExit(2)
    files: dict[str, set[str]] = defaultdict(set)
    for test in found["seconds"]:
        files[_file(test)].add(test)
    by_line = {
        path: {
            int(line): set().union(*(files.get(context, {context}) for context in contexts))
            for line, contexts in of_lines.items()
        }
        for path, of_lines in found["lines"].items()
    }
    starting = {file for file in files if STARTING.search((tree / file).read_text("utf-8"))}
    return Reach(found["seconds"], by_line, starting, near)


def _pytest(tree: Path, tests: Sequence[str], plugins: Sequence[object] = ()) -> int:
    return int(
        pytest.main(
            ["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider",
             "-W", "ignore::pytest.PytestAssertRewriteWarning", f"--rootdir={tree}",
             f"--basetemp={_tmp(tree) / 'pytest'}", "--hypothesis-profile=mutants", *tests],
            plugins=list(plugins),
        )
    )  # fmt: skip


def _fork(run: Callable[[], int], tree: Path, cpu: float = 0) -> int:
    """Start a process in a copy of the tree, with a group of its own; return its number."""
    child = os.fork()
    if child:
        return child
    code = 3
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        said = os.open(tree / "said.txt", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(said, stream)
        os.chdir(tree)
        os.environ |= {"PYTHONPATH": str(tree), "TMPDIR": str(_tmp(tree))}
        tempfile.tempdir = None
        sys.path[:] = [str(tree), *(path for path in sys.path if path not in ("", str(ROOT)))]
        for name in list(sys.modules):
            if name.partition(".")[0] in ("lswc", "tests", "benchmarks"):
                del sys.modules[name]
        if cpu:
            resource.setrlimit(resource.RLIMIT_CPU, (int(cpu), int(cpu) + 5))
        code = run()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


@dataclass
class Running:
    """A process of tests over a mutant."""

    mutant: Mutant
    tree: Path
    until: float


def survivors(
    found: Sequence[Mutant], reach: Reach, trees: list[Path]
) -> Iterator[tuple[Mutant, bool]]:
    """Run the tests over each mutant; yield it, and whether it survived, as they end."""
    running: dict[int, Running] = {}
    try:
        yield from _run(list(found), list(trees), running, reach)
    finally:
        for child in running:
            _end(child)


def _run(
    waiting: list[Mutant], free: list[Path], running: dict[int, Running], reach: Reach
) -> Iterator[tuple[Mutant, bool]]:
    while waiting or running:
        while waiting and free:
            mutant, tree = waiting.pop(0), free.pop()
            tests = reach.tests(mutant, function_at(mutant.source, mutant.line)[1])
            seconds = sum(reach.seconds[test] for test in tests)
            (tree / mutant.path).write_text(mutant.text, "utf-8")
            shutil.rmtree(_tmp(tree), ignore_errors=True)
            _tmp(tree).mkdir()
            child = _fork(lambda tests=tests, tree=tree: _pytest(tree, tests), tree,
                          cpu=20 + 4 * seconds)  # fmt: skip
            running[child] = Running(mutant, tree, time.monotonic() + WAIT + 3 * seconds)
        for child, one in list(running.items()):
            ended, status = os.waitpid(child, os.WNOHANG)
            if not ended and time.monotonic() < one.until:
                continue
            _end(child)
            if not ended:
                _, status = os.waitpid(child, 0)
            del running[child]
            (one.tree / one.mutant.path).write_text(one.mutant.source, "utf-8")
            free.append(one.tree)
            yield one.mutant, os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.02)


def _waited(child: int) -> int:
    """Wait for a process of tests; return its exit code, and leave nothing that it has started."""
    try:
        _, status = os.waitpid(child, 0)
    finally:
        _end(child)
    return os.waitstatus_to_exitcode(status)


def _end(child: int) -> None:
    """Kill a process of tests, and what it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)


def interval(killed: int, all_: int) -> tuple[float, float]:
    """Return the 95 % interval of a share in percent, after Wilson (1927)."""
    z, share = 1.96, killed / all_
    middle = share + z * z / (2 * all_)
    half = z * sqrt(share * (1 - share) / all_ + z * z / (4 * all_ * all_))
    return 100 * (middle - half) / (1 + z * z / all_), 100 * (middle + half) / (1 + z * z / all_)


def is_equivalent(mutant: Mutant, known: Iterable[dict[str, str]]) -> bool:
    """Tell whether a mutant stands in the list of those that change nothing."""
    name = f"{mutant.path}:{mutant.function}"
    return any(
        (name, mutant.was, mutant.becomes) == (each["in"], each["was"], each["becomes"])
        for each in known
    )


def _is_gone(known: dict[str, str]) -> bool:
    path = ROOT / known["in"].partition(":")[0]
    return not path.exists() or known["was"].splitlines()[0] not in path.read_text("utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure a room; return the exit code."""
    parser = argparse.ArgumentParser(description="Mutation score of a room.")
    parser.add_argument("room", help="a folder of lswc, such as strategy")
    parser.add_argument("--part", default="", help="a folder of the room: its mutants alone")
    parser.add_argument("--sample", type=int, default=200, help="how many mutants; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--children", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))
    if not (ROOT / "lswc" / given.room).is_dir() or not (ROOT / "tests" / given.room).is_dir():
        parser.error(f"no room is called {given.room}")
    if not any((ROOT / "lswc" / given.room / given.part).rglob("*.py")):
        parser.error(f"{given.room} has no part {given.part}")
    known = tomllib.loads(EQUIVALENT.read_text("utf-8"))["mutant"]
    for each in filter(_is_gone, known):
        print(f"{EQUIVALENT.name}: no line of {each['in']} is {each['was']!r} any more")
    found = sample(given.room, given.sample, given.seed, given.part)
    chosen = [mutant for mutant in found if not is_equivalent(mutant, known)]
    for name in PRELOADED:
        importlib.import_module(name)
    settings.register_profile("mutants", deadline=None, database=None, derandomize=True,
                              phases=[Phase.explicit, Phase.generate])  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="lswc-", ignore_cleanup_errors=True) as folder:
        trees = [_copy(Path(folder) / str(number)) for number in range(given.children)]
        reach = reached(trees[0], given.room)
        left = []
        for number, (mutant, survived) in enumerate(survivors(chosen, reach, trees), 1):
            if survived:
                left.append(mutant)
                print(f"\n{mutant.diff()}", flush=True)
            if number % 25 == 0:
                print(f"\n[{number} of {len(chosen)}, {len(left)} survived]", flush=True)
    return _say(given.room, given.part, len(chosen), len(found), left)


def _copy(tree: Path) -> Path:
    shutil.copytree(ROOT, tree, ignore=NOT_COPIED)
    # Bytecode that is known by its source's hash: a changed file is never taken for the old one.
    compileall.compile_dir(
        tree / "lswc", quiet=1, invalidation_mode=py_compile.PycInvalidationMode.CHECKED_HASH
    )
    (tree / ".venv").symlink_to(ROOT / ".venv")
    _tmp(tree).mkdir()
    return tree


def _tmp(tree: Path) -> Path:
    """Return where the tests of a tree have their files: what is in a tree is in its project."""
    return tree.with_name(f"tmp{tree.name}")


def _say(room: str, part: str, chosen: int, found: int, left: Sequence[Mutant]) -> int:
    killed = chosen - len(left)
    low, high = interval(killed, chosen)
    goal = GOALS.get(room, GOAL)
    score = f"{killed} of {chosen} mutants noticed, {100 * killed / chosen:.1f} %"
    print(
        f"\n{Path(room) / part}: {score}"
        f" (95 % interval {low:.0f} to {high:.0f}); goal {goal} %; {found - chosen} equivalent"
    )
    return int(100 * killed < goal * chosen)


if __name__ == "__main__":
    raise SystemExit(main())
