"""Comparison of what a crawl's frontier and its files say of each URL."""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_right
from contextlib import closing
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from lswc.archive import cdxj, crawl_log, page_record
from lswc.archive.crawl_log import RETRY, STEP
from lswc.archive.page_record import PAGES
from lswc.archive.warc_repair import is_described, is_whole
from lswc.outcomes import OF_REQUISITE, RECORDED, may_return

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

RECORD, LOG, INDEX, WARC = PAGES, "log", "index", "WARC"
"""The files of a crawl that are compared; the last two are ``warc/*.cdxj`` and what they name."""

FAULTS = ("missing", "unknown", "double", "torn")
"""What may be wrong with a URL in a file: it should be there, it shouldn't, it is twice; or a line
can't be read."""

# `said` is what a file says of a URL, and how often: the record the number of the visit; the log
# the outcome of the first visit, 'visit N' of a later one with a record, 'again: OUTCOME' of
# another, and 'archived'; for WARC files 'described', where a metadata record follows.
# In a temporary file of SQLite's: a crawl has more URLs than memory.
_SCHEMA = """
CREATE TABLE finished (url TEXT, outcome TEXT, PRIMARY KEY (url, outcome)) WITHOUT ROWID;
CREATE TABLE elsewhere (url TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE said (
    file TEXT, url TEXT, kind TEXT, times INTEGER, PRIMARY KEY (file, url, kind)) WITHOUT ROWID;
CREATE TABLE wrong (file TEXT, fault TEXT, url TEXT, UNIQUE (file, fault, url));
CREATE VIEW record AS SELECT * FROM said WHERE file = 'pages.jsonl';
CREATE VIEW ended AS SELECT * FROM said
    WHERE file = 'log' AND kind NOT IN ('retry', 'step', 'archived') AND kind NOT LIKE '%file'
    AND kind NOT LIKE 'visit %' AND kind NOT LIKE 'again: %';
CREATE VIEW visited AS SELECT * FROM said WHERE file = 'log' AND kind LIKE 'visit %';
CREATE VIEW again AS SELECT * FROM said
    WHERE file = 'log' AND (kind LIKE 'visit %' OR kind LIKE 'again: %');
CREATE VIEW known AS SELECT url FROM finished UNION ALL SELECT url FROM elsewhere;
CREATE VIEW visited_again AS SELECT url FROM again WHERE url IN known;
CREATE VIEW archived AS SELECT * FROM said WHERE file = 'log' AND kind = 'archived';
CREATE VIEW described AS SELECT * FROM said WHERE file = 'WARC';
CREATE VIEW entry AS SELECT * FROM said WHERE file = 'index';
"""
_SAY = "INSERT INTO said VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET times = times + 1"
# A page that moved to https has the records of its first visits under its earlier URL.
_MOVED = """
UPDATE OR IGNORE said SET url = 'https' || substr(url, 5)
    WHERE (file = 'pages.jsonl' OR (file = 'log' AND kind NOT IN ('archived', 'retry', 'step')))
    AND url LIKE 'http:%' AND url NOT IN known AND 'https' || substr(url, 5) IN known;
"""
_COMPARE = """
INSERT OR IGNORE INTO wrong SELECT 'pages.jsonl', 'missing', url FROM finished
    WHERE outcome IN ('html', 'document') AND url NOT IN (SELECT url FROM record);
INSERT OR IGNORE INTO wrong SELECT 'pages.jsonl', 'unknown', url FROM record
    WHERE url NOT IN (SELECT url FROM finished WHERE outcome IN ('html', 'document'))
    AND url NOT IN visited_again;
INSERT OR IGNORE INTO wrong SELECT 'pages.jsonl', 'missing', url FROM visited
    WHERE (url, substr(kind, 7)) NOT IN (SELECT url, kind FROM record);
INSERT OR IGNORE INTO wrong SELECT 'pages.jsonl', 'unknown', url FROM record
    WHERE kind <> '1' AND (url, 'visit ' || kind) NOT IN (SELECT url, kind FROM visited);
INSERT OR IGNORE INTO wrong SELECT 'pages.jsonl', 'double', url FROM record WHERE times > 1;
INSERT OR IGNORE INTO wrong SELECT 'log', 'missing', url FROM finished
    WHERE NOT transient(outcome) AND outcome <> 'again'
    AND (url, outcome) NOT IN (SELECT url, kind FROM ended)
    AND (url, 'again: ' || outcome) NOT IN (SELECT url, kind FROM again);
INSERT OR IGNORE INTO wrong SELECT 'log', 'unknown', url FROM ended
    WHERE (url, kind) NOT IN (SELECT url, outcome FROM finished) AND NOT transient(kind)
    AND url NOT IN visited_again;
INSERT OR IGNORE INTO wrong SELECT 'log', 'unknown', url FROM again
    WHERE url NOT IN visited_again;
INSERT OR IGNORE INTO wrong SELECT 'log', 'double', url FROM ended
    WHERE times > 1 AND NOT transient(kind);
INSERT OR IGNORE INTO wrong SELECT 'log', 'double', url FROM visited WHERE times > 1;
INSERT OR IGNORE INTO wrong SELECT 'index', 'missing', url FROM archived
    WHERE times > coalesce((SELECT times FROM entry WHERE entry.url = archived.url), 0);
INSERT OR IGNORE INTO wrong SELECT 'WARC', 'missing', url FROM record
    WHERE url IN (SELECT url FROM entry) AND url NOT IN (SELECT url FROM described);
INSERT OR IGNORE INTO wrong SELECT 'index', 'double', url FROM entry
    WHERE times > (SELECT coalesce(sum(times), 0) FROM said
        WHERE file = 'log' AND said.url = entry.url AND (kind = 'archived' OR kind LIKE '%file'));
"""
_ALL_VISITS = """
INSERT OR IGNORE INTO wrong SELECT 'pages.jsonl', 'missing', url FROM record
    GROUP BY url HAVING count(*) < max(CAST(kind AS INTEGER));
"""


