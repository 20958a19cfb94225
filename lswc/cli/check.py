"""``lswc check CRAWL``: whether a crawl's frontier, files and counters agree."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lswc.cli.command import REDIS, UserCommand, folders, one, option
from lswc.cli.progress_lines import working
from lswc.cli.tables import table, terminal
from lswc.plurals import numbered

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from lswc.archive.check.agreement import CheckReport


class Command(UserCommand):
    """Compares a crawl's frontier with all its files; exit code 1 if anything is wrong."""

    usage = (
        "<crawl folder> [folders of other crawls, or workers] [--repair]"
        " [--redis redis://... [--key NAME]]"
    )
    summary = "Tell whether a crawl's frontier and files agree, and make them agree"
    options = (
        option(
            "--repair", "let the pages wait again that a file has lost; nothing is deleted", False
        ),
        *REDIS,
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        from lswc.archive.check.agreement import check, repair
        from lswc.crawl.crawl_folder import names_a_redis

        crawl = Path(one(args[:1], "crawl folder"))
        if opts.redis or names_a_redis(crawl):
            self._check_worker(crawl, [Path(name) for name in args[1:]], opts)
            return
        for crawl in folders(args):
            if len(args) > 1:
                print(crawl)
            with working() as say:
                say("check", 0, 0)
                report = check(crawl)
            self._told(crawl, report, partial(repair, crawl) if opts.repair else None)

    def _check_worker(self, crawl: Path, others: list[Path], opts: argparse.Namespace) -> None:
        from lswc.archive.check.agreement import check_worker, repair_worker
        from lswc.crawl import workers

        clients, name = workers.named(self.project_settings, opts.redis, opts.key, crawl)
        with closing(workers.existing(clients, name, crawl)) as frontier:
            with working() as say:
                say("check", 0, 0)
                report = check_worker(crawl, frontier, others or frontier.others()[0])
            mend = partial(repair_worker, crawl, frontier, report.lost)
            self._told(crawl, report, mend if opts.repair else None)

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
    if report.lost:
        named = sorted(url for url in report.lost.values() if url is not None)
        print(
            f"{numbered(len(report.lost), 'URL')} that this worker finished, in none of its files:"
        )
        print("\n".join(named))
        if len(named) < len(report.lost):
            print(f"and {len(report.lost) - len(named)} whose URLs nobody here knows")
