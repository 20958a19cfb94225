"""Agreement of a crawl's frontier, its files and its counters: for users, and for tests."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from lswc.archive import committed_lengths, page_record
from lswc.archive.appended_files import ArchiveError, Aside, replace
from lswc.archive.check.comparison import FAULTS, Comparison, Disagreement
from lswc.archive.check.recovery import mend
from lswc.archive.collection import collected
from lswc.errors import writing
from lswc.files import partial_folder
from lswc.frontier import FRONTIER_FILE, FrontierError
from lswc.frontier.rules.contract import VersionError
from lswc.frontier.store import report as sqlite_report
from lswc.frontier.store.damage import damage_of
from lswc.frontier.store.frontier import open_existing
from lswc.frontier.store.lock import lock
from lswc.outcomes import may_return
from lswc.plurals import numbered

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from lswc.frontier import Frontier
    from lswc.frontier.store.report import Reader

SUMMARY = "summary.json"
_FRONTIER = (FRONTIER_FILE, f"{FRONTIER_FILE}-wal", f"{FRONTIER_FILE}-shm")
_ALL = ("warc", "log", SUMMARY, *_FRONTIER)
_ANEW = "--repair makes it again from the record and the log"


class CheckReport(NamedTuple):
    """What is wrong, file by file; ``notes`` are sentences for the user."""

    findings: list[Disagreement]
    notes: list[str]

    @property
    def agrees(self) -> bool:
        """Whether nothing is wrong."""
        return not any(number for found in self.findings for number in found.faults.values())


def check(crawl: Path) -> CheckReport:
    """Compare a crawl's SQLite frontier with its files and counters; nothing is changed.

    Raises LswcError.
    """
    _check_folder(crawl)
    lock(crawl).close()
    path = crawl / FRONTIER_FILE
    committed = _committed(path)
    if committed is not None and (wrong := damage_of(path)):
        found = Disagreement(FRONTIER_FILE, 1, _faults(torn=1))
        return CheckReport([found], [f"{FRONTIER_FILE} is damaged: {wrong}", _ANEW])
    if committed is None:
        entries = sum(1 for _ in committed_lengths.lengths(crawl))
        lost = Disagreement(FRONTIER_FILE, 0, _faults(missing=1))
        return CheckReport(
            [lost], [f"the frontier is gone, empty or damaged; {entries} files are here", _ANEW]
        )
    with sqlite_report.opened(path) as reader:
        report = _compared(crawl, reader, committed)
    return CheckReport([*report.findings, *_counters(crawl, path)], report.notes)


def _compared(crawl: Path, reader: Reader, committed: Mapping[str, int]) -> CheckReport:
    """Compare what is finished, and how long the files were then, with the files."""
    beyond, notes = committed_lengths.visits_beyond(crawl, committed), [*collected([crawl]).gone]
    if beyond > 1:
        notes.append(f"the frontier is older than the files: {beyond} visits, or more, are unknown")
    elif beyond:
        notes.append("the last visit wasn't committed: the next start moves it aside")
    known = committed if beyond <= 1 else None
    with closing(
        Comparison(crawl, reader.finished(), reader.finished_elsewhere(), known)
    ) as comparison:
        findings = comparison.findings()
    gone = committed_lengths.missing(crawl, committed)
    short = committed_lengths.short(crawl, committed)
    notes += [f"{name} is gone" for name in gone] + [f"{name} is cut short" for name in short]
    lost = Disagreement("files", len(committed), _faults(missing=len(gone), torn=len(short)))
    return CheckReport([*findings, lost], notes)


def _check_folder(crawl: Path) -> None:
    if not (crawl / FRONTIER_FILE).exists() and not committed_lengths.lengths(crawl):
        raise ArchiveError(f"{crawl} is not a crawl folder: it has no frontier, and no records")


def _committed(path: Path) -> dict[str, int] | None:
    """Return the lengths that a frontier knows, None if there is none that can be read.

    Raises VersionError: an older crawl is no damaged one.
    """
    try:
        return sqlite_report.lengths(path)
    except VersionError:
        raise
    except FrontierError:
        return None


def _faults(**faults: int) -> dict[str, int]:
    return {fault: faults.get(fault, 0) for fault in FAULTS}


def _counters(crawl: Path, path: Path) -> list[Disagreement]:
    tallied, counted = sqlite_report.outcomes(path)
    wrong = sum(abs(counted.get(n, 0) - tallied.get(n, 0)) for n in {*tallied, *counted})
    found = [Disagreement("counters", sum(tallied.values()), _faults(missing=wrong))]
    summed = _summed(crawl)
    if summed is not None:
        more = max(0, summed - _lasting(counted))
        found.append(Disagreement(SUMMARY, summed, _faults(unknown=more)))
    return found


def _summed(crawl: Path) -> int | None:
    """Return how many URLs the summary says are finished for good; None if it says nothing."""
    try:
        return _lasting(json.loads((crawl / SUMMARY).read_text("utf-8"))["finished"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _lasting(finished: Mapping[str, int]) -> int:
    """Return how many URLs, by outcome, can't have come back since they finished."""
    return sum(number for outcome, number in finished.items() if not may_return(outcome))


def repair(crawl: Path) -> list[str]:
    """Make the frontier and the files of a crawl agree; return what was done, in sentences.

    What they don't agree on waits again. A frontier that is damaged or gone is made anew from the
    log; without one all is moved aside. Raises LswcError.
    """
    path = crawl / FRONTIER_FILE
    _check_folder(crawl)
    aside, done = Aside(crawl), list[str]()
    if _committed(path) is None or damage_of(path):
        with lock(crawl):
            if not any((crawl / "log").glob("*")):
                _move(crawl, [*_ALL, *(path.name for path in page_record.files(crawl))], aside)
                return [f"the frontier is lost: all files moved to {aside.folder}; it begins again"]
            done = _made_anew(crawl, aside)
    with closing(open_existing(path)) as frontier:
        done += mended(crawl, frontier, aside)
        if _lasting(sqlite_report.outcomes(path)[1]) < (_summed(crawl) or 0):
            aside.move(crawl / SUMMARY)
    return done


def _made_anew(crawl: Path, aside: Aside) -> list[str]:
    from lswc.archive.check.remaking import remake

    with writing(crawl), partial_folder(crawl) as folder:
        made = remake(crawl, folder)
        _move(crawl, _FRONTIER, aside)
        replace(crawl / FRONTIER_FILE, folder / FRONTIER_FILE)
    return [
        f"the frontier was made again: {numbered(made.finished, 'URL')} finished, "
        f"{made.waiting:,} pending; what was there before is in {aside.folder}"
    ]


def _move(crawl: Path, names: Iterable[str], aside: Aside) -> None:
    for name in names:
        if (crawl / name).exists():
            aside.move(crawl / name)


def mended(crawl: Path, frontier: Frontier, aside: Aside) -> list[str]:
    """Make an open frontier and the files agree; return what was done, in sentences."""
    committed = frontier.lengths()
    if committed_lengths.visits_beyond(crawl, committed) <= 1:
        committed_lengths.cut(crawl, committed, aside)
    reopened = mend(crawl, frontier, aside)
    done = [f"{numbered(reopened, 'URL')} pending: the next start fetches them again"]
    if aside.is_used:
        done.append(f"what was taken out of the files is in {aside.folder}")
    return done
