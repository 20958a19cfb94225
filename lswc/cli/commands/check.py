"""``lswc check CRAWL``: whether a crawl's frontier, files and counters agree."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lswc.cli.command import REDIS, UserCommand, one, option
from lswc.cli.progress_lines import working
from lswc.cli.tables import table, terminal

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from lswc.archive.check.agreement import CheckReport
    from lswc.frontier.redis import RedisFrontier


class Command(UserCommand):
    """Compares a crawl's frontier with all its files; exit code 1 if anything is wrong."""

    usage = "<crawl folder> [--repair] [--redis redis://... [--key NAME]]"
    summary = "Tell whether a crawl's frontier and files agree, and make them agree"
    options = (
        option(
            "--repair", "let the pages wait again that a file has lost; nothing is deleted", False
        ),
        *REDIS,
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        from lswc.archive.appended_files import Aside
        from lswc.archive.check.agreement import check, compare, mended, repair

        crawl = Path(one(args, "crawl folder"))
        if opts.redis:
            with closing(self._worker(crawl, opts)) as frontier:
                with working() as say:
                    say("check", 0, 0)
                    report = compare(crawl, None, frontier.lengths())
                mend = partial(mended, crawl, frontier, Aside(crawl))
                self._told(crawl, report, mend if opts.repair else None)
        else:
            with working() as say:
                say("check", 0, 0)
                report = check(crawl)
            self._told(crawl, report, partial(repair, crawl) if opts.repair else None)

    def _worker(self, crawl: Path, opts: argparse.Namespace) -> RedisFrontier:
        from lswc.crawl import workers
        from lswc.frontier.redis import open_existing

        named = workers.named(self.project_settings, opts.redis, opts.key, crawl)
        return open_existing(*named, crawl)

    def _told(self, crawl: Path, report: CheckReport, mend: Callable[[], list[str]] | None) -> None:
        _show(report)
        if report.agrees:
            print("All agree.")
        elif mend is not None:
            print("\n".join(mend()))
        else:
            print(f"`lswc check {crawl} --repair` lets what is lost be fetched anew.")
            self.exitcode = 1


def _show(report: CheckReport) -> None:
    from lswc.archive.check.comparison import FAULTS

    rows = [(f.file, f.entries, *(f.faults[fault] for fault in FAULTS)) for f in report.findings]
    terminal().print(table("", ("", "entries", *FAULTS), rows))
    for note in report.notes:
        print(note)
