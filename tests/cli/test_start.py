"""What a process loads: Scrapy imports every command for any of them, and a crawl lasts weeks."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.scenarios.site import ROOT, THAI, Site, environment, page

if TYPE_CHECKING:
    from pathlib import Path

ANALYSES = {"duckdb", "matplotlib", "numba", "pandas", "polars", "scipy", "trafilatura"}
METHODS = {"langdetect", "myanmartools", "pythainlp"}
WORK = {"chardet", "fastwarc", "numpy", "pyarrow", "pycld2", "redis", "selectolax", "tldextract"}
AT_EXIT = (
    "import atexit, sys;"
    "show = lambda: print('loaded:', *{name.partition('.')[0] for name in sys.modules});"
    "atexit.register(show);"
)


def loaded(code: str) -> set[str]:
    """Return the packages that a process has loaded when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", AT_EXIT + code], capture_output=True, text=True, check=True,
        cwd=ROOT, env=environment(),
    )  # fmt: skip
    return set(done.stdout.rpartition("loaded:")[2].split())


def scrapy(*arguments: str) -> str:
    return f"from scrapy.cmdline import execute; execute({['scrapy', *arguments]!r})"


@pytest.mark.parametrize(
    "code",
    [
        "import sys; sys.argv = ['lswc', '--version']; from lswc.__main__ import main; main()",
        "from scrapy.cmdline import execute; execute(['scrapy', 'crawl', 'lswc', '--dry-run'])",
    ],
)
def test_what_is_loaded_is_not_searched_for_garbage_but_what_a_command_makes_is(code: str) -> None:
    told = "import atexit, gc; tell = lambda: print('gc:', gc.isenabled(), gc.get_freeze_count());"
    done = subprocess.run(
        [sys.executable, "-c", f"{told} atexit.register(tell); {code}"],
        capture_output=True, text=True, check=False, cwd=ROOT, env=environment(),
    )  # fmt: skip
    _, is_enabled, frozen = done.stdout.splitlines()[-1].split()
    assert is_enabled == "True", done
    assert int(frozen) > 10_000


def test_any_command_loads_what_is_for_others() -> None:
    found = loaded(scrapy("version"))
    assert "rich" in found, "the commands are loaded"
    assert not (ANALYSES | METHODS | WORK) & found


def test_a_page_is_identified_without_methods_that_are_not_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(page(THAI))
    found = loaded(scrapy("identify", "--lang", "th", str(file)))
    assert "selectolax" in found
    assert not (ANALYSES | METHODS | {"pyarrow", "redis"}) & found


def test_a_crawl_loads_no_analyses_and_no_methods_that_are_not_asked_for(tmp_path: Path) -> None:
    site = Site(tmp_path / "web", tmp_path / "crawl")
    site.add("a.example/", page(THAI, "/1"))
    site.add("a.example/1", page(THAI))
    site.seeds("http://a.example/")
    arguments = site.command(LSWC_PROFILE="adaptive")
    found = loaded(scrapy(*arguments[arguments.index("crawl") :]))
    assert len(site.urls) == 2
    assert "fastwarc" in found
    assert not (ANALYSES | METHODS | {"pyarrow", "redis"}) & found


def test_a_crawl_holds_no_arrow_before_a_journal_becomes_tables() -> None:
    found = loaded("import lswc.crawl.spider, lswc.crawl.scheduler, lswc.crawl.middlewares;")
    assert "fastwarc" in found
    assert "pyarrow" not in found
