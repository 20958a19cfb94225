"""Workers' folders of one crawl, compared with each other: each URL is one worker's."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

from lswc.archive import page_record
from lswc.archive.check.agreement import CheckReport
from lswc.archive.check.comparison import FAULTS, Disagreement
from lswc.frontier import FRONTIER_FILE
from lswc.frontier.store import report as sqlite_report
from lswc.outcomes import OF_REQUISITE
from lswc.plurals import numbered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

SHOWN = 10
"""URLs of a kind that are named."""

_SCHEMA = """
CREATE TABLE had (url TEXT, worker INTEGER, PRIMARY KEY (url, worker)) WITHOUT ROWID;
"""
_TWICE = "SELECT url, group_concat(worker) FROM had GROUP BY url HAVING count(*) > 1"


def of_one_crawl(folders: Sequence[Path]) -> bool:
    """Tell whether folders are those of several workers of one crawl. Raises LswcError."""
    crawls = set()
    for folder in folders:
        if not (folder / FRONTIER_FILE).is_file():
            return False
        with sqlite_report.opened(folder / FRONTIER_FILE) as reader:
            crawls.add(reader.identity().get("crawl"))
    return len(folders) > 1 and len(crawls) == 1 and None not in crawls


def check_workers(folders: Sequence[Path]) -> CheckReport:
    """Compare the folders of a crawl's workers with each other; nothing is changed.

    No URL may be finished, or recorded, by two of them, and no part of the sites theirs. Raises
    LswcError.
    """
    owners: Counter[int] = Counter()
    notes = []
    for folder in folders:
        with sqlite_report.opened(folder / FRONTIER_FILE) as reader:
            own, waiting = reader.own_parts(), reader.outbox()
            number = reader.identity().get("worker", "")
        owners.update(own)
        notes.append(
            f"{folder}: worker {number} has {numbered(len(own), 'part')} of the sites; "
            f"{numbered(waiting, 'link')} to others' haven't arrived"
        )
    double = sum(number > 1 for number in owners.values())
    findings = [
        Disagreement("parts of the sites", len(owners), _double(double)),
        _compared("finished", folders, _finished, notes),
        _compared("recorded", folders, _recorded, notes),
    ]
    return CheckReport(findings, notes)


def _double(number: int) -> dict[str, int]:
    return {**dict.fromkeys(FAULTS, 0), "double": number}


def _finished(folder: Path) -> Iterator[str]:
    """Yield the URLs that a worker finished; not those that another one gave it so."""
    for url, outcome in sqlite_report.finished(folder / FRONTIER_FILE):
        yield f"{OF_REQUISITE}{url}" if outcome.startswith(OF_REQUISITE) else url


def _recorded(folder: Path) -> Iterator[str]:
    return (record["url"] for record in page_record.records(folder))


def _compared(
    what: str,
    folders: Sequence[Path],
    urls: Callable[[Path], Iterator[str]],
    notes: list[str],
) -> Disagreement:
    """Return how many URLs two folders have, in a temporary file: a crawl has more than memory."""
    with closing(sqlite3.connect("", isolation_level=None)) as db:
        db.executescript(_SCHEMA)
        db.execute("BEGIN")
        for number, folder in enumerate(folders):
            rows = ((url, number) for url in urls(folder))
            db.executemany("INSERT OR IGNORE INTO had VALUES (?, ?)", rows)
        (entries,) = db.execute("SELECT count(DISTINCT url) FROM had").fetchone()
        twice = db.execute(_TWICE).fetchall()
    for url, workers in twice[:SHOWN]:
        names = " and ".join(str(folders[int(number)]) for number in workers.split(","))
        notes.append(f"{what} twice: {url}, in {names}")
    if len(twice) > SHOWN:
        notes.append(f"{what} twice: {len(twice) - SHOWN} more")
    return Disagreement(f"{what} by one", entries, _double(len(twice)))
