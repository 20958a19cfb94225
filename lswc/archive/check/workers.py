"""Workers' folders of one crawl, compared with each other: each visit is one worker's."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import msgspec

from lswc.archive import page_record
from lswc.archive.check.agreement import CheckReport
from lswc.archive.check.comparison import FAULTS, Disagreement
from lswc.frontier import FRONTIER_FILE
from lswc.frontier.exchange.owners import Owners
from lswc.frontier.store import report as sqlite_report
from lswc.outcomes import OF_REQUISITE
from lswc.plurals import numbered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

SHOWN = 10
"""URLs of a kind that are named."""

_SCHEMA = """
CREATE TABLE had (
    url TEXT, visit INTEGER, worker INTEGER, PRIMARY KEY (url, visit, worker)) WITHOUT ROWID;
"""
_ENTRIES = "SELECT count(*) FROM (SELECT DISTINCT url, visit FROM had)"
_TWICE = "SELECT url, visit, group_concat(worker) FROM had GROUP BY url, visit HAVING count(*) > 1"
_MISSING = "SELECT url FROM had GROUP BY url HAVING count(DISTINCT visit) < max(visit)"


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

    No URL may be finished by two of them, no visit recorded by two, and no part of the sites be
    theirs. If these are all workers, one has recorded each visit. Raises LswcError.
    """
    owners: Counter[int] = Counter()
    notes = list[str]()
    found, known = set[int](), set[int]()
    for folder in folders:
        with sqlite_report.opened(folder / FRONTIER_FILE) as reader:
            own, waiting = reader.own_parts(), reader.outbox()
            identity = reader.identity()
        number = int(identity["worker"])
        found.add(number)
        known |= _workers(identity)
        owners.update(own)
        notes.append(
            f"{folder}: worker {number} has {numbered(len(own), 'part')} of the sites; "
            f"{numbered(waiting, 'link')} to others' haven't arrived"
        )
    double = sum(number > 1 for number in owners.values())
    findings = [
        Disagreement("parts of the sites", len(owners), _faults(double)),
        _compared("finished", folders, _finished, notes),
        _compared("recorded", folders, _recorded, notes, are_all=known <= found),
    ]
    return CheckReport(findings, notes)


def _workers(identity: Mapping[str, str]) -> set[int]:
    """Return the numbers of all workers that a worker knows, by what its frontier is."""
    known = msgspec.json.decode(identity["owners"], type=Owners)
    return {*known.members, *known.gone, *known.lost}


def _faults(double: int, missing: int = 0) -> dict[str, int]:
    return {**dict.fromkeys(FAULTS, 0), "double": double, "missing": missing}


def _finished(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield the URLs that a worker finished; not those that another one gave it so."""
    for url, outcome in sqlite_report.finished(folder / FRONTIER_FILE):
        yield f"{OF_REQUISITE}{url}" if outcome.startswith(OF_REQUISITE) else url, 1


def _recorded(folder: Path) -> Iterator[tuple[str, int]]:
    return ((record["url"], record.get("visit", 1)) for record in page_record.records(folder))


def _compared(
    what: str,
    folders: Sequence[Path],
    visits: Callable[[Path], Iterator[tuple[str, int]]],
    notes: list[str],
    *,
    are_all: bool = False,
) -> Disagreement:
    """Return how many visits two folders have, or none.

    In a temporary file: a crawl has more of them than memory.
    """
    with closing(sqlite3.connect("", isolation_level=None)) as db:
        db.executescript(_SCHEMA)
        db.execute("BEGIN")
        for number, folder in enumerate(folders):
            rows = ((*visit, number) for visit in visits(folder))
            db.executemany("INSERT OR IGNORE INTO had VALUES (?, ?, ?)", rows)
        (entries,) = db.execute(_ENTRIES).fetchone()
        twice = db.execute(_TWICE).fetchall()
        missing = [url for (url,) in db.execute(_MISSING)] if are_all else []
    double = []
    for url, visit, workers in twice:
        names = " and ".join(str(folders[int(number)]) for number in workers.split(","))
        double.append(f"{url}, in {names}" if visit == 1 else f"visit {visit} of {url}, in {names}")
    notes += _named(f"{what} twice", double)
    notes += _named("a visit isn't recorded", missing)
    return Disagreement(f"{what} by one", entries, _faults(len(double), len(missing)))


def _named(what: str, found: Sequence[str]) -> list[str]:
    more = [f"{what}: {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    return [*(f"{what}: {one}" for one in found[:SHOWN]), *more]
