"""A process that may open few files fetches less at a time, and loses nothing."""

from __future__ import annotations

import resource
import subprocess
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import pytest

from tests.faults.web import graph, recorded, url
from tests.scenarios.site import BRAKE, ROOT, Site, environment

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def crawl(site: Site, handles: int, **settings: object) -> subprocess.CompletedProcess[str]:
    """Crawl with so many file handles."""
    return subprocess.run(
        site.command(LSWC_MAX_DUPLICATES=0, **settings),
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=BRAKE,
        preexec_fn=partial(resource.setrlimit, resource.RLIMIT_NOFILE, (handles, handles)),
    )


@pytest.fixture
def web(tmp_path: Path) -> Site:
    site = Site(tmp_path / "web", tmp_path / "crawl")
    for address, body in graph().items():
        site.add(address.partition("://")[2], body)
    site.seeds(url(0))
    return site


def test_with_64_handles_nothing_is_lost(web: Site) -> None:
    done = crawl(web, 64)
    assert done.returncode == 0, done.stderr
    (said,) = [line for line in done.stderr.splitlines() if "] WARNING" in line]
    assert "only few files" in said
    assert recorded(web.folder) == Counter(list(graph()))


def test_with_too_few_handles_nothing_begins(web: Site) -> None:
    done = crawl(web, 33)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1, done.stderr
    assert "ulimit -n" in done.stderr
