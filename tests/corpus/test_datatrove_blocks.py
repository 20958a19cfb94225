"""A crawl's blocks run in datatrove's executors, over the folders of workers, and after a kill."""

from __future__ import annotations

import json
import os
import signal
import sys
from subprocess import DEVNULL, PIPE, Popen, run
from time import monotonic, sleep
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from lswc.corpus.stored_pages import pieces
from lswc.corpus.versions import ALL, LATEST
from tests.archive.wire import response
from tests.corpus.test_stored_pages import crawl, page
from tests.corpus.test_versions import EXPECTED, URL, visits
from tests.corpus.test_versions import crawl as visited
from tests.corpus.test_writing import text

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

for library in ("datatrove", "regex", "tokenizers"):
    pytest.importorskip(library, reason="pip install '.[datatrove]'")

from lswc.corpus.datatrove_blocks import CrawlReader  # noqa: E402

BRAKE = 300.0


def workers(folder: Path) -> list[Path]:
    """Return the folders of two workers that fetched four texts, one of them both."""
    near = text(1).replace("</p>", " ๑</p>", 1)
    forbidden = page("x", response(text(9).encode()), about="opt-out: tdm-reservation in head\r\n")
    one = [page(str(n), response(text(n).encode())) for n in (1, 2)]
    two = [page("1b", response(near.encode())), page("3", response(text(3).encode())), forbidden]
    return [crawl(folder / "one", one), crawl(folder / "two", two)]


def command(out: Path, folders: list[Path]) -> list[str]:
    assert [len(pieces([folder])) for folder in folders] == [1, 1]
    names = map(str, folders)
    return [sys.executable, "-m", "lswc.corpus.datatrove_blocks", "--out", str(out), *names]


def rows(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for path in sorted(folder.glob("*.parquet")):
        found += pq.read_table(path).to_pylist()
    return found


def check_corpus(out: Path) -> None:
    """See that the corpus of ``workers`` has each text once, and knows how many are like it."""
    read = rows(out / "read")
    assert [row["url"].rpartition("/")[2] for row in read] == ["1", "2", "1b", "3"]
    kept = {row["url"].rpartition("/")[2]: row for row in rows(out / "corpus")}
    assert kept.keys() in ({"1", "2", "3"}, {"1b", "2", "3"})
    sizes = {name[0]: row["minhash_cluster_size"] for name, row in kept.items()}
    assert sizes == {"1": 2, "2": 1, "3": 1}
    assert all(row["text"] and row["language"] == "tha" for row in kept.values())


@pytest.mark.slow
def test_two_workers_have_one_corpus_without_duplicates_also_after_a_kill(tmp_path: Path) -> None:
    out, folders = tmp_path / "out", workers(tmp_path)
    first = out / "logs" / "read" / "completions" / "00000"
    killed = Popen(command(out, folders), stdout=DEVNULL, stderr=DEVNULL, start_new_session=True)
    begun = monotonic()
    while not first.exists() and killed.poll() is None and monotonic() - begun < BRAKE:
        sleep(0.01)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    assert first.exists()
    marked = first.stat().st_mtime_ns
    done = run(command(out, folders), check=False, stdout=DEVNULL, stderr=PIPE, text=True)
    assert done.returncode == 0, done.stderr
    assert first.stat().st_mtime_ns == marked
    check_corpus(out)


@pytest.mark.slow
def test_ray_runs_it_to_its_end(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="pip install 'datatrove[ray]'")
    out = tmp_path / "out"
    command_line = [*command(out, workers(tmp_path)), "--ray"]
    done = run(command_line, check=False, stdout=DEVNULL, stderr=PIPE, text=True)
    assert done.returncode == 0, done.stderr
    check_corpus(out)


@pytest.mark.parametrize(
    ("versions", "expected"), [(LATEST, EXPECTED[LATEST]), (ALL, EXPECTED[ALL])]
)
def test_a_reader_takes_the_versions_asked_for(
    tmp_path: Path, versions: str, expected: list[tuple[str, int, str]]
) -> None:
    """Each task sees the pieces of its own only, and the records of all."""
    every = visits()
    folders = [visited(tmp_path / "one", every[:4]), visited(tmp_path / "two", every[4:])]
    told = [("a", 1, "new"), ("b", 1, "new"), ("a", 4, "changed"), ("a", 6, "changed")]
    lines = [json.dumps({"url": URL(n), "visit": v, "change": c}) for n, v, c in told]
    (folders[1] / "pages.jsonl").write_text("".join(f"{line}\n" for line in lines))
    names = [str(folder) for folder in folders]
    found = [
        (doc.metadata["url"].rpartition("/")[2], doc.metadata["visit"], doc.text)
        for rank in (0, 1)
        for doc in CrawlReader(names, versions=versions).run(rank=rank, world_size=2)
    ]
    assert found == expected