class Disagreement(NamedTuple):
    """What is wrong in a file: number of ``entries``, and of URLs for each of FAULTS."""

    file: str
    entries: int
    faults: dict[str, int]


class Comparison:
    """Compares what is finished with the files of a crawl folder. Close it.

    ``finished`` are the frontier's URLs and their outcomes, ``elsewhere`` those that another worker
    finished first, None in a crawl of one. ``committed`` are the lengths that the
    files had then: what lies beyond is left out, unless it is None. All is read, every record of
    the WARC files too. Raises LswcError.
    """

    def __init__(
        self,
        crawl: Path,
        finished: Iterable[tuple[str, str]],
        elsewhere: Iterable[str] | None = None,
        committed: Mapping[str, int] | None = None,
    ) -> None:
        self._crawl = crawl
        self._committed = committed
        self._db = sqlite3.connect("", isolation_level=None)
        # What ended so may have been tried once more since.
        self._db.create_function("transient", 1, _may_return, deterministic=True)
        self._db.executescript(_SCHEMA)
        self._torn: list[tuple[str, str, str]] = []
        self._db.execute("BEGIN")
        self._read()
        self._db.executemany("INSERT INTO finished VALUES (?, ?)", finished)
        rows = ((url,) for url in elsewhere or ())
        self._db.executemany("INSERT OR IGNORE INTO elsewhere VALUES (?)", rows)
        self._db.execute("COMMIT")
        # Which visits another worker made is known only to those who read the folders of all.
        self._db.executescript(_MOVED + _COMPARE + (_ALL_VISITS if elsewhere is None else ""))

    def _read(self) -> None:
        said = chain(self._records(), self._log(), self._index())
        self._db.executemany(_SAY, said)
        self._db.executemany("INSERT OR IGNORE INTO wrong VALUES (?, ?, ?)", self._torn)

    def _until(self, name: str) -> int | None:
        return None if self._committed is None else self._committed.get(name, 0)

    def _records(self) -> Iterator[tuple[str, str, str]]:
        for number, record in enumerate(page_record.pages(self._crawl, self._committed), 1):
            if record is None:
                self._torn.append((RECORD, "torn", f"line {number}"))
            else:
                yield RECORD, record["url"], str(record.get("visit", 1))

    def _log(self) -> Iterator[tuple[str, str, str]]:
        for number, row in enumerate(crawl_log.rows(self._crawl, self._committed)):
            if row is None:
                self._torn.append((LOG, "torn", f"row {number}"))
                continue
            if (row.visit or 1) > 1 and row.outcome not in (RETRY, STEP):
                recorded = row.outcome in RECORDED
                yield LOG, row.url, f"visit {row.visit}" if recorded else f"again: {row.outcome}"
            # What may be tried again ends more than once.
            elif not may_return(row.outcome):
                is_requisite = row.kind in crawl_log.NO_PAGES and row.outcome not in (RETRY, STEP)
                yield LOG, row.url, (OF_REQUISITE if is_requisite else "") + row.outcome
            if row.archived:
                yield LOG, row.url.partition("#")[0], "archived"  # no server sees a route

    def _index(self) -> Iterator[tuple[str, str, str]]:
        for path in sorted((self._crawl / "warc").glob("*.cdxj")):
            file = path.with_suffix(".warc.gz")
            until = self._until(f"warc/{path.name}")
            # All of the lines would be a kilobyte each.
            found = (entry for _, entry in cdxj.index(path, until) if entry is not None)
            begins = array("q", sorted(_place(entry)[0] for entry in found))
            for line, entry in cdxj.index(path, until):
                if entry is None:
                    self._torn.append((INDEX, "torn", line.decode(errors="replace")))
                    continue
                url = cdxj.page_of(entry)
                if url == entry["url"]:  # else it comes with its page
                    yield INDEX, url, ""
                if not is_whole(file, entry):
                    self._torn.append((WARC, "missing", url))
                begin, end = _place(entry)
                following = bisect_right(begins, begin)
                following_one = begins[following] if following < len(begins) else None
                if is_described(file, end, following_one):
                    yield WARC, url, "described"

    def findings(self) -> list[Disagreement]:
        """Return what is wrong, file by file."""
        entries = dict(self._db.execute("SELECT file, sum(times) FROM said GROUP BY file"))
        entries[WARC] = entries.get(INDEX, 0)
        entries[LOG] = self._db.execute(
            "SELECT coalesce(sum(times), 0) FROM said WHERE file = 'log' AND kind <> 'archived'"
        ).fetchone()[0]
        found = {
            (file, fault): number
            for file, fault, number in self._db.execute(
                "SELECT file, fault, count(*) FROM wrong GROUP BY file, fault"
            )
        }
        return [
            Disagreement(file, entries.get(file, 0), {f: found.get((file, f), 0) for f in FAULTS})
            for file in (RECORD, LOG, INDEX, WARC)
        ]

    def urls(self) -> set[str]:
        """Return the URLs on which the files don't agree."""
        rows = self._db.execute("SELECT DISTINCT url FROM wrong WHERE fault <> 'torn'")
        return {url for (url,) in rows}

    def close(self) -> None:
        """Let the temporary file go."""
        self._db.close()


def disagreeing(
    crawl: Path, finished: Iterable[tuple[str, str]], elsewhere: Iterable[str] | None
) -> set[str]:
    """Return the URLs on which a frontier and the files don't agree. Raises LswcError."""
    with closing(Comparison(crawl, finished, elsewhere)) as comparison:
        return comparison.urls()


def _place(entry: Mapping[str, str]) -> tuple[int, int]:
    """Return where the record of an index entry begins and ends; 0, 0 if it doesn't say so."""
    try:
        begin = int(entry["offset"])
        return begin, begin + int(entry["length"])
    except (KeyError, ValueError):
        return 0, 0


def _may_return(name: str) -> bool:
    return may_return(name.removeprefix(OF_REQUISITE))
