"""``scrapy check CRAWL``: whether a crawl's frontier, files and counters agree."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from scrapy.exceptions import UsageError

from lswc.checking.compare import FAULTS
from lswc.checking.report import check, repair
from lswc.terminal.command import UserCommand
from lswc.terminal.tables import table

if TYPE_CHECKING:
    import argparse

    from lswc.checking.report import Report


class Command(UserCommand):
    """Compares a crawl's frontier with all its files; exit code 1 if anything is wrong."""

    def syntax(self) -> str:
        return "<crawl folder> [--repair]"

    def short_desc(self) -> str:
        return "Tell whether a crawl's frontier and files agree, and make them agree"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--repair",
            action="store_true",
            help="let the pages wait again that a file has lost; nothing is deleted",
        )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("name one crawl folder", print_help=False)
        crawl = Path(args[0])
        report = check(crawl)
        _show(report)
        if report.agrees:
            print("All agree.")
        elif opts.repair:
            print("\n".join(repair(crawl)))
        else:
            print(f"`scrapy check {crawl} --repair` lets what is lost be fetched anew.")
            self.exitcode = 1


def _show(report: Report) -> None:
    rows = [(f.file, f.entries, *(f.faults[fault] for fault in FAULTS)) for f in report.findings]
    console = Console(file=sys.stdout)
    console.print(table("", ("", "entries", *FAULTS), rows))
    for note in report.notes:
        print(note)
