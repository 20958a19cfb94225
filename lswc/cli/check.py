"""``lswc check CRAWL``: whether a crawl's frontier, files and counters agree."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lswc import errors
from lswc.cli.command import KEY, UserCommand, option
from lswc.cli.progress_lines import working
from lswc.cli.tables import table, terminal

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from pathlib import Path

    from lswc.archive.check.agreement import CheckReport


class Command(UserCommand):
    """Compares a crawl's frontier with all its files; exit code 1 if anything is wrong."""

    usage = "<crawl folder> [folders of other crawls, or workers] | redis://... [--repair]"
    summary = "Tell whether a crawl's frontier and files agree, and make them agree"
    options = (
        option(
            "--repair",
            "make the files agree; lost pages are fetched again, nothing is deleted",
            False,
        ),
        KEY,
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        from lswc.archive.check.agreement import check, repair
        from lswc.archive.check.workers import check_workers, of_one_crawl

        crawls = self.folders(args, opts.key)
        for crawl in crawls:
            if len(crawls) > 1:
                print(crawl)
            with working() as say:
                say("check", 0, 0)
                report = check(crawl)
            self._told(crawl, report, partial(repair, crawl) if opts.repair else None)
        if of_one_crawl(crawls):
            print("between these workers")
            with working() as say:
                say("check", 0, 0)
                report = check_workers(crawls)
            _show(report)
            if not report.agrees:
                self.exitcode = 1

    def _told(self, crawl: Path, report: CheckReport, mend: Callable[[], list[str]] | None) -> None:
        _show(report)
        if report.agrees:
            print("All agree.")
        elif mend is not None:
            print("\n".join(mend()))
        else:
            print(f"{errors.repair(crawl)} makes the files agree; lost pages are fetched again.")
            self.exitcode = 1


def _show(report: CheckReport) -> None:
    from lswc.archive.check.comparison import FAULTS

    rows = [(f.file, f.entries, *(f.faults[fault] for fault in FAULTS)) for f in report.findings]
    terminal().print(table("", ("", "entries", *FAULTS), rows))
    for note in report.notes:
        print(note)
